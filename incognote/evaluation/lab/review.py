"""A review without gold: a folder with the questions that a person answers about the marks of several variants.

    plan.json       the variants, the number of units of each kind, and those drawn: offsets and ids, no text
    items.jsonl     the items, one per line, with an empty `decision`: PHI
    review.html     the same as a page that works without a network: PHI
    decisions.jsonl the decisions that the reader saves from the page

The reviewer sees all units on which the variants differ. The rest is sampled: some of the units on which they agree,
and some of the stretches that none marks (simple random samples without replacement). The order does not reveal the
kind.

The page is one file that loads nothing from outside. The reader saves the decisions as a file.
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
"""Characters of context shown on either side."""
DECISIONS = ("accept", "reject")


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A unit that a person decides, under a name that does not reveal its kind."""

    name: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """A review that was drawn.

    Attributes:
        variants: names and hashes of their files, in the order of `Unit.types`.
        texts: the path of the texts, relative to the folder, and their hash.
        units: all units of every kind, including those that no one is asked about.
    """

    folder: Path
    variants: tuple[tuple[str, str], ...]
    texts: tuple[str, str]
    seed: int
    units: tuple[Unit, ...] = field(repr=False)
    items: tuple[ReviewItem, ...] = field(repr=False)

    def count(self, kind: Kind) -> int:
        """The number of units of a kind."""
        return sum(unit.kind == kind for unit in self.units)

    def notes(self) -> list[ReviewNote]:
        """Read the texts.

        Raises:
            UsageError: they were moved or changed.
        """
        place = self.folder / self.texts[0]
        if hash_of_path(place) != self.texts[1]:
            raise UsageError(f"{place.name} has changed since the review was made. Restore it.")
        return read_notes(place)


def draw(texts: Path, variants: Sequence[Path], folder: Path, sample: int, seed: int = 0) -> ReviewPlan:
    """Draw a review and write its folder, readable by its owner only.

    Args:
        variants: two or more files of findings.
        sample: how many agreed units, and how many unmarked stretches, are reviewed.

    Raises:
        UsageError: the folder already holds a review, there are fewer than two variants, two have the same name, or a
            file is not usable.
    """
    names = [path.name.split(".")[0] for path in variants]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("Give the spans of at least two variants, in files with different names.")
    if (folder / "plan.json").exists():
        raise UsageError(f"--out: {folder.name} already holds a review. Choose another folder.")
    notes = read_notes(texts)
    made = units(notes, {name: read_found(path, notes) for name, path in zip(names, variants, strict=True)})
    drawing = random.Random(seed)  # noqa: S311 -- a sample, not a secret
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
    """The row that a person sees. It does not say which variant marked what."""
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
    content = {
        "review": 1,
        "variants": plan.variants,
        "texts": plan.texts,
        "seed": plan.seed,
        "units": [[unit.note, unit.start, unit.end, unit.kind, unit.types] for unit in plan.units],
        "items": {item.name: places[id(item.unit)] for item in plan.items},
    }
    return (json.dumps(content) + "\n").encode()


def read_plan(folder: Path) -> ReviewPlan:
    """Read the review of a folder.

    Raises:
        UsageError: there is none.
    """
    try:
        content = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        made = tuple(Unit(n, a, b, kind, tuple(types)) for n, a, b, kind, types in content["units"])
        items = tuple(ReviewItem(name, made[at]) for name, at in content["items"].items())
        variants = tuple((str(name), str(hash_)) for name, hash_ in content["variants"])
        return ReviewPlan(folder, variants, (content["texts"][0], content["texts"][1]), content["seed"], made, items)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        raise UsageError(f"{folder.name} holds no review. Make one with `incognote prompt review`.") from None


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """A person's decision on an item.

    Args:
        accept: True if all letters and digits of the item belong to one or more identifiers.
        spans: identifiers (start, end, type) that the reviewer marked in the text, instead of the item or in addition.
        type: the type of an accepted item, if the reviewer chose one.
    """

    accept: bool
    spans: tuple[tuple[int, int, str], ...] = ()
    type: str | None = None


def read_decisions(path: Path, plan: ReviewPlan, notes: Sequence[ReviewNote]) -> tuple[dict[str, UnitDecision], str]:
    """A reviewer's decisions by item, and the file's hash. If an item has two decisions, the later counts.

    Raises:
        UsageError: a line is not a decision, an item is not of this review, or an item has no decision.
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
    """Return the page for these items. It quotes notes and contains PHI.

    Args:
        rows: as in `items.jsonl`.
    """
    template = files("incognote.evaluation.lab").joinpath("review.html").read_text(encoding="utf-8")
    return template.replace("/*ITEMS*/[]", _inert(rows)).replace("/*TYPES*/[]", _inert(sorted(catalogue())))


def _inert(value: object) -> str:
    """JSON that cannot end the script element, whatever a note contains."""
    written = json.dumps(value, ensure_ascii=False)
    for sign in ("<", ">", "&", "\u2028", "\u2029"):
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written
