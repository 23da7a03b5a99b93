"""The glyphs of a page that the edits of its text take out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from incognote.formats.pdf.bidi import visual
from incognote.formats.pdf.layout import PageText


@dataclass(slots=True)
class Cut:
    """Glyphs of a line that are taken out, and the words in their place."""

    first: int  # positions in the line
    last: int
    new: str
    after: bool = False  # the words follow the glyph, which stays


def taken_out(
    text: PageText, place: Mapping[int, tuple[int, int]], start: int, stop: int, new: str
) -> Iterator[tuple[int, Cut]]:
    """Yield the number of each line that an edit changes, with its glyphs. The first ones get the new words.

    Args:
        place: the number of the line of each glyph, and the position of the glyph in it.
    """
    glyphs = text.glyphs
    new = visual(new, text.text[:start].rpartition("\n")[2])
    direct = {glyph for glyph in glyphs[start:stop] if glyph >= 0}
    accents = {accent for glyph in direct for accent in text.accents.get(glyph, ())}
    covered = sorted(direct | accents, key=place.__getitem__)
    if not covered:
        at = next((i for i in range(stop, len(glyphs)) if glyphs[i] >= 0), None)
        if at is not None:
            number, position = place[glyphs[at]]
            yield number, Cut(position, position - 1, new)
        else:
            at = next(i for i in range(start - 1, -1, -1) if glyphs[i] >= 0)
            number, position = place[glyphs[at]]
            yield number, Cut(position, position, new, after=True)
        return
    new = _rest(text, start, -1) + new + _rest(text, stop - 1, 1)
    order = [glyph for i, glyph in enumerate(glyphs[start:stop]) if glyph >= 0]
    main = place[order[0]][0]
    by_segment: dict[int, list[int]] = {}
    for glyph in covered:
        by_segment.setdefault(place[glyph][0], []).append(place[glyph][1])
    for number, positions in by_segment.items():
        groups: list[list[int]] = []
        for position in sorted(positions):
            if groups and position == groups[-1][-1] + 1:
                groups[-1].append(position)
            else:
                groups.append([position])
        lead = place[order[0]][1]
        for group in groups:
            yield number, Cut(group[0], group[-1], new if number == main and lead in group else "")


def _rest(text: PageText, at: int, step: int) -> str:
    """Return the characters of a glyph that are outside an edit, such as the f of a ligature."""
    rest, glyphs = "", text.glyphs
    i = at + step
    while 0 <= i < len(glyphs) and glyphs[i] == glyphs[at] and glyphs[at] >= 0:
        rest = rest + text.text[i] if step > 0 else text.text[i] + rest
        i += step
    return rest
