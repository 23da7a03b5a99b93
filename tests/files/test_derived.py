"""What is derived from redacted pages is written beside their output, completely or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from incognote.errors import IncognoteError, UsageError
from incognote.files.atomic import AtomicFile
from incognote.files.inputs import Input, read
from incognote.files.outputs import DERIVED, Outputs, place
from incognote.files.sources import Source, find
from incognote.formats.images.derived import VisiblePage, VisiblePages
from incognote.keys import Keyring
from incognote.nouns import DerivedKind, Result, Verdict
from incognote.pages.nouns import Word

KEY = Keyring(b"k" * 32)
ALL: Sequence[DerivedKind] = tuple(DERIVED)
WORD = Word("stable", (10, 10, 60, 30), 0.9)


def _image(form: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("L", (80, 40), 255).save(out, form)
    return out.getvalue()


def _result(output: str | bytes, form: str = "png") -> Result:
    pages = VisiblePages((VisiblePage("stable", (WORD,), (80, 40)),), form) if isinstance(output, bytes) else None
    return Result(None, Verdict("release"), {}, _output=output, _pages=pages)


def _content(one: Input) -> str | bytes:
    if one.content is not None:
        return one.content
    assert one.document is not None
    return one.document.data


def _release(outputs: Outputs, sources: Sequence[Source]) -> None:
    """Release every record unchanged."""
    with outputs:
        for source in sources:
            for one in read(source):
                outputs.release(one, _result(_content(one)))


def _run(folder: Path, out: Path, also: Sequence[DerivedKind] = ALL, **words: Any) -> Outputs:
    found = find([str(folder)])
    outputs = Outputs(place(str(out), found), found.files, KEY, also=also, **words)
    _release(outputs, found.files)
    return outputs


def _names(out: Path) -> list[str]:
    return sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    folder = tmp_path / "scans"
    (folder / "ward").mkdir(parents=True)
    (folder / "ward" / "Jane Doe.png").write_bytes(_image())
    (folder / "fax.png.gz").write_bytes(gzip.compress(_image()))
    return folder


def test_each_kind_has_the_name_of_its_output(scans: Path, tmp_path: Path) -> None:
    outputs = _run(scans, tmp_path / "out", keep_names=True)
    assert _names(tmp_path / "out") == [
        "fax.hocr", "fax.pdf", "fax.png.gz", "fax.txt",
        "ward/Jane Doe.hocr", "ward/Jane Doe.pdf", "ward/Jane Doe.png", "ward/Jane Doe.txt",
    ]  # fmt: skip
    assert outputs.derived["ward/Jane Doe.hocr"] == "ward/Jane Doe.png"
    assert (tmp_path / "out" / "fax.txt").read_text() == "stable\n"
    assert outputs.others() == 0


def test_the_names_are_hashed_like_the_name_of_the_output(scans: Path, tmp_path: Path) -> None:
    outputs = _run(scans, tmp_path / "out")
    assert sorted([*outputs.written, *outputs.derived]) == _names(tmp_path / "out")
    assert len({name.partition(".")[0] for name in _names(tmp_path / "out")}) == 2
    assert not any("doe" in name.lower() for name in _names(tmp_path / "out"))


def test_only_the_kinds_that_were_asked_for_are_written(scans: Path, tmp_path: Path) -> None:
    outputs = _run(scans, tmp_path / "out", ("hocr",), keep_names=True)
    assert sorted(outputs.derived) == ["fax.hocr", "ward/Jane Doe.hocr"]
    assert _names(tmp_path / "out") == ["fax.hocr", "fax.png.gz", "ward/Jane Doe.hocr", "ward/Jane Doe.png"]


def test_names_that_others_have_get_an_additional_suffix(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    for name in ("a.png", "a.jpg"):
        (folder / name).write_bytes(_image("PNG" if name == "a.png" else "JPEG"))
    (folder / "a.txt").write_text("Stable.")
    (folder / "b.txt").write_bytes(_image())  # its content says what it is
    outputs = _run(folder, tmp_path / "out", ("text",), keep_names=True)
    assert outputs.derived == {"a.png.txt": "a.png", "a.jpg.txt": "a.jpg", "b.txt.txt": "b.txt"}
    assert (tmp_path / "out" / "a.txt").read_text() == "Stable."
    assert outputs.without_pages == 1


def test_a_name_that_two_outputs_would_have_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    for name in ("a.png", "a.jpg", "a.png.txt"):
        (folder / name).write_bytes(b"Stable.")
    with pytest.raises(UsageError, match="same name"):
        _run(folder, tmp_path / "out", keep_names=True)
    assert not (tmp_path / "out").exists()


def test_a_file_that_exists_is_replaced_only_if_asked(scans: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "ward").mkdir(parents=True)
    there = tmp_path / "out" / "ward" / "Jane Doe.hocr"
    there.write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        _run(scans, tmp_path / "out", keep_names=True)
    assert there.read_text() == "mine"
    _run(scans, tmp_path / "out", keep_names=True, overwrite=True)
    assert "stable" in there.read_text()


@pytest.mark.parametrize("keep_names", [True, False])
def test_a_record_that_is_no_longer_released_leaves_nothing(scans: Path, tmp_path: Path, keep_names: bool) -> None:
    _run(scans, tmp_path / "out", keep_names=keep_names)
    found = find([str(scans)])
    also = ALL if keep_names else ()
    where = place(str(tmp_path / "out"), found)
    with Outputs(where, found.files, KEY, keep_names=keep_names, overwrite=True, also=also) as outputs:
        pass
    assert (_names(tmp_path / "out"), outputs.derived) == ([], {})


def test_files_of_a_complete_input_stay_in_a_resumed_run(scans: Path, tmp_path: Path) -> None:
    first = _run(scans, tmp_path / "out")
    found = find([str(scans)])
    done, left = found.files
    name = first.name_of(done)
    outputs = Outputs(
        place(str(tmp_path / "out"), found), found.files, KEY, overwrite=True, complete={done: (name, 1)}, also=ALL
    )
    with outputs:
        kept = _names(tmp_path / "out")
    assert kept == sorted([name, *(each for each, of in first.derived.items() if of == name)])
    assert outputs.derived == {each: of for each, of in first.derived.items() if of == name}
    assert first.name_of(left) not in kept


def test_an_output_that_cannot_be_written_leaves_nothing_that_is_derived(
    scans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = AtomicFile.write

    def full(self: AtomicFile, data: bytes) -> None:
        if self.target.suffix == ".pdf":
            raise IncognoteError("full")
        real(self, data)

    monkeypatch.setattr(AtomicFile, "write", full)
    with pytest.raises(IncognoteError, match="full"):
        _run(scans, tmp_path / "out", keep_names=True)
    assert _names(tmp_path / "out") == []


def test_nothing_that_is_derived_is_there_before_its_output(
    scans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = AtomicFile.commit

    def failing(self: AtomicFile) -> None:
        if self.target.suffix == ".png":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self)

    monkeypatch.setattr(AtomicFile, "commit", failing)
    with pytest.raises(IncognoteError, match="No space"):
        _run(scans / "ward", tmp_path / "out", keep_names=True)
    assert _names(tmp_path / "out") == []


def test_files_in_an_archive_have_what_is_derived_beside_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "scans.zip", "w") as packed:
        packed.writestr("ward/a.png", _image())
        packed.writestr("ward/a.jpg", _image("JPEG"))
        packed.writestr("note.txt", "Stable.")
    found = find([str(tmp_path / "scans.zip")])
    for keep_names in (True, False):
        out = tmp_path / f"out-{keep_names}"
        outputs = Outputs(place(str(out), found), found.files, KEY, keep_names=keep_names, also=("text",))
        with outputs:
            for one in read(found.files[0]):
                outputs.release(one, _result(_content(one)))
        [name] = _names(out)
        with zipfile.ZipFile(out / name) as packed:
            texts = {each: packed.read(each) for each in packed.namelist() if each.endswith(".txt")}
            assert len(packed.namelist()) == 5
        assert sorted(texts.values()) == [b"Stable.", b"stable\n", b"stable\n"]
        if keep_names:
            assert sorted(texts) == ["note.txt", "ward/a.jpg.txt", "ward/a.png.txt"]
        assert (outputs.derived, outputs.without_pages) == ({}, 1)


def test_a_pdf_is_not_written_twice(tmp_path: Path) -> None:
    source = tmp_path / "fax.pdf"
    Image.new("L", (80, 40), 255).save(source, "PDF")
    found = find([str(source)])
    out = tmp_path / "out"
    data = source.read_bytes()
    for keep_names in (True, False):
        outputs = Outputs(place(str(out), found), found.files, KEY, keep_names=keep_names, overwrite=True, also=ALL)
        with outputs:
            [one] = read(found.files[0])
            outputs.release(one, _result(data, "pdf"))
        assert sorted(name.rpartition(".")[2] for name in outputs.derived) == ["hocr", "txt"]
