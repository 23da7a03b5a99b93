"""Rules for all commands: exit codes, one line per error, and no content of a record in any message."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from incognote.cli import app
from incognote.cli.shell import Shell
from incognote.errors import KeyMissing, SettingError, UnapprovedSchema, UnknownName

Run = Callable[..., Any]

HEAVY = ("litellm", "openai", "torch", "langgraph", "opensearchpy", "onnxruntime", "numpy", "pandas", "phonenumbers")
COMMANDS = (
    "deid", "detect", "evaluate", "graph", "doctor", "quarantine", "policy", "schema", "pack", "key", "model", "replay",
)  # fmt: skip


def _failing(error: BaseException) -> typer.Typer:
    app = typer.Typer(cls=Shell, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        """A command-line program."""

    @app.command()
    def fail(as_json: bool = typer.Option(False, "--json")) -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingError("mend this"), 2),
        (UnknownName("policy", "x"), 2),
        (KeyMissing("mend this"), 1),
        (UnapprovedSchema("mend this"), 1),
        (ValueError("Jane Doe"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_error_is_one_line_and_an_exit_code(error: BaseException, code: int) -> None:
    result = CliRunner().invoke(_failing(error), ["fail"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith("incognote: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_what_an_unexpected_error_says_is_never_told_for_it_may_quote_a_record() -> None:
    result = CliRunner().invoke(_failing(ValueError("Jane Doe")), ["fail"])
    assert "Doe" not in result.stderr
    assert "ValueError in " in result.stderr


def test_with_json_an_error_is_a_json_line_too() -> None:
    result = CliRunner().invoke(_failing(SettingError("mend this")), ["fail", "--json"])
    told = json.loads(result.stdout)
    assert told == {"ok": False, "command": "fail", "error": {"code": "SettingError", "message": "mend this"}}
    assert result.stderr == "incognote: mend this\n"


def test_a_wrong_option_is_a_usage_error(run: Run) -> None:
    assert run("deid", "--nonsense").code == 2
    assert run("nonsense").code == 2


GROUP: Any = typer.main.get_command(app)


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name in group.list_commands(None) if hasattr(group, "commands") else ():
        if name != "distill":
            yield from _commands(group.get_command(None, name), (*path, name))


EVERY = dict(_commands(GROUP))


def _help(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    GROUP.main(args, prog_name="incognote", standalone_mode=False)
    return capsys.readouterr().out


def test_the_help_of_every_command_fits_a_screen_and_shows_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert len(EVERY) > 60
    for path, command in EVERY.items():
        shown = _help(capsys, *path, "--help")
        assert shown.startswith(" ".join(("Usage: incognote", *path))), path
        assert len(shown.splitlines()) <= 43, path
        assert max(map(len, shown.splitlines())) <= 100, path
        assert "incognote " in shown.partition("\nExample")[2] or hasattr(command, "commands"), path


@pytest.mark.parametrize("columns", ["60", "80"])
def test_the_help_is_folded_to_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = _help(capsys, "worker", "--help-all")
    assert max(map(len, shown.splitlines())) <= int(columns)
    assert "--chunk-words N" in shown
    assert "\x1b[" not in shown


def test_the_examples_of_the_help_run_as_they_are_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(Path(__file__).parents[2] / "examples")
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path / "home"))
    examples = []
    for path, command in EVERY.items():
        lines = _help(capsys, *path, "--help").partition("\nExample")[2].replace("\\\n", " ")
        for line in lines.splitlines() if path else ():
            words = shlex.split(line.partition(" > ")[0].partition("incognote ")[2])
            if words:
                assert words[: len(path)] == list(path)
                command.make_context(path[-1], words[len(path) :])  # its options and arguments exist
            if any(word.startswith("examples/") for word in words):
                examples.append(words)
    assert len(examples) >= 7
    for words in examples:
        rules = ["--detectors", "rules"] if words[0] in ("deid", "detect", "relex", "plan") else []
        if words[0] == "relex":
            assert run("index", "create", *words[-2:]).code == 0
        done = run(*words, *rules)
        assert done.code in (0, 3), (words, done.err)


def test_the_top_help_names_every_command_and_the_exit_codes(run: Run) -> None:
    done = run("--help")
    assert all(command in done.out for command in COMMANDS)
    assert "3 records held" in done.out
    assert done.out.index("experiment") > done.out.index("More (explained by incognote --help-all)")
    assert "Compare systems" in run("--help-all").out


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['incognote', '--help']\n"
        "from incognote.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_version_is_printed(run: Run) -> None:
    done = run("--version")
    assert done.code == 0
    assert done.out.startswith("incognote ")


def test_python_m_runs_the_same_program(process: Run) -> None:
    assert process("--version").out == process("--version").out != ""
    assert process("policy", "explain", "nope").code == 2


def test_an_installed_package_adds_a_command_that_is_loaded_only_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.py").write_text(
        "import typer\nprint('loaded')\napp = typer.Typer(help='Of another package.')\n"
        "@app.command()\ndef greet(): print('hello')\n@app.callback()\ndef root(): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("extra", "elsewhere:app", "incognote.commands")
    monkeypatch.setattr("incognote.cli.shell.installed", lambda group: {"extra": point})
    monkeypatch.setattr("incognote.cli.shell.load", lambda group, name: point.load())
    failing = _failing(SettingError("nothing"))
    assert "loaded" not in CliRunner().invoke(failing, ["fail"]).output
    assert "extra" in CliRunner().invoke(failing, ["--help"]).output
    assert CliRunner().invoke(failing, ["extra", "greet"]).output.endswith("hello\n")


def test_an_option_that_was_renamed_is_accepted_by_its_old_name_with_a_warning(run: Run) -> None:
    words = ("recall", "--patient", "--words-file=absent", "--ledger=sqlite:///absent.db", "--by=Ada")
    for old in (("--lab", "x"), ("--lab=x",)):
        done = run(*words, *old)
        assert "--lab was renamed to --destination" in done.err
        assert "no such option" not in done.err.lower()
    assert "renamed" not in run(*words, "--destination=x").err
    assert "--lab" not in run("recall", "--help").out


def test_a_command_of_a_package_that_cannot_be_loaded_takes_no_other_away(tmp_path: Path) -> None:
    about = tmp_path / "broken-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[incognote.commands]\nbroken = not_there:app\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "ignore", "-m", "incognote", *args]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)

    helped, asked = run("--help"), run("broken")
    assert helped.returncode == 0, helped.stderr
    assert "worker" in helped.stdout
    assert "broken" in helped.stdout
    assert asked.returncode == 2
    assert "broken cannot be loaded: ModuleNotFoundError in not_there" in asked.stderr
