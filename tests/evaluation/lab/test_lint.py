"""No prompt contains text from a test set, and no document is scored with a prompt that quotes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.experiments.plan import plan
from incognote.evaluation.experiments.seal import Seal
from incognote.evaluation.lab.lint import RUN, SeenDocuments, refuse_test

ROW = {"id": "a", "text": "The wound is dry.", "spans": []}


def written(path: Path, **more: object) -> Path:
    path.write_text(json.dumps(ROW | more) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", ["test.jsonl", "notes_test.jsonl", "heldout.jsonl", "held-out.jsonl", "SEALED-2.jsonl"]
)
def test_a_file_that_is_named_a_test_set_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="marked as a test set"):
        refuse_test(written(tmp_path / name))


@pytest.mark.parametrize("more", [{"split": "test"}, {"split": "heldout"}, {"sealed": True}])
def test_a_file_whose_lines_say_so_is_refused(tmp_path: Path, more: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="its lines say so"):
        refuse_test(written(tmp_path / "notes.jsonl", **more))


def test_a_file_with_a_log_of_openings_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "notes.jsonl")
    refuse_test(path)
    Seal(path).open("0", "gate", "Ada")
    with pytest.raises(UsageError, match="a log of its openings"):
        refuse_test(path)


def test_a_test_set_is_refused_by_another_name_too(tmp_path: Path) -> None:
    link = tmp_path / "dev.jsonl"
    link.symlink_to(written(tmp_path / "heldout.jsonl"))
    with pytest.raises(UsageError, match="marked as a test set"):
        refuse_test(link)


@pytest.mark.parametrize("name", ["dev.jsonl", "contest.jsonl", "latest.jsonl", "tested-protocols.jsonl"])
def test_other_files_are_not(tmp_path: Path, name: str) -> None:
    refuse_test(written(tmp_path / name, split="dev"))


WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta".split()), min_size=1, max_size=30)


@given(WORDS, WORDS)
def test_two_texts_leak_where_they_share_eight_words_running_or_a_short_one_stands_in_the_other(
    one: list[str], other: list[str]
) -> None:
    size = min(RUN, len(one))
    runs = [one[at : at + size] for at in range(len(one) - size + 1)]
    shared = any(run == other[at : at + size] for run in runs for at in range(len(other) - size + 1))
    assert SeenDocuments([" ".join(other)]).quoted(", ".join(one).upper()) == shared


def test_an_experiment_does_not_score_a_prompt_on_what_it_quotes(tmp_path: Path) -> None:
    corpus = tmp_path / "dev.jsonl"
    corpus.write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text('base = "extract/v2"\n[[examples]]\ntext = "the WOUND is dry"\n')
    (tmp_path / "spec.yaml").write_text(
        "name: x\ncorpora: [{name: dev, path: dev.jsonl, synthetic: true}]\nsystems: [{name: llm, detectors: [llm]}]\n"
        "models: [{name: openai/any, api_base: 'http://127.0.0.1:9/v1'}]\nprompts: [mine.toml]\n"
    )
    with pytest.raises(UsageError, match="Examples 1 of mine share 8 consecutive words"):
        plan(tmp_path / "spec.yaml")
