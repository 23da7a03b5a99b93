"""Regions of a page's layout that go whole, because they hold considerable PHI.

This is Algorithm 1 of the image paper (Sriram et al., De-identification of Protected Health Information in Clinical
Document Images using Deep Learning and Pattern Matching, 2025, section II.C). The words of a region are those that were
read on the whole page, not those of another pass over the region alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from incognote.formats.images.fields import PageCell
from incognote.formats.images.page import cells, shared
from incognote.pages.nouns import Box, Region, Word

KIND = "Region"
"""The kind of a region that goes whole."""
CONSIDERABLE = 2
"""How many PHI tokens a region has at least if it goes. The paper gives no number."""
_WITHIN = 0.9  # the share of a region in another one above which both keep their boundaries
_PATTERNS = re.compile(
    r"""
      \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}                                  # dates
    | \d{1,2}[-/ ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/ ,]*\d{2,4}
    | [^\s@]+@[^\s@]+\.[a-z]+ | www\.\S+                               # contacts
    | \+?\(?\d{2,4}\)?[- ]?\d{3,4}[- ]?\d{3,6} | [a-z]{0,4}[-/]?\d{6,} # numbers of phones, patients, and records
    """,
    re.IGNORECASE | re.VERBOSE,
)


def considerable(words: Sequence[Word], regions: Iterable[Region]) -> list[Region]:
    """Return the regions of a page that go whole, with kind `Region` (lines 2 to 15 of Algorithm 1).

    Args:
        words: in reading order, with lines numbered in order.
        regions: of the layout.
    """
    return [
        Region(KIND, region.box, region.score, ("layout",))
        for region in refined(regions)
        if len(phi_tokens([word for word in words if _is_in(word, region.box)])) >= CONSIDERABLE
    ]


def refined(regions: Iterable[Region]) -> list[Region]:
    """Return regions whose boundaries do not overlap (`regionRefinement`).

    Of two regions that overlap, the one with the lower score ends where the other one begins, on the side where it
    loses least. A region within another one, such as a logo in a header, keeps its boundaries.
    """
    found: list[Region] = []
    for region in sorted(regions, key=lambda each: -each.score):
        box = region.box
        for other in found:
            common = shared(box, other.box)
            if common and common < _WITHIN * min(_area(box), _area(other.box)):
                box = max(_sides(box, other.box), key=_area)
        if box[0] < box[2] and box[1] < box[3]:
            found.append(replace(region, box=box))
    return found


def phi_tokens(words: Sequence[Word]) -> list[str]:
    """Return the tokens of a region that are PHI (`isPHIToken`): keywords of identifiers, and values by their form.

    Keywords are the labels that `incognote.formats.images.vocabulary` knows, beside or above their values. Patterns are
    those of dates, contacts, and long numbers.
    """
    found: list[str] = []
    for cell in map(PageCell, cells(words)):
        found += (" ".join(word.text for word in cell.words[label.start : label.end]) for label in cell.labels)
        found += (each[0] for each in _PATTERNS.finditer(cell.text))
    return found


def _is_in(word: Word, box: Box) -> bool:
    return 2 * shared(word.box, box) > _area(word.box)


def _sides(box: Box, other: Box) -> Iterator[Box]:
    """Yield what is left of a box to the left of another one, above, to the right, and below."""
    left, top, right, bottom = box
    yield left, top, min(right, other[0]), bottom
    yield left, top, right, min(bottom, other[1])
    yield max(left, other[2]), top, right, bottom
    yield left, max(top, other[3]), right, bottom


def _area(box: Box) -> int:
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])
