"""A two-layer base with random weights and a vocabulary of a hundred pieces, and some invented notes."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = (
    "patient mrn seen on by dr in started mg with and the of son phone lives at retired nurse clinic hospital "
    "ruth hale anna kovacs okafor li wei maya patel oslo leeds akron year old"
).split()
NAMES = ("Ruth Hale", "Anna Kovacs", "Li Wei", "Maya Patel", "N. Okafor")
CITIES = ("Oslo", "Leeds", "Akron")


def vocabulary() -> list[str]:
    signs = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *signs, *(f"##{c}" for c in string.ascii_lowercase), *WORDS]


def write_base(folder: Path) -> Path:
    """Write a folder for `base` without weights, which are then initialized at random."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = {name: i for i, name in enumerate(vocabulary())}
    told = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": pieces},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def note(number: int) -> dict[str, Any]:
    random = np.random.default_rng(number)
    name, city = random.choice(NAMES), random.choice(CITIES)
    mrn, day = random.integers(10**6, 10**8), f"{random.integers(1, 13)}/{random.integers(1, 29)}/2024"
    parts = [
        ("Patient: ", ""), (name, "PATIENT"), ("\nMRN ", ""), (str(mrn), "MEDICAL_RECORD_NUMBER"), ("\nSeen on ", ""),
        (day, "DATE"), (" by Dr. ", ""), (random.choice(NAMES).split()[-1], "CLINICIAN"), (" in ", ""), (city, "CITY"),
        (". Started metoprolol 40 mg, BP 120/80; lives with the son.\n", ""),
    ]  # fmt: skip
    text, spans = "", []
    for words, kind in parts * (1 + number % 3):
        if kind:
            spans.append({"start": len(text), "end": len(text) + len(words), "type": kind})
        text += words
    return {"id": f"made-{number}", "text": text, "spans": spans}


def write_notes(path: Path, numbers: range) -> Path:
    path.write_text("".join(json.dumps(note(n)) + "\n" for n in numbers), encoding="utf-8")
    return path


CONFIG = """
base = "base"
[sizes]
vocabulary = {vocabulary}
hidden = 32
layers = 2
heads = 4
intermediate = 64
positions = 96
[switches]
exit_layer = 1
[data]
files = ["train.jsonl"]
development = "dev.jsonl"
[run]
steps = {steps}
window = 64
overlap = 12
batch_pieces = 768
rate = 0.004
head_rate = 0.01
precision = "fp32"
threads = 1
evaluate_minutes = 0
"""


def write_setting(folder: Path, steps: int) -> Path:
    """Write a base, notes, and a configuration. Return the path of the configuration."""
    write_base(folder / "base")
    write_notes(folder / "train.jsonl", range(24))
    write_notes(folder / "dev.jsonl", range(100, 108))
    path = folder / "config.toml"
    path.write_text(CONFIG.format(vocabulary=len(vocabulary()), steps=steps), encoding="utf-8")
    return path


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    """The configuration of an eight-step run."""
    return write_setting(tmp_path, 8)


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A student's bundle after some hundred training steps, and the output of its export."""
    pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")
    pytest.importorskip("onnx", reason="needs the extra `train`: pip install 'incognote[train]'")
    from incognote_training.training import state
    from incognote_training.training.config import read
    from incognote_training.training.export import export
    from incognote_training.training.loop import train

    folder = tmp_path_factory.mktemp("student")
    config = read(write_setting(folder, 140))
    train(config, folder / "run")
    from incognote_training.training.loop import trained

    config, student = trained(folder / "run")
    history = state.history(folder / "run")
    return folder / "bundle", export(config, student, folder / "bundle", folder / "dev.jsonl", history=history)
