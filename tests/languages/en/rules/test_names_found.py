"""Names that the finder marks, by theme: exactly the bracketed words, without titles, credentials, or possessives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules.names import find

TITLES = """
Seen by Dr. ⟦Okonjo⟧ today.
Dr ⟦Lindström⟧ reviewed the films.
Discussed with Drs. ⟦Patel⟧ and ⟦Moore⟧.
Mr. ⟦Long⟧ has long QT.
Mrs. ⟦May⟧ may go home in May.
Ms. ⟦Rose⟧ rose from her chair.
Prof. ⟦T. K. Banerjee⟧ will operate.
Thank you for seeing Miss ⟦Eleanor Whitcombe-Hughes⟧.
Rev. ⟦Samuel Adjei⟧ visited.
Sr. ⟦Bernadette⟧ sat with him.
Chaplain ⟦Muñoz⟧ was called.
DR. ⟦HERNANDEZ⟧ PRESENT FOR THE ENTIRE CASE.
PATIENT MR ⟦SMITH⟧ TOLERATED THE PROCEDURE WELL.
Referred to Dr. ⟦van der Berg⟧ for evaluation.
Dr. ⟦O'Connor⟧'s note was reviewed.
Dr. ⟦J.P. Morales⟧ concurs.
Mr and Mrs ⟦Thompson⟧ attended.
Doctor ⟦Levy⟧ was paged twice.
Nurse ⟦Adeyemi⟧ removed the drain.
Officer ⟦Delgado⟧ accompanied the patient.
He follows with Dr. ⟦Sarah Kim⟧, his cardiologist.
Capt. ⟦Reyes⟧ of the fire department
Alhaji ⟦Sule Garba⟧ was informed.
Smt. ⟦Kamala Devi⟧ came with fever.
Judge ⟦Whitaker⟧ signed the order.
""".strip().splitlines()

KIN = """
His wife ⟦Carmen⟧ is at the bedside.
Her husband, ⟦Gerald⟧, will drive.
Lives with daughter ⟦Priya⟧ and two cats.
Her son ⟦Mark⟧ will mark the calendar.
Sister ⟦Ngozi⟧ and brother ⟦Chidi⟧ visited.
Accompanied by mother, ⟦Fatoumata Diallo⟧.
Daughter (⟦Luciana⟧) phoned at noon.
Next of kin: ⟦Harold Fennimore⟧ (son)
Emergency contact: ⟦Mei-Ling Tan⟧, 555-0199
His partner ⟦Sam⟧ has power of attorney.
Pt's dtr ⟦Yolanda⟧ wants an update.
Grandmother ⟦Ingeborg⟧ raised him.
The patient's fiancé ⟦Dmitri⟧ was present.
Mom ⟦Keisha⟧ updated by phone.
Spoke with niece named ⟦Abigail⟧.
Cousin ⟦Faisal⟧ has sickle trait.
Her aunt ⟦Rosalind⟧ died of breast cancer.
Ram Singh S/o ⟦Mohan Singh⟧
Emergency contact is her father, ⟦Tadeusz Wójcik⟧.
""".strip().splitlines()
KIN[17] = "⟦Ram Singh⟧ S/o ⟦Mohan Singh⟧"

HEADERS = """
Patient Name: ⟦Garcia, Maria L.⟧
PATIENT: ⟦JOHNSON, TYRONE⟧
Name: ⟦Siobhan McNulty⟧   DOB: 3/4/1950
Pt: ⟦Nguyen Van Thanh⟧
Re: ⟦Dorothy Hargreaves⟧
Attending: ⟦Benjamin Katz⟧, MD
PCP: ⟦Alvarez⟧
Surgeon: ⟦K. Watanabe⟧, M.D.
Referring Physician: ⟦Olufemi Adebayo⟧
Dictated by: ⟦R. Singh⟧
Surname: ⟦Papadopoulos⟧
Forename(s): ⟦Eleni⟧
Last name: ⟦BAPTISTE⟧   First name: ⟦MARIE-CLAIRE⟧
Electronically signed by ⟦Hannah Goldfarb⟧, MD on 3/4
Provider: ⟦Chen, Wei⟧
Witness: ⟦Tomasz Zielinski⟧
Interpreter: ⟦Halima⟧
Mother's name: ⟦Lakshmi Narayanan⟧
From: ⟦Ruth Abrams⟧
CC: ⟦Peter Ostrowski⟧, MD
Anesthesiologist: ⟦Farouk El-Sayed⟧
Patient: ⟦Will Page⟧
Member: ⟦Ana Sofía Restrepo⟧
""".strip().splitlines()

CREDENTIALS = """
⟦Amina Yusuf⟧, RN
Plan reviewed with ⟦Gretchen Vogel⟧, PA-C.
⟦J. Thornton⟧ NP will follow.
⟦Olga Petrenko⟧ LCSW
Wound check by ⟦Luz⟧ RN at noon.
⟦Rajesh Menon⟧, M.D., F.A.C.S.
⟦M. Fairweather⟧ FRCS
⟦Susan B. Chow⟧, PharmD
PT eval by ⟦Kirsten Aalto⟧, DPT
""".strip().splitlines()

BARE = """
⟦Natasha Romanenko⟧ is a 44-year-old woman with asthma.
⟦William Brathwaite⟧, 67, was found on the floor.
I called ⟦Beatriz Oliveira⟧ with the results.
We reviewed the plan with ⟦Gwendolyn⟧ at length.
Report from ⟦Maureen O'Hara⟧ at the nursing home.
⟦Jamal⟧ says his knee is better.
Today ⟦Ashley⟧ denies chest pain.
Her supervisor ⟦Brenda Lockhart⟧ sent her in.
⟦Thomas J. Whitfield⟧ underwent colonoscopy.
Case manager ⟦Denise⟧ arranged transport.
Patient goes by ⟦Teddy⟧.
She prefers to be called ⟦Lottie⟧.
⟦Bruce Ward⟧ is a 60-year-old man.
Biopsy in ⟦Corrigan⟧'s office in November.
She saw ⟦Lieberthal⟧ at the eye clinic.
Handoff: ⟦Abdirahman⟧ in bed 12, sickle crisis.
HCP is ⟦Tuan⟧, his brother.
Mrs ⟦Efthimia (Effie) Karavas⟧ was seen.
""".strip().splitlines()

LETTERS = [
    "Dear ⟦Anita⟧,\n\nThank you for your message.",
    "Dear Mrs ⟦Pemberton⟧:\n\nYour results are back.",
    "Hi ⟦Carlos⟧,\nplease refill my lisinopril.",
    "Please call me back.\n\nRegards,\n⟦Karl⟧",
    "I will see her in March.\n\nYours sincerely,\n\n⟦Philippa Grantham⟧\nConsultant Physician",
    "Sincerely,\n\n⟦Boris Antonov⟧, MD",
    "Thanks,\n⟦Jill⟧",
]

WORLD = """
Dr. ⟦Nguyễn Thị Lan⟧ called.
Mr. ⟦Muhammad bin Abdullah⟧ was admitted.
Mrs. ⟦de la Cruz⟧ is improving.
Dr. ⟦al-Hashimi⟧ agrees.
Mr. ⟦Björn Þorvaldsson⟧ is stable.
Ms. ⟦Xiaoming Zhang⟧ reports pain.
Dr. ⟦Ó Briain⟧ saw him.
Mr. ⟦Kwame Nkrumah Mensah⟧ presented with fever.
Mrs. ⟦Adéọlá Ògúnbọ̀wálé⟧ was counselled.
Dr. ⟦Jae-hyun Park⟧ did the biopsy.
Mr. ⟦Tāne Mahuta Parata⟧ declined.
Ms. ⟦Dalisay Macapagal⟧ works nights.
Dr. ⟦Szczęsny-Kowalska⟧ on call.
Mr. ⟦Haile Gebreselassie⟧ came from Addis.
Mrs. ⟦Venkatasubramanian⟧ is fasting.
Dr. ⟦D'Angelo⟧ and Dr. ⟦McIntyre⟧ disagree.
Mr. ⟦Running Wolf⟧ was seen.
Attending: ⟦Siti Nurhaliza binti Tarudin⟧
""".strip().splitlines()

SMALL = [
    "saw dr ⟦patel⟧ last week for my knee",
    "pt here with her son ⟦kevin⟧ who helps at home",
    "mr ⟦kowalski⟧ is doing fine, no pain",
    "hi dr ⟦nakamura⟧, can i get a refill",
    "this is doctor ⟦suresh iyer⟧ dictating a note on patient ⟦linda marchetti⟧ period",
]


@pytest.mark.parametrize("marked", [*TITLES, *KIN, *HEADERS, *CREDENTIALS, *BARE, *LETTERS, *WORLD, *SMALL])
def test_a_name_is_found_and_nothing_else(marked: str, check: Callable[..., None]) -> None:
    check(marked, find=find)
