"""Overlays: a prompt told as what it changes in another one.

    base = "extract/v2"                # a shipped prompt, a prompt file, or another overlay (a path beside this file)
    languages = ["en", "es"]           # what it was written for, instead of the base's

    [sections]                         # instead of the base's
    role = "..."
    [append]                           # after the base's
    guidelines = "..."

    [entities.DATE]                    # what is said of a type, beside or instead of the catalogue's line
    add = "..."                        # or replace = "..."; or remove = true: what the base said of it goes
    [[examples]]                       # added to the base's; drop_examples = true takes those away first
    text = "Seen by [[PERSON|Ines Abara]] on [[DATE|3/1]]."

How a reply is written is the base's: the sections that say so, and those around the text, cannot be changed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incognote.errors import SettingError
from incognote.prompts.shots import Example
from incognote.schemas.catalogue import catalogue

CHANGEABLE = ("role", "guidelines", "controls", "context_awareness", "self_checklist")
_KEYS = ("base", "about", "languages", "sections", "append", "entities", "examples", "drop_examples", "provenance")
_SAYS = ("replace", "add", "remove")


@dataclass(frozen=True, slots=True)
class Guideline:
    """What a prompt says of a type: `about` instead of the catalogue's line where it is not None, `added` after it."""

    about: str | None = None
    added: str = ""

    def line(self, catalogued: str) -> str:
        """The type's line."""
        return " ".join(part for part in (catalogued if self.about is None else self.about, self.added) if part)


@dataclass(frozen=True, slots=True)
class Changed:
    """What an overlay makes of its base."""

    sections: dict[str, str]
    guidelines: dict[str, Guideline]
    examples: tuple[Example, ...]


def changed(
    written: Mapping[str, Any],
    sections: Mapping[str, str],
    guidelines: Mapping[str, Guideline],
    examples: tuple[Example, ...],
) -> Changed:
    """An overlay laid over a base's sections, guidelines and examples.

    Raises:
        SettingError: a key, section or type that there is not, or a value of the wrong kind; the message names it.
    """
    if unknown := sorted(set(written) - set(_KEYS)):
        raise SettingError(f"an overlay has no {', '.join(unknown)}; it takes {', '.join(_KEYS)}")
    if not isinstance(written.get("about", ""), str):
        raise SettingError("about: a text in quotes")
    made = dict(sections)
    for table in ("sections", "append"):
        for name, text in _table(written, table).items():
            if name not in CHANGEABLE:
                known = name in sections
                why = "how a reply is written is the base's; write a whole prompt file to change it" if known else (
                    "there is no such section"
                )  # fmt: skip
                raise SettingError(f"{table}.{name}: {why}; an overlay changes {', '.join(CHANGEABLE)}")
            if not isinstance(text, str) or not text.strip():
                raise SettingError(f"{table}.{name}: a text that is not empty")
            made[name] = text.strip() if table == "sections" else f"{made[name]}\n{text.strip()}"
    if "$types" not in made["controls"]:
        raise SettingError("sections.controls: it must hold $types, the list of what is asked for")
    told = dict(guidelines)
    for name, says in _table(written, "entities").items():
        told[name] = _guideline(name, says, told.get(name, Guideline()))
    dropped = written.get("drop_examples", False)
    if not isinstance(dropped, bool):
        raise SettingError("drop_examples: true or false")
    return Changed(
        made,
        {name: one for name, one in told.items() if one != Guideline()},
        (*(() if dropped else examples), *_examples(written.get("examples", []))),
    )


def _table(written: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = written.get(name, {})
    if not isinstance(table, Mapping):
        raise SettingError(f"{name}: write it as a table, [{name}]")
    return table


def _guideline(name: str, says: Any, before: Guideline) -> Guideline:
    if name not in catalogue():
        raise SettingError(
            f"entities.{name}: there is no such entity type; take one of {', '.join(sorted(catalogue()))}, or add your "
            "own in the policy's [entities]"
        )
    if not isinstance(says, Mapping) or not says or set(says) - set(_SAYS):
        raise SettingError(f"entities.{name}: it takes {', '.join(_SAYS)}")
    if "remove" in says:
        if says["remove"] is not True or len(says) > 1:
            raise SettingError(f"entities.{name}: remove = true stands alone")
        if before == Guideline():
            raise SettingError(f"entities.{name}: the base says nothing of it that could be removed")
        return Guideline()
    for key, text in says.items():
        if not isinstance(text, str) or not text.strip():
            raise SettingError(f"entities.{name}.{key}: a text that is not empty")
    about = _one_line(says["replace"]) if "replace" in says else before.about
    kept = "" if "replace" in says else before.added
    return Guideline(about, " ".join(part for part in (kept, _one_line(says.get("add", ""))) if part))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _examples(written: Any) -> list[Example]:
    if not isinstance(written, list):
        raise SettingError('examples: write each as [[examples]] with text = "..."')
    made = []
    for one in written:
        if not isinstance(one, Mapping) or set(one) != {"text"} or not isinstance(one["text"], str):
            raise SettingError('examples: each has text = "...", with its identifiers as [[TYPE|words]]')
        made.append(Example.of(one["text"].strip("\n")))
    return made
