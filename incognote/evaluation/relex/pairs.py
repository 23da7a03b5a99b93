"""Notes before and after relexicalization, with the identities from the annotators and from the machine.

`share_of` computes shares with intervals over patients. Patients are drawn as a whole, because mentions of one patient
are correlated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Figure, interval, resampled
from incognote.evaluation.relex.kinds import is_label
from incognote.jsonlines import read_rows
from incognote.relex.cluster import group_of
from incognote.relex.nouns import Group


@dataclass(frozen=True, slots=True)
class MentionPair:
    """One gold mention and its replacement. Its repr shows no words.

    Args:
        note: index of its note in the sequence of notes.
        type: from the gold.
        start, end: in the note before.
        words: in the note before.
        gold: identity from the annotator. The same string means the same thing in all notes.
        given: identity from the machine, or "".
        surrogate: its replacement, or None. A mention is matched with the place of the machine that overlaps it most.
        out_start, out_end: of the surrogate, in the note after.
        how: "exact" or "partial" for a replaced mention, by whether the machine found the same borders; "kept" if the
            policy keeps it; or else "missed".
    """

    note: int
    type: str
    start: int
    end: int
    words: str = field(repr=False)
    gold: str = field(repr=False)
    given: str = ""
    surrogate: str | None = field(default=None, repr=False)
    out_start: int = 0
    out_end: int = 0
    how: Literal["exact", "partial", "kept", "missed"] = "exact"

    @property
    def group(self) -> Group:
        return group_of(self.type)


@dataclass(frozen=True, slots=True)
class NotePair:
    """A note before and after.

    Args:
        patient: the patient's id; the note's own id if none is given.
        mentions: gold mentions in the order of the text.
        groups: attributes of the patient by name, as in {"race": "Asian"}; never shown.
        label: the target of a downstream model, if the gold gives one.
        extra: places that the machine replaced and no annotator marked.
        findings: (type, whether it became a label) of every place that the machine replaced.
        id: from the gold.
    """

    patient: str = field(repr=False)
    before: str = field(repr=False)
    after: str = field(repr=False)
    mentions: tuple[MentionPair, ...]
    groups: Mapping[str, str] = field(default_factory=dict, repr=False)
    label: str = ""
    extra: int = 0
    findings: tuple[tuple[str, bool], ...] = ()
    id: str = field(default="", repr=False)


def read_pairs(gold: str | Path, out: str | Path) -> tuple[list[NotePair], int]:
    """Read annotated notes and the output of `incognote relex` for them.

    Args:
        gold: lines `{"id", "patient", "text", "spans": [{"start", "end", "type", "identity"}]}`, and if known
            `groups` (`{"race", "ethnicity", "region", "age group", …}`, as text) and `label`.
        out: lines `{"id", "text", "spans": [{"start", "end", "type", "identity", "surrogate", "out_start",
            "out_end"}]}`, in any order.

    Returns:
        The notes in the order of the gold, and the number of gold notes that are not in OUT because they were held.

    Raises:
        UsageError: a line has another form, an id occurs twice or only in OUT, offsets do not fit their text, or
            something outside the replaced places changed. The two files are then not from one run.
    """
    made = {str(row["id"]): (number, row) for number, row in _rows(out, "OUT")}
    notes: list[NotePair] = []
    held = 0
    for number, row in _rows(gold, "GOLD"):
        found = made.pop(str(row["id"]), None)
        if found is None:
            held += 1
            continue
        try:
            notes.append(_note(len(notes), row, *found))
        except (KeyError, TypeError, AttributeError):
            raise UsageError(
                f"GOLD, line {number}, or OUT, line {found[0]}: not in the format of `incognote relex`: id, text, "
                "spans with start, end, type, identity, and in OUT also surrogate, out_start, out_end."
            ) from None
    if made:
        raise UsageError(f"OUT, line {min(at for at, _ in made.values())}: its id is not in GOLD.")
    if not notes:
        raise UsageError("GOLD and OUT have no note in common. Give the output for the same notes.")
    return notes, held


def _rows(path: str | Path, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    seen: set[str] = set()
    for number, row in read_rows(path, name):
        if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
            raise UsageError(f"{name}, line {number}: not an object with `id` and `text`.")
        if str(row["id"]) in seen:
            raise UsageError(f"{name}, line {number}: an earlier line has the same id.")
        seen.add(str(row["id"]))
        yield number, row


def _note(at: int, row: dict[str, Any], number: int, made: dict[str, Any]) -> NotePair:
    before, after, patient = row["text"], made["text"], str(row.get("patient") or row["id"])
    placed = sorted(made["spans"], key=lambda s: (int(s["start"]), int(s["end"])))
    _check(before, after, placed, number)
    replaced = [s["identity"] is not None or s["surrogate"] != before[s["start"] : s["end"]] for s in placed]
    matched: set[int] = set()
    mentions: list[MentionPair] = []
    for span in sorted(row["spans"], key=lambda s: (int(s["start"]), int(s["end"]))):
        start, end = int(span["start"]), int(span["end"])
        if not 0 <= start < end <= len(before):
            raise UsageError("GOLD: a span is outside its text.")
        fields = (at, str(span["type"]), start, end, before[start:end], str(span["identity"]))
        overlaps = [min(int(s["end"]), end) - max(int(s["start"]), start) for s in placed]
        best = max(range(len(placed)), key=lambda at: (overlaps[at], replaced[at]), default=-1)
        if best < 0 or overlaps[best] <= 0:
            mentions.append(MentionPair(*fields, how="missed"))
        elif not replaced[best]:
            mentions.append(MentionPair(*fields, how="kept"))
        else:
            matched.add(best)
            s = placed[best]
            found = str(s["identity"] or ""), str(s["surrogate"]), int(s["out_start"]), int(s["out_end"])
            exact = (int(s["start"]), int(s["end"])) == (start, end)
            mentions.append(MentionPair(*fields, *found, "exact" if exact else "partial"))
    groups = {str(name): str(value) for name, value in row.get("groups", {}).items()}
    findings = [(str(s["type"]), is_label(str(s["surrogate"]))) for s, new in zip(placed, replaced, strict=True) if new]
    return NotePair(
        patient, before, after, tuple(mentions), groups, str(row.get("label", "")), len(findings) - len(matched),
        tuple(findings), str(row["id"]),
    )  # fmt: skip


def _check(before: str, after: str, spans: list[dict[str, Any]], number: int) -> None:
    """Check that everything outside the spans is unchanged, and that every surrogate is at its given place."""
    done = out = 0
    for s in spans:
        start, end, begin, stop = (int(s[name]) for name in ("start", "end", "out_start", "out_end"))
        fits = done <= start < end <= len(before) and before[done:start] == after[out:begin]
        if not fits or after[begin:stop] != s["surrogate"]:
            raise UsageError(f"OUT, line {number}: its offsets and texts do not match GOLD. Is it from another run?")
        done, out = end, stop
    if before[done:] != after[out:]:
        raise UsageError(f"OUT, line {number}: text outside the replaced spans differs from GOLD.")


RESAMPLES = 1000


def share_of(counted: Iterable[tuple[str, float, float]], resamples: int = RESAMPLES, seed: int = 0) -> Figure:
    """Σ hits / Σ tries with a bootstrap interval over units.

    Args:
        counted: (unit, hits, tries), any number per unit.
    """
    rows: dict[str, list[float]] = {}
    for unit, hits, tries in counted:
        row = rows.setdefault(unit, [0.0, 0.0])
        row[0] += hits
        row[1] += tries
    counts = np.array([rows[unit] for unit in sorted(rows)], dtype=np.float64).reshape(-1, 2)
    hits, tries = counts.sum(axis=0)
    if not tries:
        return Figure(None, None, None, 0)
    if len(counts) == 1:
        return Figure(float(hits / tries), None, None, int(tries))
    drawn = resampled(counts, resamples, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Figure(float(hits / tries), *interval(drawn[:, 0] / drawn[:, 1]), int(tries))
