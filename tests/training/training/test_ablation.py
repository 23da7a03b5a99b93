"""Ablations, learning curves, plots, and speed: the same budget for all, resumable, compared with the full model."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote.errors import SettingError, UsageError
from incognote_training.training import curves, state
from incognote_training.training.ablate import ablate, variants
from incognote_training.training.config import read
from incognote_training.training.loop import train
from incognote_training.training.sizes import by_size

STEPS = {"run.steps": 3}


def test_every_shipped_variant_is_a_configuration(setting: Path) -> None:
    made = variants()
    assert next(iter(made)) == "whole"
    assert len(made) > 15
    keys = {read(setting, changes).key for changes in made.values()}
    assert len(keys) == len(made)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(SettingError, match="without-crf"):
        variants(["without-wings"])


def test_variants_are_compared_with_the_whole_and_not_done_twice(setting: Path, tmp_path: Path) -> None:
    told: list[str] = []
    names = ["without-fusion", "without-crf"]
    rows = ablate(setting, tmp_path, names=names, seeds=(0, 1), budget=STEPS, watch=lambda s, x, f: told.append(s))
    assert [row.name for row in rows] == ["whole", "without-fusion", "without-crf"]
    assert rows[0].test is None
    assert all(row.steps == (3, 3) and len(row.recall) == 2 for row in rows)
    assert all(row.test and row.adjusted == min(1.0, 2 * row.test.p) for row in rows[1:])
    told.clear()
    assert (
        ablate(setting, tmp_path, names=names, seeds=(0, 1), budget=STEPS, watch=lambda s, x, f: told.append(s)) == rows
    )
    assert not told


def test_more_documents_make_a_point_each(setting: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `evaluation`: pip install 'incognote[evaluation]'")
    points = by_size(setting, tmp_path, [4, 8], budget=STEPS)
    assert [n for n, _, _ in points] == [4, 8]
    curves.of_sizes(points, tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError):
        curves.of_sizes([], tmp_path / "none.png")


def test_a_history_becomes_a_picture(setting: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `evaluation`: pip install 'incognote[evaluation]'")
    train(read(setting, {"run.steps": 11}), tmp_path / "run")
    curves.of_history(state.history(tmp_path / "run"), tmp_path / "history.png")
    assert (tmp_path / "history.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="history"):
        curves.of_history([], tmp_path / "none.png")
