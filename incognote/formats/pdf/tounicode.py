"""The map from the codes of a PDF font to characters, and functions: programs of words from a list."""

from __future__ import annotations

import re
from collections.abc import Mapping

from incognote.errors import MalformedRecord
from incognote.formats.pdf import closed

_BLOCK = 100  # the most entries of a block
_UNKNOWN = "\ufffd"
_MAP = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<{first}> <{last}>
endcodespacerange
{entries}endcmap
CMapName currentdict /CMap defineresource pop
end
end
"""


def unicode_map(texts: Mapping[bytes, str]) -> bytes:
    """Return the map of codes of the same length, sorted by code. A code with the text "" gets the sign for unknown."""
    size = max(map(len, texts))
    hexes = {code.hex(): (text or _UNKNOWN).encode("utf-16-be").hex() for code, text in sorted(texts.items())}
    lines = [f"<{code}> <{text}>\n" for code, text in hexes.items()]
    blocks = [lines[at : at + _BLOCK] for at in range(0, len(lines), _BLOCK)]
    body = "".join(f"{len(block)} beginbfchar\n{''.join(block)}endbfchar\n" for block in blocks)
    return _MAP.format(first="00" * size, last="ff" * size, entries=body).encode()


_COMMENT = re.compile(rb"%[^\r\n]*")
_TOKEN = re.compile(rb"<<|>>|<[0-9A-Fa-f\s]*>|\([^()\\]*\)|/[^\s<>()\[\]{}/%]*|[\[\]{}]|[^\s<>()\[\]{}/%]+|[^\s]")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NAME = b"/Adobe-Identity-UCS"
_LONG = 40  # digits of the characters of a code; more is no letter


def plain_map(data: bytes) -> bytes:
    """Return a map without comments, and without words, names, and strings that are in no list.

    It stays as it is if there are none.
    """

    def plain(found: re.Match[bytes]) -> bytes:
        token = found[0]
        word = token.decode("latin-1").lstrip("/")
        if token.startswith(b"("):
            return token if word[1:-1] in closed.SYSTEMS else b"(UCS)"
        if token.startswith(b"/"):
            is_known = word in closed.words("maps") or f"/{word}" in closed.values()
            return token if is_known or token == _NAME else _NAME
        if token.startswith(b"<") and token != b"<<":
            return token if len(token) <= _LONG + 2 else b"<fffd>"
        is_known = token in (b"<<", b">>", b"[", b"]") or word in closed.words("maps") or bool(_NUMBER.fullmatch(token))
        return token if is_known else b""

    return _TOKEN.sub(plain, _COMMENT.sub(b"", data))


def plain_function(data: bytes) -> bytes:
    """Return a function without comments.

    Raises:
        MalformedRecord: it has a word that is in no list.
    """
    tokens = _TOKEN.findall(_COMMENT.sub(b"", data))
    known = closed.words("functions")
    if not all(t in b"{}" or _NUMBER.fullmatch(t) or t.decode("latin-1") in known for t in tokens):
        raise MalformedRecord("a function that cannot be read. Print the document to a new PDF")
    return b" ".join(tokens) if b"%" in data else data
