"""A guess of the encoder that is a clinical word, code or time of day is dropped. A possible identifier never is."""

from __future__ import annotations

import pytest

from incognote.detectors.agreement import agreed, supported
from incognote.nouns import Span, Text


def span(marked: str, type: str, score: float, source: str = "encoder:full") -> Span:
    """The finding between << and >>."""
    start, end = marked.index("<<"), marked.index(">>") - 2
    return Span(Text(marked.replace("<<", "").replace(">>", "")), start, end, type, score, (source,))


def dropped(marked: str, type: str, score: float = 0.89) -> bool:
    return not list(supported([span(marked, type, score)], ()))


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("2 y 9 mo out from <<STEMI>>. Operating", "HOSPITAL"),
        ("support via agency <<EAP>>. Informed", "ORGANIZATION"),
        ("breast ca 2011, <<NED>>. No BP on the left", "CLINICIAN"),
        ("Father on the phone, in <<Farsi>>. Code full", "CITY"),
        ("lives in Sunset Park. <<Fuzhounese>>/Mandarin", "CITY"),
        ("Request sent to <<pulm>> (fax below)", "ORGANIZATION"),
        ("Mom asks all mail to <<new>> home: see below", "ORGANIZATION"),
        ("Thank you for all.\n\n<<Aloha>>,\nLeonard", "CLINICIAN"),
        ("born 15/03  <<Nat>>.: Icelandic", "PATIENT"),
        ("<<KV>> P418220975", "MEDICAL_RECORD_NUMBER"),
        ("Took MS <<Contin>> 30 BID", "PATIENT"),
        ("To: Donor Nurse <<Pool>>", "CLINICIAN"),
        ("Pt: Mrs. Lee, 79. Dx <<I69>>.320 aphasia", "MEDICAL_RECORD_NUMBER"),
        ("Brother: same homozygous <<H1069Q>>, presymptomatic", "GUID"),
        ("24 y/o G2P0101 -> P<<0203>>, O neg", "TELEPHONE_NUMBER"),
        ("Child-Pugh C (<<10>>), MELD-Na 21", "AGE"),
        ("36 yo G1, twins at <<31>> w, welder", "AGE"),
        ("Vt\n<<430   432   428>>   430   431   450   466   480\nEtCO2", "TELEPHONE_NUMBER"),
        ("10   10   8   <<8/12>>   8/12   8/10   8/10   8   8\n", "DATE"),
        ("PMA <<37 2/7>> weeks", "AGE"),
        ("the team scored him <<21/30>> and the family", "DATE"),
        ("lab open <<7-11>>).", "DATE"),
        ("foley removed at <<1900>>. Glucose 138", "DATE"),
        ("reminder at 0800 and <<2000>>. Marcus", "DATE"),
        ("Seen 11/30/2019. Admit, d/w Dr. Lee <<1905>>.\n1730 father here", "DATE"),
        ("Seen 7/4/2019. Chest pressure, onset <<2020>>\n2105 aspirin given", "DATE"),
        ("Called to Dr. Uyeda <<1552>> at the office", "TELEPHONE_NUMBER"),
        ("HCC within <<Milan>> after TACE", "CITY"),
        ("IABP. <<Heli>> to the university", "RELATIVE"),
        ("A/P: <<NED>>. Switch to exemestane", "CLINICIAN"),
        ("from Rosenberg; door <<0802>>, TNK 0831", "TELEPHONE_NUMBER"),
        ("ISS: <<150-199>> = 1 u, 200-249 = 2 u", "GUID"),
        ("ISS: 150-199 = 1 u, <<200-249 = 2 u>>, >400 call", "MEDICAL_RECORD_NUMBER"),
        ("humalog <<251-300>> → 6 units", "TELEPHONE_NUMBER"),
        ("scale <<201-250>>: 4 units", "GUID"),
        ("scale 151-200: 2, <<201-250>>: 4, 251-300: 6", "GUID"),
        ("SVE <<4/80/-2>>, vertex", "DATE"),
        ("Pt: Diaz  <<Loc>>: 412B", "PATIENT"),
        ("<<Stn>>: 7B", "PATIENT"),
        ("FHR 168. <<Singleton>>. Fundal", "CLINICIAN"),
        ("<<Sessions>> since 6/1: 14", "CLINICIAN"),
        ("speaks <<Azorean>> Portuguese", "CITY"),
        ("recites <<Virgil>> from memory", "RELATIVE"),
        ("drank <<Ganga>> water", "RELATIVE"),
    ],
)
def test_a_clinical_word_code_or_time_is_no_finding(marked: str, type: str) -> None:
    assert dropped(marked, type)


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("SSN <<123-45-6789>>: 4 units given", "SSN_OR_TAXPAYER"),
        ("call <<555-0123>>: 2 units of blood", "TELEPHONE_NUMBER"),
        ("d/w Dr. <<Singleton>>. Agrees", "CLINICIAN"),
        ("seen with <<Virgil>>, her brother", "RELATIVE"),
        ("I read <<Dante>> the consent form", "PATIENT"),
        ("taught <<Homer>> to inject insulin", "PATIENT"),
        ("<<Linh>>: 2 nights of pain", "RELATIVE"),
        ("seen <<4/8/2022>>", "DATE"),
        ("Flew home to <<Milan>> in May", "CITY"),
        ("sister <<Heli>> visited", "RELATIVE"),
        ("SEEN BY <<NED>> AND SENT HOME", "CLINICIAN"),
        ("Dictated by JP/<<CMS>>", "PERSON"),
        ("Uncle <<Nat>> drove him home", "RELATIVE"),
        ("she said <<Aloha>> is the name of her dog, sort of", "PERSON"),
        ("moved here from <<Varese>> with her aunt", "CITY"),
        ("Lives in <<Reading>> with her aunt", "CITY"),
        ("in a message lives in <<reading>> with her aunt", "CITY"),
        ("Diabetes since <<1998>>. Seen 3/4/2019 at 0800", "DATE"),
        ("Pager <<1552>>. Seen at 0800", "TELEPHONE_NUMBER"),
        ("last four <<0812>>, verified at 0800", "SSN_OR_TAXPAYER"),
        ("photos on card <<0417>>, taken at 0800", "GUID"),
        ("Colonoscopy <<2029>>. Seen 3/4/2019 at 0800", "DATE"),
        ("his daughter is <<31 weeks old>>", "AGE"),
        ("returns <<3/14>> for sutures", "DATE"),
        ("Seen on\n8/10   8/11   <<8/12>>   8/13   8/14   8/15   8/16\n", "DATE"),
        ("MRN <<430 432 428>> 430 431 450 see note", "MEDICAL_RECORD_NUMBER"),
        ("Ward B12, chart <<K12345>>", "MEDICAL_RECORD_NUMBER"),
    ],
)
def test_a_possible_identifier_stays(marked: str, type: str) -> None:
    assert not dropped(marked, type)


def test_a_certain_abbreviation_that_is_also_a_given_name_stays() -> None:
    assert not dropped("went home with <<NED>>, her son", "RELATIVE", 0.95)


def test_only_guesses_are_checked() -> None:
    title = span("Dr. <<Aloha>>,", "CLINICIAN", 0.9, "rules:names.title")
    learned = span("Dr. <<Aloha>>,", "CLINICIAN", 0.9)
    assert list(supported([learned], [title])) == [learned]
    assert list(agreed([title], [Unsure()])) == [title]
    guess = span("14 wks out from <<LRDKT>>. since then", "HOSPITAL", 0.5, "rules:residue.abbreviation")
    assert not list(agreed([guess], [Unsure()]))


class Unsure:
    """An opinion that finds nothing and gives every span an even chance."""

    spans: tuple[Span, ...] = ()

    def sure(self, start: int, end: int) -> float:
        return 0.5
