"""Decisions as gold: what people said of texts, in the form that `incognote evaluate` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from incognote.service.review.queue import ReviewQueue


def gold(queue: ReviewQueue, release: str | None = None) -> Iterator[str]:
    """One JSON line for each text of each approved record. They quote the texts: PHI.

    Args:
        release: of that one only.

    Yields:
        `{"id", "text", "style", "spans": [{"start", "end", "type"}]}` and a line end; ids are the queue's own.
    """
    for settled in queue.settled(delivered=True, release=release):
        if settled.entry.state != "approved":
            continue
        for number, text in enumerate(settled.case.texts):
            spans = [{"start": s.start, "end": s.end, "type": s.type} for s in settled.spans if s.field == text.field]
            told = {
                "id": f"{settled.entry.id}-{number}",
                "text": text.content,
                "style": settled.case.data_type or "note",
                "spans": spans,
            }
            yield json.dumps(told, ensure_ascii=False) + "\n"
