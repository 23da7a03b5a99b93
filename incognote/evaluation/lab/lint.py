"""What is amiss with a prompt although it loads: it would be asked, and not do what its author thinks.

A prompt as a person reads it: its own words, placeholders and all, what it says of types, its examples.

No document is scored with a prompt that quotes it, and no test set feeds a prompt.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from incognote.errors import UsageError
from incognote.evaluation.experiments.seal import Seal
from incognote.prompts.loader import SECTIONS, Prompt
from incognote.prompts.overlay import Guideline
from incognote.schemas.catalogue import catalogue

LONG_LINE = 120
"""Words of one type's line; a longer one drowns the others."""
LONG = 4096
"""Tokens before the note begins: half of what a model is taken to read and write at once (`context_tokens`)."""

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class PromptFault:
    """One thing: where, what, and what to do. It holds no words of an example."""

    level: Level
    field: str
    what: str


def lint(prompt: Prompt, types: Mapping[str, str], against: Iterable[str] | None = None) -> list[PromptFault]:
    """Look a prompt over.

    Args:
        types: what the policy has models asked for.
        against: texts of the documents it will be scored on.
    """
    found: list[PromptFault] = []
    for name, guideline in prompt.guidelines.items():
        if name not in types:
            near = next((each for each in catalogue().lineage(name) if each in types), None)
            remedy = f"say it of {near}" if near else "take it out, or name the policy that asks for it (--policy)"
            found.append(PromptFault("error", f"entities.{name}", f"the policy asks no model for it: {remedy}"))
        elif (words := len(guideline.line(types[name]).split())) > LONG_LINE:
            found.append(PromptFault("warning", f"entities.{name}", f"{words} words in one line: shorten it"))
    texts: dict[str, int] = {}
    for number, one in enumerate(prompt.examples, 1):
        field = f"examples {number}"
        if (first := texts.setdefault(one.text, number)) != number:
            found.append(PromptFault("warning", field, f"the same text as example {first}: take one out"))
        unserved = sorted({t for _, _, t in one.found if not any(each in types for each in catalogue().lineage(t))})
        if unserved:
            what = f"the policy asks no model for {', '.join(unserved)}: its answer leaves that out"
            found.append(PromptFault("warning", field, what))
    if prompt.examples and all(one.found for one in prompt.examples):
        found.append(
            PromptFault("warning", "examples", "each holds an identifier: one without shows that {} is an answer")
        )
    if prompt.examples and not any(one.found for one in prompt.examples):
        found.append(PromptFault("warning", "examples", "none holds an identifier: add one that does"))
    for number in leaking(prompt, against or ()):
        what = f"shares {RUN} words running with a document to be scored: take it out"
        found.append(PromptFault("error", f"examples {number}", what))
    rendered = prompt.render([""], types)
    tokens = (len(rendered.system) + len(rendered.user)) // 4
    if tokens > LONG:
        what = f"some {tokens:,} tokens before the note begins: take out what earns nothing (`incognote prompt diff`)"
        found.append(PromptFault("warning", "length", what))
    return found


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


RUN = 8
"""So many words running, the same in two texts, and one is taken to quote the other."""
_WORD = re.compile(r"\w+")
_MARKED = frozenset({"test", "sealed", "heldout", "held-out"})


def refuse_test(path: Path) -> None:
    """Refuse a file that is marked as a test set.

    It is where a log of openings lies beside it (`experiments.seal`), where its name says so (a word of it is test,
    sealed or heldout), or where one of its lines does: `"split": "test"` or `"sealed": true`.

    Raises:
        UsageError: it is; or it cannot be read.
    """
    names = f"{path.name} {path.resolve().name}".lower()
    words = set(re.split(r"[^a-z]+", names)) | set(re.findall(r"held[-_ ]?out", names))
    named = {word.replace("_", "-").replace(" ", "-") for word in words} & _MARKED
    why = f"its name says {sorted(named)[0]}" if named else ""
    if Seal(path).sealed:
        why = "a log of its openings lies beside it"
    elif not why and path.is_file() and _says_so(path):
        why = "its lines say so"
    if why:
        raise UsageError(
            f"{path.name} is marked as a test set ({why}). Use the development part for prompts."
        )


def _says_so(path: Path) -> bool:
    if not re.search(r"\.(jsonl|ndjson)(\.gz)?\Z", path.name):
        return False
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line in lines:
                if '"split"' not in line and '"sealed"' not in line:
                    continue
                row = json.loads(line)
                if isinstance(row, dict) and (str(row.get("split")).lower() in _MARKED or row.get("sealed") is True):
                    return True
    except (OSError, ValueError):
        raise UsageError(f"{path.name} cannot be read as JSON lines in UTF-8.") from None
    return False


class SeenDocuments:
    """Documents, asked whether a text quotes one of them.

    Args:
        texts: of the documents.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = [_words(text) for text in texts]
        self._runs = {run for words in self._words for run in _runs(words)}

    def quoted(self, text: str) -> bool:
        """Whether the text and some document share eight words running; a shorter text, whether it stands in one."""
        words = _words(text)
        if len(words) >= RUN:
            return any(run in self._runs for run in _runs(words))
        sought = f" {' '.join(words)} "
        return bool(words) and any(sought in f" {' '.join(each)} " for each in self._words)


def leaking(prompt: Prompt, texts: Iterable[str]) -> list[int]:
    """The numbers, from 1, of the prompt's examples that quote one of these documents."""
    if not prompt.examples:
        return []
    seen = SeenDocuments(texts)
    return [number for number, one in enumerate(prompt.examples, 1) if seen.quoted(one.text)]


def refuse_leak(prompt: Prompt, texts: Iterable[str]) -> None:
    """Refuse to score a prompt on documents that its examples quote.

    Raises:
        UsageError: examples do; their numbers are told.
    """
    if numbers := leaking(prompt, texts):
        raise UsageError(
            f"Examples {', '.join(map(str, numbers))} of {prompt.name} share {RUN} consecutive words with documents "
            "to be scored. Remove the examples from the prompt, or the documents from the corpus."
        )


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: Sequence[str]) -> Iterable[int]:
    return (hash(tuple(words[at : at + RUN])) for at in range(len(words) - RUN + 1))
