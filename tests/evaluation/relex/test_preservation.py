"""The entity preservation rate: the paper's good and bad examples, and every kind of entity."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.evaluation.relex.coherence import preserved
from incognote.evaluation.relex.pairs import NotePair

GOOD = (
    "[CLINICIAN Dr. Emily Carter|Dr. Kevin Chang] is a [OCCUPATION cardiologist|cardiologist] at "
    "[HOSPITAL St. Mary's Hospital|Lincoln Medical Center]"
)
BAD = (
    "[CLINICIAN Dr. Emily Carter|Alice] is a [OCCUPATION cardiologist|teacher] at "
    "[HOSPITAL St. Mary's Hospital|Westwood Academy]"
)


def rate(note: NotePair) -> float:
    told = [preserved(mention)["role"] for mention in note.mentions]
    return sum(told) / len(told)


def test_the_papers_good_example_keeps_every_role_and_its_bad_one_none(pair: Callable[..., NotePair]) -> None:
    assert rate(pair(GOOD)) == 1
    assert rate(pair(BAD)) == 0


@pytest.mark.parametrize(
    ("type", "before", "kept", "lost"),
    [
        ("PATIENT", "HARGROVE, ROBERT T.", "CHANG, KEVIN L.", "Kevin Chang"),
        ("PATIENT", "R.H.", "K.C.", "Kevin"),
        ("CLINICIAN", "Wilson's", "Chang's", "Chang"),
        ("HOSPITAL", "WGH", "LMC", "Lincoln Medical Center"),
        ("PHARMACY", "Corner Pharmacy", "Maple Pharmacy", "Maple Hospital"),
        ("TELEPHONE_NUMBER", "(617) 555-0143", "(508) 555-0199", "508 5550199"),
        ("EMAIL", "a.b@c.example", "k.c@d.example", "k.c at d"),
        ("MEDICAL_RECORD_NUMBER", "MRN-A12345", "MRN-D98765", "98765"),
        ("ADDRESS", "31 Fern Street, Dedham", "76 Hyacinth Road, Salem", "Salem"),
        ("ZIP", "02026", "01721", "London"),
        ("DATE", "March 4, 2025", "April 14, 2025", "4/14/25"),
        ("AGE", "81-year-old", "80-year-old", "12-year-old"),
        ("AGE", "3 weeks", "2 weeks", "3 years"),
        ("PATIENT", "Adam Wilson", "Kevin Chang", "[NAME]"),
    ],
)
def test_what_changes_its_sort_or_its_form_is_lost(
    pair: Callable[..., NotePair], type: str, before: str, kept: str, lost: str
) -> None:
    assert rate(pair(f"[{type} {before}|{kept}]")) == 1
    assert rate(pair(f"[{type} {before}|{lost.replace('[', '<').replace(']', '>')}]")) == 0


def test_attributes_count_only_where_the_original_tells_them(pair: Callable[..., NotePair]) -> None:
    (kept,) = pair("[RELATIVE Fatima Hassan|Khadija Ahmed]").mentions
    assert preserved(kept) == {"role": True, "gender": True, "name locale": True}
    (turned,) = pair("[RELATIVE Fatima Hassan|Krzysztof Nowak]").mentions
    assert preserved(turned) == {"role": True, "gender": False, "name locale": False}
    (silent,) = pair("[RELATIVE F. H.|G. S.]").mentions
    assert preserved(silent) == {"role": True}
