"""Requirements for every speech recognizer: words in order within the sound, threads, no state, and no words printed."""

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

from ..spoken import VISIT, noise, say, silence


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
    assert 0 < times[0]
    assert times[-1] <= len(sound) / RATE
    assert all(0.3 < word.confidence <= 1 for word in words)


def test_a_word_is_where_it_is_said(recognizer: SpeechRecognizer) -> None:
    first, pause, second = say("good morning"), silence(2), say("thank you")

    words = recognizer.hear(np.concatenate([first, pause, second]), "en")

    assert [word.text for word in words] == ["good", "morning", "thank", "you"]
    assert words[1].end <= len(first) / RATE
    assert words[2].start >= (len(first) + len(pause)) / RATE


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
    texts = ["good morning", "thank you very much", "see you next month"]
    with ThreadPoolExecutor(3) as threads:
        found: list[list[HeardWord]] = list(threads.map(lambda text: recognizer.hear(say(text), "en"), texts))

    assert [" ".join(word.text for word in words) for words in found] == texts


def test_another_language_is_refused(recognizer: SpeechRecognizer) -> None:
    with pytest.raises(SettingError, match="'tlh'"):
        recognizer.hear(say("good morning"), "tlh")


def test_no_word_is_printed_logged_or_in_a_representation(
    recognizer: SpeechRecognizer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(0):
        words = recognizer.hear(say("my name is wilson"), "en")
    printed = capfd.readouterr()

    assert "wilson" in [word.text for word in words]
    shown = printed.out + printed.err + caplog.text + repr(words) + repr(recognizer)
    assert "wilson" not in shown.lower()
