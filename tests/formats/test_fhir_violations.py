"""What the FHIR rules refuse. The message includes the path of the error, but never its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from incognote.errors import MalformedRecord, SchemaViolation

from .fhir_samples import MASKED, RACE, opened, patient

CANARY = "Quillfeather"
VIOLATIONS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "an unknown element": ("nickname", lambda: patient(nickname=CANARY)),
    "an unknown nested element": ("name[0].middle", lambda: patient(name=[{"middle": CANARY}])),
    "a key that is a surname": ("name[0]", lambda: patient(name=[{CANARY: 1}])),
    "a key that is no name": ("name[0]", lambda: patient(name=[{f"{CANARY} 617-555": 1}])),
    "a resource type of no release": ("contained[0].resourceType", lambda: patient(
        contained=[{"resourceType": CANARY}])),
    "an extension without url": ("extension[0]", lambda: patient(extension=[{"valueString": CANARY}])),
    "inner extensions that are no list": ("extension[0].extension", lambda: patient(
        extension=[{"url": RACE, "extension": {"url": "text", "valueString": CANARY}}])),
    "an inner extension that is no object": ("extension[0].extension[0]", lambda: patient(
        extension=[{"url": RACE, "extension": [CANARY]}])),
    "implicit rules": ("implicitRules", lambda: patient(implicitRules=f"https://x.example/{CANARY}")),
    "a value its extension has not": ("extension[0].valueString", lambda: patient(
        extension=[{"url": MASKED["extension"][0]["url"], "valueString": CANARY}])),
    "a modifier extension": ("modifierExtension", lambda: patient(modifierExtension=[MASKED["extension"][0]])),
    "an invented resource": ("resourceType", lambda: {"resourceType": CANARY}),
    "a contained resource that contains": ("contained[0]", lambda: patient(contained=[patient(contained=[patient()])])),
    "a resource without type": ("entry[0].resource", lambda: {
        "resourceType": "Bundle", "type": "batch", "entry": [{"resource": {}}]}),
    "a word for a boolean": ("active", lambda: patient(active=CANARY)),
    "a string for an object": ("name[0]", lambda: patient(name=[CANARY])),
    "an object for a list": ("name", lambda: patient(name={"family": CANARY})),
    "a list for an object": ("maritalStatus", lambda: patient(maritalStatus=[{"text": CANARY}])),
    "an empty list": ("name", lambda: patient(name=[])),
    "an empty object": ("name[0]", lambda: patient(name=[{}])),
    "an empty string": ("name[0].family", lambda: patient(name=[{"family": ""}])),
    "a null": ("gender", lambda: patient(gender=None)),
    "a null in a list": ("name[0].given[0]", lambda: patient(name=[{"given": [None]}])),
    "a code outside its list": ("gender", lambda: patient(gender=CANARY)),
    "a sibling of an object": ("_maritalStatus", lambda: patient(_maritalStatus={"id": CANARY})),
    "a sibling list too short": ("name[0]._given", lambda: patient(
        name=[{"given": [CANARY, "b"], "_given": [None]}])),
    "a day that never was": ("birthDate", lambda: patient(birthDate="1980-02-30")),
    "words for a date": ("birthDate", lambda: patient(birthDate=f"born in {CANARY}")),
    "a date with time without zone": ("deceasedDateTime", lambda: patient(deceasedDateTime="2020-01-01T10:00:00")),
    "an id of odd characters": ("id", lambda: patient(id=f"{CANARY} 1")),
    "a fraction for an integer": ("multipleBirthInteger", lambda: patient(multipleBirthInteger=1.5)),
    "a name for a reference": ("managingOrganization.reference", lambda: patient(
        managingOrganization={"reference": CANARY})),
    "words for a type": ("managingOrganization.type", lambda: patient(managingOrganization={"type": CANARY})),
    "a script": ("text.div", lambda: patient(
        text={"status": "generated", "div": f"<div><script>{CANARY}</script></div>"})),
    "a name beside a status": ("entry[0].response.status", lambda: {
        "resourceType": "Bundle", "type": "batch-response", "entry": [{"response": {"status": f"200 {CANARY}"}}]}),
    "a name for a relation": ("link[0].relation", lambda: {
        "resourceType": "Bundle", "type": "searchset", "link": [{"relation": CANARY.lower(), "url": "Patient/1"}]}),
    "a name in a language": ("language", lambda: patient(language=f"en-{CANARY[:8]}")),
    "words for a language": ("language", lambda: patient(language=f"{CANARY}_x")),
    "nothing that may stay": ("content[0].attachment", lambda: {
        "resourceType": "DocumentReference", "status": "current", "content": [{"attachment": {"size": 5}}]}),
}


@pytest.mark.parametrize("what", VIOLATIONS)
def test_what_no_rule_allows_is_refused_with_its_path_and_without_its_value(what: str) -> None:
    path, make = VIOLATIONS[what]
    with pytest.raises(SchemaViolation) as raised:
        opened(make())
    assert raised.value.field == path
    assert CANARY not in str(raised.value)
    assert raised.value.__cause__ is None


def test_sections_nested_without_end_are_refused() -> None:
    section: dict[str, Any] = {"title": "x"}
    for _ in range(60):
        section = {"section": [section]}
    with pytest.raises(SchemaViolation, match="nested"):
        opened({"resourceType": "Composition", "section": [section]})
    raw = '{"resourceType": "Composition", "section": [' + '{"section": [' * 300 + "]}" * 300 + "]}"
    with pytest.raises(MalformedRecord):
        opened(raw)


