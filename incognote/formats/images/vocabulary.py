"""The labels of identifiers on pages."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from incognote.formats.xlsx import vocabulary
from incognote.formats.xlsx.vocabulary import LONGEST, ColumnLabel
from incognote.schemas.catalogue import catalogue

_TRIMMED = " .:*?\u00a0\t\n\"'"


def label_of(words: str) -> ColumnLabel | None:
    """Return what words on a page say about the words next to them, or None if they are no label.

    A label of a list comes before what the words of a label tell.
    """
    if len(words) > LONGEST or "[" in words:
        return None
    plain = _plain(words)
    listed = None if vocabulary.is_label(words) else _labels().get(plain)
    return listed or vocabulary.label_of(words) or _labels().get(plain.removesuffix(" no"))


@cache
def _labels() -> Mapping[str, ColumnLabel]:
    found: dict[str, ColumnLabel] = {}
    read: dict[str, Any] = tomllib.loads((files(__package__) / "labels.toml").read_text("utf-8"))
    for each in read["label"]:
        group = catalogue()[each["type"]].group
        action: Literal["hash", "date", "mask"] = (
            "hash" if group == "ID" else "date" if group in ("DATE", "AGE") else "mask"
        )
        one = ColumnLabel(each["type"], action, each["sure"])
        for label in " ".join(each["labels"].split()).split(", "):
            found.setdefault(_plain(label), one)
    return found


def _plain(words: str) -> str:
    """Return a label as it is in the list. `#` means a number."""
    return " ".join(words.lower().replace("_", " ").replace("#", " no ").strip(_TRIMMED).split())
