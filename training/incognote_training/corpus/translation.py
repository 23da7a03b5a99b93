"""Annotated texts of another language from annotated English ones (the Arabic paper, section 3).

    Seen by ⟦CLINICIAN:Mary Abara⟧.  →  Seen by CLINICIAN1.  →  Gesehen von CLINICIAN1.  →  Gesehen von Anna Weber.

Each entity is replaced by a type word with a number. A language model translates the text. The type words are found
again and replaced by values of the other language, and the spans are where these were written.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from incognote.errors import BudgetExhausted, ContextTooLong, ModelUnavailable, UsageError
from incognote.evaluation.experiments.plan import CHARACTERS, UsageEstimate
from incognote.evaluation.formats.document import LabeledSpan
from incognote.extraction.asking import Budget
from incognote.jsonlines import read_rows
from incognote.llm.base import LanguageModel, Message, Request, Usage
from incognote.llm.prices import Price
from incognote.schemas.catalogue import catalogue
from incognote_training.corpus.document import Document
from incognote_training.corpus.native import Entity, native_values

LANGUAGES = {"ar": "Arabic", "de": "German", "es": "Spanish", "fr": "French"}
_SYSTEM = """\
You translate clinical notes from English to {language}. Write {language} as clinicians write it, with the usual
abbreviations, and keep the layout and the line breaks.

The note contains type words: a type in Latin capitals and a number, such as PATIENT1 or DATE2. Each stands for words
that are filled in later. The same type word always stands for the same words.
- Copy every type word exactly as it is, as often as it occurs. Do not translate, spell out, change, add, or drop any.
- Put each type word where {language} grammar needs it. The order may change.
- You may attach a clitic, a preposition, or an ending directly to a type word if {language} grammar needs it.
- Choose the words around a type word so that the sentence stays correct when the words are filled in.

Write only the translation, without an introduction or a comment."""
COUNTS = ("expected", "lost", "doubled", "unknown", "inflected", "reordered")
_TYPES = "\n\nThe types of this note:\n"
_ABOUT = {
    "PATIENT": "a name of the patient",
    "CLINICIAN": "a name of a member of the treating staff, without a title",
    "RELATIVE": "a name of a relative, friend, employer or household member",
    "AGE": "an age, with its unit unless the text has the unit after it",
}
"""Descriptions for the translator where those of the catalogue do not say what the words look like."""
_FEW_WORDS = 4
"""A text with so few words besides its type words may be the same in both languages."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A document with type words in the place of its entities.

    Attributes:
        order: the type words in the order of the text.
        entities: by type word.
    """

    source: Document
    text: str = field(repr=False)
    order: tuple[str, ...]
    entities: Mapping[str, Entity] = field(repr=False)

    def find(self, text: str) -> list[re.Match[str]]:
        """Return the type words of this document in a text. Letters may be attached to them, but no capitals before."""
        known = "|".join(map(re.escape, self.entities))
        return list(re.finditer(rf"(?<![A-Z_])(?:{known})(?![\d_])", text)) if known else []


@dataclass(frozen=True, slots=True)
class Filled:
    """A translation with native values, or the reason why there is none.

    Attributes:
        document: None if the translation is rejected.
        counts: of type words, by COUNTS.
    """

    document: Document | None
    reason: str
    counts: Counter[str]


def mask(document: Document) -> Masked | None:
    """Replace each entity by its type and a number, which is the same for the same words.

    Returns:
        None if the text has something that looks like a type word, so that the places of the entities would be unsure.
    """
    words: dict[Entity, str] = {}
    numbers: Counter[str] = Counter()
    out: list[str] = []
    starts: list[int] = []
    at = length = 0
    for start, end, kind in document.spans:
        entity = (kind, document.text[start:end])
        if entity not in words:
            numbers[kind] += 1
            words[entity] = f"{kind}{numbers[kind]}"
        out += (document.text[at:start], words[entity])
        starts.append(length + start - at)
        length = starts[-1] + len(words[entity])
        at = end
    text = "".join([*out, document.text[at:]])
    masked = Masked(document, text, tuple(out[1::2]), {word: entity for entity, word in words.items()})
    found = masked.find(text)
    sure = [one.start() for one in found] == starts and tuple(one[0] for one in found) == masked.order
    return masked if sure and not _unknown(text, found) else None


def fill(masked: Masked, reply: str, code: str, seed: int = 1) -> Filled:
    """Replace the type words of a translation by values of the language. Nothing is guessed.

    A lost, doubled, or unknown type word rejects the translation. Letters attached to a type word stay outside the
    span.

    Raises:
        UsageError: there are no marked texts in the language.
    """
    text = reply.strip()
    found = masked.find(text)
    counts = _counts(masked, text, found)
    values = native_values(masked.source, code, seed)
    reason = next((f"{name} type word" for name in ("lost", "doubled", "unknown") if counts[name]), "")
    if not reason and text == masked.text.strip() and len(re.findall(r"[^\W\d_]{2,}", _rest(text, found))) > _FEW_WORDS:
        reason = "not translated"
    if not reason and len(values) < len(masked.entities):
        reason = "no native value"
    return Filled(None if reason else _written(masked, text, found, values, code), reason, counts)


def _written(
    masked: Masked, text: str, found: Sequence[re.Match[str]], values: Mapping[Entity, str], code: str
) -> Document:
    out: list[str] = []
    spans: list[LabeledSpan] = []
    at = length = 0
    for one in found:
        entity = masked.entities[one[0]]
        out += (text[at : one.start()], values[entity])
        start = length + one.start() - at
        length = start + len(values[entity])
        spans.append(LabeledSpan(start, length, entity[0]))
        at = one.end()
    source = masked.source
    whole = "".join([*out, text[at:]])
    return Document(f"{source.id}-{code}", whole, tuple(spans), code, source.style, f"{source.source}+translation")


def _counts(masked: Masked, text: str, found: Sequence[re.Match[str]]) -> Counter[str]:
    expected, present = Counter(masked.order), Counter(one[0] for one in found)
    attached = [text[one.start() - 1 : one.start()] + text[one.end() : one.end() + 1] for one in found]
    return Counter({
        "expected": len(masked.order),
        "lost": (expected - present).total(),
        "doubled": (present - expected).total(),
        "unknown": _unknown(text, found),
        "inflected": sum(any(unicodedata.category(sign)[0] in "LM" for sign in signs) for signs in attached),
        "reordered": _reordered(masked.order, [one[0] for one in found]) if present == expected else 0,
    })  # fmt: skip


def _reordered(order: Sequence[str], found: Sequence[str]) -> int:
    """Return how many of the same type words must move to restore the order."""
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for place, word in enumerate(order):
        places[word].append(place)
    rising: list[int] = []  # the last places of the longest runs that are in order, by length
    for place in [places[word].popleft() for word in found]:
        i = bisect_left(rising, place)
        rising[i : i + 1] = [place]
    return len(found) - len(rising)


@cache
def _any_type_word() -> re.Pattern[str]:
    """Match whatever looks like a type word: any type with a number in any case or script, or with an underscore."""
    kinds = sorted(catalogue(), key=len, reverse=True)
    long = "|".join(kind for kind in kinds if "_" in kind)
    return re.compile(rf"(?<![A-Za-z])(?:(?:{'|'.join(kinds)})_?\d+|{long})", re.IGNORECASE)


def _unknown(text: str, found: Sequence[re.Match[str]]) -> int:
    return len(_any_type_word().findall(_rest(text, found)))


def _rest(text: str, found: Sequence[re.Match[str]]) -> str:
    ends, starts = [0, *(one.end() for one in found)], [*(one.start() for one in found), len(text)]
    return "\n".join(text[a:b] for a, b in zip(ends, starts, strict=True))


def request(masked: Masked, code: str) -> Request:
    """Return the request to translate a document. The system message explains the types that occur in it."""
    kinds = dict.fromkeys(kind for kind, _ in masked.entities.values())
    about = [f"- {kind}: {_ABOUT.get(kind, catalogue()[kind].about)}" for kind in kinds]
    legend = _TYPES + "\n".join(about) if about else ""
    system = _SYSTEM.format(language=LANGUAGES[code]) + legend
    return Request((Message("system", system), Message("user", masked.text)))


def prompt_line(masked: Masked, code: str) -> str:
    """Return a document's prompt as a line of JSON with `id`, `system`, and `user`."""
    system, user = (message.content for message in request(masked, code).messages)
    return json.dumps({"id": masked.source.id, "system": system, "user": user}, ensure_ascii=False) + "\n"


def read_replies(path: str | Path) -> dict[str, str]:
    """Read replies by document: JSON lines with `id` and `reply`.

    Raises:
        UsageError: the file cannot be read, or a line is malformed or repeats an id. The message names file and line.
    """
    replies: dict[str, str] = {}
    for number, row in read_rows(path):
        where = f"{Path(path).name} line {number}"
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("id", "reply")):
            raise UsageError(f"{where}: write an object with the strings id and reply")
        if row["id"] in replies:
            raise UsageError(f"{where}: id repeats that of an earlier line. Keep one reply for each document")
        replies[row["id"]] = row["reply"]
    return replies


def cost(notes: Iterable[Masked], code: str, price: Price | None) -> UsageEstimate:
    """Estimate the usage before any model is asked. `usd` is None if no price is known."""
    shown = [[len(message.content) for message in request(note, code).messages] for note in notes]
    used = Usage(sum(map(sum, shown)) // CHARACTERS, 2 * sum(user for _, user in shown) // CHARACTERS)
    return UsageEstimate(len(shown), used.input, used.output, None if price is None else price.of(used))


async def ask(
    notes: Sequence[Masked], code: str, model: LanguageModel, *, budget: Budget | None = None, concurrency: int = 4,
    watch: Callable[[int], None] | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return the complete replies by document. A document whose reply was cut or refused has none.

    Args:
        model: already guarded and recorded, so that a second call continues and nothing is paid for twice.

    Raises:
        ModelProblem: the model did not answer, or the budget is spent.
    """
    slots, budget = asyncio.Semaphore(concurrency), budget or Budget()
    replies: dict[str, str] = {}
    finished: list[str] = []

    async def one(note: Masked) -> None:
        async with slots:
            try:
                budget.permit()
                reply = await model.complete(request(note, code))
                budget.take(reply.usage)
                if reply.finish == "stop":
                    replies[note.source.id] = reply.text
            except ContextTooLong:
                pass  # a document that is too long must not stop the others
            except BudgetExhausted:
                raise ModelUnavailable(
                    "the budget is spent. Run again with a larger --budget-usd; nothing is paid for twice"
                ) from None
            finished.append(note.source.id)
            if watch is not None:
                watch(len(finished))

    tasks = [asyncio.ensure_future(one(note)) for note in notes]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return replies


class Translation:
    """The documents of a corpus that can be translated, and what became of all.

    Attributes:
        notes: to be translated.
        rejected: documents by reason.
        type_words: the sums of the counts of all replies.

    Raises:
        UsageError: the language is unknown, or an id occurs twice.
    """

    def __init__(self, documents: Iterable[Document], code: str, seed: int = 1) -> None:
        if code not in LANGUAGES:
            raise UsageError(f"language: choose one of {', '.join(LANGUAGES)}")
        self.code, self.seed = code, seed
        self.notes: list[Masked] = []
        self.rejected: Counter[str] = Counter()
        self.type_words: Counter[str] = Counter()
        ids: set[str] = set()
        for number, document in enumerate(documents, 1):
            if document.id in ids:
                raise UsageError(f"corpus line {number}: id repeats that of an earlier line. Give each its own")
            ids.add(document.id)
            note = mask(document) if document.lang == "en" else None
            if note is not None:
                self.notes.append(note)
            else:
                self.rejected["not English" if document.lang != "en" else "type word in the source"] += 1
        self.documents = len(ids)

    def filled(self, replies: Mapping[str, str]) -> list[Document]:
        """Return the translated documents, in the order of the corpus. The rest is counted by reason."""
        made: list[Document] = []
        for note in self.notes:
            reply = replies.get(note.source.id, "")
            if not reply.strip():
                self.rejected["no complete reply"] += 1
                continue
            filled = fill(note, reply, self.code, self.seed)
            self.type_words.update(filled.counts)
            if filled.document is not None:
                made.append(filled.document)
            else:
                self.rejected[filled.reason] += 1
        return made

    def figures(self) -> dict[str, Any]:
        """Return the numbers of documents, of those rejected by reason, and of type words."""
        return {
            "documents": self.documents,
            "translated": self.documents - self.rejected.total(),
            "rejected": dict(sorted(self.rejected.items())),
            "type words": {name: self.type_words[name] for name in COUNTS},
        }
