"""Why two mentions are one person. Two mentions are joined only for one of these reasons, and it is kept.

The reasons come with the partition and are a function of the set of mentions, so `incognote index explain` computes
them again from what the index remembers.
"""

from __future__ import annotations

REASONS = {
    "same name": "the same full name",
    "nickname": "the same name with a nickname, a short form, an initial, or another middle name",
    "longer name": "one full name contains the other",
    "misspelling": "the same name, with one word misspelled",
    "by ear": "full names that sound alike",
    "initial": "a name written with an initial, and nobody else has that name and initial",
    "surname": "a lone surname that only one person here has",
    "given name": "a lone given name or nickname that only one person here has",
    "middle name": "a lone middle name that only one person here has",
    "suffix": "a lone Junior or Senior, and only one person here is called that",
    "initials": "initials that only one person here has",
    "same words": "the same words, and no fuller name that could be meant",
    "alias": "the text links both names",
    "birth name": "a birth name or former name of the same person",
    "role": "a role that only one person in this chart has",
    "relative": "the same relative with the same given name, under another surname",
    "annotated": "annotated as the patient of this chart",
    "label": "a field label names the patient of this chart",
    "new surname": "the patient's given name under another surname, and the detector calls both the patient",
    "clinician": "the name of a clinician in the same chart or domain",
}
"""Reason → its plain words."""


def by_likeness(score: float) -> str:
    """The reason that goes with the likeness of two whole names (`names.likeness.one_person`)."""
    if score >= 0.9:
        return "same name"
    return {0.8: "nickname", 0.75: "longer name"}.get(score, "misspelling" if score > 0.5 else "by ear")
