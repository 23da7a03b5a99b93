"""Time and memory of `incognote deid` for PDF files of many pages, and for archives beside folders of the same notes.

    python benchmarks/scripts/packed_sizes.py --out docs/measured/packed_sizes.json [--pages 2000] [--notes 5000]

All texts are synthetic (tests/data/notes.jsonl, repeated). The rules detector reads them. Each figure is of one run.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from document_rates import timed
from reportlab.pdfgen import canvas

NOTES = Path("tests/data/notes.jsonl")
_LINES, _WIDE = 58, 100


def texts(count: int) -> list[str]:
    """Return notes, repeated until there are enough."""
    rows = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    return list(islice(cycle(rows), count))


def write_pdf(path: Path, pages: int) -> int:
    """Write a PDF of notes. Return how many characters it has."""
    page = canvas.Canvas(str(path), invariant=1)
    lines = (line[at : at + _WIDE] for text in cycle(texts(200)) for line in text.splitlines()
             for at in range(0, max(len(line), 1), _WIDE))  # fmt: skip
    count = 0
    for _ in range(pages):
        page.setFont("Helvetica", 9)
        for number, line in enumerate(islice(lines, _LINES)):
            shown = line.encode("cp1252", "replace").decode("cp1252")
            page.drawString(40, 800 - 13 * number, shown)
            count += len(shown)
        page.showPage()
    page.save()
    return count


def of_run(source: Path, out: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    seconds, cpu, peak = timed(source, out)
    manifest = json.loads((out / "manifest.json").read_text())
    return {
        "bytes": source.stat().st_size if source.is_file() else None, "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1), "peak_mb": round(peak), "records": manifest["records"],
        "released": manifest["released"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--notes", type=int, default=5000)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    figures: dict[str, Any] = {"about": "synthetic notes, rules detector, one run each on 2 cores"}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pages = [asked.pages // 10, asked.pages]
        for count in pages:
            characters = write_pdf(folder / "long.pdf", count)
            found = of_run(folder / "long.pdf", folder / f"out-{count}")
            figures[f"pdf_{count}_pages"] = {"pages": count, "characters": characters, **found}
            print(json.dumps(figures[f"pdf_{count}_pages"]), flush=True)  # noqa: T201 -- a program that prints
        (folder / "notes").mkdir()
        with zipfile.ZipFile(folder / "notes.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            for number, text in enumerate(texts(asked.notes)):
                (folder / "notes" / f"{number}.txt").write_text(text, encoding="utf-8")
                packed.writestr(f"ward/{number}.txt", text)
        for name in ("notes.zip", "notes"):
            figures[name] = of_run(folder / name, folder / f"out-of-{name}".replace(".", "-"))
            print(name, json.dumps(figures[name]), flush=True)  # noqa: T201 -- as above
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
