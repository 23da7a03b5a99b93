"""The pages' commands and code are run as they stand."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.S | re.M)


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, content) of each fenced block of a language that is not a file."""
    found = [(page.name, block) for page in PAGES for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return [(page, content) for page, (named, title, content) in found if named == language and not title]


STEPS: dict[str, list[tuple[str, str]]] = {}
"""By page, in order: ("", command), or (path, content) of a block with a title, which the reader saves."""
for page_ in PAGES:
    for language_, title_, content_ in BLOCK.findall(page_.read_text(encoding="utf-8")):
        if title_:
            STEPS.setdefault(page_.name, []).append((title_, content_))
        elif language_ == "sh":
            commands = re.sub(r"\\\n", " ", content_).splitlines()
            STEPS.setdefault(page_.name, []).extend(("", line) for line in commands if line.startswith("incognote "))
CODE = blocks("python")
READER = """
import json, pathlib, shlex, sys
from incognote.cli import main
for path, content in json.loads(sys.argv[1]):
    if path:
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_text(content, encoding="utf-8")
        continue
    sys.argv = shlex.split(content, comments=True)
    try:
        main()
    except SystemExit as end:
        if end.code not in (0, 3, None):
            sys.exit(f"{content}: exit code {end.code}")
"""
"""What the reader of a page does, in one process: loading the encoder for each command took three times as long."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A working folder as a reader's checkout has it."""
    folder = tmp_path / "reader"
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests" / "data", folder / "tests" / "data")
    return folder


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """One command in the reader's folder."""
    environment = {**os.environ, "INCOGNOTE_HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


@pytest.mark.parametrize("page", [page for page, steps in STEPS.items() if any(not path for path, _ in steps)])
def test_the_commands_of_a_page_run_one_after_the_other(page: str, copy: Path) -> None:
    done = run([sys.executable, "-c", READER, json.dumps(STEPS[page])], copy)
    assert done.returncode == 0, f"{page}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), CODE)
def test_the_code_of_a_page_prints_what_its_comments_say(page: str, code: str, copy: Path) -> None:
    done = run([sys.executable, "-c", code], copy)
    assert done.returncode == 0, f"{page}\n{done.stderr}"
    printed = [line for line in code.splitlines() if line.lstrip().startswith("print(")]
    said = [line.split("#", 1)[1].split(";")[0].strip() for line in printed]
    assert done.stdout.splitlines() == said


def test_the_picture_of_the_readme_shows_what_the_default_settings_replace() -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "scripts" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PICTURE.read_text(encoding="utf-8") == script.picture()


def test_the_figures_of_the_readmes_table_are_those_measured_outside() -> None:
    figures = json.loads((ROOT / "docs" / "measured" / "outside.json").read_text(encoding="utf-8"))["figures"]
    measured = {(f"{f['recall']:.3f}", f"{f['precision']:.3f}", f"{f['phi_free_touched'] or 0:.0%}") for f in figures}
    table = re.search(r"^\| System \|.*?\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    assert table is not None
    rows = [tuple(cell.strip() for cell in line.split("|")[2:5]) for line in table[0].splitlines()[2:] if line]
    assert len(rows) == 7
    for recall, precision, changed in rows:
        assert (recall, precision, changed.replace(" ", "")) in measured


def test_the_commands_were_found() -> None:
    assert sum(not path for steps in STEPS.values() for path, _ in steps) >= 40
    assert CODE


@pytest.mark.parametrize("page", [ROOT / "SECURITY.md", ROOT / "docs" / "threat-model.md", ROOT / "docs" / "keys.md"])
def test_what_a_page_on_security_links_to_or_names_as_its_test_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [link for link in links if link and not (page.parent / link).exists()] == []
    there = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in re.findall(r"`(test_\w+)`", text) if f"def {name}(" not in there] == []


def test_every_picture_of_a_page_is_there_and_small() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", page.read_text("utf-8"))]
    pictures = [page.parent / link for page, link in links if "://" not in link]
    assert len(pictures) >= 5
    assert [picture for picture in pictures if not picture.is_file()] == []
    assert [file for file in (ROOT / "docs").rglob("*.png") if file.stat().st_size > 200_000] == []
