"""Words as a reader puts them together: broken, spaced out and glued ones.

What a function needs to know of the language it asks a `Vocabulary`. Each returns edits, in order and disjoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from incognote.text.digits import LABELED, apart
from incognote.text.escapes import Edit
from incognote.text.vocabulary import Vocabulary

_RIGHT = re.compile(r"\n[ \t]{0,16}(?:>[ \t>]{0,8}|\[\d{1,4}\][ \t])?(?:-(?=\d))?([^\W_]+)")
_PAGE = re.compile(r"\n{1,3}[^\n]{0,60}(?i:page)(?![a-z])[^\n]{0,40}\n{1,3}[ \t]{0,16}-?([^\W_]+)")
_MOST = 64  # characters of a piece
_OWN = re.compile(r"[/.:-]|,\d| [A-Z]")
_CELLS = re.compile(r"(?<![^\W_])([^\W\d_]{2,24})([ ]?\|[ ]?)([^\W\d_]{2,24})(?![^\W_])")
_SPACED = re.compile(
    r"(?<![^\W_])[^\W\d_](?P<by>[ ]?[^\w\s][ ]?|[ \t]|_{1,2}|_\||['\"],[ ]?['\"]|\]\[|\n)"
    r"[^\W\d_](?:(?P=by)[^\W\d_]){2,}(?![^\W_])"
)
_BOXES = re.compile(r"(?<![^\s|])\S(?:[ \t]{1,3}\S|[ ]?\|[ ]?\S){5,}(?=[\s|,.;:)]|\Z)")
_SPREAD = re.compile(r"(?<![\w/.-])(\d{1,4})[ ]{0,3}([-/.])[ ]{1,3}(\d{1,4})[ ]{0,3}\2[ ]{0,3}(\d{2,4})(?![\w/.-])")
_COMB = re.compile(r"(?:\[[A-Za-z0-9]\][-/. ]?){4,}|(?:\|[A-Za-z0-9](?=\|)(?:\|[-/. ](?=\|))?){4,}\|")
_LEADERS = re.compile(r"[ ]?(?:\.[ ]){3,}")
_SPACED_SHORT = re.compile(r"(?<![\w.])[A-Z](?P<by>[.*_-])[a-z](?:(?P=by)[a-z])+(?![\w*_-])")
_SYLLABLES = re.compile(r"[A-Z][a-z]{1,3}(?:-[a-z]{1,4}){2,}(?![\w-])")
_PLUSES = re.compile(r"(?<!\S)[A-Za-z0-9]+(?:\+[A-Z][a-z]+){2,}(?!\S)")
_BLANKS = re.compile(r"\d[ ]{0,3}[-/.][ ]{1,3}\d")
_GAPS = re.compile(r"[ \t]*\|[ \t]*|[ \t]+")
_SPREADS = frozenset(((4, 2, 2), (2, 2, 4), (1, 2, 4), (2, 1, 4), (1, 1, 4), (3, 2, 4), (3, 3, 4)))
_WHOLE = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{2}|\d{4})"
    r"|\d{4}-\d\d-\d\d|\d{3}-\d\d-\d{4}"
)
_SPACED_DIGITS = re.compile(
    r"(?<![\w.,/])\d(?P<by>[ .·•*|_~\-‐–]|[ ][-–.·*|][ ]|\.[ ]|,[ ])\d(?:[ ]{0,2}(?P=by)\d){4,}(?![\w%])(?!\.\d)"
)
# ASCII by kind, letters, digits and the rest: plain characters are found in it ten times faster than classes are.
_KINDS = "".join(
    "a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else c for c in map(chr, range(128))
)
_SINGLE = "".join("a" if c.isalpha() else "0" if c.isdigit() else " " for c in map(chr, range(128)))
_SEAMS = tuple(
    (sign, re.compile(seam))
    for sign, seam in (
        *(("", seam) for seam in ("aA", "a0", "A0", "0a", "0A", "AAaaa")),
        *(("_", "_"), ("@", "a@"), ("|", r"a\|"), ("=", "a="), ("=", "A="), ("=", "0="), ("$", r"\$a")),
    )
)
_OTHER = re.compile(r"[^\x00-\x7f]")
_LETTERS = (" a a a ", " a  a  a ", " a   a   a ")
_DIGITS = (" 0 0 0 ", " 0  0  0 ", " 0   0   0 ")
_RUN = re.compile(r"\S+")
_SIGNS = re.compile(r"[_.+]")
_GLUED = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BEGINNINGS = frozenset("mc mac de di du la le van von fitz o d st jo del da el al ben bin ibn".split())
_LEADS = frozenset("pt patient mr mrs ms miss dr name hi dear for from re seen per by with and aka md rn".split())
_TITLES = frozenset("pt patient mr mrs ms miss dr".split())
_LABELS = frozenset("Jr Sr II III MRN SSN DOB ID PT MR DR MD RN NP PA ICU ED".split())
_CHAINED = re.compile(r"[A-Za-z0-9]+(?:[_.+][A-Za-z0-9]+)+")
_FILE = re.compile(
    r"(?i)\A[/\\#]|\.(?:pdf|jpe?g|png|gif|tiff?|bmp|docx?|xlsx?|csv|txt|dcm|zip|wav|mp[34]|html?|xml|json)\Z"
)


def wraps(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Words and labelled numbers that a line's end breaks.

    A hyphen between two words stays ("follow-up"), one within a word goes ("post-\\noperative"). Without a hyphen, two
    pieces of which neither is a word are joined.
    """
    at = text.find("\n")
    paged = "page" in text or "Page" in text or "PAGE" in text
    while at >= 0:
        behind = (_PAGE.match(text, at) if paged else None) or _RIGHT.match(text, at)
        if behind and (before := _left(text, at)):
            start, end = before
            left, right = text[start:end], behind[1]
            hyphen = text[end] in "-‐"
            if left[-1].isdigit() and right[0].isdigit():
                gap = end + hyphen
                if hyphen or _one_number(text, gap, len(right), behind.end()):
                    yield gap, behind.start(1) - (not hyphen and text[behind.start(1) - 1] == "-"), ""
            elif left[-1].isalpha() and right[0].isalpha():
                if hyphen:
                    whole = right[0].isupper() or _two_words(left.lower(), right.lower(), words)
                    yield end + whole, behind.start(1), ""
                elif right[0].islower() and len(left) > 1 and _one_word(left, right, words):
                    yield end, behind.start(1), ""
        at = text.find("\n", at + 1)


def _left(text: str, at: int) -> tuple[int, int] | None:
    """The word before a line's end, without the hyphen; None where a line ends in anything else."""
    end = at
    while end > 0 and text[end - 1] in " \t\r":
        end -= 1
    if end and text[end - 1] in "-‐":
        end -= 1
    start = end
    while start > 0 and text[start - 1].isalnum() and end - start < _MOST:
        start -= 1
    return (start, end) if start < end else None


def _one_number(text: str, gap: int, size: int, end: int) -> bool:
    """Whether a labelled number goes on in the next line: what stands before is too short to be whole."""
    start = max(text.rfind("\n", 0, gap), gap - 80) + 1
    first = text[max(start, text.rfind(" ", start, gap) + 1) : gap]
    own = size < 3 or _OWN.match(text, end)
    return not own and sum(map(str.isdigit, first)) < 6 and LABELED.search(text[start:gap]) is not None


def _two_words(left: str, right: str, words: Vocabulary) -> bool:
    return words.known(left) and words.known(right) and not words.known(left + right)


def _one_word(left: str, right: str, words: Vocabulary) -> bool:
    """Whether two pieces without a hyphen are one word."""
    low, joined = left.lower(), (left + right).lower()
    titled = left[0].isupper() and left[1:].islower() and right.islower()
    if words.known(low) or words.known(right):
        return titled and words.name(joined) > 1 and not words.usual(low)
    return titled or words.known(joined)


def spaced(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Letters that stand apart and make a word or a name, digits that stand apart and make a long number."""
    if "[" in text or "|" in text:
        yield from _comb(text)
    for match in _LEADERS.finditer(text) if ". . ." in text else ():
        yield *match.span(), " "
    plain = text if text.isascii() else _OTHER.sub(_alike, text)
    single = f" {plain.translate(_SINGLE)} "
    lettered = any(form in single for form in _LETTERS)
    numbered = any(form in single for form in _DIGITS)
    if not (lettered or numbered):
        return
    for match in _SPACED.finditer(text) if lettered else ():
        by = match["by"]
        low = match[0].replace(by, "").lower()
        if by == "\n" and not (len(low) > 4 and words.known(low)):
            continue
        if len(set(low)) > 2 and (
            (words.known(low) and (len(low) > 4 or words.usual(low) or words.name(low) > 4))
            or _parts(low, words)
            or (_sounds(low) and (by[0] not in " .,\n" or (by == " " and match[0].islower())))
        ):
            cut = 0 if words.known(low) else _parts(low, words)
            yield from _without(match.start(), match[0], by, cut)
    for match in _SPACED_SHORT.finditer(text) if lettered else ():
        yield from ((match.start() + i, match.start() + i + 1, "") for i in range(1, len(match[0]), 2))
    for match in _BOXES.finditer(text):
        whole = _GAPS.sub(_joint, match[0])
        steps = {ord(b) - ord(a) for a, b in pairwise(c for c in whole if c.isdigit())}
        if _WHOLE.fullmatch(whole) and sum(map(str.isalnum, whole)) > 5 and ("@" in whole or len(steps) > 2):
            yield from (
                (match.start() + m.start(), match.start() + m.end(), _joint(m)) for m in _GAPS.finditer(match[0])
            )
    for match in _SPACED_DIGITS.finditer(text) if numbered else ():
        digits = [int(c) for c in match[0] if c.isdigit()]
        steps = {b - a for a, b in pairwise(digits)}
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        prose = len(re.findall(r"[^\W\d_]{2,}", line)) >= 3 or LABELED.search(line[-80:])
        if len(steps) > 2 and max(digits) > 4 and (prose or match["by"] != " "):
            at = match.start()
            for i, c in enumerate(match[0]):
                if not c.isdigit():
                    yield at + i, at + i + 1, ""
    if numbered:
        yield from apart(text)


def _alike(sign: re.Match[str]) -> str:
    """A letter or sign that stands for all others of its kind."""
    return "a" if sign[0].isalnum() else " "


def _comb(text: str) -> Iterator[Edit]:
    """Characters in boxes: "[6][4][2]-[1][9]", "|0|5| |1|2|"."""
    for match in _COMB.finditer(text):
        at = match.start()
        inner = match[0]
        if sum(map(str.isalnum, inner)) > 3:
            for m in re.finditer(r"\][-/. ]?\[|\|[-/. ]?\||[\[\]|]", inner):
                middle = m[0][1:-1]
                yield at + m.start(), at + m.end(), "/" if middle == " " else middle


def _joint(gap: re.Match[str]) -> str:
    """What stands between two boxes: nothing, or the sign of a date where a line is drawn."""
    return "/" if "|" in gap[0] else ""


def cells(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Names that the line between two cells divides."""
    at = 0
    while match := _CELLS.search(text, at):
        left, right = match[1].lower(), match[3].lower()
        at = match.start(3)
        broken = not (words.known(left) and words.known(right))
        if match[3].islower() and broken and words.name(left + right) > 1:
            yield *match.span(2), ""


def spread(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Dates and numbers with blanks around their separators, names in syllables, words joined by plus signs."""
    if text.count("+") > 1:
        for match in _PLUSES.finditer(text):
            yield from ((match.start() + i, match.start() + i + 1, " ") for i, c in enumerate(match[0]) if c == "+")
    for match in _SYLLABLES.finditer(text) if "-" in text else ():
        if text[match.start() - 1 : match.start()].isalnum():
            continue
        if words.name(match[0].replace("-", "").lower()) > 1:
            yield from ((match.start() + i, match.start() + i + 1, "") for i, c in enumerate(match[0]) if c == "-")
    for match in _SPREAD.finditer(text) if _BLANKS.search(text) else ():
        if tuple(len(match[n]) for n in (1, 3, 4)) in _SPREADS and (match[2] != "/" or len(match[1]) != 3):
            at = match.start()
            yield from ((at + m.start(), at + m.end(), "") for m in re.finditer(" +", match[0]))


def _without(start: int, letters: str, by: str, cut: int) -> Iterator[Edit]:
    """Edits that take separators out, but for a space behind `cut` letters."""
    for n, at in enumerate(range(1, len(letters), 1 + len(by)), start=1):
        yield start + at, start + at + len(by), " " if n == cut else ""


def _parts(low: str, words: Vocabulary) -> int:
    """Where letters divide into two names; 0 where they do not."""
    for i in range(3, len(low) - 2):
        if all(words.name(part) > 2 and not words.usual(part) for part in (low[:i], low[i:])):
            return i
    return 0


def _sounds(low: str) -> bool:
    """Whether letters could be a word: at least one vowel in five, and not the alphabet."""
    vowels = sum(c in "aeiouy" for c in low)
    return len(low) > 4 and 5 * vowels >= len(low) > vowels and len({ord(b) - ord(a) for a, b in pairwise(low)}) > 1


def odd_tokens(text: str) -> list[tuple[int, str]]:
    """The runs without white space that are more than a word, four characters or more: (start, run)."""
    found: list[tuple[int, str]] = []
    end = 0
    kinds = text.translate(_KINDS)
    for at in sorted(match.start() for sign, seam in _SEAMS if sign in kinds for match in seam.finditer(kinds)):
        if at >= end:
            token = _RUN.search(text, _begin(text, at))
            assert token is not None  # it holds the seam
            end = token.end()
            if len(token[0]) > 3:
                found.append((token.start(), token[0]))
    return found


def _begin(text: str, at: int) -> int:
    while at > 0 and not text[at - 1].isspace():
        at -= 1
    return at


def glued(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """Names glued to one another or to a word: "ptJohnSmithers"; joined by signs: "smithers_john".

    Args:
        tokens: as `odd_tokens` gives them.
    """
    for at, token in tokens:
        for match in _GLUED.finditer(token):
            yield from _humps(at + match.start(), match[0], token[match.end() : match.end() + 1], words)
        if "_" in token:
            for match in _CHAINED.finditer(token):
                yield from _chain(at + match.start(), match[0], token[: match.start()][-1:], words)


def _humps(at: int, token: str, follows: str, words: Vocabulary) -> Iterator[Edit]:
    pieces = _HUMP.split(token)
    lows = [piece.lower() for piece in pieces]
    if words.known(token.lower()) or lows[0] in _BEGINNINGS:
        return
    named = [words.name(low) if len(low) > 2 and not words.usual(low) else 0 for low in lows]
    rest = [low for low, weight, piece in zip(lows, named, pieces, strict=True) if not weight and piece not in _LABELS]
    titled = lows[0] in _TITLES and len(lows) == 2 and len(lows[1]) > 3 and not words.usual(lows[1])
    label = follows in (":", "=") and all(map(words.usual, lows))
    strong = max(named) > 4 and len(token) > 15
    strange = [i for i, low in enumerate(lows) if len(low) > 3 and not words.usual(low)]
    strong |= any(b == a + 1 and named[a] + named[b] > 3 for a, b in pairwise(strange))
    if titled or label or strong or (max(named) >= 2 and (lows[0] in _LEADS or not rest)):
        for piece in pieces[:-1]:
            at += len(piece)
            yield at, at, " "


def _chain(at: int, token: str, before: str, words: Vocabulary) -> Iterator[Edit]:
    pieces = _SIGNS.split(token)
    named = [len(p) > 2 and words.name(p.lower()) > 1 and not words.usual(p.lower()) for p in pieces]
    if "_" not in token or not (sum(named) > 1 or (any(named) and _FILE.search(before + token))):
        return
    for piece, name, next_name in zip(pieces, named, [*named[1:], False], strict=True):
        if name and piece[0].islower():
            yield at, at + 1, piece[0].upper()
        at += len(piece)
        if token[len(piece) : len(piece) + 1] == "_":
            yield at, at + 1, " " if name and next_name else ", "
        token = token[len(piece) + 1 :]
        at += 1
