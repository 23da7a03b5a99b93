"""What a double review proves about a release: leak rate, upper bound, agreement, and the reviewers' sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.intervals import Figure, interval, resampled
from incognote.evaluation.metrics.tally import RESAMPLES
from incognote.evaluation.sampling import bounds
from incognote.evaluation.sampling.agreement import PlantedFound, Recapture, agreement, found, recapture, together
from incognote.evaluation.sampling.key import Key, SampledCase, read_key
from incognote.evaluation.sampling.reviews import SampleReviews, read_adjudication, read_reviews


@dataclass(frozen=True, slots=True)
class Rate:
    """Leaking documents of one kind, or of all kinds.

    Attributes:
        population, drawn, leaking: numbers of documents.
        rate: the estimated share.
        upper: its exact one-sided upper bound for this release.
    """

    population: int
    drawn: int
    leaking: int
    rate: float
    upper: float


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far two reviewers agree, with 95% bootstrap intervals over documents.

    Attributes:
        both, first, second, neither: drawn documents in which both, only one, or none marked a leak.
        kappa: Cohen's kappa over documents; None if both made the same decision on all of them.
        positive: positive agreement, 2 both / (2 both + first + second); None if neither marked any.
        tokens: Cohen's kappa over tokens and kinds; None in the same case.
    """

    reviewers: tuple[int, int]
    both: int
    first: int
    second: int
    neither: int
    kappa: Figure
    positive: Figure
    tokens: Figure

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), **{name: getattr(self, name).as_dict() for name in ("kappa", "positive", "tokens")}}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document on which reviewers differ: the case, its item in each set, and each reviewer's number of leaks."""

    case: str
    items: tuple[str, ...]
    marks: tuple[int, ...]
    adjudicated: str | None


@dataclass(frozen=True)
class SampleReport:
    """The evidence from a review.

    Attributes:
        bound, confidence: what was to be proven.
        all: the rate over the release; strata: the rate of each kind.
        process: the upper bound (Clopper-Pearson) for further documents of the same process.
        leaks: marks of all reviewers, merged; characters, masks: of the drawn documents.
        seen: planted leaks found, per reviewer and "together"; empty without plants.
        recaptured: per pair of reviewers, by documents and by leaks; None if both found fewer than seven.
        beyond: planted documents that also hold another leak; they are not in the rate.
        unmoved: True if the outputs were compared with those of the draw and are unchanged.
    """

    bound: float
    confidence: float
    all: Rate
    strata: dict[str, Rate]
    process: float
    leaks: int
    characters: int
    masks: int
    agreed: tuple[Agreed, ...]
    disagreements: tuple[Disagreement, ...]
    seen: dict[str, PlantedFound]
    recaptured: dict[str, dict[str, Recapture | None]]
    beyond: int
    unmoved: bool | None

    @property
    def proven(self) -> bool:
        """Whether the bound was proven."""
        return self.all.upper <= self.bound + 1e-12

    @property
    def open(self) -> int:
        """The number of disagreements without adjudication. Each counts as a leak."""
        return sum(one.adjudicated is None for one in self.disagreements)

    @property
    def per_1000_characters(self) -> float | None:
        return 1000 * self.leaks / self.characters if self.characters else None

    @property
    def per_1000_identifiers(self) -> float | None:
        """Per 1,000 identifiers that were masked or leak. None without any, because surrogates cannot be counted."""
        return 1000 * self.leaks / (self.leaks + self.masks) if self.leaks + self.masks else None

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dict without texts."""
        return {
            "proven": self.proven, "bound": self.bound, "confidence": self.confidence, "sentence": sentence(self),
            **asdict(self.all), "process_upper": self.process,
            "strata": {name: asdict(rate) for name, rate in self.strata.items()},
            "leaks": self.leaks, "per_1000_characters": self.per_1000_characters,
            "per_1000_identifiers": self.per_1000_identifiers,
            "agreement": [one.as_dict() for one in self.agreed],
            "disagreements": [asdict(one) for one in self.disagreements], "open": self.open,
            "planted": {who: one.as_dict() for who, one in self.seen.items()},
            "recapture": {pair: {by: one.as_dict() if one else None for by, one in each.items()}
                          for pair, each in self.recaptured.items()},
            "leaks_beside_plants": self.beyond, "outputs_unchanged": self.unmoved,
        }  # fmt: skip


def report(folder: Path, decisions: Sequence[Path], key: Path, adjudicated: Path | None = None) -> SampleReport:
    """Evaluate the decisions on a draw.

    A document leaks if any reviewer marked a leak, unless reviewers disagree and adjudication decides otherwise.

    Raises:
        UsageError: as for `read_key`, `read_reviews`, and `read_adjudication`; or the adjudication overrules what all
            reviewers agree on.
    """
    drawn = read_key(key)
    reviews = read_reviews(folder, drawn, decisions)
    ruled = read_adjudication(adjudicated, drawn) if adjudicated else {}
    leaking = {case.case: ruled.get(case.case, any(reviews.marks[case.case])) for case in drawn.drawn}
    if any(leaking[case] and not any(reviews.marks[case]) for case in leaking):
        raise UsageError("--adjudicated: a case is called a leak, but no reviewer marked it. Let a reviewer mark it.")
    if any(not leaks and all(reviews.marks[case]) for case, leaks in ruled.items()):
        raise UsageError(
            "--adjudicated: a case is called none, but every reviewer marked it. Let a reviewer remove the mark."
        )
    return SampleReport(
        bound=drawn.bound,
        confidence=drawn.confidence,
        all=_whole(drawn, leaking),
        strata=_by_stratum(drawn, leaking) if len(drawn.strata) > 1 else {},
        process=bounds.clopper_pearson(sum(leaking.values()), len(leaking), drawn.confidence),
        leaks=sum(len(together(reviews.marks[case])) for case, leaks in leaking.items() if leaks),
        characters=sum(case.characters for case in drawn.drawn),
        masks=sum(case.masks for case in drawn.drawn),
        agreed=tuple(_agreed(drawn, reviews, a, b) for a, b in combinations(range(len(drawn.sets)), 2)),
        disagreements=tuple(_disagreements(drawn, reviews, ruled)),
        seen=_seen(drawn, reviews),
        recaptured=_recaptured(drawn, reviews, leaking),
        beyond=sum(_beside(case, reviews) for case in drawn.planted),
        unmoved=reviews.unmoved,
    )


def sentence(told: SampleReport) -> str:
    """The result in words that an officer can sign, with the assumptions that it rests on."""
    rate, sure = told.all, f"{100 * told.confidence:g}%"
    text = (
        f"With {sure} confidence at most {_at_most(rate.upper)} of the {rate.population:,} documents of this release "
        f"leak ({rate.leaking} of {rate.drawn:,} drawn at random do), provided reviewers see what is there: "
    )
    if told.seen:
        one = told.seen["together"]
        text += (
            f"of {one.planted} planted leaks they found {one.found} ({100 * one.found / one.planted:.3g}%; with "
            f"{sure} confidence at least {_at_least(one.least)})."
        )
        if one.least > 0:
            allowing = min(1.0, rate.upper / one.least)
            both = f"{100 * (1 - 2 * (1 - told.confidence)):g}%"
            text += f" Allowing for what they may overlook, at most {_at_most(allowing)} leak, with {both} confidence."
        return text
    estimates = [each["documents"] for each in told.recaptured.values()]
    known = [one for one in estimates if one is not None]
    if known:
        worst = min(known, key=lambda one: one.sensitivity[0])
        middle, low, _ = worst.sensitivity
        return text + (
            f"their sensitivity is estimated at {100 * middle:.3g}% (95% interval from {_at_least(low)}) by "
            "capture-recapture, which is too kind where leaks are hard for both."
        )
    return text + "their sensitivity is not known: they found too little to tell, and nothing was planted (--plant)."


def _at_most(share: float) -> str:
    """A share in percent with two decimals, rounded up."""
    return f"{ceil(10_000 * share - 1e-7) / 100:.2f}%" if 0 < share < 1 else f"{100 * share:g}%"


def _at_least(share: float) -> str:
    """A share in percent with two decimals, rounded down."""
    return f"{floor(10_000 * share + 1e-7) / 100:.2f}%"


def _whole(key: Key, leaking: dict[str, bool]) -> Rate:
    hits, n, population = sum(leaking.values()), len(leaking), key.population
    sizes = {name: size for name, (size, _) in key.strata.items()}
    if len(sizes) == 1:
        upper = bounds.hypergeometric(hits, n, population, key.confidence) / population
        return Rate(population, n, hits, hits / n, upper)
    shares = {name: drawn for name, (_, drawn) in key.strata.items()}
    by = _by_stratum(key, leaking)
    rate = sum(one.rate * one.population for one in by.values()) / population
    return Rate(population, n, hits, rate, bounds.stratified(hits, shares, sizes, key.confidence))


def _by_stratum(key: Key, leaking: dict[str, bool]) -> dict[str, Rate]:
    rates = {}
    for name, (size, drawn) in key.strata.items():
        hits = sum(leaking[case.case] for case in key.drawn if case.stratum == name)
        upper = bounds.hypergeometric(hits, drawn, size, key.confidence) / size
        rates[name] = Rate(size, drawn, hits, hits / drawn, upper)
    return rates


def _agreed(key: Key, reviews: SampleReviews, one: int, other: int) -> Agreed:
    rows = []
    for case in key.drawn:
        first, second = (bool(reviews.marks[case.case][who]) for who in (one, other))
        rows.append((first and second, first and not second, second and not first, not first and not second))
    counts = np.array(rows, np.float64)
    sums, drawn = counts.sum(axis=0)[None, :], resampled(counts, RESAMPLES, 0)
    pairs = [_pair(case, reviews, one, other) for case in key.drawn]
    tokens = Figure(None, None, None, 0)
    if any(any(map(str.isalnum, pair.text)) for pair in pairs):
        tokens = agreement(pairs).kappa
    both, only, other_only, neither = (int(n) for n in sums[0])
    return Agreed(
        (one + 1, other + 1), both, only, other_only, neither,
        _figure(_kappa(sums), _kappa(drawn), len(rows)), _figure(_positive(sums), _positive(drawn), len(rows)), tokens,
    )  # fmt: skip


def _pair(case: SampledCase, reviews: SampleReviews, one: int, other: int) -> Pair:
    first, second = (tuple(LabeledSpan(*mark) for mark in reviews.marks[case.case][who]) for who in (one, other))
    return Pair(case.case, reviews.texts[case.case], first, second)


def _kappa(counts: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    both, first, second, neither = counts.T
    n = counts.sum(axis=1)
    chance = (both + first) * (both + second) + (neither + first) * (neither + second)
    with np.errstate(invalid="ignore", divide="ignore"):
        made: np.ndarray[Any, np.dtype[np.float64]] = ((both + neither) * n - chance) / (n * n - chance)
    return made


def _positive(counts: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    both, first, second, _ = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        made: np.ndarray[Any, np.dtype[np.float64]] = 2 * both / (2 * both + first + second)
    return made


def _figure(value: Any, drawn: Any, n: int) -> Figure:
    if np.isnan(value[0]):
        return Figure(None, None, None, n)
    return Figure(float(value[0]), *interval(drawn), n)


def _disagreements(key: Key, reviews: SampleReviews, ruled: dict[str, bool]) -> Iterator[Disagreement]:
    for case in key.drawn:
        marks = reviews.marks[case.case]
        if len({bool(own) for own in marks}) > 1:
            verdict = {None: None, True: "leak", False: "none"}[ruled.get(case.case)]
            yield Disagreement(case.case, case.items, tuple(map(len, marks)), verdict)


def _seen(key: Key, reviews: SampleReviews) -> dict[str, PlantedFound]:
    if not key.planted:
        return {}
    hits = np.array([[_sees(case, own) for own in reviews.marks[case.case]] for case in key.planted])
    n = len(hits)
    each = {f"reviewer {who + 1}": found(int(hits[:, who].sum()), n, key.confidence) for who in range(hits.shape[1])}
    return {**each, "together": found(int(hits.any(axis=1).sum()), n, key.confidence)}


def _sees(case: SampledCase, marks: Any) -> bool:
    assert case.plant is not None  # called for planted cases only
    return any(mark.start < case.plant.end and case.plant.start < mark.end for mark in marks)


def _beside(case: SampledCase, reviews: SampleReviews) -> bool:
    return any(not _sees(case, [mark]) for own in reviews.marks[case.case] for mark in own)


def _recaptured(key: Key, reviews: SampleReviews, leaking: dict[str, bool]) -> dict[str, dict[str, Recapture | None]]:
    """The estimates per pair of reviewers. False alarms that were adjudicated are left out."""
    real = [reviews.marks[case.case] for case in key.drawn if leaking[case.case]]
    estimates: dict[str, dict[str, Recapture | None]] = {}
    for one, other in combinations(range(len(key.sets)), 2):
        documents = [(bool(marks[one]), bool(marks[other])) for marks in real]
        leaks = [(bool(a), bool(b)) for marks in real for a, b in together((marks[one], marks[other]))]
        estimates[f"{one + 1} and {other + 1}"] = {
            by: recapture(sum(a for a, _ in units), sum(b for _, b in units), sum(a and b for a, b in units))
            for by, units in (("documents", documents), ("leaks", leaks))
        }
    return estimates
