"""Weights that are missing or do not fit are an error with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.detectors.encoder import EncoderDetector
from incognote.detectors.encoder.bundle import FORMAT, POINTS, Exit, load
from incognote.detectors.encoder.labels import allowed, classes
from incognote.errors import SettingError

N = len(classes())


WAY = Exit(np.where(allowed(N), 0.5, -np.inf), np.ones(N, np.float32), dict.fromkeys(POINTS, 0.0)).as_json()


def told(**changes: Any) -> dict[str, Any]:
    return {
        "format": FORMAT, "classes": classes(), "window": 64, "overlap": 8, "medical": True, "exits": {"full": WAY},
        **changes,
    }  # fmt: skip


def written(folder: Path, content: str) -> Path:
    (folder / "bundle.json").write_text(content)
    for name in ("lower.onnx", "tokenizer.json"):
        (folder / name).write_text("x")
    return folder


def test_a_bundle_is_read_back(tmp_path: Path) -> None:
    bundle = load(written(tmp_path, json.dumps(told())))
    assert (bundle.window, bundle.overlap, bundle.medical, list(bundle.exits)) == (64, 8, True, ["full"])
    transitions = bundle.exits["full"].transitions
    assert np.isfinite(transitions).tolist() == allowed(N).tolist()


def test_windows_leave_early_only_where_the_bundle_says_when_and_has_an_early_exit(tmp_path: Path) -> None:
    both = {"full": WAY, "fast": WAY}
    assert load(written(tmp_path, json.dumps(told(leave=-2.5, exits=both)))).leave == -2.5
    assert load(written(tmp_path, json.dumps(told(exits=both)))).leave is None
    assert load(written(tmp_path, json.dumps(told(leave=-2.5)))).leave is None


def test_no_weights_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="incognote distill export"):
        EncoderDetector(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("{", "malformed"),
        ("[]", "malformed"),
        (json.dumps(told(format=99)), "another format"),
        (json.dumps(told(classes=["DOG"])), "other classes"),
        (json.dumps(told(overlap=64)), "smaller than the window"),
        (json.dumps(told(exits={"full": WAY, "fast": WAY}, leave="soon")), "malformed"),
        (json.dumps(told(exits={"full": {"transitions": [[0]], "temperatures": [1], "biases": {}}})), "malformed"),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(tmp_path: Path, content: str, remedy: str) -> None:
    with pytest.raises(SettingError, match=remedy):
        load(written(tmp_path, content))


def test_a_bundle_without_its_graph_is_refused(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(told()))
    (tmp_path / "lower.onnx").unlink()
    with pytest.raises(SettingError, match=r"lower\.onnx"):
        load(tmp_path)


def test_an_unknown_operating_point_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="recall, balanced, precision"):
        EncoderDetector(written(tmp_path, json.dumps(told())), point="wild")  # type: ignore[arg-type] # on purpose
