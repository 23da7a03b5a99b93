"""Presidio's /anonymize: replace, redact, mask, hash or keep marked spans."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from incognote.errors import UsageError
from incognote.keys import Keyring

_MORE = 1_000_000
_SALT = 16  # bytes, as in Presidio
NAMES = ("hash", "keep", "mask", "redact", "replace")


class Strict(BaseModel):
    """As in Presidio, a string is not accepted as a number, and unknown members are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, hide_input_in_errors=True)


class Marked(Strict):
    """A span, as /analyze returns it."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    entity_type: str = Field(min_length=1, max_length=200)
    score: float


class ReplaceOperator(Strict):
    """Replaces the span with `new_value`, or with its type in angle brackets."""

    type: Literal["replace"]
    new_value: str | None = None


class RedactOperator(Strict):
    """Removes the span."""

    type: Literal["redact"]


class MaskOperator(Strict):
    """Replaces characters with a masking character. As in Presidio, the parameters have no defaults."""

    type: Literal["mask"]
    masking_char: str = Field(min_length=1, max_length=1)
    chars_to_mask: int = Field(ge=1)
    from_end: bool


class HashOperator(Strict):
    """Replaces the span with a keyed hash. `salt` (at least 16 bytes) changes the hash."""

    type: Literal["hash"]
    hash_type: Literal["sha256", "sha512"] = "sha256"
    salt: str = ""

    @field_validator("salt")
    @classmethod
    def _long(cls, salt: str) -> str:
        if len(salt.encode("utf-8", "surrogatepass")) < _SALT:
            raise ValueError("too short")
        return salt


class KeepOperator(Strict):
    """Keeps the span and lists it in the result."""

    type: Literal["keep"]


Operator = ReplaceOperator | RedactOperator | MaskOperator | HashOperator | KeepOperator
Anonymizer = Annotated[Operator, Field(discriminator="type")]
"""The operator for a type. As in Presidio, there is no default."""


class OperatorResult(BaseModel):
    """A replacement in the new text."""

    start: int
    end: int
    entity_type: str
    text: str
    operator: str


class EngineResult(BaseModel):
    """The new text, and its replacements from the last to the first."""

    text: str
    items: list[OperatorResult]


def anonymized(
    text: str, marked: Sequence[Marked], anonymizers: Mapping[str, Operator], keyring: Keyring
) -> EngineResult:
    """Replace the marked spans.

    If spans overlap, their whole range is replaced, since one may cover what another leaves.

    Raises:
        UsageError: a span does not fit the text, or the new text would be too long.
    """
    longest = 2 * len(text) + _MORE
    pieces: list[str] = []
    items: list[OperatorResult] = []
    done = length = 0
    for one in _disjoint(text, marked):
        how = anonymizers.get(one.entity_type) or anonymizers.get("DEFAULT") or ReplaceOperator(type="replace")
        new = _new(text[one.start : one.end], one.entity_type, how, keyring)
        pieces += [text[done : one.start], new]
        start = length + one.start - done
        length = start + len(new)
        if length > longest:
            raise UsageError(f"anonymizers: the new text is longer than twice the old one and {_MORE:,} more")
        done = one.end
        items.append(OperatorResult(start=start, end=length, entity_type=one.entity_type, text=new, operator=how.type))
    pieces.append(text[done:])
    return EngineResult(text="".join(pieces), items=items[::-1])


def _disjoint(text: str, marked: Sequence[Marked]) -> list[Marked]:
    """Return disjoint spans.

    Of nested spans the longest is kept. A span that begins inside another is cut at its start.
    """
    if any(not one.start < one.end <= len(text) for one in marked):
        raise UsageError("analyzer_results: an offset is outside the text")
    kept: list[Marked] = []
    for one in sorted(marked, key=lambda one: (one.start, -one.end, -one.score)):
        floor = kept[-1].end if kept else 0
        if one.end > floor:
            kept.append(one.model_copy(update={"start": max(one.start, floor)}))
    return kept


def _new(words: str, kind: str, how: Operator, keyring: Keyring) -> str:
    match how:
        case ReplaceOperator():
            return how.new_value or f"<{kind}>"
        case MaskOperator():
            count = min(how.chars_to_mask, len(words))
            hidden = how.masking_char * count
            return words[: len(words) - count] + hidden if how.from_end else hidden + words[count:]
        case HashOperator():
            scope = ("presidio", how.salt) if how.salt else ("presidio",)
            key = keyring.derive("hash", *scope)
            return hmac.new(key, words.encode("utf-8", "surrogatepass"), how.hash_type).hexdigest()
        case RedactOperator():
            return ""
        case KeepOperator():
            return words
