"""A gold set that grows with every review: texts with judged marks, and the source of each judgment.

A line is `{"id", "text", "spans", "provenance"}`. A span has `by`: `review` (a person confirmed it) or `agreement` (all
variants marked it, and it was not drawn for review). Identifiers that no variant marked are missing. So the set can
score recall among marks, but not true recall. `complete` says so in every line.

The module also writes overlays as TOML files, which `prompts.loader` reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.lab.judged import confirmed
from incognote.evaluation.lab.review import ReviewPlan, UnitDecision
from incognote.evaluation.lab.units import ReviewNote, Unit
from incognote.files.atomic import write_atomic
from incognote.prompts.overlay import Example

Span = tuple[int, int, str, str]
"""start, end, type, by."""
UNTYPED = "PERSON"
"""The type of an identifier that was given none. Every policy replaces this type."""


def grow(
    place: Path,
    plan: ReviewPlan,
    decisions: Mapping[str, UnitDecision],
    notes: Sequence[ReviewNote],
    *,
    who: str,
    decided: str,
) -> tuple[int, int]:
    """Write the judged texts to a gold set, or add them to it. Return the numbers of texts and spans that it then has.

    If a text is there already, decisions of this review take precedence. The rest of the earlier review is kept.

    Args:
        who: the reviewer.
        decided: the hash of the decisions file.

    Raises:
        UsageError: the file is not a gold set of this kind, or has another text with the same id.
    """
    asked = {id(item.unit): decisions[item.name] for item in plan.items}
    units: dict[int, list[Unit]] = {}
    for unit in plan.units:
        units.setdefault(unit.note, []).append(unit)
    rows = _read(place)
    entry = {
        "by": who,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "variants": [{"name": name, "sha256": hash_} for name, hash_ in plan.variants],
        "decisions_sha256": decided,
        "complete": False,
    }
    for number in sorted({item.unit.note for item in plan.items}):
        note = notes[number]
        old = rows.get(note.id, {"id": note.id, "text": note.text, "spans": [], "provenance": []})
        if old["text"] != note.text:
            raise UsageError(f"--out: {place.name} already has a text with one of these ids. Choose another file.")
        before = [(s["start"], s["end"], s["type"], s["by"]) for s in old["spans"]]
        spans = _joined(before, *_told(units.get(number, []), asked, note.text))
        old["spans"] = [{"start": a, "end": b, "type": type_, "by": by} for a, b, type_, by in spans]
        old["provenance"] = [*old["provenance"], entry]
        rows[note.id] = old
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()]
    write_atomic(place, "".join(lines).encode("utf-8", "surrogatepass"), private=True)
    return len(rows), sum(len(row["spans"]) for row in rows.values())


def grown(place: Path) -> bool:
    """Return True if the first line of annotated texts says that they are not complete."""
    try:
        with place.open(encoding="utf-8") as lines:
            history = json.loads(lines.readline())["provenance"]
        return any(entry["complete"] is False for entry in history)
    except (OSError, ValueError, KeyError, TypeError):  # a folder, another format
        return False


def _told(
    units: Sequence[Unit], asked: Mapping[int, UnitDecision], text: str
) -> tuple[list[Span], list[Span], list[tuple[int, int]]]:
    """For one text: the spans a person confirmed, those that all variants agree on unseen, and the rejected places."""
    types: dict[tuple[int, int], str] = {}
    agreed: list[Span] = []
    seen: list[tuple[int, int]] = []
    rejected: list[tuple[int, int]] = []
    for unit in units:
        decision = asked.get(id(unit))
        said = next((type_ for type_ in unit.types if type_), UNTYPED)
        if decision is None:
            if unit.kind == "agreed":
                agreed.append((unit.start, unit.end, said, "agreement"))
            continue
        types.update({(start, end): type_ for start, end, type_ in decision.spans})
        if unit.kind == "unmarked":
            seen += [(start, end) for start, end, _ in decision.spans]
        elif decision.accept:
            types[unit.start, unit.end] = decision.type or said
            seen += [(unit.start, unit.end)] if unit.kind == "agreed" else []
        else:
            rejected.append((unit.start, unit.end))
            seen += [(a, b) for a, b, _ in decision.spans if unit.start <= a and b <= unit.end]
    places = [*confirmed(units, asked, text), *seen]
    longest = [p for p in dict.fromkeys(places) if not any(p != q and q[0] <= p[0] and p[1] <= q[1] for q in places)]
    return [(a, b, types.get((a, b), UNTYPED), "review") for a, b in longest], agreed, rejected


def _joined(
    before: Sequence[Span], now: Sequence[Span], agreed: Sequence[Span], rejected: Sequence[tuple[int, int]]
) -> list[Span]:
    """Disjoint spans. Newly confirmed ones come first, then earlier ones, then those that the variants agree on."""
    made: list[Span] = []
    gone = set(rejected)
    old = [span for span in before if (span[0], span[1]) not in gone]
    ordered = [*now, *(s for s in old if s[3] == "review"), *agreed, *(s for s in old if s[3] != "review")]
    for span in ordered:
        if not any(span[0] < end and start < span[1] for start, end, _, _ in made):
            made.append(span)
    return sorted(made)


def _read(place: Path) -> dict[str, dict[str, Any]]:
    if not place.exists():
        return {}
    try:
        lines = place.read_bytes().decode("utf-8", "surrogatepass").split("\n")
        rows = [json.loads(line) for line in lines if line]
        for row in rows:
            for span in row["spans"]:
                if span["by"] not in ("review", "agreement"):
                    raise ValueError
        return {str(row["id"]): row for row in rows if isinstance(row["provenance"], list) and row["text"] is not None}
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"--out: {place.name} is not a gold set made from reviews. Choose another file.") from None


def relative_base(prompt: str, place: Path) -> str:
    """The name of a prompt (given as for `--prompt`) in an overlay at `place`."""
    if not prompt.endswith(".toml"):
        return prompt
    return os.path.relpath(Path(prompt).expanduser().resolve(), place.resolve().parent)


def write_overlay(
    place: Path,
    base: str,
    about: str,
    *,
    replaced: Mapping[str, str] | None = None,
    examples: Sequence[Example] = (),
    provenance: Mapping[str, object] | None = None,
) -> None:
    """Write an overlay, readable by its owner only, because examples are words of notes.

    Args:
        base: from `relative_base`.
        replaced: the new line of each type.
        provenance: its origin, as strings, numbers, and lists of them.

    Raises:
        IncognoteError: the place cannot be written.
    """
    lines = [f"base = {_text(base)}", f"about = {_text(about)}"]
    if provenance:
        lines += ["", "[provenance]", *(f"{key} = {_value(value)}" for key, value in provenance.items())]
    for name, line in (replaced or {}).items():
        lines += ["", f"[entities.{name}]", f"replace = {_text(line)}"]
    for one in examples:
        lines += ["", "[[examples]]", f"text = {_text(one.marked)}"]
    write_atomic(place, ("\n".join(lines) + "\n").encode(), private=True)


def _value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    """A basic TOML string: the same as in JSON, except that DEL must be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
