"""Surrogates in a text: offsets, untouched bytes, every way of writing; RedactOR's sample record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ImpossibleSpan
from incognote.keys import Keyring
from incognote.nouns import Replacement, Span, Text
from incognote.relex.apply import apply, bearers
from incognote.relex.generate import Choices, Generators, Keyed, Taken
from incognote.relex.nouns import Group, Hints, Identity, Rendered, Surrogate, Variant

KEY = Keyring(bytes(range(32)))


def variant(span: Span, title: str = "") -> Variant:
    return Variant(span.type, span.words, "d", "p", "r", span.field, span.start, span.end, Hints(title=title))


def find(text: Text, type: str, words: str, start: int = 0) -> Span:
    at = text.content.index(words, start)
    return Span(text, at, at + len(words), type)


def person(id: str, variants: Iterable[Variant], **attributes: str) -> Identity:
    found = tuple(sorted(variants))
    return Identity(id, "PERSON", "d", "patient:p", found, {"normal": id, **attributes})


def shout(variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
    """A stand-in for a renderer: as many x as the surrogate says, or a label."""
    return Rendered(surrogate.parts["x"]) if surrogate.parts else None


@given(st.text(min_size=1, max_size=60), st.data())
def test_everything_outside_the_spans_is_as_it_was(content: str, data: st.DataObject) -> None:
    text = Text(content)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(content)), max_size=8)))
    spans = [Span(text, a, b, "PERSON") for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    mentions = {span: variant(span) for span in data.draw(st.permutations(spans))}
    people = [person(str(at), [one]) for at, one in enumerate(mentions.values())]
    called = {
        one.id: Surrogate({"x": data.draw(st.text(max_size=5))} if at % 3 else {}) for at, one in enumerate(people)
    }
    out, replaced = apply(text, mentions, bearers(people), called, shout)
    assert [r.span for r in replaced] == spans
    at = end = 0
    for one in replaced:
        assert out[at : one.out_start] == content[end : one.span.start]
        assert out[one.out_start : one.out_end] == one.text
        at, end = one.out_end, one.span.end
    assert out[at:] == content[end:]


def test_a_replacement_bears_its_identity_and_a_label_where_nothing_can_be_said() -> None:
    text = Text("Ann met Bo.")
    mentions = {span: variant(span) for span in (find(text, "PERSON", "Ann"), find(text, "PERSON", "Bo"))}
    first, second = (person(name, [one]) for name, one in zip("ab", mentions.values(), strict=True))
    out, replaced = apply(
        text, mentions, bearers([first, second]), {"a": Surrogate({"x": "Eve"}), "b": Surrogate({})}, shout
    )
    assert out == "Eve met [PERSON]."
    assert [(r.identity, r.operator) for r in replaced] == [("a", "surrogate"), ("b", "surrogate")]


def test_spans_that_overlap_or_are_of_another_text_are_refused() -> None:
    text = Text("Ann met Bo.")
    one, two = Span(text, 0, 5, "PERSON"), Span(text, 3, 9, "PERSON")
    people = bearers([person("a", [variant(one), variant(two)])])
    given_names = {"a": Surrogate({"x": "Eve"})}
    with pytest.raises(ImpossibleSpan, match="overlaps"):
        apply(text, {one: variant(one), two: variant(two)}, people, given_names, shout)
    with pytest.raises(ImpossibleSpan, match="another text"):
        apply(Text("Ann met Bob"), {one: variant(one)}, people, given_names, shout)
    with pytest.raises(ImpossibleSpan, match="another mention"):
        apply(text, {one: variant(two)}, people, given_names, shout)


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


# RedactOR §A.9.2, with identities made by hand.
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
    """The sample's AGE field, its note, and what was replaced in the note."""
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
    called = generators.generate_all(identities, Keyed(KEY), Taken())
    homes = bearers(identities)
    out, replaced = apply(note, {span: variant(span) for span in mentions}, homes, called, generators.render)
    told, _ = apply(age, {field: variant(field)}, homes, called, generators.render)
    return told, out, replaced


SHAPE = re.compile(
    r"(?P<patient>[A-Z]\S+ (?P<family>\S+)), a (?P<age>\S+) male, presented to (?P<hospital>\w+) Medical Center on "
    r"(?P<seen>\d\d/\d\d/\d{4}) complaining of severe abdominal pain\. He was referred by Dr\. (?P<doctor>\S+ \S+) "
    r"from (?P<clinic>\w+) Health Clinic\. His address is (?P<number>\d{3}) (?P<street>[\w ]+) St, (?P<city>[\w ]+), "
    r"CA (?P<zip>\d{5})\. Contact number: \((?P<area>\d{3})\) (?P<home>555-01\d\d)\. Past medical history includes "
    r"hypertension and Type 2 diabetes\. His insurance ID is INS-(?P<insurance>\d{9})\. The patients spouse, "
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
