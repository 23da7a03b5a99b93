"""Write the tables of `tests/data/tables`: `python scripts/documents/tables.py`.

pyarrow, polars, pandas, and sqlite3 write them, from synthetic notes (`tests/data/notes.jsonl`). Half of them hold
hidden copies of identifiers, in dictionaries, metadata, indexes, JSON, and deleted rows. `gold.jsonl` has a line for
each: the identifiers anywhere in the file, clinical words that stay, and the options that describe the columns.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/data/tables"
NOTES = [json.loads(line) for line in (ROOT / "tests/data/notes.jsonl").read_text("utf-8").splitlines()]
COLUMNS = ["--text-column", "text", "--id-column", "id", "--patient-column", "mrn"]
NOTE = """CREATE TABLE note (note_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL, note_date DATE NOT NULL,
    note_datetime TIMESTAMP, note_type_concept_id INTEGER NOT NULL, note_class_concept_id INTEGER NOT NULL,
    note_title VARCHAR(250), note_text TEXT NOT NULL, encoding_concept_id INTEGER NOT NULL,
    language_concept_id INTEGER NOT NULL, provider_id INTEGER, visit_occurrence_id INTEGER, visit_detail_id INTEGER,
    note_source_value VARCHAR(50), note_event_id INTEGER, note_event_field_concept_id INTEGER)"""
NLP = """CREATE TABLE note_nlp (note_nlp_id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, section_concept_id INTEGER,
    snippet VARCHAR(250), "offset" VARCHAR(50), lexical_variant VARCHAR(250) NOT NULL, note_nlp_concept_id INTEGER,
    note_nlp_source_concept_id INTEGER, nlp_system VARCHAR(250), nlp_date DATE, nlp_datetime TIMESTAMP,
    term_exists VARCHAR(1), term_temporal VARCHAR(50), term_modifiers VARCHAR(2000))"""


def drawn(start: int, count: int) -> tuple[dict[str, list[Any]], list[dict[str, str]]]:
    """Return the columns of some notes, and their identifiers."""
    notes = NOTES[start : start + count]
    columns = {"id": [f"n{start + n}" for n in range(count)], "mrn": [f"77{start + n:05}" for n in range(count)],
               "text": [note["text"] for note in notes]}  # fmt: skip
    named = {(note["text"][s["start"] : s["end"]], s["type"]) for note in notes for s in note["spans"]}
    named |= {(mrn, "MEDICAL_RECORD_NUMBER") for mrn in columns["mrn"]}
    return columns, [{"text": text, "type": kind} for text, kind in sorted(named)]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    gold: list[dict[str, Any]] = []

    def add(
        file: str, made_by: str, kind: str, identifiers: list[dict[str, str]], options: list[str], **more: Any
    ) -> None:
        row = {"file": file, "made_by": made_by, "kind": kind, "identifiers": identifiers, "options": options}
        gold.append({**row, **more})

    columns, named = drawn(0, 6)
    parquet.write_table(pa.table(columns), FOLDER / "pyarrow.parquet")
    add("pyarrow.parquet", "pyarrow", "produced", named, COLUMNS)
    columns, named = drawn(6, 6)
    pl.DataFrame(columns).write_parquet(FOLDER / "polars.parquet", compression="zstd")
    add("polars.parquet", "polars", "produced", named, COLUMNS)
    columns, named = drawn(12, 6)
    pd.DataFrame(columns).astype({"mrn": "category"}).to_parquet(FOLDER / "pandas.parquet", index=False)
    add("pandas.parquet", "pandas", "produced", named, COLUMNS)

    columns, named = drawn(18, 4)
    frame = pd.DataFrame(columns, index=pd.Index(["Wilhelmina Oosterhuis"] * 4, name="Dr. Oosterhuis"))
    frame.attrs["by"] = "Oosterhuis"
    frame.to_parquet(FOLDER / "hidden-index.parquet")
    add("hidden-index.parquet", "pandas", "hostile", [*named, {"text": "Oosterhuis", "type": "PERSON"}],
        [*COLUMNS, "--drop-column", "Dr. Oosterhuis"])  # fmt: skip
    columns, named = drawn(22, 4)
    table = pa.table({**columns, "ward": pa.DictionaryArray.from_arrays([0, 0, 0, 0], ["A", "Bed of Oosterhuis"])})
    fields = [field.with_metadata({"source": "Oosterhuis"}) for field in table.schema]
    table = table.cast(pa.schema(fields, metadata={"author": "Oosterhuis"}))
    parquet.write_table(table, FOLDER / "hidden-metadata.parquet", row_group_size=2, compression="none")
    add("hidden-metadata.parquet", "pyarrow", "hostile", [*named, {"text": "Oosterhuis", "type": "PERSON"}],
        [*COLUMNS, "--pass-column", "ward"])  # fmt: skip
    columns, named = drawn(26, 2)
    parquet.write_table(pa.table({**columns, "scan": [b"Oosterhuis"] * 2}), FOLDER / "binary.parquet")
    add("binary.parquet", "pyarrow", "hostile", named, [*COLUMNS, "--pass-column", "scan"], held=True)

    columns, named = drawn(30, 6)
    with sqlite3.connect(_fresh("omop.db")) as db:
        db.execute(NOTE)
        db.execute(NLP)
        for n, (text, source) in enumerate(zip(columns["text"], columns["mrn"], strict=True), 1):
            db.execute("INSERT INTO note VALUES (?, ?, '2025-03-16', '2025-03-16 10:11:12', 32831, 0, 'Letter', ?, "
                       "32678, 4180186, 9, ?, NULL, ?, NULL, NULL)", (n, n % 2 + 1, text, n, source))  # fmt: skip
        for n, one in enumerate(named[:4], 1):
            db.execute("INSERT INTO note_nlp VALUES (?, ?, 0, ?, '12', ?, 0, 0, 'ctakes', '2025-03-16', NULL, 'Y', "
                       "NULL, NULL)", (n, n, f"seen by {one['text']} today", one["text"]))  # fmt: skip
    add("omop.db", "sqlite3", "produced", [*named, {"text": "2025-03-16", "type": "DATE"}], ["--data-type", "omopNote"],
        table="note")  # fmt: skip
    add("omop.db", "sqlite3", "hostile", named[:4], ["--data-type", "omopNoteNlp"], table="note_nlp")

    columns, named = drawn(40, 4)
    with sqlite3.connect(_fresh("odd.db")) as db:
        db.execute('CREATE TABLE "Odd Notes" (id TEXT PRIMARY KEY, mrn TEXT, text TEXT, extra JSON, at ANY)')
        for own, mrn, text in zip(*columns.values(), strict=True):
            extra = json.dumps({"by": "Wilhelmina Oosterhuis", "pain": 6.50})
            db.execute('INSERT INTO "Odd Notes" VALUES (?, ?, ?, ?, 1)', (own, mrn, text, extra))
        db.execute("""INSERT INTO "Odd Notes" VALUES ('gone', 'gone', 'Wilhelmina Oosterhuis', NULL, 1)""")
        db.execute("""DELETE FROM "Odd Notes" WHERE id = 'gone'""")
    add("odd.db", "sqlite3", "hostile", [*named, {"text": "Wilhelmina Oosterhuis", "type": "PERSON"}],
        [*COLUMNS, "--text-column", "extra", "--drop-column", "at"], table="Odd Notes", keeps=["6.5"])  # fmt: skip
    with sqlite3.connect(_fresh("null.db")) as db:
        db.execute("CREATE TABLE note (id TEXT PRIMARY KEY, mrn TEXT, text TEXT)")
        db.execute("INSERT INTO note VALUES ('1', '7700001', 'Chest pain since two days, no dyspnea.')")
        db.execute("INSERT INTO note VALUES ('2', NULL, NULL)")
    add("null.db", "sqlite3", "produced", [{"text": "7700001", "type": "MEDICAL_RECORD_NUMBER"}], COLUMNS,
        table="note", keeps=["Chest pain since two days, no dyspnea."])  # fmt: skip
    (FOLDER / "gold.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in gold), "utf-8")


def _fresh(name: str) -> Path:
    (FOLDER / name).unlink(missing_ok=True)
    return FOLDER / name


if __name__ == "__main__":
    main()
