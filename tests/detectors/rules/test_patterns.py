"""The engine: where rules run, what contexts do, how candidates are resolved, and that it handles any text."""

from __future__ import annotations

import re
from re import _constants, _parser

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules import patterns
from incognote.detectors.rules.patterns import PatternFinder, context
from incognote.detectors.rules.patterns.rule import PatternRule, Retype, shipped_rules
from incognote.detectors.rules.view import View
from incognote.errors import UsageError
from incognote.nouns import Text
from incognote.schemas.catalogue import catalogue

MRN = {"id": "mrn", "type": "MEDICAL_RECORD_NUMBER", "pattern": r"[A-Z]{2}\d{6}"}


def find(text, *rules, retypes=()):
    made = [PatternRule.from_dict(raw) for raw in rules]
    found = PatternFinder(made, [Retype.from_dict(raw) for raw in retypes]).find(View(Text(text)))
    return [(text[c.start : c.end], c.type, c.score) for c in found]


def test_a_rule_of_a_site_pack_is_built_from_a_table_and_run_alone():
    found = PatternFinder([PatternRule.from_dict({**MRN, "code": True, "score": 0.8}, file="acme")]).find(
        View(Text("no AB123456."))
    )
    assert [(c.start, c.end, c.rule) for c in found] == [(3, 11, "acme.mrn")]


@pytest.mark.parametrize(
    "text",
    [
        "chart AB123456",
        "Chart no.: AB123456",
        "CHART #AB123456",
        "chart | AB123456",
        "chart\n  AB123456",
        "chart (old) is AB123456",
    ],
)
def test_a_label_reaches_over_what_stands_between(text):
    assert find(text, {**MRN, "labels": ["chart"]}) == [("AB123456", "MEDICAL_RECORD_NUMBER", 0.97)]


@pytest.mark.parametrize("text", ["C.H. AB123456", "C H AB123456", "ch AB123456 x"])
def test_a_label_is_found_with_or_without_its_dots(text):
    found = find(text, {**MRN, "labels": ["c.h"]})
    assert bool(found) == (not text.startswith("ch"))


@pytest.mark.parametrize("text", ["AHV-Nr AB123456", "AHV-Nr.: AB123456", "AHV Nr AB123456", "ahv-nr\nAB123456"])
def test_the_words_of_a_label_may_be_joined_by_hyphens(text):
    assert find(text, {**MRN, "labels": ["ahv nr"]}) == [("AB123456", "MEDICAL_RECORD_NUMBER", 0.97)]


def test_a_hyphenated_word_that_only_begins_like_a_label_is_none():
    assert find("AHV-Ausweis AB123456", {**MRN, "labels": ["ahv nr"]}) == []
    assert find("chart-based AB123456", {**MRN, "labels": ["chart"]}) == []


def test_a_label_inside_a_word_is_none():
    assert find("xchart AB123456 9chart AB123456", {**MRN, "labels": ["chart"]}) == []


def test_a_label_that_may_not_wrap_stays_on_its_line():
    assert find("chart\nAB123456", {**MRN, "labels": ["chart"], "wrap": False}) == []


def test_further_values_of_the_same_shape_follow_a_label():
    found = find("charts AB123456, CD654321 and 12 more", {**MRN, "labels": ["charts"], "more": True})
    assert [words for words, *_ in found] == ["AB123456", "CD654321"]


def test_contexts_lift_a_score_or_discard_the_match():
    table = {
        **MRN,
        "code": True,
        "score": 0.4,
        "boosted": 0.9,
        "before": ["id"],
        "near": ["chart"],
        "after": ["on file"],
    }
    assert find("x AB123456", table)[0][2] == 0.4
    assert find("id: AB123456", table)[0][2] == 0.9
    assert find("chart we have here AB123456", table)[0][2] == 0.9
    assert find("x AB123456 on file", table)[0][2] == 0.9
    for bar in ({"not_before": ["lot"]}, {"not_near": ["lot"]}, {"not_after": ["lot"]}):
        assert find("lot AB123456 lot", {**table, **bar}) == []


def test_a_context_heeds_word_edges_and_its_window():
    table = {**MRN, "code": True, "score": 0.4, "boosted": 0.9, "near": ["chart"], "window": 12}
    assert find("uncharted AB123456", table)[0][2] == 0.4
    assert find("chart" + " " * 20 + "AB123456", table)[0][2] == 0.4


def test_a_phrase_of_a_context_takes_any_white_space_and_apostrophe():
    table = {**MRN, "code": True, "score": 0.4, "boosted": 0.9, "before": ["driver's chart"]}
    assert find("driver’s  chart AB123456", table)[0][2] == 0.9


def test_named_groups_are_the_spans():
    table = {"id": "r", "type": "DATE", "digits": [4], "pattern": r"(?P<v>\d{4})-(?P<v2>\d{4})", "score": 0.8}
    assert [w for w, *_ in find("from 2001-2009.", table)] == ["2001", "2009"]


def test_a_retype_makes_a_type_more_precise():
    date = {"id": "d", "type": "DATE", "digits": [4], "pattern": r"\d{4}", "score": 0.6}
    born = {"of": "DATE", "to": "BIRTH_DATE_TIME", "before": ["born"], "score": 0.9}
    assert find("seen 1990, born 1980", date, retypes=[born]) == [
        ("1990", "DATE", 0.6),
        ("1980", "BIRTH_DATE_TIME", 0.9),
    ]


def test_a_candidate_within_a_better_one_is_dropped():
    wide = {"id": "w", "type": "DATE", "digits": [4], "pattern": r"\d{4}-\d\d", "score": 0.8}
    narrow = {"id": "n", "type": "GUID", "digits": [4], "pattern": r"\d{4}", "score": 0.6}
    assert find("in 2001-04 .", wide, narrow) == [("2001-04", "DATE", 0.8)]


def test_of_two_of_one_type_the_wider_stays_with_the_better_score():
    wide = {"id": "w", "type": "DATE", "digits": [4], "pattern": r"\d{4}-\d\d", "score": 0.6}
    narrow = {"id": "n", "type": "DATE", "digits": [4], "pattern": r"\d{4}", "score": 0.8}
    assert find("in 2001-04 .", wide, narrow) == [("2001-04", "DATE", 0.8)]


def test_digits_of_any_script_are_digits():
    table = {"id": "p", "type": "GUID", "digits": "6-8", "pattern": "[0-9]{6,8}", "score": 0.8}
    assert [w for w, *_ in find("رقم ١٢٣٤٥٦٧ هنا", table)] == ["١٢٣٤٥٦٧"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"pattern": "(", "code": True},
        {"code": True, "validators": ["nobody"]},
        {"code": True, "colour": "red"},
        {"code": True, "words": ["x"]},
        {},
        {"code": True, "score": 2},
        {"code": True, "near": ["("]},
        {"code": True, "before": ["{nobody}"]},
        {"code": True, "pattern": "{nobody}"},
    ],
)
def test_a_malformed_rule_is_refused_with_its_name(wrong):
    with pytest.raises(UsageError, match=r"acme\.mrn"):
        PatternRule.from_dict({**MRN, **wrong}, file="acme")


def test_a_rule_without_a_pattern_is_refused():
    with pytest.raises(UsageError, match="pattern"):
        PatternRule.from_dict({"id": "x", "type": "GUID", "code": True})


def test_every_shipped_rule_has_its_own_name_and_a_type_of_the_catalogue():
    rules, retypes = shipped_rules()
    names = [rule.id for rule in rules]
    assert len(names) == len(set(names)) > 200
    assert {rule.type for rule in rules} | {r.to for r in retypes} | {r.of for r in retypes} <= set(catalogue())


def unbounded(node):
    """Whether a parsed pattern contains `*`, `+`, or an open `{n,}`, including in assertions."""
    if isinstance(node, _parser.SubPattern):
        return any(unbounded(part) for part in node.data)
    if isinstance(node, (tuple, list)):
        if len(node) == 2 and isinstance(node[1], tuple) and len(node[1]) == 3 and node[1][1] is _constants.MAXREPEAT:
            return True
        return any(unbounded(part) for part in node)
    return False


def test_an_unbounded_quantifier_is_seen_where_it_hides():
    assert [unbounded(_parser.parse(p)) for p in ("a{0,9}", "a+", "(?=a{2,})", "(?:a|b*)c", "(?<!a)b?")] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_every_quantifier_of_the_shipped_rules_is_bounded():
    rules, retypes = shipped_rules()
    contexts = [c for r in rules for c in (r.before, r.near, r.not_before, r.not_near) if c]
    compiled = [r.pattern for r in rules] + [c.pattern for c in contexts if c.pattern]
    compiled += [p for r in rules for p in (r.after, r.not_after) if p] + [r.before for r in retypes]
    assert [p.pattern for p in compiled if unbounded(_parser.parse(p.pattern, p.flags & ~re.UNICODE))] == []


PIECES = st.sampled_from(
    ["3/4", "3/4/24", "March", " 5", "th", "\r\n", "\x00", "\ud800", "mrn", ":", "#", "12345678", "(", ")", "@", "a.b",
     ".com", "-", "+1", " ", "x", "é", "😀", "1½", "٣", "age", "45", "yo", "Rm", "ssn", "|", "PID|1||", "\t", "'",
     "the 5th", "²", "ſ", "İ", "\u0301"]
)  # fmt: skip


DRAWN = st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=30).map("".join)


def test_the_drawn_texts_hold_candidates():
    assert patterns.finder()(View(Text(hypothesis.find(DRAWN, lambda text: patterns.finder()(View(Text(text)))))))


@given(DRAWN)
def test_candidates_lie_inside_any_text_and_hold_no_edge_of_blanks(text):
    for c in patterns.finder()(View(Text(text))):
        assert 0 <= c.start < c.end <= len(text)
        assert 0.3 <= c.score <= 1
        assert not text[c.end - 1].isspace()


@given(st.lists(PIECES, max_size=20).map("".join))
def test_finding_twice_finds_the_same(text):
    assert patterns.finder()(View(Text(text))) == patterns.finder()(View(Text(text)))


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_is_found_does_not_depend_on_text_far_behind(text):
    far = "\n" + "Nothing else happened. " * 20
    assert patterns.finder()(View(Text(text + "\n\n")))[:1] == patterns.finder()(View(Text(text + "\n\n" + far)))[:1]


@pytest.mark.parametrize("unit", ["1", " ", "a-", "1 ", "(", "@", "a@", ":", "1.1.", "SSN ", "card 1", "'"])
def test_a_long_monotonous_text_is_walked_to_its_end(unit):
    end = "\n\nMRN: 00718823"
    text = unit * (100_000 // len(unit)) + end
    assert text[patterns.finder()(View(Text(text)))[-1].start :] == "00718823"


def test_a_rule_may_ask_for_any_digits_behind_a_run_of_digits():
    rule = {"id": "p", "type": "TELEPHONE_NUMBER", "digits": [3], "then": ["0-9"], "pattern": r"\d{3} \w+", "score": 1}
    assert find("555 777, 555 abc", rule) == [("555 777", "TELEPHONE_NUMBER", 1.0)]


@pytest.mark.parametrize(("glued", "found"), [("letter", ["12a"]), (True, ["12a", "12/", "12."])])
def test_a_glued_rule_asks_for_a_letter_or_for_any_joint_behind_the_digits(glued, found):
    rule = {"id": "g", "type": "DEVICE_IDENTIFIER", "digits": [2], "glued": glued, "pattern": r"\d\d.", "score": 0.8}
    assert [words for words, _, _ in find("12a 12/ 12. 12, 12", rule)] == found


@pytest.mark.parametrize(
    ("parts", "letters"),
    [
        (["born", "d\\.? ?o"], "bd"),
        (["(?:day|time) of death", "(?-i:[A-Z])x"], "A-Zdt"),
        (["b?orn"], ""),
        (["(?:x)?born"], ""),
        (["born", r"\d"], ""),
        (["[A-Z]{0,3}x"], ""),
    ],
)
def test_the_first_letters_of_a_context_are_known_or_nothing_is_assumed(parts, letters):
    assert "".join(sorted(context._first_letters("|".join(parts)))) == letters
