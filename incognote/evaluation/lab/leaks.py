"""No document is scored with a prompt that quotes it, and no test set feeds a prompt."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from incognote.errors import UsageError
from incognote.evaluation.experiments.seal import Seal
from incognote.prompts.loader import Prompt

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
            f"{path.name} is marked as a test set ({why}): prompts are made from development documents only; "
            "name the development part"
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
        raise UsageError(f"{path.name} cannot be read as lines of JSON in UTF-8") from None
    return False


class Seen:
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
    seen = Seen(texts)
    return [number for number, one in enumerate(prompt.examples, 1) if seen.quoted(one.text)]


def refuse_leak(prompt: Prompt, texts: Iterable[str]) -> None:
    """Refuse to score a prompt on documents that its examples quote.

    Raises:
        UsageError: examples do; their numbers are told.
    """
    if numbers := leaking(prompt, texts):
        raise UsageError(
            f"examples {', '.join(map(str, numbers))} of {prompt.name} share {RUN} words running with documents "
            "that are to be scored: take them out of the prompt, or those documents out of the corpus"
        )


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: Sequence[str]) -> Iterable[int]:
    return (hash(tuple(words[at : at + RUN])) for at in range(len(words) - RUN + 1))
