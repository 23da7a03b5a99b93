"""PocketSphinx as a speech recognizer. Its English model comes with its package, and is read from there."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra, RecordProblem
from incognote.speech.asr.base import check_language
from incognote.speech.nouns import RATE, HeardWord

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

FRAMES = 100
"""Frames a second."""
LEAST = 0.001
"""The least posterior of an alternative."""
MOST = 8
"""The most alternatives of a word."""

_SHORTEST = RATE // 10  # samples; a shorter stretch holds no word
_VARIANT = re.compile(r"\(\d+\)$")
_PHONES = {"lw": 2.0, "beam": 1e-20, "pbeam": 1e-20}


class Sphinx:
    """PocketSphinx 5 with its model `en-us`.

    A word's confidence is the posterior of the word in the lattice, as a mean over its frames. Its alternatives are the
    other words of the lattice in its time. Its phones are those that a loop of phones heard in its time, so they do not
    depend on the dictionary.

    Args:
        phones: whether the phones are heard, too.
    """

    name = "sphinx"
    languages = frozenset({"en"})

    def __init__(self, phones: bool = True) -> None:
        self._phones = phones
        self._idle: dict[bool, list[Any]] = {False: [], True: []}  # decoders that no thread uses

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        """See `SpeechRecognizer.hear`."""
        check_language(self, language)
        if len(sound) < _SHORTEST:
            return []
        with self._decoded(sound, loop=False) as decoder:
            heard = list(_words(decoder, len(sound) / RATE))
        if not heard or not self._phones:
            return heard
        with self._decoded(sound, loop=True) as decoder:
            phones = [(each.start_frame + each.end_frame + 1, each.word) for each in decoder.seg() or ()]
        return [_with_phones(word, phones) for word in heard]

    @contextmanager
    def _decoded(self, sound: Samples, loop: bool) -> Iterator[Any]:
        """Yield a decoder that has heard the sound, in words or in phones. No other thread uses it meanwhile.

        Raises:
            MissingExtra: PocketSphinx is not installed.
            RecordProblem: it failed.
        """
        try:
            decoder = self._idle[loop].pop()
        except IndexError:
            decoder = _decoder(loop)
        try:
            decoder.reinit_feat()  # forgets the noise of the sound before
            decoder.start_utt()
            decoder.process_raw(_dithered(sound).tobytes(), False, True)
            decoder.end_utt()
        except RuntimeError:
            raise RecordProblem("PocketSphinx failed on the sound") from None
        yield decoder
        self._idle[loop].append(decoder)


def _dithered(sound: Samples) -> Samples:
    """Return sound with noise of one step, always the same, since words are heard in digital silence."""
    import numpy as np

    steps = np.random.default_rng(0).integers(-1, 2, len(sound))
    return (sound + steps).clip(-32768, 32767).astype(np.int16)


def _decoder(loop: bool) -> Any:
    try:
        from pocketsphinx import Decoder, get_model_path
    except ImportError:
        raise MissingExtra("audio", "recognizing speech") from None
    if loop:
        return Decoder(loglevel="FATAL", allphone=get_model_path("en-us/en-us-phone.lm.bin"), **_PHONES)
    return Decoder(loglevel="FATAL")


def _words(decoder: Any, seconds: float) -> Iterator[HeardWord]:
    """Yield the words of the best path through the lattice."""
    if decoder.hyp() is None:  # also computes the posteriors
        return
    segments = [(each.word, each.start_frame, each.end_frame + 1, each.prob) for each in decoder.seg()]
    lattice = decoder.get_lattice()
    links = _links(lattice) if lattice is not None else None
    for word, first, end, posterior in segments:
        if _is_filler(word):
            continue
        text = _VARIANT.sub("", word)
        others = _posteriors(links, first, end) if links else {text: posterior if lattice is not None else 0.0}
        confidence = min(1.0, others.pop(text, 0.0))
        likeliest = sorted(others.items(), key=lambda each: (-each[1], each[0]))
        alternatives = tuple((other, share) for other, share in likeliest[:MOST] if share >= LEAST)
        start = min(first / FRAMES, seconds)
        yield HeardWord(text, start, min(end / FRAMES, seconds), confidence, alternatives)


@dataclass(frozen=True, slots=True)
class _Link:
    """A word of the lattice, from one frame up to another, with its posterior."""

    text: str
    first: int
    end: int
    posterior: float


def _links(lattice: Any) -> list[_Link]:
    """Return the words of a lattice; an empty list on a system without files in memory."""
    if not hasattr(os, "memfd_create"):
        return []
    file = os.memfd_create("lattice")  # PocketSphinx writes to a path only; this one is in memory
    try:
        lattice.write_htk(f"/proc/self/fd/{file}")
        with os.fdopen(os.dup(file), encoding="utf-8") as written:
            written.seek(0)
            return list(_read(written))
    finally:
        os.close(file)


def _read(lines: Iterator[str]) -> Iterator[_Link]:
    """Yield the words of a lattice in the format of HTK (SLF): lines of `NAME=VALUE` separated by tabs."""
    nodes: dict[str, tuple[int, str]] = {}
    for line in lines:
        if line.startswith("I="):
            node = dict(pair.split("=", 1) for pair in line.rstrip("\n").split("\t"))
            nodes[node["I"]] = round(float(node["t"]) * FRAMES), node["W"]
        elif line.startswith("J="):
            link = dict(pair.split("=", 1) for pair in line.rstrip("\n").split("\t"))
            (first, text), (end, _), posterior = nodes[link["S"]], nodes[link["E"]], float(link["p"])
            if posterior >= LEAST / 10 and not _is_filler(text):
                yield _Link(text, first, end, posterior)


def _posteriors(links: list[_Link], first: int, end: int) -> dict[str, float]:
    """Return the posteriors of the words in some frames, each as the mean over these frames."""
    found: dict[str, float] = defaultdict(float)
    for link in links:
        shared = min(end, link.end) - max(first, link.first)
        if shared > 0:
            found[link.text] += link.posterior * shared / (end - first)
    return found


def _is_filler(word: str) -> bool:
    """Whether it is silence, a noise, or a mark of the lattice."""
    return word.startswith(("<", "[", "+", "!")) or word == "SIL"


def _with_phones(word: HeardWord, phones: list[tuple[int, str]]) -> HeardWord:
    """Return a word with the phones whose middle is in its time. `phones` has twice their middles, in frames."""
    first, end = (2 * FRAMES * time for time in (word.start, word.end))
    inside = tuple(phone for middle, phone in phones if first <= middle < end and not _is_filler(phone))
    return HeardWord(word.text, word.start, word.end, word.confidence, word.alternatives, inside)
