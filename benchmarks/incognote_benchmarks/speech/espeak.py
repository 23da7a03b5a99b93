"""Speech of eSpeak NG. Its library reports the sample at which each word and each sound of speech starts.

The library keeps the state of its random numbers, so a process of its own speaks the lines of one recording: `say`
starts this module as a program. It reads {"voice", "lines"} and writes {"rate", "lines": [{"samples", "times"}]}.
"""

from __future__ import annotations

import base64
import ctypes
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from incognote_benchmarks.speech.spoken import Spoken, spoken

VOICES = ("en-us", "en-us+f2", "en-us+m3", "en-us+f4")
_RETRIEVAL, _PHONEMES = 1, 1  # from espeak-ng's `speak_lib.h`
_WORD, _END, _PHONEME = 1, 5, 7  # types of events
_UTF8 = 1
_PAUSE = b"_"


class _Id(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    """`espeak_EVENT` of `speak_lib.h`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique", ctypes.c_uint),
        ("position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p),
        ("id", _Id),
    )


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


def say(lines: Sequence[Sequence[str]], voice: str) -> list[Spoken]:
    """Return lines of words as sound.

    Raises:
        subprocess.CalledProcessError: eSpeak NG or the voice is not installed.
        ValueError: eSpeak NG did not say the words one by one.
    """
    asked = json.dumps({"voice": voice, "lines": [list(words) for words in lines]})
    program = [sys.executable, "-m", __name__]
    ran = subprocess.run(program, input=asked, capture_output=True, text=True, check=True)  # noqa: S603 -- our own module
    said = json.loads(ran.stdout)
    made = []
    for each in said["lines"]:
        samples = np.frombuffer(base64.b64decode(each["samples"]), np.int16)
        made.append(spoken(samples, said["rate"], [(start, end) for start, end in each["times"]]))
    return made


def _speak(voice: str, lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    library = ctypes.CDLL("libespeak-ng.so.1")
    rate: int = library.espeak_Initialize(_RETRIEVAL, 0, None, _PHONEMES)
    blocks: list[Any] = []
    events: list[tuple[int, int, int, bytes]] = []

    def heard(samples: Any, frames: int, reported: Any) -> int:
        if frames and samples:
            blocks.append(np.ctypeslib.as_array(samples, (frames,)).copy())
        at = 0
        while reported[at].type:
            one = reported[at]
            events.append((one.type, one.position - 1, one.sample, one.id.string if one.type == _PHONEME else b""))
            at += 1
        return 0

    callback = _CALLBACK(heard)
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(voice.encode()):
        raise OSError(f"eSpeak NG has no voice {voice}")
    made = []
    for words in lines:
        blocks.clear()
        events.clear()
        text = " ".join(words).encode() + b"\0"
        library.espeak_Synth(text, len(text), 0, 1, 0, _UTF8, None, None)
        library.espeak_Synchronize()
        samples = np.concatenate(blocks).astype(np.int16)
        times = [(start / rate, end / rate) for start, end in word_times(words, events, len(samples))]
        made.append({"samples": base64.b64encode(samples.tobytes()).decode(), "times": times})
    return {"rate": rate, "lines": made}


def word_times(
    words: Sequence[str], events: Sequence[tuple[int, int, int, bytes]], frames: int
) -> list[tuple[float, float]]:
    """Return the samples at which each word starts and ends.

    eSpeak NG says some pairs of words, such as "on the", as one. Their time is divided by the number of letters.

    Args:
        events: type, position in the text, sample, and name of each event, in order.
        frames: the number of samples of the line.
    """
    ends = np.cumsum([len(word) + 1 for word in words])
    found: dict[int, tuple[float, float]] = {}
    current: int | None = None
    for kind, position, sample, name in events:
        if kind == _WORD:
            if current is not None:
                found[current] = found[current][0], sample
            current = int(np.searchsorted(ends, position + 1, side="right"))
            current = min(current, len(words) - 1)
            found.setdefault(current, (sample, frames))
        elif current is not None and (kind == _END or (kind == _PHONEME and name.startswith(_PAUSE))):
            found[current] = found[current][0], sample
            current = None
    times: list[tuple[float, float]] = []
    for first in sorted(found):
        after = min((other for other in found if other > first), default=len(words))
        start, end = found[first]
        letters = np.cumsum([0, *(len(word) for word in words[first:after])])
        cuts = start + (end - start) * letters / letters[-1]
        times += [(float(a), float(b)) for a, b in pairwise(cuts)]
    return times


def main() -> None:
    """Speak the lines that standard input names."""
    asked = json.load(sys.stdin)
    json.dump(_speak(asked["voice"], asked["lines"]), sys.stdout)


if __name__ == "__main__":
    main()
