"""Write the produced HTML files of tests/data/documents/html: pandoc, LibreOffice, Chromium, and Python's own writers.

python scripts/documents/markup.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OUT = ROOT / "tests/data/documents/html"
sys.path.insert(0, str(ROOT / "tests/evaluation/report"))
MEDIA_TYPES = {".html": "text/html", ".xhtml": "application/xhtml+xml", ".md": "text/markdown"}


def notes() -> list[dict[str, Any]]:
    """Return short development notes in English, in the order of their files."""
    lines = [
        line
        for name in ("notes", "dev_f", "dev_g")
        for line in (ROOT / f"tests/data/{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    every = [json.loads(line) for line in lines]
    return [each for each in every if 300 < len(each["text"]) < 1800 and "<" not in each["text"]]


def gold(file: str, made_by: str, note: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a produced file."""
    spans = [(span["text"] if "text" in span else note["text"][span["start"] : span["end"]], span["type"])
             for span in note["spans"]]
    words = {word for word in note["text"].split() if word.isalpha() and word.islower() and len(word) > 7}
    keeps = sorted(word for word in words if all(word not in text for text, _ in spans))[:3]
    identifiers = [{"text": " ".join(text.split()), "type": kind} for text, kind in dict.fromkeys(spans)]
    return {"file": file, "made_by": made_by, "kind": "produced", "media_type": MEDIA_TYPES[Path(file).suffix],
            "note": note["text"], "identifiers": identifiers, "keeps": keeps, "held": False}


def run(*command: str, given: str | None = None) -> str:
    """Run a program and return its output."""
    return subprocess.run(  # noqa: S603 -- fixed programs
        command, input=given, capture_output=True, text=True, check=True
    ).stdout


def pandoc(text: str, kind: str) -> str:
    """Return a text as pandoc writes it: paragraphs with their line breaks."""
    blocks = (block.splitlines() for block in text.split("\n\n"))
    page = "".join(f"<p>{'<br>'.join(map(escape, block))}</p>" for block in blocks)
    title = ("-s", "--metadata=title:Note") if "html" in kind else ()
    return run("pandoc", *title, "--from=html", f"--to={kind}", "--wrap=none", given=page)


def libreoffice(text: str, kind: str) -> str:
    """Return a text as LibreOffice exports it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "note.txt")
        source.write_text(text, encoding="utf-8")
        run("soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", "--infilter=Text (encoded):UTF8",
            "--convert-to", kind, "--outdir", folder, str(source))
        [made] = [each for each in Path(folder).glob("note.*") if each.suffix != ".txt"]
        return made.read_text(encoding="utf-8")


def rows(text: str) -> str:
    """Return lines as a table: a label and its value in two cells, other lines in one."""
    cells = (line.split(":", 1) if ": " in line[:30] else [line] for line in text.splitlines())
    return "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in cells)


def serialized(pages: list[str]) -> list[str]:
    """Return pages as Chromium serializes its DOM."""
    from browser import Browser  # type: ignore[import-not-found]  # in the tests

    made = []
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        for page in pages:
            path = Path(folder, "page.html")
            path.write_text(page, encoding="utf-8")
            browser.open(path, 800)
            made.append(f"<!DOCTYPE html>\n{browser.run('document.documentElement.outerHTML')}\n")
    return made


def main() -> None:
    """Write the files and their lines of gold. Lines of hostile files stay as they are."""
    waiting = iter(notes())
    made: list[tuple[str, str, dict[str, Any], str]] = []
    for name, kind in (("0.html", "html5"), ("1.html", "html4"), ("2.html", "html5"), ("3.xhtml", "html4"),
                       ("0.md", "gfm"), ("1.md", "markdown"), ("2.md", "commonmark")):
        note = next(waiting)
        made.append((f"pandoc-{name}", "pandoc", note, pandoc(note["text"], kind)))
    for i in range(3):
        note = next(waiting)
        made.append((f"libreoffice-{i}.html", "LibreOffice", note, libreoffice(note["text"], "html:HTML (StarWriter)")))
    note = next(waiting)
    made.append(("libreoffice.xhtml", "LibreOffice", note, libreoffice(note["text"], "xhtml:XHTML Writer File:UTF8")))
    four = [next(waiting) for _ in range(4)]
    pages = [f"<title>Note</title><div style='white-space:pre-wrap'>{escape(four[0]['text'])}</div>",
             f"<title>Note</title><table>{rows(four[1]['text'])}</table>",
             "<body>" + "".join(f"<p>{escape(line)}" for line in four[2]["text"].splitlines()),
             "<body><div>" + "<br>".join(map(escape, four[3]["text"].splitlines())) + "</div>"]
    for i, (note, page) in enumerate(zip(four, serialized(pages), strict=True)):
        made.append((f"chromium-{i}.html", "Chromium", note, page))
    lines = [gold(name, maker, note) for name, maker, note, _ in made]
    for name, _, _, page in made:
        (OUT / name).write_text(page, encoding="utf-8", newline="")
    file = OUT / "gold.jsonl"
    old = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    kept = [line for line in old if json.loads(line)["kind"] != "produced"]
    new = [json.dumps(line, ensure_ascii=False) for line in lines]
    file.write_text("\n".join([*new, *kept]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
