"""Requirements for every voice activity detector: voices where they are, in order, from blocks of any size."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from incognote.errors import UnknownName
from incognote.speech.nouns import RATE
from incognote.speech.vad.base import VoiceDetector
from incognote.speech.vad.registry import DETECTORS, detector_of

from .spoken import VISIT, blocks, noise, say, silence

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples


@pytest.fixture(params=sorted(DETECTORS))
def detector(request: pytest.FixtureRequest) -> VoiceDetector:
    return detector_of(request.param)


def test_it_fulfills_the_protocol_and_has_the_name_under_which_it_is_found(detector: VoiceDetector) -> None:
    assert isinstance(detector, VoiceDetector)
    assert detector_of(detector.name) is detector


def test_an_unknown_detector_is_refused() -> None:
    with pytest.raises(UnknownName, match="silero"):
        detector_of("silerro")


@pytest.mark.parametrize("voice", ["kal16", "rms", "slt"])
def test_speech_is_voiced_and_the_silence_around_it_is_not(detector: VoiceDetector, voice: str) -> None:
    said = say(VISIT, voice)
    seconds = len(said) / RATE

    voices = list(detector.voiced(blocks(np.concatenate([silence(2), said, silence(2)]))))

    assert sum(each.end - each.start for each in voices) > 0.75 * seconds
    assert voices[0].start > 1.9
    assert voices[-1].end < 2 + seconds + 0.3


@pytest.mark.parametrize("size", [1, 479, 512, 100_000])
def test_the_size_of_the_blocks_changes_nothing(detector: VoiceDetector, size: int) -> None:
    sound = np.concatenate([silence(0.5), say("take the pills"), silence(0.5)])

    assert list(detector.voiced(blocks(sound, size))) == list(detector.voiced([sound]))


def test_voices_are_in_order_and_apart(detector: VoiceDetector) -> None:
    said = say("take the pills")
    sound = np.concatenate([part for _ in range(4) for part in (said, silence(0.7))])

    voices = list(detector.voiced(blocks(sound)))

    assert len(voices) >= 4
    assert all(first.end < second.start for first, second in pairwise(voices))


@pytest.mark.parametrize("samples", [0, 1, 511, 3 * RATE])
def test_digital_silence_of_any_length_has_no_voice(detector: VoiceDetector, samples: int) -> None:
    assert list(detector.voiced([np.zeros(samples, dtype=np.int16)])) == []


def test_voices_are_yielded_before_the_sound_ends(detector: VoiceDetector) -> None:
    read = 0

    def endless() -> Iterator[Samples]:
        nonlocal read
        while True:
            for part in (say("take the pills"), silence(1)):
                read += len(part)
                yield part

    voices = detector.voiced(endless())

    assert next(voices).end < next(voices).start
    assert read < 10 * RATE


def test_threads_share_a_detector(detector: VoiceDetector) -> None:
    sounds = [say(text) for text in ("take the pills", "stop taking it", "see the doctor")]
    alone = [list(detector.voiced(blocks(sound))) for sound in sounds]
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda sound: list(detector.voiced(blocks(sound))), sounds)) == alone


def test_white_noise_is_a_voice_to_webrtc_and_none_to_silero() -> None:
    sound = noise(5)

    assert list(detector_of("silero").voiced([sound])) == []
    assert sum(each.end - each.start for each in detector_of("webrtc").voiced([sound])) > 4.5
