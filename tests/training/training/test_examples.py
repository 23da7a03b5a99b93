"""From files to batches: checking, mixing, tagging, and shuffling."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from incognote.detectors.encoder.bundle import classes, tags
from incognote.detectors.encoder.units import Pieces
from incognote.errors import SettingError, UsageError
from incognote_training.training import config as configuration
from incognote_training.training.config import Augment, Data
from incognote_training.training.documents import Document, mixed, read
from incognote_training.training.examples import encode, epoch, targets, view

TAGS = tags(classes())
TEXT = "Seen Ruth Hale in Oslo."
SPANS = ((5, 14, "PATIENT"), (18, 22, "CITY"))


def pieces(setting: Path) -> Pieces:
    return Pieces(setting.parent / "base" / "tokenizer.json")


def lines(path: Path, n: int, mark: str) -> Path:
    path.write_text(
        "".join(json.dumps({"id": f"{mark}{i}", "text": mark, "spans": [], "source": mark}) + "\n" for i in range(n))
    )
    return path


# Files


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"id": 1}',
        '{"id": 1, "text": "Ruth", "spans": [{"start": 0, "end": 9, "type": "PATIENT"}]}',
        '{"id": 1, "text": "Ruth", "spans": [{"start": 0, "end": 2, "type": "AGE"}, '
        '{"start": 1, "end": 3, "type": "AGE"}]}',
        '{"id": 1, "text": "Ruth", "spans": [{"start": 2, "end": 2, "type": "CITY"}]}',
    ],
)
def test_a_malformed_line_is_named_and_not_shown(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": 0, "text": "a", "spans": []}\n' + line + "\n")
    with pytest.raises(UsageError, match=r"x\.jsonl, line 2") as caught:
        list(read(tmp_path / "x.jsonl"))
    assert "Ruth" not in str(caught.value)


def test_a_mixture_has_the_asked_shares(tmp_path: Path) -> None:
    files = lines(tmp_path / "s.jsonl", 30, "template"), lines(tmp_path / "a.jsonl", 40, "handwritten")
    for share in (1.0, 0.75, 0.5, 0.25, 0.0):
        documents = mixed(Data(files=files, synthetic_share=share, total=20), 0)
        counted = Counter(document.text for document in documents)
        assert (counted["template"], counted["handwritten"]) == (round(20 * share), 20 - round(20 * share))


def test_without_a_total_every_mixture_is_as_large_as_the_smaller_side(tmp_path: Path) -> None:
    data = Data(
        files=(lines(tmp_path / "s.jsonl", 30, "injected+corrupted"), lines(tmp_path / "a.jsonl", 40, "handwritten"))
    )
    assert {len(mixed(data.model_copy(update={"synthetic_share": x}), 0)) for x in (0.0, 0.5, 0.75, 1.0)} == {30}
    assert len(mixed(data, 0)) == 70
    assert len(mixed(data.model_copy(update={"repeat_authentic": 3}), 0)) == 150
    assert len(mixed(data.model_copy(update={"without": ("injected",)}), 0)) == 40
    assert len(mixed(data.model_copy(update={"without": ("corrupted",)}), 0)) == 40


def test_a_mixture_of_more_than_there_is_is_refused(tmp_path: Path) -> None:
    data = Data(files=(lines(tmp_path / "s.jsonl", 3, "template"),), synthetic_share=0.5, total=4)
    with pytest.raises(UsageError, match="authentic"):
        mixed(data, 0)


# Configuration


def test_the_shipped_configuration_is_one(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(configuration.template())
    told = configuration.read(tmp_path / "c.toml")
    assert told.data.development == tmp_path / "development.jsonl"
    assert told.switches.fusion


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"switches.foo": True}, "switches.foo"),
        ({"run.window": 4}, "run.window"),
        ({"run.steps": None}, "minutes, epochs or steps"),
        ({"switches.no early exit": 9}, "no early exit"),
        ({"run.overlap": 70}, "overlap"),
        ({"data.files": []}, "data.files"),
    ],
)
def test_a_value_that_does_not_fit_is_named(setting: Path, changes: dict[str, object], field: str) -> None:
    with pytest.raises(SettingError, match=field):
        configuration.read(setting, changes)


def test_how_often_it_is_saved_does_not_make_it_another_run(setting: Path) -> None:
    key = configuration.read(setting).key
    assert configuration.read(setting, {"run.save_steps": 3, "run.threads": 2}).key == key
    assert configuration.read(setting, {"run.seed": 3}).key != key


# Examples


def test_units_get_the_tags_of_their_spans(setting: Path) -> None:
    (example,) = encode([Document("x", TEXT, SPANS)], pieces(setting), soft=True)
    assert [TAGS[t] for t in example.tags] == ["O", "B-PATIENT", "I-PATIENT", "O", "B-CITY", "O"]


def test_votes_become_a_distribution_or_their_majority(setting: Path) -> None:
    told = {"id": "x", "text": TEXT, "spans": [], "soft": [
        {"start": 5, "end": 9, "votes": {"B-PATIENT": 0.75, "O": 0.25}}, {"start": 18, "end": 22, "votes": {"O": 1.0}},
    ]}  # fmt: skip
    (setting.parent / "soft.jsonl").write_text(json.dumps(told))
    documents = list(read(setting.parent / "soft.jsonl"))
    (soft,), (hard,) = (encode(documents, pieces(setting), soft=flag) for flag in (True, False))
    assert TAGS[soft.tags[1]] == TAGS[hard.tags[1]] == "B-PATIENT"
    where, rows = soft.soft
    assert where.tolist() == [1]
    assert rows[0, TAGS.index("B-PATIENT")] == 0.75
    assert not len(hard.soft[0])


def test_an_epoch_holds_every_unit_once_and_the_next_in_another_order(setting: Path) -> None:
    examples = encode(list(read(setting.parent / "train.jsonl")), pieces(setting), soft=True)
    first, again, second = (epoch(examples, 64, 768, 0, n) for n in (0, 0, 1))
    assert first == again != second
    for made in (first, second):
        held = Counter((w.text, u) for windows in made for w in windows for u in range(w.begin, w.end))
        assert set(held.values()) == {1}
        assert len(held) == sum(len(example.encoded.units) for example in examples)


def test_targets_stand_where_the_units_do(setting: Path) -> None:
    reader = pieces(setting)
    examples = encode(list(read(setting.parent / "train.jsonl")), reader, soft=True)
    encoded = [example.encoded for example in examples]
    windows = epoch(examples, 64, 768, 0, 0)[0]
    made = view(examples, encoded, windows, reader.special, reader.unknown, None, np.random.default_rng(0))
    wanted = targets(examples, made)
    assert (wanted.soft.argmax(-1)[wanted.mask] == wanted.tags[wanted.mask]).all()
    for i, w in enumerate(windows):
        n = w.end - w.begin
        assert wanted.mask[i].sum() == n
        one = encoded[w.text]
        assert (made.ids[i, wanted.at[i, :n]] == one.ids[one.first[w.begin : w.end]]).all()


def test_augmentation_hides_pieces_of_spans_only(setting: Path) -> None:
    reader = pieces(setting)
    examples = encode(list(read(setting.parent / "train.jsonl")), reader, soft=True)
    encoded = [example.encoded for example in examples]
    windows = epoch(examples, 64, 768, 0, 0)[0]
    plain, hidden = (
        view(examples, encoded, windows, reader.special, reader.unknown, augment, np.random.default_rng(0))
        for augment in (None, Augment(pieces=1.0, lexicon=1.0, case=0.0))
    )
    wanted = targets(examples, plain)
    first = np.take_along_axis(hidden.ids, wanted.at, 1) == reader.unknown
    was = np.take_along_axis(plain.ids, wanted.at, 1) == reader.unknown
    assert (first == (was | (wanted.tags > 0)))[wanted.mask].all()
    assert not hidden.features[:, :, 32:58].any()
    assert (hidden.features[:, :, :32] == plain.features[:, :, :32]).all()


def test_a_folder_may_be_moved(setting: Path, tmp_path: Path) -> None:
    shutil.copytree(setting.parent, tmp_path / "elsewhere")
    assert configuration.read(tmp_path / "elsewhere" / setting.name).key == configuration.read(setting).key
