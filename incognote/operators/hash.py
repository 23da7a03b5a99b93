"""Keyed hashes: equal identifiers in one domain stay linked, and values cannot be guessed without the key.

A hash without a key reveals the identifier: there are only a billion Social Security numbers to try.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Mapping
from typing import Any

from incognote.keys import Keyring
from incognote.nouns import Span
from incognote.operators.base import Operator, OperatorContext
from incognote.text.characters import visible

_31, _63 = 1 << 31, 1 << 63
_ROUNDS = 10  # as in FF1 of NIST SP 800-38G


class Hash(Operator):
    """The first `length` hexadecimal digits of an HMAC-SHA256 with the domain's key."""

    name = "hash"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        length: int = self.param(params, "length")
        return pseudonym(span.text, context.keyring, context.domain, length)


def pseudonym(value: str, keyring: Keyring, domain: str, length: int = 16) -> str:
    """Return the hash of a value within a domain. Record fields and spans use the same hashes, so they can be linked.

    Values that differ only in Unicode form (NFKC), invisible characters or white space have the same hash. Case counts,
    because ids may differ by it. Values are folded no further, and less than in a reading, because hashes must not
    change once they are released.

    Args:
        value: the value.
        keyring: the keyring.
        domain: the domain.
        length: the number of hexadecimal digits, 16 to 64.
    """
    plain = " ".join(unicodedata.normalize("NFKC", visible(value)).split())
    return keyring.mac("hash", plain, domain).hex()[:length]


def keyed_integer(value: int, keyring: Keyring, domain: str) -> int:
    """Return the integer that replaces an integer within a domain, so that keys of tables stay keys.

    The mapping is one to one, so two values never share an integer. It keeps the sign, and whether the value fits in 31
    or 63 bits, so the result fits in the column of the value. It is a Feistel network with HMAC-SHA256, repeated until
    the result is in the range of the value.

    Raises:
        ValueError: the value needs more than 63 bits.
    """
    at = value if value >= 0 else -value - 1  # so that -1 does not share the place of 1
    half, low, high = (16, 0, _31) if at < _31 else (32, _31, _63)
    if at >= high:
        raise ValueError("the value needs more than 63 bits")
    key = keyring.derive("hash", domain, "integer")
    while True:
        left, right = at >> half, at & ((1 << half) - 1)
        for step in range(_ROUNDS):
            mixed = hmac.digest(key, f"{half} {step} {right}".encode(), "sha256")
            left, right = right, left ^ int.from_bytes(mixed[: half // 8], "big")
        at = left << half | right
        if low <= at < high:
            return at if value >= 0 else -at - 1
