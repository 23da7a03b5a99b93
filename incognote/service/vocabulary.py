"""The closed vocabulary of everything the service tells: events by name, facts by kind. No kind holds free text.

So nothing of a record can be told by mistake: a sentence, a name with its blank, a note does not fit any kind. What
might fit (a surname is a word like any other) is kept out by where facts come from: settings, counters, keyed hashes.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from incognote.errors import UnknownName, UsageError

Fact = str | int | float
STAFF = "who"
"""The kind of persons on the staff: an audit log names them, no log line and no metric does."""

_KINDS = {
    "hex": re.compile(r"[0-9a-f]{16,64}"),
    "key": re.compile(r"[0-9a-f]{12}"),
    "code": re.compile(r"[a-z][a-z0-9-]{0,63}"),
    "type": re.compile(r"[A-Z][A-Z0-9_]{0,63}"),
    "name": re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._/-]{0,63}"),  # a letter: no date, no telephone number
    "head": re.compile(r"[0-9]{1,12}:[0-9a-f]{64}"),
    "version": re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}"),
    STAFF: re.compile(r"\w[\w .@'-]{0,63}"),
}


@cache
def facts() -> Mapping[str, str]:
    """The facts there are, with their kinds."""
    return _vocabulary()["facts"]


@cache
def events() -> Mapping[str, str]:
    """The events there are, each with a sentence that says what it means."""
    return _vocabulary()["events"]


@cache
def level(event: str) -> str:
    """How loud an event is: `debug`, `info`, `warning` or `error`."""
    return next((name for name, events in _vocabulary()["levels"].items() if event in events), "info")


def audited(event: str) -> bool:
    """Whether an event that a worker tells goes into the audit log, too."""
    return event in _vocabulary()["audited"]["events"]


def checked(event: str, told: Mapping[str, Fact], *, staff: bool = False) -> dict[str, Fact]:
    """The facts of an event, sorted by name, if all may be told.

    Args:
        staff: whether persons on the staff may be named.

    Raises:
        UnknownName: no such event, or no such fact.
        UsageError: a value that its fact's kind does not admit; the message names the fact, never the value.
    """
    if event not in events():
        raise UnknownName("event", event if _KINDS["code"].fullmatch(event.replace(".", "-")) else "?", events())
    for name, value in told.items():
        kind = facts().get(name)
        if kind is None:
            raise UnknownName("fact", name, facts())
        if not _admits(kind, value) or (kind == STAFF and not staff):
            raise UsageError(f"{name}: this fact of {event} is of kind {kind!r}, and what was given is not")
    return {name: told[name] for name in sorted(told)}


def _admits(kind: str, value: object) -> bool:
    if kind == "count":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, str) and _KINDS[kind].fullmatch(value) is not None


@cache
def _vocabulary() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("incognote.service").joinpath("vocabulary.toml").read_text(encoding="utf-8"))
