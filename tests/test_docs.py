"""Run the commands and code of the pages exactly as written."""

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
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.S | re.M)


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, content) of each fenced block in a language that is not a file."""
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


CODER = """
import contextlib, io, json, sys
outputs = []
for code in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, "page", "exec"), {"__name__": "__main__"})
    outputs.append(output.getvalue())
print(json.dumps(outputs))
"""
"""Runs the Python of a page in one process."""
NOT_RUN = {
    ("README.md", "sh"): "pip and make; the incognote commands in the block do run",
    ("api.md", "console"): "a running server; tests/service/api sends such requests",
    ("audio.md", "console"): "recordings of the reader's own; tests/formats/audio and tests/cli run such commands",
    ("backup.md", "bash"): "tests/test_operations.py runs them",
    ("corpus.md", "console"): "a teacher's hours; tests/training runs the commands on small corpora",
    ("databases.md", "console"): "a table of the reader's own; tests/formats/test_parquet.py runs such a command",
    ("dicom.md", "console"): "DICOM files of the reader's own; tests/formats/test_dicom.py reads such files",
    ("docker.md", "sh"): "a step in a list, for a server behind a proxy; tests/service/api makes such keys",
    ("documents.md", "console"): "outputs, and a receiver; tests/formats and tests/service/test_mllp.py run these",
    ("experiments.md", "console"): "a vendor's model; tests/evaluation/experiments runs such files",
    ("folders.md", "console"): "outputs, and a command for tables of the reader's own",
    ("held-records.md", "console"): "item names differ in each run; tests/cli/test_quarantine_command.py runs these",
    ("incident.md", "bash"): "tests/cli/test_recall.py runs them",
    ("integrations.md", "console"): "servers and an MCP client; tests/integrations starts them",
    ("key-rotation.md", "bash"): "tests/test_operations.py runs them",
    ("models.md", "console"): "a vendor's model; tests/cli/test_models.py runs the commands with recorded replies",
    ("operations.md", "bash"): "tests/cli/test_recall.py runs them",
    ("pages.md", "console"): "scans of the reader's own; tests/cli/test_deid_derived.py runs such commands",
    ("prompts.md", "console"): "a vendor's model; tests/cli runs the commands with recorded replies",
    ("quickstart.md", "console"): "an installation, a command for terminals, and outputs",
    ("release-evidence.md", "console"): "the decisions of two people; tests/cli/test_sample.py runs the commands",
    ("relex.md", "console"): "an output, and a folder of notes that the reader has",
    ("SECURITY.md", "sh"): "an advisory service on the network, which no test may reach",
    ("surrogate-index.md", "console"): "forms of commands; tests/cli/test_index.py runs them",
    ("try.md", "console"): "a server; tests/service/api/test_try_page.py opens the page in a browser",
    ("vault.md", "console"): "scans of the reader's own; tests/cli/test_reveal_image.py runs such commands",
    ("upgrade.md", "bash"): "tests/test_operations.py runs them",
}
"""Blocks of commands that these tests do not run, by page and language, and why."""
DATA = {"", "ini", "json", "text", "toml", "yaml"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A working folder like a reader's checkout."""
    folder = tmp_path / "reader"
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests" / "data", folder / "tests" / "data")
    return folder


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in the reader's folder."""
    environment = {**os.environ, "INCOGNOTE_HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


@pytest.mark.parametrize("page", [page for page, steps in STEPS.items() if any(not path for path, _ in steps)])
def test_the_commands_of_a_page_run_one_after_the_other(page: str, copy: Path) -> None:
    done = run([sys.executable, "-c", READER, json.dumps(STEPS[page])], copy)
    assert done.returncode == 0, f"{page}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", dict.fromkeys(page for page, _ in CODE))
def test_the_code_of_a_page_prints_what_its_comments_say(page: str, copy: Path) -> None:
    codes = [code for named, code in CODE if named == page]
    done = run([sys.executable, "-c", CODER, json.dumps(codes)], copy)
    assert done.returncode == 0, f"{page}\n{done.stderr}"
    for code, output in zip(codes, json.loads(done.stdout.splitlines()[-1]), strict=True):
        printed = [line for line in code.splitlines() if line.lstrip().startswith("print(")]
        said = [line.split("#", 1)[1].split(";")[0].strip() for line in printed]
        assert output.splitlines() == said, page


def test_every_block_of_commands_is_run_or_says_why_not() -> None:
    skipped: set[tuple[str, str]] = set()
    for page in PAGES:
        text = re.sub(r"^````.*?^````", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for indent, language, content in re.findall(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```", text, re.S | re.M):
            lines = [line for line in content.splitlines() if line and not line.startswith("#")]
            whole = language == "python" or all(line.startswith(("incognote ", " ")) for line in lines)
            if language in DATA:
                assert not [line for line in lines if line.startswith(("$ ", "incognote deid"))], page.name
            elif language not in ("sh", "python") or indent or not whole:
                skipped.add((page.name, language))
    assert skipped == NOT_RUN.keys(), "run the block, or say in NOT_RUN why not"
    named = re.findall(r"tests/[\w/]+(?:\.py)?", " ".join(NOT_RUN.values()))
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_picture_of_the_readme_shows_what_the_default_settings_replace() -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "scripts" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PICTURE.read_text(encoding="utf-8") == script.picture()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_the_links_of_a_page_outside_the_site_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_figures_of_the_readmes_table_are_those_measured_outside() -> None:
    figures = json.loads((ROOT / "docs" / "measured" / "outside.json").read_text(encoding="utf-8"))["figures"]
    measured = {(f"{f['recall']:.3f}", f"{f['precision']:.3f}", f"{f['phi_free_touched'] or 0:.0%}") for f in figures}
    table = re.search(r"^\| System \|.*?\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    assert table is not None
    rows = [tuple(cell.strip() for cell in line.split("|")[2:5]) for line in table[0].splitlines()[2:] if line]
    assert len(rows) == 7
    for recall, precision, changed in rows:
        assert (recall, precision, changed.replace(" ", "")) in measured


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r'"([^"]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    copied = {"changelog.md", "contributing.md", "security.md"}
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    pages -= {"review/stranger.md"}  # only in the repository
    assert pages - listed == set(), "add these pages to `nav` in zensical.toml"
    assert {page for page in listed if not page.startswith("reference/")} - copied - pages == set()


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
