"""Names found through layout (tables, chats, initials, spelled names), types of names, and low-confidence names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules.names import find

LAYOUT = [
    "Then Dr. ⟦Emily\nCarter⟧ called.",
    "seen by Dr. ⟦Tomasz\nWieczorek⟧, who agreed",
    "Dr. ⟦Carter⟧\nImpression: stable",
    "⟦Okafor, Chinedu⟧\nDOB 3/4/1970",
    "⟦MARTINEZ, ROSA⟧   F   04/05/1960",
    "Time | Patient | Age\n08:00 | ⟦Abara, Faith⟧ | 67\n08:20 | ⟦Jan Kowal⟧ | 4",
    "NAME                 AGE   ROOM\n⟦Delgado, Ines⟧        44    12\n⟦Smythe, Paul⟧         61    14",
    "DATE      BP      RN\n06-03-24  168/81  ⟦BTS⟧\n06-05-24  159/77  ⟦KLM⟧",
    "[19:42] ⟦jomar⟧: hey who has bed 4\n[19:43] ⟦denise⟧: me",
    "initials: ⟦MDE⟧",
    "FH: mother ⟦Carmen Rivera⟧, Calle Marina, Ponce",
    "Mother ⟦Sophie Berger⟧, Hauptstrasse 4",
    "Dictated 3/4. ⟦RKS⟧/⟦jmp⟧",
    "B1  ⟦TK⟧ 44M POD 2\nB2  ⟦RW⟧ 61F SBO\nchase bloods ⟦TK⟧",
    "this is doctor ⟦iyer⟧ that's ⟦i y e r⟧ dictating",
    "Home visit done, all well.\n— ⟦W.M.⟧",
    "Plan: discharge tomorrow.\n\n⟦KJ⟧ RN",
    "- ⟦Nadia⟧ (12), asthma\n- ⟦Omar⟧ (9), well",
    'Live female "⟦Marisol⟧" at 1203',
]

NOT_LAYOUT = [
    "Then Dr. ⟦Emily\nCarter⟧ called.",
    "seen by Dr. ⟦Tomasz\nWieczorek⟧, who agreed",
    "Dr. ⟦Carter⟧\nImpression: stable",
    "Lungs, Clear\nHeart, Regular",
    "Salmonella Dublin, S. Newport, S. Heidelberg",
    "Test | Result | Flag\nSodium | 134 | L",
    "MED      DOSE    ROUTE\nLasix    40 mg   PO\nColace   100 mg  PO",
    "Findings: as above\nFindings: none",
    "BP 120 / HR 80 / RR 16",
    "A B C D E F",
    "NAD, AOx3\nRRR, no murmur",
    "Plan: home.\n\nPRN",
]


@pytest.mark.parametrize("marked", [*LAYOUT, *NOT_LAYOUT])
def test_layout_tells_names_and_only_names(marked: str, check: Callable[..., None]) -> None:
    check(marked, find=find)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Patient Name: Maria Garcia", "PATIENT"),
        ("Seen by Dr. Okonjo.", "CLINICIAN"),
        ("Amina Yusuf, RN", "CLINICIAN"),
        ("His wife Carmen is here.", "RELATIVE"),
        ("Next of kin: Harold Fennimore", "RELATIVE"),
        ("Mr. Tolliver drove the van.", "PERSON"),
    ],
)
def test_the_cue_tells_whose_name_it_is(text: str, type_: str) -> None:
    assert [c.type for c in find(View(Text(text)))] == [type_]


def test_a_name_found_by_a_strong_cue_is_found_alone_elsewhere() -> None:
    text = "Seen by Dr. Rivermont. The family asked that Rivermont call them."
    assert [text[c.start : c.end] for c in find(View(Text(text)))] == ["Rivermont", "Rivermont"]


def test_a_name_that_is_a_word_too_is_not_seen_in_the_word() -> None:
    text = "Mr. Long has long QT. Mrs. May may go home in May."
    assert [c.start for c in find(View(Text(text)))] == [text.index("Long"), text.index("May")]


def test_a_capitalised_unknown_word_after_told_is_doubtful_not_found() -> None:
    candidates = list(find(View(Text("It was agreed with Zyvqorth that she would rest."))))
    assert [0.3 <= c.score < 0.5 for c in candidates] == [True]
