"""Convert notes with inline marks to JSON lines with spans and gold identities.

    python tests/data/longitudinal/make.py MARKED.txt OUT.jsonl

An author writes `[[TYPE|identity|words]]` around each identifier, `=== patient CODE` before a patient, and
`--- note CODE` before a note. All problems are listed with their line numbers, and then nothing is written. Neither
the problems nor the summary contain words of a note or identity codes, so that nobody learns a test set from them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from incognote.relex.cluster import group_of
from incognote.schemas.catalogue import catalogue

HEAD = re.compile(r"(===\s*patient|---\s*note)\s+(\S+)\s*\Z")
LIKE_A_HEAD = re.compile(r"={3,}\s*\w|-{3,}\s*note\b", re.IGNORECASE)
MARK = re.compile(r"\[\[([^|\[\]]*)\|([^|\[\]]*)\|([^|\[\]]*)\]\]")
BRACKETS = re.compile(r"\[\[|\]\]")
CODE = re.compile(r"[a-z0-9][a-z0-9_.-]*\Z")
DAY = re.compile(r"d-(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:s|-\d{4}|-[a-z].*)?\Z")
PREFIXES = {"PERSON": "per-", "DATE": "d-"}


class Faults(list[tuple[int, str]]):
    """Problems of a file, each with its line number."""

    def add(self, line: int, what: str) -> None:
        self.append((line, what))


def notes(lines: list[str], faults: Faults) -> Iterator[tuple[int, str, str, str]]:
    """The first line's number, the patient, the note's code, and the marked text of each note."""
    patient, code, start, body = "", "", 0, list[str]()
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate([*lines, ""], 1):
        head = HEAD.match(line.rstrip())
        if head is None and number <= len(lines):
            if LIKE_A_HEAD.match(line):
                faults.add(number, "this looks like a header. Write `=== patient CODE` or `--- note CODE`.")
                line = ""  # its place is kept, so that later lines keep their numbers
            if code:
                body.append(line)
            elif line.strip():
                faults.add(number, "text before the first note of a patient")
            continue
        if code and "".join(body).strip():
            yield start, patient, code, "\n".join(body)
        elif code:
            faults.add(start - 1, "the note is empty")
        body, code, start = [], "", number + 1
        if head is None:
            return
        kind = head[1][0]
        if (kind, head[2]) in seen:
            faults.add(number, "this code is already used by an earlier patient or note")
        seen.add((kind, head[2]))
        if kind == "=":
            patient = head[2]
        elif not patient:
            faults.add(number, "a note before the first patient")
        elif not head[2].startswith(patient):
            faults.add(number, "the note's code does not begin with the code of its patient")
        if kind == "-":
            code = head[2]


def spans_of(marked: str, first: int, groups: dict[str, str], faults: Faults) -> tuple[str, list[dict[str, Any]]]:
    """The text without marks, and its spans.

    Args:
        first: the number of the text's first line.
        groups: the group of each identity seen so far; extended here.
    """
    text, spans, done = "", list[dict[str, Any]](), 0
    for mark in MARK.finditer(marked):
        stray(marked, done, mark.start(), first, faults)
        line = first + marked.count("\n", 0, mark.start())
        type_, identity, words = mark[1], mark[2], mark[3]
        text += marked[done : mark.start()]
        spans.append({"start": len(text), "end": len(text) + len(words), "type": type_, "identity": identity})
        text, done = text + words, mark.end()
        if not words or words != words.strip():
            faults.add(line, "the marked words are empty or have a space at an end")
        if type_ not in catalogue() or type_ != type_.upper():
            faults.add(line, "unknown type")
            continue
        group = group_of(type_)
        prefix = PREFIXES.get(group, "")
        if not CODE.match(identity) or not identity.startswith(prefix):
            faults.add(line, f"the identity of a {type_} must be a lower-case code, such as {prefix}x1")
        elif group == "DATE" and not day_exists(identity):
            faults.add(line, "the identity of a date must be d-YYYY-MM-DD, d-YYYY-MM or d-YYYY, and exist")
        elif groups.setdefault(identity, group) != group:
            faults.add(line, "this identity is already used for another kind of thing")
    stray(marked, done, len(marked), first, faults)
    text += marked[done:]
    return text, spans


def stray(marked: str, start: int, end: int, first: int, faults: Faults) -> None:
    """Report brackets outside a complete mark."""
    for found in BRACKETS.finditer(marked, start, end):
        faults.add(first + marked.count("\n", 0, found.start()), "a mark that is not [[TYPE|identity|words]]")


def day_exists(identity: str) -> bool:
    """Whether the code names an existing day, month, or year."""
    if (match := DAY.match(identity)) is None:
        return False
    try:
        date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return False
    return True


def converted(content: str, faults: Faults) -> list[dict[str, Any]]:
    """All notes as objects for JSON lines."""
    groups: dict[str, str] = {}
    rows = []
    for first, patient, code, marked in notes(content.splitlines(), faults):
        kept = marked.rstrip()
        blank = len(kept) - len(kept.lstrip("\n"))
        text, spans = spans_of(kept[blank:], first + blank, groups, faults)
        if not spans:
            faults.add(first, "the note has no mark")
        elif not any(span["type"] == "PATIENT" for span in spans):
            sys.stderr.write(f"warning: line {first}: the note does not mark its patient\n")
        rows.append({"id": code, "patient": patient, "text": text, "spans": spans})
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marked", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args(argv)
    faults = Faults()
    try:
        rows = converted(asked.marked.read_text(encoding="utf-8"), faults)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"MARKED cannot be read as UTF-8 text ({type(error).__name__}). Check the path.")
    if not rows and not faults:
        faults.add(1, "no note: write `=== patient CODE`, then `--- note CODE`, then the text")
    if faults:
        listed = [f"line {line}: {what}" for line, what in sorted(faults)]
        sys.exit("\n".join([*listed, f"{len(faults)} problems; nothing was written"]))
    with asked.out.open("w", encoding="utf-8") as target:
        for row in rows:
            target.write(json.dumps(row, ensure_ascii=False) + "\n")
    marks = [span for row in rows for span in row["spans"]]
    per_patient = Counter(Counter(row["patient"] for row in rows).values())
    print(
        f"{sum(per_patient.values())} patients, {len(rows)} notes, {len(marks):,} marks, "
        f"{len({span['identity'] for span in marks}):,} identities; notes per patient: "
        + ", ".join(f"{count} ({patients} patients)" for count, patients in sorted(per_patient.items()))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
