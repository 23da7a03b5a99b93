"""Cohen's kappa, by hand and against scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.sampling.agreement import agreement


def test_the_notes_by_hand(notes: list[Pair]) -> None:
    # 23 tokens. Both agree on 3 PERSON (Mary Smith Lund), 2 LOCATION, 2 CONTACT, 6 O (seen saw her out no fever) = 13.
    # First:  PERSON 3, AGE 1, LOCATION 2, DATE 3, CONTACT 2, ID 1, O 11.
    # Second: PERSON 6 (Dr, call, Foley too), DATE 1 (76), LOCATION 3 (at too), CONTACT 2, PROFESSION 1 (MRN), O 10.
    # By chance: (3*6 + 2*3 + 3*1 + 2*2 + 11*10) / 23² = 141 / 23².
    result = agreement(notes, resamples=50)
    assert result.tokens == 23
    assert result.observed.value == 13 / 23
    assert result.kappa.value == pytest.approx((13 * 23 - 141) / (23 * 23 - 141))
    # Marked or not: both mark 8, neither marks 6; the first marks 12, the second 13.
    chance = 12 * 13 + 11 * 10
    assert result.blind.value == pytest.approx((14 * 23 - chance) / (23 * 23 - chance))


def test_neither_annotator_is_the_better(notes: list[Pair]) -> None:
    swapped = [Pair(pair.id, pair.text, pair.found, pair.gold) for pair in notes]
    assert agreement(swapped, resamples=50) == agreement(notes, resamples=50)


def test_who_both_marked_nothing_agree_by_chance_alone() -> None:
    assert agreement([Pair("1", "no fever", (), ())], resamples=2).kappa.value is None


@pytest.mark.parametrize("pairs", [[], [Pair("1", " -- ", (), ())]])
def test_no_token_is_no_agreement(pairs: list[Pair]) -> None:
    with pytest.raises(UsageError, match="no "):
        agreement(pairs)


tags = st.lists(st.tuples(st.sampled_from("OAB"), st.sampled_from("OAB")), min_size=2, max_size=20)


@given(tags.filter(lambda rows: len({tag for row in rows for tag in row}) > 1))
def test_kappa_is_that_of_scikit_learn(rows: list[tuple[str, str]]) -> None:
    text = "w " * len(rows)
    one, other = (
        tuple(LabeledSpan(2 * i, 2 * i + 1, row[side]) for i, row in enumerate(rows) if row[side] != "O")
        for side in (0, 1)
    )
    ours = agreement([Pair("1", text, one, other)], by=str, resamples=2)
    theirs = cohen_kappa_score([row[0] for row in rows], [row[1] for row in rows])
    assert ours.kappa.value == pytest.approx(theirs, abs=1e-12)
