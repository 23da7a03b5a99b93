"""Which light texts of one patient are asked about in one request (RedactOR §5)."""

from __future__ import annotations

from collections.abc import Sequence

LIGHT = 64
"""The most words of a text that shares a request."""
MOST = 24
"""The most texts of one request: the numbers of longer lists get mixed up."""


def grouped(sizes: Sequence[tuple[int, int]], room: int) -> list[list[int]]:
    """Pack chunks into requests: heavy ones alone, light ones with others like them.

    Light chunks are sorted by complexity and size, so that one dense text does not draw attention from sparse ones, and
    packed in that order: as many as have `room` words together.

    Args:
        sizes: of each chunk its words and its complexity (findings of the embedded detectors).
        room: the words that one request may hold.

    Returns:
        Indices, each once, those of a group in the order of the chunks.
    """
    light = [i for i, (words, _) in enumerate(sizes) if words <= min(LIGHT, room)]
    groups: list[list[int]] = [[i] for i in range(len(sizes)) if i not in set(light)]
    group: list[int] = []
    filled = 0
    for i in sorted(light, key=lambda i: (sizes[i][1], sizes[i][0], i)):
        if group and (filled + sizes[i][0] > room or len(group) == MOST):
            groups.append(sorted(group))
            group, filled = [], 0
        group.append(i)
        filled += sizes[i][0]
    if group:
        groups.append(sorted(group))
    return sorted(groups)


def room(chunk_words: int, context_tokens: int, prompt_tokens: int, reply_tokens: int) -> int:
    """How many words of text a request may hold: ω at most, and what the context leaves beside prompt and reply.

    Clinical text is about two tokens a word; three leave something for fences and unusual words.
    """
    return max(0, min(chunk_words, (context_tokens - prompt_tokens - reply_tokens) // 3))
