"""Random characters from a pattern such as `##-??`."""

from __future__ import annotations

from random import Random
from string import ascii_lowercase, ascii_uppercase


def signs(pattern: str, random: Random) -> str:
    """Draw characters for a pattern."""
    out = []
    for sign in pattern:
        if sign == "#":
            sign = random.choice("0123456789")
        elif sign == "%":
            sign = random.choice("123456789")
        elif sign == "?":
            sign = random.choice(ascii_uppercase)
        elif sign == "&":
            sign = random.choice(ascii_lowercase)
        elif sign == "*":
            sign = random.choice("0123456789abcdef")
        out.append(sign)
    return "".join(out)
