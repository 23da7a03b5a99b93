"""What Presidio's /anonymize does to a marked stretch: replace, redact, mask, hash, keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from incognote.errors import UsageError
from incognote.keys import Keyring

_MORE = 1_000_000
NAMES = ("hash", "keep", "mask", "redact", "replace")


class Marked(BaseModel):
    """One stretch, as /analyze tells it."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    entity_type: str = Field(min_length=1, max_length=200)
    score: float = 0.0


class Anonymizer(BaseModel):
    """What is done to a type; which parameters count depends on `type`."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    type: Literal["replace", "redact", "mask", "hash", "keep"] = "replace"
    new_value: str | None = None
    masking_char: str = Field(default="*", min_length=1, max_length=1)
    chars_to_mask: int = Field(default=0, ge=0)
    from_end: bool = False
    hash_type: Literal["sha256"] = "sha256"


class Item(BaseModel):
    """What stands in the new text in the place of a stretch."""

    start: int
    end: int
    entity_type: str
    text: str
    operator: str


class Written(BaseModel):
    """The new text, and its items from the last to the first."""

    text: str
    items: list[Item]


def anonymized(
    text: str, marked: Sequence[Marked], anonymizers: Mapping[str, Anonymizer], keyring: Keyring
) -> Written:
    """Put the replacements in. Of stretches that overlap, the whole is replaced: what one leaves is the other's.

    Raises:
        UsageError: a stretch that does not fit the text, or a new text of no sensible length.
    """
    longest = 2 * len(text) + _MORE
    pieces: list[str] = []
    items: list[Item] = []
    done = length = 0
    for one in _disjoint(text, marked):
        how = anonymizers.get(one.entity_type) or anonymizers.get("DEFAULT") or Anonymizer()
        new = _new(text[one.start : one.end], one.entity_type, how, keyring)
        pieces += [text[done : one.start], new]
        start = length + one.start - done
        length = start + len(new)
        if length > longest:
            raise UsageError(f"anonymizers: the new text is longer than twice the old one and {_MORE:,} more")
        done = one.end
        items.append(Item(start=start, end=length, entity_type=one.entity_type, text=new, operator=how.type))
    pieces.append(text[done:])
    return Written(text="".join(pieces), items=items[::-1])


def _disjoint(text: str, marked: Sequence[Marked]) -> list[Marked]:
    """The longest of those that lie within one another; one that begins within another begins where that ends."""
    if any(not one.start < one.end <= len(text) for one in marked):
        raise UsageError("analyzer_results: a stretch does not fit the text")
    kept: list[Marked] = []
    for one in sorted(marked, key=lambda one: (one.start, -one.end, -one.score)):
        floor = kept[-1].end if kept else 0
        if one.end > floor:
            kept.append(one.model_copy(update={"start": max(one.start, floor)}))
    return kept


def _new(words: str, kind: str, how: Anonymizer, keyring: Keyring) -> str:
    if how.type == "replace":
        return how.new_value or f"<{kind}>"
    if how.type == "mask":
        count = min(how.chars_to_mask, len(words))
        hidden = how.masking_char * count
        return words[: len(words) - count] + hidden if how.from_end else hidden + words[count:]
    if how.type == "hash":
        return keyring.mac("hash", words, "presidio").hex()
    return "" if how.type == "redact" else words
