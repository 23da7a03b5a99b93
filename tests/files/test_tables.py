"""Tables as inputs and outputs: rows under a header, bad rows held separately, and retries from the quarantine."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote.files.holding import held_inputs, hold, sources_of, supersede
from incognote.files.inputs import Input, RecordDefaults, check_tables, read, read_all
from incognote.files.outputs import Outputs, beside
from incognote.files.quarantine import Quarantine
from incognote.files.sources import Source, find
from incognote.formats.tables import Columns, Layout
from incognote.keys import Keyring
from incognote.nouns import Known, Reason, Verdict

KEY = Keyring(b"k" * 32)
PLAIN = Layout(Columns(("note",), passed=("id",)))
GROUPED = Layout(Columns(("note",), passed=("id", "line")), "id", "line")
ROWS = 'id,note\r\n1,"first, here"\r\n2,second\n3,"a\nb"'
PIECES = "id,line,note\nB,2,b2\nA,1,a1\nB,1,b1\nA,2,a2\n"
HELD = Verdict("review", (Reason("doubtful"),))
UNREAD = Reason("too-large")


def _inputs(path: Path, data: bytes, layout: Layout = PLAIN) -> list[Input]:
    path.write_bytes(data)
    return list(read(find([str(path)]).files[0], layout))


def _released(inputs: list[Input], out: Path) -> bytes:
    """Return the table that results if every readable input is released unchanged."""
    sources = list(dict.fromkeys(one.source for one in inputs))
    with Outputs(beside(out), sources, KEY, keep_names=True) as outputs:
        for one in inputs:
            if one.opened is not None:
                outputs.write(one, one.opened.rewritten({}, {}))
    [path] = out.iterdir()
    return path.read_bytes()


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_table_released_unchanged_is_the_input_byte_for_byte(tmp_path: Path, mark: bytes) -> None:
    inputs = _inputs(tmp_path / "a.csv", mark + ROWS.encode())
    assert [one.position for one in inputs] == [1, 2, 3]
    assert [one.opened.texts[0].content for one in inputs if one.opened] == ["first, here", "second", "a\nb"]
    assert _released(inputs, tmp_path / "out") == mark + ROWS.encode()


def test_utf16_and_tabs_and_gzip_are_kept_too(tmp_path: Path) -> None:
    data = codecs.BOM_UTF16_LE + "id\tnote\r\n1\tZoë, \u0a0d\r\n".encode("utf-16-le")
    inputs = _inputs(tmp_path / "a.tsv.gz", gzip.compress(data))
    assert gzip.decompress(_released(inputs, tmp_path / "out")) == data


def test_pieces_of_a_note_are_one_input_and_go_back_to_their_rows(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path / "a.csv", PIECES.encode(), GROUPED)
    assert [one.opened.texts[0].content for one in inputs if one.opened] == ["b1\nb2", "a1\na2"]
    assert [one.position for one in inputs] == [1, 2]
    assert _released(inputs, tmp_path / "out") == PIECES.encode()


def test_a_note_that_is_held_takes_all_its_rows_with_it(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path / "a.csv", PIECES.encode(), GROUPED)
    assert _released(inputs[1:], tmp_path / "out") == b"id,line,note\nA,1,a1\nA,2,a2\n"


def test_a_bad_row_is_an_input_with_its_reason_and_its_bytes(tmp_path: Path) -> None:
    found = _inputs(tmp_path / "a.csv", b"id,note\n1,one\n2\n3,\xff\n4,four\n")
    assert [one.error.code if one.error else None for one in found] == [None, "schema-violation", "encoding", None]
    assert [one.data for one in found] == [b"1,one\n", b"2\n", b"3,\xff\n", b"4,four\n"]
    assert "two" not in str(found[1].error)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "malformed-table"),
        (b"id,id\n1,2\n", "malformed-table"),
        (b"id,\xffnote\n1,2\n", "schema-violation"),
        (b"\x89PNG" + bytes(900), "binary"),
    ],
)
def test_a_file_without_a_usable_header_is_one_refusal(tmp_path: Path, data: bytes, code: str) -> None:
    [one] = _inputs(tmp_path / "a.csv", data)
    assert one.error is not None
    assert one.error.code == code
    assert one.data == data


def test_a_layout_that_does_not_fit_is_refused_before_a_row_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,note,extra\n1,x,y\n")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="extra"):
        check_tables(find([str(tmp_path / "a.csv")]).files[0], PLAIN)
    check_tables(find([str(tmp_path / "b.csv")]).files[0], PLAIN)  # a bad file is not an error in the layout


def test_truncated_gzip_costs_only_what_is_missing(tmp_path: Path) -> None:
    data = gzip.compress(b"id,note\n" + b"1,one\n" * 20_000)
    found = _inputs(tmp_path / "a.csv.gz", data[: len(data) // 2])
    assert found[-1].error is not None
    assert found[-1].error.code == "gzip"
    assert all(one.error is None for one in found[:-1])
    assert len(found) > 1000


@pytest.mark.parametrize(("data", "layout"), [(ROWS, PLAIN), (PIECES, GROUPED)])
def test_rows_come_back_from_the_quarantine_as_the_table_they_were(tmp_path: Path, data: str, layout: Layout) -> None:
    inputs = _inputs(tmp_path / "a.csv", data.encode(), layout)
    quarantine = Quarantine(tmp_path / "q", KEY)
    for one in inputs:
        hold(quarantine, KEY, one, HELD, {})
    wanted = list(quarantine.items())
    again = list(held_inputs(quarantine, wanted, lambda name: pytest.fail("no schema is needed")))
    assert [one.held for one in again] == [held.name for held in wanted]
    assert [one.opened.texts for one in again if one.opened] == [one.opened.texts for one in inputs if one.opened]
    lines = _released(again, tmp_path / "out").decode().splitlines()
    assert sorted(lines) == sorted(data.splitlines())
    assert sources_of(quarantine, wanted)[0].name == "a.csv"


def test_what_a_run_was_told_comes_back_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a":1}\r\n')
    (tmp_path / "b.jsonl").write_bytes(b"\xff\n")
    words = RecordDefaults("p1", "ward", "note", (Known("PERSON", "Jane Doe"),))
    inputs = list(read_all(find([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]).files, words))
    quarantine = Quarantine(tmp_path / "q", KEY)
    for one in inputs:
        hold(quarantine, KEY, one, Verdict("quarantine", (one.error,)) if one.error else HELD, {})
    again = {one.source.name: one for one in held_inputs(quarantine, quarantine.items(), pytest.fail)}
    assert again["a.jsonl"].defaults == words
    assert (again["a.jsonl"].content, again["a.jsonl"].ending) == ('{"a":1}', "\r\n")
    assert again["b.jsonl"].error == inputs[1].error
    assert again["b.jsonl"].data == b"\xff"


def test_what_is_held_twice_is_kept_once_but_only_if_it_is_the_same(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q", KEY)
    for content in ("same", "same", "other"):
        (tmp_path / "a.txt").write_text(content)
        for one in read_all(find([str(tmp_path / "a.txt")]).files, RecordDefaults()):
            hold(quarantine, KEY, one, HELD, {})
    supersede(quarantine)
    held = list(quarantine.items())
    assert sorted(quarantine.open(one).data for one in held) == [b"other", b"same"]
    with pytest.raises(UsageError, match="inputs with the same name"):
        sources_of(quarantine, held)


def test_what_has_no_bytes_is_kept_once_for_each_path(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q", KEY)
    for shown in ("in/a.txt", "in/a.txt", "more/a.txt"):
        source = Source(None, "a.txt", "text", shown=shown)
        hold(quarantine, KEY, Input(source, 1, None, error=UNREAD), Verdict("quarantine", (UNREAD,)), {})
    supersede(quarantine)
    assert sorted(quarantine.open(one).words["path"] for one in quarantine.items()) == ["in/a.txt", "more/a.txt"]
