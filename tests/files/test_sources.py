"""Which files a run reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote.files.sources import Source, find, suffix_of


def _names(*paths: Path | str, form: str | None = None) -> list[str]:
    return [source.name for source in find([str(p) for p in paths], form=form).files]


def test_a_folder_is_unfolded_and_sorted_by_path(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl.gz", "deep/er/c.CSV", "deep/a.ndjson"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert _names(tmp_path) == ["a.jsonl.gz", "b.txt", "deep/a.ndjson", "deep/er/c.CSV"]


def test_files_of_other_kinds_in_a_folder_are_counted_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("a.txt", "scan.pdf", "README", ".DS_Store", "x.gz"):
        (tmp_path / name).write_bytes(b"")
    found = find([str(tmp_path)])
    assert [source.name for source in found.files] == ["a.txt"]
    assert found.skipped == 3


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    note = tmp_path / "a.txt"
    note.write_text("x")
    assert _names(tmp_path, note, tmp_path / "." / "a.txt") == ["a.txt"]


def test_a_given_file_of_no_readable_kind_needs_a_format(tmp_path: Path) -> None:
    path = tmp_path / "Jane Doe.note"
    path.write_text("x")
    with pytest.raises(UsageError, match="input 1 is of no readable kind") as refusal:
        find([str(path)])
    assert "Jane" not in str(refusal.value)
    assert find([str(path)], form="text").files[0].kind == "text"


def test_what_does_not_exist_is_refused_without_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="input 2 does not exist") as refusal:
        find([str(tmp_path), str(tmp_path / "Jane Doe.txt")])
    assert "Jane" not in str(refusal.value)


def test_a_folder_without_readable_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"")
    with pytest.raises(UsageError, match="nothing to read"):
        find([str(tmp_path)])


def test_a_folder_that_cannot_be_listed_is_refused_and_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    (tmp_path / "shut").mkdir()
    (tmp_path / "a.txt").write_text("x")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UsageError, match="cannot be listed"):
        find([str(tmp_path)])


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="--format is one of"):
        find(["-"], form="docx")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.txt", ".txt"), ("A.JSONL.GZ", ".jsonl.gz"), ("a.b.csv", ".csv"), ("a.gz", ""), ("a", ""), ("a.pdf", "")],
)
def test_the_suffix_is_what_says_the_kind(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_a_source_never_shows_its_name_in_its_repr(tmp_path: Path) -> None:
    assert "Doe" not in repr(Source(tmp_path / "Doe.txt", "Doe.txt", "text"))
