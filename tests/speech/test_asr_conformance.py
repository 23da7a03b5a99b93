"""Requirements for every speech recognizer: words in order within the sound, threads, no state, and silence."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from incognote.errors import SettingError
from incognote.llm.opening import ModelSpec, open_recognizer
from incognote.speech.asr.base import SpeechRecognizer
from incognote.speech.asr.registry import recognizer_of
from incognote.speech.nouns import RATE, HeardWord
from incognote.testing import LocalServer

from .spoken import VISIT, noise, say, silence


@pytest.fixture(params=["sphinx", "openai/whisper-1", "whispercpp/base"])
def recognizer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SpeechRecognizer]:
    """Each door. The servers have PocketSphinx behind them."""
    embedded = recognizer_of()
    if request.param == embedded.name:
        yield embedded
        return
    with LocalServer({}, transcribe=embedded.hear) as server:
        spec = ModelSpec(request.param, tmp_path, api_base=server.url, api_key=server.api_key, attempts=1)
        yield open_recognizer(spec)


def test_it_fulfills_the_protocol(recognizer: SpeechRecognizer) -> None:
    assert isinstance(recognizer, SpeechRecognizer)
    assert "en" in recognizer.languages


def test_words_are_heard_in_order_within_the_sound_with_confidence(recognizer: SpeechRecognizer) -> None:
    sound = say(VISIT)

    words = recognizer.hear(sound, "en")

    assert " ".join(word.text for word in words) == VISIT
    times = [time for word in words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert times[0] > 0
    assert times[-1] <= len(sound) / RATE
    assert all(0.3 < word.confidence <= 1 for word in words)


def test_words_are_where_they_are_said(recognizer: SpeechRecognizer) -> None:
    said, pause = say("take the pills"), 2.0
    first, second = len(said) / RATE, len(said) / RATE + pause

    words = recognizer.hear(np.concatenate([said, silence(pause), said]), "en")

    assert any(word.end <= first for word in words)
    assert any(word.start >= second for word in words)
    assert all(word.end <= first + 0.1 or word.start >= second - 0.1 for word in words)


@pytest.mark.parametrize("samples", [0, 1, 399, 1600, 2 * RATE])
def test_silence_of_any_length_has_no_words(recognizer: SpeechRecognizer, samples: int) -> None:
    assert recognizer.hear(np.zeros(samples, dtype=np.int16), "en") == []


def test_the_loudest_sound_and_noise_are_heard_without_an_error(recognizer: SpeechRecognizer) -> None:
    for sound in (np.full(RATE, -32768, dtype=np.int16), np.full(RATE, 32767, dtype=np.int16), noise(1, 20_000)):
        assert all(0 <= word.start <= word.end <= 1 for word in recognizer.hear(sound, "en"))


def test_what_was_heard_before_changes_nothing(recognizer: SpeechRecognizer) -> None:
    sound = say(VISIT, "slt")
    alone = recognizer.hear(sound, "en")
    recognizer.hear(noise(2, 8000), "en")

    assert recognizer.hear(sound, "en") == alone


def test_threads_share_a_recognizer(recognizer: SpeechRecognizer) -> None:
    sounds = [say(text) for text in ("take the pills", "stop taking it", "see the doctor")]
    alone = [recognizer.hear(sound, "en") for sound in sounds]
    with ThreadPoolExecutor(3) as threads:
        together: list[list[HeardWord]] = list(threads.map(lambda sound: recognizer.hear(sound, "en"), sounds))

    assert together == alone


def test_another_language_is_refused(recognizer: SpeechRecognizer) -> None:
    with pytest.raises(SettingError, match="'tlh'"):
        recognizer.hear(say("good morning"), "tlh")


def test_no_word_is_printed_logged_or_in_a_representation(
    recognizer: SpeechRecognizer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(0):
        words = recognizer.hear(say(VISIT), "en")
    printed = capfd.readouterr()

    assert "pressure" in [word.text for word in words]
    shown = printed.out + printed.err + caplog.text + repr(words) + repr(recognizer)
    assert "pressure" not in shown.lower()
