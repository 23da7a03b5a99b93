"""The scores of muted recordings, and their tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import UsageError
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.intervals import Figure
from incognote.evaluation.recordings.measures import AUDIBLE, TITLES, JudgedRecording, figures, judged, types_muted
from incognote.evaluation.recordings.reading import pairs

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class RecordingReport:
    """The scores, with the facts needed to read them. It holds ids of recordings and no words.

    Attributes:
        corpus, synthetic: what was scored, and whether it is made up (None: not stated).
        figures: shares by name, as in `TITLES`.
        types: the share of identifiers that are wholly muted, by type.
        recordings: in the order of the gold.
        problems: recordings with problems.
        resamples, seed: of the bootstrap.
    """

    corpus: str
    synthetic: bool | None
    figures: Mapping[str, Figure]
    types: Mapping[str, Figure]
    recordings: tuple[JudgedRecording, ...] = field(repr=False)
    problems: tuple[CorpusProblem, ...] = ()
    resamples: int = 0
    seed: int = 0

    @property
    def provenance(self) -> str:
        """The line printed with every score: corpus, whether it is synthetic, and n."""
        made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[self.synthetic]
        identifiers = sum(each.identifiers for each in self.recordings)
        return f"{self.corpus} ({made_up}) · n = {len(self.recordings):,} recordings, {identifiers:,} identifiers"

    @property
    def method(self) -> list[str]:
        """How the figures were made, as sentences."""
        return [
            f"An identifier is wholly muted if less than {AUDIBLE:g} s of it are left. The count behind shares of "
            "seconds is in seconds.",
            f"95% intervals: percentile bootstrap over recordings ({self.resamples:,} resamples, seed {self.seed}), "
            "and Wilson for shares of recordings and by type.",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        tables = {"figures": self.figures, "types": self.types}
        return {
            "provenance": self.provenance, "method": self.method, "corpus": self.corpus, "synthetic": self.synthetic,
            **{name: {key: asdict(one) for key, one in table.items()} for name, table in tables.items()},
            "recordings": [asdict(each) for each in self.recordings],
            "problems": [asdict(each) for each in self.problems],
            "resamples": self.resamples, "seed": self.seed,
        }  # fmt: skip

    def table(self) -> RenderableType:
        """Return the tables for `rich`."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.provenance, style="italic")]
        named = {TITLES[name]: one for name, one in self.figures.items()}
        for title, rows in (("recordings", named), ("wholly muted, by type", self.types)):
            made = Table(box=None)
            for number, head in enumerate((title, "value [95% interval]", "of")):
                made.add_column(Text(head), justify="right" if number else "left")
            for name, one in rows.items():
                made.add_row(Text(name), Text(str(one)), Text(f"{one.of:,}"))
            parts += [made, Text()]
        parts += [Text(line, style="dim") for line in self.method]
        parts += [
            Text(f"problem: {each.id}: {each.what}" + ("" if each.scored else " (not scored)"))
            for each in self.problems
        ]
        return Group(*parts)


def evaluate_recordings(
    gold: str | Path, found: str | Path, *, corpus: str | None = None, synthetic: bool | None = None,
    resamples: int = 1000, seed: int = 0,
) -> RecordingReport:  # fmt: skip
    """Score the intervals that were muted against those of identifiers (`reading`).

    Raises:
        UsageError: a file cannot be read, or the gold holds no recording.
    """
    read = list(pairs(gold, found))
    both = [each for each in read if not isinstance(each, CorpusProblem)]
    problems = tuple(each for each in read if isinstance(each, CorpusProblem))
    if not both:
        raise UsageError(f"{Path(gold).name} holds no recording that can be scored.")
    rows = tuple(judged(*each) for each in both)
    name = corpus or Path(gold).name.removesuffix(".jsonl")
    made = figures(rows, resamples, seed)
    return RecordingReport(name, synthetic, made, types_muted(both), rows, problems, resamples, seed)
