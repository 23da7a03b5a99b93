"""The decisions of the reviewers, checked against the files that they were given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.sampling.draw import ITEMS, PAGE, folder_of
from incognote.evaluation.sampling.key import Key, LeakMark
from incognote.evaluation.sampling.outputs import KIND, digest, types

Marks = tuple[LeakMark, ...]


@dataclass(frozen=True, slots=True)
class SampleReviews:
    """Every case with the marks of every reviewer.

    Attributes:
        marks: per case, one tuple of marks for each reviewer. An empty tuple is a decision too.
        texts: of the cases.
        unmoved: True if the outputs are the same as at the draw; None if some no longer exist.
    """

    marks: Mapping[str, tuple[Marks, ...]]
    texts: Mapping[str, str] = field(repr=False)
    unmoved: bool | None


def read_reviews(folder: Path, key: Key, decisions: Sequence[Path]) -> SampleReviews:
    """Read the decisions of all reviewers.

    Raises:
        UsageError: a file of the draw or of the release has changed since; or a decisions file is missing, is from
            another draw, is incomplete, or has a mark that does not fit.
    """
    texts: list[dict[str, str]] = []
    for number, given in enumerate(key.sets):
        place = folder_of(folder, number)
        for name, then in ((ITEMS, given.items), (PAGE, given.page)):
            try:
                same = digest(place / name) == then
            except OSError:
                raise UsageError(f"reviewer {given.reviewer}: {name} of the draw cannot be read.") from None
            if not same:
                raise UsageError(f"reviewer {given.reviewer}: {name} has changed since the draw. Draw again.")
        rows = [json.loads(line) for line in (place / ITEMS).read_bytes().splitlines()]
        texts.append({row["id"]: row["text"] for row in rows})
    decided = _by_set([_read(path, n) for n, path in enumerate(decisions, 1)], key)
    marks = {
        case.case: tuple(
            _marks(decided[given.name], item, texts[number][item], given.reviewer)
            for number, (given, item) in enumerate(zip(key.sets, case.items, strict=True))
        )
        for case in key.cases
    }
    return SampleReviews(marks, {case.case: texts[0][case.items[0]] for case in key.cases}, _unmoved(key))


def read_adjudication(path: Path, key: Key) -> dict[str, bool]:
    """Read a third person's decisions on cases: whether each leaks.

    The file is `{"CASE": "leak" | "none", ...}`, with the names that the report lists.

    Raises:
        UsageError: it is malformed, or names a case that is not in the draw.
    """
    told = _json(path, "--adjudicated")
    if not isinstance(told, dict) or not all(verdict in ("leak", "none") for verdict in told.values()):
        raise UsageError('--adjudicated must be a JSON object of cases, each "leak" or "none".')
    strangers = told.keys() - {case.case for case in key.drawn}
    if strangers:
        raise UsageError(f"--adjudicated: {len(strangers)} of its cases do not belong to this draw.")
    return {case: verdict == "leak" for case, verdict in told.items()}


def _read(path: Path, number: int) -> dict[str, Any]:
    told = _json(path, f"file {number} of decisions")
    if not isinstance(told, dict) or told.get("kind") != KIND or not isinstance(told.get("decisions"), dict):
        raise UsageError(f"File {number} of the decisions was not saved by a review page.")
    return told


def _json(path: Path, what: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{what} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise UsageError(f"{what} is not valid JSON.") from None


def _by_set(told: Sequence[dict[str, Any]], key: Key) -> dict[str, dict[str, Any]]:
    """Decisions by their set. Every set must occur exactly once."""
    names = [str(one.get("set")) for one in told]
    wanted = {given.name: given.reviewer for given in key.sets}
    strangers = [number for number, name in enumerate(names, 1) if name not in wanted]
    if strangers:
        raise UsageError(f"File {strangers[0]} of the decisions belongs to another draw.")
    if len(set(names)) < len(names):
        raise UsageError("Two files hold decisions of the same reviewer. Give only one.")
    missing = [str(reviewer) for name, reviewer in wanted.items() if name not in names]
    if missing:
        raise UsageError(f"The decisions of reviewer {', '.join(missing)} are missing. A double review needs all.")
    return {name: one["decisions"] for name, one in zip(names, told, strict=True)}


def _marks(told: Mapping[str, Any], item: str, text: str, reviewer: int) -> Marks:
    if item not in told:
        raise UsageError(
            f"reviewer {reviewer}: item {item} has no decision, or unknown items have one. Finish the review."
        )
    try:
        found = tuple(sorted(LeakMark(int(start), int(end), str(kind)) for start, end, kind in told[item]))
    except (TypeError, ValueError):
        raise UsageError(f"reviewer {reviewer}, item {item}: a mark must be [start, end, type].") from None
    known = types()
    for mark in found:
        if not (0 <= mark.start < mark.end <= len(text) and text[mark.start : mark.end].strip() and mark.type in known):
            raise UsageError(
                f"reviewer {reviewer}, item {item}: a mark is outside the text, covers only blanks, or has an "
                "unknown type."
            )
    return found


def _unmoved(key: Key) -> bool | None:
    there = [(Path(name), then) for name, then in key.files if Path(name).is_file()]
    if any(digest(path) != then for path, then in there):
        raise UsageError(
            "The release has changed since the draw, so the review does not describe it. Draw again."
        )
    return True if len(there) == len(key.files) else None
