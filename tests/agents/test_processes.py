"""Processes that serve records give the same answers as a single process and lose no record when one dies."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.agents.item import Item
from incognote.agents.processes import Processes, share
from incognote.errors import SettingError, Unread
from incognote.settings import Settings
from incognote.testing import LocalServer, ScriptedLLM
from incognote_benchmarks.script import Script

NOTES = [
    "Mrs. Adaeze Okonkwo, 66, was seen by Dr. Wieczorek on 03/09/2025.",
    "No complaints. BP 120/80.",
    "\ud800 lone surrogate, then Dr. Abara \U0001f600 in Oslo",
    "",
]
RECORD = {"dataType": "note", "id": "r1", "text": "Adaeze Okonkwo called; MRN 00718823."}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deidentifier, Deidentifier]]:
    """The same settings with worker processes and without."""
    roster: Path = tmp_path_factory.mktemp("r") / "roster.jsonl"
    roster.write_text('{"name": "Quill Tennant"}\n', encoding="utf-8")
    words: dict[str, Any] = {"roster": roster, "key": "00" * 32}
    with Deidentifier(processes=2, **words) as many, Deidentifier(**words) as one:
        yield many, one


def processes_of(deid: Deidentifier) -> Processes:
    _ = deid.engine
    assert deid._processes is not None
    return deid._processes


def test_processes_give_the_same_results(pair: tuple[Deidentifier, Deidentifier]) -> None:
    many, one = pair
    items: list[Any] = [*NOTES, RECORD, {"dataType": "unheard of"}, "quill tennant rang"]
    for ours, theirs in zip(many.batch(items), one.batch(items), strict=True):
        assert ours == theirs
    assert many.detect(NOTES) == one.detect(NOTES)
    assert many.detect(NOTES, types="all") == one.detect(NOTES, types="all")
    known = {"name": "Zed Quux"}
    assert many.deidentify("zed quux again", known=known).text == one.deidentify("zed quux again", known=known).text


async def test_the_async_face_gives_them_too(pair: tuple[Deidentifier, Deidentifier]) -> None:
    many, one = pair
    ours = await asyncio.gather(*(many.adeidentify(note) for note in NOTES))
    assert [r.text for r in ours] == [one.deidentify(note).text for note in NOTES]


def test_each_process_takes_its_share(pair: tuple[Deidentifier, Deidentifier]) -> None:
    many, _ = pair
    list(many.batch(NOTES * 20))
    assert len({process.pipes.pid for process in processes_of(many)._all} - {os.getpid()}) == 2


def test_an_ephemeral_key_is_the_same_in_all_of_them() -> None:
    with Deidentifier(processes=2) as deid:
        manifests = [result.manifest for result in deid.batch(NOTES[:1] * 8)]
    assert {m["key"]["id"] for m in manifests} == {deid.engine.keyring.id}


def ended(pid: int) -> None:
    """Wait until the process has exited. If a test hangs here, the process was left running."""
    with suppress(ProcessLookupError):
        while True:
            os.kill(pid, 0)
            time.sleep(0.02)


def test_rows_of_a_table_which_cannot_travel_are_served_here(pair: tuple[Deidentifier, Deidentifier]) -> None:
    class Rows:
        """An opened record that cannot be pickled."""

        def __reduce__(self) -> Any:
            raise TypeError

    many, _ = pair
    item = Item(RECORD["text"], is_record=True, opened=Rows(), fault="told")  # type: ignore[arg-type] # a stand-in
    assert [result.verdict.outcome for result in many.batch([item, NOTES[0]])] == ["quarantine", "release"]


async def test_what_a_process_says_that_cannot_be_read_leaves_nobody_waiting() -> None:
    with Deidentifier(processes=1) as deid:
        first = await deid.adeidentify(NOTES[0])
        (process,) = processes_of(deid)._all
        assert process.pipes.stdout is not None
        process.pipes.stdout.feed_data((1).to_bytes(4, "big") + b"?")
        assert (await deid.adeidentify(NOTES[0])).text == first.text
        await asyncio.to_thread(ended, process.pipes.pid)


def test_killed_processes_lose_no_record(pair: tuple[Deidentifier, Deidentifier]) -> None:
    _, one = pair
    with Deidentifier(processes=2) as deid:
        first = deid.deidentify(NOTES[0])
        served = deid.batch([NOTES[0]] * 200)
        texts = [next(served).text]
        for process in list(processes_of(deid)._all):
            os.kill(process.pipes.pid, signal.SIGKILL)
        texts += [result.text for result in served]
        assert texts == [first.text] * 200
        assert deid.deidentify(NOTES[0]).text == one.deidentify(NOTES[0]).text


def test_a_batch_that_is_left_early_cancels_what_it_began() -> None:
    with Deidentifier(processes=1) as deid:
        next(deid.batch(NOTES * 10))
        assert deid.deidentify(NOTES[0]).verdict.outcome == "release"
        assert not any(process.waiting for process in processes_of(deid)._all)


def test_closing_ends_the_processes() -> None:
    with Deidentifier(processes=1) as deid:
        deid.deidentify(NOTES[0])
        (process,) = processes_of(deid)._all
    assert process.pipes.returncode == 0


def test_a_language_model_is_asked_by_all_of_them_and_one_budget_holds() -> None:
    script = Script({NOTES[0]: [("PATIENT", "Adaeze Okonkwo", 5, 19), ("AGE", "66", 21, 23)]})
    with LocalServer(script) as server:
        words: dict[str, Any] = {
            "model": "openai/scripted", "api_base": server.url, "api_key": server.api_key,
            "detectors": ("llm",), "passes": 1,
        }  # fmt: skip
        with Deidentifier(processes=2, **words) as many, Deidentifier(**words) as one:
            texts = [r.output(even_if_unreleased=True) for r in many.batch(NOTES[:1] * 12)]
            assert set(texts) == {one.deidentify(NOTES[0]).output(even_if_unreleased=True)}
            assert many.engine.models is not None
            assert many.engine.models.budget.spent.calls == 12
        with Deidentifier(processes=2, budget_tokens=1, model_slots=2, **words) as bounded:
            read = bounded.detect_each(NOTES[:1] * 40)
    assert {one.code for one in read if isinstance(one, Unread)} == {"budget-exhausted"}
    assert sum(isinstance(one, Unread) for one in read) > 20


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(SettingError, match="object"):
        _ = Deidentifier(processes=2, model=ScriptedLLM(lambda request: "{}")).engine


def test_the_slots_of_a_model_are_divided() -> None:
    settings = Settings.load(model_slots=5, models={"openai/x": {"model_slots": 3}, "openai/y": {"passes": 1}})
    parts = [share(settings, i, 2) for i in range(2)]
    assert [part.model_slots for part in parts] == [3, 2]
    assert [part.for_model("openai/x").model_slots for part in parts] == [2, 1]
    assert [part.for_model("openai/y").model_slots for part in parts] == [3, 2]


def test_an_unread_text_keeps_its_code_between_processes() -> None:
    travelled = pickle.loads(pickle.dumps(Unread("budget-exhausted", "why")))
    assert (travelled.code, str(travelled)) == ("budget-exhausted", "budget-exhausted: why")


def test_the_audit_hears_the_rules_where_only_a_model_was_asked() -> None:
    silent = ScriptedLLM(lambda request: "{}")
    with Deidentifier(model=silent, detectors=("llm",), passes=1) as deid:
        result = deid.deidentify(NOTES[0])
    assert "Okonkwo" not in result.text
    assert result.manifest["counts"]["mended"] > 0


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system has no files of process variables")
def test_a_process_gets_the_key_only_through_its_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    written = "5ec2e7" * 11
    monkeypatch.setenv("INCOGNOTE_KEY", written)
    with Deidentifier(processes=1) as deid:
        first = deid.deidentify("MRN 00718823.").text
        (process,) = processes_of(deid)._all
        about = Path(f"/proc/{process.pipes.pid}")
        seen = (about / "environ").read_bytes() + (about / "cmdline").read_bytes()
        assert written.encode() not in seen
        assert b"INCOGNOTE_KEY=" not in seen
        open_files = {os.readlink(one) for one in (about / "fd").iterdir()}
    assert first
    assert not any("key" in name for name in open_files)
