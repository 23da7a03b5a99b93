"""A tiny vocabulary on disk."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

WORDS = ("patient", "seen", "by", "dr", "hale", "in", "oslo", "met")


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A `tokenizer.json` with single characters and a few words, and with truncation and padding enabled."""
    signs = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *signs, *(f"##{c}" for c in string.ascii_lowercase), *WORDS]
    told = {
        "version": "1.0", "added_tokens": [], "post_processor": None, "decoder": None,
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {name: i for i, name in enumerate(names)}},
    }  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path
