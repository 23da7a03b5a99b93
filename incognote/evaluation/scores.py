"""Character-level scores of what was found against what is there.

A character counts when it is a letter or a digit (`str.isalnum`): the space in "Ruth Hale" and the point after an
initial are neither leaked nor over-redacted. The headline figures are type-blind, for a name replaced as a place is a
name gone:

    recall      of the characters that gold marks, the share that lies in anything found
    precision   of the characters found, the share that gold marks, under whatever type

Every character found counts against precision, one of a type that the corpus does not annotate too: whoever reads the
output misses that word all the same. Beside it stands the precision over the groups that gold does annotate. `types`
restricts the scores: recall to gold of these types (found as whatever), precision to what was found as these types
(marked as whatever). The rows per group and type are just that, for one group or type each; their `typed` column is the
share of the gold characters found under the same group or, for a type, under itself or a finer or coarser kind of it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from incognote.errors import UnknownName, UsageError
from incognote.evaluation.corpus import Detect, Pair, Problem, pairs
from incognote.evaluation.counts import Column, count, group, lineage
from incognote.evaluation.intervals import Counts, Figure, share
from incognote.evaluation.metrics.tally import Sums, Tally, ratio
from incognote.evaluation.report import Report, Row
from incognote.schemas.catalogue import catalogue

RESAMPLES = 1000


def evaluate(
    gold: str | Path,
    predictions: str | Path | None = None,
    detect: Detect | None = None,
    *,
    types: Collection[str] = (),
    corpus: str | None = None,
    synthetic: bool | None = None,
    page: str | Path | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Report:
    """Score predictions, or a detector, against a gold file.

    Args:
        gold, predictions: files as `corpus.py` describes them.
        detect: what to score when there are no predictions: texts in, spans per text out (`Deidentifier.detect`).
        types: score only these types, with the finer kinds beneath them, and groups; everything when empty.
        corpus: its name in the report; the gold file's name when not given.
        synthetic: whether the texts are made up; None says that nobody has stated it.
        page: also write the page of misses and false alarms here. It holds the notes, and is PHI where they are.
        resamples, seed: of the bootstrap.

    Raises:
        UsageError: a file cannot be read, no document can be scored, or the arguments contradict each other.
        UnknownName: `types` holds a name that is neither in the catalogue nor in the files.
    """
    chosen = _Chosen(types)
    tally = Tally()
    problems: list[Problem] = []
    shown: list[Pair] = []
    for pair in pairs(gold, predictions, detect):
        if isinstance(pair, Problem):
            problems.append(pair)
            continue
        tally.add(count(pair, chosen))
        if page is not None:
            shown.append(pair)
    if not len(tally):
        reasons = "; ".join(sorted({problem.what for problem in problems})[:3]) or "the file is empty"
        raise UsageError(f"no gold, no score: no document of {Path(gold).name} can be scored ({reasons})")
    chosen.check()
    sums = tally.sums(resamples, seed)
    report = Report(
        corpus=corpus or Path(gold).name.removesuffix(".gz").removesuffix(".jsonl"),
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
        resamples=resamples,
        seed=seed,
    )
    if page is not None:
        from incognote.evaluation.page import write_page

        write_page(page, shown, report)
    return report


class _Chosen:
    """Which types are scored; remembers what it was asked about, so that a name nobody uses is noticed."""

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


def _slices(sums: Sums, kind: str) -> list[str]:
    """The slices of a kind ("group", "type"), sorted."""
    return sorted({column[0] for column in sums.columns if column[0].startswith(kind + " ")})


def _f1(precision: Counts, recall: Counts) -> Counts:
    """The harmonic mean; no number where either is none (`tally.f1` has 0 there)."""
    both = precision + recall
    product = 2 * precision * recall
    np.divide(product, both, out=product, where=both != 0)
    return product


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


def _rows(sums: Sums, kind: str) -> dict[str, Row]:
    """A row per group or type, those with most gold first."""
    ordered = sorted(_slices(sums, kind), key=lambda s: (-sums.total((s, "gold")), -sums.total((s, "found")), s))
    return {s.removeprefix(kind + " "): _row(sums, s) for s in ordered}


def _share(sums: Sums, slice_: str, part: str, whole: str) -> Figure:
    return sums.share([(slice_, part)], [(slice_, whole)])


def _row(sums: Sums, slice_: str) -> Row:
    recall = ratio(sums.of((slice_, "covered")), sums.of((slice_, "gold")))
    precision = ratio(sums.of((slice_, "right")), sums.of((slice_, "found")))
    return Row(
        recall=sums.figure(recall, (slice_, "gold")),
        precision=sums.figure(precision, (slice_, "found")),
        f1=sums.figure(_f1(precision, recall), (slice_, "gold")),
        typed=_share(sums, slice_, "typed", "gold"),
        spans=_share(sums, slice_, "touched", "spans"),
    )
