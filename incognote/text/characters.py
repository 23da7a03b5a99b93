"""Fold characters to what a reader sees: remove invisible ones, and replace look-alikes with the letters they resemble.

Folded: format and control characters, combining marks that NFC does not compose, compatibility letters and digits
(full width, mathematical, circled, ligatures; Unicode NFKC, UAX #15), small capitals, digits of other scripts, keycaps,
unusual spaces, private-use characters of symbol fonts, and letters of other scripts inside Latin words (the confusables
of UTS #39, limited to the letters that matter here). Kept: precomposed letters, quotes, dashes, superscripts, and every
symbol with its own meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from incognote.text.escapes import Edit

BLANK = "\x1a"
"""The character that an audit writes over replacements: SUBSTITUTE, which is never folded.

No rule takes it for a letter, a digit or a space. It is ASCII, so an ASCII text stays ASCII, which the finders read in
four fifths of the time. Python uses one object for all tokens that are this character, which saves a tenth of the
memory for a huge note.
"""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x19\x1b-\x1f\x7f]")
_CONTROLS = re.compile(r"\x1b\[[0-9;]{0,12}[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x19\x1b-\x1f\x7f]+")
_ODD = re.compile(r"[^\x00-\x7f]+")
_UNUSUAL = re.compile(r"[^\s!-~]")
_STRANGE = re.compile(
    "[^\x00-\x7f\u00a1-\u00a9\u00ab-\u00b8\u00bb-\u00c1\u00c6-\u00e1\u00e3-\u017f\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20bf\u2190-\u22ff\u2500-\u27bf]"
)
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u2800\u3164\uffa0"
_C1 = dict(zip("\x91\x92\x93\x94\x96\x97\xa0\u2028\u2029\x85", "''\"\"-- \n\n\n", strict=True))
_EXACT = {
    "\u2044": "/",
    "\u2215": "/",
    "\u2010": "-",
    "\u2011": "-",
    "ɑ": "a",
    "ɡ": "g",
    "ɩ": "i",
    "ⅼ": "l",
    "ʏ": "Y",
    "ǀ": "l",
    "ꓲ": "I",
}
_NAMED = re.compile(
    r"(?:LATIN LETTER SMALL CAPITAL|REGIONAL INDICATOR SYMBOL LETTER"
    r"|(?:NEGATIVE|CROSSED NEGATIVE|RAISED)? ?(?:CIRCLED|SQUARED)? ?LATIN (?:CAPITAL|SMALL) LETTER) ([A-Z])"
)
_SCRIPTS_RANGES = (
    "\u0370-\u03ff\u1f00-\u1fff\u2c80-\u2cff\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f"
    "\u0531-\u058f\u13a0-\u13fd\uab70-\uabbf\ua4d0-\ua4f7"
)
_FOREIGN = re.compile(f"[{_SCRIPTS_RANGES}]")
_TOKEN = re.compile(f"[^\\W_]*[{_SCRIPTS_RANGES}][^\\W_]*")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_OVERRIDE = re.compile("\u202e([^\u202a-\u202e\n]{2,})[\u202c\u202d]?")
_HIGH = "".join(chr(b) if b > 159 else bytes([b]).decode("cp1252", "ignore") for b in range(128, 192))
_MOJIBAKE = re.compile(f"[\u00c3-\u00c5][{_HIGH}]|\u00e2\u20ac[{_HIGH}]|\u00c2[\u00a0-\u00bf]")
_LINE_END = re.compile(r"[^\S\r\n]*\r?\n")
_SUPERSCRIPTS = re.compile("[⁰¹²³⁴-⁹₀-₉](?:[ ./⁻₋-]?[⁰¹²³⁴-⁹₀-₉]){3,}")
_RAISED = re.compile("[ªº\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u1d78\u1d9b-\u1dbf\u2071\u207f\u2090-\u209c]{3,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}|[\u200b-\u200d\u2060-\u2064\ufeff]{16,}")
_SYMBOLS = re.compile(  # of symbol and barcode fonts: runs, digits, and a letter at the end of a word
    "[\uf020-\uf0ff]{2,}|[\uf030-\uf039]|(?<=[a-z])[\uf061-\uf07a]|(?<=[A-Z])[\uf041-\uf05a]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")


def _pairs(*rows: str) -> dict[int, str]:
    return {ord(c): like for row in rows for c, like in zip(*row.split(" "), strict=True)}


_ALIKE = _pairs(
    # Cyrillic
    "АВЕЅІЈКМНОРСТУХҮҺԌԚԜЗӀ ABESIJKMHOPCTYXYhGQW3I",
    "аеорсухіјѕһԁԛԝгкмнтвиупьԍѵӏ aeopcyxijshdqwrkmhtbuynbgvl",
    # Greek
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ ABEZHIKMNOPTYX",
    "αειικνορτυχγωςηϲϳ aeiikvoptuxywsncj",
    # Armenian, Cherokee, Lisu
    "ՕՍՏԼՀոսօցհեզյ OUSLZnuogheqj",
    "ᎪᏴᏟᎠᎬᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔᎽᏃᏀᎵ ABCDEHIJKLMPRSTVWYZGP",
    "ꓮꓐꓚꓓꓰꓝꓖꓧꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ ABCDEFGHJKLMNOPRSTUVWXYZ",
)


def strange(text: str) -> bool:
    """Whether a text contains more than ASCII, accented letters, and common punctuation and symbols."""
    return not text.isascii() and _STRANGE.search(text) is not None


def folded(text: str) -> list[Edit]:
    """Return the edits that replace the characters of a text with what a reader sees."""
    edits = [_control(text, *m.span()) for m in _CONTROLS.finditer(text)] if _CONTROL.search(text) else []
    if not text.isascii():
        edits = sorted([*edits, *_odd(text)])
    return edits


def turned(text: str, known: Callable[[str], bool]) -> Iterator[Edit]:
    """Yield edits for right-to-left overrides, and for UTF-8 that was decoded as Windows-1252.

    Args:
        known: whether lower-case letters are a word. An override is undone if the words make more sense backwards.
    """
    for match in _OVERRIDE.finditer(text):
        words = re.findall(r"[^\W\d_]{3,}", match[1].lower())
        if sum(known(word[::-1]) for word in words) >= sum(map(known, words)):
            yield *match.span(), match[1][::-1]
    for match in _MOJIBAKE.finditer(text):
        try:
            yield *match.span(), match[0].encode("cp1252").decode("utf-8")
        except UnicodeError:
            continue


def hidden(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield stretches of invisible characters that carry a message: (start, end, its words or None if unreadable)."""
    if text.isascii():
        return
    for run in _ODD.finditer(text):
        start, end = run.span()
        if end - start > 2:
            for match in _TAGS.finditer(text, start, end):
                yield *match.span(), "".join(chr(ord(c) - 0xE0000) for c in match[0])
            for match in _SELECTORS.finditer(text, start, end):
                yield *match.span(), None


def _control(text: str, start: int, end: int) -> Edit:
    before, after = text[start - 1 : start], text[end : end + 1]
    ends_line = any(c in "\x0b\x0c" for c in text[start:end])
    inside = (before.isalpha() and after.islower()) or (before.isdigit() and after.isdigit())
    inside |= before.isalpha() and after == " " and text[end + 1 : end + 2].isalpha()  # a reader sees a space
    return start, end, "\n" if ends_line and not inside and "\n" not in (before, after) else ""


def _odd(text: str) -> Iterator[Edit]:
    """Yield edits for all non-ASCII characters, together with the base of a combining mark."""
    done = 0
    for match in _ODD.finditer(text):
        at, end = match.span()
        while at < end:
            start = at
            if is_mark(text[at]) and at > done and text[at - 1] not in "\n\r\t" + BLANK:
                start, base = at - 1, text[at - 1]
                words = base
            else:
                base = text[at]
                at += 1
                words = "-" if base == "\u00ad" and _LINE_END.match(text, at) else fold_one(base)
            mark = at
            while mark < end and is_mark(text[mark]):
                mark += 1
            if mark > at and len(words) == 1 and words.isascii() | (words < "\u0590"):
                kept = [c for c in text[at : min(mark, at + 4)] if unicodedata.combining(c)]
                composed = unicodedata.normalize("NFC", words + "".join(kept))
                words = composed if len(composed) == 1 else words
                at = mark
            elif mark > at:  # marks of scripts whose vowels are marks, or marks without a base
                if words == "" or unicodedata.category(base)[0] not in "LM":
                    at = mark
                else:
                    words, at = text[start:mark], mark
            if words != text[start:at]:
                yield start, at, words
            done = at


def digits_above(text: str) -> list[Edit]:
    """Return edits for superscript words and for long superscript or subscript numbers. Exponents are too short."""
    letters = [
        (i, i + 1, unicodedata.normalize("NFKC", text[i]))
        for match in _RAISED.finditer(text)
        for i in range(*match.span())
    ]
    return letters + [
        (i, i + 1, str(unicodedata.digit(text[i], "-")))
        for match in _SUPERSCRIPTS.finditer(text)
        for i in range(*match.span())
        if not text[i].isascii()
    ]


def symbols(text: str) -> list[Edit]:
    """Return edits for the private-use characters in which Word stores ASCII text in a symbol font: U+F034 for 4.

    A single one beside other characters stays: it is a bullet, or a sign such as a degree.
    """
    return [
        (i, i + 1, fold_one(chr(ord(text[i]) - 0xF000)))
        for match in _SYMBOLS.finditer(text)
        for i in range(*match.span())
    ]


def look_alikes(text: str) -> tuple[list[Edit], list[tuple[int, int]]]:
    """Return edits for Latin look-alikes inside Latin words, and the mixed words that cannot be folded."""
    edits: list[Edit] = []
    unsure: list[tuple[int, int]] = []
    if text.isascii() or not _FOREIGN.search(text):
        return edits, unsure
    latin = len(_LATIN.findall(text))
    others = len(_FOREIGN.findall(text))
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        strange = [i for i, c in enumerate(token) if _FOREIGN.match(c)]
        mixed = len(strange) < len(token) and any(c.isascii() for c in token)
        unknown = [i for i in strange if ord(token[i]) not in _ALIKE]
        if mixed or (not unknown and len(token) > 2 and latin > others):
            edits += [(start + i, start + i + 1, _ALIKE[ord(token[i])]) for i in strange if i not in unknown]
            cyrillic = [i for i in unknown if not "\u0370" <= token[i] <= "\u03ff"]
            if mixed and cyrillic and len(token) > 2:
                unsure.append(match.span())
    return edits, unsure


def is_mark(c: str) -> bool:
    """Whether a character only modifies the one before it: accents, enclosing marks, variation selectors."""
    return c > "\u02ff" and (unicodedata.category(c) in ("Mn", "Me"))


@lru_cache(maxsize=4096)
def fold_one(c: str) -> str:
    """Return one character as a reader sees it: usually unchanged, or "" for an invisible one."""
    if c in _EXACT:
        return _EXACT[c]
    if c in _FILLERS:
        return ""
    if c in _C1:
        return _C1[c]
    category = unicodedata.category(c)
    if category in ("Cf", "Cc"):
        return ""
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.digit(c))
    form = unicodedata.decomposition(c)
    if form.startswith("<") and not form.startswith(("<super>", "<sub>", "<fraction>", "<noBreak>")):
        plain = unicodedata.normalize("NFKC", c)
        plain = plain.strip("()") or plain
        if plain.isascii() and (plain.isalnum() or "\uff01" <= c <= "\uff5e"):
            return plain
    if c > "\u017f" and (named := _NAMED.fullmatch(unicodedata.name(c, ""))):
        return named[1]
    return c


def visible(words: str) -> str:
    """Return words without invisible characters. White space is kept."""
    return _UNUSUAL.sub(lambda match: "" if _is_unseen(match[0]) else match[0], words)


def _is_unseen(c: str) -> bool:
    return not fold_one(c) or "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef"


def without_marks(words: str) -> str:
    """Return words without diacritics (NFKD without combining marks)."""
    return "".join(c for c in unicodedata.normalize("NFKD", words) if not unicodedata.combining(c))
