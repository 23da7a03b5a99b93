"""The second reader of RTF: striprtf, and a simple reader of all characters in all groups.

striprtf reads the body in the code pages of its fonts, but skips headers, notes, comments, and properties. The second
part knows no destination but those that striprtf lists. It skips nothing. Both find the texts without the code of the
first reader. Only the names and numbers that every document keeps are left out by the same rules (`closed.keeps`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress

from incognote.formats.rtf.closed import keeps

_RULES = {
    "fonttbl": "fonts", "stylesheet": "styles", "fldinst": "field", "sn": "shapes", "sv": "value",
    **dict.fromkeys(("bkmkstart", "bkmkend", "ffname"), "bookmark"),
    **dict.fromkeys(("atnref", "atrfstart", "atrfend", "atnparent"), "number"),
}  # fmt: skip
_PIECE = re.compile(
    rb"([{}])|\\u(-?\d+) ?|\\([A-Za-z]+)(-?\d*) ?|((?:\\'[0-9A-Fa-f]{2})+)|\\(.)|([\r\n]+)|([^\\{}\r\n]+)", re.DOTALL
)
_FONT = re.compile(rb"\\f(\d+)[^{};]{0,200}?\\fcharset(\d+)")
_FIELD = re.compile(r"(?<!\\)\{\\field")
_BREAKS = frozenset(b"par line sect page column row nestrow tab cell nestcell".split())
_SIGNS = {b"emdash": "\u2014", b"endash": "\u2013", b"lquote": "\u2018", b"rquote": "\u2019",
          b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"bullet": "\u2022"}  # fmt: skip
_SYMBOLS = {b"~": "\xa0", b"_": "\u2011", b"\r": "\n", b"\n": "\n", b"\t": "\n", b"-": ""}


_TEXT = "".join(map(chr, range(0x20, 0x7F)))
_ASCII = _TEXT.encode()


def texts(data: bytes) -> Iterable[str]:
    """Yield what striprtf reads, and then the lines of every group.

    Raises:
        Exception: the bytes cannot be read.
    """
    from striprtf.striprtf import charset_map, destinations, rtf_to_text

    page = re.search(rb"\\ansicpg(\d+)", data)
    is_mac = re.search(rb"\\mac\b|\\ansicpg10000\b", data) is not None  # Python has no name for that code page
    default = "mac_roman" if is_mac else "cp" + page[1].decode() if page and page[1] != b"0" else "cp1252"
    for number in re.findall(rb"\\(?:ansi)?cpg(\d+)", data):
        with suppress(LookupError):
            if _ASCII.decode(f"cp{int(number)}") != _TEXT:
                raise ValueError("a code page in which ASCII means other characters")
    lines = _FIELD.sub("\n{\\\\field", data.decode("latin-1"))  # striprtf searches the whole line of every field
    lines = lines.replace("\\ansicpg10000", "")
    yield rtf_to_text(lines, default, "replace")  # type: ignore[no-untyped-call]  # striprtf has no types
    fonts = [(int(font), int(charset)) for font, charset in _FONT.findall(data)]
    charsets = {font: default if charset == 1 else charset_map.get(charset, default) for font, charset in fonts}
    yield from _lines(data, default, charsets, frozenset(destinations))


def _lines(data: bytes, default: str, charsets: dict[int, str], destinations: frozenset[str]) -> Iterator[str]:
    """Yield the characters between line breaks. A destination has lines of its own; other groups do not."""
    spare: list[str] = []
    line: list[str] = []
    state = ("", 1, default, line)  # the destination, the number of fallback characters, the code page, and the line
    stack: list[tuple[str, int, str, list[str]]] = []
    skip = 0
    for brace, number, word, value, octets, symbol, _, run in _PIECE.findall(data):
        destination, uc, charset, line = state
        name = word.decode()
        if brace == b"{":
            skip = 0
            stack.append(state)
        elif brace:
            skip = 0
            state = stack.pop() if stack else state
            if state[3] is not line:
                yield from _shown(line, destination)
        elif number:
            line.append(chr(int(number) % 0x10000 if int(number) < 0x10000 else int(number)))
            skip = uc
        elif name in destinations or word in (b"sn", b"sv") or symbol == b"*":
            state = (name if word else destination, uc, charset, [])
        elif word == b"uc":
            state = (destination, int(value or 1), charset, line)
        elif word == b"f":
            state = (destination, uc, charsets.get(int(value or 0), default), line)
        elif word in _BREAKS or (symbol and symbol in b"\r\n\t"):
            yield from _shown(line, destination)
        elif octets or run or symbol:
            plain = bytes.fromhex(octets.replace(b"\\'", b"").decode()) if octets else run
            shown = plain.decode(charset, "replace") if plain else _SYMBOLS.get(symbol, symbol.decode("latin-1"))
            if skip:
                own = line[-1] + unicodedata.normalize("NFKD", line[-1])
                spare += (c for c in shown[:skip] if c.isalnum() and c.casefold() not in own.casefold())
            line.append(shown[skip:])
            skip = max(skip - len(shown), 0)
        elif word:
            skip = 0
            line.append(_SIGNS.get(word, ""))
    yield from _shown(state[3], state[0])
    yield "".join(spare)


def _shown(line: list[str], destination: str) -> Iterator[str]:
    """Yield a finished line and clear it. The names and numbers that every document keeps are left out."""
    text = "".join(line).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    line.clear()
    if text.strip() and not (destination in _RULES and keeps(_RULES[destination], text.strip())):
        yield text
