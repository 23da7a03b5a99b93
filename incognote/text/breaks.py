"""Join words and numbers that are split by a line break or across adjacent cells.

The functions take the words of the language from a `Vocabulary`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.text import Vocabulary, labels
from incognote.text.escapes import Edit

# The last group of each pattern is the first word of the next line.
_RIGHT = re.compile(r"\n[ \t]{0,16}(?:>[ \t>]{0,8}|\[\d{1,4}\][ \t])?(?:-(?=\d))?([^\W_]+)")
_NUMBERED = re.compile(r"\n[ \t]{0,8}(\d{1,4})[ \t]{1,4}-?([^\W_]+)")
_NUMBER = re.compile(r"[ \t]{0,8}(\d{1,4})[ \t]")
_MOST = 64  # characters of a piece
_OWN = re.compile(r"[/.:-]|,\d| [A-Z]")
_LINE_ENDS = re.compile(r"[ \t\r]*(?:\n|\Z)")
_EXCHANGE = re.compile(r"(?:[A-Za-z:(][ ]?|\A)\(?[2-9]\d\d\)?[ .-][2-9]\d\d\Z")
_LOCAL = re.compile(r"\d{3}[ .-]\d{4}(?![\w/-])")
_CUT_PHONE = re.compile(
    r"(?<![\d.-])(?:\(([2-9]\d\d)\)[ \n.-]{0,2}|([2-9]\d\d)[ \n.-]{1,2})([2-9]\d\d)[.-](\d{4})(?![\w/.-]?\d)"
)
_GROUPS = re.compile(r"\d{1,3}(?: \d{1,4}){1,2}(?= [a-z]|[,;)\n]|\.(?!\d)|[ ]*\Z)")
_LINE_NUMBER = re.compile(r"(?!(?:19|20)\d\d)\d{4}(?![\w/%:-]|[.,]\d)")
_BROKEN = re.compile(r"(?<![^\W_])([^\W\d_]{2,24})([ ]?\|[ ]?|\t)([^\W\d_]{2,24})(?![^\W_])")
_BETWEEN = r"(?:[ ]?\|[ ]?|[\"'][,;][\"']|[,;\t])"
_ENDS = r"(?=[\"',;|\t\r\n]|[ ]\||\Z)"
_WORD = r"[^\W\d_](?:[^\W\d_]|['’-]){1,24}"
_RIGHT_CELL = re.compile(rf"(?:\|[ ]?|[,;][\"']?|\t)({_WORD}){_ENDS}")  # begins with a symbol, so its search is fast
_LEFT_CELL = re.compile(rf"(?:\A|[\"',;|\t\n]|\|[ ])({_WORD})[ \"']?\Z")
_NUMBER_CELLS = re.compile(
    r"(?<=[\"'])([2-9]\d\d)([\"'][,;][\"'])(\d{2,3})(\2)(\d{4})(?=[\"'])"
    r"|(?<=[,;|\t])([2-9]\d\d)([,;|\t])([2-9]\d\d)(\7)(0\d{3})(?=[,;|\t\r\n]|\Z)"
)
_SEAMS = (b"a | A", b"a|A", b"a\tA", b"0|A", b"0 | A", b"0\tA", b"|000|", b"\t000\t")
_NUMBERED_CELLS = (b"|000|", b",000,", b";000;", b"\t000\t")
_HOUSED = (b"0|A", b"0 | A", b"0,A", b"0;A", b"0\tA", b'0","A', b'0";"A')


def wraps(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for words and numbers split by a line break. A number needs a label or the form of a phone number.

    A hyphen between two words is kept ("follow-up"), and one within a word is removed ("post-\\noperative"). Without a
    hyphen, two pieces are joined if neither is a word.
    """
    at, known = text.find("\n"), labels()
    paged = any(word in text for word in known.PAGE_WORDS)
    while at >= 0:
        page = known.PAGE.match(text, at) if paged else None
        behind = page or _RIGHT.match(text, at)
        if behind and (before := _left(text, at)):
            start, end = before
            if behind[1].isdigit() and _is_numbered(text, at):
                behind = _NUMBERED.match(text, at) or behind
            last = behind.lastindex or 1
            left, right = text[start:end], behind[last]
            hyphen = text[end] in "-‐"
            if left[-1].isdigit() and right[0].isdigit():
                gap = end + hyphen
                if hyphen or _one_number(text, gap, len(right), behind.end(), page is not None):
                    yield gap, behind.start(last) - (not hyphen and text[behind.start(last) - 1] == "-"), ""
                elif (sign := _phone(text, gap, behind.start(last))) is not None:
                    yield gap, behind.start(last), sign
            elif left[-1].isalpha() and right[0].isalpha():
                if hyphen:
                    whole = right[0].isupper() or _two_words(left.lower(), right.lower(), words)
                    yield end + whole, behind.start(last), ""
                elif len(left) > 1 and _one_word(left, right, words, _alone(text, start, behind.end())):
                    yield end, behind.start(last), ""
        at = text.find("\n", at + 1)


def _left(text: str, at: int) -> tuple[int, int] | None:
    """Return the word at the end of a line, without the hyphen, or None if the line ends in something else."""
    end = at
    while end > 0 and text[end - 1] in " \t\r":
        end -= 1
    if end and text[end - 1] in "-‐":
        end -= 1
    start = end
    while start > 0 and text[start - 1].isalnum() and end - start < _MOST:
        start -= 1
    return (start, end) if start < end else None


def _is_numbered(text: str, at: int) -> bool:
    """Whether the line that ends here and the next one begin with line numbers."""
    line, number = _NUMBER.match(text, text.rfind("\n", 0, at) + 1), _NUMBERED.match(text, at)
    return line is not None and number is not None and int(line[1]) + 1 == int(number[1])


def _one_number(text: str, gap: int, size: int, end: int, paged: bool) -> bool:
    """Whether a labeled number continues on the next line, because its first part is too short to be complete.

    A record number may also continue if the next line holds only a few digits.
    """
    start = max(text.rfind("\n", 0, gap), gap - 80) + 1
    first = text[max(start, text.rfind(" ", start, gap) + 1) : gap]
    before = sum(map(str.isdigit, first))
    if size < 4 and (size < 3 or before > 5) and _LINE_ENDS.match(text, end):
        label = text[start:gap]
        return 3 < before < 10 and bool(labels().LABELED.search(label) and labels().RECORD.search(label))
    if " " in text[gap - 5 : gap] and _GROUPS.match(text, end - size) and labels().RECORD.search(text[start:gap]):
        return labels().LABELED.search(text[start:gap]) is not None
    own = size < 3 or (not paged and _OWN.match(text, end))
    return not own and before < 6 and labels().LABELED.search(text[start:gap]) is not None


def _phone(text: str, gap: int, right: int) -> str | None:
    """Return the replacement for a line break in a phone number: a hyphen, a space or "". None if it splits none."""
    left = text[max(gap - 16, 0) : gap]
    cut = _CUT_PHONE.search(left + text[right : right + 12])
    if cut and any(cut.start(group) < len(left) < cut.end(group) for group in range(1, 5)):
        return ""
    line = text[max(text.rfind("\n", 0, gap) + 1, gap - 16) : gap]
    if _LINE_NUMBER.match(text, right) and _EXCHANGE.search(line):
        return "-"
    return " " if _LOCAL.match(text, right) and labels().AREA.search(line) else None


def _two_words(left: str, right: str, words: Vocabulary) -> bool:
    return words.known(left) and words.known(right) and not words.known(left + right)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether the first piece begins its line and the second piece ends its line."""
    return (start == 0 or text[start - 1] == "\n") and _LINE_ENDS.match(text, end) is not None


def _one_word(left: str, right: str, words: Vocabulary, alone: bool) -> bool:
    """Whether two pieces without a hyphen are one word.

    Args:
        alone: each piece is on a line of its own.
    """
    low, joined = left.lower(), (left + right).lower()
    if not right[0].islower():  # in capitals
        return left.isupper() and right.isupper() and words.name(joined) > 2 > words.name(low) and not words.usual(low)
    titled = left[0].isupper() and left[1:].islower() and right.islower()
    if words.known(low) or words.known(right):
        return titled and words.name(joined) > 1 and (alone or not words.usual(low))
    return titled or words.known(joined)


def cells(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for names that are split by the border of two cells."""
    at = 0
    while match := _BROKEN.search(text, at):
        left, right = match[1].lower(), match[3].lower()
        at = match.start(3)
        if not match[3].islower():
            continue
        name = words.name(left + right) > 1
        if match[1][0].isupper() and labels().NAMED.search(text[max(0, match.start() - 12) : match.start()]):
            broken = name or not words.known(right)
        else:
            broken = name and match[2] != "\t" and not (words.known(left) and words.known(right))
        if broken:
            yield *match.span(2), ""


def together(text: str, kinds: bytes, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for adjacent cells that form a name, a number or an address, and for URL parameters with a name.

    The words of a name stay in their cells. Their edits change nothing, but mark the words as not ordinary.

    Args:
        kinds: the shape of the text.
    """
    if "&" in text and "=" in text:
        for match in _parameter().finditer(text):
            yield *match.span(1), match[1][0].upper() + match[1][1:]
    quoted = '"' in text and ('";"' in text or '","' in text)
    piped = ("|" in text or "\t" in text) and any(seam in kinds for seam in _SEAMS)
    if not (quoted or piped or b"a,A" in kinds or (";" in text and b"a;A" in kinds)):
        return
    for match in _RIGHT_CELL.finditer(text):
        left = _LEFT_CELL.search(text[max(match.start() - 28, 0) : match.start()]) if match[1][0].isupper() else None
        if left and _name(left[1], match[1], words):
            start = max(match.start() - 28, 0) + left.start(1)
            yield start, start + len(left[1]), left[1]
            yield *match.span(1), match[1]
    for match in _NUMBER_CELLS.finditer(text) if quoted or any(sign in kinds for sign in _NUMBERED_CELLS) else ():
        first = 2 if match[2] else 7
        yield *match.span(first), "-"
        yield *match.span(first + 2), "-"
    for match in _address().finditer(text) if any(sign in kinds for sign in _HOUSED) else ():
        yield *match.span(2), " "
        yield *match.span(4), " "


def _name(left: str, right: str, words: Vocabulary) -> bool:
    """Whether the words of two cells are a given name and a surname, in either order."""
    if not (left[0].isupper() and right[0].isupper()):
        return False
    weights = [0 if words.usual(low) else words.name(low) for low in (left.lower(), right.lower())]
    return max(weights) > 4 and min(weights) > 0


@cache
def _address() -> re.Pattern[str]:
    """Return the pattern of a house number, a street name, and the kind of street, in adjacent cells."""
    return re.compile(
        rf"(?<![^\"',;|\t\n ])(?<![^|][ ])(\d{{1,5}})({_BETWEEN})"
        rf"([A-Z][a-z]{{2,24}}(?:[ ][A-Z][a-z]{{2,24}})?)({_BETWEEN})(?:{labels().STREET})[.]?{_ENDS}"
    )


@cache
def _parameter() -> re.Pattern[str]:
    return re.compile(rf"(?i)[?&]{labels().PARAMETER}=({_WORD})(?=[&;\s#,.\"'<>)]|\Z)")
