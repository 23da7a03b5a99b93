"""Three invented notes in the layout of i2b2 2014 and what a system found in them; each test does its arithmetic.

    100-01  Mary Smith, 76, seen at Mercy Hospital 03/04/2025.
            gold    PERSON "Mary Smith"   AGE "76"    LOCATION "Mercy Hospital"      DATE "03/04/2025"
            found   PERSON "Mary Smith"   DATE "76"   LOCATION "at Mercy Hospital"
    100-02  Dr. Lund saw her; call 555-0142, MRN 88412.
            gold    PERSON "Lund"                       CONTACT "555-0142"   ID "88412"
            found   PERSON "Dr. Lund"   PERSON "call"   CONTACT "555-0142"   PROFESSION "MRN"
    100-03  Foley out, no fever.
            found   PERSON "Foley"

In all 7 gold spans. Nobody annotated a PROFESSION, so "MRN" is not scored, and 7 findings are left.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import Scheme

FOUND = {
    "100-01": [(0, 10, "PATIENT"), (12, 14, "DATE"), (21, 38, "LOCATION")],
    "100-02": [
        (0, 8, "PERSON"),
        (18, 22, "PERSON"),
        (23, 31, "TELEPHONE_NUMBER"),
        (33, 36, "OCCUPATION"),
    ],
    "100-03": [(0, 5, "PERSON")],
}


def _read(path: Path) -> Pair:
    root = ElementTree.parse(path).getroot()
    text = root.findtext("TEXT") or ""
    gold = []
    for tag in root.iterfind("TAGS/*"):
        label = LabeledSpan(int(tag.attrib["start"]), int(tag.attrib["end"]), tag.attrib["TYPE"])
        assert text[label.start : label.end] == tag.attrib["text"]
        gold.append(label)
    return Pair(path.stem, text, tuple(gold), tuple(LabeledSpan(*row) for row in FOUND[path.stem]))


@pytest.fixture(scope="session")
def notes() -> list[Pair]:
    return [_read(path) for path in sorted((Path(__file__).parent / "i2b2").glob("*.xml"))]


@pytest.fixture(scope="session")
def scheme(notes: list[Pair]) -> Scheme:
    return Scheme.of(notes)
