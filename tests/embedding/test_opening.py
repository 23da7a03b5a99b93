"""Opening by name: available models, missing models, and no downloads."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from incognote.embedding import open_embedder
from incognote.embedding.base import by_tokens
from incognote.errors import MissingExtra, UnknownName


@pytest.mark.parametrize("name", ["", "no-such", "sentence-transformers:"])
def test_a_name_that_nobody_bears_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownName, match="embedded, sentence-transformers:MODEL"):
        open_embedder(name)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("incognote.embedding.vendors.sentence_transformers_sdk")
    monkeypatch.setattr(module, "find_spec", lambda asked: None)
    with pytest.raises(MissingExtra) as raised:
        open_embedder("sentence-transformers:x")
    assert raised.value.extra == "train"


def test_opening_loads_no_model_and_importing_nothing_heavy() -> None:
    code = (
        "import sys, incognote.embedding as door; heavy = ('onnxruntime', 'tokenizers', 'torch')\n"
        "try:\n    door.open_embedder()\nexcept Exception as error:\n    print(type(error).__name__)\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_model_that_is_not_on_this_machine_is_not_fetched(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra `train`: pip install 'incognote[train]'")
    with pytest.raises(UnknownName, match="on this machine"):
        open_embedder("sentence-transformers:sentence-transformers/none-such").embed(["a"])  # the network is blocked


def test_batches_hold_every_row_once_and_no_more_tokens_than_they_may() -> None:
    lengths = [5, 1, 9, 300, 2, 2, 7]
    batches = list(by_tokens(lengths, 20))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= 20 for b in batches)
