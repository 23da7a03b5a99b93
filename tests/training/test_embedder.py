"""How the bundled model was made: its source data, its arithmetic, its files."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.embedding.base import unit
from incognote.errors import UsageError
from incognote_training.embedder.examination import by_pairs, found, spearman
from incognote_training.embedder.export import quantized
from incognote_training.embedder.student import beginning, embed, projection
from incognote_training.embedder.teacher import Lesson
from incognote_training.embedder.texts import Note, pieces, read_notes, referents, strings, word_bags


def test_a_document_is_taught_or_kept_apart_and_its_annotations_are_masked(tmp_path: Path) -> None:
    rows = [
        {"id": f"n{n}", "text": f"Ruth {n}", "spans": [{"start": 0, "end": 4, "type": "PERSON"}]} for n in range(50)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    taught, apart = read_notes([tmp_path / "a.jsonl"])
    assert len(taught) + len(apart) == 50
    assert 0 < len(apart) < len(taught)
    assert not {note.text for note in taught} & {note.text for note in apart}
    assert {note.masked for note in taught} == {note.text.replace("Ruth", "[PERSON]") for note in taught}


def test_a_line_without_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(UsageError, match="--notes"):
        read_notes([tmp_path / "a.jsonl"])


@given(st.lists(st.text("ab c\n", max_size=80), max_size=4), st.integers(0, 9))
def test_pieces_hold_every_word_once(texts: list[str], seed: int) -> None:
    made = list(pieces([Note(text, None) for text in texts], Random(seed)))
    assert " ".join(made).split() == " ".join(texts).split()


def test_bags_teach_every_word_alone() -> None:
    made = list(word_bags(["a", "b"], 3, Random(0)))
    assert made[:2] == ["a", "b"]
    assert all(set(bag.split()) <= {"a", "b"} and 2 <= len(bag.split()) <= 4 for bag in made[2:])


def test_made_up_referents_come_from_the_seed_alone() -> None:
    pytest.importorskip("faker", reason="needs the extra `distill`: pip install 'incognote[distill]'")
    first, again, other = referents(40, 1), referents(40, 1), referents(40, 2)
    assert first == again != other
    assert len(list(strings(first))) == len(set(strings(first))) > 80


def lesson() -> Lesson:
    chance = np.random.default_rng(0)
    vectors = chance.normal(size=(30, 6)).astype(np.float32)
    return Lesson([[0]], vectors, chance.normal(size=(4, 6)).astype(np.float32), np.array([0, 100, 5, 900]))


def test_a_projection_onto_all_directions_keeps_dot_products() -> None:
    vectors = lesson().vectors
    onto = projection(vectors, 6)
    assert np.allclose((vectors @ onto) @ (vectors @ onto).T, vectors @ vectors.T, atol=1e-4)


def test_a_wordpiece_begins_as_its_contexts_or_alone_and_shorter_the_commoner_it_is() -> None:
    told, onto = lesson(), np.eye(6, dtype=np.float32)
    begun = beginning(told, np.ones((4, 6), np.float32), onto)
    assert np.allclose(begun[0], 1)
    assert np.allclose(
        begun[2] / np.linalg.norm(begun[2]), told.meanings[2] / np.linalg.norm(told.meanings[2]), atol=1e-6
    )
    shorter = np.linalg.norm(begun, axis=1) / np.linalg.norm(told.meanings, axis=1)
    assert shorter[3] < shorter[1] < shorter[2]


def test_a_text_is_the_sum_of_its_wordpieces() -> None:
    table = np.array([[3, 0], [0, 4]], np.float32)
    assert np.allclose(embed(table, [[0, 1], [0], []]), [[0.6, 0.8], [1, 0], [0, 0]])


def test_int8_rows_are_within_half_a_step() -> None:
    table = np.random.default_rng(0).normal(size=(50, 16)).astype(np.float32)
    table[7] = 0
    rows, steps = quantized(table)
    assert np.abs(rows * steps[:, None].astype(np.float32) - table).max() <= steps.max()
    assert not rows[7].any()


def test_rank_correlation_is_that_of_the_books() -> None:
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5])) == pytest.approx(0.8)


def test_the_examination_of_a_perfect_student_is_perfect() -> None:
    vectors = unit(lesson().vectors)
    assert by_pairs(vectors, vectors)["value"] == 1
    assert found(vectors, vectors, range(30), 1)["value"] == 1


def test_what_is_written_is_what_was_taught(tmp_path: Path) -> None:
    if find_spec("onnx") is None:
        pytest.skip("needs the extra `train`: pip install 'incognote[train]'")
    from tokenizers import Tokenizer, models, pre_tokenizers

    from incognote.embedding.vendors.embedded import EmbeddedEmbedder
    from incognote_training.embedder.export import write

    tokenizer = Tokenizer(models.WordPiece({"[PAD]": 0, "[UNK]": 1, "ruth": 2, "hale": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    version = write(tmp_path / "model", table, tokenizer, 0, {"taught": {}})
    student = EmbeddedEmbedder(tmp_path / "model")
    assert (student.version, student.dimension) == (version, 8)
    wanted = embed(table, [[2], [3, 2, 2], []])
    assert np.allclose(student.embed(["ruth", "hale ruth ruth", ""]), wanted, atol=0.02)
