"""Fill the tables of the papers with our systems and the echo baselines, from recorded replies.

    python -m incognote_benchmarks.tables NOTES.jsonl ... [--prompt NAME] [--passes need|N] [--about TEXT]
        [--out JSON] [--page MARKDOWN]

The tables are RedactOR's Tables 1 to 3, the Clinical Utility Score of Guan (§4.1.2), and CIPHER's Table 4. No model is
asked. A note is left out if any of its requests has no recorded reply, so all systems are compared on the same notes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from incognote.embedding import EMBEDDED, open_embedder
from incognote.errors import ModelProblem, ModelUnavailable
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import UNTYPED, Scheme
from incognote.evaluation.intervals import Counts, Figure, interval, resampled, share
from incognote.evaluation.measures import redacted
from incognote.evaluation.metrics.redactor import RedactorScores, count_redactor
from incognote.evaluation.metrics.tally import RESAMPLES, f1, ratio
from incognote.evaluation.metrics.utility import Preservation, Remembering, information_losses, semantic_preservation
from incognote.evaluation.report import ScoreReport
from incognote.evaluation.report.protocol import PaperTable, tables
from incognote.llm.base import LanguageModel, Reply
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span, Text
from incognote.settings import Passes
from incognote_benchmarks.peers.echo import Aligned, Baseline, aligned, baselines, echo_request
from incognote_benchmarks.reading.sizes import Counting
from incognote_benchmarks.recorded import MODEL, REPLIES, WITHOUT_VETO, System, answered, read_notes, scored

ECHOES = "echo-v1.jsonl"
"""The recorded echoes, in the folder of the replies."""
_TOKEN = 4
"""Characters. The model's own count of tokens is unknown."""
_SHIPPED = "rules + encoder + model"
_GOLD = "gold spans"
_UNION = "rules + encoder + model, union"
_SHOWN = {
    "recall": "Recall",
    "precision": "Precision",
    "documents_leaking": "Documents that leak",
    "clean_texts_touched": "Texts without PHI changed",
}

_ABOUT = """\
# The papers' tables

This page fills the tables of three papers with our own measurements: RedactOR's Tables 1 to 3, the Clinical Utility
Score of Guan, and CIPHER's Table 4. `python -m incognote_benchmarks.tables` wrote it, and the
[JSON file](tables.json) has every figure.

{about}

{of}

- **Replies.** A large language model answered the prompts once, and the replies are replayed. Its name, size, and
  settings are unknown (see `tests/data/replies/README.md`).
- **Systems.** `model` is the prompt `{prompt}`, in one pass. `{union}` keeps every finding of all three.
  `{shipped}` is the default. It drops a finding of only one embedded detector if the model named nothing there
  (`models.veto`).
- **Intervals.** Brackets hold 95% intervals: percentile bootstrap over documents, Wilson for shares of documents.
- **The papers' own figures** are from other systems and other data, such as i2b2 2014 and MIMIC-III. They cannot be
  compared with ours, so this page leaves them out.
- **Model sizes.** RedactOR repeats its measurements with a small LLaMA model. We cannot, because only one model
  answered. [Experiments](../experiments.md#compare-models-of-several-sizes) shows how to do it with your models.
"""
_REDACTOR = """\
In RedactOR's strict protocol (§4.3), a finding counts for a gold span if they share a character and their words are
similar (Levenshtein similarity of 0.6 or more). Each finding counts for at most one gold span. If a system finds
"Springfield, IL" as one span, and the gold has a city and a state, then one of them counts as missed, although no
character remains. The table by character shows what remains."""
_UTILITY = """\
The Clinical Utility Score (Guan, §4.1.2) is (1 − information loss) × F1. We use the F1 of Table 1. The last three
columns are those of CIPHER's Table 4. Our measurements differ from the papers in these points:

- **Embedder.** Guan uses BERT, and CIPHER uses Clinical ModernBERT. We use incognote's embedded model. It is small and
  ignores the order of words.
- **Output.** Our systems replace each finding with its type, such as `[PERSON]`. The output of an echo is what the
  model wrote.
- **Wasserstein distance.** CIPHER does not say how it computes this distance. Ours is the mean over the dimensions of
  the embedding, and it has no interval.

`gold spans` is a perfect system, which replaces exactly the annotated spans. Compare systems only if their recall is
similar: a system that changes nothing keeps all of the meaning."""
_ECHO = """\
In an echo, the model writes the whole note again, with a mark in place of each identifier. RedactOR compares itself
with three echo baselines. The paper does not print their prompts, so we wrote our own. These tables cover only the
notes of which echoes are recorded.

An echo names no types, so it is in the layout of Table 1 only, as in the paper. An identifier that an echo leaves out
without a mark counts as missed. Our systems change nothing outside the spans that they find, but an echo can change any
word. A word is lost if the echo leaves it out or changes it without a mark. The first column of the last table also
counts changes of white space and punctuation."""


class Echoes:
    """A baseline whose recorded echoes are aligned to their notes. It is its own Finder."""

    def __init__(self, baseline: Baseline, recording: Recording) -> None:
        self.name = f"echo, {baseline.name}"
        self._baseline, self._recording = baseline, recording

    def open(self, replies: Path) -> Echoes:
        """Return this object."""
        return self

    def __enter__(self) -> Echoes:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def echo(self, text: str) -> Reply | None:
        """The recorded echo of a note."""
        return self._recording.reply(echo_request(text, self._baseline).address(MODEL))

    def detect_each(self, texts: Sequence[str]) -> list[list[Span] | ModelProblem]:
        """The censored spans of each text; a ModelProblem for a text without a recorded echo."""
        return [self._spans(text) for text in texts]

    def _spans(self, text: str) -> list[Span] | ModelProblem:
        echo = self.echo(text)
        if echo is None:
            return ModelUnavailable("no echo of this note is recorded")
        source = Text(text)
        places = aligned(text, echo.text, self._baseline.mark).spans
        return [Span(source, start, end, UNTYPED) for start, end in places]

    def change(self, text: str) -> tuple[Reply, Aligned, int]:
        """The echo of an answered note, its alignment, and the characters of the request and the reply."""
        echo = self.echo(text)
        assert echo is not None
        asked = sum(len(message.content) for message in echo_request(text, self._baseline).messages)
        return echo, aligned(text, echo.text, self._baseline.mark), asked + len(echo.text)


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one system.

    Attributes:
        tokens: mean tokens per note to and from the model, of four characters each; 0 without a model.
        cus, loss: the Clinical Utility Score with the F1 of Table 1, and the mean loss of information.
        kept: CIPHER's Table 4.
        changes: of an echo, by name, what it changes outside its marks.
    """

    report: ScoreReport
    tokens: int
    cus: Figure
    loss: Figure
    kept: Preservation
    changes: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def protocol(self) -> RedactorScores:
        """The figures of RedactOR's tables."""
        assert self.report.measures is not None
        return self.report.measures.redactor

    def as_dict(self) -> dict[str, Any]:
        """Return the figures in JSON form, without words or ids of notes."""
        return {
            "characters": {name: self.report.figures[name].as_dict() for name in _SHOWN},
            "tokens_per_note": self.tokens,
            "redactor": asdict(self.protocol),
            "clinical_utility_score": self.cus.as_dict(),
            "information_loss": self.loss.as_dict(),
            "preservation": asdict(self.kept),
            "changes": {name: figure.as_dict() for name, figure in self.changes.items()},
        }


def measure(
    notes: Sequence[Path],
    replies: Path = REPLIES,
    prompt: str = "extract/v3",
    passes: Passes = 1,
    *,
    echoed: bool = False,
) -> dict[str, Row]:
    """Score all systems by name, on the notes to which all of them have a recorded reply.

    Args:
        echoed: also score the echo baselines, on the notes of which each of them has an echo.

    Raises:
        UsageError: there is no such note, or there are too few for CIPHER's Table 4.
    """
    counting: dict[str, Counting] = {}

    def asking(name: str, *detectors: str, policy: str = "strict") -> System:
        def counted(model: Replayed) -> LanguageModel:
            return counting.setdefault(name, Counting(model))

        return System(name, prompt, passes, detectors, policy, counted)

    lines = read_notes(notes)
    texts = [str(json.loads(line)["text"]) for line in lines]
    echoes = {echo.name: echo for echo in _echoes(texts, replies)} if echoed else {}
    ours = [
        System("rules", None),
        System("encoder", None, detectors=("encoder",)),
        System("rules + encoder", None, detectors=("rules", "encoder")),
        asking("model"),
        asking("rules + model", "rules"),
        asking(_UNION, "rules", "encoder", policy=str(WITHOUT_VETO)),
        asking(_SHIPPED, "rules", "encoder"),
    ]
    found, left = answered([*echoes.values(), *reversed(ours)], texts, replies)
    lines, texts = [lines[i] for i in left], [texts[i] for i in left]
    found[_GOLD] = [_gold(line) for line in lines]
    pairs: dict[str, list[Pair]] = {name: [] for name in found}
    schemes: list[Scheme] = []

    def keep(name: str, pair: Pair, scheme: Scheme) -> None:
        pairs[name].append(pair)
        schemes.append(scheme)

    corpus = " + ".join(path.stem for path in notes)
    reports = scored(lines, found, corpus, lambda name: partial(keep, name))
    embedder = Remembering(open_embedder(EMBEDDED))
    rows: dict[str, Row] = {}
    for name in [*(system.name for system in ours), *echoes, _GOLD]:
        changes: dict[str, Figure] = {}
        if name in echoes:
            changed = [echoes[name].change(text) for text in texts]
            outputs = [echo.text for echo, _, _ in changed]
            characters = sum(size for _, _, size in changed)
            changes = _changes(texts, [places for _, places, _ in changed])
        else:
            outputs = [redacted(pair.text, pair.found) for pair in pairs[name]]
            model = counting.get(name)
            characters = model.characters_in + model.characters_out if model else 0
        cus, loss = _utility(pairs[name], schemes[0], information_losses(texts, outputs, embedder))
        kept = semantic_preservation(texts, outputs, embedder)
        rows[name] = Row(reports[name], round(characters / _TOKEN / len(texts)), cus, loss, kept, changes)
    return rows


def _echoes(texts: Sequence[str], replies: Path) -> list[Echoes]:
    """The baselines of which at least one echo is recorded."""
    if not (replies / ECHOES).exists():
        return []
    recording = Recording(replies / ECHOES, plain=True, create=False)
    every = [Echoes(baseline, recording) for baseline in baselines().values()]
    return [one for one in every if any(one.echo(text) is not None for text in texts)]


def _gold(line: str) -> list[Span]:
    note = json.loads(line)
    source = Text(note["text"])
    return [Span(source, span["start"], span["end"], span["type"]) for span in note["spans"]]


def _utility(pairs: Sequence[Pair], scheme: Scheme, losses: Counts) -> tuple[Figure, Figure]:
    """The Clinical Utility Score and the mean loss. Both factors of the score are resampled together."""
    counts = [count_redactor(pair.text, scheme.gold(pair), scheme.found(pair)) for pair in pairs]
    table = np.array(
        [
            [*(each["untyped", name] for name in ("right", "found", "gold")), loss, 1.0]
            for each, loss in zip(counts, losses, strict=True)
        ]
    )
    right, found, gold, loss, documents = _draws(table).T
    mean = loss / documents
    score = (1 - mean) * f1(ratio(right, found), ratio(right, gold))
    return _figure(score, len(pairs)), _figure(mean, len(pairs))


def _changes(texts: Sequence[str], places: Sequence[Aligned]) -> dict[str, Figure]:
    """The share of echoes that differ from their note outside the marks, and the words lost and added per 1,000."""
    table = np.array([[p.lost, p.added, len(text.split()) / 1000] for p, text in zip(places, texts, strict=True)])
    lost, added, words = _draws(table).T
    return {
        "notes_changed": share(sum(not each.exact for each in places), len(places)),
        "words_lost_per_1000": _figure(lost / words, len(texts)),
        "words_added_per_1000": _figure(added / words, len(texts)),
    }


def _draws(table: Counts) -> Counts:
    return np.vstack([table.sum(axis=0), resampled(table, RESAMPLES, 0)])


def _figure(values: Counts, of: int) -> Figure:
    return Figure(float(values[0]), *interval(values[1:]), of)


def page(rows: Mapping[str, Row], echoed: Mapping[str, Row], prompt: str, about: str) -> str:
    """The tables as a Markdown page.

    Args:
        echoed: all systems and the echoes, on the notes that have echoes; may be empty.
        about: who wrote the notes, and what they were used for.
    """
    parts = [
        _ABOUT.format(about=about, of=_provenance(rows), prompt=prompt, union=_UNION, shipped=_SHIPPED).rstrip(),
        "## By character\n\n" + _characters_layout(rows).markdown(),
        "## RedactOR, Tables 1 to 3\n\n" + _REDACTOR,
        *(table.markdown() for table in tables(_protocols(rows))),
        "## Clinical Utility Score, and CIPHER's Table 4\n\n" + _UTILITY,
        _meaning_layout(rows).markdown(),
    ]
    if echoed:
        head = ("System", "Notes changed outside the marks", "Words lost per 1,000", "Words added per 1,000")
        changed = tuple((name, tuple(row.changes.values())) for name, row in echoed.items() if row.changes)
        parts += [
            "## Echo baselines\n\n" + _ECHO + "\n\n" + _provenance(echoed),
            _characters_layout(echoed).markdown(),
            next(tables(_protocols(echoed))).markdown(),
            _meaning_layout(echoed).markdown(),
            PaperTable(_n(echoed), head, changed).markdown(),
        ]
    return "\n\n".join(parts) + "\n"


def _provenance(rows: Mapping[str, Row]) -> str:
    return rows[_GOLD].report.provenance


def _protocols(rows: Mapping[str, Row]) -> list[tuple[str, RedactorScores]]:
    return [(name, row.protocol) for name, row in rows.items() if name != _GOLD]


def _n(rows: Mapping[str, Row]) -> str:
    return f"n = {rows[_GOLD].report.documents:,} notes"


def _characters_layout(rows: Mapping[str, Row]) -> PaperTable:
    report = rows[_GOLD].report
    return PaperTable(
        f"n = {report.with_phi:,} notes with PHI and {report.without_phi:,} without",
        ("System", *_SHOWN.values(), "Tokens per note"),
        tuple(
            (name, (*(row.report.figures[each] for each in _SHOWN), f"{row.tokens:,}" if row.tokens else "–"))
            for name, row in rows.items()
            if name != _GOLD
        ),
    )


def _meaning_layout(rows: Mapping[str, Row]) -> PaperTable:
    return PaperTable(
        _n(rows),
        ("System", "Clinical Utility Score", "Information loss", "Cosine", "Ten nearest notes kept", "Wasserstein"),
        tuple(
            (name, (row.cus, row.loss, row.kept.cosine, row.kept.neighbours, f"{row.kept.wasserstein:.4f}"))
            for name, row in rows.items()
        ),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON and the page if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("notes", type=Path, nargs="+")
    parser.add_argument("--prompt", default="extract/v3")
    parser.add_argument("--passes", default=1, type=lambda value: value if value == "need" else int(value))
    parser.add_argument("--about", default="", help="who wrote the notes, and what they were used for")
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args(arguments)
    asked = given.notes, given.replies, given.prompt, given.passes
    rows = measure(*asked)
    echoed = measure(*asked, echoed=True) if (given.replies / ECHOES).exists() else {}
    written = page(rows, echoed, given.prompt, given.about)
    print(written)  # noqa: T201 -- this is a program that prints
    if given.page:
        given.page.write_text(written, encoding="utf-8")
    if given.out:
        content = {
            "about": given.about, "provenance": _provenance(rows), "prompt": given.prompt, "passes": given.passes,
            "embedder": EMBEDDED, "resamples": RESAMPLES,
            "systems": {name: row.as_dict() for name, row in rows.items()},
            "with_echoes": {name: row.as_dict() for name, row in echoed.items()},
        }  # fmt: skip
        given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
