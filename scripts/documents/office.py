"""Make the DOCX and XLSX files of `tests/data/documents`, and their lines of gold.

    python scripts/documents/office.py

You need LibreOffice, pandoc, python-docx, openpyxl, and XlsxWriter 3. All texts are synthetic. LibreOffice chooses some
numbers at random, so its files change with each run.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import office_docx
import office_hostile
import office_hostile_objects
import office_hostile_sheets
import office_sheets

DOCUMENTS = Path(__file__).resolve().parents[2] / "tests/data/documents"


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = {
            "docx": [*office_docx.produced(folder), *office_hostile.hostile(), *office_hostile_objects.hostile(folder)],
            "xlsx": [*office_sheets.produced(folder), *office_hostile_sheets.hostile(folder)],
        }
    for form, files in made.items():
        out = DOCUMENTS / form
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for file in files:
            (out / file.name).write_bytes(file.data)
        (out / "gold.jsonl").write_text("".join(f"{file.line}\n" for file in files), encoding="utf-8")


if __name__ == "__main__":
    main()
