"""Which files a run reads."""

from __future__ import annotations

import os
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


def test_files_of_other_kinds_in_a_folder_are_sources_and_hidden_ones_are_named(tmp_path: Path) -> None:
    for name in ("a.txt", "scan.ps", "README", ".DS_Store", "x.gz", ".git/b.txt", "Thumbs.db"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = find([str(tmp_path)])
    assert [(source.name, source.kind) for source in found.files] == [
        ("README", "other"), ("a.txt", "text"), ("scan.ps", "other"), ("x.gz", "other"),
    ]  # fmt: skip
    assert sorted(found.hidden) == [f"{tmp_path}/.DS_Store", f"{tmp_path}/.git", f"{tmp_path}/Thumbs.db"]
    assert find([str(tmp_path)], form="text").files[0].kind == "text"


def test_a_source_knows_the_path_as_the_user_typed_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "a.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    for typed in ("notes", "notes/", "./notes", "notes/../notes"):
        (source,) = find([typed]).files
        assert source.shown == typed.rstrip("/") + "/deep/a.txt"
    assert find(["./notes/deep/a.txt"]).files[0].shown == "./notes/deep/a.txt"


def test_what_cannot_be_read_is_a_source_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "nowhere.txt").symlink_to("gone.txt")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "out").symlink_to(tmp_path / "other")
    (folder / "in").symlink_to(folder / "deep")  # read under its own name anyway
    os.mkfifo(folder / "pipe.txt")
    found = {source.name: source.unread for source in find([str(folder)]).files}
    assert found == {
        "nowhere.txt": "a broken link",
        "loop.txt": "a broken link",
        "out": "a link to a folder, which is not followed. Name the folder itself",
        "pipe.txt": "a pipe, a socket, or a device",
    }
    (given,) = find([str(folder / "nowhere.txt")]).files
    assert given.unread == "a broken link"


def test_a_link_out_of_the_folder_is_read_only_where_it_is_named_itself(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (tmp_path / "elsewhere.txt").write_text("x")
    (folder / "out.txt").symlink_to("../elsewhere.txt")
    link, why = str(folder / "out.txt"), "a link to a file outside the folder. Name the link or the file itself"
    for paths, unread in (([folder], why), ([folder, link], ""), ([link, folder], ""), ([link], "")):
        assert [(one.shown, one.unread) for one in find([str(path) for path in paths]).files] == [(link, unread)]


def test_links_to_one_place_are_each_told(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("x")
    (tmp_path / "a.txt").symlink_to("m.txt")
    for name in ("y.txt", "z.txt"):
        (tmp_path / name).symlink_to("nothing")
    (tmp_path / "deep").mkdir()
    assert [(source.name, source.unread) for source in find([str(tmp_path)]).files] == [
        ("a.txt", "a link to a file that is already read under another name"),
        ("m.txt", ""),
        ("y.txt", "a broken link"),
        ("z.txt", "a broken link"),
    ]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    note = tmp_path / "a.txt"
    note.write_text("x")
    assert _names(tmp_path, note, tmp_path / "." / "a.txt") == ["a.txt"]


def test_a_given_file_of_no_named_kind_takes_the_format_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.note"
    path.write_text("x")
    assert find([str(path)]).files[0].kind == "other"
    assert find([str(path)], form="text").files[0].kind == "text"


def test_what_does_not_exist_is_refused_by_the_path_that_was_typed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere/b\.txt: no such file or folder"):
        find([str(tmp_path), "nowhere/b.txt"])


def test_a_path_that_is_not_there_is_a_source_that_says_so_where_asked_and_another_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    here, gone = str(tmp_path / "a.txt"), str(tmp_path / "gone.csv")
    found = find([gone, here], missing=True).files
    assert [(one.shown, one.unread) for one in found] == [(gone, "no such file or directory"), (here, "")]
    with pytest.raises(UsageError, match=r"gone\.csv, nowhere: no such file or folder"):
        find([gone, "nowhere"], missing=True)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files to read"):
        find([str(tmp_path)])
    (tmp_path / ".a.txt").write_text("x")
    with pytest.raises(UsageError, match="only hidden files"):
        find([str(tmp_path)])


def test_a_folder_that_cannot_be_listed_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "a.txt").write_text("x")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = find([str(tmp_path)]).files
    assert [(source.shown, source.unread) for source in found] == [
        (f"{tmp_path}/a.txt", ""), (f"{tmp_path}/shut", "a folder: permission denied"),
    ]  # fmt: skip


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="--format must be one of"):
        find(["-"], form="odt")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.txt", ".txt"), ("A.JSONL.GZ", ".jsonl.gz"), ("a.b.csv", ".csv"), ("a.gz", ""), ("a", ""), ("a.ps", "")],
)
def test_the_suffix_is_what_says_the_kind(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_a_source_never_shows_its_name_in_its_repr(tmp_path: Path) -> None:
    assert "Doe" not in repr(Source(tmp_path / "Doe.txt", "Doe.txt", "text"))
