"""A keyed code: equal identifiers of one domain stay linked, and nobody without the key can try values out.

An unkeyed hash of an identifier is the identifier: there are only a billion social security numbers to try.
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
    """HMAC-SHA256 under the domain's key, `length` hexadecimal digits of it."""

    name = "hash"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        length: int = self.param(params, "length")
        return pseudonym(span.text, context.keyring, context.domain, length)


def pseudonym(value: str, keyring: Keyring, domain: str, length: int = 16) -> str:
    """The code of a value within a domain; record fields and spans share it, so that they link.

    Values that differ only in Unicode form (NFKC), invisible characters or white space share a code. Case counts: ids
    may differ by it. It folds no more than that, and less than a reading: codes that were handed out must stay.

    Args:
        length: hexadecimal digits, 16 to 64.
    """
    plain = " ".join(unicodedata.normalize("NFKC", visible(value)).split())
    return keyring.mac("hash", plain, domain).hex()[:length]
