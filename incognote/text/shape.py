"""The shape of a text: the kind of each character. A plain search in it is much faster than a pattern in the text.

A shape has one byte for each code point: `a` and `A` for letters, `0` for digits, other ASCII characters unchanged.
"""

from __future__ import annotations

import re


def _kind(byte: int) -> int:
    c = chr(byte)
    return 0x80 if byte > 127 else ord("a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else c)


_KINDS = bytes(map(_kind, range(256)))
_LETTERS = bytes(chr(b).isalpha() or chr(b) == "?" or b > 127 for b in range(256))  # non-ASCII may be letters
_DIGITS = bytes(b < 128 and chr(b).isdigit() for b in range(256))
_PLAIN = bytes(b < 128 and chr(b).isalnum() for b in range(256))
# Sequences of letters, digits and symbols that do not occur in plain words, but in file names and odd numbers.
_SEAMS = (
    b"aA",
    b"a0",
    b"A0",
    b"0a",
    b"0A",
    b"AAaaa",
    b"_",
    b"aa.aaa",
    b"0-AAA",
    b"000:000:0000",
)
# The same with a symbol that most texts lack: a search for one byte is much faster than for two.
_SIGNED = ((b"@", (b"a@",)), (b"|", (b"a|",)), (b"=", (b"a=", b"A=", b"0=")), (b"$", (b"$a",)))
_RUN = re.compile(r"\S+")


def shape(text: str) -> bytes:
    """Return the shape of a text."""
    return text.encode("latin-1", "replace").translate(_KINDS)


def apart(kinds: bytes) -> tuple[bool, bool]:
    """Whether a text of this shape may contain spaced-out single letters, and spaced-out single digits."""
    letters = int.from_bytes(kinds.translate(_LETTERS), "little")
    digits = int.from_bytes(kinds.translate(_DIGITS), "little")
    plain = int.from_bytes(kinds.translate(_PLAIN), "little")
    alone = ~(plain << 8 | plain >> 8)  # one byte per character: neither of its neighbors is alphanumeric
    return _three(letters & alone), _three(digits & alone)


def _three(alone: int) -> bool:
    """Whether three single characters follow one another at equal distances, with one to three characters between."""
    return any(alone & alone >> 8 * step & alone >> 16 * step for step in (2, 3, 4))


def odd_tokens(text: str, kinds: bytes) -> list[tuple[int, str]]:
    """Return the unspaced runs that are not plain words and have at least four characters, as (start, run).

    Args:
        kinds: the shape of the text.
    """
    seams: list[int] = []
    for seam in (*_SEAMS, *(seam for sign, signed in _SIGNED if sign in kinds for seam in signed)):
        at = kinds.find(seam)
        while at >= 0:
            seams.append(at)
            at = kinds.find(seam, at + 1)
    found: list[tuple[int, str]] = []
    end = 0
    for at in sorted(seams):
        if at >= end:
            token = _RUN.search(text, _begin(text, at))
            assert token is not None  # the match contains the seam
            end = token.end()
            if len(token[0]) > 3:
                found.append((token.start(), token[0]))
    return found


def _begin(text: str, at: int) -> int:
    while at > 0 and not text[at - 1].isspace():
        at -= 1
    return at
