"""Measures of muted recordings, over spans of time.

What counts is the time that is muted, and not what a recognizer wrote, as in Cohn et al., "Audio De-identification: A
New Entity Recognition Task", NAACL 2019. An identifier is wholly muted if less than `AUDIBLE` seconds of it are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.redactor import DIRECT
from incognote.evaluation.metrics.tally import RESAMPLES, Column, DocumentTally
from incognote.schemas.catalogue import catalogue
from incognote.speech.intervals import intersection, seconds, subtraction
from incognote.speech.nouns import Interval

AUDIBLE = 0.05
"""Seconds of an identifier that may be left at its edges: less than any name takes, more than word times are exact."""
RELEASED = "release"
TITLES = {
    "phi_seconds_muted": "Seconds of identifiers: muted",
    "phrases_muted": "Identifiers: wholly muted",
    "recordings_clean": "Recordings with direct identifiers: all of them wholly muted",
    "speech_seconds_kept": "Seconds of other speech: kept",
    "fact_seconds_kept": "Seconds of clinical facts: kept",
    "recordings_released": "Recordings released",
    "released_recordings_clean": "Released recordings with direct identifiers: all of them wholly muted",
}
"""What each figure is a share of, for people."""


@dataclass(frozen=True, slots=True)
class SpokenIdentifier:
    """An identifier of a recording.

    Args:
        type: the entity type.
        times: of its words, in order.
    """

    type: str
    times: tuple[Interval, ...]

    @property
    def is_direct(self) -> bool:
        """Whether its type is one of RedactOR's direct identifiers, or unknown."""
        return self.type not in catalogue() or catalogue()[self.type].group in DIRECT

    def is_muted(self, muted: Sequence[Interval]) -> bool:
        """Whether less than `AUDIBLE` seconds of it are left."""
        return seconds(subtraction(self.times, muted)) < AUDIBLE


@dataclass(frozen=True, slots=True)
class GoldRecording:
    """What is known of a recording.

    Args:
        id: its name.
        identifiers: the identifiers.
        speech: the times of all words, of identifiers and others; empty if they are not known.
        facts: the times of the words of clinical facts.
    """

    id: str = field(repr=False)
    identifiers: tuple[SpokenIdentifier, ...]
    speech: tuple[Interval, ...] = ()
    facts: tuple[Interval, ...] = ()

    @property
    def private(self) -> list[Interval]:
        """The times of the words of identifiers."""
        return [time for each in self.identifiers for time in each.times]


@dataclass(frozen=True, slots=True)
class MutedRecording:
    """What was muted in a recording. `verdict` is "" if none is stated."""

    id: str = field(repr=False)
    muted: tuple[Interval, ...]
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class JudgedRecording:
    """What became of one recording.

    Args:
        identifiers, muted: the number of identifiers, and of those that are wholly muted.
        direct, clean: whether it has direct identifiers, and whether all of them are wholly muted.
        phi, phi_muted, other, other_kept, facts, facts_kept: in seconds.
    """

    id: str = field(repr=False)
    verdict: str
    identifiers: int
    muted: int
    direct: bool
    clean: bool
    phi: float
    phi_muted: float
    other: float
    other_kept: float
    facts: float
    facts_kept: float


def judged(gold: GoldRecording, found: MutedRecording) -> JudgedRecording:
    """Return what became of a recording."""
    private = gold.private
    other = subtraction(gold.speech, private)
    facts = subtraction(gold.facts, private)
    direct = [each for each in gold.identifiers if each.is_direct]
    return JudgedRecording(
        id=gold.id,
        verdict=found.verdict,
        identifiers=len(gold.identifiers),
        muted=sum(each.is_muted(found.muted) for each in gold.identifiers),
        direct=bool(direct),
        clean=all(each.is_muted(found.muted) for each in direct),
        phi=seconds(private),
        phi_muted=seconds(intersection(private, found.muted)),
        other=seconds(other),
        other_kept=seconds(subtraction(other, found.muted)),
        facts=seconds(facts),
        facts_kept=seconds(subtraction(facts, found.muted)),
    )


def figures(recordings: Sequence[JudgedRecording], resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Figure]:
    """Return the figures of `TITLES`, with intervals: a bootstrap over recordings, or Wilson's for shares of them.

    Raises:
        UsageError: there is no recording.
    """
    tally = DocumentTally()
    for each in recordings:
        tally.add(
            {
                ("phi",): _ms(each.phi), ("phi", "muted"): _ms(each.phi_muted),
                ("phrases",): each.identifiers, ("phrases", "muted"): each.muted,
                ("speech",): _ms(each.other), ("speech", "kept"): _ms(each.other_kept),
                ("facts",): _ms(each.facts), ("facts", "kept"): _ms(each.facts_kept),
            }
        )  # fmt: skip
    sums = tally.sums(resamples, seed)

    def ratio(part: Column, whole: Column) -> Figure:
        made = sums.share([part], [whole])
        timed = whole != ("phrases",)
        return Figure(made.value, made.low, made.high, round(made.of / 1000) if timed else made.of)

    direct = [each for each in recordings if each.direct]
    released = [each for each in direct if each.verdict == RELEASED]
    made = {
        "phi_seconds_muted": ratio(("phi", "muted"), ("phi",)),
        "phrases_muted": ratio(("phrases", "muted"), ("phrases",)),
        "recordings_clean": share(sum(each.clean for each in direct), len(direct)),
        "speech_seconds_kept": ratio(("speech", "kept"), ("speech",)),
        "fact_seconds_kept": ratio(("facts", "kept"), ("facts",)),
    }
    if any(each.verdict for each in recordings):
        made["recordings_released"] = share(sum(each.verdict == RELEASED for each in recordings), len(recordings))
        made["released_recordings_clean"] = share(sum(each.clean for each in released), len(released))
    return {name: figure for name, figure in made.items() if figure.of}


def types_muted(pairs: Sequence[tuple[GoldRecording, MutedRecording]]) -> Mapping[str, Figure]:
    """Return the share of identifiers that are wholly muted, by type, the most frequent first."""
    counts: dict[str, list[bool]] = {}
    for gold, found in pairs:
        for each in gold.identifiers:
            counts.setdefault(each.type, []).append(each.is_muted(found.muted))
    ordered = sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))
    return {name: share(sum(muted), len(muted)) for name, muted in ordered}


def _ms(duration: float) -> int:
    return round(duration * 1000)
