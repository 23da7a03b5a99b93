"""The closed vocabulary of the service's logs: events by name, facts by kind. No kind allows free text.

So no part of a record can be logged by mistake: a sentence, a name with a space, or a note fits no kind. A value that
would fit, such as a surname, is kept out by the origin of the facts: settings, counters, keyed hashes.
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
"""The kind for staff members. An audit log names them, but no log line and no metric does."""

_KINDS = {
    "hex": re.compile(r"[0-9a-f]{16,64}"),
    "key": re.compile(r"[0-9a-f]{12}"),
    "code": re.compile(r"[a-z][a-z0-9-]{0,63}"),
    "type": re.compile(r"[A-Z][A-Z0-9_]{0,63}"),
    "name": re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._/-]{0,63}"),  # a letter: no date or phone number
    "head": re.compile(r"[0-9]{1,12}:[0-9a-f]{64}"),
    "version": re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}"),
    STAFF: re.compile(r"\w[\w .@'-]{0,63}"),
}


@cache
def facts() -> Mapping[str, str]:
    """Return all facts with their kinds."""
    return _vocabulary()["facts"]


@cache
def events() -> Mapping[str, str]:
    """Return all events, each with a sentence that explains it."""
    return _vocabulary()["events"]


@cache
def level(event: str) -> str:
    """Return the log level of an event: `debug`, `info`, `warning` or `error`."""
    return next((name for name, events in _vocabulary()["levels"].items() if event in events), "info")


def audited(event: str) -> bool:
    """Whether a worker's event is also written to the audit log."""
    return event in _vocabulary()["audited"]["events"]


def checked(event: str, told: Mapping[str, Fact], *, staff: bool = False) -> dict[str, Fact]:
    """Return the facts of an event, sorted by name, if all of them are allowed.

    Args:
        staff: whether staff members may be named.

    Raises:
        UnknownName: the event or the fact does not exist.
        UsageError: a value does not fit the kind of its fact. The message names the fact, never the value.
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
