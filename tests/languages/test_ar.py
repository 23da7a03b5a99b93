"""The rules of the Arabic bundle on short texts. All names and numbers are invented."""

from __future__ import annotations

import pytest

from incognote.agents.detection import Detection
from incognote.nouns import Text
from incognote.schemas.policy import load_policy

pytest.importorskip("incognote_ar")

DETECTION = Detection(("rules",))
POLICY = load_policy("strict")


def found(text: str) -> dict[str, str]:
    """Return the found words with their types."""
    spans = DETECTION.find([Text(text)], POLICY)[0].spans
    return {text[span.start : span.end]: span.type for span in spans}


@pytest.mark.parametrize(
    ("text", "words", "type_"),
    [
        ("راجعت المريضة فاطمة العتيبي العيادة وهي بحالة جيدة.", "فاطمة العتيبي", "PATIENT"),
        ("تم الكشف بواسطة د. ياسر الحربي في العيادة.", "ياسر الحربي", "CLINICIAN"),
        ("تم التواصل مع ابنه سعود وشرح الحالة له.", "سعود", "RELATIVE"),
        ("تم تسليم التقرير لمحمد العتيبي بعد الزيارة.", "محمد العتيبي", "PERSON"),
        ("حضرت المريضة إلى مستشفى الملك خالد وهي تشكو من ألم.", "مستشفى الملك خالد", "HOSPITAL"),
        ("المريض من سكان بريدة ويشكو من صداع مستمر.", "بريدة", "CITY"),
        ("يعمل سائق شاحنة ويدخن منذ سنوات طويلة.", "سائق شاحنة", "OCCUPATION"),
        ("دخل المريض القسم يوم ١٤ تشرين الأول ٢٠٢٣ بسبب ألم.", "١٤ تشرين الأول ٢٠٢٣", "DATE"),
        ("تمت الزيارة بتاريخ 12/08/1445هـ في العيادة.", "12/08/1445هـ", "DATE"),
        ("تاريخ الميلاد: 1/7/1356هـ والحالة مستقرة.", "1/7/1356هـ", "BIRTH_DATE_TIME"),
        ("مريض عمره ٣٤ سنة يشكو من ألم في الصدر.", "٣٤ سنة", "AGE"),
        ("رضيع عمره 4 أشهر يشكو من حرارة وسعال.", "4 أشهر", "AGE"),
        ("للتواصل على جوال المريض رقم الهاتف: 0553170842 مساء.", "0553170842", "TELEPHONE_NUMBER"),
        ("نقل المريض إلى غرفة 212 بعد العملية.", "غرفة 212", "ROOM"),
        ("رقم الملف: 331907 والحالة مستقرة.", "331907", "MEDICAL_RECORD_NUMBER"),
        ("الرقم القومي: 26505140103279 والحالة مستقرة.", "26505140103279", "SSN_OR_TAXPAYER"),
    ],
)
def test_an_identifier_is_found(text: str, words: str, type_: str) -> None:
    assert found(text).get(words) == type_


@pytest.mark.parametrize(
    "text",
    [
        "يعطى المريض أموكسيسيلين 500 ملغ كل 8 ساعات لمدة 7 أيام.",
        "المريضة تشكو من صداع منذ 10 سنوات مع غثيان.",
        "علامة Babinski سلبية والضغط 120/80 والنبض منتظم.",
        "على المريض مراجعة عيادة القلب بعد أسبوعين مع التحاليل.",
    ],
)
def test_clinical_prose_is_unchanged(text: str) -> None:
    assert found(text) == {}


def test_check_digits() -> None:
    from incognote_ar.rules.validators import egypt, emirates, jordan, kuwait, national_ar, saudi

    assert saudi("1000000008") is True
    assert saudi("1000000009") is False
    assert saudi("12") is None
    assert egypt("26505140103279") is True
    assert egypt("26513140103279") is False
    assert emirates("784-1234") is None
    assert jordan("9571024863") is True
    assert jordan("5571024863") is False
    assert kuwait("1") is None
    assert national_ar("1000000008") is True
