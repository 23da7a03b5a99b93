"""The pages' commands and code are run as they stand."""

from __future__ import annotations

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


COMMANDS = [
    (page, line) for page, block in blocks("sh") for line in block.splitlines() if line.startswith("incognote ")
]
CODE = blocks("python")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder as a reader's checkout has it; the commands of a page build on each other."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests" / "data", folder / "tests" / "data")
    return folder


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """One command in the reader's folder."""
    environment = {**os.environ, "INCOGNOTE_HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_of_a_page_runs(page: str, command: str, copy: Path) -> None:
    words = shlex.split(command, comments=True)
    done = run([sys.executable, "-m", *words], copy)
    assert done.returncode in (0, 3), f"{page}: {command}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), CODE)
def test_the_code_of_a_page_prints_what_its_comments_say(page: str, code: str, copy: Path) -> None:
    done = run([sys.executable, "-c", code], copy)
    assert done.returncode == 0, f"{page}\n{done.stderr}"
    said = [line.split("#", 1)[1].split(";")[0].strip() for line in code.splitlines() if line.startswith("print(")]
    assert done.stdout.splitlines() == said


def test_the_readme_shows_what_the_demo_prints(copy: Path) -> None:
    done = run([sys.executable, "-m", "incognote", "deid", "examples/discharge_summary.txt"], copy)
    (shown,) = [block for page, block in blocks("text") if page == "README.md"]
    assert shown.strip() in done.stdout


def test_the_commands_were_found() -> None:
    assert len(COMMANDS) >= 8
    assert CODE
