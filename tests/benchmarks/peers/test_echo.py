"""Aligning marked echoes with their text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ModelUnavailable, UnknownName
from incognote.evaluation.formats.document import LabeledSpan
from incognote.llm.base import Reply, Request
from incognote.testing import ScriptedLLM
from incognote_benchmarks.peers.echo import Aligned, Echo, Stretch, aligned, baselines

MARKS = sorted({one.mark for one in baselines().values()})


def redacted(text: str, spans: tuple[Stretch, ...], mark: str) -> str:
    for start, end in reversed(spans):
        text = text[:start] + mark + text[end:]
    return text


def cuts(words: list[str]) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, len(words)), unique=True, max_size=8).map(lambda at: sorted(at)[: len(at) // 2 * 2])


@given(st.data(), st.sampled_from(MARKS))
def test_any_redaction_by_marks_is_recovered(data: st.DataObject, mark: str) -> None:
    """For any text, even a repetitive one, the spans found reproduce the echo exactly."""
    text = data.draw(st.text(st.sampled_from("ab \n.é\U0001f600"), min_size=1, max_size=30))
    at = data.draw(cuts(list(text)))
    hidden = tuple((start, end) for start, end in zip(at[::2], at[1::2], strict=True))
    echo = redacted(text, hidden, mark)
    found = aligned(text, echo, mark)
    assert found.exact
    assert redacted(text, found.spans, mark) == echo
    assert sum(end - start for start, end in found.spans) == sum(end - start for start, end in hidden)
    assert all(a[1] <= b[0] for a, b in pairwise(found.spans))


@given(st.data(), st.sampled_from(MARKS))
def test_where_no_word_stands_twice_the_very_places_are_recovered(data: st.DataObject, mark: str) -> None:
    words = [f"w{number}," for number in range(data.draw(st.integers(1, 20)))]
    at = data.draw(cuts(words))
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words) + 1)]
    hidden = tuple((starts[i], starts[j] - 1) for i, j in zip(at[::2], at[1::2], strict=True))
    text = " ".join(words)
    assert aligned(text, redacted(text, hidden, mark), mark) == Aligned(hidden)


@given(st.data())
def test_white_space_that_the_echo_changes_moves_no_span(data: st.DataObject) -> None:
    words = [f"w{number}" for number in range(data.draw(st.integers(3, 15)))]
    hidden = data.draw(st.integers(1, len(words) - 2))
    echo = "\n\n".join([*words[:hidden], "[Censored]", *words[hidden + 1 :]]) + "\n"
    text = " ".join(words)
    found = aligned(text, echo, "[Censored]")
    start = text.index(f" w{hidden} ") + 1
    assert not found.exact
    assert any(a <= start and start + len(words[hidden]) <= b for a, b in found.spans)
    assert all(text[a:b].strip() in (words[hidden], "") for a, b in found.spans)


def test_an_inexact_echo_keeps_its_marks_and_counts_what_it_leaves_out() -> None:
    text = "Mr. John Smith, 76, was seen by Dr. Lund. He is well and takes aspirin."
    found = aligned(text, "Mr. [censored], 76, was seen by Dr. [Censored]. He takes aspirin", "[Censored]")
    assert [text[a:b] for a, b in found.spans] == ["John Smith", "Lund"]
    assert (found.lost, found.added, found.exact) == (3, 0, False)


def test_words_that_the_echo_changes_or_adds_are_counted() -> None:
    text = "Ruth Hale, lisinopril 10 mg daily. Return in 2 weeks."
    found = aligned(text, "Note:\n[Censored], lisinopril 20 mg daily. Return in 2 wk.", "[Censored]")
    assert [text[a:b] for a, b in found.spans] == ["Ruth Hale"]
    assert (found.lost, found.added) == (2, 3)  # 10, weeks; Note, 20, wk


def test_white_space_around_the_note_is_no_change() -> None:
    assert aligned("\nSeen by Ruth.\n\n", "Seen by [Censored].", "[Censored]") == Aligned(((9, 13),))


@given(st.data())
def test_a_remark_before_the_note_moves_no_span(data: st.DataObject) -> None:
    words = [f"w{number}" for number in range(data.draw(st.integers(3, 15)))]
    hidden = data.draw(st.integers(0, len(words) - 1))
    text, echo = " ".join(words), " ".join([*words[:hidden], "[Censored]", *words[hidden + 1 :]])
    found = aligned(text, f"Here is the note: {echo}", "[Censored]")
    assert [text[a:b] for a, b in found.spans] == [words[hidden]]
    assert (found.lost, found.added) == (0, 4)


def test_a_mark_that_stood_in_the_text_is_no_span() -> None:
    assert aligned("[Redacted] saw Ruth", "[Redacted] saw [Redacted]", "[Redacted]").spans == ((15, 19),)


def test_a_mark_in_whose_place_nothing_stood_is_no_span() -> None:
    assert aligned("He is well.", "He [Redacted] is well.", "[Redacted]").spans == ()


@pytest.mark.parametrize("name", ["brief", "detailed", "redacted"])
def test_a_baseline_runs_over_any_model(name: str) -> None:
    mark = baselines()[name].mark

    def answer(request: Request) -> str:
        assert mark in request.messages[0].content
        return request.messages[1].content.replace("Ruth Hale", mark)

    model = ScriptedLLM(answer)
    detected = Echo(model, name).detect(["Ruth Hale is well.", "Well."])
    assert detected.labels == ((LabeledSpan(0, 9, "UNTYPED"),), ())
    assert [request.temperature for request in model.requests] == [0.0, 0.0]


def test_an_echo_that_was_cut_or_never_came_is_a_failure_not_an_empty_answer() -> None:
    class Model:
        name = "scripted/cut"

        async def complete(self, request: Request) -> Reply:
            if request.messages[1].content == "late":
                raise ModelUnavailable("no answer")
            return Reply("Ruth", finish="length")

        async def aclose(self) -> None:
            """Nothing to close."""

    assert Echo(Model(), "brief").detect(["Ruth Hale", "late"]).labels == (None, None)


def test_there_is_no_baseline_of_another_name() -> None:
    with pytest.raises(UnknownName, match="brief"):
        Echo(ScriptedLLM({}), "curt")
