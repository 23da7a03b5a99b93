"""An experiment's YAML file: valid keys, invalid keys, and the cells it defines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import SettingError, UnknownName, UsageError
from incognote.evaluation.experiments.cell import cells
from incognote.evaluation.experiments.spec import load

Write = Callable[..., Path]
MODELS = [{"name": "openai/tiny"}, {"name": "openai/large"}]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"corpra": []}, "corpra: unknown key"),
        ({"corpora": [{"name": "n", "path": "p", "synthetic": True, "splt": "dev"}]}, "corpora.0.splt: unknown key"),
        (
            {"systems": [{"name": "x", "detectors": ["rules"], "settings": {"paases": 2}}]},
            "systems.0: settings has no paases",
        ),
        ({"passes": [1, 1]}, "passes: an entry is repeated"),
        ({"passes": [9]}, "passes.0: use need, or a number from 1 to 8"),
        ({"models": []}, "models: the detector llm needs a model"),
        ({"corpora": []}, "corpora: "),
    ],
)
def test_what_is_amiss_is_named_and_nothing_else(written: Write, other: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError) as caught:
        load(written(**other))
    told = str(caught.value).removeprefix("The experiment is malformed: ")
    assert told.startswith(said)
    assert len(told.split("; ")) == 1 + ("it takes" in told)


def test_what_is_no_yaml_is_told_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("name: x\ncorpora: [\n", encoding="utf-8")
    with pytest.raises(SettingError, match="not valid YAML near line 3"):
        load(path)


def test_the_hash_is_of_what_is_said_not_of_how(written: Write) -> None:
    path = written()
    first = load(path).hash
    path.write_text("# a remark\n" + path.read_text(), encoding="utf-8")
    assert load(path).hash == first
    assert load(written(passes=[2])).hash != first


def test_every_combination_is_a_cell_and_a_system_without_a_model_is_one(written: Write, tmp_path: Path) -> None:
    systems = [{"name": "rules", "detectors": ["rules"]}, {"name": "both", "detectors": ["rules", "llm"]}]
    path = written(systems=systems, models=MODELS, passes=[1, 2], votes=[1, 3], seeds=[0, 1])
    made = cells(load(path), tmp_path)
    assert len(made) == 1 + 2 * 2 * 2 * 2
    assert len({cell.key for cell in made}) == len({cell.label for cell in made}) == len(made)


def test_a_key_follows_what_decides_and_not_what_does_not(written: Write, notes: Path, tmp_path: Path) -> None:
    def key(**other: Any) -> str:
        (cell,) = cells(load(written(**other)), tmp_path)
        return cell.key

    def system(**settings: Any) -> list[dict[str, Any]]:
        return [{"name": "model", "detectors": ["llm"], "settings": settings}]

    first = key()
    assert key(name="another", jobs=4, budget_tokens=10) == first
    assert key(systems=system(model_slots=3)) == first
    assert key(models=[{"name": "openai/tiny", "api_base": "http://127.0.0.1:9/v1"}]) == first
    others = [key(systems=system(temperature=0.5)), key(prompts=["extract/v1"]), key(chunk_words=[64]), key(seeds=[1])]
    notes.write_text(notes.read_text().replace("fever", "cough"), encoding="utf-8")
    others.append(key())
    assert len({first, *others}) == 6


def test_the_environment_is_in_the_key_too(written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load(written())
    (first,) = cells(spec, tmp_path)
    monkeypatch.setenv("INCOGNOTE_TEMPERATURE", "0.9")
    (second,) = cells(spec, tmp_path)
    assert first.key != second.key


def test_a_table_that_overrules_the_experiment_is_refused(
    written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCOGNOTE_MODELS", '{"openai/tiny": {"passes": 4}}')
    with pytest.raises(SettingError, match="contradict the experiment: passes"):
        cells(load(written()), tmp_path)


def test_what_does_not_exist_is_told_before_anything_is_asked(written: Write, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="prompt"):
        cells(load(written(prompts=["extract/v99"])), tmp_path)
    with pytest.raises(UsageError, match=r"gone\.jsonl cannot be read"):
        cells(load(written(corpora=[{"name": "n", "path": "gone.jsonl", "synthetic": True}])), tmp_path)
