"""Measure how well people and institutions are recognized whose names other notes spell differently.

    python benchmarks/scripts/spellings.py --out docs/measured/spellings.json

Each spelling of spellings.toml is in a note of its own: staff and institutions in the notes of different patients, and
relatives in the notes of one patient. The notes arrive one at a time, in three random orders, and each order has a new
index. Everything runs twice: with the vector search and without it. A B-cubed score counts the mentions of people with
several spellings; precision also drops if one of the similar names (`apart`) joins them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import string
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incognote.embedding import open_embedder
from incognote.evaluation.relex.consistency import bcubed, repeated
from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex import partition
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import Tools
from incognote.relex.cluster import variant
from incognote.relex.graph import relexicalize
from incognote.relex.nouns import MentionVariant
from incognote.relex.pools import pools
from incognote.testing.memory_index import MemoryIndex
from incognote.text.lexicon import lexicon, surname

NAMES = Path(__file__).with_name("spellings.toml")
ORDERS = 3
_KEY = Keyring(bytes(32))
_FRAMES = {
    "CLINICIAN": "Seen today. The note was signed by {}.",
    "RELATIVE": "{} came along and helped with the history.",
    "HOSPITAL": "The patient was last admitted to {} for two days.",
}
_SCANNED = (("m", "rn"), ("rn", "m"), ("d", "cl"), ("cl", "d"), ("w", "vv"), ("h", "li"))
_SEED = 3
LONE = 60
Noted = tuple[RelexNote, str]
"""A note with one mention, and the gold identity of the mention."""


def notes(part: str) -> list[Noted]:
    """The notes of a part of the file. Relatives are in one patient's notes; the others have a patient per note."""
    table = tomllib.loads(NAMES.read_text(encoding="utf-8"))[part]
    kinds = {"staff": "CLINICIAN", "relatives": "RELATIVE", "same": "HOSPITAL", "apart": "CLINICIAN"}
    made: list[Noted] = []
    for key, groups in table.items():
        kind = "HOSPITAL" if part == "institutions" else kinds[key]
        for at, spellings in enumerate(groups):
            for written in spellings:
                record = f"{part} {len(made):03}"
                patient = "family" if kind == "RELATIVE" else record
                made.append((_note(record, patient, kind, written), f"{key} {at}"))
    return made


def lone() -> list[Noted]:
    """Clinicians with their whole name in one patient's note, and in another's with the surname alone, two letters off.

    The surnames have eight letters or more and are in the lexicon. Half have letters that a scanner confuses.
    """
    draw = random.Random(_SEED)  # noqa: S311 -- made-up notes, not a secret
    rare = sorted(name for name, weight in lexicon().items() if surname(weight) and len(name) > 7 and name.isalpha())
    given = pools().people["en"].names("female")
    made: list[Noted] = []
    for at, name in enumerate(draw.sample(rare, LONE)):
        person, wrong = f"{draw.choice(given)} {name.title()}", _misspelled(name, draw).title()
        for which, written in enumerate((person, wrong)):
            record = f"lone {at:03} {which}"
            made.append((_note(record, record, "CLINICIAN", written), f"lone {at}"))
    return made


def _misspelled(name: str, draw: random.Random) -> str:
    """The name as a scanner reads it, or else with two letters changed after the first."""
    scanned = [(clear, blurred) for clear, blurred in _SCANNED if clear in name[1:]]
    if scanned and draw.random() < 0.5:
        clear, blurred = draw.choice(scanned)
        return name[0] + name[1:].replace(clear, blurred, 1)
    letters = list(name)
    for place in draw.sample(range(1, len(name)), 2):
        letters[place] = draw.choice(string.ascii_lowercase)
    return "".join(letters)


def _note(record: str, patient: str, kind: str, written: str) -> RelexNote:
    before, after = _FRAMES[kind].split("{}")
    text = Text(before + written + after)
    span = Span(text, len(before), len(before) + len(written), kind)
    found = variant(span, record=record, patient=patient, domain="d")
    return RelexNote(record, patient, "d", {"": text.content}, (found,))


async def ended(noted: list[Noted], vectors: bool) -> tuple[dict[MentionVariant, str], int]:
    """The partition in a new index after the notes arrived one at a time, and how many hits were accepted."""
    embedder = open_embedder("embedded") if vectors else None
    index = MemoryIndex(_KEY, dimension=embedder.dimension if embedder else 0)
    tools = Tools(index, _KEY, embedder=embedder)
    accepted = 0
    for note, _ in noted:
        accepted += (await relexicalize([note], tools)).report.fitting
    mentions = sorted(v for note, _ in noted for v in note.variants)
    led = await partition.led(index, mentions)
    return {v: partition.latest(found).id for v, found in led.items()}, accepted


def measured(part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scores of a part, with and without vectors, by type of mention."""
    noted = lone() if part == "lone" else notes(part)
    gold = {v: identity for note, identity in noted for v in note.variants}
    for vectors in (True, False):
        scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        accepted = 0
        for seed in range(ORDERS):
            mixed = random.Random(seed).sample(noted, len(noted))  # noqa: S311 -- an order, not a secret
            found, fitting = asyncio.run(ended(mixed, vectors))
            accepted += fitting
            for kind in sorted({v.type for v in gold}):
                of_kind = {v: one for v, one in gold.items() if v.type == kind}
                mine = {v: found[v] for v in of_kind}
                made = bcubed(of_kind, mine, lambda v: v.record, scored=repeated(of_kind), resamples=10).as_dict()
                for name in ("precision", "recall", "f1"):
                    scores[kind][name].append(made[name]["value"])
                scores[kind]["mentions"].append(len(repeated(of_kind)))
        yield (
            "vectors on" if vectors else "vectors off",
            {
                "accepted": accepted,
                **{
                    kind: {name: round(sum(values) / len(values), 3) for name, values in its.items()}
                    for kind, its in scores.items()
                },
            },
        )


def main() -> None:
    """Print the scores; with `--out`, also write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the report here as `now`; other keys of the file stay")
    given = parser.parse_args()
    report = {part: dict(measured(part)) for part in ("tuned", "checked", "institutions", "lone")}
    text = json.dumps(report, indent=1)
    print(text)  # noqa: T201 -- this is a program that prints
    if given.out:
        kept = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
        given.out.write_text(json.dumps({**kept, "now": report}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
