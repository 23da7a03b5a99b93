"""Language models as readers: what requests hold, and how replies are scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from incognote.evaluation.relex.pairs import NotePair
from incognote.evaluation.relex.reading import ReaderRequest, requests, score_replies

Pair = Callable[..., NotePair]
MARKED = (
    "[PATIENT Ann Reed|Eve Stone], MRN [MEDICAL_RECORD_NUMBER 12345|67890], of [CITY Salem|Juneau]. Mrs. [PATIENT "
    "Reed|Stone] came with her son [RELATIVE Bo Reed|Al Stone] to [HOSPITAL Lakeside Clinic|Hilltop Clinic]."
)
RECORDED = Path(__file__).parents[2] / "data" / "replies" / "relex-readers-v1.jsonl"


@pytest.fixture
def asked(pair: Pair) -> list[ReaderRequest]:
    return list(requests([pair(MARKED, f"p{at}", at, gold="amcabh") for at in range(4)]))


def reply(*named: str) -> str:
    return json.dumps({"originals": [{"words": words, "why": "odd"} for words in named]})


def test_two_originals_are_planted_as_whole_identities_or_as_single_mentions(asked: list[ReaderRequest]) -> None:
    attackers = [one for one in asked if one.role == "attacker"]
    assert [one.by for one in attackers] == ["identity", "mention", "identity", "mention"]
    for one in attackers:
        shown = one.text.rpartition("----------")[2]
        assert len(one.originals) == 2
        assert all(words in shown for own in one.originals for words in own)
        assert "2 different identifiers" in one.text
    whole = [own for one in attackers if one.by == "identity" for own in one.originals]
    assert all(own == ("Ann Reed", "Reed") for own in whole if "Ann Reed" in own)
    assert {one.things for one in attackers if one.by == "identity"} == {5}


def test_clinicians_see_the_output_alone(asked: list[ReaderRequest]) -> None:
    clinicians = [one for one in asked if one.role == "clinician"]
    assert len(clinicians) == 4
    assert all("Eve Stone" in one.text and "Reed" not in one.text for one in clinicians)
    assert "Stone" not in repr(clinicians)


def test_what_detection_overlooked_is_an_original_too(pair: Pair) -> None:
    note = pair(MARKED, gold="amcabh")
    missed = replace(note.mentions[-1], surrogate=None, how="missed")
    (attacker, _) = requests([replace(note, mentions=(*note.mentions[:-1], missed))])
    assert len(attacker.originals) == 3
    assert attacker.originals[-1] == ("Lakeside Clinic",)
    found = score_replies([(attacker, reply("the Lakeside Clinic", "x", "y"))], 20, 0)
    assert found["attacker, overlooked"].value == 1
    assert found["attacker, all"].value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("named", "hits"),
    [
        (("Ann Reed", "12345"), 1),
        (("12345", "reed"), 1),
        (("MRN 12345.", "Salem"), 0.5),
        (("Salem", "Salem", "12345"), 0.5),
        (("Salem", "Bo", "Ann Reed", "12345"), 0),
        ((), 0),
    ],
)
def test_as_many_things_count_as_there_are_originals(named: tuple[str, ...], hits: float) -> None:
    request = ReaderRequest("attacker-01", "attacker", "p", "", "identity", (("Ann Reed", "Reed"), ("12345",)), 5)
    found = score_replies([(request, reply(*named))], 20, 0)
    assert found["attacker, planted by identity"].value == hits
    assert found["chance, planted by identity"].value == pytest.approx(0.4)


@pytest.mark.parametrize("text", ["", "I cannot help with this.", "[1]", '{"score": 9}', '{"odd": []}', "{{}"])
def test_a_reply_in_another_form_is_counted_and_not_scored(text: str) -> None:
    found = score_replies([(ReaderRequest("clinician-01", "clinician", "p", ""), text)], 20, 0)
    assert (set(found), found["unreadable"].value) == ({"unreadable"}, 1)


def test_the_recorded_trial_scores_as_published() -> None:
    rows = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    replies = [
        (ReaderRequest(**row["request"] | {"originals": tuple(map(tuple, row["request"]["originals"]))}), row["reply"])
        for row in rows
    ]
    found = score_replies(replies, 100, 0)
    assert (found["attacker, all"].value, found["attacker, all"].of) == (pytest.approx(11 / 12), 12)
    assert (found["clinician score"].value, found["clinician score"].of) == (2.4, 5)
