"""The audit log: its entries, who may write it, and that it detects every change."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, KeyMissing, UnknownName, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.service.audit import AuditEntry, AuditLog, ChainHead, entries, verify
from incognote.service.vocabulary import checked, events, facts

KEY = Keyring(bytes(range(32)))
RECORD = "0123456789abcdef"


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    """A log of five entries in two segments."""
    made = AuditLog(tmp_path / "audit", KEY, segment_bytes=1200)
    for line in range(4):
        made.append("records.claimed", record=RECORD, worker="w1", line=line)
    return made


def segments(log: AuditLog) -> list[Path]:
    """The files of a log."""
    return sorted(log.folder.glob("*.jsonl"))


def codes(log: AuditLog, keyring: Keyring | None = KEY, *anchors: ChainHead) -> set[str]:
    """The codes of the faults that verification finds."""
    return {fault.code for fault in verify(log.folder, keyring, anchors).faults}


def test_entries_stand_in_order_and_the_chain_holds(log: AuditLog) -> None:
    assert [entry.number for entry in entries(log.folder)] == [1, 2, 3, 4, 5]
    assert [entry.facts.get("line") for entry in entries(log.folder)] == [None, 0, 1, 2, 3]
    assert len(segments(log)) == 2
    report = verify(log.folder, KEY)
    assert (report.sound, report.first, report.last, report.head) == (True, 1, 5, log.head())
    assert verify(log.folder).sound


def test_only_words_of_the_vocabulary_can_be_logged(log: AuditLog) -> None:
    with pytest.raises(UnknownName, match="event"):
        log.append("patient.seen")
    with pytest.raises(UnknownName, match="fact"):
        log.append("records.claimed", note="x")
    for name, value in [
        ("record", "Emeka Okonkwo"),
        ("record", "77120943"),
        ("worker", "Emeka Okonkwo"),
        ("reason", "Okonkwo"),
        ("count", 1.5),
        ("count", True),
        ("seconds", float("nan")),
        ("shard", "1"),
    ]:
        with pytest.raises(UsageError, match=name) as told:
            log.append("records.claimed", **{name: value})
        assert str(value) not in str(told.value) or not isinstance(value, str) or value == "1"
    assert log.head().number == 5


def test_staff_is_named_in_the_audit_log_and_nowhere_else(log: AuditLog) -> None:
    assert log.append("review.opened", record=RECORD, by="Zoë O'Hara").facts["by"] == "Zoë O'Hara"
    with pytest.raises(UsageError, match="by"):
        checked("review.opened", {"by": "Ada"})


def test_every_event_and_fact_of_the_vocabulary_is_well_formed() -> None:
    assert all("." in event and said.endswith(".") for event, said in events().items())
    with pytest.raises(UnknownName):
        checked("audit.opened", {"nobody": 1})
    assert set(facts().values()) >= {"hex", "code", "count", "number", "who"}


def test_a_changed_word_is_found(log: AuditLog) -> None:
    path = segments(log)[0]
    path.write_bytes(path.read_bytes().replace(b'"w1"', b'"w2"', 1))
    assert codes(log) == codes(log, None) == {"changed"}


def test_an_entry_forged_without_the_key_is_detected(log: AuditLog) -> None:
    """With write access to the folder, anyone can extend the chain, but they cannot sign it without the key."""
    other = Keyring(bytes(32))
    head, lines = ChainHead(), []
    for entry in entries(log.folder):
        made = AuditEntry.new(head, entry.at, entry.event, {**entry.facts, "tries": 1}, other)
        head = ChainHead.of(made)
        lines.append(made.line())
    anchor = log.head()
    for path in segments(log):
        path.unlink()
    segments_path = log.folder / "000001.jsonl"
    segments_path.write_bytes(b"".join(lines))
    (log.folder / "head").write_bytes(head.sealed(other))
    assert codes(log, None) == set()
    assert codes(log) == {"head", "forged"}
    assert codes(log, None, anchor) == {"anchor"}
    with pytest.raises(IncognoteError, match="audit verify"):
        log.append("records.claimed", record=RECORD)


@pytest.mark.parametrize("kept", [1, 3, 4])
def test_truncation_is_detected_and_never_overwritten(log: AuditLog, kept: int) -> None:
    lines = [entry.line() for entry in entries(log.folder)]
    for path in segments(log)[1:]:
        path.unlink()
    segments(log)[0].write_bytes(b"".join(lines[:kept]))
    assert codes(log) == codes(log, None) == {"cut"}
    with pytest.raises(IncognoteError, match="audit verify"):
        log.append("records.claimed", record=RECORD)
    (log.folder / "head").unlink()
    assert codes(log) == {"head"}
    with pytest.raises(IncognoteError, match="audit verify"):
        AuditLog(log.folder, KEY)


def test_an_entry_taken_out_of_the_middle_is_found(log: AuditLog) -> None:
    path = segments(log)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))
    assert codes(log) == {"gap"}


def test_a_line_that_is_no_entry_is_found(log: AuditLog) -> None:
    path = segments(log)[0]
    path.write_bytes(path.read_bytes() + b'{"number": 1}\n')
    assert codes(log) == {"unreadable"}
    with pytest.raises(IncognoteError, match="not an entry"):
        list(entries(log.folder))


@pytest.mark.parametrize(
    ("word", "value"),
    [("hash", 7), ("hash", "é"), ("seal", None), ("seal", "ü" * 64), ("former", ["x"]), ("at", 1), ("event", {}),
     ("number", True), ("facts", []), ("facts", {"x": [1]})],
)  # fmt: skip
def test_a_line_that_only_looks_like_an_entry_is_a_fault_and_no_crash(log: AuditLog, word: str, value: object) -> None:
    """Otherwise, someone who changed the log could prevent others from verifying it."""
    first = segments(log)[0]
    lines = first.read_text().splitlines(keepends=True)
    changed = json.dumps({**json.loads(lines[1]), word: value}) + "\n"
    first.write_text("".join([lines[0], changed, *lines[2:]]))
    assert "unreadable" in codes(log)
    first.write_text("".join([lines[0], "[" * 100_000 + "\n", *lines[2:]]))
    assert "unreadable" in codes(log)


def test_archived_segments_need_the_head_before_those_that_are_left(log: AuditLog) -> None:
    first = list(entries(log.folder))
    segments(log)[0].unlink()
    left = next(entries(log.folder))
    assert codes(log) == {"beginning"}
    assert codes(log, KEY, ChainHead.of(first[left.number - 2])) == set()
    log.append("records.claimed", record=RECORD)
    assert AuditLog(log.folder, KEY).head().number == 6


def test_a_torn_end_is_taken_away_and_told(log: AuditLog) -> None:
    with segments(log)[-1].open("ab") as out:
        out.write(b'{"number": 6, "at"')
    assert codes(log) == set()
    assert log.append("records.claimed", record=RECORD).number == 7
    assert [entry.event for entry in entries(log.folder)][-2:] == ["audit.mended", "records.claimed"]
    assert codes(log) == set()


def test_a_kill_between_the_entry_and_the_head_costs_nothing(log: AuditLog) -> None:
    before = (log.folder / "head").read_bytes()
    log.append("records.claimed", record=RECORD)
    (log.folder / "head").write_bytes(before)
    assert codes(log) == set()
    assert AuditLog(log.folder, KEY).append("records.claimed", record=RECORD).number == 7


def test_another_key_and_a_passing_key_are_refused(log: AuditLog, tmp_path: Path) -> None:
    with pytest.raises(WrongKey):
        AuditLog(log.folder, Keyring(bytes(32)))
    with pytest.raises(KeyMissing):
        AuditLog(tmp_path / "other", Keyring.ephemeral())


def test_a_clock_that_goes_back_is_counted_and_no_fault(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    times = iter([now, now + timedelta(hours=1), now - timedelta(hours=5)])
    log = AuditLog(tmp_path, KEY, clock=lambda: next(times))
    log.append_all([("worker.started", {}), ("worker.stopped", {})])
    report = verify(tmp_path, KEY)
    assert (report.sound, report.backward) == (True, 1)


def test_a_full_disk_leaves_the_log_as_it_was(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    before = [path.read_bytes() for path in segments(log)]
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(IncognoteError, match="No space left"):
            log.append("records.claimed", record=RECORD)
    assert [path.read_bytes() for path in segments(log)] == before
    assert log.append("records.claimed", record=RECORD).number == 6


def test_nothing_is_readable_by_others(log: AuditLog) -> None:
    assert {path.stat().st_mode & 0o077 for path in (log.folder, *log.folder.iterdir())} == {0}


WRITER = """
import sys
from incognote.keys import Keyring
from incognote.service.audit import AuditLog
log = AuditLog(sys.argv[1], Keyring(bytes(range(32))), segment_bytes=4000)
for line in range(25):
    log.append("records.claimed", record="0123456789abcdef", line=line, worker=sys.argv[2])
"""


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "log", f"w{n}"]) for n in range(3)]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0, 0]
    report = verify(tmp_path / "log", KEY)
    assert (report.sound, report.last) == (True, 76)
    lines = [(e.facts["worker"], e.facts["line"]) for e in entries(tmp_path / "log") if e.number > 1]
    assert len(set(lines)) == 75


def test_a_head_is_read_as_it_is_written(log: AuditLog) -> None:
    assert ChainHead.parse(str(log.head())) == log.head()
    for written in ("", "5", "x:y", "5:" + "g" * 64):
        with pytest.raises(UsageError):
            ChainHead.parse(written)


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set audit in"):
        verify(tmp_path)


def test_lines_are_json_without_a_word_beyond_the_vocabulary(log: AuditLog) -> None:
    lines = [line for path in segments(log) for line in path.read_text().splitlines()]
    assert lines
    for line in lines:
        told = json.loads(line)
        assert set(told) == {"number", "at", "event", "facts", "former", "hash", "seal"}
        assert set(told["facts"]) <= facts().keys()
