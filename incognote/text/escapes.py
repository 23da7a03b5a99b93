"""Decode escapes: entities, percent, backslash, quoted-printable, MIME words, UTF-7, and TeX and RTF accents.

Each function returns edits of a text: (start, end, words), in order and disjoint. A code is decoded only if its form is
unambiguous: "95%96%" is two saturations, and "HR=72" is a pulse.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterator

Edit = tuple[int, int, str]
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a UTF-16 pair, which JSON may contain as an escape. UTF-8 cannot represent it."""

_ENTITY = re.compile(
    r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,30};|(?:nbsp|amp|shy|quot|lt|gt)(?![A-Za-z]))"
)
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_HEX = frozenset("0123456789ABCDEFabcdefu")  # the first character of a code after a percent sign
_OPENS = ("", " ", "\n", "\t", '"', "'", "(", "=", "/", ",", ":")  # before a word that begins with a code
_PERCENT_ONE = re.compile(r"%[0-9A-Fa-f]{2}")
_PERCENT_TWICE = re.compile(r"(?:%25[0-9A-Fa-f]{2}){2,}|%25[4-7][0-9A-Fa-f](?=[A-Za-z])")
_PERCENT_TOKEN = re.compile(
    r"(?<![^\s=?&/:,;\"'(])[\w.+-]*(?:%(?:2[0-9A-Fa-f]|3[A-Fa-f]|40|5[EFef]|[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f])[\w.+-]*){2,}(?![%\w])"
)
_PERCENT_U = re.compile(r"(?:%u[0-9A-Fa-f]{4})+")
_BACKSLASH = re.compile(
    r"(?:\\u[0-9a-fA-F]{4})+|\\u\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}|\\x(?:[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\})"
    r"|\\N\{[A-Z][A-Z0-9 -]{2,60}\}|(?:\\0{2,4}[0-9a-fA-F]{2}[ ]?){2,}|(?:\\[0-7]{3}){2,}"
    r"|(?<=[A-Za-z])\\[4-7][0-9a-f][ ](?=[a-z])"
)
_CSS = re.compile(r"(?:\\0{3,4}[0-9a-fA-F]{2}[ ]?|\\00[0-9a-fA-F]{2}[ ]?)+|\\[4-7][0-9a-f][ ]")
_CSS_POINT = re.compile(r"\\([0-9a-fA-F]+)")
_POINT = re.compile(r"<U\+[0-9a-fA-F]{4,6}>|U\+[0-9a-fA-F]{4,6}(?:[ ,]{0,2}U\+[0-9a-fA-F]{4,6})*(?![0-9a-fA-F])")
_CODES = re.compile(r"(?i)\b(?:fromcharcode|n?cha?r)\(\d{2,3}(?:,[ ]?\d{2,3}){2,}\)")
_HL7 = re.compile(r"\\(?:X[0-9A-F]{2,}|\.sp\d*|\.br|[FSTREHNO])\\", re.ASCII)
_HL7_SIGNS = {"F": "|", "S": "^", "T": "&", "R": "~", "E": "\\"}
_SQL = re.compile(r"(?i)\bn?cha?r\(\d{2,3}\)(?:\s{0,2}(?:\+|\|\||&|\.|,)\s{0,2}n?cha?r\(\d{2,3}\))+")
_RTF_POINTS = re.compile(r"(?:\\u\d{2,5}\?[ ]?){2,}|\\u\d{3,5}\?")
_ONE_POINT = re.compile(r"U\+[0-9a-fA-F]{4,6}")
_RTF = re.compile(r"(?<=[A-Za-z])\\'[0-9a-f]{2}|\\'[0-9a-f]{2}(?=[a-z])")
_TEX = re.compile(
    r"\{?\\(?!'[0-9a-f][0-9]|\.br\\)(?:['\"`^~=.](?:\{?\\?(?P<letter>[A-Za-z])\}?)|[cvuHkrbd]\{(?P<under>[A-Za-z])\}|(?P<whole>ss|o|O|l|L|ae|AE|oe|OE|aa|AA)"
    r"(?:\{\}|[ ](?=[a-z])|(?![A-Za-z])))\}?"
)
_TEX_LETTERS = {"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ"}
_QP = re.compile(r"(?:=[0-9A-F]{2})+")
_SOFT_BREAK = re.compile(r"(?<![=\s])=[ \t]*\r?\n(?=\S)")
_QP_SIGN = re.compile(r"=2[DEF](?=\d)(?<=[\d\n]...)")  # in a number
_QP_SURE = re.compile(r"=\r?\n|=3D|(?:=[0-9A-F]{2}){2}|(?i:quoted-printable)")
_CODED = re.compile(r"(?=[^\s]*[a-z])(?=[^\s]*[A-Z])[A-Za-z0-9+/]{12,}\Z")  # the end of a base64 block, not of a line
_MIME = re.compile(r"=\?[\w.-]{1,40}\?[BbQq]\?[^?\s]{1,2000}\?=(?:\s+=\?[\w.-]{1,40}\?[BbQq]\?[^?\s]{1,2000}\?=)*")
_UTF7 = re.compile(r"\+([A-Za-z0-9/]{3,})-|(?<=[a-z]\+)(A[A-Za-z0-9/]{2})(?![\w+/=-])")
_RTF_SURE = re.compile(
    r"\{\\(?:b|i|ul|strike|scaps|fs\d{1,3}|cf\d{1,2}|f\d{1,2}|lang\d{3,5})[ \\]"
    r"|\\(?:pard?|fs\d{1,3}|cf\d{1,2}|sb\d{1,4}|line|tab|cell|row)(?![A-Za-z0-9:\\/._])"
)
_TEX_WORDS = ("\\begin{", "\\text", "\\emph{", "\\section", "\\document", "\\item")
_RTF_WORDS = (
    "par|line|row|page|sect|tab|cell|pard|rtf_edits|b|i|ul|ulnone|strike|scaps|caps|sub|super|nosupersub|v|fs|cf|f|cb|"
    "highlight|lang|langnp|sb|sa|sl|slmult|li|ri|fi|qc|ql|qr|qj|ltrpar|rtlpar|ltrch|rtlch|intbl|trowd|cellx|kerning|"
    "expnd|expndtw|up|dn"
)
_RTF_TOKEN = re.compile(
    r"\\'(?P<code>[0-9a-fA-F]{2})|\\(?P<sign>[~_-])"
    rf"|(?P<opens>\{{)?\\(?P<word>{_RTF_WORDS})-?\d{{0,5}}(?![A-Za-z0-9])[ ]?"
    r"|(?P<brace>[{}])"
)
_RTF_SIGNS = {"~": " ", "-": "", "_": "-"}
_RTF_BREAKS = {"par": "\n", "line": "\n", "row": "\n", "page": "\n", "sect": "\n", "tab": "\t", "cell": "\t"}


def decoded(text: str) -> list[Edit]:
    """Return the edits that decode every escape of a text once. The decoded text may contain escapes again."""
    edits: list[Edit] = []
    for sign, find in _FINDERS:
        if sign in text:
            edits += find(text)
    edits.sort()
    kept: list[Edit] = []
    for edit in edits:
        if not kept or edit[0] >= kept[-1][1]:
            kept.append(edit)
    return kept


def _entities(text: str) -> Iterator[Edit]:
    for match in _ENTITY.finditer(text):
        words = html.unescape(match[0] if match[0].endswith(";") else match[0] + ";")
        if words != match[0] and not words.startswith("&" + match[0][1:]):
            yield *match.span(), words


def _percents(text: str) -> Iterator[Edit]:
    if not any(behind[:1] in _HEX for behind in text.split("%")[1:]):
        return
    if "%25" in text:
        for match in _PERCENT_TWICE.finditer(text):
            yield *match.span(), match[0].replace("%25", "%")
    for match in _PERCENT_TOKEN.finditer(text):
        if (said := _utf8(_PERCENT_ONE.sub(_byte, match[0]).encode("latin-1", "replace"))) is not None:
            yield *match.span(), said
    if "%u" in text:
        for match in _PERCENT_U.finditer(text):
            yield *match.span(), _code_points(match[0].replace("%", "\\"))
    for match in _PERCENT.finditer(text):
        start, end = match.span()
        raw = bytes.fromhex(match[0].replace("%", ""))
        words = _utf8(raw)
        if words is None:
            continue
        before, after = text[start - 1 : start], text[end : end + 1]
        if before.isdigit() or before == "%":
            sure = len(raw) >= 3 and words.isalnum()
        elif len(raw) == 1:
            sure = (before.isalpha() and after.isalnum()) or (words.isalpha() and after.isalpha() and before in _OPENS)
        else:
            sure = any(map(str.isalnum, words)) or (before.isalpha() and after.isalnum())
        if sure:
            yield start, end, words


def _byte(code: re.Match[str]) -> str:
    return chr(int(code[0][1:], 16))


def _backslashes(text: str) -> Iterator[Edit]:
    if is_rtf(text):  # other escapes are found in the next pass, after RTF is decoded
        yield from rtf_edits(text)
        return
    for match in _BACKSLASH.finditer(text):
        words = _code_points(match[0])
        if words and all(c.isprintable() or c in "\n\r\t\u00ad" or unicodedata.category(c) == "Cf" for c in words):
            yield *match.span(), words
    if "|" in text or "\\.br\\" in text:
        for match in _HL7.finditer(text):
            yield *match.span(), _hl7(match[0][1:-1])
    for match in _RTF_POINTS.finditer(text):
        yield *match.span(), "".join(chr(int(n)) for n in re.findall(r"\d+", match[0]) if int(n) < 0x10000)
    if "\\'" in text:
        for match in _RTF.finditer(text):
            yield *match.span(), bytes.fromhex(match[0][2:]).decode("cp1252", "replace")
    for match in _TEX.finditer(text):
        start, end = match.span()
        letter = match["letter"] or match["under"] or _TEX_LETTERS.get(match["whole"] or "", "a")
        beside = text[start - 1 : start].isalpha() or text[end : end + 1].isalpha()
        if beside and (not match["whole"] or match[0][-1] in "} "):
            if match[0].endswith("}") and not match[0].startswith("{") and match[0].count("}") > match[0].count("{"):
                end -= 1
            yield start, end, letter


def _named_points(text: str) -> Iterator[Edit]:
    for match in _POINT.finditer(text):
        words = "".join(map(_code_points, _ONE_POINT.findall(match[0])))
        if words.isprintable() and any(map(str.isalnum, words)):
            yield *match.span(), words


def _char_calls(text: str) -> Iterator[Edit]:
    for match in _SQL.finditer(text):
        words = "".join(chr(int(number)) for number in re.findall(r"\d+", match[0]))
        if words.isprintable():
            yield *match.span(), words
    for match in _CODES.finditer(text):
        words = "".join(chr(int(number)) for number in re.findall(r"\d+", match[0]))
        if words.isprintable():
            yield *match.span(), words


def _hl7(code: str) -> str:
    if code.startswith("X"):
        return (_utf8(bytes.fromhex(code[1:])) if len(code) % 2 else None) or ""
    return "\n" if code == ".br" else " " if code.startswith(".") else _HL7_SIGNS.get(code, "")


def _code_points(code: str) -> str:
    try:
        if code.startswith("\\N"):
            return unicodedata.lookup(code[3:-1])
        if code.startswith(("\\u", "\\U", "\\x", "U+")):
            if code.startswith("\\u") and "{" not in code:
                units = re.findall(r"\\u([0-9a-fA-F]{4})", code)
                return b"".join(int(u, 16).to_bytes(2, "little") for u in units).decode("utf-16-le")
            return chr(int(code[2:].strip("{}"), 16))
        if _CSS.fullmatch(code):
            return "".join(chr(int(point, 16)) for point in _CSS_POINT.findall(code))
        return _utf8(bytes(int(octal, 8) & 255 for octal in code[1:].split("\\"))) or ""
    except (ValueError, KeyError, OverflowError):
        return ""


def _equals(text: str) -> Iterator[Edit]:
    if "=?" in text:
        from email.errors import HeaderParseError
        from email.header import decode_header

        for match in _MIME.finditer(text):
            try:
                parts = decode_header(match[0])
                words = "".join(p if isinstance(p, str) else p.decode(charset or "ascii") for p, charset in parts)
            except (HeaderParseError, UnicodeDecodeError, LookupError, binascii.Error):
                continue
            yield *match.span(), words
    if not _QP_SURE.search(text):
        return
    for match in _SOFT_BREAK.finditer(text):
        if not _CODED.search(text[max(0, match.start() - 80) : match.start()].rpartition("\n")[2].rpartition(" ")[2]):
            yield *match.span(), ""
    for match in _QP_SIGN.finditer(text):
        yield *match.span(), chr(int(match[0][1:], 16))
    declared = "quoted-printable" in text.lower()
    for match in _QP.finditer(text):
        start, end = match.span()
        said = _utf8(bytes.fromhex(match[0].replace("=", "")))
        beside = text[start - 1 : start].isalpha() and text[end : end + 1].isalpha()
        if said is not None and (end - start > 3 or said == "=" or (beside and (declared or not said.isalnum()))):
            yield start, end, said


def _utf7(text: str) -> Iterator[Edit]:
    for match in _UTF7.finditer(text):
        code = match[1] or match[2]
        bits = "".join(f"{_SIX.index(c):06b}" for c in code)
        if len(bits) % 16 >= 6 or "1" in bits[len(bits) // 16 * 16 :]:
            continue
        try:
            raw = base64.b64decode(code + "=" * (-len(code) % 4))
            words = raw[: len(raw) // 2 * 2].decode("utf-16-be")
        except (binascii.Error, UnicodeDecodeError):
            continue
        most = 0x500 if match[1] else 0x180
        if words and all(c.isprintable() and ord(c) < most for c in words):
            yield match.start() - (not match[1]), match.end(), words


def _utf8(raw: bytes) -> str | None:
    """Return bytes as text if they are UTF-8 or Windows-1252 and hold only printable or format characters."""
    for codec in ("utf-8", "cp1252"):
        try:
            words = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        if all(c.isprintable() or c in "\n\r\t" or unicodedata.category(c) == "Cf" for c in words):
            return words
    return None


_SIX = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_FINDERS: tuple[tuple[str, Callable[[str], Iterator[Edit]]], ...] = (
    ("&", _entities),
    ("%", _percents),
    ("\\", _backslashes),
    ("=", _equals),
    ("+", _utf7),
    ("U+", _named_points),
    *((call, _char_calls) for call in ("char(", "CHAR(", "Char(", "chr(", "CHR(", "Chr(", "CharCode(")),
)


def is_rtf(text: str) -> bool:
    """Whether a text with a backslash clearly contains RTF."""
    return _RTF_SURE.search(text) is not None and not any(sign in text for sign in _TEX_WORDS)


def rtf_edits(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that keep only what a reader of the RTF sees."""
    groups: list[bool] = []  # for each open group, whether it begins with a control word
    for match in _RTF_TOKEN.finditer(text):
        if code := match["code"]:
            yield *match.span(), bytes.fromhex(code).decode("cp1252", "replace")
        elif sign := match["sign"]:
            yield *match.span(), _RTF_SIGNS[sign]
        elif match["brace"] == "{":
            groups.append(False)
        elif match["brace"]:
            if groups and groups.pop():
                yield *match.span(), ""
        else:
            if match["opens"]:
                groups.append(True)
            yield *match.span(), _RTF_BREAKS.get(match["word"], "")
