"""The measurement of disguises: equal error rates, and a small run with a disguise that hides nothing."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from incognote.speech.nouns import RATE
from incognote_benchmarks.speech.voices import Size, Verifier, bands, equal_error, lines, measured, trials

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.speech.nouns import Samples

_SAID = [
    "the pain started last week and it is worse at night".split(),
    "please stop the blood pressure pills until we have the results".split(),
    "he walks two miles a day and sleeps well after that".split(),
    "there is soup in the kitchen and bread on the table".split(),
]


def test_scores_that_separate_persons_have_no_error_and_equal_scores_one_half() -> None:
    high, low = np.linspace(0.6, 0.9, 10), np.linspace(-0.9, 0.5, 40)
    assert equal_error(high, low) == 0
    assert equal_error(low, high) == 1
    random = np.random.default_rng(0)
    assert equal_error(random.normal(size=4_000), random.normal(size=4_000)) == pytest.approx(0.5, abs=0.03)


def test_the_error_is_that_of_the_threshold_with_as_many_errors_of_each_kind() -> None:
    assert equal_error(np.array([0.1, 0.7, 0.8, 0.9]), np.array([0.0, 0.2, 0.3, 0.75])) == pytest.approx(0.25)


def test_trials_never_compare_the_same_words() -> None:
    same = np.eye(3)  # equal only to themselves
    found = trials({0: same, 1: same}, {0: same, 1: same}, resamples=20)
    assert found["value"] == pytest.approx(0.5, abs=0.5)
    assert found["of"] == 2 * 2 * 6


def test_bands_are_those_of_the_frequency_of_a_tone() -> None:
    def loudest(hertz: float) -> int:
        tone = np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE) * 9_000
        found = bands(tone.astype(np.int16))
        assert found.shape == (40, 98)
        return int(found.mean(1).argmax())

    assert loudest(200) < loudest(1_000) < loudest(4_000)


def test_a_verifier_tells_two_tones() -> None:
    pytest.importorskip("sklearn", reason="the extra `evaluation` is not installed")
    random = np.random.default_rng(0)

    def tone(hertz: float) -> Samples:
        made = np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE) * 9_000 + random.normal(0, 300, RATE)
        return made.astype(np.int16)

    verifier = Verifier([(person, tone(200 + 300 * person)) for person in (0, 1) for _ in range(6)])
    one, other = (verifier.embedding(tone(hertz)) for hertz in (200, 500))
    assert one @ verifier.embedding(tone(200)) > one @ other


def test_a_disguise_that_changes_nothing_makes_no_difference() -> None:
    pytest.importorskip("sklearn", reason="the extra `evaluation` is not installed")
    if shutil.which("espeak-ng") is None:
        pytest.skip("the program espeak-ng is not installed")
    voices = [("espeak", "en-us+f2"), ("espeak", "en-us+m3")]
    size = Size(learned=2, tried=2, seeds=1, heard=1, resamples=20)
    made = measured(voices, _SAID, size, lambda sound, _: sound)
    for arms in made["equal error rates"].values():
        assert len({each["value"] for each in arms.values()}) == 1
    assert made["persons"] == 2


def test_too_few_lines_are_refused() -> None:
    with pytest.raises(ValueError, match="not enough lines"):
        measured([("espeak", "en-us")], _SAID, Size())


def test_lines_hold_at_least_twelve_words_of_consecutive_utterances(tmp_path: Path) -> None:
    script = "# kind: dictation\n# speakers: D=clinician\n" + "D: one two three four five six seven\n" * 5
    (tmp_path / "a.txt").write_text(script, encoding="utf-8")
    assert [len(each) for each in lines(tmp_path)] == [14, 14]
