"""Outputs are written completely or not at all, named by a keyed hash, and kept apart from the originals."""

from __future__ import annotations

import codecs
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, UsageError
from incognote.files.atomic import AtomicFile, sweep, write_atomic
from incognote.files.inputs import read
from incognote.files.outputs import Outputs, hashed_name, place
from incognote.files.sources import Sources, find
from incognote.keys import Keyring

KEY = Keyring(b"k" * 32)


def _copy(out: Path, sources: Sources, *, keep_names: bool = True, overwrite: bool = False) -> list[str]:
    """Release every readable input unchanged. Return the names of the outputs."""
    where = place(str(out), sources)
    with Outputs(where, sources.files, KEY, keep_names=keep_names, overwrite=overwrite) as outputs:
        for source in sources.files:
            for one in read(source):
                if one.content is not None:
                    outputs.write(one, one.content)
    return list(outputs.written)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "ward").mkdir(parents=True)
    (folder / "Jane Doe.txt").write_bytes(b"a\r\nb")
    (folder / "ward" / "all.jsonl").write_bytes(b'{"a":1}\r\n{"b":2}')
    (folder / "old.jsonl.gz").write_bytes(gzip.compress(b'{"c":3}\n'))
    return folder


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-8"])
def test_what_is_released_unchanged_is_the_input_byte_for_byte(tmp_path: Path, encoding: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes(mark + "Zoë\r\n\U0001f600\n".encode(encoding))
    (folder / "b.jsonl").write_bytes(mark + '{"a":"Zoë"}\r\n{"b":1.10}\n{"c":3}'.encode(encoding))
    _copy(tmp_path / "out", find([str(folder)]))
    for name in ("a.txt", "b.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()


def test_outputs_are_named_by_keyed_hash_and_the_same_again(notes: Path, tmp_path: Path) -> None:
    sources = find([str(notes)])
    names = _copy(tmp_path / "out", sources, keep_names=False)
    assert names == [hashed_name(source, KEY) for source in sources.files]
    assert names == _copy(tmp_path / "again", sources, keep_names=False)
    assert names != [hashed_name(source, Keyring(b"j" * 32)) for source in sources.files]
    assert sorted(os.path.splitext(n)[1] for n in names) == [".gz", ".jsonl", ".txt"]
    assert not any("doe" in n.lower() or "ward" in n for n in names)


def test_keep_names_keeps_names_and_folders(notes: Path, tmp_path: Path) -> None:
    assert _copy(tmp_path / "out", find([str(notes)])) == ["Jane Doe.txt", "old.jsonl.gz", "ward/all.jsonl"]


@pytest.mark.parametrize(
    ("keep_names", "suffixes"), [(True, [".txt", ".doc", ".gz", ".jsonl"]), (False, [".txt", ".rtf", ".gz", ".jsonl"])]
)
def test_a_file_that_is_recognized_by_its_content_keeps_its_place(
    notes: Path, tmp_path: Path, keep_names: bool, suffixes: list[str]
) -> None:
    (notes / "letter.doc").write_bytes(b"{\\rtf1 Stable.}")
    sources = find([str(notes)]).files
    where = place(str(tmp_path / "out"), find([str(notes)]))
    with Outputs(where, sources, KEY, keep_names=keep_names) as outputs:
        for source in reversed(sources):
            for one in read(source):
                assert one.data is not None
                outputs.write(one, one.data)
    assert [Path(name).suffix for name in outputs.in_order()] == suffixes


def test_an_output_has_the_suffix_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_bytes(b"{\\rtf1 Stable.}")
    (tmp_path / "more.txt.gz").write_bytes(gzip.compress(b"{\\rtf1 Stable.}"))
    sources = find([str(tmp_path)])
    assert [next(read(source)).source.suffix for source in sources.files] == [".rtf", ".rtf.gz"]


@pytest.mark.parametrize("keep_names", [True, False])
def test_two_files_of_one_name_are_refused_even_if_their_name_gives_no_format(tmp_path: Path, keep_names: bool) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "letter.doc").write_bytes(b"{\\rtf1 Stable.}")
    sources = find([str(tmp_path / "a"), str(tmp_path / "b")])
    with pytest.raises(UsageError, match="same name"):
        Outputs(place(str(tmp_path / "out"), sources), sources.files, KEY, keep_names=keep_names)


@pytest.mark.parametrize("keep_names", [True, False])
def test_overwriting_removes_an_earlier_output_whose_format_came_from_the_content(
    tmp_path: Path, keep_names: bool
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "letter").write_bytes(b"{\\rtf1 Stable.}")
    sources = find([str(folder)])
    out = tmp_path / "out"
    with Outputs(place(str(out), sources), sources.files, KEY, keep_names=keep_names) as outputs:
        outputs.write(next(read(sources.files[0])), b"{\\rtf1 Stable.}")
    [written] = out.iterdir()
    (other := out / f"{written.name.partition('.')[0]}.retry-1.rtf").write_bytes(b"{\\rtf1 Stable.}")
    with Outputs(place(str(out), sources), sources.files, KEY, keep_names=keep_names, overwrite=True):
        pass  # this time, the record is held
    assert list(out.iterdir()) == [other]


def test_a_compressed_output_tells_no_name_and_no_time(notes: Path, tmp_path: Path) -> None:
    _copy(tmp_path / "out", find([str(notes)]))
    data = (tmp_path / "out" / "old.jsonl.gz").read_bytes()
    assert gzip.decompress(data) == b'{"c":3}\n'
    assert data[3:8] == bytes(5)  # RFC 1952: no flags, so no name; time 0


def test_a_held_last_line_leaves_whole_lines_and_a_held_middle_one_keeps_the_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}\n{"c":3}')
    sources = find([str(path)])
    one, _, three = read(sources.files[0])
    with Outputs(place(str(tmp_path / "out"), sources), sources.files, KEY, keep_names=True) as outputs:
        outputs.write(three, "3")
        outputs.write(one, "1")  # as a retry might write it
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == b"3\n1\n"


def test_a_source_with_nothing_released_leaves_no_output(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    assert _copy(tmp_path / "out", find([str(tmp_path / "a.jsonl")])) == []
    assert not (tmp_path / "out").exists()


def test_one_file_can_be_written_to_a_file_of_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a":1}\n')
    sources = find([str(tmp_path / "a.jsonl")])
    _copy(tmp_path / "clean.ndjson.gz", sources)
    assert gzip.decompress((tmp_path / "clean.ndjson.gz").read_bytes()) == b'{"a":1}\n'
    assert place(str(tmp_path / "clean.jsonl"), sources).manifest == tmp_path / "clean.jsonl.manifest.json"
    with pytest.raises(UsageError, match="another format"):
        place(str(tmp_path / "clean.csv"), sources)


def test_a_file_name_for_several_inputs_is_refused(notes: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several inputs"):
        place(str(tmp_path / "out.txt"), find([str(notes)]))


def test_released_records_are_never_written_among_originals(notes: Path) -> None:
    folder = find([str(notes)])
    for out in (notes, notes / "out", notes / ".." / "notes" / "x"):
        with pytest.raises(UsageError, match="input folder"):
            place(str(out), folder)
    single = find([str(notes / "Jane Doe.txt")])
    with pytest.raises(UsageError, match="the folder of an input file"):
        place(str(notes), single)
    with pytest.raises(UsageError, match="is an input"):
        place(str(notes / "Jane Doe.txt"), single)


def test_a_link_to_an_input_folder_is_seen_through(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(notes)
    with pytest.raises(UsageError, match="input folder"):
        place(str(tmp_path / "link" / "out"), find([str(notes)]))


def test_outputs_that_exist_are_refused_unless_told(notes: Path, tmp_path: Path) -> None:
    sources = find([str(notes)])
    _copy(tmp_path / "out", sources)
    with pytest.raises(UsageError, match="--overwrite"):
        _copy(tmp_path / "out", sources)
    assert len(_copy(tmp_path / "out", sources, overwrite=True)) == 3


def test_what_a_former_run_released_goes_when_this_one_holds_it(notes: Path, tmp_path: Path) -> None:
    sources = find([str(notes)])
    where = place(str(tmp_path / "out"), sources)
    _copy(tmp_path / "out", sources)
    where.manifest.write_text("{}")
    with Outputs(where, sources.files, KEY, keep_names=True, overwrite=True) as outputs:
        assert outputs.written == {}
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_two_inputs_of_one_name_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    for ward in ("a", "b"):
        (tmp_path / ward).mkdir()
        (tmp_path / ward / "1.txt").write_text("x")
    with pytest.raises(UsageError, match="same name"):
        _copy(tmp_path / "out", find([str(tmp_path / "a"), str(tmp_path / "b")]))
    assert not (tmp_path / "out").exists()


def test_an_error_leaves_the_finished_files_and_nothing_of_the_unfinished(notes: Path, tmp_path: Path) -> None:
    sources = find([str(notes)])
    out = tmp_path / "out"
    inputs = [one for source in sources.files for one in read(source)]

    def interrupted() -> None:
        with Outputs(place(str(out), sources), sources.files, KEY, keep_names=True) as outputs:
            outputs.write(inputs[0], "a")
            outputs.write(inputs[1], "c")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [p.name for p in out.iterdir()] == ["Jane Doe.txt"]


def test_a_place_that_cannot_be_written_is_told_without_its_name(tmp_path: Path) -> None:
    (tmp_path / "Doe").write_text("a file where a folder should be")
    with pytest.raises(IncognoteError, match="cannot be written") as failure:
        write_atomic(tmp_path / "Doe" / "a.txt", b"x")
    assert "Doe" not in str(failure.value)


def test_a_killed_process_leaves_no_half_file_and_the_next_run_sweeps_its_remains(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from incognote.files.atomic import AtomicFile\n"
        f"out = AtomicFile(Path({str(tmp_path / 'a.txt')!r})); out.write(b'half'); out.stream.flush()\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    [part] = tmp_path.iterdir()
    assert part.name.startswith(".")
    sweep(tmp_path)
    assert part.exists()  # another process is still writing it
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for _ in range(100):  # the kernel releases the lock when the process ends, a little later under load
        sweep(tmp_path)
        if not part.exists():
            break
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    with AtomicFile(tmp_path / "a.txt") as out:
        out.write(b"x")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_bytes() == b"x"
