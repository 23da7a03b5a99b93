"""Speech of flite. Its library tells the end of each sound of speech, and so of each word."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from incognote_benchmarks.speech.spoken import Spoken, spoken

VOICES = ("awb", "rms", "slt", "kal16")
_START = b"R:Token.daughter1.R:SylStructure.daughter1.daughter1.R:Segment.p.end"
_END = b"R:Token.daughtern.R:SylStructure.daughtern.daughtern.R:Segment.end"
_SO = "1"  # the version of the libraries' interface


class _Wave(ctypes.Structure):
    """`cst_wave` of flite's `cst_wave.h`."""

    _fields_ = (
        ("type", ctypes.c_char_p),
        ("rate", ctypes.c_int),
        ("frames", ctypes.c_int),
        ("channels", ctypes.c_int),
        ("samples", ctypes.POINTER(ctypes.c_short)),
    )


@cache
def _library() -> ctypes.CDLL:
    pointer, name = ctypes.c_void_p, ctypes.c_char_p
    library = ctypes.CDLL(f"libflite.so.{_SO}", mode=ctypes.RTLD_GLOBAL)
    for other in ("cmulex", "usenglish"):
        ctypes.CDLL(f"libflite_{other}.so.{_SO}", mode=ctypes.RTLD_GLOBAL)
    shapes = {
        "flite_synth_text": (pointer, [name, pointer]),
        "utt_relation": (pointer, [pointer, name]),
        "relation_head": (pointer, [pointer]),
        "item_next": (pointer, [pointer]),
        "ffeature_float": (ctypes.c_float, [pointer, name]),
        "utt_wave": (pointer, [pointer]),
        "delete_utterance": (None, [pointer]),
    }
    for function, (result, arguments) in shapes.items():
        entry = getattr(library, function)
        entry.restype, entry.argtypes = result, arguments
    library.flite_init()
    return library


@cache
def _voice(name: str) -> int:
    _library()
    voice = ctypes.CDLL(f"libflite_cmu_us_{name}.so.{_SO}", mode=ctypes.RTLD_GLOBAL)
    register = getattr(voice, f"register_cmu_us_{name}")
    register.restype, register.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    return int(register(None))


def say(lines: Sequence[Sequence[str]], voice: str) -> list[Spoken]:
    """Return lines of words as sound.

    Raises:
        OSError: flite or the voice is not installed.
        ValueError: flite did not say the words one by one.
    """
    return [_said(words, voice) for words in lines]


def _said(words: Sequence[str], voice: str) -> Spoken:
    chosen, library = _voice(voice), _library()
    ctypes.CDLL(None).srand(1)  # its vocoder draws noise with C's random numbers
    utterance = library.flite_synth_text(" ".join(words).encode(), chosen)
    try:
        wave = ctypes.cast(library.utt_wave(utterance), ctypes.POINTER(_Wave)).contents
        samples = np.ctypeslib.as_array(wave.samples, (wave.frames,)).astype(np.int16)
        times: list[tuple[float, float]] = []
        token = library.relation_head(library.utt_relation(utterance, b"Token"))
        while token:
            times.append((library.ffeature_float(token, _START), library.ffeature_float(token, _END)))
            token = library.item_next(token)
        if len(times) != len(words):
            raise ValueError("flite did not say the words one by one")
        return spoken(samples, wave.rate, times)
    finally:
        library.delete_utterance(utterance)
