"""A review without gold: what a person is asked about several variants' marks, in a folder.

    plan.json       variants, how many units of each kind there are, which were drawn: offsets and ids, no text
    items.jsonl     what is asked, a line each, its place left for `decision`: PHI
    review.html     the same as a page that works without a network: PHI
    decisions.jsonl what the page lets its reader save

All units on which the variants differ are asked about, and as many drawn ones of those they agree on and of the
stretches that nobody marks (simple random samples without replacement), in an order that says nothing of the kind.

The reviewer's page: one file, nothing from outside, decisions saved as a file by the reader's own hand.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.experiments.cell import hash_of_path
from incognote.evaluation.lab.units import Kind, ReviewNote, Unit, read_found, read_notes, units
from incognote.files.atomic import write_atomic
from incognote.jsonlines import rows
from incognote.schemas.catalogue import catalogue

AROUND = 160
"""Characters of a text shown on either side."""
DECISIONS = ("accept", "reject")


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A unit that a person is asked about, under a name that says nothing."""

    name: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """A review as it was drawn.

    Attributes:
        variants: names and hashes of their files, in the order of `Unit.types`.
        texts: where they lie, relative to the folder, and their hash.
        units: all of them, of every kind, also those nobody is asked about.
    """

    folder: Path
    variants: tuple[tuple[str, str], ...]
    texts: tuple[str, str]
    seed: int
    units: tuple[Unit, ...] = field(repr=False)
    items: tuple[ReviewItem, ...] = field(repr=False)

    def count(self, kind: Kind) -> int:
        """How many units of a kind there are."""
        return sum(unit.kind == kind for unit in self.units)

    def notes(self) -> list[ReviewNote]:
        """The texts.

        Raises:
            UsageError: they are not where they were, or changed.
        """
        place = self.folder / self.texts[0]
        if hash_of_path(place) != self.texts[1]:
            raise UsageError(f"{place.name} has changed since the review was made. Restore it.")
        return read_notes(place)


def draw(texts: Path, variants: Sequence[Path], folder: Path, sample: int, seed: int = 0) -> ReviewPlan:
    """Draw a review and write its folder, readable by its owner only.

    Args:
        variants: files of what each found, two or more.
        sample: how many agreed units, and how many unmarked stretches, are asked about.

    Raises:
        UsageError: the folder holds a review already, fewer than two variants, two of one name, or a file that cannot
            be used.
    """
    names = [path.name.split(".")[0] for path in variants]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("Give the spans of at least two variants, in files with different names.")
    if (folder / "plan.json").exists():
        raise UsageError(f"--out: {folder.name} already holds a review. Choose another folder.")
    notes = read_notes(texts)
    made = units(notes, {name: read_found(path, notes) for name, path in zip(names, variants, strict=True)})
    drawing = random.Random(seed)  # noqa: S311 -- a sample, no secret
    asked = [unit for unit in made if unit.kind == "differs"]
    for kind in ("agreed", "unmarked"):
        some = [unit for unit in made if unit.kind == kind]
        asked += drawing.sample(some, min(sample, len(some)))
    drawing.shuffle(asked)
    items = tuple(ReviewItem(f"i{number:05}", unit) for number, unit in enumerate(asked, 1))
    place = (os.path.relpath(texts.resolve(), folder.resolve()), hash_of_path(texts))
    hashes = tuple((name, hash_of_path(path)) for name, path in zip(names, variants, strict=True))
    plan = ReviewPlan(folder, hashes, place, seed, tuple(made), items)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    asked_about = [_row(item, notes[item.unit.note]) for item in items]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in asked_about)
    write_atomic(folder / "items.jsonl", lines.encode(
        "utf-8", "surrogatepass"), private=True)  # fmt: skip
    write_atomic(folder / "review.html", page(asked_about).encode("utf-8", "replace"), private=True)
    write_atomic(folder / "plan.json", _written(plan), private=True)
    return plan


def _row(item: ReviewItem, note: ReviewNote) -> dict[str, Any]:
    """What a person is shown: not which variant says what."""
    unit, text = item.unit, note.text
    first, last = max(0, unit.start - AROUND), min(len(text), unit.end + AROUND)
    types = sorted({type_ for type_ in unit.types if type_})
    return {
        "item": item.name,
        "marked": unit.kind != "unmarked",
        "types": types,
        "before": text[first : unit.start],
        "words": text[unit.start : unit.end],
        "after": text[unit.end : last],
        "start": unit.start,
        "end": unit.end,
        "decision": None,
    }


def _written(plan: ReviewPlan) -> bytes:
    places = {id(unit): number for number, unit in enumerate(plan.units)}
    told = {
        "review": 1,
        "variants": plan.variants,
        "texts": plan.texts,
        "seed": plan.seed,
        "units": [[unit.note, unit.start, unit.end, unit.kind, unit.types] for unit in plan.units],
        "items": {item.name: places[id(item.unit)] for item in plan.items},
    }
    return (json.dumps(told) + "\n").encode()


def read_plan(folder: Path) -> ReviewPlan:
    """The review of a folder.

    Raises:
        UsageError: there is none.
    """
    try:
        told = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        made = tuple(Unit(n, a, b, kind, tuple(types)) for n, a, b, kind, types in told["units"])
        items = tuple(ReviewItem(name, made[at]) for name, at in told["items"].items())
        variants = tuple((str(name), str(hash_)) for name, hash_ in told["variants"])
        return ReviewPlan(folder, variants, (told["texts"][0], told["texts"][1]), told["seed"], made, items)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        raise UsageError(f"{folder.name} holds no review. Make one with `incognote prompt review`.") from None


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """What a person said of an item.

    Args:
        accept: all its letters and digits belong to one identifier or more.
        spans: identifiers (start, end, type) in the text that the reviewer marked there instead, or beside.
        type: of what was accepted, where the reviewer chose one.
    """

    accept: bool
    spans: tuple[tuple[int, int, str], ...] = ()
    type: str | None = None


def read_decisions(path: Path, plan: ReviewPlan, notes: Sequence[ReviewNote]) -> tuple[dict[str, UnitDecision], str]:
    """A reviewer's decisions by item, and the file's hash. Of two for one item the later counts.

    Raises:
        UsageError: a line is no decision, an item is not of this review, or one has none.
    """
    known = {item.name: item.unit for item in plan.items}
    made: dict[str, UnitDecision] = {}
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8", "surrogatepass")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path.name} cannot be read as JSON lines. Save the decisions from review.html there."
        ) from None
    for number, row in rows(text, path.name):
        try:
            name = row["item"]
            unit = known[name]
        except (KeyError, TypeError):
            raise UsageError(f"{path.name}, line {number}: the decision is not about an item of this review.") from None
        if row.get("decision") is None:
            continue
        made[name] = _decision(row, len(notes[unit.note].text), f"{path.name}, line {number}")
    if left := len(known) - len(made):
        raise UsageError(
            f"{left} of {len(known)} items have no decision. Decide them first."
        )
    return made, hashlib.sha256(raw).hexdigest()


def _decision(row: Mapping[str, Any], length: int, where: str) -> UnitDecision:
    if row["decision"] not in DECISIONS:
        raise UsageError(f"{where}: decision must be accept or reject.")
    spans = row.get("spans", [])
    type_ = row.get("type")
    try:
        made = tuple((int(start), int(end), str(kind)) for start, end, kind in spans)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: spans must be [start, end, type].") from None
    if any(not 0 <= start < end <= length for start, end, _ in made) or not isinstance(type_, str | None):
        raise UsageError(f"{where}: a span is outside its text, or its type is not a string.")
    return UnitDecision(row["decision"] == "accept", made, type_)


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page for these items. It quotes notes: PHI.

    Args:
        rows: as in `items.jsonl`.
    """
    template = files("incognote.evaluation.lab").joinpath("review.html").read_text(encoding="utf-8")
    return template.replace("/*ITEMS*/[]", _inert(rows)).replace("/*TYPES*/[]", _inert(sorted(catalogue())))


def _inert(value: object) -> str:
    """JSON that ends no script, whatever a note holds."""
    written = json.dumps(value, ensure_ascii=False)
    for sign in ("<", ">", "&", "\u2028", "\u2029"):
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written
