"""Applying surrogates to a text: offsets, untouched bytes, every way of writing, and RedactOR's sample record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from incognote.keys import Keyring
from incognote.nouns import Replacement, Span, Text
from incognote.relex.generate import Choices, Generators, KeyedDraw, UsedSurrogates
from incognote.relex.nouns import Group, Hints, Identity, MentionVariant, Surrogate

from .applying import apply, bearers

KEY = Keyring(bytes(range(32)))


def variant(span: Span, title: str = "") -> MentionVariant:
    return MentionVariant(span.type, span.words, "d", "p", "r", span.field, span.start, span.end, Hints(title=title))


def find(text: Text, type: str, words: str, start: int = 0) -> Span:
    at = text.content.index(words, start)
    return Span(text, at, at + len(words), type)


def person(id: str, variants: Iterable[MentionVariant], **attributes: str) -> Identity:
    found = tuple(sorted(variants))
    return Identity(id, "PERSON", "d", "patient:p", found, {"normal": id, **attributes})


def test_wilson_and_dr_adam_wilson_become_chang_and_dr_kevin_chang() -> None:
    text = Text("Dr. Adam Wilson saw her; Wilson agreed. WILSON, ADAM. Signed, A. Wilson's scribe.")
    spans = [
        find(text, "CLINICIAN", "Adam Wilson"),
        find(text, "CLINICIAN", "Wilson", 20),
        find(text, "CLINICIAN", "WILSON, ADAM"),
        find(text, "CLINICIAN", "A. Wilson's"),
    ]
    mentions = {span: variant(span, "dr" if span.start == 4 else "") for span in spans}
    doctor = person("wilson", mentions.values(), gender="male")
    called = {"wilson": Surrogate({"given": "Kevin", "surname": "Chang"}, "1")}
    out, _ = apply(text, mentions, bearers([doctor]), called, Generators().render)
    assert out == "Dr. Kevin Chang saw her; Chang agreed. CHANG, KEVIN. Signed, K. Chang's scribe."


# RedactOR §A.9.2, with hand-made identities.
RECORD = {
    "AGE": "45 years",
    "note": (
        "John Doe, a 45-year-old male, presented to Stanford Medical Center on 03/16/2025 complaining of severe "
        "abdominal pain. He was referred by Dr. Emily Smith from Valley Health Clinic. His address is 123 Main St, "
        "Palo Alto, CA 94301. Contact number: (650) 555-1234. Past medical history includes hypertension and Type 2 "
        "diabetes. His insurance ID is INS-789456123. The patients wife, Jane Doe, can be reached at (650) 555-5678. "
        "A CT scan was performed and results were discussed with the patient at 2:00 PM. Follow-up scheduled on "
        "03/22/2025 at 9:00 AM. Patient is employed as a software engineer at TechNova Corp. Social Security Number: "
        "987-65-4321."
    ),
}
FOUND: list[tuple[Group, str, str, dict[str, str]]] = [
    ("PERSON", "PATIENT", "John Doe", {"gender": "male", "locale": "en"}),
    ("AGE", "AGE", "45-year-old", {}),
    ("ORG", "HOSPITAL", "Stanford Medical Center", {}),
    ("DATE", "DATE", "03/16/2025", {"normal": "day\x002025\x003\x0016"}),
    ("PERSON", "CLINICIAN", "Emily Smith", {"gender": "female", "locale": "en"}),
    ("ORG", "HOSPITAL", "Valley Health Clinic", {}),
    ("PLACE", "ADDRESS", "123 Main St, Palo Alto, CA 94301", {}),
    ("CONTACT", "TELEPHONE_NUMBER", "(650) 555-1234", {}),
    ("ID", "FIN", "INS-789456123", {}),
    ("OTHER", "MARITAL_STATUS", "wife", {}),
    ("PERSON", "RELATIVE", "Jane Doe", {"gender": "female", "locale": "en"}),
    ("CONTACT", "TELEPHONE_NUMBER", "(650) 555-5678", {}),
    ("DATE", "DATE", "03/22/2025", {"normal": "day\x002025\x003\x0022"}),
    ("OCCUPATION", "OCCUPATION", "software engineer", {}),
    ("ORG", "ORGANIZATION", "TechNova Corp", {}),
    ("ID", "SSN_OR_TAXPAYER", "987-65-4321", {}),
]


def relexicalized(choices: Choices) -> tuple[str, str, tuple[Replacement, ...]]:
    """Return the sample's AGE field, its note, and the replacements in the note."""
    note, age = Text(RECORD["note"], "note"), Text(RECORD["AGE"], "AGE")
    field = Span(age, 0, len(age), "AGE")
    mentions = {find(note, kind, words): (group, more) for group, kind, words, more in FOUND}
    identities = []
    for span, (group, more) in mentions.items():
        scope = "" if span.type in ("CLINICIAN", "HOSPITAL", "ORGANIZATION") else "patient:p"
        variants = [variant(span)] + ([variant(field)] if group == "AGE" else [])
        about = {"type": span.type, "normal": span.text.lower(), **more}
        identities.append(Identity(span.text, group, "d", scope, tuple(sorted(variants)), about))
    generators = Generators(choices)
    called = generators.generate_all(identities, KeyedDraw(KEY), UsedSurrogates())
    homes = bearers(identities)
    out, replaced = apply(note, {span: variant(span) for span in mentions}, homes, called, generators.render)
    told, _ = apply(age, {field: variant(field)}, homes, called, generators.render)
    return told, out, replaced


SHAPE = re.compile(
    r"(?P<patient>[A-Z]\S+ (?P<family>\S+)), a (?P<age>\S+) male, presented to (?P<hospital>[\w ]+) Medical Center on "
    r"(?P<seen>\d\d/\d\d/\d{4}) complaining of severe abdominal pain\. He was referred by Dr\. (?P<doctor>\S+ \S+) "
    r"from (?P<clinic>[\w ]+) Health Clinic\. His address is (?P<number>\d{3}) (?P<street>[\w ]+) St, "
    r"(?P<city>[\w ]+), CA (?P<zip>\d{5})\. Contact number: \((?P<area>\d{3})\) (?P<home>555-01\d\d)\. "
    r"Past medical history includes hypertension and Type 2 diabetes\. "
    r"His insurance ID is INS-(?P<insurance>\d{9})\. The patients spouse, "
    r"(?P<wife>\S+ (?P=family)), can be reached at \((?P=area)\) (?P<hers>555-01\d\d)\. A CT scan was performed and "
    r"results were discussed with the patient at 2:00 PM\. Follow-up scheduled on (?P<next>\d\d/\d\d/\d{4}) at 9:00 "
    r"AM\. Patient is employed as a (?P<job>[\w ]+) at (?P<company>\w+) Corp\. Social Security Number: "
    r"(?P<ssn>9\d\d-[1-4]\d-\d{4})\."
)


def test_the_sample_record_tells_the_same_story_of_other_people() -> None:
    age, note, replaced = relexicalized(Choices())
    match = SHAPE.fullmatch(note)
    assert match
    told = match.groupdict()
    assert age == told["age"].replace("-year-old", " years") != RECORD["AGE"]
    assert told["home"] != told["hers"]
    assert told["ssn"] != "987-65-4321"
    for word in "John Doe Emily Smith Jane Stanford Valley Main 94301 650 789456123 TechNova 987-65".split():
        assert not re.search(rf"\b{word}\b", note.split("Past medical")[0] if word == "Valley" else note)
    assert "Palo Alto" not in note
    assert "software engineer" not in note
    assert len(replaced) == len(FOUND)


def test_field_and_note_agree_in_words_too_as_in_the_paper() -> None:
    age, note, _ = relexicalized(Choices(ages="decade"))
    assert age == "mid-forties"
    assert "a mid-forties male" in note


def test_the_sample_is_the_same_for_the_same_key() -> None:
    assert json.dumps(relexicalized(Choices())[:2]) == json.dumps(relexicalized(Choices())[:2])
