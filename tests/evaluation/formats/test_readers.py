"""Files of every format (`data/`, invented people) are read to the exact spans, and mismatches are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.errors import UnknownName, UsageError
from incognote.evaluation.corpus import Pair, pairs
from incognote.evaluation.formats import annotated, detect_format, documents, formats
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold
from incognote.evaluation.formats.names import ours, theirs
from incognote.evaluation.formats.source import File, rows
from incognote.schemas.catalogue import catalogue

DATA = Path(__file__).parent / "data"
Words = list[tuple[str, str]]


def words(document: Gold) -> Words:
    return [(document.text[start:end], type_) for start, end, type_ in document.labels]


RUTH = [("Ruth Hale", "PATIENT"), ("42", "AGE")]
READ: list[tuple[str, str, dict[str, Words]]] = [
    ("own.jsonl", "incognote", {"n1": [("Ruth Hale", "PATIENT")], "2": []}),
    (
        "brat",
        "brat",
        {
            "n1": [*RUTH, ("Mill\nLane", "STREET"), ("Lund", "DOCTOR")],
            "ward/n2": [("Lund", "DOCTOR"), ("Ruth", "PATIENT")],
            "ward/n3": [],
        },
    ),
    (
        "i2b2-2014",
        "i2b2-2014",
        {"n1": [*RUTH, ("Mill\nLane", "STREET"), ("Lund", "DOCTOR")], "n2": [("Lund", "DOCTOR")]},
    ),
    ("meddocan", "meddocan", {"n1": [("Ana Peña", "NOMBRE_SUJETO_ASISTENCIA"), ("España", "PAIS")]}),
    ("i2b2-2006.xml", "i2b2-2006", {"7": [("Lund", "DOCTOR"), ("O'Hara", "DOCTOR")], "8": []}),
    ("notes.conll", "conll", {"1": [("Ruth Hale", "PATIENT"), ("Lund", "PATIENT"), ("Lund", "PATIENT")], "2": []}),
    ("bilou.conll", "conll", {"n1": RUTH}),
    ("neuroner.conll", "conll", {"1": [("Ruth  Hale", "PATIENT"), ("42", "AGE")]}),
    ("notes.spacy", "spacy", {"1": [("Ruth Hale", "PERSON"), ("42", "AGE")], "2": []}),
    ("inception", "inception", {"n1": [("Ruth Hale", "NAME_PATIENT"), ("Lund", "lastname"), ("42", "PHI")]}),
    ("tab.json", "tab", {"001-1": [("Ruth Hale", "PERSON"), ("Lund", "LOC")]}),
]


@pytest.mark.parametrize(("name", "form", "expected"), READ, ids=[name for name, _, _ in READ])
def test_a_fixture_is_told_by_a_look_and_read_to_its_exact_spans(
    name: str, form: str, expected: dict[str, Words]
) -> None:
    assert detect_format(DATA / name).name == form
    read = list(annotated(DATA / name, types="source"))
    assert {one.id: words(one) for one in read if isinstance(one, Gold)} == expected
    assert len(read) == len(expected)


def test_every_format_that_is_registered_has_a_fixture() -> None:
    ours_ = {name for name, form in formats().items() if not form.read.__module__.startswith("incognote_benchmarks.")}
    assert {form for _, form, _ in READ} == ours_


def test_types_go_by_our_names_where_the_catalogue_has_the_kind() -> None:
    (note,) = annotated(DATA / "meddocan")
    assert isinstance(note, Gold)
    assert [label.type for label in note.labels] == ["PATIENT", "COUNTRY"]
    assert ours("ADDRESS", "aws") == "LOCATION"
    assert ours("ADDRESS") == "ADDRESS"
    assert ours("Doctor", "azure") == ours("doctor") == "CLINICIAN"
    assert ours("SEXO_SUJETO_ASISTENCIA") == "SEXO_SUJETO_ASISTENCIA"
    assert theirs("CLINICIAN", "i2b2") == "DOCTOR"
    assert theirs("RACE", "i2b2") == theirs("RACE", "aws") == "RACE"
    with pytest.raises(UnknownName, match="naming scheme"):
        theirs("RACE", "nobody")


@pytest.mark.parametrize("scheme", ["i2b2", "presidio", "aws", "azure"])
def test_a_name_that_others_have_for_a_type_means_a_kind_of_ours(scheme: str) -> None:
    assert catalogue()
    for name in catalogue():
        assert ours(theirs(name, scheme), scheme) in catalogue(), name


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def wrong(folder: Path) -> Iterator[tuple[Path, str]]:
    """For each format, a document with a span whose words do not match the text, or that is outside it."""
    written(folder, "brat/n1.txt", "Ruth Hale")
    yield (
        written(folder, "brat/n1.ann", "T1\tPATIENT 1 5\tRuth\n").parent,
        "span 1 does not match the text at 1..5",
    )
    xml = '<deIdi2b2><TEXT>Ruth Hale</TEXT><TAGS><NAME start="0" end="4" text="Rose" TYPE="PATIENT"/></TAGS></deIdi2b2>'
    yield written(folder, "n.xml", xml), "span 1 does not match the text"
    cas = json.loads((DATA / "inception/n1.json").read_bytes())
    cas["%FEATURE_STRUCTURES"][0]["end"] = 11  # between the surrogates of an emoji
    yield written(folder, "cas.json", json.dumps(cas)), "span 1 of 0..11 does not fit"
    tab = json.loads((DATA / "tab.json").read_bytes())
    tab[0]["annotations"]["annotator2"]["entity_mentions"][1]["start_offset"] = 26
    yield written(folder, "tab.json", json.dumps(tab)), "span 2 does not match the text at 26..31"
    yield written(folder, "n.conll", "Ruth\tX-PATIENT\n"), "token 1 has no BIO"


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
        ("n.xml", b"<deIdi2b2><TEXT>Ruth", "not well-formed XML"),
        ("n.xml", b'<!DOCTYPE d [<!ENTITY a "aa">]><deIdi2b2><TEXT>&a;</TEXT><TAGS/></deIdi2b2>', "document type"),
        ("n.xml", b'<!DOCTYPE d [<!ENTITY a "aa">]><ROOT><RECORD><TEXT>&a;</TEXT></RECORD></ROOT>', "document type"),
        ("n.xml", b"<deIdi2b2><TAGS/></deIdi2b2>", "no TEXT"),
        ("n.xml", b"<deIdi2b2><TEXT>Ruth</TEXT></deIdi2b2>", "no gold"),
        ("n.xml", b'<ROOT><RECORD ID="1"><TEXT>Ruth', "not well-formed XML; the rest was not read"),
        ("n.xml", b'<ROOT><RECORD ID="1"><TEXT><PHI>Ruth</PHI></TEXT></RECORD></ROOT>', "span 1 needs a type"),
        ("n.spacy", b"no bin", "not a spaCy DocBin"),
        ("n.ann", b"T1\tPATIENT here\tRuth\n", "line 1 of its .ann needs"),
        ("n.conll", b"Ruth\tB-PATIENT\n\xff\tO\n", "not UTF-8"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_problem(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    path = written(tmp_path, name, content)
    if name.endswith(".ann"):
        written(tmp_path, "n.txt", "Ruth")
    problems = [one for one in annotated(path) if isinstance(one, CorpusProblem)]
    assert problems
    assert what in problems[-1].what


def test_line_ends_that_were_counted_are_kept_where_the_words_say_so(tmp_path: Path) -> None:
    lf = written(tmp_path, "lf/n.ann", "T1\tPATIENT 10 14\tRuth\n").parent  # counted as one character, written as two
    written(tmp_path, "lf/n.txt", "Dr. Lund\r\n\r\nRuth\r\n")
    (note,) = annotated(lf)
    assert isinstance(note, Gold)
    assert (note.text, words(note)) == ("Dr. Lund\n\nRuth\n", [("Ruth", "PATIENT")])
    tag = '<NAME start="6" end="10" text="Ruth" TYPE="PATIENT"/>'
    xml = f"<deIdi2b2><TEXT><![CDATA[Lund\r\nRuth]]></TEXT><TAGS>{tag}</TAGS></deIdi2b2>"
    (note,) = annotated(written(tmp_path, "n.xml", xml))
    assert isinstance(note, Gold)
    assert (note.text, words(note)) == ("Lund\r\nRuth", [("Ruth", "PATIENT")])


def test_pieces_of_a_span_that_more_than_a_line_end_parts_stay_apart(tmp_path: Path) -> None:
    written(tmp_path, "n.txt", "Ruth and Ann Hale")
    path = written(tmp_path, "n.ann", "T1\tPATIENT 0 4;13 17\tRuth Hale\n")
    (note,) = annotated(path)
    assert isinstance(note, Gold)
    assert words(note) == [("Ruth", "PATIENT"), ("Hale", "PATIENT")]


def test_predictions_may_differ_from_the_golds_text_in_white_space_only(tmp_path: Path) -> None:
    gold = written(tmp_path, "gold.jsonl", '{"id": "n1", "text": "Ruth\\tHale,  42", "spans": []}\n')
    (pair,) = pairs(
        gold, written(tmp_path, "a.conll", "-DOCSTART-\tn1\tO\nRuth\tB-PATIENT\nHale\tI-PATIENT\n,\tO\n42\tB-AGE\n")
    )
    assert isinstance(pair, Pair)
    assert [tuple(label) for label in pair.found] == [(0, 9, "PATIENT"), (12, 14, "AGE")]
    problem, _ = pairs(gold, written(tmp_path, "b.conll", "-DOCSTART-\tn1\tO\nRut\tB-PATIENT\n"))
    assert isinstance(problem, CorpusProblem)
    assert "differs from the gold text" in problem.what


@pytest.mark.parametrize("name", ["notes.txt", "notes.xml", "notes.json", "folder/notes.pdf"])
def test_an_unknown_format_is_an_error_that_lists_the_known(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, "<html/>" if name.endswith("xml") else '"Ruth"')
    with pytest.raises(UsageError, match="The format of"):
        list(annotated(path if path.parent == tmp_path else path.parent))
    with pytest.raises(UnknownName, match=r"no format named 'wrod'\. Choose one of: aws, brat"):
        documents(path, "wrod")
    with pytest.raises(UsageError, match="absent"):
        documents(tmp_path / "absent", "brat")


def test_a_format_of_another_package_is_an_error_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "n.json", '{"Entities": []}')
    assert detect_format(path).name == "aws"
    monkeypatch.setattr("incognote.evaluation.formats.installed", lambda group: {})
    formats.cache_clear()
    try:
        with pytest.raises(UsageError, match="'aws' needs the package incognote-benchmarks"):
            documents(path, "aws")
        with pytest.raises(UsageError, match="to read results of other systems, install incognote-benchmarks"):
            detect_format(path)
    finally:
        formats.cache_clear()


def test_a_long_list_is_read_item_by_item(tmp_path: Path) -> None:
    items = [{"doc_id": str(n), "text": "ä" * (n * 999), "annotations": {}} for n in range(100)]
    for text in (json.dumps(items), json.dumps(items, ensure_ascii=False, indent=3)):
        path = written(tmp_path, "long.json", text)
        assert [value for _, value in rows(File(path, "long"))] == items
        assert [one.id for one in documents(path)[1] if isinstance(one, CorpusDocument)] == [str(n) for n in range(100)]


def test_no_repr_shows_words() -> None:
    reprs = [repr(document) for name, _, _ in READ for document in documents(DATA / name)[1]]
    assert len(reprs) > len(READ)
    assert "Ruth" not in "".join(reprs)
