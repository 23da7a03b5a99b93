"""Score a student or a bundle on annotated texts by character, alone and with the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incognote.align.merge import merge
from incognote.align.sweep import sweep
from incognote.detectors import Detector
from incognote.detectors.encoder.bundle import POINTS, Exit, allowed, classes
from incognote.detectors.encoder.decoding import Cutting, Finder, Run, logits_of
from incognote.detectors.encoder.units import Numbering
from incognote.detectors.rules import RulesDetector
from incognote.evaluation import ScoreReport, evaluate
from incognote.evaluation.corpus import CorpusProblem, Gold, LabeledSpan, Pair, pairs, read_gold
from incognote.evaluation.counts import count
from incognote.evaluation.metrics.stream import Calibration, calibration, outcomes
from incognote.nouns import Span, Text
from incognote.text.lexicon import is_common
from incognote_training.training.config import Config

if TYPE_CHECKING:
    from incognote_training.student.recurrent import AnyStudent

Detect = Callable[[Sequence[str]], list[list[Span]]]
Floats = NDArray[np.float32]
THRESHOLD = 0.5
"""Findings with a lower score are not replaced under any shipped policy, and do not count as found."""


def score_student(student: AnyStudent, config: Config, pieces: Numbering, gold: Path) -> dict[str, float]:
    """Character recall and precision of both exits in their current state. Training can continue afterwards.

    Raises:
        UsageError: the gold file cannot be read, or none of its documents can be scored.
    """
    found: dict[str, float] = {}
    for fast in (False, True) if student.early is not None else (False,):
        recall, precision = ratios(pairs(gold, detect=plain(student, config, pieces, fast=fast)))
        prefix = "fast_" if fast else ""
        found |= {f"{prefix}recall": recall, f"{prefix}precision": precision}
    return found


def plain(student: AnyStudent, config: Config, pieces: Numbering, *, fast: bool = False) -> Detect:
    """The detection function of a student in its current state, uncalibrated."""
    way = Exit(transitions(student), np.ones(len(classes()), np.float32), dict.fromkeys(POINTS, 0.0))
    find = Finder(way, 0.0, "student")
    cutting = Cutting(pieces, config.run.window, config.run.overlap)

    def detect(texts: Sequence[str]) -> list[list[Span]]:
        logits = logits_of(texts, cutting, runner(student, fast=fast), len(way.transitions))
        return [reading.spans for reading in find([Text(t) for t in texts], *logits)]

    return detect


def runner(student: AnyStudent, *, fast: bool) -> Run:
    """The student as a function of arrays, without dropout. Its training mode is restored after each call."""
    import torch

    def run(ids: NDArray[np.int64], features: Floats) -> Floats:
        training = student.training
        student.eval()
        with torch.inference_mode():
            hidden = student.lower(torch.from_numpy(ids), torch.from_numpy(features))
            if fast and student.early is not None:
                logits = student.early(hidden)
            else:
                logits = student.upper(hidden, torch.from_numpy(ids), torch.from_numpy(features))
        student.train(training)
        made: Floats = logits.float().numpy()
        return made

    return run


def transitions(student: AnyStudent) -> Floats:
    """The CRF's transitions, with minus infinity where forbidden."""
    learned: Floats = student.crf.transitions.detach().numpy()
    return np.where(allowed(len(classes())), learned, -np.inf).astype(np.float32)


def alone(detector: Detector) -> Detect:
    """The findings of one detector with a score of at least the threshold."""

    def detect(texts: Sequence[str]) -> list[list[Span]]:
        found = detector.detect([Text(t) for t in texts])
        return [merge(s for s in spans if s.score >= THRESHOLD) for spans in found]

    return detect


def together(*detectors: Detector) -> Detect:
    """The merged findings of several detectors, and repetitions of what was found, as in the pipeline."""

    def detect(texts: Sequence[str]) -> list[list[Span]]:
        sources = [Text(t) for t in texts]
        found = [detector.detect(sources) for detector in detectors]
        made = []
        for text, each in zip(sources, zip(*found, strict=True), strict=True):
            spans = merge(s for spans in each for s in spans if s.score >= THRESHOLD)
            made.append(merge([*spans, *sweep(text, spans, is_common)]))
        return made

    return detect


def judged(detector: Detector, gold: Path, *, synthetic: bool | None = None) -> dict[str, ScoreReport]:
    """Score the rules alone, the detector alone, and both, on one gold file.

    Raises:
        UsageError: the file cannot be read.
    """
    rules = RulesDetector()
    ways = {"rules": alone(rules), "encoder": alone(detector), "both": together(rules, detector)}
    return {name: evaluate(gold, detect=detect, synthetic=synthetic) for name, detect in ways.items()}


def reliability(detector: Detector, gold: Path) -> Calibration:
    """Whether the detector's scores can be read as the share that is right, over all its findings, also doubtful ones.

    Raises:
        UsageError: the file cannot be read, or nothing is found.
    """
    judgements: list[tuple[float, bool]] = []
    for each in read_gold(gold):
        if isinstance(each, Gold):
            judgements += outcomes(each.labels, detector.detect([Text(each.text)])[0])
    return calibration([score for score, _ in judgements], [right for _, right in judgements])


def ratios(found: Any) -> tuple[float, float]:
    """Character recall and precision, type-blind, without intervals. If nothing is found, precision is 1."""
    total: Counter[Any] = Counter()
    for pair in found:
        if not isinstance(pair, CorpusProblem):
            total.update({column: n for column, n in count(pair, _any).items() if column[0] == "all"})
    return (
        total["all", "covered"] / max(1, total["all", "gold"]),
        total["all", "right"] / total["all", "found"] if total["all", "found"] else 1.0,
    )


def pair_of(name: str, text: str, gold: Sequence[LabeledSpan], found: Sequence[Span]) -> Pair:
    """One text in the form that the metrics use."""
    return Pair(name, text, tuple(gold), tuple(LabeledSpan(s.start, s.end, s.type) for s in found))


def _any(type_: str) -> bool:
    return True
