"""What is muted, kept, and left in recordings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.evaluation.recordings.measures import (
    AUDIBLE,
    GoldRecording,
    MutedRecording,
    SpokenIdentifier,
    figures,
    judged,
    types_muted,
)
from incognote.speech.nouns import Interval

NAME = SpokenIdentifier("PERSON", (Interval(1.0, 1.4), Interval(1.5, 2.0)))
JOB = SpokenIdentifier("OCCUPATION", (Interval(4.0, 4.5),))
GOLD = GoldRecording(
    "a", (NAME, JOB), (Interval(0.0, 1.0), *NAME.times, Interval(2.0, 3.0), *JOB.times), (Interval(2.5, 3.0),)
)


def test_seconds_are_counted_once_and_pauses_within_an_identifier_do_not_count() -> None:
    found = judged(GOLD, MutedRecording("a", (Interval(0.8, 2.2), Interval(1.0, 2.2))))
    assert (found.phi, found.phi_muted) == pytest.approx((1.4, 0.9))
    assert (found.other, found.other_kept) == pytest.approx((2.0, 1.6))
    assert (found.facts, found.facts_kept) == pytest.approx((0.5, 0.5))
    assert (found.identifiers, found.muted) == (2, 1)


def test_a_recording_is_clean_if_all_direct_identifiers_are_muted() -> None:
    found = judged(GOLD, MutedRecording("a", (Interval(0.8, 2.2),)))  # the job is left, but is no direct identifier
    assert found.direct
    assert found.clean
    assert not judged(GOLD, MutedRecording("a", (Interval(1.5, 2.2),))).clean


def test_an_identifier_may_be_audible_for_less_than_the_limit() -> None:
    assert NAME.is_muted([Interval(1.0 + 0.9 * AUDIBLE, 2.0)])
    assert not NAME.is_muted([Interval(1.0 + 1.1 * AUDIBLE, 2.0)])


def test_overlapping_speech_of_another_speaker_counts_as_the_identifier() -> None:
    gold = GoldRecording("a", (NAME,), (*NAME.times, Interval(1.2, 2.4)))
    assert judged(gold, MutedRecording("a", ())).other == pytest.approx(0.1 + 0.4)


def test_shares_are_those_of_all_recordings_together() -> None:
    clean = judged(GOLD, MutedRecording("a", (Interval(0.0, 9.0),), "release"))
    left = judged(GOLD, MutedRecording("b", (), "release"))
    held = judged(GOLD, MutedRecording("c", (), "review"))
    made = figures([clean, left, held])
    values = {name: (figure.value, figure.of) for name, figure in made.items()}
    assert values["phi_seconds_muted"] == (pytest.approx(1 / 3), 4)
    assert values["phrases_muted"] == (pytest.approx(1 / 3), 6)
    assert values["recordings_clean"] == (pytest.approx(1 / 3), 3)
    assert values["speech_seconds_kept"] == (pytest.approx(2 / 3), 6)
    assert values["recordings_released"] == (pytest.approx(2 / 3), 3)
    assert values["released_recordings_clean"] == (pytest.approx(1 / 2), 2)


def test_without_verdicts_nothing_is_said_of_releases() -> None:
    assert "recordings_released" not in figures([judged(GOLD, MutedRecording("a", ()))])


def test_types_are_counted_by_identifier() -> None:
    by_type = types_muted([(GOLD, MutedRecording("a", (Interval(1.0, 2.0),)))])
    assert {name: figure.value for name, figure in by_type.items()} == {"OCCUPATION": 0.0, "PERSON": 1.0}


times = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 5)).map(lambda pair: Interval(pair[0], pair[0] + pair[1])), max_size=8
)


@given(times, times, times)
def test_muting_more_never_leaves_more(speech: list[Interval], muted: list[Interval], more: list[Interval]) -> None:
    gold = GoldRecording("a", (SpokenIdentifier("PERSON", tuple(speech[:2])),), tuple(speech))
    one = judged(gold, MutedRecording("a", tuple(muted)))
    two = judged(gold, MutedRecording("a", (*muted, *more)))
    assert two.phi_muted >= one.phi_muted - 1e-9
    assert two.other_kept <= one.other_kept + 1e-9
    assert one.phi_muted <= one.phi + 1e-9
