"""The values of an instance that may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from incognote.formats.base import FieldAction
from incognote.formats.dicom.profile import Code


class Value(NamedTuple):
    """One value of an element: a text, a structured field, or characters that stay.

    Args:
        before, after: the characters around the text that stay whatever is found in it.
    """

    written: str
    field: str
    action: FieldAction | None = None
    is_text: bool = False
    before: str = ""
    after: str = ""

    def text_of(self, written: str) -> str:
        """Return the text in a value, without the characters that stay: all of it if they are not there."""
        if not written.startswith(self.before) or not written[len(self.before) :].endswith(self.after):
            return written
        return written[len(self.before) : len(written) - len(self.after)]


@dataclass(eq=False)
class ElementValues:
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
        texts: the fields of the values that are texts, with the characters before and after each text.
        cut: by field, the value as it is written and the longer one that the representation cannot hold.
    """

    texts: Mapping[str, tuple[str, str]] = field(repr=False)
    cut: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
