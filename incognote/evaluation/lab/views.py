"""A prompt as a person reads it: its own words, placeholders and all, what it says of types, its examples."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff

from incognote.prompts.loader import SECTIONS, Prompt
from incognote.prompts.overlay import Guideline


def shown(prompt: Prompt, types: Mapping[str, str], *, examples: bool = False) -> str:
    """The whole prompt.

    Args:
        types: the types it would be asked about, with the catalogue's lines.
        examples: with their texts, which may be words of notes; else only what is in them is counted.
    """
    parts = [f"# {prompt.name} · contract {prompt.contract} · version {prompt.version}"]
    for name in (*SECTIONS, "input", "several_input"):
        if name in prompt.sections:
            parts.append(f"[{name}]\n{prompt.sections[name]}")
    lines = [f"{name}: {prompt.guidelines.get(name, Guideline()).line(about)}" for name, about in types.items()]
    parts.append("[types]\n" + "\n".join(lines))
    for number, one in enumerate(prompt.examples, 1):
        kinds = ", ".join(sorted({type_ for _, _, type_ in one.found})) or "nothing"
        head = f"[example {number}] {len(one.text):,} characters, {len(one.found)} identifiers: {kinds}"
        parts.append(f"{head}\n{one.marked}" if examples else head)
    return "\n\n".join(parts) + "\n"


def difference(first: Prompt, second: Prompt, types: Mapping[str, str], *, examples: bool = False) -> str:
    """A unified diff of what is shown of two prompts; "" where they are the same."""
    one, other = (shown(each, types, examples=examples).split("\n")[1:] for each in (first, second))
    before, after = (f"{each.name} {each.version}" for each in (first, second))
    return "".join(line + "\n" for line in unified_diff(one, other, before, after, lineterm="", n=1))
