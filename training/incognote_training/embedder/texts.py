"""Texts for training and examining the student: pieces of notes, and short strings made by Faker."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from incognote.errors import MissingExtra, UsageError
from incognote.jsonlines import read_rows

# not it_IT: the order of its places differs between processes
LOCALES = ("en_US", "en_GB", "en_IN", "es_ES", "es_MX", "fr_FR", "de_DE", "pt_BR", "nl_NL", "pl_PL", "tr_TR")
_TEXTS = ("text", "note", "dialogue")
_KEPT_APART = 5  # one document in five is kept for the examination
_KINDS = ("Hospital", "Medical Center", "Clinic", "Memorial Hospital", "Health Center", "University Hospital",
          "Children's Hospital", "Rehabilitation Center", "Nursing Home", "Family Practice", "Community College",
          "High School", "Department of Cardiology", "Police Department", "County Jail", "Hospice")  # fmt: skip
_TITLES = ("Dr.", "Mr.", "Mrs.", "Ms.", "Prof.", "Nurse")


@dataclass(frozen=True, slots=True)
class Note:
    """A document, and the same with its annotated spans masked (None if it has no annotation)."""

    text: str
    masked: str | None


@dataclass(frozen=True, slots=True)
class Referent:
    """A made-up person, place, or institution, and other ways to write it."""

    canonical: str
    variants: tuple[str, ...]


def read_notes(paths: Iterable[str | Path]) -> tuple[list[Note], list[Note]]:
    """The documents for training and the held-out ones, split by a hash of their id, or of their text.

    Raises:
        UsageError: a file cannot be read, or a line is not a JSON object with one of text, note, dialogue.
    """
    taught: list[Note] = []
    apart: list[Note] = []
    for path in paths:
        for _, row in read_rows(path, "--notes"):
            found = [row[name] for name in _TEXTS if isinstance(row.get(name), str)] if isinstance(row, dict) else []
            if not found:
                raise UsageError(f"--notes: each line must have one of {', '.join(_TEXTS)}")
            side = apart if crc32(str(row.get("id", found[0])).encode()) % _KEPT_APART == 0 else taught
            side += [Note(text, _masked(text, row.get("spans"))) for text in found]
    return taught, apart


def _masked(text: str, spans: Sequence[dict[str, Any]] | None) -> str | None:
    if not spans:
        return None
    out, at = "", 0
    for span in sorted(spans, key=lambda s: int(s["start"])):
        if span["start"] >= at:
            out += f"{text[at : span['start']]}[{span['type']}]"
            at = span["end"]
    return out + text[at:]


def pieces(notes: Iterable[Note], chance: random.Random) -> Iterator[str]:
    """Every note once, cut into stretches of 3 to 120 words, and for some notes the masked version too."""
    for note in notes:
        yield from _cut(note.text, chance)
        if note.masked is not None and chance.random() < 0.3:
            yield from _cut(note.masked, chance)


def _cut(text: str, chance: random.Random) -> Iterator[str]:
    words = text.split()
    at = 0
    while at < len(words):
        width = chance.choice((3, 5, 8, 12, 20, 40, 80, 120))
        yield " ".join(words[at : at + width])
        at += width


def referents(count: int, seed: int) -> list[Referent]:
    """Persons, addresses, places, and institutions in eleven locales, each with variants.

    Raises:
        MissingExtra: the extra `distill` is not installed.
    """
    try:
        from faker import Faker
    except ImportError:
        raise MissingExtra("distill", "distilling the embedder") from None
    chance = random.Random(seed)  # noqa: S311  # reproducible material, not a secret
    makers = []
    for locale in LOCALES:
        maker = Faker(locale)
        maker.seed_instance(chance.randrange(2**32))
        makers.append(maker)
    return [_referent(chance.choice(makers), chance) for _ in range(count)]


def _referent(made: Any, chance: random.Random) -> Referent:
    kind = chance.choice(("person", "person", "person", "address", "place", "institution", "company"))
    ways: tuple[str, ...]
    if kind == "person":
        first, last, middle = made.first_name(), made.last_name(), made.first_name()
        ways = (f"{last}, {first}", f"{chance.choice(_TITLES)} {last}", f"{first[0]}. {last}",
                f"{first} {middle[0]}. {last}", f"{last} {first}", f"{chance.choice(_TITLES)} {first} {last}",
                f"{last}, {first} {middle}", first, last, f"{first} {last}, MD",
                f"{first} {last}-{made.last_name()}", f"{last}'s")  # fmt: skip
        return Referent(f"{first} {last}", tuple(chance.sample(ways, 3)))
    if kind == "address":
        street, city, code = made.street_address().replace("\n", ", "), made.city(), made.postcode()
        ways = (f"{street}, {code} {city}", f"{street}, {city}", street, f"{city} {code}", f"{street} {city} {code}")
        return Referent(f"{street}, {city} {code}", tuple(chance.sample(ways, 2)))
    if kind == "place":
        city, country = made.city(), made.country()
        return Referent(city, (f"{city}, {country}", f"city of {city}"))
    if kind == "company":
        company = made.company()
        return Referent(company, (company.split(",")[0], f"{company} ({made.job().lower()})"))
    of, what = chance.choice((made.last_name, made.city))(), chance.choice(_KINDS)
    head = chance.choice(("", "St. ", "Mount ", "Saint "))
    return Referent(f"{head}{of} {what}", (f"{of} {what}", f"{what} of {of}", f"the {of} {what.split()[-1].lower()}"))


def strings(made: Iterable[Referent]) -> Iterator[str]:
    """All ways to write the referents, without duplicates."""
    return iter(dict.fromkeys(text for one in made for text in (one.canonical, *one.variants)))


def word_bags(vocabulary: Sequence[str], count: int, chance: random.Random) -> Iterator[str]:
    """Every whole word of a vocabulary alone, then bags of two to four words, so that every word is taught."""
    yield from vocabulary
    for _ in range(count):
        yield " ".join(chance.choices(vocabulary, k=chance.randint(2, 4)))
