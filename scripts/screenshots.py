#!/usr/bin/env python3
"""Create the screenshots of the documentation: docs/screenshots/*.png.

    python scripts/screenshots.py [try] [review] [report] [docs] [terminal]

Without a name it makes all of them. It starts `incognote serve` with synthetic data and opens its pages in Chromium. It
needs the extras `service` and `evaluation`, and `build/site` for the start page of the documentation.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "screenshots"
MOST_BYTES = 200_000
START = ROOT / "build" / "site" / "index.html"
LETTER = ROOT / "tests" / "data" / "documents" / "pdf" / "chromium-discharge-letter.pdf"
NOTES = ROOT / "tests" / "data" / "notes.jsonl"
HELD = """Seen by Dr. Emily Carter on 03/16/2025 with Zofia, who works at the harbor. MRN 4471902.
Zofia's number is 617-555-0142. Potassium 4.10, creatinine 0.9. Return in two weeks.
"""
TERMINALS = {
    "terminal-help": ["--help"],
    "terminal-deid": ["deid", "examples/discharge_summary.txt"],
}

FRAME = """<!doctype html><meta charset="utf-8"><body style="margin: 0; padding: 20px; background: {background}">
<pre style="margin: 0; font: 14px/1.4 'DejaVu Sans Mono', monospace; color: {foreground}">{code}</pre>"""

spec = importlib.util.spec_from_file_location("browser", ROOT / "tests" / "evaluation" / "report" / "browser.py")
assert spec is not None
assert spec.loader is not None
browser = importlib.util.module_from_spec(spec)
spec.loader.exec_module(browser)


def save(page: Any, name: str, height: int | None = None) -> None:
    """Save a screenshot of the page as a small PNG.

    Raises:
        SystemExit: the page logged an error, or the picture is too large.
    """
    from PIL import Image

    if page.errors:
        sys.exit(f"{name}: {page.errors[0]}")
    path = OUT / f"{name}.png"
    image = Image.open(io.BytesIO(page.picture(height))).convert("RGB")
    image.quantize(96, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        sys.exit(f"{path} has {path.stat().st_size:,} bytes. The limit is {MOST_BYTES:,}.")
    print(path.relative_to(ROOT))  # noqa: T201  # a script's output


def until(page: Any, condition: str) -> None:
    """Wait until a condition holds on the page."""
    end = time.monotonic() + 120
    while not page.run(f"Boolean({condition})"):
        if time.monotonic() > end:
            sys.exit(f"timeout while waiting on the page for: {condition}")
        time.sleep(0.05)


@contextmanager
def served(home: Path, *options: str) -> Iterator[str]:
    """Start `incognote serve` on a free port. The address of a page is `url.format("/review")`."""
    log = home / "serve.log"
    with log.open("wb") as stream:
        command = [sys.executable, "-m", "incognote", "serve", "--port", "0", *options]
        environment = {**os.environ, "INCOGNOTE_HOME": str(home)}
        process = subprocess.Popen(command, stderr=stream, env=environment, cwd=ROOT)  # noqa: S603  # our own command
    try:
        while not (found := re.search(r"^Open (\S+) with the token in (.+)\. Press", log.read_text(), re.MULTILINE)):
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.1)
        yield f"{found[1]}{{}}#token={Path(found[2]).read_text().strip()}"
    finally:
        process.terminate()
        process.wait(30)


def try_page(page: Any, home: Path) -> None:
    """Capture the try page with the example and a span in focus."""
    with served(home) as url:
        for name, width, scheme in (("try", 1280, "light"), ("try-dark", 1280, "dark"), ("try-400", 400, "light")):
            page.open("about:blank", width)
            page.open(url.format("/"), width, scheme=scheme)
            until(page, "document.querySelector('#policy').options.length")
            page.run("document.querySelector('#example').click()")
            page.run("document.querySelector('#go').click()")
            until(page, "document.querySelector('.verdict')")
            page.run("document.querySelectorAll('.original .span')[4].focus()")
            save(page, name)


def review_page(page: Any, home: Path) -> None:
    """Capture the review page: held records, a schema, and the dashboard. The figures are invented."""
    item, letter = fill(home)
    with served(home, "--schemas", str(home / "schemas")) as url:
        views = {
            "review-record": (f"record/{item}", "mark"), "review-record-400": (f"record/{item}", "mark"),
            "review-pages": (f"record/{letter}", ".sheet rect"),
            "review-schema": ("schema/visit", "tbody"), "review-runs": ("runs", "svg"),
        }  # fmt: skip
        for name, (part, shown) in views.items():
            width = 400 if name.endswith("400") else 1280
            page.open("about:blank", width)
            page.open(url.format("/review"), width)
            until(page, "document.querySelector('#main h2')")
            page.run(f"location.hash = '{part}'")
            until(page, f"document.querySelector('{shown}')")
            save(page, name, {"review-record-400": 1500, "review-pages": 900}.get(name))


def fill(home: Path) -> tuple[str, str]:
    """Add two records to the review queue, a schema, and invented figures to the audit log.

    Returns:
        The ids of the records, of which the second one is a PDF file.
    """
    from incognote import Deidentifier
    from incognote.agents.item import Item
    from incognote.keys import Keyring
    from incognote.nouns import Reason
    from incognote.service.audit import AuditLog
    from incognote.service.review import ReviewQueue, case_of

    key = home / "master.key"
    keyring = Keyring.write_new(key)
    (home / "schemas").mkdir()
    (home / "schemas" / "visit.json").write_bytes((ROOT / "tests" / "service" / "visit.json").read_bytes())
    with Deidentifier(detectors=["rules"], key_file=key) as deid:
        item = Item(HELD)
        case = case_of(item, deid.deidentify(item), deid.engine)
        item = Item(LETTER.read_bytes(), media_type="application/pdf")
        letter = case_of(item, deid.deidentify(item), deid.engine)
    doubts = tuple(replace(span, score=0.48, sources=("encoder",)) for span in case.spans if span.text == "Zofia")
    spans = tuple(span for span in case.spans if span.text != "Zofia")
    case = replace(case, spans=spans, doubts=doubts, reasons=(Reason("doubtful", "", "PERSON"),))
    queue = ReviewQueue(f"sqlite:///{home}/service.db", keyring)
    doubtful = replace(letter, reasons=(Reason("doubtful", "body", "PERSON"),))
    made = queue.put("k" * 32, "2026-spring", case), queue.put("l" * 32, "2026-spring", doubtful)
    queue.close()
    for number, released in enumerate((840, 910, 885, 402, 371, 930, 955)):
        day = datetime.now(UTC) - timedelta(days=7 - number)
        audit = AuditLog(home / "audit", keyring, clock=lambda day=day: day)
        release = "2026-spring" if number < 4 else "2026-summer"
        audit.append("records.committed", release=release, released=released, review=released // 60, quarantined=3)
        audit.append("sentinels.scored", release=release, notes=10, failed=0, count=80, found=78 + number % 3, leaked=0)
    return made


def report(page: Any, home: Path) -> None:
    """Capture an experiment report: rules, and rules with the encoder, on the synthetic development notes."""
    sets = {"rules": ["rules"], "rules and encoder": ["rules", "encoder"]}
    systems = [{"name": name, "detectors": detectors} for name, detectors in sets.items()]
    corpus = {"name": "development notes", "path": str(NOTES), "synthetic": True, "split": "dev"}
    (home / "systems.yaml").write_text(json.dumps({"name": "systems", "corpora": [corpus], "systems": systems}))
    for command in (("run", "systems.yaml"), ("report", "systems.results", "--out", "page")):
        whole = [sys.executable, "-m", "incognote", "experiment", *command]
        subprocess.run(whole, cwd=home, check=True, capture_output=True)  # noqa: S603  # our own command
    [written] = home.rglob("*.html")
    page.open(written, 1280)
    save(page, "report", 1500)


def docs(page: Any, home: Path) -> None:
    """Capture the start page of the documentation."""
    if not START.is_file():
        sys.exit(f"{START} does not exist. Build the documentation first.")
    page.open(START, 1280)
    save(page, "docs", 900)


def terminal(page: Any, home: Path) -> None:
    """Capture commands on a terminal with 100 columns."""
    from rich.console import Console
    from rich.terminal_theme import DIMMED_MONOKAI
    from rich.text import Text

    for name, arguments in TERMINALS.items():
        console = Console(record=True, width=100, file=io.StringIO())
        console.print(Text.from_ansi(f"$ incognote {' '.join(arguments)}\n{typed(arguments, home)}"))
        written = home / f"{name}.html"
        shown = console.export_html(theme=DIMMED_MONOKAI, inline_styles=True, code_format=FRAME)
        written.write_text(shown, encoding="utf-8")
        page.open(written, 900)
        save(page, name, page.run("document.querySelector('pre').offsetHeight + 40"))


def typed(arguments: list[str], home: Path) -> str:
    """Return the output of a command on a terminal."""
    parent, child = pty.openpty()
    environment = {**os.environ, "INCOGNOTE_HOME": str(home), "COLUMNS": "100", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "incognote", *arguments]
    ends = {"stdin": child, "stdout": child, "stderr": child}
    with subprocess.Popen(command, **ends, env=environment, cwd=ROOT):  # noqa: S603  # our own command
        os.close(child)
        pieces = []
        while piece := read(parent):
            pieces.append(piece)
    os.close(parent)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    """Return the next bytes from a terminal; none after the command has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


MAKERS: dict[str, Callable[[Any, Path], None]] = {
    "try": try_page, "review": review_page, "report": report, "docs": docs, "terminal": terminal,
}  # fmt: skip

if __name__ == "__main__":
    names = sys.argv[1:] or [name for name in MAKERS if name != "docs" or START.is_file()]
    if unknown := set(names) - MAKERS.keys():
        sys.exit(f"unknown: {', '.join(sorted(unknown))}. Choose from {', '.join(MAKERS)}.")
    OUT.mkdir(exist_ok=True)
    with browser.Browser() as opened:
        for each in names:
            with tempfile.TemporaryDirectory() as folder:
                MAKERS[each](opened, Path(folder))
