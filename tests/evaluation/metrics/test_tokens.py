"""Token scores, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ImpossibleSpan
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import UNTYPED, Scheme
from incognote.evaluation.metrics.tally import PrecisionRecall
from incognote.evaluation.metrics.tokens import count_tokens, tokens

from .conftest import score_tokens


def words(text: str, *aligned: LabeledSpan) -> list[str]:
    starts, ends, _ = tokens(text, aligned)
    return [text[a:b] for a, b in zip(starts, ends, strict=True)]


def values(score: PrecisionRecall) -> tuple[float | None, ...]:
    return score.precision.value, score.recall.value, score.f1.value


def test_tokens_are_runs_of_letters_and_runs_of_digits() -> None:
    assert words("O'Neil, 42yo: 3/5 née, Zoe\u0308 -- 北京\ud800") == [
        *("O", "Neil", "42", "yo", "3", "5", "née", "Zoe\u0308", "北京")
    ]
    assert words("") == []
    assert words(" -- ") == []


def test_a_gold_label_inside_a_word_is_a_token_of_its_own_and_counted_as_a_cut() -> None:
    text, label = "in Millerstown", LabeledSpan(3, 9, "PERSON")
    assert words(text, label) == ["in", "Miller", "stown"]
    assert tokens(text, [label]).cut == 1
    counts = count_tokens(text, [label], [])
    assert counts["all", "gold"] == 1
    assert counts["cut",] == 1


def test_a_gold_label_of_signs_is_a_token() -> None:
    assert words("ID: ***", LabeledSpan(4, 7, "ID")) == ["ID", "***"]


def test_a_gold_label_of_blanks_is_refused_and_not_taken_for_nothing() -> None:
    with pytest.raises(ImpossibleSpan, match=r"1\.\.3 covers only blanks"):
        count_tokens("a  b", [LabeledSpan(1, 3, "PERSON")], [])


def test_the_notes_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    # 100-01: Mary Smith 76 seen at Mercy Hospital 03 04 2025    10 tokens, all gold except seen, at
    # 100-02: Dr Lund saw her call 555 0142 MRN 88412             9 tokens, gold Lund 555 0142 88412
    # 100-03: Foley out no fever                                  4 tokens
    # Correct: Mary Smith 76 Mercy Hospital, Lund 555 0142: 8 of 12. Wrong: at, Dr, call, Foley.
    scores = score_tokens(notes, scheme, resamples=50)
    assert (scores.documents, scores.tokens, scores.cut) == (3, 23, 0)
    assert values(scores.blind) == (8 / 12, 8 / 12, pytest.approx(8 / 12))
    # With types, 76 was found as a DATE: 7 correct, 5 wrong.
    assert values(scores.typed) == (7 / 12, 7 / 12, pytest.approx(7 / 12))
    # PERSON: gold Mary Smith Lund, all correct; wrong Dr, call, Foley.
    assert values(scores.types["PERSON"]) == (1 / 2, 1.0, 2 / 3)
    # DATE: gold 03 04 2025, none found; wrong 76.
    assert values(scores.types["DATE"]) == (0.0, 0.0, 0.0)
    assert scores.types.keys() == scheme.scored


def test_half_a_gold_token_is_a_miss_and_no_false_alarm() -> None:
    counts = count_tokens("Miller", [LabeledSpan(0, 6, "PERSON")], [LabeledSpan(0, 4, "PERSON")])
    assert (counts["all", "gold"], counts["all", "right"], counts["all", "wrong"]) == (1, 0, 0)


def test_half_a_token_that_is_no_gold_is_a_false_alarm() -> None:
    assert count_tokens("Miller", [], [LabeledSpan(0, 4, "PERSON")])["all", "wrong"] == 1


def test_a_false_alarm_is_of_the_first_findings_type() -> None:
    counts = count_tokens("Miller", [], [LabeledSpan(0, 3, "LOCATION"), LabeledSpan(3, 6, "AGE")])
    assert (counts["LOCATION", "wrong"], counts["AGE", "wrong"]) == (1, 0)


def test_two_findings_can_make_a_token_whole() -> None:
    found = [LabeledSpan(0, 4, "PERSON"), LabeledSpan(4, 6, "PERSON")]
    counts = count_tokens("Miller", [LabeledSpan(0, 6, "PERSON")], found)
    assert (counts["all", "right"], counts["PERSON", "right"]) == (1, 1)


def test_a_finding_without_a_type_is_right_blind_and_wrong_typed() -> None:
    pair = Pair("1", "Ann 42", (LabeledSpan(0, 3, "PERSON"),), (LabeledSpan(0, 3, UNTYPED),))
    scores = score_tokens([pair], Scheme.of([pair]), resamples=2)
    assert values(scores.blind) == (1.0, 1.0, 1.0)
    assert values(scores.typed) == (0.0, 0.0, 0.0)


spans = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4), st.sampled_from("AB")), max_size=4).map(
    lambda rows: sorted(LabeledSpan(s, min(12, s + n), t) for s, n, t in rows)
)


@given(st.text("ab1 .", min_size=12, max_size=12), spans, spans)
def test_the_counts_are_those_of_every_character_looked_at(
    text: str, gold: list[LabeledSpan], found: list[LabeledSpan]
) -> None:
    gold = [label for label in gold if text[label.start : label.end].strip(" ")]
    starts, ends, _ = tokens(text, gold)
    is_ = [any(g.start <= a and b <= g.end for g in gold) for a, b in zip(starts, ends, strict=True)]
    took = {i for f in found for i in range(f.start, f.end)}
    whole = [took.issuperset(range(a, b)) for a, b in zip(starts, ends, strict=True)]
    part = [not took.isdisjoint(range(a, b)) for a, b in zip(starts, ends, strict=True)]
    counts = count_tokens(text, gold, found)
    assert counts["all", "gold"] == sum(is_)
    assert counts["all", "right"] == sum(g and w for g, w in zip(is_, whole, strict=True))
    assert counts["all", "wrong"] == sum(p and not g for g, p in zip(is_, part, strict=True))
    assert counts["all", "gold"] == counts["A", "gold"] + counts["B", "gold"]
