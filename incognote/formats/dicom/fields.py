"""The values of an instance that may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from incognote.formats.base import FieldAction
from incognote.formats.dicom.profile import Code


class Value(NamedTuple):
    """One value of an element: a stretch of the text, a structured field, or characters that stay."""

    written: str
    field: str
    action: FieldAction | None = None
    is_text: bool = False


@dataclass(eq=False)
class Place:
    """An element that is written anew if one of its values changes.

    Args:
        vr: its value representation in the output.
        otherwise: what happens if the policy gives it no value.
    """

    vr: str
    values: list[Value]
    codecs: Sequence[str]
    otherwise: Code = "remove"


@dataclass(frozen=True)
class Facts:
    """What an original shows about its output.

    Args:
        texts: the fields of the values that are texts.
        cut: by field, the value as it is written and the longer one that the representation cannot hold.
    """

    texts: frozenset[str]
    cut: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
