"""An incident on the command line: recall, new release, forgetting, and opt-out. None of them reports PHI."""

from __future__ import annotations

import gc
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.service.audit import entries, verify
from incognote.settings import home

from .conftest import Run

ROOT = Path(__file__).parents[2]
WORDS = "tulip-kestrel-forty"
LEDGER = "sqlite:///ledger.db"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the examples and a key."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    Keyring.write_new(home() / "master.key")
    return tmp_path


def ledger() -> Ledger:
    """Open the ledger of the working folder."""
    return Ledger(LEDGER, Keyring.read(home() / "master.key"))


def states(release: str) -> list[str]:
    """Return the states of a release's records."""
    book = ledger()
    found = [entry.state for entry in book.entries(release=book.release(release).id)]
    book.close()
    return sorted(found)


def told_anywhere(here: Path, *outputs: str) -> str:
    """Return the audit log, reports, tombstones, file names, and command output as one text."""
    files = [*(home() / "audit").glob("*"), *(home() / "incidents").glob("*"), *here.glob("destination/tombstones/*")]
    assert len(files) >= 3
    names = [str(path.relative_to(here)) for path in here.rglob("*") if not path.is_relative_to(here / "examples")]
    return "\n".join([*outputs, *names, *(path.read_text() for path in files)])


def test_the_commands_of_the_pages_on_a_leak_and_on_forgetting_do_what_the_pages_say(here: Path, run: Run) -> None:
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("incident.md", "operations.md"))
    blocks = re.findall(r"^```bash\n(.*?)^```", page, re.S | re.M)
    commands = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
    assert [command[0] for command in commands] == [
        "worker", "release", "recall", "pack", "worker", "release", "recall", "audit", "optout", "forget", "optout",
    ]  # fmt: skip

    said: list[str] = []

    def step() -> str:
        done = run(*commands.pop(0))
        assert done.code == 0, done.err
        said.append(done.out + done.err)
        return said[-1]

    step(), step()
    (shard,) = (here / "destination" / "march").iterdir()
    assert WORDS in shard.read_text()
    assert "Okonkwo" not in shard.read_text()
    assert states("march") == ["released"] * 3

    step()
    (tombstones,) = (here / "destination" / "tombstones").iterdir()
    (row,) = map(json.loads, tombstones.read_text().splitlines())
    assert row["shard"] == f"march/{shard.name}"
    assert WORDS in shard.read_text().splitlines()[row["line"] - 1]
    assert states("march") == ["released", "released", "tombstoned"]

    step(), step()
    assert states("march-2") == ["released"] * 3
    anew = "".join(path.read_text() for path in (here / "destination" / "march-2").iterdir())
    assert WORDS not in anew
    assert "wound clean and dry" in anew
    assert "march-2" not in tombstones.read_text()

    step()
    again = step()
    assert "Outputs recalled: 0" in again
    assert "The log is intact." in step()
    assert "The opt-out was added." in step()
    assert "opt-outs" in step()
    assert "Ada Officer" in step()
    assert "records.committed" in "".join(said)
    told = told_anywhere(here, *said)
    assert not [word for word in (WORDS, "Okonkwo", "Haverstock", "Lindqvist", "note-1.txt") if word in told]


@pytest.fixture
def records(here: Path, run: Run) -> Path:
    """Five released records of two patients, as JSON lines."""
    (here / "source").mkdir()
    lines = [
        {
            "dataType": "clinicalRecord",
            "PatientId": patient,
            "MRN": f"77-{n}",
            "AGE": "46 years",
            "note": f"Day {n}, well.",
        }
        for n, patient in enumerate(["pat-Zebulon", "pat-Quackenbosh", "pat-Zebulon", "pat-Zebulon", "pat-Quackenbosh"])
    ]
    (here / "source" / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (here / "who.txt").write_text("pat-Zebulon\n")
    config = here / "quick.toml"
    config.write_text(
        'detectors = ["rules"]\n[service]\nrest_seconds = 0\npoll_seconds = 0.05\nlease_seconds = 5\nsentinels = 0\n'
    )
    assert worker(run).code == 0
    assert states("r1") == ["released"] * 5
    return here


def worker(run: Run, release: str = "r1") -> Any:
    """Run one worker until the source is empty."""
    words = [
        "source",
        "--destination=destination",
        "--quarantine=held",
        f"--ledger={LEDGER}",
        f"--release={release}",
        "--once",
    ]
    return run("worker", *words, "--config=quick.toml")


def recall(run: Run, *words: str) -> dict[str, Any]:
    """Run a recall and return its data."""
    data: dict[str, Any] = run(
        "recall", *words, f"--ledger={LEDGER}", "--destination=destination", "--by=Ada", "--yes", "--json"
    ).data
    return data


def test_a_patients_outputs_are_recalled_and_nobody_elses(records: Path, run: Run) -> None:
    done = recall(run, "--patient", "--words-file=who.txt")
    assert (done["outputs"], done["requeued"]) == ({"r1": 3}, 0)
    assert states("r1") == ["released"] * 2 + ["tombstoned"] * 3
    again = recall(run, "--patient", "--words-file=who.txt")
    assert (again["outputs"], again["left"], again["known"]) == ({}, 0, True)
    assert (done["marked_before"], again["marked_before"]) == (0, 3)
    assert worker(run).code == 0
    assert states("r1").count("tombstoned") == 3
    assert "zebulon" not in told_anywhere(records).lower()


def test_a_patient_is_recalled_however_the_id_is_written(records: Path, run: Run) -> None:
    (records / "who.txt").write_text("\ufeff PAT-zebulon\u200b \r\n", encoding="utf-8")
    assert recall(run, "--patient", "--words-file=who.txt")["outputs"] == {"r1": 3}


def test_a_recall_of_a_patient_whom_the_ledger_does_not_know_ends_with_code_3(records: Path, run: Run) -> None:
    (records / "who.txt").write_text("pat-Zebulom\n")
    done = run(
        "recall",
        "--patient",
        "--words-file=who.txt",
        f"--ledger={LEDGER}",
        "--destination=destination",
        "--by=Ada",
        "--yes",
    )
    assert (done.code, "has no record" in done.err) == (3, True)
    assert states("r1") == ["released"] * 5


def test_a_recall_that_leaves_outputs_released_is_an_error(
    records: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ledger, "mark", lambda *_, **more: 0)
    done = run(
        "recall",
        "--patient",
        "--words-file=who.txt",
        f"--ledger={LEDGER}",
        "--destination=destination",
        "--by=Ada",
        "--yes",
    )
    assert (done.code, "3 outputs are still released" in done.err) == (1, True)


def test_the_patient_is_asked_for_where_no_file_names_it(records: Path, run: Run) -> None:
    words = ["recall", "--patient", f"--ledger={LEDGER}", "--destination=destination", "--by=Ada", "--yes", "--json"]
    done = run(*words, stdin="pat-Zebulon\n")
    assert json.loads(done.out.splitlines()[-1])["data"]["outputs"] == {"r1": 3}
    assert "Zebulon" not in done.out + done.err
    done = run(*words, stdin="")
    assert (done.code, "use --patient-file FILE" in done.err + done.out) == (2, True)


def test_what_a_version_made_is_recalled_and_can_be_claimed_again(records: Path, run: Run) -> None:
    digest = ledger().release("r1").frozen["policy"]["version"]
    done = recall(run, f"--made-by={digest}", "--requeue")
    assert (done["outputs"], done["requeued"]) == ({"r1": 5}, 5)
    assert worker(run).code == 0
    assert states("r1") == ["released"] * 5
    assert len(list((records / "destination" / "r1").iterdir())) == 2


def test_no_claim_is_promised_in_a_release_whose_key_was_changed(records: Path, run: Run) -> None:
    digest = ledger().release("r1").frozen["policy"]["version"]
    assert run("key", "new", "new.key").code == 0
    gc.collect()  # closes the audit log of the worker, which ran in this process
    assert run("key", "rotate", "--new-key-file", "new.key", "--ledger", LEDGER).code == 0
    words = (
        f"--made-by={digest}",
        f"--ledger={LEDGER}",
        "--destination=destination",
        "--by=Ada",
        "--yes",
        "--key-file=new.key",
    )
    refused = run("recall", *words, "--requeue")
    assert (refused.code, "the key was changed after r1" in refused.err) == (2, True), refused.err
    assert run("recall", *words, "--json").data["outputs"] == {"r1": 5}


def test_what_cannot_be_recalled_is_said(records: Path, run: Run) -> None:
    (records / "short.txt").write_text("46\n")
    about = (f"--ledger={LEDGER}", "--destination=destination", "--by=Ada", "--yes")
    for words, said in [
        (("--made-by=gpt-9",), "no release, or version in one"),
        (("--contains", "--words-file=short.txt"), "at least 3"),
        (("--contains", "--patient"), "Name one of"),
        ((), "Name one of"),
        (("--patient", "--words-file=absent.txt"), "cannot be read"),
    ]:
        done = run("recall", *words, *about)
        assert (done.code, said in done.err) == (2, True), done.err
    assert states("r1") == ["released"] * 5


def test_who_opted_out_is_refused_at_the_next_claim(records: Path, run: Run) -> None:
    assert "was added" in run("optout", "add", "--patient-file=who.txt", "--by=Ada").out
    assert "already" in run("optout", "add", "--patient-file=who.txt", "--by=Ada").out
    assert worker(run, "r2").code == 3
    assert states("r2") == ["refused"] * 3 + ["released"] * 2
    (one,) = run("optout", "list", "--json").data["subjects"]
    assert one["by"] == "Ada"
    assert "withdrawn" in run("optout", "remove", "--patient-file=who.txt", "--by=Ada").out
    assert worker(run, "r3").code == 0
    assert states("r3") == ["released"] * 5


def test_a_subject_is_forgotten_with_a_receipt_from_every_store(records: Path, run: Run) -> None:
    done = run("forget", "--patient-file=who.txt", f"--ledger={LEDGER}", "--destination=destination", 
               "--quarantine=held", "--by=Ada", "--yes", "--json")  # fmt: skip
    receipts = {one["store"]: one for one in done.data["receipts"]}
    assert set(receipts) == {"opt-outs", "destination", "ledger", "review", "jobs", "quarantine"}
    assert (receipts["destination"]["found"], receipts["ledger"]["found"]) == (3, 3)
    assert (receipts["destination"]["after"], receipts["ledger"]["after"], receipts["opt-outs"]["after"]) == (0, 0, 1)
    assert states("r1") == ["released"] * 2 + ["tombstoned"] * 3
    assert worker(run, "r2").code == 3
    assert states("r2") == ["refused"] * 3 + ["released"] * 2
    told = [(entry.event, entry.facts.get("store")) for entry in entries(home() / "audit")]
    assert ("forget.store", "ledger") in told
    assert told[-1][0] in ("forget.ended", "worker.stopped", "records.committed")
    assert verify(home() / "audit", Keyring.read(home() / "master.key")).sound


def test_forgetting_without_the_lab_marks_nothing_so_that_the_lab_can_be_told_later(records: Path, run: Run) -> None:
    words = ["forget", "--patient-file=who.txt", f"--ledger={LEDGER}", "--by=Ada", "--yes", "--json"]
    for _ in range(2):
        done = run(*words)
        receipts = {one["store"]: one for one in done.data["receipts"]}
        assert done.code == 1
        assert states("r1") == ["released"] * 5
        for store in ("destination", "ledger"):
            assert "no destination was given" in receipts[store]["left"]
            assert "--destination" in receipts[store]["fault"]
    assert not (records / "destination" / "tombstones").exists()
    assert run(*words, "--destination=destination").code == 0
    assert tombstones(records) == [3]
    assert states("r1") == ["released"] * 2 + ["tombstoned"] * 3


def test_outputs_that_were_marked_while_no_lab_was_told_are_told_of_later(records: Path, run: Run) -> None:
    book = ledger()
    keys = [one.key for one in book.entries(subject=book.subject("pat-Zebulon"))]
    book.mark(book.release("r1").id, keys, "tombstoned", "forgotten")
    book.close()
    words = ["forget", "--patient-file=who.txt", f"--ledger={LEDGER}", "--by=Ada", "--yes"]
    assert run(*words).code == 0
    assert run(*words, "--destination=destination").code == 0
    assert tombstones(records) == [3]


def test_a_subject_that_is_forgotten_twice_is_told_to_each_lab_once(records: Path, run: Run) -> None:
    words = ["forget", "--patient-file=who.txt", f"--ledger={LEDGER}", "--by=Ada", "--yes", "--json"]
    said = []
    for destination in ("destination", "destination", "other"):
        done = run(*words, f"--destination={destination}")
        assert done.code == 0
        said.append(next(one["left"] for one in done.data["receipts"] if one["store"] == "destination"))
    assert ["already" in one for one in said] == [False, True, False]
    assert tombstones(records) == tombstones(records, "other") == [3]


def tombstones(here: Path, destination: str = "destination") -> list[int]:
    """Return the number of outputs that each of the destination's tombstone lists names."""
    return [path.read_text().count("\n") for path in sorted((here / destination / "tombstones").iterdir())]


def test_a_mistyped_ledger_is_named_and_not_made(records: Path, run: Run) -> None:
    (records / "source" / "b.jsonl").write_text('{"dataType": "nope", "note": "x"}\n')
    assert worker(run, "r2").code == 3
    for words in (
        ("forget", "--patient-file=who.txt", "--by=Ada", "--yes"),
        ("recall", "--patient", "--words-file=who.txt", "--destination=destination", "--by=Ada", "--yes"),
        ("quarantine", "retry", "held/r2"),
        ("release", "list"),
    ):
        done = run(*words, "--ledger=sqlite:///legder.db")
        assert (done.code, "--ledger" in done.err) == (2, True), (words, done.err)
    assert not list(records.glob("legder.db*"))


def test_audit_commands_print_check_and_tell_a_change(records: Path, run: Run) -> None:
    recall(run, "--patient", "--words-file=who.txt")
    head = run("audit", "head").out.strip()
    assert run("audit", "verify", f"--head={head}").code == 0
    assert run("audit", "verify", "--without-key").code == 0
    told = run("audit", "list", "--event=recall", "--json").data["entries"]
    assert [entry["event"] for entry in told] == ["recall.began", "recall.ended"]
    assert "recall.ended" in run("audit", "list").out
    segment = home() / "audit" / "000001.jsonl"
    segment.write_text(segment.read_text().replace('"Ada"', '"Eve"'))
    done = run("audit", "verify", "--json")
    assert done.code == 1
    assert {fault["code"] for fault in done.data["faults"]} == {"changed"}
    assert "NOT intact" in run("audit", "verify").out


def test_each_days_recall_on_sentinel_notes_is_printed(records: Path, run: Run) -> None:
    config = records / "quick.toml"
    config.write_text(config.read_text().replace("sentinels = 0", "sentinels = 3"))
    assert worker(run, "r2").code == 0
    (day,) = run("audit", "sentinels", "--json").data["days"]
    assert day["notes"] >= 3
    assert day["recall"]["value"] > 0.8
    assert "recall" in run("audit", "sentinels").out
    destination = "".join(path.read_text() for path in (records / "destination" / "r2").iterdir())
    assert destination.count("\n") == 5


def test_who_looks_at_a_held_record_stands_in_the_audit_log(records: Path, run: Run) -> None:
    (records / "source" / "b.jsonl").write_text('{"dataType": "nope", "note": "Mr. Quackenbosh"}\n')
    assert worker(run, "r2").code == 3
    (held,) = run("quarantine", "list", "held/r2", "--long", "--json").data["held"]
    assert "Quackenbosh" in run("quarantine", "show", "held/r2", held["name"], "--show-anyway").out
    assert run("quarantine", "drop", "held/r2", "--all", "--yes").code == 0
    told = [entry for entry in entries(home() / "audit") if entry.event.startswith("quarantine")]
    assert [entry.event for entry in told] == ["quarantine.listed", "quarantine.shown", "quarantine.dropped"]
    assert all(entry.facts["by"] for entry in told)
    assert told[1].facts["item"] == held["name"]
