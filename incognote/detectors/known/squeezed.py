"""Search for known names and numbers by their letters and digits alone, whatever separates these.

Four streams of one text are searched: all its tokens; its words without the numbers between them; its numbers, which
may be spelled out or written with look-alike letters; and its words in which digits and symbols replace letters.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from incognote.detectors.known.index import SQUEEZED_HEAD, Forms, Index, alike
from incognote.detectors.known.words import TokenList, vocabulary
from incognote.text import speech

_SURE_ANYWHERE = 12  # a name with this many letters in a row is not an accident, whatever surrounds it
_FEW = 48  # heads
_SURE_DIGITS = 6  # in a code with letters
_GAP = 12  # maximum number of characters between two parts of one number
_LETTERS = str.maketrans("oilsbz", "011582")
_CHUNK = re.compile(r"\S+")
_ODD = re.compile(r"[^\W\d_].*[0-9$@!|]|[0-9$@!|].*[^\W\d_]")
Found = tuple[int, int, str]  # start and end in the text, and the entity type


def squeezed(words: TokenList, index: Index) -> Iterator[tuple[int, int, str, str, bool]]:
    """Yield full names and codes among all tokens: first and last token, form, type, whether it covers whole tokens."""
    heads, whole = index.squeezed, "".join(words.lows)
    cuts = array("I")
    for start, forms in _heads(whole, heads):
        cuts = cuts or array("I", accumulate(map(len, words.lows), initial=0))
        for form, kind in forms.items():
            end = start + len(form)
            if not whole.startswith(form, start):
                continue
            i, j = bisect_left(cuts, start + 1) - 1, bisect_left(cuts, end) - 1
            exact = cuts[i] == start and cuts[j + 1] == end
            if exact or (form.isalpha() and len(form) >= _SURE_ANYWHERE) or _glued(form, words, i, j, cuts, start):
                yield i, j, form, kind, exact


def _heads(whole: str, heads: Forms) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield where forms may begin, and which. A few heads are searched one by one, many are looked up per offset."""
    if len(heads) > _FEW:
        for start in range(len(whole) - SQUEEZED_HEAD + 1):
            if (forms := heads.get(whole[start : start + SQUEEZED_HEAD])) is not None:
                yield start, forms
        return
    for head, forms in heads.items():
        start = whole.find(head)
        while start >= 0:
            yield start, forms
            start = whole.find(head, start + 1)


def _glued(form: str, words: TokenList, i: int, j: int, cuts: array[int], start: int) -> bool:
    """Whether a code of letters and many digits is joined to words, and none of its numbers is part of a longer one."""
    digits = sum(map(str.isdigit, form))
    if digits < _SURE_DIGITS or digits == len(form):
        return False
    first, last = (cuts[i] == start or form[0].isalpha()), (cuts[j + 1] == start + len(form) or form[-1].isalpha())
    return first and last and all(words.gap(k) == "" for k in range(i + 1, j + 1))


def hidden(words: TokenList, index: Index) -> Iterator[Found]:
    """Yield matches in the other three streams: start, end (code points), and type. A match covers whole tokens."""
    lows = words.lows
    numbers = [i for i, low in enumerate(lows) if low.isdigit()]
    if numbers and len(numbers) < len(lows):
        letters = [i for i, low in enumerate(lows) if not low.isdigit()]
        yield from _sought(words, letters, [lows[i] for i in letters], index.squeezed)
    if index.mails:
        signs = vocabulary().signs
        said = [i for i, low in enumerate(lows) if low not in signs]
        if len(said) < len(lows):
            yield from _sought(words, said, [lows[i] for i in said], index.mails)
    for places, digits, read in _numbers(words):
        if read:
            yield from _sought(words, places, digits, index.squeezed)
        yield from _sought(words, places, digits, index.dates_said if read else index.dates_written)
    if index.alike and _ODD.search(words.text):
        chunks = [*_CHUNK.finditer(words.text)]
        text = [alike(match[0]) for match in chunks]
        for first, last, kind in _placed(text, index.alike):
            if any(_ODD.search(match[0]) for match in chunks[first : last + 1]):
                yield chunks[first].start(), chunks[last].end(), kind


def _numbers(words: TokenList) -> Iterator[tuple[list[int], list[str], bool]]:
    """Yield runs of two or more numbers: tokens, digits of each, and whether one was spelled out or in letters."""
    spoken, between = speech(), vocabulary().between
    digits_of, repeats = spoken.NUMBERS, spoken.TIMES
    places: list[int] = []
    digits: list[str] = []
    read, times = False, 1
    for i, low in enumerate((*words.lows, "")):  # "" ends the last run
        said = low if low.isdigit() else digits_of.get(low) or _look_alike(words, i)
        gap = words.gap(i) if 0 < i < len(words.lows) else ""
        if len(gap) > _GAP or "\n\n" in gap or not (said or low in between or low in repeats):
            if len(places) > 1:
                yield places, digits, read
            places, digits, read, times = [], [], False, 1
        if said:
            tens = words.lows[i - 1] in spoken.TENS if places and places[-1] == i - 1 else False
            if tens and low in spoken.ONES and gap in ("-", " "):
                digits[-1] = digits[-1][:-1]  # seventy-four: 7 and 4
            places.append(i)
            digits.append(said * times)
            read |= not low.isdigit()
            times = 1
        times = repeats.get(low, times)


def _look_alike(words: TokenList, i: int) -> str:
    """Return the digits for a token of look-alike letters that touches a number: "7O3lB56"."""
    lows = words.lows
    if i == len(lows) or not set(low := lows[i]) <= set("oilsbz"):
        return ""
    before = i > 0 and not words.gap(i) and lows[i - 1].isdigit()
    after = i + 1 < len(lows) and not words.gap(i + 1) and lows[i + 1].isdigit()
    return low.translate(_LETTERS) if before or after else ""


def _sought(words: TokenList, places: Sequence[int], parts: Sequence[str], heads: Forms) -> Iterator[Found]:
    for first, last, kind in _placed(parts, heads):
        yield words.starts[places[first]], words.ends[places[last]], kind


def _placed(parts: Sequence[str], heads: Forms) -> Iterator[Found]:
    """Yield the forms that cover some parts exactly: first part, last part, type."""
    whole = "".join(parts)
    cuts = array("I", accumulate(map(len, parts), initial=0))
    for first, start in enumerate(cuts[:-1]):
        for form, kind in heads.get(whole[start : start + SQUEEZED_HEAD], {}).items():
            end = start + len(form)
            last = bisect_left(cuts, end) - 1
            if whole.startswith(form, start) and cuts[last + 1] == end and parts[first]:
                yield first, last, kind
