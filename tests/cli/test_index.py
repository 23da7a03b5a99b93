"""`incognote index`: create, move, repair, and forget. Nothing of an original is printed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.nouns import patient_scope
from incognote.relex.index.nouns import IdentityPlace, SurrogateProposal
from incognote.relex.index.opening import open_index

Run = Callable[..., Any]
PATIENT = "Zebulon's chart"
PLACE = IdentityPlace("default", patient_scope(PATIENT), "PERSON")


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "a.key", tmp_path / "b.key"
    for path in made:
        Keyring.write_new(path)
    return made


@pytest.fixture
def about(tmp_path: Path, keys: tuple[Path, Path]) -> list[Any]:
    return ["--index", f"sqlite:///{tmp_path / 'index.db'}", "--key-file", keys[0]]


def claimed(about: list[Any], *claims: tuple[str, ...]) -> list[str]:
    """Create identities with these variants, each used in one output. Return their ids."""

    async def work() -> list[str]:
        async with await open_index(about[1], Keyring.read(about[3])) as index:
            made = []
            for variants in claims:
                whole = f"Surrogate {len(made)}"
                outcome = await index.claim(SurrogateProposal(PLACE, "PATIENT", variants, {"full": whole}, whole))
                made.append(outcome.identity.id)
                await index.use([(made[-1], f"note of {variants[0]}")])
            return made

    return asyncio.run(work())


def test_an_index_is_made_once_and_counted(run: Run, about: list[Any]) -> None:
    done = run("index", "stats", *about)
    assert (done.code, "index create" in done.err) == (1, True)
    made = run("index", "create", *about, "--json").data
    claimed(about, ("Zebulon Q", "Zeb"))
    again = run("index", "create", *about, "--json").data
    assert again["id"] == made["id"]
    assert again["identities"] == [{"domain": "default", "group": "PERSON", "count": 1}]
    assert (again["keys"], again["usages"]) == (2, 1)
    shown = run("index", "stats", *about)
    assert "default, PERSON" in shown.out
    assert "Zeb" not in shown.out


def test_an_index_goes_from_one_file_to_another_and_to_another_key(
    run: Run, about: list[Any], keys: tuple[Path, Path], tmp_path: Path
) -> None:
    run("index", "create", *about)
    claimed(about, ("Zebulon Q",))
    assert run("index", "export", tmp_path / "e", *about).out == "4 documents written\n"
    other = ["--index", f"sqlite:///{tmp_path / 'other.db'}", "--key-file", keys[0]]
    run("index", "create", *other)
    assert run("index", "import", tmp_path / "e", *other).out == "4 documents read\n"
    done = run("index", "rekey", "--new-key-file", keys[1], *other, "--json")
    assert done.data == {"documents": 4, "key": Keyring.read(keys[1]).id}
    assert "key" in run("index", "stats", *other).err
    assert run("index", "stats", *other[:2], "--key-file", keys[1], "--json").data["keys"] == 1


def test_two_are_merged_and_one_is_split_and_the_outputs_go_into_a_file(
    run: Run, about: list[Any], tmp_path: Path
) -> None:
    run("index", "create", *about)
    one, two = claimed(about, ("Zebulon Q", "Zeb"), ("Mr. Q",))
    done = run("index", "merge", one, two, "--outputs", tmp_path / "list", *about)
    assert done.out == f"Kept {one}. Outputs to process again: 1.\n"
    assert (tmp_path / "list").read_text() == "note of Mr. Q\n"
    assert (tmp_path / "list").stat().st_mode & 0o777 == 0o600
    file = tmp_path / "p.json"
    words = {"variants": ["Zeb"], "surrogate": {"full": "Li Wei"}, "whole": "Li Wei"}
    file.write_text(json.dumps(words))
    divided = run("index", "split", one, "--proposal", file, *about, "--json").data
    assert divided["identity"] not in (one, two)
    assert divided["outputs"] == 1
    file.write_text(json.dumps({**words, "variants": ["Mr. Q"], "whole": "Surrogate 0"}))
    assert "another identity already has" in run("index", "split", one, "--proposal", file, *about).err
    for text in ("{}", "no", json.dumps({**words, "variants": "Zeb"})):
        file.write_text(text)
        done = run("index", "split", one, "--proposal", file, *about)
        assert (done.code, "--proposal" in done.err) == (2, True)


def test_a_patient_is_forgotten_by_a_file_that_names_it(run: Run, about: list[Any], tmp_path: Path) -> None:
    run("index", "create", *about)
    claimed(about, ("Zebulon Q", "Zeb"))
    (tmp_path / "who").write_text(PATIENT.upper())
    done = run("index", "forget", "--patient-file", tmp_path / "who", "--yes", *about, "--json")
    (receipt,) = done.data["receipts"]
    assert (receipt["identities"], receipt["keys"]) == (1, 2)
    assert "Zebulon" not in done.out
    assert run("index", "stats", *about, "--json").data["identities"] == []


def test_no_index_is_told_with_the_remedy(run: Run) -> None:
    done = run("index", "stats")
    assert (done.code, "INCOGNOTE_INDEX" in done.err) == (2, True)
