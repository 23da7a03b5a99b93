"""The scores of one system on one corpus."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from incognote.evaluation.corpus import Problem
from incognote.evaluation.intervals import Figure
from incognote.evaluation.meaning import Meaning
from incognote.evaluation.measures import Measures

if TYPE_CHECKING:
    from rich.console import RenderableType

METHOD = (
    "a character is a letter or digit; 95 % intervals: percentile bootstrap over documents, Wilson's for shares of "
    "documents"
)


@dataclass(frozen=True, slots=True)
class Row:
    """The scores of one slice: a group or a type. `spans` is the share of its gold spans touched by anything found."""

    recall: Figure
    precision: Figure
    f1: Figure
    typed: Figure
    spans: Figure


@dataclass(frozen=True, slots=True)
class Report:
    """The scores of a corpus with what one must know to read them. Holds ids of documents, never their words.

    Attributes:
        corpus, synthetic: what was scored, and whether its texts are made up (None: not stated).
        documents, with_phi, without_phi, characters: how much of it; with_phi by the chosen types, without_phi by any.
        figures: the headline scores by name; `scores.py` says what each means.
        groups, types: the same per evaluation group and per type.
        chosen: the types and groups the scores are restricted to; empty for none.
        problems: documents that could not be used as they are, each with its id.
        clean_types: what was found in texts without PHI: findings per evaluation group.
        measures: spans, tokens, the RedactOR protocol, confusion, calibration; None where gold marks nothing.
        meaning: what an embedder sees; None where none was named.
    """

    corpus: str
    synthetic: bool | None
    documents: int
    with_phi: int
    without_phi: int
    characters: int
    figures: Mapping[str, Figure]
    groups: Mapping[str, Row]
    types: Mapping[str, Row]
    chosen: tuple[str, ...]
    problems: tuple[Problem, ...]
    resamples: int
    seed: int
    clean_types: Mapping[str, int]
    measures: Measures | None
    meaning: Meaning | None

    @property
    def provenance(self) -> str:
        """The line that stands beside every score: corpus, whether synthetic, n, what is scored."""
        made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[self.synthetic]
        return (
            f"{self.corpus} ({made_up}) · n = {self.documents:,} documents, {self.with_phi:,} with PHI, "
            f"{self.without_phi:,} without · {self.characters:,} characters"
            + (f" · only {', '.join(self.chosen)}" if self.chosen else "")
        )

    def to_json(self) -> str:
        """Everything, as a JSON document."""
        return json.dumps({"provenance": self.provenance, "method": METHOD, **asdict(self)}, indent=2)

    def table(self, everything: bool = False) -> RenderableType:
        """The headline, spans and tokens, the rows per group and the problems, for `rich`; all there is on request."""
        from incognote.evaluation.report.tables import table

        return table(self, everything)
