"""Overlays written as TOML files that `prompts.loader` reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from incognote.files.atomic import write_whole
from incognote.prompts.shots import Example


def based(prompt: str, place: Path) -> str:
    """How an overlay at `place` names a prompt that was given as `--prompt` takes it."""
    if not prompt.endswith(".toml"):
        return prompt
    return os.path.relpath(Path(prompt).expanduser().resolve(), place.resolve().parent)


def write(
    place: Path,
    base: str,
    about: str,
    *,
    replaced: Mapping[str, str] | None = None,
    examples: Sequence[Example] = (),
    provenance: Mapping[str, object] | None = None,
) -> None:
    """Write an overlay, readable by its owner only: examples are words of notes.

    Args:
        base: as `based` gives it.
        replaced: the new line of each type.
        provenance: where it comes from; strings, numbers and lists of them.

    Raises:
        IncognoteError: the place cannot be written.
    """
    lines = [f"base = {_text(base)}", f"about = {_text(about)}"]
    if provenance:
        lines += ["", "[provenance]", *(f"{key} = {_value(value)}" for key, value in provenance.items())]
    for name, line in (replaced or {}).items():
        lines += ["", f"[entities.{name}]", f"replace = {_text(line)}"]
    for one in examples:
        lines += ["", "[[examples]]", f"text = {_text(one.marked)}"]
    write_whole(place, ("\n".join(lines) + "\n").encode(), private=True)


def _value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    """A basic string of TOML: JSON's, but that DEL must be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
