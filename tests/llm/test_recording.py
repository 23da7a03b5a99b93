"""Recordings: the first writer wins, nothing is in plaintext, a wrong key is refused, a replay calls no model."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from incognote.errors import (
    ContextTooLong,
    IncognoteError,
    KeyMissing,
    ModelRejected,
    ModelUnavailable,
    PromptCut,
    SettingError,
    UsageError,
    WrongKey,
)
from incognote.keys import Keyring
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.llm.recording import Recorded, Recording, Replayed, reply_bytes

KEYS = Keyring(bytes(range(32)))
NOTE = "Mr. Zebulon Quackenbosh, MRN 77120943, seen on 03/04/2025 by Dr. Plumtree."
ASKED = Request((Message("system", "Find the PHI."), Message("user", NOTE)))
REPLY = Reply('{"PERSON": ["Zebulon Quackenbosh"]}', usage=Usage(90, 12, 0, 1, 0.002), seconds=1.5, model="openai/m")


class Model:
    """Returns REPLY or raises the exception it was given."""

    name = "openai/m"

    def __init__(self, *problems: Exception) -> None:
        self.calls = 0
        self.closed = False
        self.problems = list(problems)

    async def complete(self, request: Request) -> Reply:
        self.calls += 1
        if self.problems:
            raise self.problems.pop(0)
        return REPLY

    async def aclose(self) -> None:
        self.closed = True


def test_what_was_put_is_found_by_the_next_process(tmp_path: Path) -> None:
    first = Recording(tmp_path / "r.db", KEYS)
    assert first.put("a", b"one") == b"one"
    first.close()
    second = Recording(tmp_path / "r.db", KEYS)
    assert (second.get("a"), second.get("b"), len(second)) == (b"one", None, 1)
    second.close()


def test_the_first_writer_wins(tmp_path: Path) -> None:
    one, two = Recording(tmp_path / "r.db", KEYS), Recording(tmp_path / "r.db", KEYS)
    assert one.put("a", b"one") == b"one"
    assert two.put("a", b"two") == b"one"
    two.put_all([("a", b"three"), ("b", b"four")])
    assert (one.get("a"), one.get("b"), len(one)) == (b"one", b"four", 2)
    one.close()
    two.close()


def test_the_files_hold_no_word_of_note_reply_or_address(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    address = ASKED.address("openai/m")
    recording.put(address, reply_bytes(REPLY))
    recording.keep("encoder", NOTE, [[4, 23, "PERSON"]])
    recording.sealed.set_job("00ff", NOTE.encode())
    names = sorted(p.name for p in tmp_path.iterdir())
    assert "r.db-wal" in names  # still open: only this file has the last write
    for path in tmp_path.iterdir():
        data = path.read_bytes().lower()
        for word in ("zebulon", "quackenbosh", "77120943", "plumtree", "person", "find the phi", "encoder", address):
            assert word.encode() not in data
        assert bytes.fromhex(address) not in path.read_bytes()
    recording.close()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "deep" / "r.db", KEYS)
    recording.put("a", b"one")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "deep").iterdir()}
    recording.close()
    assert modes.pop("r.db") == 0o600
    assert set(modes.values()) == {0o600}


def test_a_wrong_key_is_refused_when_the_file_is_opened(tmp_path: Path) -> None:
    Recording(tmp_path / "r.db", KEYS).close()
    with pytest.raises(WrongKey):
        Recording(tmp_path / "r.db", Keyring(b"x" * 32))


def test_a_key_that_dies_with_the_process_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyMissing):
        Recording(tmp_path / "r.db", Keyring.ephemeral())
    with pytest.raises(KeyMissing):
        Recording(tmp_path / "r.db")
    assert list(tmp_path.iterdir()) == []


def test_rows_that_were_exchanged_are_refused(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    recording.put("a", b"one")
    recording.put("b", b"two")
    recording.close()
    db = sqlite3.connect(tmp_path / "r.db")
    (_, sealed), (second, _) = db.execute("SELECT address, sealed FROM answers").fetchall()
    db.execute("UPDATE answers SET sealed = ? WHERE address = ?", (sealed, second))
    db.commit()
    db.close()
    again = Recording(tmp_path / "r.db", KEYS)
    swapped = "a" if KEYS.mac("recording", "a") == second else "b"
    with pytest.raises(WrongKey):
        again.get(swapped)
    again.close()


def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE theirs (x)")
    db.commit()
    db.close()
    (tmp_path / "text").write_text("no database, but more than a hundred bytes " * 9)
    for name in ("other.db", "text"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(SettingError, match="another"):
            Recording(tmp_path / name, KEYS)
        assert (tmp_path / name).read_bytes() == before


def test_a_replay_makes_no_file(tmp_path: Path) -> None:
    for plain in (False, True):
        with pytest.raises(SettingError):
            Recording(tmp_path / "r", KEYS, plain=plain, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_recording_complains_in_our_words(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    recording.close()
    with pytest.raises(IncognoteError, match="recording cannot be used"):
        recording.put("a", b"one")


WRITER = """
import sys
from incognote.keys import Keyring
from incognote.llm.recording import Recording
recording = Recording(sys.argv[1], Keyring(bytes(range(32))))
for n in range(120):
    recording.put(f"shared {n}", sys.argv[2].encode())
    recording.put(f"own {sys.argv[2]} {n}", b"x")
recording.close()
"""


def test_several_processes_write_at_once_and_agree(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    running = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(n)]) for n in range(3)]
    assert [p.wait(timeout=120) for p in running] == [0, 0, 0]
    recording = Recording(path, KEYS, create=False)
    assert len(recording) == 120 + 3 * 120
    assert {recording.get(f"shared {n}") for n in range(120)} <= {b"0", b"1", b"2"}
    recording.close()


def test_other_answers_stand_under_their_kind(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    spans = [{"start": 4, "end": 23, "type": "PERSON", "score": 0.1 + 0.2}]
    assert recording.keep("encoder", NOTE, spans) == spans
    assert recording.keep("encoder", NOTE, []) == spans
    assert recording.kept("encoder", NOTE) == spans
    assert recording.kept("index", NOTE) is None
    recording.close()


def test_a_plain_recording_is_lines_that_a_reader_can_review(tmp_path: Path) -> None:
    path = tmp_path / "fixtures.jsonl"
    made = Recording(path, plain=True)
    address = ASKED.address("openai/m")
    made.put(address, reply_bytes(REPLY))
    made.put(address, reply_bytes(Reply("later")))
    made.keep("encoder", "text", [1, "\u2028\ud800"])
    rows = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    assert [(set(row), row["kind"]) for row in rows] == [
        ({"address", "kind", "value"}, k) for k in ("reply", "encoder")
    ]
    assert rows[0]["value"]["text"] == REPLY.text
    read = Recording(path, plain=True, create=False)
    assert read.reply(address) == REPLY
    assert read.kept("encoder", "text") == [1, "\u2028\ud800"]
    assert (len(read), read.get(address)) == (2, made.get(address))


def test_a_plain_recording_names_its_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "fixtures.jsonl"
    path.write_text('{"address": "a", "kind": "reply", "value": {"text": "Quackenbosh"}}\n["Quackenbosh"]\n')
    with pytest.raises(SettingError, match="Line 2") as caught:
        Recording(path, plain=True)
    assert "Quackenbosh" not in str(caught.value)
    path.write_text('{"address": "a", "kind": "reply", "value": {"text": "Quackenbosh"}}\n')
    with pytest.raises(SettingError, match="not a reply") as caught:
        Recording(path, plain=True).reply("a")
    assert "Quackenbosh" not in str(caught.value)
    with pytest.raises(UsageError):
        Recording(path, plain=True).put("b", b"\xff")


async def test_a_recorded_model_is_asked_once(tmp_path: Path) -> None:
    model, recording = Model(), Recording(tmp_path / "r.db", KEYS)
    recorded = Recorded(model, recording)
    first, second = await recorded.complete(ASKED), await recorded.complete(ASKED)
    assert first == REPLY
    assert (model.calls, recorded.hits) == (1, 1)
    assert (second.text, second.finish, second.model) == (REPLY.text, "stop", "openai/m")
    assert second.usage == Usage(90, 12, 0, 0, 0.0)
    await recorded.aclose()
    assert model.closed
    recording.close()


async def test_the_reply_that_stands_is_used_where_another_was_first(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)

    class Late(Model):
        async def complete(self, request: Request) -> Reply:
            recording.put(request.address(self.name), reply_bytes(Reply("theirs", usage=Usage(1, 1, 0, 1, 9.0))))
            return await super().complete(request)

    reply = await Recorded(Late(), recording).complete(ASKED)
    assert (reply.text, reply.usage) == ("theirs", REPLY.usage)  # their text, the cost of our own call
    recording.close()


async def test_a_replay_answers_from_the_recording_and_opens_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    filtered = Request((Message("user", "other"),))
    await Recorded(Model(), recording).complete(ASKED)
    recording.put(filtered.address("openai/m"), reply_bytes(Reply("", "filter")))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was made")

    monkeypatch.setattr(socket, "socket", refuse)
    replayed = Replayed("openai/m", recording)
    assert (await replayed.complete(ASKED)).text == REPLY.text
    assert (await replayed.complete(filtered)).finish == "filter"
    assert replayed.hits == 2
    with pytest.raises(ModelUnavailable, match="Run once more") as caught:
        await replayed.complete(Request((Message("user", NOTE),)))
    assert "Zebulon" not in str(caught.value)
    with pytest.raises(ModelUnavailable):
        await Replayed("openai/other", recording).complete(ASKED)
    await replayed.aclose()
    recording.close()


@pytest.mark.parametrize("problem", [ContextTooLong("too long"), PromptCut("cut"), ModelRejected("no")])
async def test_a_replay_is_refused_what_the_run_was_refused(tmp_path: Path, problem: ModelRejected) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    model = Model(problem)
    with pytest.raises(type(problem)):
        await Recorded(model, recording).complete(ASKED)
    with pytest.raises(ModelRejected) as caught:
        await Replayed("openai/m", recording).complete(ASKED)
    assert type(caught.value) is type(problem)
    assert (await Recorded(model, recording).complete(ASKED)).text == REPLY.text  # a live run asks again
    assert (await Replayed("openai/m", recording).complete(ASKED)).text == REPLY.text
    recording.close()


async def test_a_call_that_got_no_answer_is_not_recorded(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "r.db", KEYS)
    with pytest.raises(ModelUnavailable):
        await Recorded(Model(ModelUnavailable("503")), recording).complete(ASKED)
    assert len(recording) == 0
    recording.close()
