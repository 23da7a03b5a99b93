"""Find encoded blocks: base64, hexadecimal, JSON Web Tokens, data URIs.

A block is decoded and read. If all its words are ordinary, it may stay. Any other block is removed. A long block that
cannot be decoded is also removed, because its content is unknown.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from incognote.text import Vocabulary

_LONG = 40  # characters: a shorter run that cannot be decoded is an ordinary code or a word
_JWT = re.compile(r"\beyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?")
_DATA = re.compile(r"\bdata:[\w.+-]*/?[\w.+-]*(?:;[\w.=+-]+)*,[^\s\"'<>)\]]+", re.IGNORECASE)
_BASE64 = re.compile(
    r"(?:(?<![\w+/=])|(?<=\w=)(?=[A-Za-z0-9+/]{6,80}={1,2}|(?:[A-Za-z0-9+/]{4}){3,100}(?![\w+/=-])))(?:[A-Za-z0-9+/_-]{8,}={0,2}|[A-Za-z0-9+/_-]{6,7}={1,2})(?![\w+/=])"
)
_WRAPPED = re.compile(r"(?<![\w+/=])(?:[A-Za-z0-9+/]{40,80}[ \t]*\r?\n[> \t]*)+[A-Za-z0-9+/]{1,80}={0,2}(?![\w+/=])")
_HEX = re.compile(r"(?<![\w.])(?:0[xX])?(?:[0-9a-fA-F]{2}){4,}(?!\w)")
_SPLIT_HEX = re.compile(
    r"(?<![\w.])(?:0[xX])?(?:[0-9a-fA-F]{2}){1,2}(?P<by>[ :,\\-]|, ?)"
    r"(?:(?:0[xX])?(?:[0-9a-fA-F]{2}){1,2}(?P=by){1,2}){2,}(?:0[xX])?(?:[0-9a-fA-F]{2}){1,2}(?!\w)"
)
_HEX_DIGITS = re.compile(r"(?<![\w.,/-])3\d(?:[ ]3\d){7,}(?![\w.,/%-])")
_PAIRS = b" ".join([b"00"] * 8)
_HEX_PAIR = re.compile(rb"0[aA][ :,\\-]")
_NAMED = re.compile(r"(?i)\b(base-?32|rot-?13)\b\W{1,4}((?-i:[A-Z2-7]{8,}={0,6}|[A-Z][a-z]+(?: [A-Z][a-z]+){0,3}))")
_BETWEEN = re.compile(r"[\s>]+")
_SIGNS = ".,:;@'\"()/-_+#{}[]=&<>!?"
_NO_HEX = re.compile(r"0[xX](?=[0-9a-fA-F]{2}(?:\W|\Z))|\A0[xX]|[ :,\\-]")
_WORDS = re.compile(r"[^\W\d_]+|\d+")


class Block(NamedTuple):
    """An encoded block of a text.

    Attributes:
        start, end: code points of the text.
        words: the decoded text, or None if it cannot be decoded.
    """

    start: int
    end: int
    words: str | None


def blocks(text: str, kinds: bytes, tokens: Sequence[tuple[int, str]], vocabulary: Vocabulary) -> Iterator[Block]:
    """Yield the encoded blocks of a text, in order and disjoint.

    Args:
        kinds: the shape of the text.
        tokens: the result of `shape.odd_tokens`.
    """
    found: list[Block] = []
    for at, token in tokens:
        if len(token) < 8:
            continue
        for sign, pattern, decode in _FORMS:
            for match in pattern.finditer(token) if sign in token else ():
                if (block := decode(match[0], vocabulary)) is not None:
                    found.append(Block(at + match.start(), at + match.end(), block[0]))
    if any(len(token) > 39 for _, token in tokens):
        for match in _WRAPPED.finditer(text):
            if (block := _based(match[0], vocabulary)) is not None:
                found.append(Block(*match.span(), block[0]))
    if _HEX_PAIR.search(kinds):
        for match in _SPLIT_HEX.finditer(text):
            if (block := _hex(match[0], vocabulary)) is not None:
                found.append(Block(*match.span(), block[0]))
    if _PAIRS in kinds:
        for match in _HEX_DIGITS.finditer(text):
            if len(set(match[0][1::3])) > 3:
                found.append(Block(*match.span(), match[0][1::3]))
    if any("32" in token or "13" in token for _, token in tokens):
        for match in _NAMED.finditer(text):
            words = _base32(match[2]) if "32" in match[1] else codecs.decode(match[2], "rot13")
            found.append(Block(*match.span(2), words))
    done = 0
    for one in sorted(found, key=lambda b: (b.start, -b.end)):
        if one.start >= done:
            yield one
            done = one.end


def ordinary(words: str, vocabulary: Vocabulary) -> bool:
    """Whether all decoded words are common, so that the block may stay."""
    return all(len(w) < 3 if w.isdigit() else vocabulary.usual(w.lower()) for w in _WORDS.findall(words))


# Each function takes a match of its pattern. It returns a tuple with the words (None if they are not readable), or
# None if the match is not a block.
_Decoded = tuple[str | None] | None


def _based(token: str, vocabulary: Vocabulary) -> _Decoded:
    kinds = (any(map(str.islower, token)), any(map(str.isupper, token)), any(map(str.isdigit, token)))
    if sum(kinds) < 2 and not token.endswith("="):
        return None
    if token.isalpha() and (token.istitle() or vocabulary.usual(token.lower())):
        return None
    code = _BETWEEN.sub("", token).replace("-", "+").replace("_", "/").rstrip("=")
    words = _plain(_unbased(code))
    if words is None and not (len(code) >= _LONG and all(kinds) and token.count("/") * 8 <= len(token)):
        return None
    return (words,)


def _hex(token: str, vocabulary: Vocabulary) -> _Decoded:
    code = _NO_HEX.sub("", token)
    if len(code) % 2 or not any(map(str.isalpha, code)):
        return None
    words = _plain(bytes.fromhex(code), "^|*")
    readable = words is not None and (any(map(str.isalpha, words)) or sum(map(str.isdigit, words)) > 5)
    return (words,) if readable else (None,) if len(code) >= 32 else None


def _jwt(token: str, vocabulary: Vocabulary) -> _Decoded:
    parts = [_plain(_unbased(part.replace("-", "+").replace("_", "/"))) for part in token.split(".")[:2]]
    return (None if None in parts else " ".join(part or "" for part in parts),)


def _data(uri: str, vocabulary: Vocabulary) -> _Decoded:
    head, _, body = uri.partition(",")
    if head.lower().endswith(";base64"):
        return (_plain(_unbased(body.rstrip("=").replace("-", "+").replace("_", "/"))),)
    from urllib.parse import unquote

    return (unquote(body),)


_FORMS = (("eyJ", _JWT, _jwt), (":", _DATA, _data), ("", _HEX, _hex), ("", _BASE64, _based))


def _base32(code: str) -> str | None:
    try:
        return _plain(base64.b32decode(code + "=" * (-len(code) % 8)))
    except binascii.Error:
        return None


def _unbased(code: str) -> bytes:
    try:
        return base64.b64decode(code + "=" * (-len(code) % 4), validate=True) if len(code) % 4 != 1 else b""
    except (binascii.Error, ValueError):
        return b""


def _plain(raw: bytes, more: str = "") -> str | None:
    """Return bytes as text if a person may have written it, else None.

    Args:
        more: symbols that are allowed in addition to the usual ones.
    """
    if len(raw) < 4:
        return None
    for codec in ("utf-8", "utf-16-le"):
        try:
            words = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        good = sum(c.isalnum() or c.isspace() or c in _SIGNS + more for c in words)
        plain = sum(c.isascii() or c.isalpha() for c in words)
        printable = all(c.isprintable() or c.isspace() for c in words)
        if printable and good == len(words) == plain and sum(map(str.isalnum, words)) * 2 > len(words):
            return words if codec == "utf-8" or (len(words) > 7 and words.isascii()) else None
    return None
