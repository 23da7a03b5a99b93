"""Character-level scores of findings against gold.

A character counts if it is a letter or a digit (`str.isalnum`). The space in "Ruth Hale" and the period after an
initial are neither leaked nor over-redacted. The headline figures ignore types, because a name replaced as a place is
still removed:

    recall      of the characters that gold marks, the share inside any finding
    precision   of the characters found, the share that gold marks under any type

Every character found counts against precision, even under a type that the corpus does not annotate: the reader of the
output loses that word too. The report also gives the precision over the groups that gold does annotate. `types`
restricts the scores: recall to gold of these types (found as any type), precision to findings of these types (marked as
any type). Each row per group or type is the same score for that group or type alone. Its `typed` column is the share of
the gold characters found under the same group, or, for a type, under that type or a finer or coarser kind of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from incognote.errors import UnknownName, UsageError
from incognote.evaluation.corpus import CorpusProblem, Detect, Gold, Pair, pairs, read_gold
from incognote.evaluation.counts import Scheme, group, lineage
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.intervals import Counts, Figure, share
from incognote.evaluation.measures import Measuring
from incognote.evaluation.metrics.tally import RESAMPLES, Column, Sums, f1, ratio
from incognote.evaluation.metrics.utility import Meaning, Meanings, TextEmbedder
from incognote.evaluation.report.scored import ScoreReport, SliceScores
from incognote.schemas.catalogue import catalogue

__all__ = ["RESAMPLES", "Chosen", "Watch", "evaluate", "reported"]

Watch = Callable[[Pair, Scheme], None]
"""Called with each document that is scored, and the scheme it is scored under."""


def evaluate(
    gold: str | Path,
    predictions: str | Path | None = None,
    detect: Detect | None = None,
    *,
    form: str | None = None,
    types: Collection[str] = (),
    corpus: str | None = None,
    synthetic: bool | None = None,
    page: str | Path | None = None,
    embedder: tuple[str, TextEmbedder] | None = None,
    watch: Watch | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ScoreReport:
    """Score predictions, or a detector, against annotated texts.

    The gold is read twice: first for its types, then document by document. No document is kept, except for a page or an
    embedder. Opening a sealed test split is logged.

    Args:
        gold, predictions: files or folders, as `corpus.py` describes them.
        detect: the detector to score if there are no predictions: texts in, spans per text out (`Deidentifier.detect`).
        form: the gold's format; detected from the content if None.
        types: score only these types (including their finer kinds) and groups; everything if empty.
        corpus: its name in the report; the gold file's name by default.
        synthetic: whether the texts are made up; None if that is not stated.
        page: also write the page of misses and false alarms here. It quotes the notes and contains PHI if they do.
        embedder: its name and the embedder, to measure how much meaning is left. The texts are then held in memory.
        watch: called with each document that is scored.
        resamples, seed: for the bootstrap.

    Raises:
        UsageError: a file cannot be read, no document can be scored, or the arguments contradict each other.
        UnknownName: `types` holds a name that is neither in the catalogue nor in the files.
    """
    chosen = Chosen(types)
    log_opening(gold, "evaluate")
    measuring = _begun(gold, form, chosen, resamples, seed)
    problems: list[CorpusProblem] = []
    shown: list[Pair] = []
    meanings = Meanings()
    for pair in _usable(pairs(gold, predictions, detect, gold_form=form), problems):
        measuring.add(pair)
        if watch is not None:
            watch(pair, measuring.scheme)
        if page is not None:
            shown.append(pair)
        if embedder is not None:
            meanings.add(pair)
    chosen.check()
    report = reported(
        measuring,
        corpus=corpus or Path(gold).name.removesuffix(".gz").removesuffix(".jsonl"),
        synthetic=synthetic,
        types=types,
        problems=problems,
        embedder=embedder,
        meanings=meanings,
    )
    if page is not None:
        from incognote.evaluation.page import write_page

        write_page(page, shown, report)
    return report


def reported(
    measuring: Measuring,
    *,
    corpus: str,
    synthetic: bool | None,
    types: Collection[str] = (),
    problems: Sequence[CorpusProblem] = (),
    embedder: tuple[str, TextEmbedder] | None = None,
    meanings: Meanings | None = None,
) -> ScoreReport:
    """Make the report from the counts. `meanings` holds the texts for the embedder, if there is one."""
    sums, measures = measuring.characters(), measuring.measures()
    meaning: Meaning | None = None
    if embedder is not None and meanings is not None and measures is not None:
        strict = measures.spans.rows["strict"]["all"].score.f1.value or 0.0
        meaning = meanings.measured(*embedder, strict, resamples=measuring.resamples, seed=measuring.seed)
    return ScoreReport(
        corpus=corpus,
        synthetic=synthetic,
        documents=sums.total(("all", "documents")),
        with_phi=sums.total(("all", "phi")),
        without_phi=sums.total(("clean", "documents")),
        characters=sums.total(("all", "characters")),
        figures=_headline(sums),
        groups=_rows(sums, "group"),
        types=_rows(sums, "type"),
        chosen=tuple(types),
        problems=tuple(problems),
        resamples=measuring.resamples,
        seed=measuring.seed,
        clean_types=dict(measuring.clean.most_common()),
        measures=measures,
        meaning=meaning,
    )


def _begun(gold: str | Path, form: str | None, chosen: Chosen, resamples: int, seed: int) -> Measuring:
    """Read the gold once and make the counter for its number of documents and its groups.

    Raises:
        UsageError: no document can be scored.
    """
    documents, groups, faults = 0, set[str](), set[str]()
    for each in read_gold(gold, form):
        fault = _blank(each)
        if fault is not None:
            faults.add(fault.what)
        elif isinstance(each, Gold):
            documents += 1
            groups.update(group(label.type) for label in each.labels if chosen(label.type))
    if not documents:
        reasons = "; ".join(sorted(faults)[:3]) or "the file is empty"
        raise UsageError(f"No gold, no score: no document of {Path(gold).name} can be scored ({reasons}).")
    return Measuring(documents, frozenset(groups), chosen, resamples, seed)


def _usable(read: Iterable[Pair | CorpusProblem], problems: list[CorpusProblem]) -> Iterator[Pair]:
    """Yield the pairs that can be scored and append the problems of the others to `problems`."""
    for pair in read:
        fault = _blank(pair)
        if fault is not None:
            problems.append(fault)
        elif isinstance(pair, Pair):
            yield pair


def _blank(document: Gold | Pair | CorpusProblem) -> CorpusProblem | None:
    """Return the problem, or one for a document with a gold span of only white space, whose meaning is unclear."""
    if isinstance(document, CorpusProblem):
        return document
    for start, end, _ in document.labels if isinstance(document, Gold) else document.gold:
        if document.text[start:end].isspace():
            return CorpusProblem(document.id, f"the gold span {start}..{end} covers only blanks")
    return None


class Chosen:
    """Which types are scored. It remembers the types it was asked about, so that an unused name is noticed."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._used: dict[str, bool] = {}

    def __call__(self, type_: str) -> bool:
        if type_ not in self._used:
            known = {*lineage(type_), group(type_)}
            self._used[type_] = not self._names or not self._names.isdisjoint(known)
        return self._used[type_]

    def check(self) -> None:
        known = {*catalogue(), *(kind.group for kind in catalogue().values()), *self._used}
        for name in sorted(self._names - known):
            raise UnknownName("entity type or group", name, known)


def _f1(precision: Counts, recall: Counts) -> Counts:
    """NaN if there is no gold; 0 if there is gold and nothing was found."""
    values: Counts = np.where(np.isnan(recall), np.nan, f1(precision, recall))
    return values


def _slices(sums: Sums, kind: str) -> list[str]:
    """The slices of a kind ("group", "type"), sorted."""
    return sorted({column[0] for column in sums.columns if column[0].startswith(kind + " ")})


def _headline(sums: Sums) -> dict[str, Figure]:
    row = _row(sums, "all")
    annotated = [s for s in _slices(sums, "group") if sums.total((s, "gold"))]
    found: list[Column] = [(s, "found") for s in annotated]
    right = sums.of(*((s, "right") for s in annotated))
    phi, texts = sums.total(("all", "phi")), sums.total(("clean", "documents"))
    return {
        "recall": row.recall,
        "precision": row.precision,
        "f1": row.f1,
        "precision_in_annotated_groups": sums.figure(ratio(right, sums.of(*found)), *found),
        "spans_touched": row.spans,
        "spans_covered": _share(sums, "all", "whole", "spans"),
        "documents_leaking": share(sums.total(("all", "leaking")), phi),
        "documents_missing_a_span": share(sums.total(("all", "missing")), phi),
        "clean_texts_touched": share(sums.total(("clean", "touched")), texts),
        "clean_characters_touched": _share(sums, "clean", "found", "characters"),
    }


def _rows(sums: Sums, kind: str) -> dict[str, SliceScores]:
    """One row per group or type, those with the most gold first."""
    ordered = sorted(_slices(sums, kind), key=lambda s: (-sums.total((s, "gold")), -sums.total((s, "found")), s))
    return {s.removeprefix(kind + " "): _row(sums, s) for s in ordered}


def _share(sums: Sums, slice_: str, part: str, whole: str) -> Figure:
    return sums.share([(slice_, part)], [(slice_, whole)])


def _row(sums: Sums, slice_: str) -> SliceScores:
    recall = ratio(sums.of((slice_, "covered")), sums.of((slice_, "gold")))
    precision = ratio(sums.of((slice_, "right")), sums.of((slice_, "found")))
    return SliceScores(
        recall=sums.figure(recall, (slice_, "gold")),
        precision=sums.figure(precision, (slice_, "found")),
        f1=sums.figure(_f1(precision, recall), (slice_, "gold")),
        typed=_share(sums, slice_, "typed", "gold"),
        spans=_share(sums, slice_, "touched", "spans"),
    )
