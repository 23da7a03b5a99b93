"""Near misses: capitalized medical words, headings, places, and brands that are not a person's name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules.names import find

EPONYMS = """
Foley catheter placed.
Parkinson's disease, Hashimoto thyroiditis, Crohn disease.
Positive Murphy sign and Rovsing sign.
Apgar 8 and 9 at one and five minutes.
Glasgow Coma Scale 15. Wells score 4.5. Child-Pugh B.
Babinski downgoing, Romberg negative, Hoffmann absent.
Kocher clamp and Kelly clamps were used.
A Jackson-Pratt drain and a Penrose drain were left.
She has Graves' disease and Raynaud phenomenon.
Colles fracture of the right wrist.
Bell's palsy, Horner syndrome, Marcus Gunn pupil.
The patient was placed in Trendelenburg.
McBurney's point tenderness. Negative Homans.
Ehlers-Danlos and Marfan were considered.
Whipple procedure with Roux-en-Y.
Gram stain negative. Giemsa pending.
Mohs surgery on the nose, Breslow 1.2 mm, Clark level IV.
History of Hodgkin lymphoma and Wilms tumor.
Kussmaul breathing and Cheyne-Stokes respirations.
Barrett esophagus, Mallory-Weiss tear.
Duke criteria, Jones criteria, Ranson 3.
De Quervain tenosynovitis; Finkelstein positive.
Sister Mary Joseph nodule
FATHER: HODGKIN LYMPHOMA
Mother: Parkinson disease. Father: Alzheimer's.
""".strip().splitlines()

HEADINGS = """
HISTORY OF PRESENT ILLNESS
Review Of Systems
Past Medical History: Hypertension
Physical Examination
Discharge Medications
Chief Complaint: Chest pain
Assessment And Plan
Family History: Mother with diabetes, father with stroke.
SOCIAL HISTORY: Lives alone.
Patient Care Plan
Attending: As above
Surgeon: None
Anesthesia: General endotracheal
Patient Name: ____________
Provider: Cardiology
Referring: Emergency Department
To: Medical Records
Name: Aspirin 81 mg
Signed: ____________ Date: ________
Dear Doctor,
Dear Patient,
Dear Sir or Madam,
Regards,
""".strip().splitlines()

WORDS = """
Patient will mark the site. May repeat in one hour.
She was given Lasix and Coumadin.
Take Tylenol or Advil for pain.
Started on Zoloft, then Lexapro.
Will page renal in the morning.
Hope to discharge home in March.
The patient denies fever. Patient reports nausea.
MS exacerbation; MR imaging ordered; PA pressure 40.
EXAM: MR BRAIN W WO CONTRAST
Tell every dentist and doctor. Wear a MedicAlert tag.
Call MD if temperature above 101.
RN notified. MD aware. NP to follow.
Wife is a nurse. Husband has diabetes. Son in college.
Mother deceased, father alive and well.
His brother died of cancer.
The doctor will see you now.
Dr. X and Dr. Y were consulted.
Mr. ____ was admitted to [HOSPITAL].
Dr. [REDACTED] will follow.
Return to Emergency Room if worse.
Ace wrap applied by nursing staff.
Follow up with Cardiology in two weeks.
Contact: Dermatitis of the hands.
Ask your doctor about Dr Pepper and Dr. Scholl's pads.
St. Jude valve, Edwards sizer, Stryker tray.
Salmonella Dublin and S. Newport were isolated.
16 Fr Foley in place, 10 cc balloon.
Blue Cross Blue Shield was billed.
Normal Sinus Rhythm. No Acute Distress.
Vitamin D 2000 units daily
I'm feeling better. It's my knee. That's all.
i'm ok and he's fine, let's see what's next
Rose bengal stain, violet light, amber urine, ruby spots.
Summer cold, spring allergies, autumn leaves.
Penny-shaped erythema; grace period; rich diet.
Mass General, Mount Sinai, Johns Hopkins
How does the Mayo stage differ from Ann Arbor for CLL?
Ponseti casting with Mitchell brace; Denis Browne bar
Bolam v Friern; Gillick competent; Fraser guidelines met
Dix-Hallpike positive on right; Epley done.
Ask Nursing to ambulate. Have Respiratory see. Page Cardiology if positive.
Rehab: Bobath, Brunnstrom, PNF. Berg Balance 42. Tinetti 20.
Mary Jane use daily; Molly at parties
Reviewed with pharmacy. Per Lexicomp and UpToDate okay to give.
""".strip().splitlines()


@pytest.mark.parametrize("text", [*EPONYMS, *HEADINGS, *WORDS])
def test_no_person_is_seen(text: str, check: Callable[..., None]) -> None:
    check(text, find=find)
