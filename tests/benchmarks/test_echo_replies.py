"""Echoes that were answered by hand are taken into a recording, and scored from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan
from incognote.llm.recording import Recording, Replayed
from incognote_benchmarks.echo import main
from incognote_benchmarks.peers import Echo
from incognote_benchmarks.recorded import MODEL


def notes(path: Path, name: str = "a-1") -> Path:
    path.write_text(json.dumps({"id": name, "text": "Ruth Hale is well.", "spans": []}) + "\n", encoding="utf-8")
    return path


def test_a_reply_written_to_the_folder_is_scored_from_the_recording(tmp_path: Path) -> None:
    folder, replies = tmp_path / "folder", tmp_path / "echo.jsonl"
    main(["ask", str(notes(tmp_path / "notes.jsonl")), str(folder), "--baseline", "brief"])
    assert (folder / "a-1.prompt.txt").read_text(encoding="utf-8").endswith("\n\nRuth Hale is well.\n")
    (folder / "a-1.reply.txt").write_text("[Censored] is well.\n", encoding="utf-8")
    main(["take", str(folder), str(replies)])
    main(["take", str(folder), str(replies)])
    model = Replayed(MODEL, Recording(replies, plain=True, create=False))
    assert Echo(model, "brief").detect(["Ruth Hale is well."]).labels == ((LabeledSpan(0, 9, "UNTYPED"),),)
    assert len(replies.read_text(encoding="utf-8").splitlines()) == 1


def test_an_id_that_would_leave_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"notes\.jsonl, line 1: the id"):
        main(["ask", str(notes(tmp_path / "notes.jsonl", "../a")), str(tmp_path / "folder")])
