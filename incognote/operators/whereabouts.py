"""The state a span lies in, by its own words or by the state written next to it."""

from __future__ import annotations

import re
from bisect import bisect_left

from incognote.nouns import Span
from incognote.operators.base import Scene
from incognote.operators.places import State, state_named, state_of

_GAP = re.compile(r"[\s,(]{1,4}\Z")


def state_at(span: Span, scene: Scene) -> State | None:
    """The US state a place, institution or address tells; None where nothing tells it."""
    if span.type == "STATE":
        return state_named(span.text)
    own = state_of(span.text)
    if own is not None:
        return own
    after = bisect_left(scene.spans, span.end, key=lambda other: other.start)
    if after == len(scene.spans) or scene.spans[after].type != "STATE":
        return None
    gap = scene.text.content[span.end : scene.spans[after].start]
    return state_named(scene.spans[after].text) if _GAP.match(gap) else None
