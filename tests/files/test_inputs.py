"""Records of files: which are read, which are refused and why, and that the others are still processed."""

from __future__ import annotations

import codecs
import gzip
import io
import os
from pathlib import Path

import pytest
from PIL import Image

from incognote.files.inputs import Input, RecordDefaults, read, read_all
from incognote.files.sources import find
from incognote.formats import encoding
from incognote.formats.tables import Columns, Layout
from incognote.nouns import Reason

EXAMPLES = Path(__file__).parents[2] / "examples"


def _read(path: Path, data: bytes) -> list[Input]:
    path.write_bytes(data)
    return list(read(find([str(path)]).files[0]))


def _codes(found: list[Input]) -> list[str | None]:
    return [one.error.code if one.error else None for one in found]


def test_a_text_file_is_one_input_with_its_line_ends_as_they_are(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt", b"one\r\ntwo\n\x0cthree")
    assert one.content == "one\r\ntwo\n\x0cthree"
    assert not one.is_record


def test_an_empty_note_is_a_note(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt", b"")
    assert one.content == ""
    assert one.error is None


def test_an_empty_jsonl_file_holds_no_record(tmp_path: Path) -> None:
    assert _read(tmp_path / "a.jsonl", b"") == []
    assert _read(tmp_path / "b.jsonl", b"\n  \n\n") == []


def test_each_line_that_is_not_blank_is_a_record_with_its_own_ending(tmp_path: Path) -> None:
    found = _read(tmp_path / "a.jsonl", b'{"a":1}\r\n\n{"b":2}\n{"c":3}')
    assert [(one.position, one.content, one.ending) for one in found] == [
        (1, '{"a":1}', "\r\n"),
        (2, '{"b":2}', "\n"),
        (3, '{"c":3}', ""),
    ]


def test_a_line_break_inside_a_json_string_of_unicode_does_not_split_the_line(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.jsonl", '{"a":"x\u2028y\x85z"}\n'.encode())
    assert one.content == '{"a":"x\u2028y\x85z"}'


def test_a_line_in_another_encoding_is_refused_with_its_bytes_and_the_others_go_on(tmp_path: Path) -> None:
    latin = '{"name":"Jos\u00e9"}'.encode("latin-1")
    found = _read(tmp_path / "a.jsonl", b'{"a":1}\n' + latin + b'\n{"b":2}\n')
    assert _codes(found) == [None, "encoding", None]
    assert found[1].data == latin
    assert found[1].content is None


def test_a_note_in_another_encoding_is_refused_with_its_bytes(tmp_path: Path) -> None:
    data = ("Patient Jos\u00e9, seen again. " * 5).encode("latin-1")
    [one] = _read(tmp_path / "a.txt", data)
    assert _codes([one]) == ["encoding"]
    assert one.data == data


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)],
)
def test_a_byte_order_mark_says_the_encoding_and_is_no_part_of_the_text(
    tmp_path: Path, encoding: str, mark: bytes
) -> None:
    [note] = _read(tmp_path / "a.txt", mark + "Zoë\r\n\U0001f600".encode(encoding))
    assert note.content == "Zoë\r\n\U0001f600"
    lines = _read(tmp_path / "a.jsonl", mark + '{"a":"Zoë"}\r\n{"b":"\u0a0d"}\n'.encode(encoding))
    assert [(one.content, one.ending) for one in lines] == [('{"a":"Zoë"}', "\r\n"), ('{"b":"\u0a0d"}', "\n")]
    assert lines[0].codec.mark == mark


def test_utf16_that_ends_in_the_middle_of_a_character_is_refused_and_the_lines_before_go_on(tmp_path: Path) -> None:
    data = codecs.BOM_UTF16_LE + '{"a":1}\n{"b":2}'.encode("utf-16-le")[:-1]
    assert _codes(_read(tmp_path / "a.jsonl", data)) == [None, "encoding"]


def test_a_lone_surrogate_of_utf16_is_refused_in_its_line_alone(tmp_path: Path) -> None:
    data = codecs.BOM_UTF16_LE + '{"a":"\ud800"}\n{"b":2}\n'.encode("utf-16-le", "surrogatepass")
    found = _read(tmp_path / "a.jsonl", data)
    assert _codes(found) == ["encoding", None]
    assert found[0].data == '{"a":"\ud800"}'.encode("utf-16-le", "surrogatepass")


def test_utf16_without_a_mark_and_utf32_are_taken_for_binary(tmp_path: Path) -> None:
    assert _codes(_read(tmp_path / "a.txt", "a note".encode("utf-16-le"))) == ["binary"]
    assert _codes(_read(tmp_path / "b.txt", "a note".encode("utf-32"))) == ["binary"]


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl"])
def test_a_binary_file_is_one_refusal_with_its_bytes_whatever_its_suffix(tmp_path: Path, name: str) -> None:
    data = b"\x8aPNG" + bytes(range(256)) * 300
    [one] = _read(tmp_path / name, data)
    assert _codes([one]) == ["binary"]
    assert one.data == data


def test_a_stray_nul_does_not_make_a_note_binary(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt", b"Seen by\x00 the nurse today, no complaints.")
    assert one.content == "Seen by\x00 the nurse today, no complaints."


def test_gzip_is_read_as_what_it_holds(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt.gz", gzip.compress(b"a note"))
    assert one.content == "a note"
    found = _read(tmp_path / "a.jsonl.gz", gzip.compress(b'{"a":1}\n{"b":2}\n'))
    assert [one.content for one in found] == ['{"a":1}', '{"b":2}']


def test_truncated_gzip_keeps_its_bytes_and_the_whole_lines_before_the_break_go_on(tmp_path: Path) -> None:
    line = b'{"noise":"' + os.urandom(2000).hex().encode() + b'"}\n'
    data = gzip.compress(line * 1 + os.urandom(50_000).hex().encode() + b"\n" + line)[:-4000]
    found = _read(tmp_path / "a.jsonl.gz", data)
    assert _codes(found) == [None, "gzip"]
    assert found[0].content == line.decode().rstrip("\n")
    assert found[1].data == data
    assert _codes(_read(tmp_path / "b.txt.gz", gzip.compress(b"a note" * 100)[:-3])) == ["gzip"]


def test_a_file_that_is_not_gzip_though_its_name_says_so_is_refused(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt.gz", b"plain")
    assert _codes([one]) == ["gzip"]
    assert one.data == b"plain"


def test_a_file_that_cannot_be_opened_is_refused_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    source = find([str(path)]).files[0]
    path.unlink()
    [one] = read(source)
    assert _codes([one]) == ["unreadable"]
    assert one.not_read
    assert one.error == Reason("unreadable", "", "no such file or directory")
    assert one.data is None


PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl", "a.csv", "a.ps", "a", "a.txt.gz"])
@pytest.mark.parametrize(("data", "what"), [(PS, "PostScript")])
def test_a_file_of_a_format_without_a_reader_is_named_whatever_its_name_says(
    tmp_path: Path, name: str, data: bytes, what: str
) -> None:
    (tmp_path / name).write_bytes(data)
    [one] = read_all(find([str(tmp_path / name)]).files, RecordDefaults(), Layout(Columns(("note",))))
    assert one.error == Reason("unsupported-format", "", f"{what}, a format without a reader")
    assert one.data == data


def test_a_format_is_named_within_gzip_too(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt.gz", gzip.compress(PS))
    assert one.error == Reason("unsupported-format", "", "PostScript, a format without a reader")
    assert one.data == PS
    [two] = _read(tmp_path / "notes.gz", gzip.compress(b"a note"))
    assert two.error is not None
    assert two.error.detail.endswith("Use a suffix that shows its content, such as .txt.gz or .jsonl.gz")


@pytest.mark.parametrize(
    ("name", "data", "begins"),
    [
        ("a.dat", b"Seen by Dr. Carter.", "plain text, but the suffix of the file name is unknown"),
        ("a.fhir", b'{"resourceType": "Patient"}', "JSON, but the suffix of the file name is unknown"),
        ("a.txt", b'{"resourceType": "Patient"}', "JSON, in a text file"),
        ("a.txt", b'{"id": 1}\n{"id": 2}\n', "JSON lines, in a text file"),
    ],
)
def test_a_content_that_its_name_does_not_say_is_refused_with_the_remedy(
    tmp_path: Path, name: str, data: bytes, begins: str
) -> None:
    [one] = _read(tmp_path / name, data)
    assert one.error is not None
    assert one.error.code == "unsupported-format"
    assert one.error.detail.startswith(begins)
    assert "--format" in one.error.detail
    assert one.data == data


@pytest.mark.parametrize(("suffix", "wrong"), [(".pdf", ".docx"), (".docx", ".xlsx"), (".xlsx", ".csv"), (".pdf", "")])
def test_a_pdf_or_an_office_file_with_a_wrong_suffix_is_read_by_its_content(
    tmp_path: Path, suffix: str, wrong: str
) -> None:
    original = EXAMPLES / ("patients.xlsx" if suffix == ".xlsx" else f"letter{suffix}")
    [one] = _read(tmp_path / f"a{wrong}", original.read_bytes())
    assert one.error is None
    assert (one.source.kind, one.source.suffix) == (suffix[1:], suffix)


@pytest.mark.parametrize(("kind", "named"), [
    ("png", "a.jpg"), ("png", "scan.pdf"), ("jpeg", "a.PNG"), ("tiff", "a.dcm"), ("gif", "a.csv"), ("bmp", "a.webp"),
])  # fmt: skip
def test_an_image_with_a_wrong_suffix_is_read_by_its_content(tmp_path: Path, kind: str, named: str) -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(out, kind)
    [one] = _read(tmp_path / named, out.getvalue())
    assert (one.error, one.source.kind) == (None, kind)
    assert one.source.suffix == {"jpeg": ".jpg", "tiff": ".tif"}.get(kind, f".{kind}")


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".docx", ".xlsx", ".rtf"])
def test_an_empty_document_is_said_to_be_empty(tmp_path: Path, suffix: str) -> None:
    [one] = _read(tmp_path / f"a{suffix}", b"")
    assert one.error == Reason("malformed", "", "an empty file. Export it again")
    assert one.data == b""


@pytest.mark.parametrize("name", ["letter.docx", "letter.pdf", "patients.xlsx"])
def test_a_damaged_document_keeps_its_bytes(tmp_path: Path, name: str) -> None:
    data = (EXAMPLES / name).read_bytes()[:3000]
    [one] = _read(tmp_path / name, data)
    assert one.error is not None
    assert (one.error.code, one.data) == ("malformed", data)


@pytest.mark.parametrize(("data", "what"), [(b"", "an empty file"), (b"A note.", "plain text")])
def test_nobody_is_told_to_read_a_document_as_text(tmp_path: Path, data: bytes, what: str) -> None:
    [one] = _read(tmp_path / "scan.DOC", data)
    assert one.error == Reason("unsupported-format", "", f"{what}, but the file name ends in .doc")


def test_a_table_that_does_not_fit_is_one_input_with_its_bytes(tmp_path: Path) -> None:
    for name, data in (("a.csv", b"id,words\n1,x\n"), ("b.csv", b"id,note\n1,x\n")):
        (tmp_path / name).write_bytes(data)
    sources = find([str(tmp_path)]).files
    first, second = read_all(sources, RecordDefaults(), Layout(Columns(("note",), passed=("id",))))
    assert (_codes([first, second]), first.data) == (["schema-violation", None], b"id,words\n1,x\n")
    assert _codes(list(read_all(sources, RecordDefaults()))) == ["unknown-data-type"] * 2


def test_a_record_too_large_for_memory_is_refused_and_the_next_line_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "MAX_BYTES", 100)
    found = _read(tmp_path / "a.jsonl", b'{"a":1}\n' + b"x" * 1000 + b'\n{"b":2}\n')
    assert _codes(found) == [None, "too-large", None]
    assert _codes(_read(tmp_path / "a.txt", b"x" * 101)) == ["too-large"]


def test_a_ten_megabyte_note_is_read_whole(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "a.txt", "é note\n".encode() * 1_250_000)
    assert one.content is not None
    assert len(one.content) == 8_750_000


def test_lines_are_read_one_by_one_and_not_ahead(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n' * 100_000)
    stream = read(find([str(path)]).files[0])
    assert next(stream).offset < 100_000
    assert sum(1 for _ in stream) == 99_999


def test_an_input_never_shows_its_text_in_its_repr(tmp_path: Path) -> None:
    [one] = _read(tmp_path / "Doe.txt", b"Jane Doe")
    assert "Doe" not in repr(one)
