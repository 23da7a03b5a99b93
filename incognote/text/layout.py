"""Restore words that are divided, spaced out, or joined to others, as a reader would.

The functions take the words of the language from a `Vocabulary`. Each returns edits, in order and disjoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from incognote.text import Vocabulary, labels
from incognote.text.digits import apart
from incognote.text.escapes import Edit
from incognote.text.shape import apart as singles

_SPACED = re.compile(
    r"(?<![^\W_])[^\W\d_](?P<by>[ ]?[^\w\s][ ]?|[ \t]|_{1,2}|_\||['\"],[ ]?['\"]|\]\[|\n)"
    r"[^\W\d_](?:(?P=by)[^\W\d_]){2,}(?![^\W_])"
)
_BOXES = re.compile(r"(?<![^\s|])\S(?:[ \t]{1,3}\S|[ ]?\|[ ]?\S){5,}(?=[\s|,.;:)]|\Z)")
_SPREAD = re.compile(r"(?<![\w/.-])(\d{1,4})[ ]{0,3}([-/.])[ ]{1,3}(\d{1,4})[ ]{0,3}\2[ ]{0,3}(\d{2,4})(?![\w/.-])")
_COMB = re.compile(
    r"(?:\[[A-Za-z0-9/.-]\][-/. ]?){4,}"
    r"|(?:\|_?[A-Za-z0-9]_(?=\|)){4,}\||(?:\|[A-Za-z0-9](?=\|)(?:\|[-/. ](?=\|))?){4,}\|"
)
_LEADERS = re.compile(r"[ ]?(?:\.[ ]){3,}")
_SPACED_SHORT = re.compile(r"(?<![\w.])[A-Z](?P<by>[.*_-])[a-z](?:(?P=by)[a-z])+(?![\w*_-])")
_SYLLABLES = re.compile(r"[A-Z][a-z]{1,3}(?:-[a-z]{1,4}){2,}(?![\w-])")
_CUT = re.compile(r"[A-Z][a-z]{1,3}-[a-z]{1,4}(?![\w-])")
_KERNED = (re.compile(rb" A aaa+"), re.compile(rb"\nA aaa+"))  # searches with a fixed beginning are fast
_HYPHENED = re.compile(rb"-a(?:(?<=Aa-a)|(?<=Aaa-a)|(?<=Aaaa-a))")  # begins with a symbol, so its search is fast
_PLUSES = re.compile(r"(?<!\S)[A-Za-z0-9]+(?:\+[A-Z][a-z]+){2,}(?!\S)")
_BLANKS = re.compile(rb"0 {0,3}[-/.] {1,3}0{1,4} {0,3}[-/.] {0,3}00")
_GAPS = re.compile(r"[ \t]*\|[ \t]*|[ \t]+")
_SPREADS = frozenset(((4, 2, 2), (2, 2, 4), (1, 2, 4), (2, 1, 4), (1, 1, 4), (3, 2, 4), (3, 3, 4)))
_WHOLE = re.compile(
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?!\w)"
    r"|(?<![\w.])(?:\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{2}|\d{4})"
    r"|\d{4}-\d\d-\d\d|\d{3}-\d\d-\d{4})(?!\w)"
)
_SPACED_DIGITS = re.compile(
    r"(?<![\w.,/])\d(?P<by>[ .·•*|_~=\-‐–]|[ ][-–.·*|][ ]|\.[ ]|,[ ])\d(?:[ ]{0,2}(?P=by)\d){4,}(?![\w%])(?!\.\d)"
)
_HOUSE = re.compile(r"(?<!\S)\d(?:[ ]\d){1,5}(?=[ ]{2,4}[A-Z](?:[ ][A-Za-z]){2,}(?!\S))")
_SIGNS = re.compile(r"[_.+]")
_GLUED = re.compile(r"(?<![A-Za-z])[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HOMES = ("\\Users\\", "/Users/", "/home/")
_CHAINED = re.compile(r"[A-Za-z0-9]+(?:[_.+][A-Za-z0-9]+)+")
_HYPHENS = re.compile(r"[^\W\d_]{3,24}(?:-[^\W\d_]{3,24})+(?=[-.])")
_DOTS = re.compile(r"[^\W\d_]{3,24}(?:\.[^\W\d_]{3,24})+(?=\.)")
_SLUG = re.compile(r"(?<![\w.@-])[a-z]{3,24}(?:-[a-z]{3,24}){3,}(?![\w@-])")
_SLUGGED = re.compile(rb"-a{3,24}-a{3,24}-aaa")
_FILE = re.compile(
    r"(?i)\A[/\\#]|\.(?:pdf|jpe?g|png|gif|tiff?|bmp|docx?|xlsx?|csv|txt|dcm|zip|wav|mp[34]|html?|xml|json|mov|avi|mkv|heic|webp|rtf|msg|eml)\Z"
)
_LISTED = re.compile(r"([^\W\d_]{2,24}),([^\W\d_]{2,24})(?=[-_.])")


def spaced(text: str, kinds: bytes, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for spaced-out letters that form a word or a name, and spaced-out digits that form a long number.

    Args:
        kinds: the shape of the text.
    """
    if "[" in text or "|" in text:
        yield from _comb(text)
    for match in _LEADERS.finditer(text) if ". . ." in text else ():
        yield *match.span(), " "
    lettered, numbered = singles(kinds)
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
            or (_sounds(low) and (by[0] not in " .,\n" or (by == " " and match[0][1:].islower())))
        ):
            cut = 0 if words.known(low) else _parts(low, words)
            yield from _without(match.start(), match[0], by, cut)
    for match in _HOUSE.finditer(text) if lettered and numbered else ():
        yield from ((match.start() + i, match.start() + i + 1, "") for i in range(1, len(match[0]), 2))
    if lettered and any(said in text for said in labels().SPACES):
        yield from ((*match.span(), " ") for match in labels().SAID_SPACE.finditer(text))
    for match in _SPACED_SHORT.finditer(text) if lettered else ():
        yield from ((match.start() + i, match.start() + i + 1, "") for i in range(1, len(match[0]), 2))
    for match in _BOXES.finditer(text):
        yield from _boxes(match)
    for match in _SPACED_DIGITS.finditer(text) if numbered else ():
        digits = [int(c) for c in match[0] if c.isdigit()]
        steps = {b - a for a, b in pairwise(digits)}
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        prose = len(re.findall(r"[^\W\d_]{2,}", line)) >= 3 or labels().LABELED.search(line[-80:])
        if len(steps) > 2 and max(digits) > 4 and (prose or match["by"] != " "):
            at = match.start()
            for i, c in enumerate(match[0]):
                if not c.isdigit():
                    yield at + i, at + i + 1, ""
    if numbered:
        yield from apart(text)


def _comb(text: str) -> Iterator[Edit]:
    """Yield edits for characters in boxes: "[6][4][2]-[1][9]", "|0|5| |1|2|"."""
    for match in _COMB.finditer(text):
        at = match.start()
        inner = match[0]
        if sum(map(str.isalnum, inner)) > 3:
            for m in re.finditer(r"\][-/. ]?\[|_?\|[-/. ]?\||_?\|_?|[\[\]]", inner):
                middle = m[0][1:-1].strip("_|")
                yield at + m.start(), at + m.end(), "/" if middle == " " else middle


def _boxes(match: re.Match[str]) -> Iterator[Edit]:
    """Yield edits for a spaced-out date, number or e-mail address, possibly within a longer spaced-out text."""
    at, written = match.start(), match[0]
    gaps = [(m.start(), m.end(), _joint(m)) for m in _GAPS.finditer(written)]
    places: list[int] = []  # the position of each character of `whole` in `written`
    whole, end = "", 0
    for start, stop, words in gaps:
        whole += written[end:start] + words
        places += [*range(end, start), *(start for _ in words)]
        end = stop
    whole += written[end:]
    places += range(end, len(written))
    for found in _WHOLE.finditer(whole):
        steps = {ord(b) - ord(a) for a, b in pairwise(c for c in found[0] if c.isdigit())}
        if sum(map(str.isalnum, found[0])) > 5 and ("@" in found[0] or len(steps) > 2):
            first, last = places[found.start()], places[found.end() - 1]
            yield from ((at + start, at + stop, words) for start, stop, words in gaps if first < stop <= last)


def _joint(gap: re.Match[str]) -> str:
    """Return the text between two boxes: nothing, or a slash if there is a vertical bar."""
    return "/" if "|" in gap[0] else ""


def spread(text: str, kinds: bytes, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for dates and numbers with spaced separators, names in syllables, and words joined by plus signs.

    Args:
        kinds: the shape of the text.
    """
    if text.count("+") > 1:
        for match in _PLUSES.finditer(text):
            yield from ((match.start() + i, match.start() + i + 1, " ") for i, c in enumerate(match[0]) if c == "+")
    for kerned in (match for form in _KERNED for match in form.finditer(kinds)):
        first, rest = text[kerned.start() + 1], text[kerned.start() + 3 : kerned.end()].lower()
        whole = first.lower() + rest
        after = kinds[kerned.end() : kerned.end() + 1]
        if not (after in (b"A", b"0", b"-", b"\x80") or words.known(rest)) and words.known(whole):
            yield kerned.start() + 2, kerned.start() + 3, ""
    for match in _SLUG.finditer(text) if _SLUGGED.search(kinds) else ():
        yield from _names_in_file(match.start(), match[0], words, least=2)
    if _HYPHENED.search(kinds):
        yield from _syllables(text, words)
    for match in _SPREAD.finditer(text) if _BLANKS.search(kinds) else ():
        if tuple(len(match[n]) for n in (1, 3, 4)) in _SPREADS and (match[2] != "/" or len(match[1]) != 3):
            at = match.start()
            yield from ((at + m.start(), at + m.end(), "") for m in re.finditer(" +", match[0]))


def _syllables(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for hyphens within names: "Mar-ga-ret", "Ka-ren"."""
    for match in _SYLLABLES.finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum() and _is_name(match[0].replace("-", ""), words, 2):
            yield from ((match.start() + i, match.start() + i + 1, "") for i, c in enumerate(match[0]) if c == "-")
    for match in _CUT.finditer(text):
        before, (left, right) = text[match.start() - 1 : match.start()], match[0].split("-")
        if not (before.isalnum() or before == "-" or words.usual(right)) and _is_name(left + right, words, 5):
            yield match.start() + len(left), match.start() + len(left) + 1, ""


def _is_name(word: str, words: Vocabulary, least: int) -> bool:
    low = word.lower()
    return words.name(low) >= least and (least < 5 or not words.usual(low))


def _without(start: int, letters: str, by: str, cut: int) -> Iterator[Edit]:
    """Yield edits that remove separators, with a space after `cut` letters."""
    for n, at in enumerate(range(1, len(letters), 1 + len(by)), start=1):
        yield start + at, start + at + len(by), " " if n == cut else ""


def _parts(low: str, words: Vocabulary) -> int:
    """Return where letters divide into two names, or 0 if they do not."""
    for i in range(3, len(low) - 2):
        if all(words.name(part) > 2 and not words.usual(part) for part in (low[:i], low[i:])):
            return i
    return 0


def _sounds(low: str) -> bool:
    """Whether letters could be a word: at least one letter in five is a vowel, and they are not an alphabet run."""
    vowels = sum(c in "aeiouy" for c in low)
    return len(low) > 4 and 5 * vowels >= len(low) > vowels and len({ord(b) - ord(a) for a, b in pairwise(low)}) > 1


def glued(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for names joined to each other or to a word: "ptJohnSmithers", or by symbols: "smithers_john".

    Args:
        tokens: the result of `shape.odd_tokens`.
    """
    for at, token in tokens:
        for match in _GLUED.finditer(token):
            yield from _humps(at + match.start(), match[0], token, match.span(), words)
        if "_" in token:
            for match in _CHAINED.finditer(token):
                yield from _chain(at + match.start(), match[0], token[max(0, match.start() - 1) : match.start()], words)
        elif token.count("-") > 1 and _FILE.search(token.rstrip(".,;:)")):
            for match in _HYPHENS.finditer(token):
                yield from _names_in_file(at + match.start(), match[0], words)
        if (token.count(".") > 1 or "," in token) and _FILE.search(token.rstrip(".,;:)")):
            yield from _name_of_file(at, token, words)


def _humps(at: int, token: str, whole: str, span: tuple[int, int], words: Vocabulary) -> Iterator[Edit]:
    """Yield edits that divide a token at its capitals.

    Args:
        whole: the unspaced run that contains the token, from `span[0]` to `span[1]`.
    """
    before, follows = whole[max(0, span[0] - 8) : span[0]], whole[span[1] : span[1] + 1]
    known, pieces = labels(), _HUMP.split(token)
    lows = [piece.lower() for piece in pieces]
    if before[-1:].isdigit() and lows[-1] in known.STREETS and len(pieces) > 1:  # 119ThistledownWay
        yield at, at, " "
    elif words.known(token.lower()) or lows[0] in known.BEGINNINGS:
        return
    named = [words.name(low) if len(low) > 2 and not words.usual(low) else 0 for low in lows]
    rest = [
        piece for weight, piece in zip(named, pieces, strict=True) if not weight and piece not in known.ABBREVIATIONS
    ]
    titled = lows[0] in known.TITLES and len(lows) == 2 and len(lows[1]) > 3 and not words.usual(lows[1])
    label = follows in (":", "=") and all(map(words.usual, lows))
    strong = max(named) > 4 and len(token) > 15
    strange = [i for i, low in enumerate(lows) if len(low) > 3 and not words.usual(low)]
    strong |= any(b == a + 1 and named[a] + named[b] > 3 for a, b in pairwise(strange))
    person = len(lows) == 2 and max(named) > 4 and min(map(words.name, lows)) > 2
    strong |= person or before.endswith(_HOMES) or (before[-1:].isdigit() and lows[-1] in known.STREETS)
    if titled or label or strong or (max(named) >= 2 and (lows[0] in known.LEADS or not rest)):
        if token[0].islower() and named[0] > 1:
            yield at, at + 1, token[0].upper()
        for piece in pieces[:-1]:
            at += len(piece)
            yield at, at, " "


def _chain(at: int, token: str, before: str, words: Vocabulary) -> Iterator[Edit]:
    pieces = _SIGNS.split(token)
    named = [len(p) > 2 and words.name(p.lower()) > 1 and not words.usual(p.lower()) for p in pieces]
    if "_" not in token or not (sum(named) > 1 or (any(named) and _FILE.search(before + token))):
        return
    first = at
    for piece, name, next_name in zip(pieces, named, [*named[1:], False], strict=True):
        if name and piece[0].islower():
            yield at, at + 1, piece[0].upper()
        at += len(piece)
        if token[at - first : at - first + 1] == "_":
            yield at, at + 1, " " if name and next_name else ", "
        at += 1


def _name_of_file(at: int, token: str, words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for a file name with names separated by dots or a comma.

    Examples: "rudy.castaneda.mov", "PEMBERTON,Nora-ecg.pdf".
    """
    if "@" not in token and "/" not in token:
        for match in _DOTS.finditer(token):
            yield from _names_in_file(at + match.start(), match[0], words, sign=".")
    listed = _LISTED.search(token)
    if listed and max(words.name(listed[1].lower()), words.name(listed[2].lower())) > 4:
        yield at + listed.start(), at + listed.end(), f"{listed[2].title()} {listed[1].title()}"
        yield at + listed.end(), at + listed.end() + 1, ", "


def _names_in_file(at: int, token: str, words: Vocabulary, least: int = 1, sign: str = "-") -> Iterator[Edit]:
    """Yield edits for a file name with two adjacent pieces that are names: "img-stefan-warszawski-toe.jpg".

    Args:
        least: the minimum of how common each piece is as a name; one of them must be above 2.
        sign: the separator of the pieces.
    """
    pieces = token.split(sign)
    named = [0 if words.usual(piece.lower()) else words.name(piece.lower()) for piece in pieces]
    for i, piece in enumerate(pieces):
        last = i + 1 == len(pieces)
        pair = not last and min(named[i : i + 2]) >= least and max(named[i : i + 2]) > 2
        joined = i > 0 and min(named[i - 1 : i + 1]) >= least and max(named[i - 1 : i + 1]) > 2
        if (pair or joined) and piece[0].islower():
            yield at, at + 1, piece[0].upper()
        at += len(piece)
        if not last:
            yield at, at + 1, " " if pair else ", " if joined else sign
        at += 1
