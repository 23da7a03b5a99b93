"""The prompt that asks a model for a better guideline of one type, and the format of its reply.

The prompt quotes misses and wrong findings of the type, each with a few words of context. All of it is PHI.
"""

from __future__ import annotations

import calendar
import json
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any

from incognote.errors import UnknownName
from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.counts import group
from incognote.llm.base import Message, Request
from incognote.prompts import fence, marks, sendable
from incognote.prompts.loader import sections_of, shipped, version_of
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy

WORDS = 80
"""The maximum length that the prompt requests. Guidelines up to 50% longer are accepted."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"guideline": {"type": "string"}, "reason": {"type": "string"}},
    "required": ["guideline", "reason"],
    "additionalProperties": False,
}
_OTHER = 0.7
_SECTIONS = {"role": "Role", "task": "Task", "output_format": "Output"}


@dataclass(frozen=True, slots=True)
class Context:
    """A few words of a note, in which `start:end` was missed or wrongly found. They are PHI.

    Args:
        part: the part of a missed identifier that was still found; "" for none.
    """

    text: str = field(repr=False)
    start: int
    end: int
    part: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        """The words that were missed or wrongly found."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Proposing:
    """One version of the proposal prompt."""

    name: str
    sections: Mapping[str, str] = field(repr=False)

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over its sections."""
        return version_of(dict(self.sections))

    def request(
        self,
        type_: str,
        about: str,
        said: str,
        missed: Sequence[Context],
        wrong: Sequence[Context],
        *,
        sample: int = 0,
    ) -> Request:
        """Make the request to a model.

        Args:
            type_: the type whose guideline is to be rewritten.
            about: its current guideline.
            said: the guidelines for all types.
            missed, wrong: contexts of its errors. The note's words are fenced.
            sample: 0 for the first request. A repeated request uses a higher temperature, to get a different answer.
        """
        quoted = "\n".join(one.text for one in (*missed, *wrong))
        opening, closing = marks(quoted)
        words = {"type": type_, "about": about, "said": said, "words": str(WORDS), "open": opening, "close": closing}
        inside = {"missed": _listed(missed, opening, closing), "wrong": _listed(wrong, opening, closing)}
        system = "\n\n".join(
            f"# {heading}\n{Template(self.sections[name]).substitute(words)}" for name, heading in _SECTIONS.items()
        )
        line = fence("\n".join(inside.values()))
        user = Template(self.sections["input"]).substitute(words | inside | {"fence": line})
        messages = (Message("system", system), Message("user", user))
        temperature = _OTHER if sample else 0.0
        return Request(messages, SCHEMA, strict=True, temperature=temperature, max_tokens=1024, sample=sample)


def propose_prompt(name: str = "propose/v1") -> Proposing:
    """Load a shipped prompt for proposals.

    Raises:
        UnknownName: there is no prompt with that name.
    """
    if name not in shipped("propose"):
        raise UnknownName("prompt for proposals", name, shipped("propose"))
    return Proposing(name, sections_of(name))


def read_guideline(reply: str) -> str | None:
    """The guideline of a reply, on one line; None if the reply is not the requested object."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or set(answer) != set(SCHEMA["required"]):
        return None
    line = answer["guideline"]
    if not isinstance(line, str) or not isinstance(answer["reason"], str) or not line.strip():
        return None
    made = " ".join(sendable(line).split())
    return made if len(made.split()) <= WORDS * 3 // 2 else None


def _listed(contexts: Sequence[Context], opening: str, closing: str) -> str:
    lines = []
    for one in contexts:
        marked = f"{one.text[: one.start]}{opening}{one.words}{closing}{one.text[one.end :]}"
        part = f' (of it only "{one.part}" was found)' if one.part else ""
        lines.append("- " + " ".join(sendable(marked + part).split()))
    return "\n".join(lines) or "- none"


AROUND = 6
"""Words of context on either side."""
MOST = 12
"""Maximum number of contexts of each kind that a model is shown."""
_QUOTED = 4
"""A guideline with this many consecutive words of a context quotes it."""
_WORD = re.compile(r"\S+")
_COMMON = frozenset(
    word.casefold()
    for names in (calendar.day_name, calendar.day_abbr, calendar.month_name, calendar.month_abbr)
    for word in names
) | frozenset("spring summer autumn fall winter today tomorrow yesterday".split())


@dataclass(slots=True)
class Mistakes:
    """The errors of one type: spans that were missed, and findings that overlap no gold."""

    missed: list[Context] = field(default_factory=list, repr=False)
    wrong: list[Context] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.missed) + len(self.wrong)


def mistakes(gold: Sequence[Gold], found: Sequence[Sequence[LabeledSpan]], policy: Policy) -> dict[str, Mistakes]:
    """The errors by type, using the types that the policy requests from models.

    A gold span is missed if one of its letters or digits is in no finding of any type. A finding is wrong if none of
    its letters or digits is in a gold span. Types that the policy keeps, or that the catalogue lacks, are skipped.
    """
    made: dict[str, Mistakes] = {}
    for document, labels in zip(gold, found, strict=True):
        text = document.text
        in_gold, in_found = _covered(document.labels), _covered(labels)
        for start, end, fine in document.labels:
            if (type_ := _asked(fine, policy)) and any(
                text[i].isalnum() and i not in in_found for i in range(start, end)
            ):
                made.setdefault(type_, Mistakes()).missed.append(_context(text, start, end, in_found))
        for start, end, fine in labels:
            signs = [i for i in range(start, end) if text[i].isalnum()]
            if (type_ := _asked(fine, policy)) and signs and not any(i in in_gold for i in signs):
                made.setdefault(type_, Mistakes()).wrong.append(_context(text, start, end))
    return made


def _asked(fine: str, policy: Policy) -> str | None:
    return policy.serves(fine) if fine in catalogue() and policy.replaces(fine) else None


def _covered(labels: Sequence[LabeledSpan]) -> set[int]:
    return {at for start, end, _ in labels for at in range(start, end)}


def _context(text: str, start: int, end: int, found: Collection[int] = ()) -> Context:
    before = [m.start() for m in _WORD.finditer(text, max(0, start - 200), start)][-AROUND:]
    after = [m.end() for m in _WORD.finditer(text, end, end + 200)][:AROUND]
    first, last = (before or [start])[0], (after or [end])[-1]
    part = "".join(text[at] if at in found else " " for at in range(start, end))
    return Context(text[first:last], start - first, end - first, " ".join(part.split()))


def some(contexts: Sequence[Context], seed: int) -> list[Context]:
    """The contexts that a model is shown: a random order, with each distinct wording once before repetitions."""
    drawn = random.Random(seed).sample(list(contexts), len(contexts))  # noqa: S311 -- not a secret
    firsts: dict[str, Context] = {}
    rest = [one for one in drawn if firsts.setdefault(one.words.casefold(), one) is not one]
    return [*firsts.values(), *rest][:MOST]


def quotes(guideline: str, contexts: Sequence[Context], said: str, gold: Sequence[Gold] = ()) -> bool:
    """Return True if a guideline quotes a note: an identifier's own words, or four consecutive words of a context.

    Args:
        contexts: the contexts that its author was shown.
        gold: the texts they come from. Other identifiers may occur in a context. A single word of a name counts.
        said: the existing text of the prompt. Its words, and names of days and months, reveal nobody.
    """
    words = _words(guideline)
    known = set(_words(said)) | _COMMON
    runs = {tuple(words[at : at + _QUOTED]) for at in range(len(words) - _QUOTED + 1)}
    before = _words(said)
    runs -= {tuple(before[at : at + _QUOTED]) for at in range(len(before) - _QUOTED + 1)}
    inside = [_words(one.text) for one in contexts]
    sensitive = [_words(one.words) for one in contexts]
    for document in gold:
        for start, end, type_ in document.labels:
            own = _words(document.text[start:end])
            names = [own, *([word] for word in own if group(type_) == "PERSON")]
            sensitive += [name for name in names if any(_stands(name, shown) for shown in inside)]
    if any(own and not set(own) <= known and _stands(own, words) and _telling(own) for own in sensitive):
        return True
    return any(tuple(shown[at : at + _QUOTED]) in runs for shown in inside for at in range(len(shown) - _QUOTED + 1))


def _telling(words: Sequence[str]) -> bool:
    """Return True if the words are long enough, or have enough digits, not to match by chance."""
    return len("".join(words)) >= 4 or sum(map(str.isdigit, "".join(words))) >= 2


def _stands(words: Sequence[str], inside: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(inside)} "


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
