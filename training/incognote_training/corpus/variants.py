"""Marked texts in several languages, with copies in which identifiers are replaced by others of the same kind.

A model that sees a name in every copy of a text learns the name. If each copy has another name, it learns the context.
Names are drawn from the lists of the language packages, other identifiers from the marks of the same language.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from incognote.detectors.encoder.units import units
from incognote.detectors.encoder.words import key
from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan
from incognote.text.characters import without_marks
from incognote.text.lexicon import fold
from incognote_training.corpus import marked
from incognote_training.corpus.document import Document

CODES = ("ar", "de", "es", "fr")
NAMES = frozenset({"PATIENT", "RELATIVE", "CLINICIAN", "PERSON"})
_DRAWN = frozenset(
    {"AGE", "DATE", "DATE_TIME", "BIRTH_DATE_TIME", "DEATH_DATE_TIME", "HOSPITAL", "PHARMACY", "DIAGNOSTIC_LABS",
     "ORGANIZATION", "ADDRESS", "STREET", "CITY", "STATE", "COUNTRY", "LOCATION", "OCCUPATION", "ROOM", "EMAIL"}
)  # fmt: skip
_KEPT = 0.3
"""The share of identifiers that stay in a copy."""
_DEVELOPMENT = 12
"""Every twelfth text of an author is for calibration."""
_RARE = 3
"""A word of the vocabulary occurs at least this often outside the marks."""
_WORD = re.compile(r"[^\W\d_]+")
_LINE = re.compile(r"(\+?)([1-7]):? +(.+)")  # of a list of names
_PARTICLES = frozenset(
    "de del la las los el y e da do dos van der den von zu zur zum am du des le les ben ibn bin al ould und et "
    "بن بنت ابن ابو أبو أم ام آل ال عبد ولد با".split()
)
_TYPES = {
    "NOMBRE_SUJETO_ASISTENCIA": "PATIENT", "NOMBRE_PERSONAL_SANITARIO": "CLINICIAN", "EDAD_SUJETO_ASISTENCIA": "AGE",
    "FECHAS": "DATE", "PROFESION": "OCCUPATION", "HOSPITAL": "HOSPITAL", "CENTRO_SALUD": "HOSPITAL",
    "INSTITUCION": "ORGANIZATION", "CALLE": "ADDRESS", "TERRITORIO": "CITY", "PAIS": "COUNTRY",
    "NUMERO_TELEFONO": "TELEPHONE_NUMBER", "NUMERO_FAX": "FAX_NUMBER", "CORREO_ELECTRONICO": "EMAIL",
    "ID_SUJETO_ASISTENCIA": "MEDICAL_RECORD_NUMBER", "ID_CONTACTO_ASISTENCIAL": "GUID",
    "ID_ASEGURAMIENTO": "HEALTH_PLAN_ID", "ID_TITULACION_PERSONAL_SANITARIO": "LICENSE_NUMBER",
    "NOM": "PERSON", "PRENOM": "PERSON", "DATE": "DATE", "DATE_NAISSANCE": "BIRTH_DATE_TIME",
    "TEL": "TELEPHONE_NUMBER", "VILLE": "CITY", "HOPITAL": "HOSPITAL", "ADRESSE": "ADDRESS", "ADDRESSE": "ADDRESS",
    "ZIP": "ZIP", "MAIL": "EMAIL", "SECU": "SSN_OR_TAXPAYER", "IPP": "MEDICAL_RECORD_NUMBER", "NDA": "GUID",
}  # fmt: skip
"""The types of MEDDOCAN and of the EDS-Pseudo templates. Others (sex, words for relatives) are left out."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents for training, and those held back for calibration."""

    training: tuple[Document, ...]
    development: tuple[Document, ...]


def handwritten(codes: Sequence[str] = CODES) -> Corpus:
    """Return the marked texts of languages, divided.

    Raises:
        UsageError: there are no texts in one of the languages.
    """
    training: list[Document] = []
    development: list[Document] = []
    for code in codes:
        if code not in CODES:
            raise UsageError(f"there are no marked texts in {code}. Choose one of {', '.join(CODES)}")
        for path in sorted((Path(__file__).parent / "languages" / code).glob("*.txt")):
            for i, document in enumerate(marked.read(path)):
                (development if i % _DEVELOPMENT == 0 else training).append(replace(document, lang=code))
    return Corpus(tuple(training), tuple(development))


def open_corpus(path: Path) -> Iterator[Document]:
    """Read MEDDOCAN or the EDS-Pseudo templates as JSON lines. Overlapping spans are dropped.

    Raises:
        UsageError: the file cannot be read, or a line is malformed.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, lines):
            spans: list[LabeledSpan] = []
            for span in sorted(row["spans"], key=lambda s: (s["start"], -s["end"])):
                kind = _TYPES.get(span["type"])
                words = row["text"][span["start"] : span["end"]]
                if kind == "CITY" and words.isdigit():
                    kind = "ZIP"
                if kind and (not spans or spans[-1].end <= span["start"]):
                    spans.append(LabeledSpan(span["start"], span["end"], kind))
            yield Document(row["id"], row["text"], tuple(spans), row["lang"], "", path.stem)
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path.name} cannot be read as JSON lines with id, text, lang and spans") from None


class Variants:
    """Makes copies of documents.

    Args:
        documents: their marks are the pool from which identifiers are drawn.
        seed: the same seed makes the same copies.
    """

    def __init__(self, documents: Sequence[Document], seed: int = 1) -> None:
        self._random = random.Random(seed)  # noqa: S311 -- the same seed must make the same copies
        self._pool: dict[tuple[str, str], list[str]] = {}
        self._latin: list[str] = []  # words of names in Latin letters in Arabic texts
        for document in documents:
            for start, end, kind in document.spans:
                words = document.text[start:end]
                self._pool.setdefault((document.lang, kind), []).append(words)
                if document.lang == "ar" and kind in NAMES:
                    self._latin += [word for word in _WORD.findall(words) if word.isascii() and len(word) > 2]

    def __call__(self, document: Document, number: int) -> Document:
        """Return a copy of a document with other identifiers, and sometimes in another case or without accents."""
        out: list[str] = []
        spans: list[LabeledSpan] = []
        at = length = 0
        again: dict[str, str] = {}
        write = self._writing(document.lang)
        for start, end, kind in document.spans:
            before = write(document.text[at:start])
            words = write(self._other(document.text[start:end], kind, document.lang, again))
            out += (before, words)
            length += len(before)
            spans.append(LabeledSpan(length, length + len(words), kind))
            length += len(words)
            at = end
        out.append(write(document.text[at:]))
        source = f"{document.source}+variant"
        return Document(f"{document.id}-v{number}", "".join(out), tuple(spans), document.lang, document.style, source)

    def _writing(self, code: str) -> Any:
        chance = self._random.random()
        if code == "ar":
            return (lambda text: text.translate(_BARE)) if chance < 0.15 else str
        if chance < 0.04:
            return lambda text: "".join(c.upper() if len(c.upper()) == 1 else c for c in text)
        if chance < 0.09:
            return lambda text: "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        if chance < 0.17:
            return without_marks
        return str

    def _other(self, words: str, kind: str, code: str, again: dict[str, str]) -> str:
        if self._random.random() < _KEPT:
            return words
        if kind in NAMES:
            return _WORD.sub(lambda found: self._name(found[0], code, again), words)
        if kind in _DRAWN:
            return self._random.choice(self._pool[code, kind])
        return re.sub(r"[0-9]", lambda _: str(self._random.randrange(10)), words)

    def _name(self, word: str, code: str, again: dict[str, str]) -> str:
        folded = fold(word)
        if word in _PARTICLES or folded in _PARTICLES:
            return word
        if len(word) == 1:
            return self._random.choice("ABCDEFGHIJKLMNOPRSTVWZ") if word.isupper() and word.isascii() else word
        if folded not in again:
            given, surnames = name_lists(code) if code != "ar" or not word.isascii() else (self._latin, self._latin)
            again[folded] = self._random.choice(given if folded in _given(code) else surnames)
        made = again[folded]
        article = word.startswith("ال") and not made.startswith("ال")
        if word.isupper():
            return made.upper()
        return ("ال" if article else "") + (made.capitalize() if word[0].isupper() else made)


_BARE = {ord(a): b for a, b in zip("أإآىة", "اااية", strict=True)} | dict.fromkeys(range(0x64B, 0x653), None)


@cache
def name_lists(code: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return given names and surnames, a common one several times. In the lists, U+200C is a space within a name.

    A name marked "+" is also written with the Arabic article.
    """
    folder = Path(__file__).parents[3] / "languages" / code / "scripts" / "lists"
    return _weighted(next(folder.glob("given*.txt"))), _weighted(folder / "surnames.txt")


def _weighted(path: Path) -> list[str]:
    made: list[str] = []
    for found in filter(None, map(_LINE.fullmatch, path.read_text(encoding="utf-8").splitlines())):
        words = [word.replace("\u200c", " ") for word in found[3].split(" ") if word[:1].isalpha()]
        with_article = ["ال" + word for word in words if found[1] and " " not in word]
        made += [*words, *with_article] * (1 + int(found[2]) // 3)
    return made


@cache
def _given(code: str) -> frozenset[str]:
    return frozenset(map(fold, name_lists(code)[0]))


def vocabulary(documents: Sequence[Document]) -> list[str]:
    """Return the words that occur often enough outside the marks, sorted. No name of a document is among them."""
    counts: Counter[str] = Counter()
    for document in documents:
        found = units(document.text, {})
        inside = [False] * (len(document.text) + 1)
        for start, end, _ in document.spans:
            inside[start:end] = [True] * (end - start)
        places = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
        counts.update({key(document.text[a:b]) for a, b in places if not inside[a]})
    return sorted(word for word, n in counts.items() if n >= _RARE)


def training(corpus: Corpus, more: Sequence[Document], copies: int, seed: int) -> Iterator[Document]:
    """Yield each document, followed by its copies. Documents of open corpora, which are many, have none."""
    vary = Variants([*corpus.training, *more], seed)
    for document in corpus.training:
        yield document
        for i in range(copies):
            yield vary(document, i + 1)
    yield from more
