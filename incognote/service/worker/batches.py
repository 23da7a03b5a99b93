"""Claimed parts, read record by record and handed on in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

from incognote.files.inputs import Input, Words
from incognote.formats.tables import Layout
from incognote.ledger import Part
from incognote.service.sinks.reading import read
from incognote.service.sinks.sink import Sink
from incognote.service.worker.keying import Keyed


@dataclass
class Batch:
    """Records that are in memory at once.

    Attributes:
        ended: parts of which no record comes after these.
        unread: parts whose bytes could not be had, or not to their end.
        changed: parts whose file is not any more what it was when it was found; none of their records is here that
            was read since.
    """

    records: list[Keyed] = field(default_factory=list)
    ended: list[Part] = field(default_factory=list)
    unread: list[Part] = field(default_factory=list)
    changed: list[Part] = field(default_factory=list)


def batches(
    parts: Sequence[Part], sink: Sink, *, layout: Layout | None, words: Words, key: Callable[[Part, Input], Keyed],
    stands: Callable[[Part], bool], records: int, size: int,
) -> Generator[Batch, None, None]:  # fmt: skip
    """Read parts one after the other.

    A file that changes under the reader may have been read half-written: what was read of it since it was last seen
    unchanged is not handed on.

    Args:
        stands: whether a part's file is as it was.
        records, size: the most of one batch; a longer record is a batch of its own.

    Raises:
        SinkUnavailable: of a store.
    """
    batch, held = Batch(), 0
    for part in parts:
        fresh: list[Keyed] = []
        stream = read(sink, part.name, part.start, part.stop, layout)
        sound, whole = True, True
        for one in stream:
            if one.not_read:
                whole = False
                break
            fresh.append(key(part, replace(one, words=words)))
            held += fresh[-1].size
            if len(batch.records) + len(fresh) >= records or held >= size:
                if not stands(part):
                    sound = False
                    break
                batch.records += fresh
                yield batch
                batch, held, fresh = Batch(), 0, []
        if sound and stands(part):
            batch.records += fresh
            (batch.ended if whole else batch.unread).append(part)
        else:
            held -= sum(one.size for one in fresh)
            batch.changed.append(part)
    if batch.ended or batch.unread or batch.changed or batch.records:
        yield batch
