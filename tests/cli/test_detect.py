"""`incognote detect` writes one line of spans per line of text, in order, even if some lines are invalid."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Word
from incognote.sdk import Deidentifier

Run = Callable[..., Any]


def _lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def _write(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    return path


def test_spans_stand_where_the_words_stand_in_code_points(run: Run, tmp_path: Path) -> None:
    text = "\U0001f600 e\u0301 Dr. Emily Carter called on 03/16/2025.\r\n"
    done = run("detect", _write(tmp_path / "in.jsonl", text), "--out", tmp_path / "out.jsonl")
    assert (done.code, done.out) == (0, "")
    [line] = _lines(tmp_path / "out.jsonl")
    assert line["id"] == 0
    assert [(text[s["start"] : s["end"]], s["type"]) for s in line["spans"]] == [
        ("Emily Carter", line["spans"][0]["type"]),
        ("03/16/2025", line["spans"][1]["type"]),
    ]
    assert all(0.5 <= s["score"] <= 1 and s["sources"] for s in line["spans"])
    assert set(line["spans"][0]) == {"start", "end", "type", "score", "sources"}


def test_a_line_that_fails_carries_its_error_and_no_value_and_the_others_go_on(run: Run, tmp_path: Path) -> None:
    lines = [
        b'{"id": "a", "text": "Dr. Emily Carter called."}',
        b'{"id": "b", "text": Emily}',
        b'{"id": "c", "text": "Jos\xe9 Emily"}',
        b'{"id": "d"}',
        b'{"id": "e", "text": 7}',
        b'{"id": {"Emily": 1}, "text": "x"}',
        b'["Emily"]',
        b"",
        b'{"id": 8, "text": "", "more": [1]}',
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    done = run("detect", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert done.code == 1
    assert done.err == "incognote: 6 lines could not be processed. They have `error` instead of spans.\n"
    found = _lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == ["a", None, None, "d", "e", None, None, 8]
    assert ["error" in line for line in found] == [False, True, True, True, True, True, True, False]
    assert "Emily" not in json.dumps(found)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_an_id_that_json_cannot_hold_is_an_error_and_every_line_stays_json(
    run: Run, tmp_path: Path, number: str
) -> None:
    (tmp_path / "in.jsonl").write_text('{"id":' + number + ', "text": "x"}\n{"id": 1.5, "text": "x"}\n')
    assert run("detect", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl").code == 1
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in lines)
    assert first["id"] is None
    assert first["error"].startswith("malformed")
    assert second == {"id": 1.5, "spans": []}


def test_a_text_the_detectors_fail_on_takes_no_other_with_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Deidentifier.detect_each

    def fragile(self: Deidentifier, texts: list[str], **words: Any) -> Any:
        if any("poison" in text for text in texts):
            raise ValueError("poison of Jane Doe")
        return real(self, texts, **words)

    monkeypatch.setattr(Deidentifier, "detect_each", fragile)
    path = _write(tmp_path / "in.jsonl", "on 03/16/2025", "poison", "on 03/17/2025")
    assert run("detect", path, "--out", tmp_path / "out.jsonl").code == 1
    found = _lines(tmp_path / "out.jsonl")
    assert [len(line.get("spans", [])) for line in found] == [1, 0, 1]
    assert found[1] == {"id": 1, "error": "internal-error"}


def test_more_lines_than_a_batch_keep_their_order(run: Run, tmp_path: Path) -> None:
    path = _write(tmp_path / "in.jsonl", *(f"{'x' * (i % 7)} on 03/16/2025" for i in range(200)))
    run("detect", path, "--out", tmp_path / "out.jsonl", "--detectors", "rules")
    found = _lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in found] == list(range(200))
    assert [line["spans"][0]["start"] for line in found] == [i % 7 + 4 for i in range(200)]


def test_the_standard_streams_and_gzip_serve_too(process: Run, run: Run, tmp_path: Path) -> None:
    done = process("detect", "-", stdin=b'{"id": "a", "text": "on 03/16/2025"}\n')
    assert done.code == 0
    assert json.loads(done.out)["spans"][0]["start"] == 3
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a", "text": "on 03/16/2025"}\n'))
    run("detect", tmp_path / "in.jsonl.gz", "--out", tmp_path / "out.jsonl.gz")
    assert _lines(tmp_path / "out.jsonl.gz") == [json.loads(done.out)]


def test_an_empty_file_gives_an_empty_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"")
    assert run("detect", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl").code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_all_types_widen_what_the_policy_serves(run: Run, tmp_path: Path) -> None:
    narrow = tmp_path / "narrow.toml"
    narrow.write_text('name = "narrow"\n[types.EMAIL]\noperator = "label"\n')
    path = _write(tmp_path / "in.jsonl", "on 03/16/2025")
    counts = []
    for args in ((), ("--types", "all"), ("--types", "all", "--detectors", "rules")):
        assert run("detect", path, "--out", tmp_path / "out.jsonl", "--overwrite", "--policy", narrow, *args).code == 0
        counts.append(len(_lines(tmp_path / "out.jsonl")[0]["spans"]))
    assert counts == [0, 1, 1]


def test_a_folder_gives_a_line_for_each_file_with_boxes_or_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (Word("MRN:", (20, 20, 70, 40), 0.9, 1), Word("4471902", (80, 20, 160, 40), 0.9, 1))
    read = PageReading(words, words, (), (), 0.9)
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", lambda *_: read)
    folder = tmp_path / "ward"
    (folder / "b").mkdir(parents=True)
    Image.new("RGB", (200, 60), "white").save(folder / "b" / "página.PNG")
    (folder / "empty.png").write_bytes(b"")
    (folder / "note.txt").write_text("MRN 4471902")
    (folder / "visits.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n')
    done = run("detect", folder, "--out", tmp_path / "out.jsonl", "--detectors", "rules")
    assert done.code == 1
    assert done.err == "incognote: 3 files could not be processed. They have `error` instead of boxes or intervals.\n"
    page, *others = sorted(_lines(tmp_path / "out.jsonl"), key=lambda line: str(line["id"]))
    assert page["id"] == "b/página.PNG"
    assert (1, "MEDICAL_RECORD_NUMBER") in {(box["page"], box["type"]) for box in page["boxes"]}
    assert [(line["id"], line["error"].partition(":")[0]) for line in others] == [
        ("empty.png", "malformed"), ("note.txt", "no-pixels"), ("visits.jsonl", "no-pixels"),
    ]  # fmt: skip


def test_what_cannot_be_asked_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    path = _write(tmp_path / "in.jsonl", "x")
    (tmp_path / "a.txt").write_text("x")
    for args in (
        (tmp_path / "a.txt",),
        (tmp_path / "nowhere.jsonl",),
        (path, "--out", path),
        (path, "--types", "some"),
        (path, "--policy", "nope"),
        (path, "--detectors", "nope"),
    ):
        assert run("detect", *args).code == 2
    assert len(path.read_text().splitlines()) == 1
