"""The files of an archive are sources of their own, and what is released of them is an archive again."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from incognote.errors import IncognoteError
from incognote.files.inputs import Input, read
from incognote.files.outputs import Outputs, hashed_name, place
from incognote.files.sources import Source, find
from incognote.formats import archive, encoding
from incognote.formats.tables import Columns, Layout, Layouts
from incognote.keys import Keyring

KEY = Keyring(b"k" * 32)
RTF = rb"{\rtf1\ansi Seen by Dr. Carter.\par}"
FILES = {
    "Jane Doe/note.txt": b"one\r\ntwo",
    "Jane Doe/letter.rtf": RTF,
    "all.jsonl": b'{"a":1}\n{broken\n{"b":2}\n',
    "old.txt.gz": gzip.compress(b"old", mtime=0),
    "old.rtf.gz": gzip.compress(RTF, mtime=0),
    "scan.bin": b"\x00\x01\x02" * 100,
    ".DS_Store": b"\x00",
}


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            file.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of an archive of any kind."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return {name: file.read(name) for name in file.namelist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {each.name: cast(BinaryIO, tar.extractfile(each)).read() for each in tar}


KINDS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    ".zip": zipped,
    ".tar": tarred,
    ".tar.gz": lambda files: gzip.compress(tarred(files)),
    ".tgz": lambda files: gzip.compress(tarred(files)),
    ".zip.gz": lambda files: gzip.compress(zipped(files)),
}
each_kind = pytest.mark.parametrize("suffix", KINDS)


def _plain(data: bytes) -> bytes:
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _source(tmp_path: Path, name: str, data: bytes, **words: Any) -> Source:
    path = tmp_path / name
    path.write_bytes(data)
    return find([str(path)], **words).files[0]


def _told(one: Input) -> tuple[str, str, int, str | None]:
    return one.source.inner_name, one.source.kind, one.position, one.error.code if one.error else None


def _copy(source: Source, out: Path, **words: Any) -> dict[str, bytes]:
    """Release every readable record unchanged. Return the outputs by their names."""
    where = place(str(out), find([str(source.path)]))
    with Outputs(where, [source], KEY, **words) as outputs:
        for one in read(source, Layout(Columns(("note",)))):
            if one.document is not None and one.error is None:
                outputs.write(one, one.content if one.media_type is None else one.document.data)  # type: ignore[arg-type]  # a text has content
    return {name: (where.folder / name).read_bytes() for name in outputs.written}


@each_kind
def test_each_file_is_read_in_its_own_format_with_its_own_positions(tmp_path: Path, suffix: str) -> None:
    found = list(read(_source(tmp_path, f"export{suffix}", KINDS[suffix](FILES))))
    assert [_told(one) for one in found] == [
        ("Jane Doe/note.txt", "text", 1, None),
        ("Jane Doe/letter.rtf", "rtf", 1, None),
        ("all.jsonl", "lines", 1, None),
        ("all.jsonl", "lines", 2, None),
        ("all.jsonl", "lines", 3, None),
        ("old.txt.gz", "text", 1, None),
        ("old.rtf.gz", "rtf", 1, None),
        ("scan.bin", "other", 1, "binary"),
        (".DS_Store", "other", 1, "hidden"),
    ]
    assert [one.data for one in found[:3]] == [b"one\r\ntwo", RTF, b'{"a":1}']
    assert found[5].content == "old"
    assert found[7].raw == FILES["scan.bin"]
    assert [one.left_out for one in found] == [False] * 8 + [True]
    assert found[0].source.name == f"export{suffix}!/Jane Doe/note.txt"
    assert found[0].source.file.name == f"export{suffix}"


@each_kind
def test_the_output_is_an_archive_of_the_same_kind_with_hashed_names(tmp_path: Path, suffix: str) -> None:
    source = _source(tmp_path, f"Jane Doe{suffix}", KINDS[suffix](FILES))
    [(name, data)] = _copy(source, tmp_path / "out").items()
    assert name == KEY.name(f"Jane Doe{suffix}") + suffix
    data = gzip.decompress(data) if suffix.endswith("gz") else data
    members = {one.source.inner_name: one.source for one in read(source)}
    released = {name: _plain(content) for name, content in unpacked(data).items()}
    assert released == {
        hashed_name(members[inner], KEY): _plain(content)
        for inner, content in FILES.items()
        if inner not in ("scan.bin", ".DS_Store")
    }
    assert {inner.partition(".")[2] for inner in unpacked(data)} == {"txt", "rtf", "jsonl", "txt.gz", "rtf.gz"}
    assert b"Doe" not in data
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]  # no temporary file is left


def test_the_same_archive_gives_the_same_bytes(tmp_path: Path) -> None:
    source = _source(tmp_path, "a.zip", zipped(FILES))
    assert _copy(source, tmp_path / "out") == _copy(source, tmp_path / "again")


def test_names_are_kept_if_the_user_says_so(tmp_path: Path) -> None:
    source = _source(tmp_path, "a.tgz", KINDS[".tgz"]({"../ward/a.txt": b"x", "/b.txt": b"y", "b.txt": b"z"}))
    [(name, data)] = _copy(source, tmp_path / "out", keep_names=True).items()
    assert name == "a.tgz"
    assert unpacked(data) == {"ward/a.txt": b"x", "b.txt": b"y", "3/b.txt": b"z"}


def test_one_archive_can_be_written_to_a_file(tmp_path: Path) -> None:
    source = _source(tmp_path, "a.zip", zipped({"a.txt": b"x"}))
    assert list(_copy(source, tmp_path / "b.zip")) == ["b.zip"]
    assert list(unpacked((tmp_path / "b.zip").read_bytes()).values()) == [b"x"]


def test_an_archive_in_an_archive_stays_one(tmp_path: Path) -> None:
    inner = zipped({"Jane Doe.txt": b"x", "b.tgz": KINDS[".tgz"]({"deep.txt": b"deep"})})
    source = _source(tmp_path, "a.zip", zipped({"1.txt": b"1", "in.zip": inner, "2.txt": b"2"}))
    assert [_told(one)[0] for one in read(source)] == ["1.txt", "Jane Doe.txt", "deep.txt", "2.txt"]
    outer = unpacked(_copy(source, tmp_path / "out", keep_names=True)["a.zip"])
    assert list(outer) == ["1.txt", "in.zip", "2.txt"]
    middle = unpacked(outer["in.zip"])
    assert list(middle) == ["Jane Doe.txt", "b.tgz"]
    assert unpacked(middle["b.tgz"]) == {"deep.txt": b"deep"}
    assert [one.source.name for one in read(source)][2] == "a.zip!/in.zip!/b.tgz!/deep.txt"


def test_archives_are_opened_only_so_deep_and_count_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({"a.txt": b"x"})
    for _ in range(archive.MOST_DEPTH - 1):
        data = zipped({"in.zip": data})
    [one] = read(_source(tmp_path, "a.zip", data))
    assert one.content == "x"
    [one] = read(_source(tmp_path, "a.zip", zipped({"in.zip": data})))
    assert one.error == archive.TOO_DEEP
    monkeypatch.setattr(archive, "MOST_FILES", 5)
    four = zipped({f"{number}.txt": b"x" for number in range(4)})
    found = list(read(_source(tmp_path, "b.zip", zipped({"1.zip": four, "2.zip": four, "3.txt": b"x"}))))
    assert [one.error.code if one.error else None for one in found] == [None] * 4 + ["too-large"]


def test_a_bomb_of_archives_in_archives_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ALLOWANCE", 2**20)
    inner = zipped({f"{number}.txt": b"a" * 2**20 for number in range(4)})
    data = zipped({f"{number}.zip": inner for number in range(4)})
    found = list(read(_source(tmp_path, "a.zip", data)))
    assert found[-1].error is not None
    assert found[-1].error.code == "too-large"
    assert sum(len(one.data or b"") for one in found) <= 200 * len(data) + 2**20


def test_an_archive_with_another_suffix_is_recognized_by_its_content(tmp_path: Path) -> None:
    for name, data in (("a.dat", zipped({"a.txt": b"x"})), ("b.txt", tarred({"a.txt": b"x"}))):
        [one] = read(_source(tmp_path, name, data))
        assert one.content == "x"


def test_a_format_that_the_user_names_is_that_of_files_without_a_known_suffix(tmp_path: Path) -> None:
    data = zipped({"visit": b"a note", "a.note": b"a note", "a.json": b"{}"})
    assert [one.source.kind for one in read(_source(tmp_path, "a.zip", data))] == ["other", "other", "json"]
    found = list(read(_source(tmp_path, "a.zip", data, form="text")))
    assert [one.source.kind for one in found] == ["text", "text", "json"]


def test_tables_in_an_archive_have_the_layout_of_the_run(tmp_path: Path) -> None:
    files = {"labs/a.csv": b"id,note\n1,x\n", "labs/b.csv": b"other\n1\n", "c.txt": b"x"}
    source = _source(tmp_path, "a.zip", zipped(files))
    layout = Layout(Columns(("note",), hashed=("id",)))
    for layouts in (layout, Layouts(((("labs/*.csv",), layout),))):
        found = list(read(source, layouts))
        assert [one.error.code if one.error else None for one in found] == [None, "schema-violation", None]
    assert [one.error is not None for one in read(source)] == [True, True, False]


def test_a_damaged_file_is_held_and_the_files_around_it_are_read(tmp_path: Path) -> None:
    lines = b"".join(b'{"a":%d}\n' % number for number in range(20_000))
    data = bytearray(zipped({"1.txt": b"x", "2.jsonl": lines, "3.txt": b"z", "4.txt.gz": b"\x1f\x8b\x08 no"}))
    middle = data.index(b"2.jsonl") + 30_000
    data[middle : middle + 100] = bytes(100)
    found = list(read(_source(tmp_path, "a.zip", bytes(data))))
    codes = [one.error.code for one in found if one.error]
    assert codes == ["malformed", "gzip"]
    assert found[0].content == "x"
    assert found[-2].content == "z"
    assert 1 < len(found) < 20_000  # the lines before the damage are read
    assert not any(one.not_read for one in found)


def test_an_archive_that_is_no_archive_is_one_input_with_its_reason(tmp_path: Path) -> None:
    for name in ("a.zip", "a.tar", "a.tgz"):
        [one] = read(_source(tmp_path, name, b"Seen by Dr. Carter." * 100))
        assert (one.source.name, one.error) == (name, archive.DAMAGED)


def test_an_archive_from_a_pipe_is_read_if_it_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.BufferedReader):
        def seekable(self) -> bool:
            return False

    def piped(data: bytes) -> list[Input]:
        source = Source(None, "-", "zip", opens=lambda: cast(BinaryIO, Pipe(cast(Any, io.BytesIO(data)))))
        return list(read(source))

    data = zipped({"a.txt": b"x"})
    assert [one.content for one in piped(data)] == ["x"]
    monkeypatch.setattr(encoding, "MAX_BYTES", len(data) - 1)
    assert [one.error.code for one in piped(data) if one.error] == ["too-large"]


def test_grouped_and_parquet_tables_are_written_into_the_archive(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    import pyarrow as pa
    from pyarrow import parquet

    rows = io.BytesIO()
    parquet.write_table(pa.table({"note": ["one", "two"]}), rows)
    files = {"a.csv": b"id,note\n2,c\n1,a\n1,b\n", "b.parquet": rows.getvalue()}
    source = _source(tmp_path, "a.zip", zipped(files))
    grouped = Layout(Columns(("note",), hashed=("id",)), group="id")
    layouts = Layouts(((("*.csv",), grouped), (("*.parquet",), Layout(Columns(("note",))))))
    where = place(str(tmp_path / "out"), find([str(tmp_path / "a.zip")]))
    with Outputs(where, [source], KEY, keep_names=True) as outputs:
        for one in read(source, layouts):
            assert one.error is None
            outputs.write(one, str(one.content))
    found = unpacked((tmp_path / "out" / "a.zip").read_bytes())
    assert found["a.csv"] == files["a.csv"]
    assert parquet.read_table(io.BytesIO(found["b.parquet"])).to_pydict() == {"note": ["one", "two"]}


def test_an_error_leaves_nothing_of_the_archive(tmp_path: Path) -> None:
    source = _source(tmp_path, "a.zip", zipped(FILES))
    where = place(str(tmp_path / "out"), find([str(tmp_path / "a.zip")]))

    def broken_off() -> None:
        with Outputs(where, [source], KEY) as outputs:
            for one in read(source):
                if one.content is not None:
                    outputs.write(one, one.content)
                if one.source.kind == "lines":
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_is_an_error_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _source(tmp_path, "Jane Doe.zip", zipped({"Jane Doe.txt": b"x"}))

    def full(*words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("incognote.formats.archive.shutil.copyfileobj", full)
    with pytest.raises(IncognoteError, match="No space left") as error:
        _copy(source, tmp_path / "out")
    assert "Doe" not in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []
