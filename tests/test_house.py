"""The package as a newcomer sees it: fast to import, a small sorted API, everything in the wheel."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import venv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import incognote

ROOT = Path(__file__).parents[1]
LOADED = 144  # our modules loaded after one note, including the language's
HEAVY = ("litellm", "openai", "torch", "langgraph", "opensearchpy", "onnxruntime", "spacy", "presidio_analyzer", "mcp")


def loaded_after(code: str) -> str:
    """Return the heavy packages that a fresh interpreter has loaded after running some code."""
    script = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return done.stderr.splitlines()[-1]


def test_importing_loads_nothing_heavy() -> None:
    assert loaded_after("import incognote") == "[]"


def test_help_loads_nothing_heavy() -> None:
    assert loaded_after("sys.argv = ['incognote', '--help']; from incognote.cli import main; main()") == "[]"


def test_detecting_loads_no_graph() -> None:
    detecting = "from incognote import Deidentifier; Deidentifier().detect(['Dr. Abara'])"
    assert loaded_after(detecting) == "['onnxruntime']"  # used by the encoder


def test_the_public_face_is_sorted_and_whole() -> None:
    assert incognote.__all__ == sorted(incognote.__all__)
    assert all(hasattr(incognote, name) for name in incognote.__all__)


ENGLISH = frozenset(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday mrs dr prof nurse mother father daughter husband wife avenue boulevard lane "
    "terrace california massachusetts ohio texas she her his seventeen twenty attending discharged".split()
)
"""Words of notes that no message of the program uses."""
LANGUAGE_FREE = ("text", "align", "detectors", "operators", "prompts", "relex", "extraction")
STILL_ENGLISH = {
    "relex/cluster/choosing.py": "kin and titles that mean one person; they go with the rest of the folder",
    "relex/cluster/hints.py": "as attaching",
    "relex/cluster/kinship.py": "as attaching",
    "relex/cluster/mentions.py": "as attaching",
    "relex/cluster/persons.py": "as attaching",
    "relex/cluster/values.py": "as attaching: numbers in words",
}
"""Modules of the engine that hold English words, and why."""


def english_in(source: str) -> set[str]:
    """The words of ENGLISH in a module's string literals, except docstrings."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(each.value) for body in bodies for each in body if isinstance(each, ast.Expr)}
    literals = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in docstrings]
    return {word for text in literals if isinstance(text, str) for word in re.findall("[a-z]+", text.lower())} & ENGLISH


def test_the_engine_holds_no_english_words() -> None:
    """They are data in the bundle `languages/en`."""
    package = ROOT / "incognote"
    modules = [path for folder in LANGUAGE_FREE for path in sorted((package / folder).rglob("*.py"))]
    assert len(modules) > 100
    english = {str(path.relative_to(package)): english_in(path.read_text(encoding="utf-8")) for path in modules}
    assert {name: words for name, words in english.items() if words and name not in STILL_ENGLISH} == {}


def test_english_words_are_seen_in_literals_and_not_in_docstrings() -> None:
    assert english_in('def f():\n    """In January."""\n    return re.compile(r"\\b(?:mrs|dr)\\b"), f"{x} avenue"') == {
        "mrs",
        "dr",
        "avenue",
    }


@pytest.fixture(scope="module")
def house() -> ModuleType:
    """The script that draws the package graph from the imports."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "scripts" / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_do_not_import_each_other_in_circles(house: ModuleType) -> None:
    """Imports inside functions and under TYPE_CHECKING count, too."""
    assert house.circles(house.imports()) == []


def test_a_circle_is_found(house: ModuleType) -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert house.circles(graph) == [["a", "b", "c"]]
    assert "incognote.errors" in house.imports()["incognote.testing"]  # imported at the top of a module
    assert "incognote.testing.server" in house.imports()["incognote.testing"]  # imported in a function
    with pytest.raises(ValueError, match="import each other"):
        house.reduced(graph)


def test_no_public_class_name_stands_for_two_things(house: ModuleType) -> None:
    places = defaultdict(list)
    for name, path in house.modules().items():
        if name.partition(".")[0] == "incognote":
            classes = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef))
            for node in classes:
                places[node.name].append(name)
    twice = {name: where for name, where in places.items() if len(where) > 1 and not name.startswith("_")}
    assert twice == {}


def _met(iterated: ast.expr, filled: set[str]) -> bool:
    """Whether a loop over it always runs: it is a nonempty literal, or a name for one."""
    if isinstance(iterated, (ast.List, ast.Tuple, ast.Set)):
        return any(not isinstance(each, ast.Starred) or _met(each.value, filled) for each in iterated.elts)
    if isinstance(iterated, (ast.ListComp, ast.GeneratorExp)):
        return all(_met(part.iter, filled) and not part.ifs for part in iterated.generators)
    match iterated:
        case ast.Dict(keys=held) | ast.Constant(value=held):
            return bool(held)
        case ast.Name(id=name):
            return name in filled
        case ast.Call(func=ast.Name(id="range"), args=args) if all(isinstance(each, ast.Constant) for each in args):
            return len(range(*ast.literal_eval(ast.Tuple(args)))) > 0
        case ast.Call(func=ast.Name(id="map"), args=[_, *args]):
            return all(_met(each, filled) for each in args)
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "sorted" | "reversed" | "list" | "pairwise"), args=args):
            return all(_met(each, filled) for each in args)
        case ast.Call(func=ast.Attribute(value=held, attr="items" | "values" | "keys"), args=[]):
            return _met(held, filled)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add()):
            return _met(left, filled)
    return False


def _filled(nodes: Iterable[ast.AST], known: set[str]) -> set[str]:
    """The names assigned to nonempty literals, in addition to the known ones."""
    names = set(known)
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(
                target=ast.Name(id=name), value=ast.expr() as value
            ) if _met(value, names):
                names.add(name)
    return names


def _asserts(node: ast.AST, filled: set[str], in_loop: bool = False) -> Iterator[bool]:
    """For each assertion in a function, whether it is in a loop that may never run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        raises = isinstance(child, ast.With) and any("raises" in ast.unparse(item) for item in child.items)
        if isinstance(child, ast.Assert) or raises:
            yield in_loop
        loop = isinstance(child, (ast.AsyncFor, ast.While)) or (
            isinstance(child, ast.For) and not _met(child.iter, filled)
        )
        yield from _asserts(child, filled, in_loop or loop)


def loops_only(source: str) -> list[str]:
    """The tests of a module whose assertions are all in loops that may never run.

    A property of drawn values is exempt if the module uses `hypothesis.find` to find a value that makes the loop run.
    """
    tree = ast.parse(source)
    module = _filled(tree.body, set())
    searched = "hypothesis.find(" in source
    bad = []
    for test in ast.walk(tree):
        if isinstance(test, (ast.FunctionDef, ast.AsyncFunctionDef)) and test.name.startswith("test_"):
            drawn = any("given(" in ast.unparse(each) for each in test.decorator_list)
            asserts = list(_asserts(test, _filled(ast.walk(test), module)))
            if asserts and all(asserts) and not (drawn and searched):
                bad.append(test.name)
    return bad


def test_what_asserts_in_a_loop_also_asserts_that_the_loop_met_something() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert len(files) > 300
    found = {f"{path.relative_to(ROOT)}::{name}" for path in files for name in loops_only(path.read_text("utf-8"))}
    assert not found


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        ("for x in f():\n        assert x", True),
        ("assert f()\n    for x in f():\n        assert x", False),
        ("for x in (1, 2):\n        assert x", False),
        ("for x in []:\n        assert x", True),
        ("for x in range(0):\n        assert x", True),
        ("for x in (*f(), 1):\n        assert x", False),
        ("for x in f():\n        with pytest.raises(E):\n            x()", True),
        ("for x in (1, 2):\n        for y in f():\n            assert y", True),
    ],
)
def test_a_loop_that_may_meet_nothing_is_told_from_one_that_meets_something(body: str, bad: bool) -> None:
    assert loops_only(f"def test_it():\n    {body}\n") == (["test_it"] if bad else [])


def test_the_drawing_is_that_of_the_tree(house: ModuleType) -> None:
    drawn, measured = house.drawing(house.parts()), json.loads(house.measured())
    assert drawn.count("marker-end") > len(house.parts())
    assert measured["sizes"]["incognote"]["total"]["files"] > 100
    assert house.DRAWING.read_text("utf-8") == drawn, "run scripts/house.py"


def test_one_note_loads_few_modules() -> None:
    script = (
        "import sys; from incognote import Deidentifier\n"
        "with Deidentifier() as deid: deid.deidentify('Seen by Dr. Abara on 03/09/2025.')\n"
        "print(sum(name.startswith('incognote') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert 20 < int(done.stdout) <= LOADED


def test_the_wheel_runs_in_an_empty_environment(tmp_path: Path) -> None:
    """Build the wheel, install it with its real dependencies, and run it: anything the wheel lacks shows here."""
    for source in (ROOT, ROOT / "languages" / "en"):
        built = subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, source],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert built.returncode == 0, built.stdout[-2000:]
    wheels = sorted(tmp_path.glob("*.whl"))
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["incognote", "incognote_en"]
    assert wheels[0].stat().st_size < 8_000_000  # the network of the layout detector has 2.9 MB
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", ROOT / "constraints.txt", *wheels],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if "No matching distribution" in installed.stderr or "Failed to establish" in installed.stderr:
        pytest.skip("needs a package index to install the wheel's dependencies from")
    assert installed.returncode == 0, installed.stderr[-2000:]
    note = tmp_path / "note.txt"
    note.write_text("Mr. Emeka Okonkwo, 66, seen by Dr. Abara on 03/09/2025.", encoding="utf-8")
    done = subprocess.run(
        [tmp_path / "empty" / "bin" / "incognote", "deid", note],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Mr. [PERSON], [AGE], seen by Dr. [PERSON] on [DATE]."
