"""Parts of a page or a recording without words, which a person adds: each is a character of the text."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.nouns import Region
from incognote.text.gaps import UNWORDED


def marked(body: str, regions: Sequence[Region]) -> tuple[str, list[tuple[int, int, str]]]:
    """Return a text with a character for each region after it, and the start, end, and type of each character.

    Of a text without words, only these characters are left.
    """
    start = len(body) if body.strip() else 0
    marks = [(start + 2 * i + 1, start + 2 * i + 2, region.type) for i, region in enumerate(regions)]
    return body[:start] + f"\n{UNWORDED}" * len(regions), marks
