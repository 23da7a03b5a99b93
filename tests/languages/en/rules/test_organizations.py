"""Hospitals, pharmacies, laboratories, employers, schools, and generic phrases that name none of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.detectors.rules.view import Candidate, View
from incognote.nouns import Text
from incognote_en.rules import organizations, places
from incognote_en.rules.walk import TokenWalk

NAMED = r"""
She was transferred from ⟦Mercy General Hospital⟧ on Tuesday.
Seen at ⟦St. Mary's Medical Center⟧ ED.
pt was seen at ⟦st. mary's hospital⟧ last week
Transferred from ⟦Baptist Memorial⟧ for higher level of care.
PATIENT WAS ADMITTED TO ⟦LAKESIDE COMMUNITY HOSPITAL⟧ ON MONDAY.
He follows with cardiology at ⟦Cleveland Clinic⟧.
Records requested from ⟦Oak Valley Family Medicine⟧.
He works as an engineer at ⟦Boeing⟧.
She works for ⟦Delta Airlines⟧ as a flight attendant.
Employed by ⟦Hargrove & Sons Plumbing⟧ for 12 years.
He is a teacher at ⟦Lincoln High School⟧.
She attends ⟦Roosevelt Middle School⟧, 7th grade.
Student at the ⟦University of Texas at Austin⟧.
Retired from ⟦Ford Motor Company⟧.
Attends ⟦First Baptist Church⟧ weekly.
Her pharmacy is ⟦Walgreens⟧ on Main.
Rx sent to ⟦Bartell Drugs⟧.
Pharmacy: ⟦Hillcrest Pharmacy⟧
Labs drawn at ⟦Quest Diagnostics⟧ yesterday.
Specimen sent to ⟦LabCorp⟧.
Insurance: ⟦Blue Cross Blue Shield of Michigan⟧
Insurance is ⟦Aetna⟧ PPO.
Resident of ⟦Sunny Acres Nursing Home⟧ since 2019.
Discharged to ⟦Golden Oaks Skilled Nursing Facility⟧.
Discharged to ⟦Maplewood Rehabilitation Center⟧ in stable condition.
Referred to the ⟦Johns Hopkins Hospital⟧.
Dr. Patel at ⟦Riverside Cardiology Associates⟧ manages his AF.
Biopsy was done at ⟦Memorial Sloan Kettering⟧.
Seen at ⟦Massachusetts General Hospital⟧ (⟦MGH⟧).
GP: ⟦Elm Tree Surgery⟧, Dr Jones.
Admitted under care of ⟦Royal Victoria Infirmary⟧.
⟦Queen Elizabeth Hospital Birmingham⟧ discharge summary
⟦Addenbrooke's Hospital⟧ outpatient letter
Born at ⟦Lagos University Teaching Hospital⟧.
Treated at ⟦Aga Khan University Hospital⟧, ⟦Nairobi⟧.
Referred from ⟦Korle Bu Teaching Hospital⟧.
Operated at ⟦All India Institute of Medical Sciences⟧.
Brought from ⟦Sri Ramachandra Medical College⟧.
Follow up at ⟦Apollo Hospitals⟧, ⟦Chennai⟧
Seen in ⟦Klinikum Großhadern⟧ last year.
Suivi au ⟦CHU de Bordeaux⟧ depuis 2018.
Ingresa en el ⟦Hospital General de México⟧ por dolor.
Aide from ⟦Comfort Keepers⟧ visits daily.
She volunteers at the ⟦Humane Society⟧.
She was employed at ⟦Tyson Foods⟧ until 2015.
Accountant with ⟦Deloitte⟧.
He owns ⟦Lopez Landscaping LLC⟧.
Works at ⟦Amazon⟧ warehouse.
Police report filed with ⟦Chicago Police Department⟧.
Social worker from ⟦Cook County Child Protective Services⟧ called.
Care coordinated with ⟦Hospice of the Valley⟧.
Enrolled at ⟦Sunshine Daycare⟧.
Attending: Dr. Lee, ⟦Northside Orthopedics⟧
Seen by Dr. Rao of ⟦Summit Gastroenterology⟧.
Ordered by ⟦Pine Ridge Clinic⟧.
Facility: ⟦Green Valley Health Center⟧
Hospital: ⟦Mount Carmel East⟧
⟦SPRINGFIELD MEMORIAL HOSPITAL⟧
⟦Westbrook Veterans Affairs Medical Center⟧
Admitted to the ⟦Durham VA Medical Center⟧ in March.
Patient came via ⟦Lifeline Ambulance⟧.
His wife works at ⟦Target⟧ and he at ⟦Costco⟧.
Banking through ⟦Wells Fargo⟧.
Prior sleep study at ⟦SleepWell Center⟧.
MRI at ⟦Advanced Imaging of Reno⟧.
Dentist at ⟦Bright Smiles Dental⟧.
Her employer, ⟦Nakamura Electronics Inc.⟧, will fax forms.
Employer: ⟦City of Tucson⟧
Custodian for the ⟦Fairview School District⟧.
Patient lives at ⟦Brookdale Assisted Living⟧.
Software developer at ⟦Google⟧.
Worked at ⟦Bethlehem Steel⟧ for 30 years
CHIEF COMPLAINT: transferred from ⟦Good Samaritan Hospital⟧ with chest pain
""".strip().splitlines()

GENERIC = r"""
HOSPITAL COURSE: The patient was admitted.
Follow up in the Cardiology Clinic in 2 weeks.
Seen in the Emergency Department and admitted to the Intensive Care Unit.
Referred to Pain Clinic and Physical Therapy.
Primary Care Clinic follow up.
Discharged home with Home Health Services.
Discharged to skilled nursing facility.
Admitted to Medical Center.
Consult Infectious Disease and Vascular Surgery.
According to American Heart Association guidelines, start statin.
Per CDC and WHO guidance. NICE guideline CG191. FDA approved.
Review of Systems: negative. School Age child development normal.
The patient was taken to Recovery Room and then to Surgical Intensive Care Unit.
NYHA class III; Mayo score 6; Johns Hopkins frailty.
Medtronic pacemaker, St. Jude valve, Foley catheter. Pfizer vaccine.
At McBurney Point there is tenderness. At Level L4 the disc bulges.
At Discharge the patient was stable. At Home Medications reviewed.
Seen at bedside at 0900. At Rest: pain 3.
Transferred to Medical Oncology Service. Discharged to Home.
Rehabilitation potential: good. Speech Therapy Services.
Follow up with Dr. Smith and Orthopedic Surgery.
Unit Dose pharmacy. Clinical Pharmacy recommends.
Patient works at home. She works at night. He is employed full time.
Start Social Work consult. Case Management consult.
Diet: Heart Healthy. Advance Directive on file. Full Code.
Smith & Nephew implant; Johnson & Johnson vaccine
Mental Health: stable. General Surgery following. Health Maintenance due.
Transferred to OSH. Outside Hospital records.
Laboratory Data: WBC 12. Home Medications: aspirin.
Past Surgical History: Whipple procedure at age 50. Women's Health.
from Penicillin. to Recovery. by General Anesthesia.
Labor and Delivery; Newborn Nursery; Same Day Surgery
Children's Hospital of Eastern Ontario Pain Scale
""".strip().splitlines()


def find(view: View) -> list[Candidate]:
    return [*organizations.find(view), *places.find(view)]


@pytest.mark.parametrize("line", NAMED)
def test_a_named_organisation_is_found_from_its_first_word_to_its_last(line: str, check: Callable[..., None]) -> None:
    check(line, find=find, edges=False)


@pytest.mark.parametrize("text", GENERIC)
def test_a_generic_phrase_is_no_organisation(text: str, check: Callable[..., None]) -> None:
    check(text, find=find)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Seen at Mercy General Hospital.", "HOSPITAL"),
        ("Rx sent to Bartell Drugs.", "PHARMACY"),
        ("Drawn by Quest Diagnostics.", "DIAGNOSTIC_LABS"),
        ("She works for Hargrove Plumbing LLC.", "ORGANIZATION"),
    ],
)
def test_the_head_word_decides_the_type(text: str, kind: str) -> None:
    assert kind in {c.type for c in organizations.find(View(Text(text)))}


def test_a_shorter_name_and_the_initials_are_found_after_the_full_name() -> None:
    text = "Dx at Harbor Pines University Hospital. Records from Harbor Pines came; HPUH called."
    spans = {text[c.start : c.end] for c in organizations.find(View(Text(text)))}
    assert {"Harbor Pines University Hospital", "Harbor Pines", "HPUH"} <= spans


def test_letters_of_a_hospital_once_told_are_found_everywhere() -> None:
    text = "Transferred from CGH. The CGH note is scanned; LVH on echo at OSH."
    assert [text[c.start : c.end] for c in organizations.find(View(Text(text)))] == ["CGH", "CGH"]


@pytest.mark.parametrize("phrase", ["General Hospital ", "University of ", "St. Mary's Hospital of "])
def test_a_repeated_head_is_read_in_steps_that_grow_with_the_text(phrase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    breaks = TokenWalk.breaks

    def counted(self: TokenWalk, i: int) -> bool:
        nonlocal steps
        steps += 1
        return breaks(self, i)

    monkeypatch.setattr(TokenWalk, "breaks", counted)
    taken = []
    for times in (200, 400):
        steps = 0
        list(organizations.find(View(Text(phrase * times))))
        taken.append(steps)
    assert taken[1] < 2.1 * taken[0]


def test_of_a_repeated_head_every_word_is_found() -> None:
    text = "General Hospital " * 100
    found = {k for c in organizations.find(View(Text(text))) for k in range(c.start, c.end)}
    assert not [k for k, char in enumerate(text) if char.isalpha() and k not in found and k > 16]


def test_a_short_name_may_be_the_last_word_of_a_text() -> None:
    text = "Seen at Silver Hills Medical Center for transplant.\n\nTransplant Nephrology, SHMC"
    view = View(Text(text))
    assert [text[c.start : c.end] for c in organizations.find(view) if c.rule == "organizations.alias"] == ["SHMC"]


def test_a_name_does_not_go_on_in_the_next_cell_of_a_table() -> None:
    text = "Margit Lindqvist\nComponent\tValue\tUnit\nHemoglobin A1c\t01/08/2024\tQuest Diagnostics Wood Dale"
    view = View(Text(text))
    found = {text[c.start : c.end] for c in (*organizations.find(view), *places.find(view))}
    assert "Quest Diagnostics" in found
    assert not [words for words in found if "\t" in words]
