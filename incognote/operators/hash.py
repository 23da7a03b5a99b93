"""Keyed hashes: equal identifiers in one domain stay linked, and values cannot be guessed without the key.

A hash without a key reveals the identifier: there are only a billion Social Security numbers to try.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from incognote.keys import Keyring
from incognote.nouns import Span
from incognote.operators.base import Operator, OperatorContext
from incognote.text.characters import visible


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
