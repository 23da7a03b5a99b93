"""Insert our own identifiers into real clinical prose.

The rules detector finds the identifiers that a note already has. Names, ages, dates, and institutions found with a high
score become slots, so that the document's own people appear there. A sentence is left out if it has any other finding,
or a possible identifier that the rules missed (`injection.toml`, rare names of the lexicon). Then subjects are replaced
by names, and names of relatives and dates of visits are added. The prose is optional and never part of the package:
ACI-BENCH (CC BY 4.0) and public sample reports.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from incognote.align.merge import merge
from incognote.detectors.rules import RulesDetector
from incognote.errors import SettingError
from incognote.jsonlines import read_rows
from incognote.nouns import Span, Text
from incognote.text import lexicon
from incognote_training.corpus.grammar import Choice, Maybe, Node, Piece, Slot, Template, parse

FILES = ("acibench_notes_dialogues.jsonl", "mtsamples_subset.jsonl")
_PLAIN = frozenset("MARITAL_STATUS PARENTHOOD RACE ETHNICITY DEPARTMENT".split())
_SURE = 0.75
_BREAK = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)(?<!\bvs\.)(?<!\bSt\.)(?<!\bNo\.)(?<!\b\d\.)(?<=[.!?])\s+(?=[A-Z•\d\[])|\n+"
)
_WORD = re.compile(r"[^\W\d_]+")
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Doctor)\b\.? *$")
_WEEKDAY = re.compile(r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?s?)", re.IGNORECASE)
_MONTH = re.compile(r"[A-Z][a-z]{2,8}\.?")


@dataclass(frozen=True, slots=True)
class Prose:
    """One real text as templates, sentence by sentence.

    Attributes:
        sex: of its patient: F, M, or "" if the text does not say.
        talk: whether it is a dialogue.
        sentences: each with the white space that followed it.
    """

    sex: str
    talk: bool
    sentences: tuple[tuple[Template, str], ...] = field(repr=False)


class Source:
    """Real prose to draw from.

    Args:
        folder: the folder of the files.
        limit: maximum number of texts per file; 0 for all.

    Raises:
        SettingError: the folder does not exist or has none of the files.
    """

    def __init__(self, folder: str | Path, limit: int = 0) -> None:
        found = [path for name in FILES if (path := Path(folder) / name).is_file()]
        if not found:
            raise SettingError(f"[synth] prose must name a folder with {' or '.join(FILES)}: fix it or leave it out")
        detector = RulesDetector()
        every = [
            one for path in found for row in _rows(path, limit) for one in _prepared(row, detector) if one.sentences
        ]
        self._some = {
            (sex, talk): [one for one in every if one.sex in (sex, "") and one.talk is talk]
            for sex in "FM"
            for talk in (False, True)
        }
        self.size = len(every)

    def __call__(self, random: Random, sex: str, talk: bool) -> Template | None:
        """Several consecutive sentences of a note or a dialogue that fits the patient's sex, or None."""
        some = self._some[sex, talk]
        if not some:
            return None
        sentences = random.choice(some).sentences
        first = random.randrange(max(1, len(sentences) - 2))
        nodes: list[Node] = []
        for template, after in sentences[first : first + random.choice((2, 3, 4, 6, 9, 14))]:
            nodes += (*template, after)
        return tuple(nodes[:-1])


def _rows(path: Path, limit: int) -> Iterator[list[str]]:
    """The texts of each line. All texts of a line are about one patient."""
    for _, row in islice(read_rows(path), limit or None):
        texts = [row[key] for key in ("note", "dialogue", "text") if isinstance(row.get(key), str)]
        yield [re.sub(r":\s*,\s*", ": ", text).replace(",,", ",").replace("\r", "") for text in texts]


def _prepared(row: Sequence[str], detector: RulesDetector) -> Iterator[Prose]:
    patient: tuple[str, ...] = ()
    for text in row:
        spans = merge([s for s in detector.detect([Text(text)])[0] if s.type not in _PLAIN])
        patient = patient or _patient(spans)
        yield prepared(text, spans, patient)


def prepared(text: str, spans: Sequence[Span], patient: tuple[str, ...]) -> Prose:
    """Prepare a real text: findings become slots, and doubtful sentences are removed.

    Args:
        spans: the rules' findings, disjoint.
        patient: the words of the patient's name, in lower case, with the given name first.
    """
    begin, sentences = 0, []
    for stop in [*_BREAK.finditer(text), None]:
        end = stop.start() if stop else len(text)
        template = _sentence(text, begin, end, spans, patient)
        if template is not None:
            after = "" if stop is None else stop.group()
            sentences.append((template, "\n" if "\n" in after else after))
        begin = stop.end() if stop else end
    return Prose(_sex(text), "[doctor]" in text, tuple(sentences))


def _patient(spans: Sequence[Span]) -> tuple[str, ...]:
    """The words of the first full name in a text."""
    names = (s.text for s in spans if s.type in ("PERSON", "PATIENT") and len(s.text.split()) == 2)
    return tuple(next(names, "").lower().split())


def _sex(text: str) -> str:
    words = [word.lower() for word in _WORD.findall(text)]
    women = sum(word in ("she", "her", "female", "woman") for word in words)
    men = sum(word in ("he", "his", "him", "male", "man") for word in words)
    return "" if women == men == 0 else "F" if women > 2 * men else "M" if men > 2 * women else ""


def _sentence(text: str, begin: int, end: int, spans: Sequence[Span], patient: tuple[str, ...]) -> Template | None:
    """A sentence as a template; None if it is empty or doubtful."""
    if end - begin < 4:
        return None
    nodes: list[Node] = []
    at = begin
    for span in spans:
        if span.end <= begin or span.start >= end:
            continue
        if span.start < begin or span.end > end:
            return None
        made = _slot(span, patient, text[begin : span.start], text[span.end : end])
        if made is None:
            return None
        nodes += (text[at : span.start], made)
        at = span.end
    nodes.append(text[at:end])
    nodes = [part for node in nodes for part in _named(node, patient)]
    plain = [node for node in nodes if isinstance(node, str)]
    if any(_doubtful(words, number == 0) for number, words in enumerate(plain)):
        return None
    return tuple(injected([node for node in nodes if node != ""]))


def _named(node: Node, patient: Sequence[str]) -> Iterator[Node]:
    """Replace the patient's name in plain words by slots. Dialogues often have it in lower case."""
    if not isinstance(node, str) or not patient:
        yield node
        return
    at = 0
    for found in re.finditer(rf"\b(?:{'|'.join(map(re.escape, patient))})\b", node, re.IGNORECASE):
        yield node[at : found.start()]
        yield Slot("pt.first" if found.group().lower() == patient[0] else "pt.last", "", False)
        at = found.end()
    yield node[at:]


def _slot(span: Span, patient: tuple[str, ...], before: str, after: str) -> Node | None:
    """The slot for a finding; its words if our guide does not mark them; None if in doubt."""
    words = span.text
    kind = span.type
    if kind in ("PERSON", "PATIENT", "RELATIVE", "CLINICIAN"):
        parts = words.lower().split()
        if set(parts) & set(patient) and kind != "CLINICIAN":
            how = "fl" if len(parts) > 1 else "last" if _TITLE.search(before) else "first"
            return Slot(f"pt.{how}", "", False)
        doctor = re.search(r"\b(?:Dr|Doctor)\b\.? *$", before)
        if doctor and len(words) > 2 and words[0].isupper():
            number = 2 + sum(map(ord, parts[-1])) % 4
            return Slot(f"dr{number}.{'fl' if len(parts) > 1 else 'last'}", "", False)
        return None
    if span.score < _SURE:
        return words if kind == "DATE" and _WEEKDAY.fullmatch(words) else None
    if kind == "AGE":
        old = re.fullmatch(r"\d+[- ]years?[- ]old", words)
        about = re.search(r"(?:is|This|this|was|pleasant|This is) an? $|^(?:A|An) $", before)
        return Slot("age.old", "", False) if old and about else Piece(words, "AGE")
    if kind in ("DATE", "DATE_TIME"):
        if re.fullmatch(r"\d{1,2}/\d{1,2}/\d{2,4}", words):
            return Slot("d?-200", "p", False)
        if _MONTH.fullmatch(words) and "May" not in words:
            return Slot("m?-1", "", False)
        return Slot("y?-9", "", False) if re.fullmatch(r"(?:19|20)\d\d", words) else Piece(words, "DATE")
    named = {"HOSPITAL": "hosp2", "CITY": "city", "STATE": "state", "PHARMACY": "pharm"}.get(kind)
    return Slot(named, "", False) if named else None


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("injection.toml").read_text(encoding="utf-8"))


@cache
def _doubts() -> re.Pattern[str]:
    return re.compile("|".join(_data()["doubt"]["patterns"]))


def _doubtful(words: str, first: bool) -> bool:
    """Return True if plain words may hold an identifier: a pattern, or a word that is only a name."""
    if _doubts().search(words):
        return True
    table = lexicon.lexicon()
    for number, found in enumerate(_WORD.finditer(words)):
        word = found.group()
        entry = table.get(lexicon.fold(word), 0)
        weight = max(lexicon.given(entry), lexicon.surname(entry))
        capital = word[0].isupper() and not word.isupper() and not (first and number == 0)
        known = entry >> 8 & ~(lexicon.PLACE >> 8)
        if lexicon.commonness(entry) < 2 and (weight >= 3 and not known if capital else lexicon.given(entry) >= 5):
            return True
        if capital and not entry and len(word) > 3:
            return True
    return False


@cache
def _subjects() -> dict[str, tuple[Template, ...]]:
    """Maps the words that begin a sentence to their possible replacements."""
    made: dict[str, tuple[Template, ...]] = {}
    for entry in _data()["subject"]:
        for words in entry["words"]:
            parts: list[Template] = []
            for one in entry["as"]:
                slot, _, rest = one.partition(" ")
                parts.append((Slot(slot, "", False), rest) if rest else (Slot(slot, "", False),) if slot else (words,))
            made[words] = tuple(parts)
    return made


@cache
def _additions() -> tuple[tuple[re.Pattern[str], Maybe], ...]:
    return tuple(
        (
            re.compile(rf"\b{entry['words']}\b(?!['’])"),
            Maybe(entry["chance"] / 100, parse(entry["add"], "injection.toml")),
        )
        for entry in _data()["after"]
    )


def injected(nodes: list[Node]) -> Iterator[Node]:
    """A sentence with slots for our own identifiers."""
    if nodes and isinstance(nodes[0], str) and not any(kin.match(nodes[0]) for kin, _ in _additions()):
        for words in sorted(_subjects(), key=len, reverse=True):
            if nodes[0].startswith(words + " "):
                yield Choice(_subjects()[words])
                nodes = [nodes[0][len(words) :], *nodes[1:]]
                break
    for node in nodes:
        if not isinstance(node, str):
            yield node
            continue
        found = sorted(
            ((match.end(), addition) for pattern, addition in _additions() for match in pattern.finditer(node)),
            key=lambda pair: pair[0],
        )
        at = 0
        for end, addition in found:
            yield node[at:end]
            yield addition
            at = end
        yield node[at:]
