"""Weights of a BERT model, copied into a student."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote.errors import SettingError  # noqa: E402 -- as below
from incognote_training.student.base import begin_from, folder_of  # noqa: E402 -- torch first: these import it
from incognote_training.student.model import Student  # noqa: E402 -- as above
from incognote_training.student.shape import Sizes, Switches  # noqa: E402 -- as above

PLAIN = Switches(shape=False, lexicon=False, specialised=False, fusion=False, exit_layer=1, dropout=0.0)
SIZES = Sizes(vocabulary=40, hidden=24, layers=2, heads=3, intermediate=32, positions=20)


def test_a_student_begins_as_the_bert_it_comes_from(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra `train`: pip install 'incognote[train]'")
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32,
        max_position_embeddings=20,
    )  # fmt: skip
    bert = transformers.BertModel(config).eval()
    bert.save_pretrained(tmp_path)
    student = Student(SIZES, PLAIN, 3).eval()
    begin_from(student, tmp_path)
    ids, features = torch.randint(1, 40, (2, 12)), torch.zeros(2, 12, 64)
    with torch.no_grad():
        hidden = student._through(student.layers[1:], student.lower(ids, features), ids, features)
        assert torch.allclose(hidden, bert(ids).last_hidden_state, atol=1e-5)
    with pytest.raises(SettingError, match="sizes"):
        begin_from(Student(Sizes(hidden=12, heads=3, layers=2, vocabulary=40, positions=20), PLAIN, 3), tmp_path)


def test_a_base_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"tokenizer\.json"):
        folder_of(str(tmp_path))
