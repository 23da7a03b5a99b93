"""Spans, results, and verdicts keep their invariants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import NotReleased, Reason, Replacement, Result, Span, Text, UsageError, Verdict
from incognote.errors import ImpossibleSpan
from incognote.nouns import DerivedKind, patient_scope, subject_form

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)  # includes lone surrogates, NUL, and combining marks


@given(ANY_TEXT, st.integers(-5, 50), st.integers(-5, 50))
def test_a_span_exists_only_where_its_words_stand(content: str, start: int, end: int) -> None:
    text = Text(content)
    if 0 <= start < end <= len(content):
        assert Span(text, start, end, "PERSON").text == content[start:end]
    else:
        with pytest.raises(ImpossibleSpan):
            Span(text, start, end, "PERSON")


def test_a_claimed_span_with_other_words_is_refused() -> None:
    text = Text("Seen by Jane Doe")
    assert Span.claimed(text, 8, 16, "PERSON", "Jane Doe").text == "Jane Doe"
    with pytest.raises(ImpossibleSpan) as caught:
        Span.claimed(text, 8, 16, "PERSON", "John Doe")
    assert "Doe" not in str(caught.value)


@pytest.mark.parametrize("bad", ["person", "", "PERSON NAME", "1ST"])
def test_a_type_is_written_in_capitals(bad: str) -> None:
    with pytest.raises(ImpossibleSpan):
        Span(Text("abc"), 0, 1, bad)


def test_no_note_text_shows_in_a_repr() -> None:
    text = Text("Jane Doe", "note")
    span = Span(text, 0, 4, "PERSON", 0.9, ("rules:names",))
    replacement = Replacement(span, "label", "Jane", 0, 4)
    result = Result("Jane-1", Verdict("release"), {}, (replacement,), _output="Jane")
    for noun in (text, span, replacement, result):
        assert "Jane" not in repr(noun)
        assert "Jane" not in str(noun)


def test_text_is_handed_out_only_after_release() -> None:
    held = Result("1", Verdict("review", (Reason("doubtful", "note", "PERSON"),)), {}, _output="text")
    with pytest.raises(NotReleased, match="doubtful at note: PERSON"):
        _ = held.text
    assert held.output(even_if_unreleased=True) == "text"
    assert str(Reason("schema-violation", "id", "id: no; sex: no")) == "schema-violation at id: no; sex: no"
    assert Result("1", Verdict("release"), {}, _output="text").text == "text"


def test_nothing_is_handed_out_where_nothing_was_made() -> None:
    with pytest.raises(NotReleased):
        Result("1", Verdict("quarantine"), {}).output(even_if_unreleased=True)


class _Pages:
    """Pages that show one word."""

    kinds: tuple[DerivedKind, ...] = ("text", "hocr", "pdf")

    def derived(self, kind: DerivedKind, output: bytes) -> str | bytes:
        return output if kind == "pdf" else f"{kind}: stable"


def test_what_is_derived_is_handed_out_only_after_release() -> None:
    held = Result("1", Verdict("review", (Reason("doubtful"),)), {}, _output=b"pixels", _pages=_Pages())
    with pytest.raises(NotReleased, match="doubtful"):
        held.derived("text")
    released = Result("1", Verdict("release"), {}, _output=b"pixels", _pages=_Pages())
    assert (released.derived("text"), released.derived("hocr")) == ("text: stable", "hocr: stable")
    assert released.derived("pdf") == b"pixels"


def test_only_pages_have_something_that_is_derived_and_only_of_three_kinds() -> None:
    note = Result("1", Verdict("release"), {}, _output="text")
    assert not note.derivable
    with pytest.raises(UsageError, match="neither an image, a scan, nor a recording"):
        note.derived("text")
    with pytest.raises(UsageError, match="one of text, hocr, pdf"):
        note.derived("docx")  # type: ignore[call-overload]  # a wrong kind on purpose


def test_a_plain_text_has_no_record() -> None:
    with pytest.raises(UsageError):
        _ = Result("1", Verdict("release"), {}, _output="text").record
    assert Result("1", Verdict("release"), {}, is_record=True, _output='{"a": 1.10}').record == {"a": 1.1}


def test_the_worst_verdict_wins_and_keeps_every_reason() -> None:
    a, b = Reason("doubtful"), Reason("left-after-audit")
    worst = Verdict.worst([Verdict("review", (b,)), Verdict("release"), Verdict("review", (a,))])
    assert worst == Verdict("review", (a, b))
    assert Verdict.worst([]).released


def test_annotations_are_carried_over_to_the_new_text() -> None:
    text = Text("Mr. Bo Li has gout, says Bo Li.")
    spans = (Span(text, 4, 9, "PERSON"), Span(text, 25, 30, "PERSON"))
    made = "Mr. [PERSON] has gout, says [PERSON]."
    replacements = (
        Replacement(spans[0], "label", "[PERSON]", 4, 12),
        Replacement(spans[1], "label", "[PERSON]", 28, 36),
    )
    result = Result("1", Verdict("release"), {}, replacements, _output=made)
    projected = result.project([(14, 18, "problem"), (0, 9, "who"), (7, 13, "part"), (20, 31, "tail"), (0, 4, "title")])
    assert [(made[a:b], name) for a, b, name in projected] == [
        ("gout", "problem"),
        ("Mr. [PERSON]", "who"),
        ("[PERSON] has", "part"),
        ("says [PERSON].", "tail"),
        ("Mr. ", "title"),
    ]
    with pytest.raises(ImpossibleSpan):
        result.project([(5, 5)])


@given(st.text())
def test_the_form_of_a_subject_is_its_own_form_whatever_its_case_blanks_and_invisible_characters(words: str) -> None:
    form = subject_form(words)
    assert subject_form(form) == form
    assert subject_form(f"\ufeff {words}\u200b\r\n") == form
    assert patient_scope(words) == patient_scope(form)


@pytest.mark.parametrize(
    "written",
    [
        "Zoe\u0308  SMITH 77",
        "zoë smith ７７",
        "zoe\u200d\u0308 smith 77",
        " Zoë\u00a0Smi\u00adth\t77\n",
        "Zoë\u034f S\u3164mi\x00th\ufe0f 77",
    ],
)
def test_a_subject_has_one_scope_however_it_is_written(written: str) -> None:
    assert patient_scope(written) == "patient:zoë smith 77"
    assert patient_scope(written) != patient_scope("Zoe Smith 77")
