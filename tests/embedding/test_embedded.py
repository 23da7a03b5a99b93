"""The bundled model: complete, small, unchanged, and as good as its card claims."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from incognote.embedding.vendors.embedded import EmbeddedEmbedder, content_hash
from incognote.errors import IncognoteError
from incognote.languages import language

MODEL = language().file("embedder")


def test_its_files_are_those_of_its_card_and_weigh_six_megabytes_at_most() -> None:
    model, words = (MODEL.joinpath(name).read_bytes() for name in ("model.onnx", "tokenizer.json"))
    card = json.loads(MODEL.joinpath("model.json").read_text(encoding="utf-8"))
    assert content_hash(model, words) == card["version"] == EmbeddedEmbedder().version
    assert len(model) + len(words) <= 6_000_000


def test_a_changed_model_is_noticed(tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json", "model.json"):
        shutil.copy(str(MODEL.joinpath(name)), tmp_path / name)
    data = bytearray((tmp_path / "model.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(data)
    with pytest.raises(IncognoteError, match="do not match its card"):
        EmbeddedEmbedder(tmp_path).embed(["a"])


def test_windows_make_no_difference() -> None:
    """The average is a sum of sums, so it reassembles a text that a window splits."""
    text = "Fracture of the left femur. " * 400
    embedder = EmbeddedEmbedder()
    narrow = EmbeddedEmbedder()
    narrow._card["window"] = 7
    assert np.allclose(embedder.embed([text]), narrow.embed([text]), atol=1e-4)


@pytest.mark.parametrize(
    ("canonical", "variant", "strangers"),
    [
        ("Johannes Lindqvist", "Dr. Lindqvist", ["Marta Ferreira", "Dr. Okafor", "Linda Quist"]),
        ("St. Mary's Hospital", "the Mary hospital", ["Linden Falls Police Department", "St. Mark's Church"]),
        ("12 Linden Street, Leeds LS1 4AB", "12 Linden Street", ["90 Harbour Road, Oslo 0150", "Leeds"]),
        ("myocardial infarction", "heart attack", ["ankle sprain", "Monday morning"]),
    ],
)
def test_a_variant_is_nearest_to_what_it_stands_for(canonical: str, variant: str, strangers: list[str]) -> None:
    asked, own, *others = EmbeddedEmbedder().embed([variant, canonical, *strangers])
    assert all(asked @ own > asked @ other for other in others)
