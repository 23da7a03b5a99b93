"""From logits to spans: reading a large text in blocks gives the same result."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.encoder import decoding as module
from incognote.detectors.encoder import units as units_module
from incognote.detectors.encoder.bundle import Exit, allowed, classes, tags
from incognote.detectors.encoder.decoding import Finder, read_off, runs, snapped, sureness
from incognote.detectors.encoder.units import Encoded, Pieces, units
from incognote.detectors.encoder.viterbi import Decoder
from incognote.nouns import Span, Text

N = len(classes())
N_CLASSES = len(classes())
TAGS = tags(classes())


@given(st.integers(0, 2**31), st.integers(0, 120), st.integers(1, 40), st.sampled_from([0.0, 6.0, 14.0]))
def test_a_reading_from_blocks_is_that_of_the_whole(seed: int, words: int, block: int, certain: float) -> None:
    random = np.random.default_rng(seed)
    transitions = np.where(allowed(N), random.normal(0, 0.5, (1 + 2 * N,) * 2), -np.inf).astype(np.float32)
    way = Exit(transitions, random.uniform(0.5, 2, N).astype(np.float32), {"balanced": 0.0})
    find = Finder(way, 0.3, "encoder:full")
    text = Text(" ".join(random.choice(["seen", "Hale", "34F", "12-3", "Oslo."], words)))
    found = units(text.content)
    encoded = Encoded(found, np.zeros(len(found), np.int64), np.arange(len(found) + 1))
    logits = random.normal(0, 2, (len(found), 1 + 2 * N)).astype(np.float32)
    logits[:, 0] += certain * (random.random(len(found)) < 0.8)
    (whole,) = find([text], [encoded], [logits])
    parts = [logits[a : a + block] for a in range(0, max(1, len(logits)), block)]
    made = find.large(text, encoded, iter(parts))
    assert (made.spans, made.doubts) == (whole.spans, whole.doubts)
    assert [made.sure(s.start, s.end) for s in made.doubts] == [whole.sure(s.start, s.end) for s in whole.doubts]


@pytest.mark.parametrize("at_once", [1, 3, 50_000])
def test_the_pieces_do_not_depend_on_how_many_units_are_encoded_at_once(
    tokenizer_file: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Dr. Hale met 1234567 patients \x00 in Oslo, \u00c5se and 20/03/2024."
    whole = Pieces(tokenizer_file)(text)
    monkeypatch.setattr(units_module, "_AT_ONCE", at_once)
    made = Pieces(tokenizer_file)(text)
    assert np.array_equal(made.ids, whole.ids)
    assert np.array_equal(made.first, whole.first)
    assert np.array_equal(made.units.starts, whole.units.starts)


def spans(text: str, marks: dict[int, str], sure: float = 9.0) -> list[Span]:
    """Return the spans of a text whose i-th unit has a given tag."""
    found = units(text)
    path = np.zeros(len(found), np.int64)
    for place, tag in marks.items():
        path[place] = TAGS.index(tag)
    logits = np.zeros((len(found), 1 + 2 * N_CLASSES), np.float32)
    logits[np.arange(len(found)), path] = sure
    return read_off(Text(text), found, path, logits, np.ones(N_CLASSES, np.float32), "encoder:full")


def test_a_begin_and_its_insides_are_one_span() -> None:
    (span,) = spans("seen Ruth Hale today", {1: "B-PATIENT", 2: "I-PATIENT"})
    assert (span.text, span.type, span.sources) == ("Ruth Hale", "PATIENT", ("encoder:full",))


def test_two_begins_are_two_spans() -> None:
    assert [s.text for s in spans("Hale Oslo", {0: "B-PATIENT", 1: "B-CITY"})] == ["Hale", "Oslo"]


def test_no_span_cuts_a_run_of_letters_and_digits() -> None:
    (span,) = spans("aged 34F now", {1: "B-AGE"})
    assert span.text == "34F"


def test_spans_that_meet_in_one_word_unite() -> None:
    (span,) = spans("MRN447", {0: "B-PATIENT", 1: "B-MEDICAL_RECORD_NUMBER"})
    assert span.text == "MRN447"


@pytest.mark.parametrize(
    ("words", "type_"),
    [
        ("r.hale@example.org", "EMAIL"),
        ("https://example.org/x", "URL"),
        ("www.example.org", "URL"),
        ("example.org/portal", "URL"),
        ("10.2.30.4", "IP_ADDRESS"),
        ("00:1B:44:11:3A:B7", "MAC_ADDRESS"),
        ("rhale_02", "USERNAME"),
    ],
)
def test_the_form_names_what_is_electronic(words: str, type_: str) -> None:
    n = len(units(words))
    (span,) = spans(words, {0: "B-EMAIL", **dict.fromkeys(range(1, n), "I-EMAIL")})
    assert (span.text, span.type) == (words, type_)


def test_a_surer_unit_scores_higher() -> None:
    (low,), (high,) = (spans("Hale", {0: "B-PATIENT"}, sure) for sure in (3.0, 9.0))
    assert low.score < high.score


def test_a_higher_temperature_makes_less_sure() -> None:
    logits = np.array([[0, 5, 0]], np.float32)
    assert sureness(logits, np.array([4], np.float32))[0] < sureness(logits, np.array([1], np.float32))[0]


@given(st.text(alphabet="aZ7 -\n'é王", max_size=40), st.integers(0, 2**32 - 1))
def test_spans_of_any_logits_are_disjoint_whole_and_scored(text: str, seed: int) -> None:
    found = units(text)
    logits = np.random.default_rng(seed).normal(0, 4, (len(found), 1 + 2 * N_CLASSES)).astype(np.float32)
    a = np.zeros((1 + 2 * N_CLASSES, 1 + 2 * N_CLASSES), np.float32)
    path = Decoder(np.where(allowed(N_CLASSES), a, -np.inf).astype(np.float32))([logits])[0]
    made = read_off(Text(text), found, path, logits, np.ones(N_CLASSES, np.float32), "encoder:full")
    assert len(made) <= len(list(runs(path)))
    for one, other in itertools.pairwise(made):
        assert one.end <= other.start
    for span in made:
        assert (span.start, span.end) == snapped(text, span.start, span.end)
        assert not span.text[0].isspace()
        assert not span.text[-1].isspace()


def test_an_endless_run_is_widened_once_however_many_units_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    widened = 0

    def counted(text: str, start: int, end: int) -> tuple[int, int]:
        nonlocal widened
        widened += 1
        return snapped(text, start, end)

    monkeypatch.setattr(module, "snapped", counted)
    text = "seen A1" + "B2" * 1_000 + " and Hale"
    found = units(text)
    marks = dict.fromkeys(range(1, len(found) - 2), "B-PATIENT") | {len(found) - 1: "B-PATIENT"}
    assert [(s.start, s.end) for s in spans(text, marks)] == [(5, len(text) - 9), (len(text) - 4, len(text))]
    assert widened == 2
