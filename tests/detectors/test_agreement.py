"""Agreement between rules and encoder."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors import PASSED, TAKEN
from incognote.detectors.agreement import (
    ALONE,
    ALONE_ELSE,
    BARE,
    CERTAIN,
    DENIED,
    DENIED_FLATLY,
    _Beside,
    agreed,
    is_weak,
    named,
    supported,
)
from incognote.languages import language
from incognote.nouns import Span, Text
from incognote.schemas.catalogue import catalogue

TEXT = Text("Wren was seen at Rosewood by Dr. Hale in 2019")


class Sure:
    """An opinion with the same confidence for every span of text."""

    def __init__(self, chance: float, *spans: Span) -> None:
        self.chance = chance
        self.spans = list(spans)

    def sure(self, start: int, end: int) -> float:
        return self.chance


def span(start: int, end: int, *sources: str) -> Span:
    return Span(TEXT, start, end, "PERSON", 0.8, sources)


GUESS = span(0, 4, "rules:residue.unexplained")
STRONG = span(33, 37, "rules:names.role")


def test_what_only_a_weak_rule_says_is_a_faint_doubt_where_the_encoder_denies_it() -> None:
    guess, certain = agreed([GUESS, STRONG], [Sure(DENIED / 2)])
    assert (guess.start, guess.end, guess.score) == (GUESS.start, GUESS.end, DENIED / 2)
    assert certain == STRONG


def cut(content: str, rule: str, *encoder: tuple[str, str], chance: float = 0.1) -> str:
    """Return the name that is left of a rule's name, given the encoder's spans as words and types."""
    text = Text(content)

    def at(words: str, type_: str, source: str) -> Span:
        start = content.index(words)
        return Span(text, start, start + len(words), type_, 0.95, (source,))

    opinion = Sure(chance, *(at(words, type_, "encoder:full") for words, type_ in encoder))
    (left,) = agreed([at(rule, "PERSON", "rules:names.run")], [opinion])
    return left.text


@pytest.mark.parametrize(
    ("content", "rule", "encoder", "left"),
    [
        ("Called Thuy Le PharmD twice", "Thuy Le PharmD", "Thuy Le", "Thuy Le"),
        ("for Haruko Nakasone\nTo: desk", "Haruko Nakasone\nTo", "Haruko Nakasone", "Haruko Nakasone"),
        ("his father, Otis Sr", "Otis Sr", "Otis", "Otis Sr"),
        ("by J. Toth Ilona", "Toth Ilona", "Ilona", "Toth Ilona"),
        ("by Ilona T.", "Ilona T", "Ilona", "Ilona T"),
    ],
)
def test_a_rules_name_ends_where_the_encoder_ends_it_but_keeps_suffixes_initials_and_usual_names(
    content: str, rule: str, encoder: str, left: str
) -> None:
    assert cut(content, rule, (encoder, "CLINICIAN")) == left


def test_a_rules_name_ends_before_what_the_encoder_finds_with_another_type() -> None:
    found = ("Marchetti", "CLINICIAN"), ("Tuesday", "DATE")
    assert cut("surgery Dr. Marchetti Tuesday.", "Marchetti Tuesday", *found, chance=0.9) == "Marchetti"


def test_the_rest_of_a_name_is_kept_if_it_may_be_an_identifier() -> None:
    assert cut("Called Thuy Le Quynh twice", "Thuy Le Quynh", ("Thuy Le", "PERSON"), chance=0.4) == "Thuy Le Quynh"


def test_a_weak_rule_stands_where_the_encoder_gives_it_a_chance() -> None:
    assert list(agreed([GUESS, STRONG], [Sure(DENIED)])) == [GUESS, STRONG]


def test_a_span_with_one_source_that_is_not_weak_keeps_its_word() -> None:
    both = span(0, 4, "pack:staff", "rules:residue.unexplained")
    assert list(agreed([both], [Sure(0.0)])) == [both]


def learned(start: int, end: int, type_: str) -> Span:
    return Span(TEXT, start, end, type_, 0.9, ("encoder:full",))


def test_a_weak_rule_takes_the_encoders_name_and_a_strong_one_keeps_its_own() -> None:
    town, person = learned(17, 25, "CITY"), learned(33, 37, "CITY")
    guess = span(17, 25, "rules:residue.unexplained")
    assert [s.type for s in named([guess, STRONG], [town, person])] == ["CITY", "PERSON", "CITY", "CITY"]


def test_of_one_group_the_finer_name_of_a_weak_rule_stands() -> None:
    assert next(named([GUESS], [learned(0, 4, "PATIENT")])) == GUESS


def test_a_label_tells_what_number_it_is() -> None:
    ssn = Span(TEXT, 41, 45, "SSN_OR_TAXPAYER", 0.8, ("rules:ssn.labelled",))
    some = Span(TEXT, 41, 45, "GUID", 0.8, ("rules:other_ids.shape",))
    plan, day = learned(41, 45, "HEALTH_PLAN_ID"), learned(41, 45, "DATE")
    assert [s.type for s in named([ssn], [plan])] == ["SSN_OR_TAXPAYER", "SSN_OR_TAXPAYER"]
    assert [s.type for s in named([some], [plan])] == ["GUID", "HEALTH_PLAN_ID"]
    assert [s.type for s in named([ssn], [day])] == ["SSN_OR_TAXPAYER", "DATE"]


def test_every_rule_in_the_table_is_one_of_the_rules() -> None:
    shipped = files("incognote.detectors").joinpath("rules")
    of_the_language = (p for name in ("rules", "lexicon") for p in _below(language().file(name)))
    below = [p for p in (*_below(shipped), *of_the_language) if p.name != "weak.toml"]
    words = "".join(p.read_text(encoding="utf-8") for p in below if p.name.endswith((".py", ".toml")))
    places = words + " ".join(p.name for p in below)
    table = language().table("rules", "weak.toml")["rules"]
    assert table
    for rule in table:
        assert is_weak(f"rules:{rule}")
        source, (family, _, name) = rule, rule.partition(".")
        assert name in words, source
        assert family in places, source


def test_each_language_has_its_own_weak_rules() -> None:
    (rule, *_) = language("fr").table("rules", "weak.toml")["rules"]
    assert is_weak(f"rules:fr/{rule}")
    assert not is_weak(f"rules:{rule}")
    assert not is_weak("rules:site/residue.unexplained")


def test_the_table_is_what_the_rules_are_measured_at() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "scripts" / "weak_rules.py"
    shipped = language().file("rules", "weak.toml").read_text(encoding="utf-8")
    assert runpy.run_path(str(script))["written"]() == shipped, "look at the difference, then print it anew"


def _below(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        yield from _below(entry) if entry.is_dir() else (entry,)


def found(start: int, end: int, type_: str, score: float, text: Text = TEXT) -> Span:
    return Span(text, start, end, type_, score, ("encoder:full",))


def test_what_the_encoder_alone_finds_is_a_doubt_below_the_line_of_its_group() -> None:
    sure, unsure = found(19, 27, "HOSPITAL", ALONE["LOCATION"]), found(19, 27, "HOSPITAL", ALONE["LOCATION"] - 0.01)
    assert list(supported([sure], [])) == [sure]
    assert [one.score for one in supported([unsure], [])] == [PASSED]


def test_what_a_rule_shares_stands_however_unsure_the_encoder_is() -> None:
    unsure, shared = found(33, 37, "CLINICIAN", TAKEN), span(29, 37, "rules:residue.unexplained")
    assert list(supported([unsure], [shared])) == [unsure]
    assert [one.score for one in supported([unsure], [GUESS])] == [PASSED]


def test_short_capitals_and_bare_numbers_alone_need_more() -> None:
    text = Text("HTN, EF 61, seen by OBUYA")
    capitals, name = found(0, 3, "CLINICIAN", BARE - 0.01, text), found(20, 25, "CLINICIAN", BARE, text)
    assert [one.score for one in supported([capitals, name], [])] == [PASSED, BARE]
    assert [one.score for one in supported([found(8, 10, "AGE", BARE - 0.01, text)], [])] == [PASSED]


def test_an_eponym_of_two_words_is_nobodys_name_unless_a_rule_says_so() -> None:
    text = Text("no Austin Flint murmur")
    name = found(3, 15, "PERSON", 0.99, text)
    assert [one.score for one in supported([name], [])] == [PASSED]
    assert list(supported([name], [replace(name, sources=("pack:staff",))])) == [name]


def test_every_line_stands_above_what_the_encoder_takes() -> None:
    assert all(TAKEN < line < 1 for line in (*ALONE.values(), ALONE_ELSE, BARE))
    assert ALONE.keys() <= {type_.group for type_ in catalogue().values()}


def test_even_a_rule_that_is_not_weak_needs_a_chance_but_for_numbers_and_what_is_certain() -> None:
    said = Span(TEXT, 33, 37, "CLINICIAN", CERTAIN - 0.01, ("rules:names.run",))
    number, label = replace(said, type="MEDICAL_RECORD_NUMBER"), replace(said, score=CERTAIN)
    own = replace(said, sources=("pack:staff",))
    assert [one.score for one in agreed([said], [Sure(DENIED_FLATLY / 2)])] == [DENIED_FLATLY / 2]
    assert list(agreed([said], [Sure(DENIED_FLATLY)])) == [said]
    assert list(agreed([number, label, own], [Sure(0.0)])) == [number, label, own]


stretches = st.builds(
    lambda start, length, score: Span(TEXT, start, min(start + length, len(TEXT)), "PERSON", score),
    st.integers(0, len(TEXT) - 1), st.integers(1, 20), st.sampled_from([0.3, 0.5, 0.9]),
)  # fmt: skip


@given(st.lists(stretches, max_size=8), stretches)
def test_who_stands_beside_is_who_shares_most(others: list[Span], span: Span) -> None:
    shared = [o for o in others if o.start < span.end and span.start < o.end]
    best = max(
        shared, key=lambda o: (min(o.end, span.end) - max(o.start, span.start), o.score, -o.start), default=None
    )
    assert _Beside(others)(span) is best


def test_an_adjective_before_a_name_is_no_part_of_it() -> None:
    text = Text("her namesake little Amina, and Little Rock")
    found = [Span(text, 13, 25, "RELATIVE", 0.9, ("encoder:full",)), Span(text, 31, 42, "CITY", 0.9, ("encoder:full",))]
    assert [each.text for each in supported(found, ())] == ["Amina", "Little Rock"]


def test_a_person_whom_a_rule_took_for_a_weekday_is_a_date() -> None:
    text = Text("to see Monday, and then Ray")
    day = Span(text, 7, 13, "DATE", 0.68, ("rules:dates_days.weekday",))
    found = [Span(text, start, end, "CLINICIAN", 0.9, ("encoder:full",)) for start, end in ((7, 13), (24, 27))]
    assert [one.type for one in named([day], found) if one.sources == ("encoder:full",)] == ["DATE", "CLINICIAN"]


def test_a_person_whom_a_rule_took_for_the_month_of_the_next_visit_is_a_date() -> None:
    text = Text("RTC Jan")
    month = Span(text, 4, 7, "DATE", 0.9, ("rules:dates_words.month-to-return",))
    person = Span(text, 4, 7, "CLINICIAN", 0.93, ("encoder:full",))
    assert {span.type for span in named([month], [person])} == {"DATE"}
