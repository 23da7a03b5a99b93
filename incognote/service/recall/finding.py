"""Which outputs a recall is about: those of a patient, those that hold some words, those that something made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from incognote.errors import UnknownName, UsageError
from incognote.ledger import Entry, Ledger
from incognote.nouns import subject_form
from incognote.service.recall.shards import records, shard_bytes
from incognote.service.sinks.place import Place

_LEAST = 3
_BROKEN = re.compile(r"[-\u2010\u2011\u00ad][^\S\n]*\r?\n\s*")
_NAMED = ("schemas", "detectors", "models")


def of_patient(ledger: Ledger, patient: str) -> Iterator[Entry]:
    """Released records of a subject."""
    return ledger.entries(subject=ledger.subject(patient), state="released")


def made_by(ledger: Ledger, version: str) -> Iterator[Entry]:
    """Released records of every release that something went into: a policy, schema, prompt, model, detector, code, key.

    Args:
        version: its name, version or hash, as `incognote release list` shows it; or the release's own name.

    Raises:
        UnknownName: no release knows it.
    """
    releases = ledger.releases()
    found = [one for one in releases if version in (one.name, one.digest) or version in _leaves(one.frozen)]
    if not found:
        raise UnknownName("release, or version in one,", version, [one.name for one in releases])
    for release in found:
        yield from ledger.entries(release=release.id, state="released")


def with_words(
    ledger: Ledger, lab: Place, words: str, absent: Callable[[str], object] = lambda name: None
) -> Iterator[Entry]:
    """Released records whose output holds some words: whatever their case and the blanks between them, and where a line
    ends within a word, too.

    Every shard is read. Where the rows of a table cannot be told apart by record, all records of the shard count.

    Args:
        absent: told of every shard that is not in the lab although something in it counts as released: it is not there
            yet, or was taken away. Nobody knows what is in it.

    Raises:
        UsageError: fewer than three characters.
        IncognoteError: the lab cannot be read.
    """
    sought = subject_form(words)
    if len(sought) < _LEAST:
        raise UsageError(f"--contains: at least {_LEAST} characters, or all outputs would be recalled")
    for release in ledger.releases():
        for shard in ledger.shards(release.id):
            data = shard_bytes(lab, shard.name)
            if data is None:
                if next(ledger.entries(shard=shard.name, state="released"), None) is not None:
                    absent(shard.name)
                continue
            texts = records(shard.name, data)
            apart = len(texts) == shard.records
            lines = {number for number, text in enumerate(texts, start=1) if _holds(text, sought)}
            if not lines and (apart or not _holds("\n".join(texts), sought)):
                continue
            for entry in ledger.entries(shard=shard.name, state="released"):
                if not apart or entry.line in lines:
                    yield entry


def _holds(text: str, sought: str) -> bool:
    """Whether words stand in a text; a hyphen where a line ends may be the line's, or theirs."""
    broken = _BROKEN.search(text) is not None
    return sought in subject_form(text) or (
        broken and (sought in subject_form(_BROKEN.sub("", text)) or sought in subject_form(_BROKEN.sub("-", text)))
    )


def _leaves(frozen: Mapping[str, Any]) -> set[str]:
    """The words in what a release froze: values, and the names of schemas, detectors and models."""
    found: set[str] = set()
    for name, value in frozen.items():
        if isinstance(value, Mapping):
            found |= _leaves(value) | (set(value) if name in _NAMED else set())
        elif isinstance(value, list | tuple):
            found |= {one for one in value if isinstance(one, str)}
        elif isinstance(value, str):
            found.add(value)
    return found
