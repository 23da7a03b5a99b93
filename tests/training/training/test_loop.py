"""Training: resumable, deterministic, and refused when it cannot be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote.errors import UsageError  # noqa: E402 -- as below
from incognote_training.training import state  # noqa: E402 -- torch first: these import it
from incognote_training.training.config import read  # noqa: E402 -- as above
from incognote_training.training.loop import rate, train, trained  # noqa: E402 -- as above


class Killed(BaseException):
    """Simulates a kill: nothing catches it."""


def weights(student: Any) -> dict[str, Any]:
    return {name: value.clone() for name, value in student.state_dict().items()}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(torch.allclose(one[name], other[name], atol=1e-6) for name in one)


def test_a_killed_run_ends_as_an_unbroken_one(setting: Path, tmp_path: Path) -> None:
    config = read(setting, {"run.save_steps": 2, "augment.pieces": 0.3})
    whole = weights(train(config, tmp_path / "whole").student)

    def killing(stage: str, share: float, figures: dict[str, float]) -> None:
        if figures.get("step") == 5:
            raise Killed

    with pytest.raises(Killed):
        train(config, tmp_path / "broken", watch=killing)
    assert state.restore(tmp_path / "broken")[0].step == 4
    made = train(config, tmp_path / "broken")
    assert made.steps == 8
    assert same(weights(made.student), whole)


def test_a_finished_run_is_not_trained_further(setting: Path, tmp_path: Path) -> None:
    config = read(setting)
    first = weights(train(config, tmp_path / "run").student)
    assert same(weights(train(config, tmp_path / "run").student), first)
    assert same(weights(trained(tmp_path / "run")[1]), first)


def test_the_seed_decides(setting: Path, tmp_path: Path) -> None:
    one, other = (
        weights(train(read(setting, {"run.seed": seed, "run.steps": 2}), tmp_path / str(seed)).student)
        for seed in (0, 1)
    )
    assert not same(one, other)


def test_another_configuration_may_not_go_on(setting: Path, tmp_path: Path) -> None:
    train(read(setting, {"run.steps": 1}), tmp_path / "run")
    with pytest.raises(UsageError, match="another configuration"):
        train(read(setting, {"run.steps": 2}), tmp_path / "run")


def test_a_budget_in_minutes_ends_the_run(setting: Path, tmp_path: Path) -> None:
    made = train(read(setting, {"run.steps": None, "run.minutes": 0.005}), tmp_path / "run")
    assert made.steps >= 1
    assert made.seconds >= 0.3


def test_the_history_holds_each_score_once(setting: Path, tmp_path: Path) -> None:
    config = read(setting)
    train(config, tmp_path / "run")
    train(config, tmp_path / "run")
    scores = [row for row in state.history(tmp_path / "run") if row["kind"] == "score"]
    assert len(scores) == 1
    assert set(scores[0]) >= {"recall", "precision", "fast_recall", "fast_precision"}


def test_the_rate_rises_in_a_line_and_falls_in_a_line() -> None:
    assert rate(0.05, 0.1) == 0.5
    assert rate(0.1, 0.1) == 1.0
    assert rate(0.55, 0.1) == pytest.approx(0.5)
    assert rate(1.0, 0.1) == 0.0


@pytest.mark.parametrize(
    "changes",
    [
        {"switches.shape": False, "switches.lexicon": False},
        {"switches.specialised": False},
        {"switches.fusion": False},
        {"switches.medical": False},
        {"switches.crf": False},
        {"switches.exit_layer": 0},
        {"losses.gamma": 0.0, "losses.soft": False},
        {"losses.preservation": 0.1, "losses.consistency": 0.5, "losses.anneal": True},
    ],
    ids=lambda changes: "+".join(changes),
)
def test_every_switch_trains(setting: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    made = train(read(setting, {**changes, "run.steps": 2, "data.development": None}), tmp_path / "run")
    assert made.steps == 2
    assert all(torch.isfinite(value).all() for value in made.student.state_dict().values())
