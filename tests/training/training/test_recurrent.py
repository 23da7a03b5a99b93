"""The model of words: shapes, what it sees, and the path from training to a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.detectors.encoder import EncoderDetector
from incognote.detectors.encoder.words import WIDTH
from incognote.errors import SettingError
from incognote.nouns import Text

torch = pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote_training.student.recurrent import Ensemble, Recurrent  # noqa: E402 -- needs torch
from incognote_training.student.shape import Switches, WordSizes  # noqa: E402 -- as above
from incognote_training.training.config import read  # noqa: E402 -- as above
from incognote_training.training.loop import train, trained  # noqa: E402 -- as above

SMALL = WordSizes(word=8, character=4, filters=8, features=4, hidden=8, layers=2)
CONFIG = """
vocabulary = "words.txt"
[words]
hidden = 24
dropout = 0.1
blank = 0.1
[switches]
exit_layer = 0
[data]
files = ["train.jsonl"]
development = "dev.jsonl"
[run]
steps = 300
window = 64
overlap = 12
batch_pieces = 768
rate = 0.01
head_rate = 0.01
precision = "fp32"
threads = 1
evaluate_minutes = 0
"""


def model(**switches: bool) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(SMALL, Switches(exit_layer=0, **switches), 20, 3)


def test_each_word_gets_the_logits_of_every_tag() -> None:
    ids = torch.randint(4, 20, (2, 5, WIDTH))
    logits, early = model().eval()(ids, torch.zeros(2, 5, 64))
    assert logits.shape == (2, 5, 7)
    assert early is None


def test_the_lexicon_can_be_turned_off() -> None:
    ids, features = torch.randint(4, 20, (1, 4, WIDTH)), torch.zeros(1, 4, 64)
    listed = features.clone()
    listed[:, :, 35] = 1
    off, on = model(lexicon=False).eval(), model().eval()
    assert torch.equal(off(ids, features)[0], off(ids, listed)[0])
    assert not torch.equal(on(ids, features)[0], on(ids, listed)[0])


def test_in_training_some_words_are_seen_only_by_their_characters() -> None:
    ids = torch.randint(4, 20, (1, 40, WIDTH))
    student = model().train()
    student.drop.p = 0.0
    seen = {student.lower(ids, torch.zeros(1, 40, 64)).sum().item() for _ in range(4)}
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('languages = ["de"]\n', "need a model of words"),
        ("[words]\nhidden = 8\n", "give both words and vocabulary"),
        ('vocabulary = "w.txt"\n[words]\nhidden = 8\n', "no early exit"),
    ],
)
def test_a_configuration_that_cannot_be_trained_is_refused(tmp_path: Path, more: str, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(more + '[data]\nfiles = ["a"]\n[run]\nsteps = 1\n', encoding="utf-8")
    with pytest.raises(SettingError, match=message):
        read(path)


def test_a_trained_model_of_words_is_exported_and_finds_what_it_was_shown(setting: Path) -> None:
    pytest.importorskip("onnx", reason="needs the extra `train`: pip install 'incognote[train]'")
    from incognote_training.training.export import export

    folder = setting.parent
    texts = [json.loads(line)["text"] for line in (folder / "train.jsonl").read_text().splitlines()]
    known = sorted({word.lower() for text in texts for word in text.split() if word.isalpha() and word.islower()})
    (folder / "words.txt").write_text("\n".join(known), encoding="utf-8")
    (folder / "words.toml").write_text(CONFIG, encoding="utf-8")
    train(read(folder / "words.toml"), folder / "words-run")
    config, student = trained(folder / "words-run")
    told = export(config, student, folder / "bundle", folder / "dev.jsonl")
    assert told.fp32 < 1e-4
    assert told.parity["full"] > 0.9  # the LSTM is narrow, so a step of int8 is large
    assert sorted(each.name for each in (folder / "bundle").iterdir()) == [
        "MODEL_CARD.md", "bundle.json", "lower.onnx", "words.txt"
    ]  # fmt: skip
    detector = EncoderDetector(folder / "bundle")
    spans = detector.detect([Text("Patient: Ruth Hale\nMRN 4471902\nSeen on 3/14/2024 by Dr. Kovacs in Oslo.\n")])[0]
    assert {("PATIENT", "Ruth Hale"), ("MEDICAL_RECORD_NUMBER", "4471902"), ("DATE", "3/14/2024")} <= {
        (span.type, span.text) for span in spans
    }
    assert detector.name == "encoder"
    with pytest.raises(SettingError, match="no early exit"):
        EncoderDetector(folder / "bundle", fast=True)


def test_several_models_are_exported_as_one_with_the_mean_of_their_logits() -> None:
    one, other = model().eval(), Recurrent(SMALL, Switches(exit_layer=0), 20, 3).eval()
    both = Ensemble([one, other]).eval()
    ids, features = torch.randint(4, 20, (2, 5, WIDTH)), torch.zeros(2, 5, 64)
    made = both.upper(both.lower(ids, features), ids, features)
    assert torch.allclose(made, (one(ids, features)[0] + other(ids, features)[0]) / 2, atol=1e-6)
