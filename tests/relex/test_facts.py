"""A finding that is clinical, or probably no identifier, gets no surrogate."""

from __future__ import annotations

import pytest

from incognote.nouns import Span, Text
from incognote.relex.facts import clinical_name, doubled, guessed, withheld
from incognote.relex.pools import pools

ENCODER = ("encoder:full",)


def reason(marked: str, type: str, score: float = 0.8, sources: tuple[str, ...] = ENCODER) -> str | None:
    """The reason for the finding between << and >>."""
    start, end = marked.index("<<"), marked.index(">>") - 2
    text = Text(marked.replace("<<", "").replace(">>", ""))
    return withheld([span := Span(text, start, end, type, score, sources)]).get(span)


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("Lispro <<4/8/12>> before meals", "DATE"),
        ("K <<4.1>>, creatinine 1.2", "GUID"),
        ("Na <<138>> today", "AGE"),
        ("potassium of <<4.1>>", "MEDICAL_RECORD_NUMBER"),
        ("IUP at <<38w2d>>", "GUID"),
        ("now <<30 0/7>> PMA", "AGE"),
        ("29yo <<G3P2012>> @ 39w4d", "GUID"),
        ("<<G3>> P2-0-1-2", "GUID"),
        ("APGAR <<8/9>>", "DATE"),
        ("NIHSS <<14>>", "AGE"),
        ("Gleason <<3+4>>", "DATE"),
        ("stage <<pT2N1M0>>", "GUID"),
        ("BP <<120/80>>", "DATE"),
        ("metoprolol <<25>> mg", "AGE"),
        ("fusion <<L4-L5>>", "ROOM"),
        ("ANA <<1:640>>", "GUID"),
        ("OD <<-2.50>> sph", "GUID"),
        ("CPT <<99213>>", "GUID"),
        ("NDC <<10147-0685-1>>", "TELEPHONE_NUMBER"),
        ("SNOMED <<44054006>>", "GUID"),
        ("in labor, <<4/80/-2>>, Bishop 8", "DATE"),
    ],
)
def test_a_clinical_number_gets_no_surrogate_whatever_found_it(marked: str, type: str) -> None:
    for sources in (ENCODER, ("rules:other_ids.encounter",)):
        assert reason(marked, type, 0.9, sources) in ("clinical-number", "no-identifier")


@pytest.mark.parametrize("marked", ["<<G3P2012>>", "at <<38w2d>>", "for <<38 2/7>>", "<<T2N1M0>>"])
def test_a_clinical_code_that_a_person_marked_gets_no_surrogate_either(marked: str) -> None:
    assert reason(marked, "GUID", 1.0, ("given",)) == "clinical-number"


@pytest.mark.parametrize("source", ["given", "schema", "known:roster", "pack:lists"])
def test_an_identifier_that_a_person_a_record_or_a_list_named_is_never_doubted(source: str) -> None:
    for marked, kind in (("Dr. Conner <<saw>> her", "PERSON"), ("K <<4.1>>", "GUID"), ("<<Mirena>>", "PERSON")):
        assert reason(marked, kind, 1.0, (source,)) is None


@pytest.mark.parametrize(
    ("marked", "type", "rule"),
    [
        ("a <<6 wk>> old boy", "AGE", "rules:ages.unit-with-person"),
        ("seen on <<3/14/2024>>", "DATE", "rules:dates.whole"),
        ("MRN <<4410992>>", "MEDICAL_RECORD_NUMBER", "rules:medical_record.labelled"),
        ("Sat <<9>> March", "DATE", "rules:dates_words.day-month"),
        ("ph <<(07) 5550 6337>>", "TELEPHONE_NUMBER", "rules:phones.labelled"),
        ("A/P: <<64>> yo F", "AGE", "rules:ages.y-o"),
        ("Dr. <<Graves>>", "CLINICIAN", "rules:names.title"),
        ("her son <<Will>>", "RELATIVE", "rules:names.kin"),
    ],
)
def test_a_reliable_rule_is_trusted(marked: str, type: str, rule: str) -> None:
    assert reason(marked, type, 0.9, (rule,)) is None


@pytest.mark.parametrize(
    ("marked", "type", "expected"),
    [
        ("had my <<Mirena>> put in", "PATIENT", "clinical-word"),
        ("| <<Graves>>, TSH 0.02", "CLINICIAN", "clinical-word"),
        ("three <<Cameron>> erosions", "PATIENT", "clinical-word"),
        ("grown <<Staph>> so far", "CITY", "clinical-word"),
        ("<<Murray Valley>> encephalitis", "LOCATION", "clinical-word"),
        ("<<Tongan>>, with an interpreter", "CITY", "clinical-word"),
        ("Soc: <<Foley>>, NP student", "PATIENT", "clinical-word"),
        ("Passed gas at <<dawn>>. Asks Mr. Bell", "CLINICIAN", "ordinary-word"),
        ("Dear <<Mrs>>. Campbell", "PERSON", "ordinary-word"),
        ("a <<puff adder>> prob", "OCCUPATION", "ordinary-word"),
        ("time <<2209>> on scene", "GUID", "number-without-label"),
        ("YMRS was lower (from <<34>>)", "AGE", "number-without-label"),
        ("had to leave the island after <<Maria>>.", "RELATIVE", "ordinary-word"),
        ("SSN <<nine seven eight dash four six>>", "SSN_OR_TAXPAYER", "no-surrogate"),
    ],
)
def test_a_guess_that_is_probably_no_identifier_gets_no_surrogate(marked: str, type: str, expected: str) -> None:
    assert reason(marked, type, 0.79) == expected


@pytest.mark.parametrize(
    ("marked", "type", "score"),
    [
        ("discharged with <<Foley>>.", "CLINICIAN", 0.92),
        ("bed held. <<Barthel>> 45. mRS 4", "PATIENT", 0.81),
        ("by the <<Inoue>> technique", "CLINICIAN", 0.85),
        ("5. <<Marshall-Marchetti>>-Krantz cystourethropexy", "PATIENT", 0.73),
        ("as described by <<Rowland>>, et al", "CLINICIAN", 0.9),
        ("married to our <<social worker>> Ana", "OCCUPATION", 0.8),
        ("phone <<interpreter>> ID 33071", "OCCUPATION", 0.71),
        ("came to <<cook>> for both", "OCCUPATION", 0.71),
        ("Her namesake (<<little>> Ana) came", "RELATIVE", 0.82),
        ("Then <<junior>> drove him in", "PATIENT", 0.93),
        ("neuropsych <<Wilson>> relapse", "RELATIVE", 0.8),
        ("\n<<Nail>> 380 extracted", "PATIENT", 0.76),
    ],
)
def test_a_device_a_scale_a_technique_and_a_job_of_the_staff_stay(marked: str, type: str, score: float) -> None:
    assert reason(marked, type, score) == "no-identifier"


def test_an_abbreviation_that_only_the_final_check_took_for_a_name_stays() -> None:
    sources = ("audit", *ENCODER)
    assert reason("Mother, now 77, <<NED>>. Sister had a normal scan", "RELATIVE", 0.92, sources) == "no-identifier"


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("here with <<Wilson>>", "RELATIVE"),
        ("spoke with <<Foley>>, NP", "CLINICIAN"),
        ("<<Keisha>> test", "PATIENT"),
        ("works as a <<social worker>>", "OCCUPATION"),
        ("<<54 F>>, retired", "AGE"),
    ],
)
def test_a_bearer_of_such_a_word_a_job_and_an_age_with_a_sex_get_a_surrogate(marked: str, type: str) -> None:
    assert reason(marked, type, 0.95, ("rules:names.by",) if "NP" in marked else ENCODER) is None



@pytest.mark.parametrize(
    ("marked", "type", "score"),
    [
        ("children <<Eh Paw>> 16", "RELATIVE", 0.85),
        ("<<Hope>> spits up everything", "PATIENT", 0.83),
        ("cried after <<Maria>> left", "RELATIVE", 0.83),
        ("G2P1. LMP <<Valentine's Day>> -> EDD 11/21", "DATE", 0.85),
        ("his son (<<28>> on 10/19)", "AGE", 0.91),
        ("Seen by <<Okonkwo>>", "CLINICIAN", 0.7),
        ("He is <<74>>, BMI 36", "AGE", 0.91),
        ("is <<7 months>>, still breastfed", "AGE", 0.75),
        ("Lot and number of the nail: <<T2-K59130>>", "GUID", 0.87),
        ("said <<ravi>> and she asked him", "PATIENT", 0.8),
    ],
)
def test_a_guess_that_looks_like_an_identifier_gets_one(marked: str, type: str, score: float) -> None:
    assert reason(marked, type, score) is None


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("born at <<29w6d>>, intubated", "AGE"),
        ("an ex-<<27-weeker>> on caffeine", "AGE"),
        ("G4P2012 → P<<3013>> last night", "TELEPHONE_NUMBER"),
        ("Apgars <<6/8>>, cord pH 7.2", "BIRTH_DATE_TIME"),
        ("<<9 mo>> s/p liver transplant", "AGE"),
        ("continue letrozole to <<5 yr>>", "AGE"),
        ("moved to <<MICU>> overnight", "HOSPITAL"),
        ("unit <<7 North>>, bed 2", "ADDRESS"),
        ("Department of <<Gastroenterology>>", "HOSPITAL"),
        ("here with <<PawPaw>>", "RELATIVE"),
        ("danced at <<her quinceañera>> in June", "CITY"),
        ("consent signed in <<Tamil>>", "CITY"),
        ("readmitted <<last Friday>> with", "DATE"),
        ("born <<0317>>, to NICU", "BIRTH_DATE_TIME"),
        ("session <<21/36>>", "DATE"),
        ("Child-Pugh C (<<10>>), MELD-Na 21", "AGE"),
        ("sent to pharmacy, <<90>> d", "AGE"),
        ("ISS <<150-199>> = 1 u, 200-249 = 2 u", "MEDICAL_RECORD_NUMBER"),
        ("ISS\n<<150-199>> 1 u", "GUID"),
        ("TUG 21.4 s w/ RW (<<28>> on 10/19)", "AGE"),
        ("says \"I'm a <<robot>>\"", "OCCUPATION"),
        ("went to his brother's <<jubilee>>", "RELATIVE"),
    ],
)
def test_words_that_are_provably_no_identifier_stay(marked: str, type: str) -> None:
    assert reason(marked, type) == "no-identifier"


def test_an_ordinary_word_at_the_start_of_a_sentence_stays() -> None:
    assert reason("\n<<Pleasant>> 61M with gout", "PATIENT", 0.78) == "no-identifier"
    assert reason("Reviewed. <<Fall>> at home in May", "CITY", 0.8, ("audit", *ENCODER)) == "no-identifier"
    assert reason("seen with <<Pleasant>>, her cousin", "PATIENT", 0.78) == "ordinary-word"


@pytest.mark.parametrize(
    ("marked", "type"),
    [
        ("lives at <<7 North>> Elm St", "ADDRESS"),
        ("<<Hall>> denies pain", "PATIENT"),
        ("gave <<5 yr>> old boy", "AGE"),
        ("a <<62 yr>> old", "AGE"),
        ("<<54 F>>, retired", "AGE"),
        ("asked <<Monique>> today", "DATE"),
    ],
)
def test_a_word_or_number_that_may_identify_someone_never_stays(marked: str, type: str) -> None:
    assert reason(marked, type) != "no-identifier"


def test_a_doubted_name_that_the_record_confirms_gets_its_surrogate() -> None:
    text = Text("Dr. Peter Graves called. Graves thinks it is benign.")
    full = Span(text, 4, 16, "CLINICIAN", 0.99, ("rules:names.title",))
    again = Span(text, 25, 31, "CLINICIAN", 0.8, ENCODER)
    assert withheld([again]) == {again: "clinical-word"}
    assert withheld([again, full]) == {}


@pytest.mark.parametrize(
    ("marked", "type", "score"),
    [
        ("<<novak, irene>> 80 yo adm for sob", "PATIENT", 0.82),
        ("they took <<Ray>> to the lab", "PATIENT", 0.7),
        ("<<Denise>> pumps every three hours", "PATIENT", 0.97),
        ("nephrectomy <<10/4>>.", "DATE", 0.7),
        ("steroids (3/12, <<3/13>>)", "DATE", 0.7),
    ],
)
def test_a_written_form_of_an_identifier_gets_a_surrogate(marked: str, type: str, score: float) -> None:
    assert reason(marked, type, score) is None


@pytest.mark.parametrize(
    "marked", ["strength <<4/5>>", "pain <<8/10>> today", "single words <<9/20>>", "BiPAP <<12/5>>"]
)
def test_a_fraction_is_no_date(marked: str) -> None:
    assert reason(marked, "DATE", 0.8) == "no-identifier"


def test_only_guesses_are_read_again() -> None:
    text = Text("Seen by Okonkwo")
    assert guessed(Span(text, 8, 15, "CLINICIAN", 0.8, ENCODER))
    assert not guessed(Span(text, 8, 15, "CLINICIAN", 0.99, ENCODER))
    assert not guessed(Span(text, 8, 15, "CLINICIAN", 0.8, ("encoder:full", "rules:names.title")))
    assert not guessed(Span(text, 8, 15, "CLINICIAN", 1.0, ("given",)))
    assert not guessed(Span(Text("1015 travis b pt"), 5, 11, "CLINICIAN", 0.75, ENCODER)), "a usual given name"


def test_a_surrogate_must_not_double_the_word_beside_it() -> None:
    original = Span(Text("Dr. Ada Ruiz MD"), 4, 12, "CLINICIAN")
    assert doubled("Dr. Dr. Bell MD", 4, 12, original)
    assert doubled("Dr. Ada MD MD", 4, 10, original)
    assert not doubled("Dr. Ida Bell MD", 4, 12, original)
    twins = Span(Text("Her twin Sofia. Sofi walks"), 9, 14, "RELATIVE")
    assert not doubled("Her twin Elena. Elena walks", 9, 14, twins), "another sentence begins"
    again = Span(Text("Moya Moya disease"), 5, 9, "CLINICIAN")
    assert not doubled("Moya Moya disease", 5, 9, again), "the original was doubled, too"


def test_no_pool_of_names_contains_a_drug_or_a_very_frequent_word() -> None:
    people = pools().data("people").values()
    drawn = [words for kinds in people for kind, words in kinds.items() if not kind.startswith(("of", "also_"))]
    names = [name for words in drawn for name in words.split()]
    assert len(names) > 5_000
    assert [name for name in names if clinical_name(name)] == []
