"""Made-up charts whose person types are partly wrong, as a detector's are, and how many patients get somebody joined.

    python -m incognote_benchmarks.wrong_types --charts 1000

Each chart has a patient, relatives, a friend, staff, and often a namesake. By default, a quarter of the mentions have a
wrong type, and 5 % of the spans lose a word or include one too many.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
from incognote.relex.names.parsed import data
from incognote.relex.nouns import MentionVariant

Gold = dict[MentionVariant, str]
"""Mention → the person meant: `patient`, or another name within the chart."""
TYPES = ("PATIENT", "RELATIVE", "CLINICIAN", "PERSON")
_SLOT = re.compile(r"\{(\w+)\.(\w+)\}")
_HEADERS = (
    "Patient: {patient.inverted}\nDOB 04/11/1951\n\n",
    "RE: {patient.full}\n\nDear colleague,\n\n",
    "PROGRESS NOTE\n\n{patient.full} is here for follow-up. ",
    "Name: {patient.full}   MRN 55182\n\n{patient.title} {patient.surname} returns today. ",
)
_SENTENCES = (
    *("{patient.title} {patient.surname} slept well. ", "{patient.given} asks about the diet. "),
    *("{patient.full} signed the form. ", "Discussed with {patient.given}, who agrees. "),
    *("{patient.their} {spouse.kin}, {spouse.full}, called at noon. ", "{spouse.given} agrees with the plan. "),
    *("Emergency contact: {spouse.full}. ", "{spouse.title} {spouse.surname} was told. "),
    *("{patient.their} {child.kin} {child.full} lives in town. ", "{child.given} drove home. "),
    *("{patient.their} {parent.kin}, {parent.full}, had the same illness. ", "The {parent.kin} {parent.given} died. "),
    *("The donor, {friend.full}, is well. ", "{friend.given} from work visited. "),
    *("Dr. {doctor.full} reviewed the film. ", "Seen by {doctor.full}, MD. ", "Dr. {doctor.surname} agrees. "),
    *("Wound care by {nurse.full}, RN. ", "{nurse.given} changed the dressing. "),
)
_NAMESAKE = ("Another {namesake.full} is on file. ", "Not to be confused with {namesake.full} of Lynn. ")
_KIN = {"female": ("wife", "daughter", "mother"), "male": ("husband", "son", "father")}


@dataclass(frozen=True)
class _Person:
    role: str
    sex: str
    given: str
    surname: str
    kin: str = ""

    def written(self, how: str) -> str:
        if how in ("given", "surname", "kin"):
            return str(getattr(self, how))
        if how == "title":
            return "Ms." if self.sex == "female" else "Mr."
        if how == "their":
            return "Her" if self.sex == "female" else "His"
        return f"{self.surname.upper()}, {self.given}" if how == "inverted" else f"{self.given} {self.surname}"


def charts(count: int, seed: int, wrong: float = 0.25, cut: float = 0.05) -> Iterator[Gold]:
    """Yield the mentions of charts, three notes each, with the person that each mention means.

    Args:
        wrong: the share of mentions with a wrong type.
        cut: the share of spans that lose or gain a word.
    """
    random = Random(seed)  # noqa: S311 (made-up charts, repeatable by seed)
    for number in range(count):
        people = {one.role: one for one in _people(random)}
        gold: Gold = {}
        for record in range(3):
            lines = [random.choice(_HEADERS), *random.sample(_SENTENCES, 9)]
            if "namesake" in people and record == 1:
                lines.insert(random.randint(1, 9), random.choice(_NAMESAKE))
            gold |= _note("".join(lines), people, random, f"{number}-{record}", f"p{number}", wrong, cut)
        yield gold


def _people(random: Random) -> Iterator[_Person]:
    names = {kind: [name.capitalize() for name in words.split()] for kind, words in data("people.toml")["en"].items()}

    def person(role: str, sex: str, surname: str = "", kin: str = "") -> _Person:
        return _Person(role, sex, random.choice(names[sex]), surname or random.choice(names["surname"]), kin)

    sexes = ("female", "male")
    patient = person("patient", random.choice(sexes))
    yield patient
    other = "male" if patient.sex == "female" else "female"
    yield person("spouse", other, random.choice((patient.surname, "")), _KIN[other][0])
    for role, at in (("child", 1), ("parent", 2)):
        sex = random.choice(sexes)
        yield person(role, sex, random.choice((patient.surname, patient.surname, "")), _KIN[sex][at])
    for role in ("friend", "doctor", "nurse"):
        yield person(role, random.choice(sexes))
    if random.random() < 0.3:
        yield _Person("namesake", patient.sex, patient.given, patient.surname)


_RIGHT = {"patient": "PATIENT", "spouse": "RELATIVE", "child": "RELATIVE", "parent": "RELATIVE", "doctor": "CLINICIAN"}


def _note(
    template: str, people: dict[str, _Person], random: Random, record: str, patient: str, wrong: float, cut: float
) -> Gold:
    text, places, done = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[done : slot.start()]
        words = people[slot[1]].written(slot[2])
        if slot[2] in ("full", "inverted", "given", "surname"):
            places.append((len(text), len(text) + len(words), slot[1]))
        text += words
        done = slot.end()
    source = Text(text + template[done:])
    gold: Gold = {}
    for start, end, role in places:
        kind = {**_RIGHT, "nurse": "CLINICIAN"}.get(role, "PERSON")
        if random.random() < wrong:
            kind = random.choice([other for other in TYPES if other != kind])
        if random.random() < cut:
            start, end = _cut(source.content, start, end, random)
        span = Span(source, start, end, kind, 0.97, ("encoder:full",))
        gold[variant(span, record=record, patient=patient, domain="d")] = role
    return gold


def _cut(text: str, start: int, end: int, random: Random) -> tuple[int, int]:
    """Return the span without its last word, or with the word after it."""
    space = text.rfind(" ", start, end)
    if space > start and random.random() < 0.5:
        return start, space if text[space - 1] != "," else space - 1
    after = re.compile(r",? \w+").match(text, end)
    return start, after.end() if after else end


def joined(gold: Gold) -> tuple[bool, bool]:
    """Return whether somebody else is joined to the patient of a chart, and whether any two people are joined."""
    groups: dict[str, set[str]] = defaultdict(set)
    for one in cluster(gold):
        groups[one.id] |= {gold[v] for v in one.variants}
    mixed = [group for group in groups.values() if len(group) > 1]
    return any("patient" in group for group in mixed), bool(mixed)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the shares as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--charts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", type=float, default=0.25)
    parser.add_argument("--cut", type=float, default=0.05)
    args = parser.parse_args(argv)
    found = [joined(gold) for gold in charts(args.charts, args.seed, args.wrong, args.cut)]
    with_patient, any_two = (sum(column) for column in zip(*found, strict=True))
    counts = {"charts": len(found), "joined to the patient": with_patient, "with any join": any_two}
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main()
