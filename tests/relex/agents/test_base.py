"""The embedded validator: which index hits it accepts as the same entity, and which it must reject."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from incognote.embedding.base import Vectors
from incognote.keys import Keyring
from incognote.relex.agents.base import EmbeddedValidator, HitQuestion, RelexNote
from incognote.relex.batch import BatchOutcome, Tools
from incognote.relex.cluster import cluster
from incognote.relex.graph import relexicalize
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, IndexHit
from incognote.relex.nouns import Group
from incognote.testing.memory_index import MemoryIndex
from tests.relex.loop_worker import KEY, note

OWN = "patient:p1"


def hit(original: str | None, type: str = "CLINICIAN", scope: str = "", group: Group = "PERSON") -> IndexHit:
    """Return a hit with the highest score, whatever its content."""
    place = IdentityPlace("clinic", scope, group)
    return IndexHit(IndexedIdentity("e" * 32, place, type, {"given": "x"}, "x", {}, original), 1.0)


async def decided(marked: str, *hits: IndexHit) -> list[bool]:
    """Return the validator's decision on each hit for the only identity in a note of patient p1."""
    (identity,) = cluster(note("1", "p1", marked).variants)
    (answers,) = await EmbeddedValidator().validate([HitQuestion(identity, "", hits)], [])
    return answers


@pytest.mark.parametrize(
    ("marked", "same"),
    [
        ("[CLINICIAN|Adam Wilson] came.", hit("Adam Wilson")),
        ("Dr. [CLINICIAN|Quatermane] called.", hit("Temitope Quartermaine")),
        ("[CLINICIAN|Wilson] called.", hit("Adam Wilson")),
        ("[HOSPITAL|St. Brigid's Hosp]", hit("Saint Brigid's Hospital", "HOSPITAL", group="ORG")),
        ("MRN [MEDICAL_RECORD_NUMBER|778-1920]", hit("7781920", "MEDICAL_RECORD_NUMBER", OWN, "ID")),
    ],
)
async def test_another_way_to_write_the_same_referent_is_accepted(marked: str, same: IndexHit) -> None:
    assert await decided(marked, same) == [True]


@pytest.mark.parametrize(
    ("marked", "other"),
    [
        ("[CLINICIAN|Adam Wilson] came.", "Beth Wilson"),
        ("[CLINICIAN|Adam Wilson] came.", "Adam Williams"),
        ("[CLINICIAN|A. Wilson] came.", "Beth Wilson"),
        ("[CLINICIAN|Robert T. Hargrove] came.", "Robert J. Hargrove"),
    ],
)
async def test_another_name_is_refused(marked: str, other: str) -> None:
    assert await decided(marked, hit(other)) == [False]


async def test_a_lone_surname_of_two_bearers_is_refused_for_both() -> None:
    assert await decided("[CLINICIAN|Wilson] came.", hit("Adam Wilson"), hit("Beth Wilson")) == [False, False]


async def test_a_person_of_the_other_gender_is_refused() -> None:
    assert await decided("Ms. [CLINICIAN|Wilson] came.", hit("Adam Wilson")) == [False]
    assert await decided("Mr. [CLINICIAN|Wilson] came.", hit("Beth Wilson")) == [False]


async def test_another_generation_of_a_family_is_refused() -> None:
    assert await decided("[RELATIVE|Robert Marsh Jr.] came.", hit("Robert Marsh Sr.", "RELATIVE", OWN)) == [False]


async def test_a_person_of_another_role_is_refused() -> None:
    assert await decided("[RELATIVE|Adam Wilson] came.", hit("Adam Wilson")) == [False]


async def test_a_namesake_of_another_patient_is_refused() -> None:
    assert await decided("[PATIENT|Adam Wilson] came.", hit("Adam Wilson", "PATIENT", "patient:p2")) == [False]


@pytest.mark.parametrize(
    ("marked", "other"),
    [
        ("[HOSPITAL|Mercy Hospital]", hit("Grace Hospital", "HOSPITAL", group="ORG")),
        ("[HOSPITAL|St. Brigid's Hospital]", hit("St. Brendan's Hospital", "HOSPITAL", group="ORG")),
        ("[HOSPITAL|Mercy Hospital]", hit("Mercy Pharmacy", "PHARMACY", group="ORG")),
    ],
)
async def test_another_institution_or_one_of_another_kind_is_refused(marked: str, other: IndexHit) -> None:
    assert await decided(marked, other) == [False]


@pytest.mark.parametrize(
    ("marked", "other"),
    [
        ("[CITY|Dedham]", hit("Denham", "CITY", OWN, "PLACE")),
        ("[ADDRESS|31 Fern Street]", hit("32 Fern Street", "ADDRESS", OWN, "PLACE")),
        ("MRN [MEDICAL_RECORD_NUMBER|7781920]", hit("7781921", "MEDICAL_RECORD_NUMBER", OWN, "ID")),
    ],
)
async def test_a_place_or_a_number_that_differs_in_one_character_is_refused(marked: str, other: IndexHit) -> None:
    assert await decided(marked, other) == [False]


async def test_a_hit_whose_original_the_index_does_not_keep_is_refused() -> None:
    assert await decided("[CLINICIAN|Adam Wilson] came.", hit(None)) == [False]


async def test_the_answers_stand_in_the_order_of_the_hits() -> None:
    hits = (hit("Beth Wilson"), hit(None), hit("Adam Wilson"), hit("Adam Williams"))
    assert await decided("[CLINICIAN|Adam Wilson] came.", *hits) == [False, False, True, False]


class Alike:
    """An embedder that gives all texts the same vector, so everything is a hit and only the validator decides."""

    name, version, dimension = "alike", "1", 4

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), self.dimension), 0.5, np.float32)


async def identities(*notes: RelexNote) -> list[str]:
    """Return the identity of each mention, note by note. Every earlier identity of its group is a hit."""
    tools = Tools(MemoryIndex(Keyring(KEY.master), dimension=4), Keyring(KEY.master), embedder=Alike())
    shown: list[str] = []
    for one in notes:
        outcome: BatchOutcome = await relexicalize([one], tools)
        shown += [outcome.shown[v].identity for v in sorted(one.variants, key=lambda v: v.start)]
    return shown


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Dr. [CLINICIAN|Adam Wilson] came.", "Dr. [CLINICIAN|Temitope Oyelaran] came."),
        ("Dr. [CLINICIAN|Adam Wilson] came.", "Dr. [CLINICIAN|Beth Wilson] came."),
        ("At [HOSPITAL|Westfield General Hospital].", "At [HOSPITAL|Brookline Memorial Hospital]."),
    ],
)
async def test_two_of_the_domain_keep_two_identities_however_near_their_vectors_are(first: str, second: str) -> None:
    one, two = await identities(note("1", "p1", first), note("2", "p2", second))
    assert one != two


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[PATIENT|Rosa Marin] came.", "[RELATIVE|Luis Marin] came."),
        ("Her son, [RELATIVE|Luis Marin], came.", "Her sister, [RELATIVE|Ana Marin], came."),
        ("Lives in [CITY|Dedham].", "Lives in [CITY|Quincy]."),
    ],
)
async def test_two_of_a_patients_records_keep_two_identities_however_near_their_vectors_are(
    first: str, second: str
) -> None:
    one, two = await identities(note("1", "p1", first), note("2", "p1", second))
    assert one != two
