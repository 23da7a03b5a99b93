"""Result files of other systems (`data/`, invented people) yield exact spans; spans that do not fit are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.corpus import Pair, pairs
from incognote.evaluation.formats import annotated, detect_format, documents, formats
from incognote.evaluation.formats.document import CorpusProblem, Gold

DATA = Path(__file__).parent / "data"
Words = list[tuple[str, str]]


def words(document: Gold) -> Words:
    return [(document.text[start:end], type_) for start, end, type_ in document.labels]


RUTH = [("Ruth Hale", "PATIENT"), ("42", "AGE")]
READ: list[tuple[str, str, dict[str, Words]]] = [
    ("obi.jsonl", "obi", {"n1": RUTH, "n2": [("Lund", "STAFF")]}),
    ("katherlab.jsonl", "katherlab", {"n1": [("Öz", "PERSON_NAME"), ("0301", "PHONE")], "2": [("Lund", "lastname")]}),
    ("samples.json", "presidio-research", {"1": [("Ruth Hale", "PERSON")], "2": [("555-0199", "PHONE_NUMBER")]}),
    ("presidio.jsonl", "presidio", {"n1": [("Ruth Hale", "PERSON")], "n2": []}),
    ("johnsnow", "johnsnow", {"n1": [("Ruth Hale", "PATIENT"), ("Lund", "DOCTOR")]}),
    ("johnsnow.json", "johnsnow", {"1": [("Ruth Hale", "NAME"), ("42", "AGE")], "2": [("Lund", "DOCTOR")]}),
]


@pytest.mark.parametrize(("name", "form", "expected"), READ, ids=[name for name, _, _ in READ])
def test_a_fixture_is_told_by_a_look_and_read_to_its_exact_spans(
    name: str, form: str, expected: dict[str, Words]
) -> None:
    assert detect_format(DATA / name).name == form
    read = list(annotated(DATA / name, types="source"))
    assert {one.id: words(one) for one in read if isinstance(one, Gold)} == expected
    assert len(read) == len(expected)


ANSWERS = [
    ("presidio", {"n1": [(0, 9, "PERSON"), (11, 13, "ETHNICITY")], "n2": []}),
    ("aws", {"n1": [(0, 9, "PERSON"), (11, 13, "AGE")], "n2": []}),
]


@pytest.mark.parametrize(("name", "expected"), ANSWERS)
def test_answers_without_a_text_are_held_against_the_golds(
    tmp_path: Path, name: str, expected: dict[str, list[Any]]
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "".join(json.dumps({"id": i, "text": "Ruth Hale, 42, fever", "spans": []}) + "\n" for i in expected)
    )
    seen = list(pairs(gold, DATA / name))
    assert {one.id: [tuple(label) for label in one.found] for one in seen if isinstance(one, Pair)} == expected
    assert len(seen) == len(expected)
    (first, *_) = annotated(DATA / name)
    assert isinstance(first, CorpusProblem)
    assert first.what == "no text"


def test_every_format_of_this_package_has_a_fixture() -> None:
    own = {name for name, form in formats().items() if form.read.__module__.startswith("incognote_benchmarks.")}
    assert {form for _, form, _ in READ} | {name for name, _ in ANSWERS} == own


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def wrong(folder: Path) -> Iterator[tuple[Path, str]]:
    """For each format, yield a document with a span whose words differ from the text or that lies outside the text."""
    yield (
        written(folder, "katherlab.jsonl", '{"document_id":"n1","text":"Ruth","entities":'
        '[{"start":0,"end":3,"entity_type":"X","text":"Ruth"},{"start":0,"end":9,"entity_type":"X"}]}\n'),
        "span 1 does not match the text at 0..3; 2 of 2 spans do not fit",
    )  # fmt: skip
    yield (
        written(
            folder, "obi.jsonl", '{"text":"Ruth","meta":{"note_id":"n1"},"spans":[{"start":0,"end":9,"label":"X"}]}'
        ),
        ("span 1 of 0..9 does not fit a text of 4 characters"),
    )
    yield written(folder, "s.json", '[{"full_text":"Ruth","spans":[{"entity_type":"X","entity_value":"Rut",'
                  '"start_position":0,"end_position":4}]}]'), "span 1 does not match the text"  # fmt: skip
    jsl = json.loads((DATA / "johnsnow/n1.json").read_bytes())
    jsl["ner_chunk"][1]["begin"] = 16  # an offset in code points
    yield written(folder, "jsl.json", json.dumps(jsl)), "span 2 does not match the text at 16..21"
    yield written(folder, "presidio.jsonl", '{"id":"n1","text":"Ruth","analyzer_results":[{"entity_type":"X","start":9,'
                  '"end":12,"score":1}]}'), "span 1 of 9..12 does not fit"  # fmt: skip


def test_a_span_that_does_not_fit_is_told_without_its_words_and_takes_its_document_out(tmp_path: Path) -> None:
    cases = list(wrong(tmp_path))
    assert len(cases) == 5
    for path, what in cases:
        (problem,) = annotated(path)
        assert isinstance(problem, CorpusProblem), path.name
        assert what in problem.what, path.name
        assert not any(name in problem.what for name in ("Ruth", "Rose", "Hale", "Lund")), path.name


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("n.json", b'[{"full_text": "Ruth"}]', "no gold"),
        ("n.json", b'[{"full_text": "Ruth", "spans": []}, {"full', "the rest was not read"),
    ],
)
def test_what_cannot_be_read_is_a_problem(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    path = written(tmp_path, name, content)
    problems = [one for one in annotated(path) if isinstance(one, CorpusProblem)]
    assert problems
    assert what in problems[-1].what


def test_predictions_without_ids_find_their_gold_by_its_text(tmp_path: Path) -> None:
    lines = [{"id": name, "text": text, "spans": []} for name, text in (("b", "Dr. Lund"), ("a", "Ruth Hale, 42"))]
    gold = written(tmp_path, "gold.jsonl", "".join(json.dumps(one) + "\n" for one in lines))
    seen = list(pairs(gold, DATA / "johnsnow.json"))
    assert {one.id: [label.type for label in one.found] for one in seen if isinstance(one, Pair)} == {
        "b": ["CLINICIAN"], "a": ["PERSON", "AGE"],
    }  # fmt: skip
    assert len(seen) == 2


def test_no_repr_shows_words() -> None:
    reprs = [repr(document) for name, _, _ in READ for document in documents(DATA / name)[1]]
    assert len(reprs) > len(READ)
    assert "Ruth" not in "".join(reprs)
