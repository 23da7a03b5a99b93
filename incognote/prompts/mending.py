"""Extract the JSON object of a model's reply: as it is, out of its fence or prose, or repaired."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from incognote.errors import MissingExtra
from incognote.languages import language

_DEEPEST = 16  # maximum nesting of a reply; the contracts need three levels


def object_of(
    reply: str, faults: set[str], *, once: bool = False, longest: int = 1_000_000
) -> dict[str, Any] | None:
    """Return the JSON object of a reply. Several objects are merged. None if there is none, or for a refusal.

    The first object may be an example or a draft (`{}` among echoed instructions), so it does not override the others.
    Drafts in a model's reasoning before its answer do not count.

    Args:
        faults: receives the codes `mended` (not valid JSON), `cut` (the reply ends early), `declined` (a refusal), and
            `flood` (too long to be repaired).
        once: also report a duplicate key, whose values are merged, as the fault `repeated`.
        longest: the maximum length, in characters, of an answer that is repaired.

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
    reply = answer_of(reply) if len(reply) < _WITH_REASONING * longest else reply
    if len(reply) > longest:
        faults.add("flood")
        return None
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
        faults.add("declined")
        return None
    return _merged([pair for one in found for pair in one.items()], repeats) if found else None


_THOUGHT = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_REASONING = re.compile(
    rf"""(?ix)
    (?P<begin> [<\[\u25c1]{_THOUGHT}[>\]\u25b7] | <\|start_thinking\|> | <\|channel\|>\s*(?:analysis|commentary)\b )
    | (?P<end> (?:</|\[/|\u25c1/){_THOUGHT}[>\]\u25b7] | <\|end_thinking\|>
        | <\|channel\|>\s*final\b[^{{]{{0,80}}?<\|message\|>
        | assistant\s*final(?=\s*[{{`]) )
    """
)
"""Marks around the reasoning of a model: tags, and the channels of a chat format that a server did not remove."""
_WITH_REASONING = 4  # how many times as long as its answer a reply with reasoning may be
_STRAY = 8  # braces without an end that are tolerated in a reasoning


def answer_of(reply: str) -> str:
    """Return the part of a reply after the model's reasoning, whether its marks are complete or not.

    A mark inside a JSON object belongs to a phrase, since a note may contain such marks. In doubt the whole reply is
    returned, so that all of its objects count. Only `{}` after an unfinished reasoning is no answer.
    """
    kept: list[str] = []
    at = last = strays = 0
    thinking = False
    while mark := _REASONING.search(reply, at):
        brace = reply.find("{", at, mark.start())
        if brace >= 0:
            end, _, _ = _closed(reply, brace)
            if end is None and ((strays := strays + 1) > _STRAY or _closed(reply, brace, mark.start())[2]):
                return reply
            if end is not None:
                at = end
                continue
        if mark["begin"]:
            if not thinking:
                kept.append(reply[last : mark.start()])
        elif not thinking:  # no mark for its begin
            kept.clear()
        last = at = mark.end()
        thinking = bool(mark["begin"])
    rest = reply[last:]
    if thinking and not rest.rstrip("` \t\r\n").endswith("}"):
        rest = ""  # the reasoning was not finished
    return "".join([*kept, rest])


def _next(reply: str, begin: int, decoder: json.JSONDecoder, faults: set[str]) -> tuple[dict[str, Any] | None, int]:
    """Return the object that the brace at `begin` opens, if it is one, and where it ends."""
    try:
        one, end = decoder.raw_decode(reply, begin)
        return (one if isinstance(one, dict) else None), end
    except (ValueError, RecursionError):
        pass  # not valid JSON: repaired below
    closed, deepest, _ = _closed(reply, begin)
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


def _closed(text: str, begin: int, stop: int | None = None) -> tuple[int | None, int, bool]:
    """Return the end of the object that begins here, by its braces outside strings, or None.

    Also return its depth, and whether a string is open at the end of what was read.
    """
    depth, deepest, quoted, escaped = 0, 0, False, False
    for at in range(begin, len(text) if stop is None else stop):
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
                return at + 1, deepest, False
    return None, deepest, quoted


@cache
def _declined() -> re.Pattern[str]:
    """Phrases of a refusal.

    With them, an object without a value is a refusal, and does not mean that there is nothing.
    """
    return re.compile(language().table("words", "phrases.toml")["declined"])
