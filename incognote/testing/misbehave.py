"""Misbehavior by name: the ways in which models and their servers spoil a good reply.

Each is a pure function of the request, the good reply and a seeded random generator. It returns a bad reply or a
trouble. A function that changes words reads the reply as JSON and changes every phrase in a list, whatever the
contract. A reply that is not JSON stays unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from incognote.errors import UnknownName, UsageError
from incognote.llm.base import Reply, Request
from incognote.prompts import marks
from incognote.testing.trouble import Act, Trouble, text_of

Misdeed = Callable[[Request, Reply, Random], Act]
REFUSAL = "I'm sorry, but I can't help with requests that involve personal health information."
UNKNOWN_TYPES = ("FAVOURITE_COLOUR", "ZODIAC_SIGN", "PERSON_OF_INTEREST", "misc")
INVENTED = ("Bartholomew Quillfeather", "Ottilie Vandersnatch", "31 February 1897", "Nowhere Springs", "000-00-0000")
_INNER_LETTER = re.compile(r"(?<=[^\W\d_])[^\W\d_](?=[^\W\d_]{2})")


def rate_limit(request: Request, good: Reply, random: Random) -> Act:
    """429 with Retry-After."""
    return Trouble("status", 429, "rate_limit_exceeded", retry_after=0.0)


def server_error(request: Request, good: Reply, random: Random) -> Act:
    """500."""
    return Trouble("status", 500)


def hang(request: Request, good: Reply, random: Random) -> Act:
    """No response, and the connection stays open."""
    return Trouble("hang")


def slow_stream(request: Request, good: Reply, random: Random) -> Act:
    """The good reply, piece by piece. No single pause is long, but the whole reply takes long."""
    return Trouble("slow", reply=good)


def dropped_connection(request: Request, good: Reply, random: Random) -> Act:
    """The connection is closed before a byte of the response."""
    return Trouble("drop")


def cut_body(request: Request, good: Reply, random: Random) -> Act:
    """The connection is closed in the middle of the body."""
    return Trouble("cut", reply=good)


def truncated_json(request: Request, good: Reply, random: Random) -> Act:
    """The reply ends in the middle, but claims to be complete."""
    return replace(good, text=_cut(good.text, random))


def length_stop(request: Request, good: Reply, random: Random) -> Act:
    """The reply ends in the middle, cut by length."""
    return replace(good, text=_cut(good.text, random), finish="length")


def prose_around_json(request: Request, good: Reply, random: Random) -> Act:
    """A sentence before the object and one after. Sometimes they contain braces."""
    before = random.choice(("Here is the JSON you asked for:", "I looked for {names, dates, places} and found:"))
    after = random.choice(("Let me know if you need anything else!", "(Types without a finding are {} or left out.)"))
    return replace(good, text=f"{before}\n\n{good.text}\n\n{after}")


def code_fence(request: Request, good: Reply, random: Random) -> Act:
    """The object is in a Markdown fence."""
    return replace(good, text=f"```{random.choice(('json', ''))}\n{good.text}\n```")


def trailing_comma(request: Request, good: Reply, random: Random) -> Act:
    """A comma after the last item of each list and object."""
    return _rewritten(good, lambda said: _loose(said, json.dumps))


def single_quotes(request: Request, good: Reply, random: Random) -> Act:
    """Quotes as in Python."""
    return _rewritten(good, repr)


def duplicate_keys(request: Request, good: Reply, random: Random) -> Act:
    """Each key occurs twice, with its phrases divided between the two."""

    def doubled(said: Any) -> str:
        pairs: list[tuple[str, Any]] = []
        for key, value in (said if isinstance(said, dict) and said else {"PERSON": []}).items():
            half = (len(value) + 1) // 2 if isinstance(value, list) else 0
            pairs += [(key, value[:half]), (key, value[half:])] if isinstance(value, list) else [(key, value)] * 2
        return "{" + ", ".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in pairs) + "}"

    return _rewritten(good, doubled)


def wrong_shape(request: Request, good: Reply, random: Random) -> Act:
    """JSON of another shape: lists of numbers, nested objects, or a list of findings."""

    def numbers(said: dict[str, Any]) -> Any:
        return {key: [7 * place for place, _ in enumerate(value)] for key, value in said.items()}

    def nested(said: dict[str, Any]) -> Any:
        return {key: {"phrases": value, "count": len(value)} for key, value in said.items()}

    def listed(said: dict[str, Any]) -> Any:
        return [{"type": key, "text": phrase} for key, value in said.items() for phrase in value]

    change = random.choice((numbers, nested, listed))
    return _rewritten(good, lambda said: json.dumps(change(_lists(said)), ensure_ascii=False))


def unknown_types(request: Request, good: Reply, random: Random) -> Act:
    """One phrase moves from its type to one that was not requested. Without phrases, the new type is empty."""

    def moved(said: Any) -> Any:
        found = _lists(said)
        stranger = random.choice([name for name in UNKNOWN_TYPES if name not in found])
        filled = [key for key, value in found.items() if value]
        if not filled:
            return {**found, stranger: []}
        key = random.choice(filled)
        at = random.randrange(len(found[key]))
        return {**found, key: found[key][:at] + found[key][at + 1 :], stranger: [found[key][at]]}

    return _rewritten(good, lambda said: json.dumps(moved(said), ensure_ascii=False))


def hallucinated_phrases(request: Request, good: Reply, random: Random) -> Act:
    """One or two additional phrases that are not in the text, marked if the others are."""
    text = text_of(request)
    opening, closing = marks(text) if marks(text)[0] in good.text else ("", "")
    unheard = [phrase for phrase in INVENTED if phrase.casefold() not in text.casefold()]

    def more(said: Any) -> Any:
        found = _lists(said)
        keys = list(found) or sorted((request.schema or {}).get("properties", ())) or ["PERSON"]
        for phrase in random.sample(unheard, min(len(unheard), random.randint(1, 2))):
            key = random.choice(keys)
            found[key] = [*found.get(key, []), opening + phrase + closing]
        return found

    return _rewritten(good, lambda said: json.dumps(more(said), ensure_ascii=False))


def wrong_case(request: Request, good: Reply, random: Random) -> Act:
    """Every phrase in capitals, in lower case or in swapped case."""
    return _phrases(good, lambda phrase: random.choice((str.upper, str.lower, str.swapcase))(phrase))


def wrong_whitespace(request: Request, good: Reply, random: Random) -> Act:
    """In every phrase other white space than in the text, and some around it."""

    def spaced(phrase: str) -> str:
        inner = re.sub(r"\s+", lambda _: random.choice(("  ", "\n", "\t", "\u00a0", " \n ")), phrase)
        return random.choice((" ", "\n", "")) + inner + random.choice((" ", "  "))

    return _phrases(good, spaced)


def typos(request: Request, good: Reply, random: Random) -> Act:
    """In every phrase with a word of four letters or more, one letter inside it dropped, doubled or swapped."""

    def mistyped(phrase: str) -> str:
        inner = (found.start() for found in _INNER_LETTER.finditer(phrase))
        places = [at for at in inner if phrase[at] != phrase[at + 1]]
        if not places:
            return phrase
        at = random.choice(places)
        here, after = phrase[at], phrase[at + 1]
        return phrase[:at] + random.choice((after, here + here + after, after + here)) + phrase[at + 2 :]

    return _phrases(good, mistyped)


def echoed_instructions(request: Request, good: Reply, random: Random) -> Act:
    """The instructions, including their example reply, come before the reply."""
    told = next((message.content for message in request.messages if message.role == "system"), "")
    return replace(good, text=f"{told or request.messages[-1].content}\n\n{good.text}")


def refusal_text(request: Request, good: Reply, random: Random) -> Act:
    """A refusal in words, which ends like any reply."""
    return replace(good, text=REFUSAL)


def refusal(request: Request, good: Reply, random: Random) -> Act:
    """A refusal in the field for it (`message.refusal`), without content."""
    return replace(good, text="", finish="refusal")


def content_filter(request: Request, good: Reply, random: Random) -> Act:
    """The provider's filter stops the reply, at once or in its middle."""
    return replace(good, text=random.choice(("", _cut(good.text, random))), finish="filter")


def empty(request: Request, good: Reply, random: Random) -> Act:
    """No content, but marked as complete."""
    return replace(good, text="")


def not_json(request: Request, good: Reply, random: Random) -> Act:
    """The findings in prose."""

    def told(said: Any) -> str:
        found = [f"{phrase} ({key})" for key, value in _lists(said).items() for phrase in value]
        return "The note mentions " + (", ".join(found) or "nobody") + "."

    return _rewritten(good, told)


MISBEHAVIOURS: Mapping[str, Misdeed] = {
    misdeed.__name__: misdeed
    for misdeed in (
        rate_limit, server_error, hang, slow_stream, dropped_connection, cut_body, truncated_json, length_stop,
        prose_around_json, code_fence, trailing_comma, single_quotes, duplicate_keys, wrong_shape, unknown_types,
        hallucinated_phrases, wrong_case, wrong_whitespace, typos, echoed_instructions, refusal_text, refusal,
        content_filter, empty, not_json,
    )
}  # fmt: skip
"""Every misbehavior by its name."""


class Misbehaviour:
    """Makes a share of the replies bad.

    The choice depends only on the seed, the request's content and the attempt. So the same run misbehaves in the same
    places however its calls interleave, and a retry may succeed.

    Args:
        names: which misbehaviors, as in MISBEHAVIOURS. One is drawn for each bad call.
        share: of the calls, 0 to 1.
        seed: another seed changes the places.
        attempts: only this many first attempts at a request may go bad; None for any.
        retry_after: seconds in the header of a 429.
        hang: seconds before a hung connection is closed.
        slow: seconds over which a slow reply is spread.

    Raises:
        UnknownName: no misbehavior has such a name.
        UsageError: no name, or a share outside 0..1.
    """

    def __init__(
        self,
        names: str | Iterable[str],
        share: float = 0.3,
        seed: int = 0,
        *,
        attempts: int | None = None,
        retry_after: float = 0.05,
        hang: float = 3600.0,
        slow: float = 2.0,
    ) -> None:
        self.names = (names,) if isinstance(names, str) else tuple(names)
        for name in self.names:
            if name not in MISBEHAVIOURS:
                raise UnknownName("misbehaviour", name, list(MISBEHAVIOURS))
        if not self.names or not 0.0 <= share <= 1.0:
            raise UsageError("a misbehaviour needs a name and a share from 0 to 1")
        self.share, self.seed, self.attempts = share, seed, attempts
        self._retry_after, self._hang, self._slow = retry_after, hang, slow

    def choose(self, request: Request, attempt: int) -> str | None:
        """Return the misbehavior for this attempt at this request; None for a good reply."""
        if self.attempts is not None and attempt > self.attempts:
            return None
        random = self._random(request, attempt, "choose")
        return random.choice(self.names) if random.random() < self.share else None

    def apply(self, name: str, request: Request, good: Reply, attempt: int) -> Act:
        """Apply a misbehavior to the good reply."""
        act = MISBEHAVIOURS[name](request, good, self._random(request, attempt, name))
        if isinstance(act, Reply):
            return act
        if act.retry_after is not None:
            return replace(act, retry_after=self._retry_after)
        return replace(act, seconds={"hang": self._hang, "slow": self._slow}.get(act.kind, 0.0))

    def _random(self, request: Request, attempt: int, purpose: str) -> Random:
        return Random(f"{self.seed}:{purpose}:{attempt}:{request.address('')}")  # noqa: S311 -- repeatable


def _cut(text: str, random: Random) -> str:
    """Return the beginning of the text, at least one character shorter than it."""
    return text[: min(len(text) - 1, int(len(text) * random.uniform(0.2, 0.95)))] if text else text


def _rewritten(good: Reply, write: Callable[[Any], str]) -> Reply:
    """Rewrite the reply's JSON. A reply that is not JSON stays unchanged."""
    try:
        said = json.loads(good.text)
    except ValueError:
        return good
    return replace(good, text=write(said))


def _phrases(good: Reply, change: Callable[[str], str]) -> Reply:
    """Return the reply with each text in its lists changed. Keys stay unchanged."""

    def walked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [walked(item) for item in value]
        return change(value) if isinstance(value, str) else value

    return _rewritten(good, lambda said: json.dumps(walked(said), ensure_ascii=False))


def _lists(said: Any) -> dict[str, list[Any]]:
    """Return the keys of an object whose values are lists; empty for anything else."""
    return {key: value for key, value in said.items() if isinstance(value, list)} if isinstance(said, dict) else {}


def _loose(value: Any, plain: Callable[[Any], str]) -> str:
    """Return JSON with a comma after every last item."""
    if isinstance(value, dict) and value:
        return "{" + "".join(f"{plain(key)}: {_loose(item, plain)}, " for key, item in value.items()).rstrip() + "}"
    if isinstance(value, list) and value:
        return "[" + "".join(f"{_loose(item, plain)}, " for item in value).rstrip() + "]"
    return plain(value)
