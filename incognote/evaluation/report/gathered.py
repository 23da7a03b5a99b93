"""Measure every finished cell of an experiment, by corpus, for its report.

Cells of one corpus get short names, made of the settings in which they differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import group
from incognote.evaluation.experiments.compare import Versus, compare
from incognote.evaluation.experiments.results import CellHead, Results
from incognote.evaluation.experiments.seal import Opening, Seal
from incognote.evaluation.experiments.tallies import sides
from incognote.evaluation.measures import Measuring
from incognote.evaluation.metrics.tally import RESAMPLES
from incognote.evaluation.metrics.utility import Meanings, Remembering, TextEmbedder
from incognote.evaluation.report.curves import Cost, Threshold, by_threshold, costs
from incognote.evaluation.report.scored import ScoreReport
from incognote.evaluation.scores import reported
from incognote.runs.units import counted, passes_shown
from incognote.settings import Passes

Watch = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """One cell on one corpus.

    Attributes:
        name: a short name, unique within the corpus.
        thresholds: precision and recall by score threshold. Empty if findings have no scores, or all the same one.
        pairs: the texts with their gold and findings.
    """

    name: str
    axes: Axes
    head: CellHead
    report: ScoreReport
    cost: Cost
    thresholds: tuple[Threshold, ...]
    pairs: Sequence[Pair] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """One corpus and the systems that were run on it.

    Attributes:
        hash: SHA-256 of the corpus, in hexadecimal.
        labels: gold spans by evaluation group, most frequent first.
        openings: the openings of a test split, including the one for this report; None for a development split.
        versus: every pair, under the systems' short names.
    """

    corpus: str
    synthetic: bool
    split: str
    hash: str
    labels: Mapping[str, int]
    openings: tuple[Opening, ...] | None
    systems: tuple[MeasuredSystem, ...]
    versus: tuple[Versus, ...]

    @property
    def report(self) -> ScoreReport:
        """The report of the first system. Its facts about the corpus hold for all systems."""
        return self.systems[0].report

    def as_dict(self) -> dict[str, Any]:
        """Return figures, without texts, as a JSON-serializable dict."""
        return {
            "corpus": self.corpus,
            "synthetic": self.synthetic,
            "split": self.split,
            "sha256": self.hash,
            "labels": dict(self.labels),
            "openings": None if self.openings is None else [asdict(opening) for opening in self.openings],
            "systems": [
                {
                    "name": system.name,
                    "key": system.head.key,
                    "label": system.head.label,
                    "facts": system.head.facts,
                    "taken": system.head.taken,
                    "unread": system.head.failed,
                    "cost_per_note": asdict(system.cost),
                    "thresholds": [asdict(each) for each in system.thresholds],
                    "report": json.loads(system.report.to_json()),
                }
                for system in self.systems
            ],
            "pairs": [versus.as_dict() for versus in self.versus],
        }


def gather(
    folder: Path,
    *,
    who: str | None = None,
    embedder: tuple[str, TextEmbedder] | None = None,
    watch: Watch | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Section]:
    """Measure all finished cells of an experiment. Opening a test split is logged.

    Args:
        folder: the results folder.
        who: opens a test split, for its log.
        embedder: its name and the embedder, to measure how much meaning is left.
        watch: called with each cell that is measured.

    Raises:
        UsageError: there is no finished cell, or a corpus has changed since.
        IncognoteError: the log of a test split was altered.
    """
    results = Results(folder)
    of: dict[tuple[str, str], list[CellHead]] = {}
    for head in results.heads():
        of.setdefault((str(head.corpus["name"]), str(head.facts["corpus"])), []).append(head)
    if not of:
        raise UsageError(f"{folder.name} holds no finished cell. Run the experiment first.")
    if embedder is not None:
        embedder = embedder[0], Remembering(embedder[1])
    ordered = sorted(of.values(), key=lambda heads: (-int(heads[0].corpus["documents"]), heads[0].label))
    return [_section(results, heads, who, embedder, watch, resamples, seed) for heads in ordered]


def _section(
    results: Results,
    heads: Sequence[CellHead],
    who: str | None,
    embedder: tuple[str, TextEmbedder] | None,
    watch: Watch | None,
    resamples: int,
    seed: int,
) -> Section:
    heads = sorted(heads, key=lambda head: (head.facts.get("model") is not None, head.label))
    both = sides([results.find(str(results.file(head.key))) for head in heads], "report", who)
    first = heads[0]
    labels = Counter(group(label.type) for pair in both.sides[0].pairs for label in pair.gold)
    names = short(heads)
    systems = []
    for name, head, side, cost in zip(
        names, heads, both.sides, costs(heads, results.folder / "spent.jsonl"), strict=True
    ):
        if watch is not None:
            watch(f"{both.corpus}: {name}")
        measuring = Measuring(len(side.pairs), frozenset(labels), lambda _: True, resamples, seed)
        meanings = Meanings()
        for pair in side.pairs:
            measuring.add(pair)
            if embedder is not None:
                meanings.add(pair)
        report = reported(measuring, corpus=both.corpus, synthetic=both.synthetic, embedder=embedder, meanings=meanings)
        thresholds = by_threshold(side.pairs, resamples=resamples, seed=seed)
        systems.append(MeasuredSystem(name, axes(head), head, report, cost, thresholds, side.pairs))
    called = {side.name: name for side, name in zip(both.sides, names, strict=True)}
    versus = compare(both, seed=seed) if labels and len(systems) > 1 else []
    return Section(
        corpus=both.corpus,
        synthetic=both.synthetic,
        split=str(first.corpus["split"]),
        hash=str(first.facts["corpus"]),
        labels=dict(labels.most_common()),
        openings=tuple(Seal(results.cells / str(first.corpus["path"])).openings())
        if both.openings is not None
        else None,
        systems=tuple(systems),
        versus=tuple(_named(each, called) for each in versus),
    )


def _named(versus: Versus, called: Mapping[str, str]) -> Versus:
    return Versus(called[versus.first], called[versus.second], versus.differences, versus.spans, versus.adjusted)


class Axes(NamedTuple):
    """The settings of a cell. The last six are None if no model was used."""

    system: str
    model: str | None = None
    prompt: str | None = None
    chunk_words: int | None = None
    passes: Passes | None = None
    votes: int | None = None
    seed: int | None = None

    @property
    def line(self) -> tuple[Any, ...]:
        """All settings except the passes. Cells with the same value are on one line of a curve over passes."""
        return (*self[:4], *self[5:])


def axes(head: CellHead) -> Axes:
    """Read the settings from a cell's facts and label (`cell.Cell.label`)."""
    rest = head.label.removeprefix(f"{head.corpus['name']}:")
    model = head.facts.get("model")
    if model is None:
        return Axes(rest)
    system, _, asking = rest.partition(f":{model}:")
    asked: Mapping[str, Any] = head.facts["asking"]
    prompt = asking.rsplit(":", 4)[0]
    return Axes(system, model, prompt, asked["chunk_words"], asked["passes"], asked["votes"], head.facts["seed"])


def short(heads: Sequence[CellHead]) -> list[str]:
    """A short name per cell: its system and the settings that vary between cells, plus its key if names would clash."""
    every = [axes(head) for head in heads]
    asking = [each for each in every if each.model is not None]
    varying = [i for i in range(1, 7) if len({each[i] for each in asking}) > 1]
    names = [" · ".join([each.system, *(_said(i, each[i]) for i in varying if each[i] is not None)]) for each in every]
    times = Counter(names)
    return [f"{name} ({head.key[:6]})" if times[name] > 1 else name for name, head in zip(names, heads, strict=True)]


def _said(axis: int, value: Any) -> str:
    if axis == 1:
        return str(value).rpartition("/")[2]
    if axis == 2:
        return str(value)
    if axis == 4:
        return passes_shown(value)
    if axis == 6:
        return f"seed {value}"
    return f"{value} words" if axis == 3 else counted(value, "vote")
