"""What is drawn, what reviewers receive, and what they cannot infer from it."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from os import mkfifo
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.sampling.draw import SampleRequest, draw, plant
from incognote.evaluation.sampling.key import Key, read_key
from incognote.evaluation.sampling.outputs import OutputDocument, ReleasedOutputs

Drawn = Callable[..., tuple[Path, Key]]


def items(folder: Path, reviewer: int) -> list[dict[str, str]]:
    path = folder / f"reviewer-{reviewer}" / "items.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def texts(paths: list[str], strata: str | None = None) -> list[str]:
    return [document.text for document in ReleasedOutputs(paths, strata).documents()]


def test_each_reviewer_gets_all_documents_in_an_order_and_under_names_of_his_own(drawn: Drawn) -> None:
    folder, key = drawn()
    first, second = items(folder, 1), items(folder, 2)
    assert Counter(i["text"] for i in first) == Counter(i["text"] for i in second)
    assert [i["text"] for i in first] != [i["text"] for i in second]
    assert not {i["id"] for i in first} & {i["id"] for i in second}
    assert len(first) == len(key.cases)


def test_the_order_of_items_says_nothing_of_the_order_of_the_release(drawn: Drawn) -> None:
    folder, key = drawn()
    places = {item: case.position for case in key.cases for item in case.items}
    for reviewer in (1, 2):
        shown = [places[i["id"]] for i in items(folder, reviewer)]
        rising = sum(a < b for a, b in pairwise(shown))
        assert 0.25 < rising / len(shown) < 0.75


def test_the_reviewers_folder_names_no_output_and_no_plant_and_the_key_no_text(
    drawn: Drawn, release: Path, tmp_path: Path
) -> None:
    folder, key = drawn(plants=5, strata="dataType")
    given = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"3f2a" not in given
    assert b"plant" not in given
    assert all(case.case.encode() not in given for case in key.cases)
    kept = (tmp_path / "review.key.json").read_text()
    assert "visit" not in kept
    assert all(i["text"][c.plant.start : c.plant.end] not in kept for c in key.planted for i in items(folder, 1)
               if c.plant and i["id"] in c.items)  # fmt: skip


def test_sets_and_key_are_private(drawn: Drawn, tmp_path: Path) -> None:
    folder, _ = drawn()
    kept = [*(path for path in folder.rglob("*") if path.is_file()), tmp_path / "review.key.json"]
    assert {path.stat().st_mode & 0o077 for path in kept} == {0}


def test_the_same_seed_draws_the_same_and_no_seed_draws_anew(release: Path, tmp_path: Path) -> None:
    chosen = []
    for number, seed in enumerate([5, 5, None, None]):
        draw([str(release)], tmp_path / f"r{number}", tmp_path / f"k{number}", SampleRequest(0.05, seed=seed))
        chosen.append([case.position for case in read_key(tmp_path / f"k{number}").cases])
    assert chosen[0] == chosen[1]
    assert chosen[2] != chosen[3]


def test_kinds_are_drawn_in_proportion(drawn: Drawn) -> None:
    _, key = drawn(strata="dataType")
    assert key.strata.keys() == {"Discharge", "Progress", "Radiology"}
    assert {name: size for name, (size, _) in key.strata.items()} == {"Discharge": 30, "Progress": 60, "Radiology": 30}
    assert key.strata["Discharge"][1] == key.strata["Radiology"][1]
    assert Counter(case.stratum for case in key.drawn) == {name: n for name, (_, n) in key.strata.items()}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"size": 10}, "are needed"),
        ({"bound": 0.001, "expect": 1}, "can prove a bound"),
        ({"plants": 100}, "--plant"),
        ({"strata": "note", "bound": 0.05}, "--strata"),
        ({"bound": 2.0}, "--bound"),
    ],
)
def test_a_draw_that_cannot_be_is_refused_and_writes_nothing(
    words: dict[str, float], said: str, drawn: Drawn, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        drawn(**words)
    assert not (tmp_path / "review").exists()
    assert not (tmp_path / "review.key.json").exists()


def test_a_second_draw_into_the_same_place_is_refused(drawn: Drawn) -> None:
    drawn()
    with pytest.raises(UsageError, match="--out"):
        drawn()


def test_the_key_does_not_go_where_reviewers_look(release: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--key"):
        draw([str(release)], tmp_path / "review", tmp_path / "review" / "key.json", SampleRequest(0.05))


def test_an_output_that_changed_since_its_run_is_noticed(release: Path, drawn: Drawn) -> None:
    with (release / "3f2a.jsonl").open("a") as more:
        more.write('{"note": "added"}\n')
    with pytest.raises(UsageError, match="changed after its run"):
        drawn()


def test_every_format_of_deid_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("One.\r\nTwo.\x0b".encode("utf-16"))
    (tmp_path / "b.json").write_text('{"a": {"b": ["x", null]}, "n": 1.10}')
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as out:
        out.write('{"t": "p"}\n\n{"t": "q"}\n')
    (tmp_path / "d.csv").write_text('id;note\n1;"two\nlines"\n2;x\u2028y\n')
    (tmp_path / "e.tsv").write_text("id\tnote\n3\tz\n")
    assert texts([str(tmp_path)]) == [
        "One.\r\nTwo.\x0b", "a.b[0]: x\nn: 1.10", "t: p", "t: q", "id: 1\nnote: two\nlines", "id: 2\nnote: x\u2028y",
        "id: 3\nnote: z",
    ]  # fmt: skip


def test_attached_texts_are_shown_decoded() -> None:
    from incognote.evaluation.sampling.outputs import lines

    data = b64encode(b"Seen by [PERSON].").decode()
    shown = list(lines({"content": [{"attachment": {"contentType": "text/plain", "data": data}}]}))
    assert "content[0].attachment.data: Seen by [PERSON]." in shown


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", b"{"), ("a.csv", b"a,b\n1\n"), ("a.txt", b"\xff\xfe\xff"), ("a.jsonl.gz", b"no")]
)
def test_an_output_that_cannot_be_read_stops_the_draw_unnamed(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match="Output 1 of 1") as raised:
        texts([str(tmp_path)])
    assert name not in str(raised.value)


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("nowhere"), mkfifo], ids=["link", "pipe"])
def test_a_folder_with_what_cannot_be_read_is_refused(make: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Foley out.")
    make(tmp_path / "b.txt")
    with pytest.raises(UsageError, match=r"b\.txt: a .*needs every output"):
        ReleasedOutputs([str(tmp_path)])


def test_a_document_shows_no_text_in_its_representation() -> None:
    assert "secret" not in repr(OutputDocument(0, 1, "", "secret"))


@given(st.text(max_size=300), st.integers(0, 2**32))
def test_a_planted_identifier_stands_where_the_key_says_and_the_rest_is_as_it_was(text: str, seed: int) -> None:
    made = plant(text, Random(seed))
    value = made.text[made.start : made.end]
    assert value.strip()
    rest = made.text[: made.start] + made.text[made.end :]
    assert [c for c in text if c in rest] == list(text)


def test_a_mask_gives_its_place_to_a_plant_of_its_kind() -> None:
    made = plant("Seen on [DATE].", Random(1))
    assert made.type == "DATE"
    assert made.text.startswith("Seen on ")
    assert "[DATE]" not in made.text
