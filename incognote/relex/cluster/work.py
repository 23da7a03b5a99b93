"""The field of work said beside a name: Dr. Okafor of cardiology, Rao (anaesthetics), Surgeon: Al-Rashid."""

from __future__ import annotations

import re
from functools import cache

from incognote.detectors.rules.lexicon import fold
from incognote.relex.cluster.scope import data
from incognote.relex.names.words import key, words

_BEHIND = re.compile(r"(?:['’]s)?\s*(?:[,(/–-]|\s(?:of|from|in|for)\s)\s*(?:the\s+|our\s+)?([^\W\d_]+)", re.IGNORECASE)
_DEGREE = re.compile(r",?\s+([A-Z][A-Za-z.]*[A-Za-z])\.?(?=\s*[,(])")


def work_beside(before: str, behind: str) -> str:
    """The field that stands right behind a name (degrees between them), else right before; "" for none."""
    while (match := _DEGREE.match(behind)) and key(match.group(1)) in words().degrees:
        behind = behind[match.end() :]
    if (match := _BEHIND.match(behind)) and (said := _field(match.group(1))):
        return said
    head = before.rstrip("\"“„'( ") + " "
    while (match := re.search(r"([^\W\d_]+)\.?\s+\Z", head)) and key(match.group(1)) in words().titles:
        head = head[: match.start()].rstrip("( ") + " "
    if (match := re.search(r"([^\W\d_]+)\s+\Z", head)) and fold(match.group(1)) in _between():
        head = head[: match.start()] + " "
    match = re.search(r"([^\W\d_]+)\s*[:,–-]?\s*\Z", head)
    return _field(match.group(1)) if match else ""


@cache
def _fields() -> dict[str, str]:
    return {fold(word): line.split()[0] for line in data("work.toml")["fields"] for word in line.split()}


@cache
def _between() -> frozenset[str]:
    return frozenset(data("work.toml")["between"].split())


def _field(word: str) -> str:
    """Forms of three letters and fewer count in capitals only: ED, not Ed."""
    found = _fields().get(fold(word), "")
    return found if len(word) > 3 or word.isupper() else ""
