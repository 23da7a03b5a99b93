"""Merging: boundaries are united and the table decides the type, independent of order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.align.merge import merge, standings
from incognote.errors import UnknownName
from incognote.nouns import Span, Text
from incognote.schemas.catalogue import catalogue

NOTE = Text("Seen at St. Mary's Hospital by Ruth Hale, butler to Mr. Lund, on 2024-03-05 (S23-11-05-771).")


def span(words: str, type_: str, score: float = 0.9, source: str = "rules:x", note: Text = NOTE) -> Span:
    start = note.content.index(words)
    return Span(note, start, start + len(words), type_, score, (source,))


def only(*spans: Span) -> Span:
    (one,) = merge(spans)
    return one


def test_the_table_ranks_every_type_of_the_catalogue_once() -> None:
    assert set(standings()) == set(catalogue())
    places = [(s.tier, s.place) for s in standings().values()]
    assert len(set(places)) == len(places) == len(catalogue())


def test_a_person_inside_a_hospital_is_the_hospital() -> None:
    one = only(span("Mary", "PERSON", 0.99), span("St. Mary's Hospital", "HOSPITAL", 0.6))
    assert (one.text, one.type) == ("St. Mary's Hospital", "HOSPITAL")


def test_a_type_with_priority_wins_with_its_subtypes_and_keeps_the_union() -> None:
    spans = [span("Mary", "PATIENT", 0.99), span("St. Mary's Hospital", "HOSPITAL", 0.6)]
    (one,) = merge(spans, ["PERSON"])
    assert (one.text, one.type) == ("St. Mary's Hospital", "PATIENT")
    (one,) = merge(spans, ["DATE"])
    assert one.type == "HOSPITAL"


def test_a_date_inside_an_accession_number_is_the_number() -> None:
    assert only(span("23-11-05", "DATE", 1.0), span("S23-11-05-771", "GUID", 0.5)).type == "GUID"


def test_a_name_inside_an_occupation_makes_the_whole_a_name() -> None:
    one = only(span("butler to Mr. Lund", "OCCUPATION"), span("Lund", "PERSON", 0.5))
    assert (one.text, one.type) == ("butler to Mr. Lund", "PERSON")


def test_a_patient_inside_a_person_makes_the_whole_a_patient() -> None:
    assert only(span("Hale", "PATIENT", 0.5), span("Ruth Hale", "PERSON", 0.9)).type == "PATIENT"
    assert only(span("Hale", "PERSON", 0.9), span("Ruth Hale", "PATIENT", 0.5)).type == "PATIENT"


def test_a_state_inside_a_place_does_not_name_the_place() -> None:
    note = Text("lives near Tillman Falls, Ohio")
    place = span("Tillman Falls, Ohio", "LOCATION", 0.5, note=note)
    assert only(place, span("Ohio", "STATE", 0.9, note=note)).type == "LOCATION"


def test_a_finer_kind_wins_over_a_surer_general_one() -> None:
    note = Text("permit 8841-22")
    finer, general = span("8841-22", "DRIVER_ID_US", 0.5, note=note), span("8841-22", "LICENSE_NUMBER", 0.9, note=note)
    assert only(finer, general).type == "DRIVER_ID_US"


def test_on_the_same_words_the_tier_decides_before_the_score() -> None:
    note = Text("Georgia")
    assert only(span("Georgia", "PERSON", 0.5, note=note), span("Georgia", "STATE", 0.99, note=note)).type == "PERSON"


def test_within_a_tier_the_longer_wins_then_the_surer() -> None:
    note = Text("call 555 0142 77")
    longer, shorter = Span(note, 5, 13, "DATE", 0.5), Span(note, 9, 16, "GUID", 0.9)
    assert only(longer, shorter).type == "DATE"
    assert only(Span(note, 5, 13, "DATE", 0.5), Span(note, 5, 13, "GUID", 0.6)).type == "GUID"


def test_a_bridge_unites_all_three() -> None:
    left, bridge, right = Span(NOTE, 0, 5, "DATE"), Span(NOTE, 4, 9, "DATE"), Span(NOTE, 8, 12, "DATE")
    assert [(s.start, s.end) for s in merge([left, right])] == [(0, 5), (8, 12)]
    assert [(s.start, s.end) for s in merge([left, right, bridge])] == [(0, 12)]


def test_the_highest_score_and_all_sources_are_kept() -> None:
    one = only(span("Ruth", "PERSON", 0.4, "known:name"), span("Ruth Hale", "PERSON", 0.7, "rules:names.titles"))
    assert one.score == 0.7
    assert one.sources == ("known:name", "rules:names.titles")


def test_touching_spans_of_one_type_become_one_and_of_two_types_stay_two() -> None:
    note = Text("MayaLund 4471")
    assert [s.text for s in merge([Span(note, 0, 4, "PERSON"), Span(note, 4, 8, "PERSON")])] == ["MayaLund"]
    assert [s.text for s in merge([Span(note, 0, 4, "PERSON"), Span(note, 4, 8, "CITY")])] == ["Maya", "Lund"]


def test_spans_with_a_space_between_stay_apart() -> None:
    assert [s.text for s in merge([span("Ruth", "PERSON"), span("Hale", "PERSON")])] == ["Ruth", "Hale"]


def test_equal_offsets_in_two_fields_have_nothing_to_do_with_each_other() -> None:
    one, two = Text("Ruth Hale", "b"), Text("Ruth Hale", "a")
    merged = merge([Span(one, 0, 4, "PERSON"), Span(two, 0, 9, "PERSON")])
    assert [(s.field, s.text) for s in merged] == [("a", "Ruth Hale"), ("b", "Ruth")]


@pytest.mark.parametrize("company", [[], [Span(NOTE, 0, 3, "PERSON")]])
def test_a_type_outside_the_catalogue_is_refused_alone_and_in_company(company: list[Span]) -> None:
    with pytest.raises(UnknownName):
        merge([Span(NOTE, 0, 4, "SHOE_SIZE"), *company])


TEXTS = (Text("x" * 40), Text("y" * 40, "note"))


@st.composite
def spans(draw: st.DrawFn) -> Span:
    text = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, 38))
    end = draw(st.integers(start + 1, min(40, start + 12)))
    type_ = draw(st.sampled_from(sorted(catalogue())))
    sources = draw(st.lists(st.sampled_from(["rules", "known", "sweep"]), max_size=3))
    return Span(text, start, end, type_, draw(st.sampled_from([0.3, 0.5, 0.9])), tuple(sources))


def covered(given_: list[Span]) -> set[tuple[str, int]]:
    return {(s.field, i) for s in given_ for i in range(s.start, s.end)}


@given(st.lists(spans(), max_size=14).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_merging_does_not_depend_on_order(both: tuple[list[Span], list[Span]]) -> None:
    assert merge(both[0]) == merge(both[1])


@given(st.lists(spans(), max_size=14))
def test_the_merged_are_disjoint_sorted_and_cover_exactly_the_union(given_: list[Span]) -> None:
    merged = merge(given_)
    assert covered(merged) == covered(given_)
    assert sum(len(s) for s in merged) == len(covered(merged))
    assert [(s.field, s.start) for s in merged] == sorted((s.field, s.start) for s in merged)


@given(st.lists(spans(), max_size=14))
def test_every_span_lies_whole_inside_one_merged_span_that_bears_a_type_of_its_parts(given_: list[Span]) -> None:
    merged = merge(given_)
    for one in merged:
        parts = [s for s in given_ if s.field == one.field and one.start <= s.start and s.end <= one.end]
        assert one.type in {s.type for s in parts}
        assert one.score == max(s.score for s in parts)
        assert one.sources == tuple(sorted({source for s in parts for source in s.sources}))
    assert all(any(m.overlaps(s) and m.start <= s.start and s.end <= m.end for m in merged) for s in given_)


@given(st.lists(spans(), max_size=14))
def test_merging_twice_changes_nothing(given_: list[Span]) -> None:
    once = merge(given_)
    assert merge(once) == once


@given(st.lists(spans(), max_size=14))
def test_touching_merged_spans_differ_in_type(given_: list[Span]) -> None:
    assert not [1 for a, b in pairwise(merge(given_)) if a.field == b.field and a.end == b.start and a.type == b.type]


def test_the_type_of_a_sites_own_pack_wins_for_the_same_stretch_and_not_within_a_longer_one() -> None:
    pack = ("OCCUPATION", 0.6, "pack:rules")
    assert only(span("Ruth Hale", *pack), span("Ruth Hale", "PATIENT", 0.9, "rules:names.title")).type == "OCCUPATION"
    assert only(span("Ruth Hale", *pack), span("Ruth", "PATIENT", 0.9, "rules:names.title")).type == "OCCUPATION"
    assert only(span("Ruth", *pack), span("Ruth Hale", "PATIENT", 0.9, "rules:names.title")).type == "PATIENT"
