"""Occupations of patients and relatives are found. Staff roles and other nouns are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules.professions import find

JOBS = """
She works as a ⟦dental hygienist⟧.
He is a retired ⟦pipefitter⟧ with COPD.
Occupation: ⟦court stenographer⟧
Occupation: ⟦Welder⟧; Employer: Acme
Worked thirty years as a ⟦school bus driver⟧.
Employed part-time as a ⟦cashier⟧ at a grocery.
A ⟦carpenter⟧ by trade, he fell from a roof.
This 45-year-old ⟦forklift operator⟧ hurt his back.
A 62 yo retired ⟦high school teacher⟧ presents with cough.
His wife is a ⟦librarian⟧.
Her father was a ⟦coal miner⟧ and smoked.
Husband Declan, a ⟦longshoreman⟧, died of mesothelioma.
Son Callum (⟦solicitor⟧) wants an update.
He returned to work as a ⟦roofer⟧ in May.
Former ⟦professional boxer⟧ with tremor.
Ex ⟦gold miner⟧, silicosis.
Dad is a ⟦long-haul trucker⟧.
She was a ⟦manicurist⟧ until last year.
PATIENT WORKS AS A ⟦FIREFIGHTER⟧.
Mr. Ames is a ⟦plumber⟧.
Partner Ana, ⟦seamstress⟧, brought him in.
Self-employed ⟦electrician⟧.
Job: ⟦night watchman⟧
Patient is a ⟦student⟧.
""".strip().splitlines()

NO_JOBS = """
He is a smoker and a heavy drinker.
She is a poor historian.
Former smoker, quit 2010.
Dr. Lee is a cardiologist.
Seen by the nurse practitioner.
The patient is a candidate for surgery.
He was the driver in a motor vehicle collision.
The attending surgeon was notified.
Occupation: retired
Occupation: ____________
Works full-time. Work up for anemia. Out of work since May.
Retired. Lives with wife.
A 50-year-old right-handed man.
This pleasant elderly lady came with her daughter.
Organ donor, kidney recipient, carrier of BRCA1.
The catheter served as a conductor for the current.
Patient is a resident of a nursing home.
Follow up with primary care provider.
There is a focus of increased tracer activity.
The bladder neck was used as the posterior border.
occ. Howell-Jolly bodies, no Auer rods
Blocker given as a premedication.
Walker at bedside. Runner's knee.
""".strip().splitlines()


@pytest.mark.parametrize("marked", [*JOBS, *NO_JOBS])
def test_an_occupation_is_found_where_someone_does_it(marked: str, check: Callable[..., None]) -> None:
    check(marked, "OCCUPATION", find=find)
