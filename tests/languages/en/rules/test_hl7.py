"""Fields of HL7 v2 segments, identified by their position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules import hl7


def found(text):
    return [(c.type, text[c.start : c.end]) for c in hl7.find(View(Text(text)))]


def test_the_patient_segment_tells_numbers_name_birth_address_and_phone():
    segment = (
        "PID|1||7730219^^^MVMC^MR~987650412^^^USSSA^SS||ROSS^APRIL^T||19880923|F||2028-9"
        "|9 CEDAR RD^^BLUFF^OK^74199||^PRN^PH^^1^918^5550136|||M||A0081"
    )
    assert found(segment) == [
        ("MEDICAL_RECORD_NUMBER", "7730219"),
        ("HOSPITAL", "MVMC"),
        ("SSN_OR_TAXPAYER", "987650412"),
        ("HOSPITAL", "USSSA"),
        ("PATIENT", "ROSS^APRIL^T"),
        ("BIRTH_DATE_TIME", "19880923"),
        ("ADDRESS", "9 CEDAR RD^^BLUFF^OK^74199"),
        ("TELEPHONE_NUMBER", "1^918^5550136"),
        ("ACCOUNT_NUMBER", "A0081"),
    ]


def test_a_middle_initial_belongs_to_the_name_in_any_field():
    assert found("OBX|3|TX|NOTE||KRAMER^VIOLET^J ambulated 50 ft") == [("PERSON", "KRAMER^VIOLET^J")]
    assert ("PERSON", "PELLETIER^SIMONE^R") in found("PID|1|||PELLETIER^SIMONE^R|||F|")


def test_the_mark_of_a_local_code_is_no_initial():
    assert found("OBX|1|CE|GLU^Glucose^L||5\nOBX|2|CE|NA^Sodium^L||138") == []


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("MSH|^~\\&|LABX|KESTREL|EHR|MERROW|20240117093412||ORU^R01|MSG99|P|2.5.1",
         [("HOSPITAL", "KESTREL"), ("HOSPITAL", "MERROW"), ("DATE_TIME", "20240117093412"), ("GUID", "MSG99")]),
        ("NK1|1|ROSS^DASHIELL|SPO||9185550170", [("RELATIVE", "ROSS^DASHIELL"), ("TELEPHONE_NUMBER", "9185550170")]),
        ("PV1|1|I|5W^512^A||||1987654321^BRAND^HELGE^R^^^DR",
         [("ROOM", "5W^512^A"), ("LICENSE_NUMBER", "1987654321"), ("CLINICIAN", "BRAND^HELGE^R")]),
        ("OBR|1|ORD-5519|K24-001766|24323-8^CMP^LN|||202401170615|||PHLEB_JLT",
         [("FIN", "ORD-5519"), ("FIN", "K24-001766"), ("DATE_TIME", "202401170615"), ("USERNAME", "PHLEB_JLT")]),
        ("OBX|1|NM|2951-2^SODIUM^LN||121|mmol/L|136-145|LL|||F|||20240117071844", [("DATE_TIME", "20240117071844")]),
    ],
)  # fmt: skip
def test_a_segment_tells_its_fields(segment, expected):
    assert found(segment) == expected


def test_segments_end_with_their_line_whatever_ends_it():
    assert found("NK1|1|ROSS\rOBX|1|NM|\r\nNK1|1|LEE\n|9185550170") == [("RELATIVE", "ROSS"), ("RELATIVE", "LEE")]


@pytest.mark.parametrize("text", ["", "PID", "see PID|1||77", "a|b|c", "PIDX|1||77", "PID|||||||||||||||||"])
def test_what_is_no_segment_has_no_fields(text):
    assert found(text) == []


@given(
    st.lists(
        st.sampled_from(["PID|", "MSH|", "^", "~", "|", "1", "A", "\r", "\n", "\x00", "\ud800", "é"]), max_size=40
    ).map("".join)
)
def test_fields_lie_inside_any_text(text):
    assert all(0 <= c.start < c.end <= len(text) for c in hl7.find(View(Text(text))))
