"""Copies of marked texts: other identifiers, the same words around them, and exact offsets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan
from incognote.text.characters import without_marks
from incognote_training.corpus import variants
from incognote_training.corpus.document import Document
from incognote_training.corpus.marked import unmarked

GERMAN = (
    "Frau ⟦PATIENT:Sabine Müller-Ott⟧, ⟦AGE:61 Jahre⟧, Tel. ⟦TELEPHONE_NUMBER:0761 4711-20⟧, aus ⟦CITY:Lahr⟧. "
    "Müller-Ott klagt über Schmerzen. ⟦CLINICIAN:von der Heide⟧"
)
ARABIC = "المريض ⟦PATIENT:محمد العتيبي⟧، ⟦AGE:45 سنة⟧، د. ⟦CLINICIAN:Ayman⟧"


def document(marks: str, code: str) -> Document:
    text, spans = unmarked(marks, "here")
    return Document(f"{code}-1", text, spans, code, "", "handwritten")


BOTH = [document(GERMAN, "de"), document(ARABIC, "ar")]


def between(one: Document) -> list[str]:
    """The words between the marks."""
    ends = [0, *(span.end for span in one.spans)]
    starts = [*(span.start for span in one.spans), len(one.text)]
    return [one.text[a:b] for a, b in zip(ends, starts, strict=True)]


@given(st.integers(0, 400))
def test_a_copy_has_the_same_types_in_the_same_order_and_exact_offsets(seed: int) -> None:
    vary = variants.Variants(BOTH, seed)
    for one in BOTH:
        copy = vary(one, 1)
        assert [span.type for span in copy.spans] == [span.type for span in one.spans]
        plain = [without_marks(words).lower() for words in between(one)]
        assert [without_marks(words).lower() for words in between(copy)] == plain
        assert all(copy.text[a:b].strip() == copy.text[a:b] != "" for a, b, _ in copy.spans)


def test_a_copy_has_other_names_and_digits_and_the_particles_stay() -> None:
    vary = variants.Variants(BOTH, 1)
    copies = [vary(BOTH[0], i) for i in range(40)]
    names = {copy.text[copy.spans[0].start : copy.spans[0].end] for copy in copies}
    phones = {copy.text[copy.spans[2].start : copy.spans[2].end] for copy in copies}
    assert len(names) > 20
    assert len(phones) > 20
    assert all("-" in name and "-" in phone for name in names for phone in phones)
    assert {copy.text[copy.spans[4].start :][:8].lower() for copy in copies} == {"von der "}


def test_names_in_latin_letters_stay_latin_in_an_arabic_text() -> None:
    vary = variants.Variants(BOTH, 1)
    copies = [vary(BOTH[1], i) for i in range(20)]
    assert all(copy.text[copy.spans[2].start : copy.spans[2].end].isascii() for copy in copies)
    assert all(not copy.text[copy.spans[0].start].isascii() for copy in copies)


def test_the_vocabulary_holds_no_name() -> None:
    words = variants.vocabulary([*BOTH, *(document(GERMAN, "de") for _ in range(3))])
    assert {"frau", "aus"} <= set(words)
    assert not {"sabine", "lahr", "heide"} & set(words)


def test_texts_for_calibration_are_not_trained_on() -> None:
    corpus = variants.handwritten(["fr"])
    assert len(corpus.training) > 200
    assert {one.lang for one in corpus.training} == {"fr"}
    assert not {one.id for one in corpus.training} & {one.id for one in corpus.development}
    with pytest.raises(UsageError, match="ar, de, es, fr"):
        variants.handwritten(["xx"])


def test_an_open_corpus_is_read_with_our_types(tmp_path: Path) -> None:
    path = tmp_path / "open.jsonl"
    spans = [
        {"start": 0, "end": 5, "type": "TERRITORIO"}, {"start": 6, "end": 12, "type": "TERRITORIO"},
        {"start": 7, "end": 12, "type": "PAIS"}, {"start": 13, "end": 14, "type": "SEXO_SUJETO_ASISTENCIA"},
    ]  # fmt: skip
    path.write_text(json.dumps({"id": "a", "text": "28016 Madrid H", "lang": "es", "spans": spans}) + "\n")
    (read,) = variants.open_corpus(path)
    assert read.spans == (LabeledSpan(0, 5, "ZIP"), LabeledSpan(6, 12, "CITY"))
    path.write_text("{}\n")
    with pytest.raises(UsageError, match=r"open\.jsonl cannot be read"):
        list(variants.open_corpus(path))
