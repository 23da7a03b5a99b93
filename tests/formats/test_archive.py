"""Archives are read within bounds, whatever their headers say, and written without a trace of the originals."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import pytest

from incognote.formats import archive
from incognote.formats.archive import NotUnpacked, UnpackBudget, members, packer
from incognote.formats.registry import UnreadableSource, open_one

NOTES = {"Jane Doe/a.txt": b"Seen by Dr. Carter.", "b.jsonl": b'{"a": 1}\n' * 1000}


def _zipped(files: dict[str, bytes], **words: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **{"compression": zipfile.ZIP_DEFLATED, **words}) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


def _tarred(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as file:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.uname, entry.mtime = len(data), "jdoe", 1_700_000_000
            file.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _read(kind: str, data: bytes, budget: UnpackBudget | None = None) -> list[tuple[str, bytes | str]]:
    """Return each file with its bytes, or with the code of the reason why it is not read."""
    found: list[tuple[str, bytes | str]] = []
    stream = cast(BinaryIO, io.BytesIO(data))
    try:
        for each in members(kind, stream, budget or UnpackBudget(len(data))):
            try:
                found.append((each.name, each.refusal.code if each.refusal else each.opens().read()))
            except NotUnpacked as error:
                found.append((each.name, error.reason.code))
    except NotUnpacked as error:
        found.append(("", error.reason.code))
    return found


def _contents(kind: str, stream: Any, size: int) -> Iterator[bytes]:
    for each in members(kind, cast(BinaryIO, stream), UnpackBudget(size)):
        assert "Doe" not in repr(each)
        yield each.opens().read()


def _reason(kind: str, data: bytes) -> str:
    with pytest.raises(NotUnpacked) as error:
        list(_contents(kind, io.BytesIO(data), len(data)))
    return error.value.reason.detail


def _central(data: bytes, at: int, value: bytes) -> bytes:
    """Return a ZIP file with other bytes in the first entry of its directory."""
    start = data.index(b"PK\x01\x02") + at
    return data[:start] + value + data[start + len(value) :]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("zip", _zipped(NOTES)),
        ("zip", _zipped(NOTES, compression=zipfile.ZIP_STORED)),
        ("zip", b"#!/bin/sh\nexit\n" + _zipped(NOTES)),
        ("tar", _tarred(NOTES)),
        ("tar", _tarred(NOTES, tarfile.GNU_FORMAT)),
        ("tar", _tarred(NOTES, tarfile.USTAR_FORMAT)),
    ],
    ids=["deflated", "stored", "self-extracting", "pax", "gnu", "ustar"],
)
def test_each_file_is_read_with_its_bytes(kind: str, data: bytes) -> None:
    assert _read(kind, data) == list(NOTES.items())


def test_entries_with_sizes_behind_them_and_with_64_bit_sizes_are_read() -> None:
    out = io.BytesIO()
    once = type("Once", (), {"write": out.write, "flush": out.flush})()
    with zipfile.ZipFile(once, "w", zipfile.ZIP_DEFLATED) as file, file.open("a.txt", "w", force_zip64=True) as entry:
        entry.write(b"a note")
    assert b"PK\x07\x08" in out.getvalue()
    assert _read("zip", out.getvalue()) == [("a.txt", b"a note")]


def test_a_long_name_in_a_tar_file_is_read_in_both_forms() -> None:
    name = "ward/" * 60 + "a.txt"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        assert _read("tar", _tarred({name: b"x"}, form)) == [(name, b"x")]


@pytest.mark.parametrize("make", [_zipped, _tarred])
def test_no_name_leads_out_of_the_archive_or_is_used_twice(make: Callable[[dict[str, bytes]], bytes]) -> None:
    kind = "zip" if make is _zipped else "tar"
    names = ["/etc/passwd", "../../up.txt", "C:\\Doe\\a.txt", "a//./b.txt", "..", "x\ny.txt"]
    found = [name for name, _ in _read(kind, make(dict.fromkeys(names, b"x")))]
    assert found == ["etc/passwd", "up.txt", "C_/Doe/a.txt", "a/b.txt", "5", "x_y.txt"]
    twice = make({"a.txt": b"1", "b.txt": b"2", "./a.txt": b"3", "/a.txt": b"4"})
    assert _read(kind, twice) == [("a.txt", b"1"), ("b.txt", b"2"), ("3/a.txt", b"3"), ("4/a.txt", b"4")]


def test_names_in_utf_8_without_the_flag_and_in_the_code_page_of_dos_are_read() -> None:
    data = _zipped({"Zoe1.txt": b"x", "Zoe2.txt": b"y"})
    unflagged = data.replace(b"Zoe1", "Zoë".encode()).replace(b"Zoe2", "Zoë2".encode("cp437"))
    assert [name for name, _ in _read("zip", unflagged)] == ["Zoë.txt", "Zoë2.txt"]


@pytest.mark.parametrize("make", [_zipped, _tarred])
def test_hidden_files_are_named_and_not_read(make: Callable[[dict[str, bytes]], bytes]) -> None:
    data = make({".DS_Store": b"x", "__MACOSX/._a.txt": b"x", ".git/config": b"x", "~$a.docx": b"x", "a.txt": b"note"})
    found = _read("zip" if make is _zipped else "tar", data)
    assert [code for _, code in found] == ["hidden", "hidden", "hidden", "hidden", b"note"]


def test_folders_are_left_out_and_one_with_content_is_refused() -> None:
    assert _read("zip", _zipped({"ward/": b"", "a/": b"a note"})) == [("a", "unsupported-format")]


def test_an_encrypted_file_and_an_unusual_compression_are_refused_and_the_others_are_read() -> None:
    files = {"a.txt": b"one", "b.txt": b"two"}
    assert _read("zip", _central(_zipped(files), 8, b"\x01")) == [("a.txt", "unsupported-format"), ("b.txt", b"two")]
    assert _read("zip", _central(_zipped(files), 10, b"\x09")) == [("a.txt", "unsupported-format"), ("b.txt", b"two")]
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert _read("zip", _zipped({"a.txt": b"one"}, compression=method)) == [("a.txt", "unsupported-format")]


def test_links_and_devices_are_refused_and_the_files_around_them_are_read() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for number, kind in enumerate((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"Z")):
            entry = tarfile.TarInfo(f"{number}.txt")
            entry.type, entry.linkname = kind, "/etc/passwd"
            file.addfile(entry)
        entry = tarfile.TarInfo("note.txt")
        entry.size = 4
        file.addfile(entry, io.BytesIO(b"note"))
    *refused, last = _read("tar", out.getvalue())
    assert [code for _, code in refused] == ["unsupported-format"] * 5
    assert last == ("note.txt", b"note")
    link = zipfile.ZipInfo("a.txt")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr(link, "/home/jane.doe/a.txt")
    assert _read("zip", out.getvalue()) == [("a.txt", "unsupported-format")]


@pytest.mark.parametrize("name", ["[Content_Types].xml", "META-INF/MANIFEST.MF", "mimetype"])
def test_an_office_file_with_the_suffix_of_an_archive_is_not_taken_apart(name: str) -> None:
    assert "office file" in _reason("zip", _zipped({name: b"x", "word/document.xml": b"<x/>"}))


# Damage


def test_a_damaged_file_is_refused_and_the_others_are_read() -> None:
    data = _zipped({"a.txt": b"one" * 50, "b.txt": b"two"}, compression=zipfile.ZIP_STORED)
    assert _read("zip", data.replace(b"oneone", b"onetwo", 1)) == [("a.txt", "malformed"), ("b.txt", b"two")]
    other_name = data.replace(b"a.txt", b"c.txt", 1)  # the local header names another file than the directory
    assert _read("zip", other_name) == [("a.txt", "malformed"), ("b.txt", b"two")]


def test_a_size_that_is_not_true_is_noticed() -> None:
    data = _zipped({"a.txt": b"a note of some length"})
    assert _read("zip", _central(data, 24, struct.pack("<I", 3))) == [("a.txt", "malformed")]
    assert _read("zip", _central(data, 24, struct.pack("<I", 2**31))) == [("a.txt", b"a note of some length")]
    assert _read("zip", _central(data, 20, struct.pack("<I", 3))) == [("a.txt", "malformed")]
    assert _read("zip", _central(data, 20, struct.pack("<I", 2**31))) == [("", "malformed")]


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"PK\x03\x04 and no more", _zipped(NOTES)[:-30], b"x" * 1000])
def test_what_is_not_a_whole_zip_file_is_refused_as_a_whole(data: bytes) -> None:
    assert _read("zip", data) == [("", "malformed")]


def test_a_tar_file_is_read_up_to_the_damage_and_the_rest_is_refused_once() -> None:
    data = _tarred({f"{number}.txt": b"note" for number in range(4)}, tarfile.USTAR_FORMAT)
    first = [("0.txt", b"note"), ("1.txt", b"note")]
    assert _read("tar", data[:2048] + b"\xff" * 512 + data[2560:]) == [*first, ("", "malformed")]
    assert _read("tar", data[:2048]) == [*first, ("", "malformed")]  # the end mark is missing
    assert _read("tar", data[:2562]) == [*first, ("2.txt", "malformed"), ("", "malformed")]
    assert _read("tar", data[:2200]) == [*first, ("", "malformed")]
    assert _read("tar", bytes(10240)) == []
    assert _read("tar", b"x" * 10240) == [("", "malformed")]


def test_bytes_after_the_end_of_a_tar_file_are_not_passed_over() -> None:
    data = _tarred({"a.txt": b"note"})
    assert _read("tar", data + data)[1:] == [("", "malformed")]
    assert "after the end" in _reason("tar", data + b"Jane Doe")


def test_a_damaged_compressed_tar_file_is_read_up_to_the_damage() -> None:
    notes = {f"{number}.txt": (f"note {number} ".encode() * 997)[number:] for number in range(50)}
    data = gzip.compress(_tarred(notes), 1)[:-40]
    found: list[bytes] = []
    with pytest.raises(NotUnpacked) as error:
        found.extend(_contents("tar", gzip.GzipFile(fileobj=io.BytesIO(data)), len(data)))
    assert found == list(notes.values())[: len(found)]
    assert len(found) > 40
    assert error.value.reason == archive.DAMAGED


@pytest.mark.parametrize("size", [b"\x80" + b"\xff" * 11, b"\xff" * 12, b"77777777777\x00", b"-0000000001\x00"])
def test_a_tar_file_with_a_false_size_ends_with_a_reason(size: bytes) -> None:
    data = bytearray(_tarred({"a.txt": b"note", "b.txt": b"note"}, tarfile.USTAR_FORMAT))
    data[124:136] = size
    data[148:156] = b"%06o\x00 " % (sum(data[:148]) + 8 * 32 + sum(data[156:512]))
    assert [code for _, code in _read("tar", bytes(data))][-1] in ("malformed", "too-large")


@pytest.mark.parametrize(("kind", "data"), [("zip", _zipped(NOTES)), ("tar", _tarred(NOTES))])
def test_no_damage_of_a_single_byte_causes_an_error_or_another_text(kind: str, data: bytes) -> None:
    files = set(NOTES.values())
    assert data
    for at in [*range(min(700, len(data))), *range(max(0, len(data) - 400), len(data))]:
        for _, content in _read(kind, data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]):
            damaged_text = kind == "tar" and isinstance(content, bytes)  # a tar file has no checksums of contents
            assert isinstance(content, str) or content in files or damaged_text


# Bombs


def test_a_bomb_is_refused_long_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ALLOWANCE", 2**20)
    zeros = {f"{number}.txt": bytes(2**22) for number in range(8)}
    data = _zipped(zeros)
    found = _read("zip", data)
    assert found[-1] == ("", "too-large")
    assert sum(len(content) for _, content in found if isinstance(content, bytes)) < 200 * len(data) + 2**20
    packed = gzip.compress(_tarred(zeros))
    stream = cast(BinaryIO, gzip.GzipFile(fileobj=io.BytesIO(packed)))
    with pytest.raises(NotUnpacked, match="200 times"):
        list(members("tar", stream, UnpackBudget(len(packed))))  # files that nobody reads are counted too


def test_entries_that_share_their_bytes_are_refused() -> None:
    data = _zipped({"a.txt": bytes(2**20)})
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    shared = data[:start] + entry * 100 + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 100, 100, 100 * len(entry),
                                                      start, 0)  # fmt: skip
    assert _read("zip", shared) == [("", "malformed")]
    assert "overlap" in _reason("zip", shared)


def test_an_archive_of_too_many_files_is_refused_from_the_first_that_is_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    many = {f"{number}.txt": b"x" for number in range(5)}
    for kind, data in (("zip", _zipped(many)), ("tar", _tarred(many))):
        assert [code for _, code in _read(kind, data)] == [b"x", b"x", b"x", "too-large"]


def test_headers_that_are_larger_than_memory_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tarfile.TarInfo("././@LongLink")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 2**32
    assert _read("tar", entry.tobuf(tarfile.GNU_FORMAT) + bytes(2**20)) == [("", "too-large")]
    monkeypatch.setattr(archive, "_MOST_AT_ONCE", 2**16)
    assert _read("zip", _zipped({f"{number:0200}": b"" for number in range(500)})) == [("", "too-large")]


class Zeros(io.RawIOBase):
    """A tar file of one entry with a billion zeros, without the memory for it."""

    def __init__(self) -> None:
        entry = tarfile.TarInfo("a.txt")
        entry.size = 2**30
        self._head, self._left = entry.tobuf(), 2**30 + 1024

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            buffer[:512], self._head = self._head, b""
            return 512
        size = min(len(buffer), self._left)
        buffer[:size] = bytes(size)
        self._left -= size
        return size


def test_a_large_tar_file_is_read_in_bounded_memory() -> None:
    tracemalloc.start()
    try:
        [each] = members("tar", cast(BinaryIO, io.BufferedReader(Zeros())), UnpackBudget(2**30))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert each.name == "a.txt"
    assert peak < 2**20


# New archives


def _packed(kind: str, files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    made = packer(kind, out)
    assert made is not None
    for name, data in files.items():
        made.add(name, io.BytesIO(data), len(data))
    made.close()
    return out.getvalue()


@pytest.mark.parametrize("kind", archive.KINDS)
def test_a_new_archive_has_the_files_and_nothing_else(kind: str) -> None:
    files = {**NOTES, "Zoë/leer.txt": b"", "x" * 300: b"long name"}
    data = _packed(kind, files)
    assert data == _packed(kind, files)
    assert _read(kind, data) == list(files.items())
    if kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            assert file.testzip() is None
            assert {(each.date_time, each.extra, each.comment) for each in file.infolist()} == {
                ((1980, 1, 1, 0, 0, 0), b"", b"")
            }
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            assert {(each.mtime, each.uid, each.gid, each.uname, each.gname) for each in tar} == {(0, 0, 0, "", "")}


def test_a_zip_file_can_be_written_where_nothing_can_be_changed_later() -> None:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as stream:
        made = packer("zip", cast(BinaryIO, stream))
        assert made is not None
        made.add("a.txt", io.BytesIO(b"note"), 4)
        made.close()
    assert _read("zip", gzip.decompress(out.getvalue())) == [("a.txt", b"note")]


@pytest.mark.parametrize("kind", archive.KINDS)
def test_an_archive_is_refused_where_one_document_is_expected(kind: str) -> None:
    with pytest.raises(UnreadableSource, match="several documents"):
        open_one(_packed(kind, NOTES), None)


def test_no_error_names_a_file() -> None:
    name = "Jane Doe 1958.txt"
    zipped, tarred = _zipped({name: b"one" * 99}), _tarred({name: b"x" * 2000})
    broken: Iterator[tuple[str, bytes]] = iter(
        [("zip", zipped.replace(b"Jane", b"John", 1)), ("zip", _central(zipped, 16, b"\x00" * 4)),
         ("tar", tarred[:1500]), ("zip", zipped[:-1])]
    )  # fmt: skip
    seen = 0
    for kind, data in broken:
        seen += 1
        with pytest.raises(NotUnpacked) as error:
            list(_contents(kind, io.BytesIO(data), len(data)))
        assert "Doe" not in repr(error.value)
        assert error.value.__cause__ is None
    assert seen == 4
