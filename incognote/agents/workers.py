"""Processes that run the embedded detectors, so that the event loop keeps to orchestration.

Python runs one thread at a time: detection on a thread takes its time from the loop, and a language model's slots stand
empty meanwhile. The processes are spawned, never forked: a fork would copy the loop's locks and connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from incognote.agents.embedded import Embedded
from incognote.nouns import Known, Span, Text

_Row = tuple[int, int, str, float, tuple[str, ...]]
_here: list[Embedded] = []  # in a worker: the one it made when it began


class Workers:
    """Answers as the Embedded of this process does.

    Args:
        own: what answers where the processes died; it is asked for nothing else.
        count: how many processes.
        names, packs, roster: as for Embedded.
    """

    def __init__(
        self, own: Embedded, count: int, names: Sequence[str], packs: Sequence[Path], roster: Path | None
    ) -> None:
        self._own = own
        self._pool: ProcessPoolExecutor | None = ProcessPoolExecutor(
            count, get_context("spawn"), initializer=_begin, initargs=(tuple(names), tuple(packs), roster)
        )

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """What every detector says, per text; blocks the calling thread, not the interpreter."""
        pool = self._pool
        if pool is None:
            return self._own.detect(texts, known)
        try:
            contents = [(text.content, text.field) for text in texts]
            rows = pool.submit(_detect, contents, [(k.type, k.value) for k in known]).result()
        except BrokenProcessPool:  # killed, or out of memory: slower, and no less sure
            self._pool = None
            return self._own.detect(texts, known)
        return [[Span(text, *row) for row in found] for text, found in zip(texts, rows, strict=True)]

    def close(self) -> None:
        """End the processes."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _begin(names: tuple[str, ...], packs: tuple[Path, ...], roster: Path | None) -> None:
    _here.append(Embedded(names, packs, roster))


def _detect(contents: list[tuple[str, str]], known: list[tuple[str, str]]) -> list[list[_Row]]:
    texts = [Text(content, field) for content, field in contents]
    found = _here[0].detect(texts, [Known(kind, value) for kind, value in known])
    return [[(s.start, s.end, s.type, s.score, s.sources) for s in spans] for spans in found]
