"""The speed report covers both our graphs and plain ones. No test checks speed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")
pytest.importorskip("onnx", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote_training.student.shape import Sizes
from incognote_training.training import speed


def test_the_graphs_run_beside_plain_ones_of_the_same_exporter() -> None:
    sizes = Sizes(hidden=24, heads=2, layers=1, intermediate=32)
    told = speed.beside_plain(["Seen by Dr. Ottoline Vandersloot on 03/14/2024."], sizes=sizes, rounds=1)
    assert told["share"] == told["ours"] / told["plain"] < 1
    assert told["fast"] > 0


def test_the_stages_of_reading_are_told() -> None:
    told = speed.reading(["Seen by Dr. Ottoline Vandersloot.", "No pain."])
    assert told["words"] == 7
    assert told["pieces"] > 11
    assert min(told["pieces_making"], told["session"], told["decoding"]) > 0
