"""Words from right to left: the order in which the characters of a line are read (after Unicode Standard Annex 9)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

_OPEN, _CLOSE = "([{", ")]}"
_BEFORE = "([{\"'+-#$€£"
"""Signs before a word or a number."""
_NUMBER = re.compile(r"[\d+\-/.: ]+")


def is_rtl(character: str) -> bool:
    """Whether a character belongs to words from right to left."""
    return unicodedata.bidirectional(character) in ("R", "AL")


def visual(number: str, before: str) -> str:
    """Return a number as it is written from left to right after words of its line. Other words stay as they are."""
    last = next((c for c in reversed(before) if unicodedata.bidirectional(c) in ("L", "R", "AL")), "")
    if not is_rtl(last or " ") or not _NUMBER.fullmatch(number):
        return number
    breaks = "([-+ ])" if unicodedata.bidirectional(last) == "AL" else "( )"
    return "".join(reversed(re.split(breaks, number)))


def logical(shown: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield characters of a line with words from right to left in the order in which they are read."""
    classes = [unicodedata.bidirectional(character) for character, _ in shown]
    kinds = ["L" if each == "L" else "R" if each in ("R", "AL", "NSM") else "N" for each in classes]
    _set_numbers(shown, classes, kinds)
    for i, (character, _) in enumerate(shown):  # a bracket belongs to the word in it
        beside = kinds[i + 1 : i + 2] if character in _OPEN else kinds[max(i - 1, 0) : i] if character in _CLOSE else []
        if beside == ["L"] or (beside and beside[0] in "AE" and _is_closed(shown, kinds, i)):
            kinds[i] = beside[0]
    for i, kind in enumerate(kinds):  # signs between words of one direction belong to them
        if kind == "N":
            before = next((at for at in range(i - 1, -1, -1) if kinds[at] != "N"), i)
            after = next((at for at in range(i, len(kinds)) if kinds[at] != "N"), i)
            between = (shown[i - 1][0] if i else "", "".join(c for c, _ in shown[i : i + 2]).strip())
            is_one = kinds[before] == kinds[after] == "L" and shown[before][1] <= shown[after][1]  # also in the file
            kinds[i] = "L" if is_one and between != ("]", "[") else "R"
    groups = [(kind, [each for each, _ in group])
              for kind, group in groupby(zip(shown, kinds, strict=True), key=lambda pair: pair[1])]  # fmt: skip
    for kind, group in reversed(groups):
        yield from _whole_glyphs_reversed(group) if kind == "R" else group


def _is_closed(shown: list[tuple[str, int]], kinds: list[str], bracket: int) -> bool:
    """Whether a bracket belongs to a pair around a number in one piece."""
    step = 1 if shown[bracket][0] in _OPEN else -1
    other = bracket + step
    while kinds[other] == kinds[bracket + step] and shown[other][0] not in _OPEN + _CLOSE:
        other += step
        if not 0 <= other < len(kinds):
            return False
    return shown[other][0] in (_CLOSE if step > 0 else _OPEN)


def _set_numbers(shown: list[tuple[str, int]], classes: list[str], kinds: list[str]) -> None:
    """Set the kind of digits, and of the signs within their number.

    `L` is a number in words from left to right, `A` one after Arabic words, whose hyphens are read from right to left,
    and `E` any other one. Numbers with a space between them are read from right to left, except `L`.
    """
    is_digit = [each in ("EN", "AN") for each in classes]
    last = "R"
    after = ["R"] * len(classes)  # the letters to the right
    for i in range(len(classes) - 1, -1, -1):
        last = classes[i] if classes[i] in ("L", "R", "AL") else last
        after[i] = last
    i = 0
    while i < len(classes):
        if not is_digit[i]:
            i += 1
            continue
        end = i + 1
        while end < len(classes) and (
            is_digit[end] or (classes[end] in ("CS", "ES") and is_digit[min(end + 1, len(classes) - 1)])
        ):
            end += 1
        kind = "L" if _is_after_letters(shown, kinds, i, end) else "A" if after[i] == "AL" else "E"
        if kind == "E":
            end += end < len(classes) and classes[end] == "ET"
        for number in range(i, end):
            kinds[number] = "R" if kind == "A" and classes[number] == "ES" else kind
        i = end


def _is_after_letters(shown: list[tuple[str, int]], kinds: list[str], start: int, end: int) -> bool:
    """Whether a number belongs to the letters from left to right beside it."""
    if "L" in (*kinds[start - 1 : start], *kinds[end : end + 1]):
        return True
    before = next((i for i in range(start - 1, -1, -1) if kinds[i] != "N"), -1)
    between = "".join(character for character, _ in shown[before + 1 : start])
    if before >= 0 and shown[before][1] > shown[start][1]:  # the file writes the letters after the number
        return False
    return before >= 0 and kinds[before] == "L" and not (between[0] == " " and between[-1] not in f" {_BEFORE}")


def _whole_glyphs_reversed(group: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    pieces = [list(piece) for _, piece in groupby(group, key=lambda each: each[1] if each[1] >= 0 else id(each))]
    for piece in reversed(pieces):
        yield from piece
