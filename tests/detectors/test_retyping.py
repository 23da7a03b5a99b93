"""Names get the type that the text supports."""

from __future__ import annotations

import pytest

from incognote.detectors.retyping import retyped
from incognote.nouns import Span, Text


def kinds(marked: str, kind: str = "PERSON", source: str = "encoder", served: bool = True) -> list[str]:
    """Retype the names in square brackets, all found with one type."""
    content, spans = "", []
    for part in marked.split("["):
        name, bracket, rest = part.partition("]")
        if bracket:
            spans.append((len(content), len(content) + len(name)))
        content += name + rest
    text = Text(content)
    return [s.type for s in retyped([Span(text, *at, kind, 0.9, (source,)) for at in spans], lambda _: served)]


@pytest.mark.parametrize(
    "text",
    [
        "His brother called from [Oldham] today.",
        "Delivered in [Ciudad Juárez].",
        "Half-brother in [Les Cayes] was not typed.",
        "Born [Jacmel], Haiti.",
        "He worries about [Kharkiv].",
        "His father called from [Alexandria].",
    ],
)
def test_a_town_that_a_detector_took_for_a_person_is_a_town(text: str) -> None:
    assert kinds(text) == ["CITY"]


def test_a_town_after_a_whole_name_and_a_comma_is_a_town() -> None:
    assert kinds("Contact: [Kevin Donohue], fire captain, [Boardman]; home 330.") == ["PERSON", "CITY"]


@pytest.mark.parametrize(
    "text",
    [
        "Message from [Oldham] about the dose.",
        "Transported from the scene by Dr. [Oldham].",
        "In the room, mother [Alexandria] asked why.",
        "Seen with [Kharkiv], RN.",
        "[Hilo] denies pain.",
        "She goes by [Teni].",
        "He yelled at [Prince].",
        "The party was at [Maria]'s.",
        "Mr. [Ivan Szeged] is here. [Szeged] slept well in [Szeged].",
    ],
)
def test_a_name_that_the_text_shows_to_be_a_persons_stays_one(text: str) -> None:
    assert set(kinds(text)) == {"PERSON"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[Al-Noor Hosp]. Seen today.", "HOSPITAL"),
        ("[Sint Odulphus Ziekenhuis], ward 4", "HOSPITAL"),
        ("Meds to [Farmacia del Río].", "PHARMACY"),
        ("A HoLEP at [Prince Edwin] or a catheter.", "HOSPITAL"),
        ("They took him to [Humber West] ER.", "HOSPITAL"),
        ("The playgroup [Gan Shira] needs a form.", "ORGANIZATION"),
        ("Admission, care home [Hlíðarsel]", "HOSPITAL"),
        ("A teacher at [Franklin Pierce].", "ORGANIZATION"),
    ],
)
def test_an_institution_that_a_detector_took_for_a_person_is_one(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Returned to [Oakwood Pharmacy].", "PHARMACY"),
        ("Amara drove him to [St Brigid's].", "HOSPITAL"),
        ("The fish is from [Higa Fish Market].", "ORGANIZATION"),
    ],
)
def test_an_institution_that_a_detector_took_for_a_town_is_one(text: str, kind: str) -> None:
    assert kinds(text, "CITY") == [kind]


def test_a_persons_name_that_a_detector_took_for_a_town_is_a_persons() -> None:
    text = Text("His daughter Solomiia came. He sleeps in Solomiia's room.")
    spans = [Span(text, 13, 21, "RELATIVE", 0.9, ("encoder",)), Span(text, 41, 49, "CITY", 0.9, ("encoder",))]
    assert [s.type for s in retyped(spans, lambda _: True)] == ["RELATIVE", "RELATIVE"]


def test_a_name_in_a_foreign_script_is_kept() -> None:
    assert kinds("Seen with [李明] and [12].") == ["PERSON", "PERSON"]


def test_the_short_name_of_an_institution_in_the_same_text_has_its_type() -> None:
    assert kinds("[Humber West Infirmary]. Taken to [Humber West] overnight.") == ["HOSPITAL", "HOSPITAL"]


@pytest.mark.parametrize("text", ["Message from [kimly.tran] today", "login [shpark]", "portal name [lrivasf]"])
def test_a_login_name_is_a_user_name(text: str) -> None:
    assert kinds(text) == ["USERNAME"]


def test_no_span_gets_a_type_that_the_policy_leaves_unchanged() -> None:
    assert kinds("Called from [Oldham].", served=False) == ["PERSON"]


def test_a_known_identifier_and_a_site_packs_finding_keep_their_type() -> None:
    assert kinds("Called from [Oldham].", source="known") == ["PERSON"]
    assert kinds("Called from [Oldham].", source="pack:lists") == ["PERSON"]
