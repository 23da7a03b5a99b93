"""Versioned prompts, one file per agent and version, with the contracts of their replies and the fencing of notes."""

from __future__ import annotations

import hashlib

from incognote.text.escapes import LONE_SURROGATE

PAIRS = (("<<", ">>"), ("{{", "}}"), ("\u27e6", "\u27e7"), ("\u2983", "\u2984"))


def sendable(text: str) -> str:
    """Replace what UTF-8 or a server's JSON cannot carry (NUL, lone surrogates) by U+FFFD, one for one."""
    return LONE_SURROGATE.sub("\ufffd", text).replace("\x00", "\ufffd")


def fence(text: str) -> str:
    """Return a line that the text does not contain. Its author could not foresee it, since it is a hash of the text."""
    turn = 0
    while True:
        line = "=== " + hashlib.sha256(f"{turn}\x1f{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16] + " ==="
        if line not in text:
            return line
        turn += 1


def marks(text: str) -> tuple[str, str]:
    """Return an opening and a closing mark that the text does not contain.

    They are longer if it contains every shipped pair.
    """
    for opening, closing in PAIRS:
        if opening not in text and closing not in text:
            return opening, closing
    times = 2
    while (opening := PAIRS[-1][0] * times) in text or (closing := PAIRS[-1][1] * times) in text:
        times += 1
    return opening, closing
