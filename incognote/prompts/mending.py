"""Extract the JSON object of a model's reply: as it is, out of its fence or prose, or repaired."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from incognote.errors import MissingExtra
from incognote.languages import language

_DEEPEST = 16  # maximum nesting of a reply; the contracts need three levels


def object_of(reply: str, faults: set[str], *, once: bool = False) -> dict[str, Any] | None:
    """Return the JSON object of a reply. Several objects are merged. None if there is none, or for a refusal.

    The first object may be an example or a draft (`{}` among echoed instructions), so it does not override the others.

    Args:
        faults: receives the codes `mended` (not valid JSON) and `cut` (the reply ends early).
        once: also report a duplicate key, whose values are merged, as the fault `repeated`.

    Raises:
        MissingExtra: it must be repaired, and the extra `llm` is not installed.
    """
    repeats = faults if once else set()
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: _merged(pairs, repeats))
    try:
        said = decoder.decode(reply)
        return said if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        faults.add("mended")
    found: list[dict[str, Any]] = []
    prose: list[str] = []
    at = 0
    while (begin := reply.find("{", at)) >= 0:
        prose.append(reply[at:begin])
        one, at = _next(reply, begin, decoder, faults)
        if one is not None:
            found.append(one)
    prose.append(reply[at:])
    if not any(value for one in found for value in one.values()) and _declined().search(" ".join(prose)):
        return None
    return _merged([pair for one in found for pair in one.items()], repeats) if found else None


def _next(reply: str, begin: int, decoder: json.JSONDecoder, faults: set[str]) -> tuple[dict[str, Any] | None, int]:
    """Return the object that the brace at `begin` opens, if it is one, and where it ends."""
    try:
        one, end = decoder.raw_decode(reply, begin)
        return (one if isinstance(one, dict) else None), end
    except (ValueError, RecursionError):
        pass  # not valid JSON: repaired below
    closed, deepest = _closed(reply, begin)
    end = len(reply) if closed is None else closed
    if closed is None:
        faults.add("cut")
    if deepest > _DEEPEST:  # a model that runs wild; a repair would take seconds and give nothing
        return None, end
    try:
        from json_repair import loads
    except ImportError:
        raise MissingExtra("llm", "mending a model's reply") from None
    try:
        one = loads(reply[begin:end].removesuffix("```"), skip_json_loads=True)
    except (ValueError, RecursionError):
        return None, end
    return (one if isinstance(one, dict) and all(isinstance(key, str) for key in one) else None), end


def _merged(pairs: list[tuple[str, Any]], repeats: set[str]) -> dict[str, Any]:
    """Return an object whose repeated keys keep the content of all their values."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            repeats.add("repeated")
        made[key] = _both(made[key], value, repeats) if key in made else value
    return made


def _both(one: Any, other: Any, repeats: set[str]) -> Any:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict) and isinstance(other, dict):
        return _merged([*one.items(), *other.items()], repeats)
    return [*(one if isinstance(one, list) else [one]), *(other if isinstance(other, list) else [other])]


def _closed(text: str, begin: int) -> tuple[int | None, int]:
    """Return the end of the object that begins here, by its braces outside strings, or None; and its depth."""
    depth, deepest, quoted, escaped = 0, 0, False, False
    for at in range(begin, len(text)):
        char = text[at]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
            deepest = max(depth, deepest)
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1, deepest
    return None, deepest


@cache
def _declined() -> re.Pattern[str]:
    """Phrases of a refusal.

    With them, an object without a value is a refusal, and does not mean that there is nothing.
    """
    return re.compile(language().table("words", "phrases.toml")["declined"])
