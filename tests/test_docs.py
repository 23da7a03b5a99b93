"""The pages' commands and code are run as they stand."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, content) of each fenced block of a language."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.S | re.M)
    return [(page.name, block) for page in PAGES for block in pattern.findall(page.read_text(encoding="utf-8"))]


COMMANDS: dict[str, list[str]] = {}
for page_, block_ in blocks("sh"):
    COMMANDS.setdefault(page_, []).extend(line for line in block_.splitlines() if line.startswith("incognote "))
CODE = blocks("python")


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


@pytest.mark.parametrize("page", [page for page, commands in COMMANDS.items() if commands])
def test_the_commands_of_a_page_run_one_after_the_other(page: str, copy: Path) -> None:
    assert COMMANDS[page]
    for command in COMMANDS[page]:
        done = run([sys.executable, "-m", *shlex.split(command, comments=True)], copy)
        assert done.returncode in (0, 3), f"{page}: {command}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), CODE)
def test_the_code_of_a_page_prints_what_its_comments_say(page: str, code: str, copy: Path) -> None:
    done = run([sys.executable, "-c", code], copy)
    assert done.returncode == 0, f"{page}\n{done.stderr}"
    said = [line.split("#", 1)[1].split(";")[0].strip() for line in code.splitlines() if line.startswith("print(")]
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
    assert sum(map(len, COMMANDS.values())) >= 8
    assert CODE


@pytest.mark.parametrize("page", [ROOT / "SECURITY.md", ROOT / "docs" / "threat-model.md", ROOT / "docs" / "keys.md"])
def test_what_a_page_on_security_links_to_or_names_as_its_test_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [link for link in links if link and not (page.parent / link).exists()] == []
    there = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in re.findall(r"`(test_\w+)`", text) if f"def {name}(" not in there] == []
