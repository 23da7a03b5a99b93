"""Votes: agreement is the score."""

from __future__ import annotations

from incognote.extraction.votes import Stretch, counted

NAME, NAME_LONGER, AGE = Stretch(0, 4, "PERSON"), Stretch(0, 9, "CLINICIAN"), Stretch(20, 22, "AGE")


def test_one_vote_is_sure_of_itself_under_either_rule() -> None:
    assert counted([[NAME]], "majority") == {NAME: 1.0}
    assert counted([[NAME]], "union") == {NAME: 1.0}


def test_a_majority_scores_by_share_and_a_union_keeps_every_find_above_one_half() -> None:
    votes = [[NAME, AGE], [NAME], [NAME]]
    assert counted(votes, "majority") == {NAME: 1.0, AGE: 1 / 3}
    assert counted(votes, "union") == {NAME: 1.0, AGE: 0.5 + 1 / 6}


def test_two_boundaries_of_one_name_agree_that_there_is_a_name() -> None:
    assert counted([[NAME], [NAME_LONGER]], "majority") == {NAME: 1.0, NAME_LONGER: 1.0}


def test_another_kind_of_identifier_at_the_same_place_does_not_agree() -> None:
    assert counted([[NAME], [Stretch(0, 4, "LOCATION")]], "majority")[NAME] == 0.5


def test_no_votes_found_nothing() -> None:
    assert counted([[], []], "union") == {}
