"""Find problems of a prompt that loads, but would not do what its author intends.

It also shows a prompt as a person reads it: its text with placeholders, its lines on types, and its examples.

No document is scored with a prompt that quotes it, and no test set is used to make a prompt.
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
from incognote.schemas.policy import Policy

LONG_LINE = 120
"""Words of one type's line. A longer line draws attention away from the others."""
LONG = 4096
"""Tokens before the note begins: half of what a model is assumed to read and write at once (`context_tokens`)."""

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class PromptFault:
    """One problem: the field, what is wrong, and what to do. It holds no words of an example."""

    level: Level
    field: str
    what: str


def lint(prompt: Prompt, types: Mapping[str, str], against: Iterable[str] | None = None) -> list[PromptFault]:
    """Check a prompt and return its problems.

    Args:
        types: the types that the policy requests from models.
        against: texts of the documents that it will be scored on.
    """
    found: list[PromptFault] = []
    for name, guideline in prompt.guidelines.items():
        if name not in types:
            near = next((each for each in catalogue().lineage(name) if each in types), None)
            remedy = f"move it to {near}" if near else "remove it, or name the policy that requests it (--policy)"
            found.append(PromptFault("error", f"entities.{name}", f"the policy requests it from no model: {remedy}"))
        elif (words := len(guideline.line(types[name]).split())) > LONG_LINE:
            found.append(PromptFault("warning", f"entities.{name}", f"{words} words in one line: shorten it"))
    texts: dict[str, int] = {}
    for number, one in enumerate(prompt.examples, 1):
        field = f"examples {number}"
        if (first := texts.setdefault(one.text, number)) != number:
            found.append(PromptFault("warning", field, f"the same text as example {first}: remove one"))
        unserved = sorted({t for _, _, t in one.found if not any(each in types for each in catalogue().lineage(t))})
        if unserved:
            what = f"the policy requests {', '.join(unserved)} from no model: its answer leaves that out"
            found.append(PromptFault("warning", field, what))
    if prompt.examples and all(one.found for one in prompt.examples):
        found.append(
            PromptFault("warning", "examples", "all hold an identifier: add one without, to show that {} is an answer")
        )
    if prompt.examples and not any(one.found for one in prompt.examples):
        found.append(PromptFault("warning", "examples", "none holds an identifier: add one that does"))
    for number in leaking(prompt, against or ()):
        what = f"shares {RUN} consecutive words with a document to be scored: remove it"
        found.append(PromptFault("error", f"examples {number}", what))
    rendered = prompt.render([""], types)
    tokens = (len(rendered.system) + len(rendered.user)) // 4
    if tokens > LONG:
        what = f"about {tokens:,} tokens before the note begins: remove what does not help (`incognote prompt diff`)"
        found.append(PromptFault("warning", "length", what))
    return found


def shown(prompt: Prompt, types: Mapping[str, str], *, examples: bool = False) -> str:
    """Return the whole prompt as text.

    Args:
        types: the types that it would request, with the catalogue's lines.
        examples: show the texts of the examples, which may be words of notes. Otherwise only counts are shown.
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


def difference(first: Prompt, second: Prompt, policy: Policy, *, examples: bool = False) -> str:
    """A unified diff of the text of two prompts, or "" if they are the same."""
    one, other = (shown(each, each.types(policy), examples=examples).split("\n")[1:] for each in (first, second))
    before, after = (f"{each.name} {each.version}" for each in (first, second))
    return "".join(line + "\n" for line in unified_diff(one, other, before, after, lineterm="", n=1))


RUN = 8
"""If two texts share this many consecutive words, one is taken to quote the other."""
_WORD = re.compile(r"\w+")
_MARKED = frozenset({"test", "sealed", "heldout", "held-out"})


def refuse_test(path: Path) -> None:
    """Refuse a file that is marked as a test set.

    A file is marked if a log of openings is next to it (`experiments.seal`), if its name contains the word test, sealed
    or heldout, or if one of its lines contains `"split": "test"` or `"sealed": true`.

    Raises:
        UsageError: the file is marked, or cannot be read.
    """
    names = f"{path.name} {path.resolve().name}".lower()
    words = set(re.split(r"[^a-z]+", names)) | set(re.findall(r"held[-_ ]?out", names))
    named = {word.replace("_", "-").replace(" ", "-") for word in words} & _MARKED
    why = f"its name contains {sorted(named)[0]}" if named else ""
    if Seal(path).sealed:
        why = "there is a log of its openings"
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
    """A set of documents that can tell whether a text quotes one of them.

    Args:
        texts: of the documents.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = [_words(text) for text in texts]
        self._runs = {run for words in self._words for run in _runs(words)}

    def quoted(self, text: str) -> bool:
        """Return True if the text shares eight consecutive words with a document, or, if shorter, occurs in one."""
        words = _words(text)
        if len(words) >= RUN:
            return any(run in self._runs for run in _runs(words))
        sought = f" {' '.join(words)} "
        return bool(words) and any(sought in f" {' '.join(each)} " for each in self._words)


def leaking(prompt: Prompt, texts: Iterable[str]) -> list[int]:
    """The numbers (from 1) of the prompt's examples that quote one of these documents."""
    if not prompt.examples:
        return []
    seen = SeenDocuments(texts)
    return [number for number, one in enumerate(prompt.examples, 1) if seen.quoted(one.text)]


def refuse_leak(prompt: Prompt, texts: Iterable[str]) -> None:
    """Refuse to score a prompt on documents that its examples quote.

    Raises:
        UsageError: examples quote a document; the message gives their numbers.
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
