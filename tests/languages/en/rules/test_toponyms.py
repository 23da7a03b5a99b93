"""Towns, states, countries, and named places, each with the context it needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules import places

PLACES = r"""
She lives in ⟦Toledo⟧, ⟦Ohio⟧.
he lives in ⟦toledo⟧ ⟦ohio⟧ with his son
Born in ⟦Klipdrif⟧, moved to ⟦Bloemfontein⟧ at 12.
Flew in from ⟦Nairobi⟧ last week.
Originally from ⟦Reading⟧, ⟦England⟧.
He grew up in ⟦Mobile⟧, ⟦Alabama⟧.
Travel to ⟦Kenya⟧ and ⟦Tanzania⟧ in March.
Returned from ⟦Madagascar⟧ → ⟦Doha⟧ → ⟦Lisbon⟧.
Her sister in ⟦Malmö⟧ was called.
Wedding in ⟦Chennai⟧ in December.
Mike Tessier of ⟦Nashua⟧; daughter is a pharmacist.
PCP is in ⟦Jackson⟧, ⟦MS⟧.
PATIENT LIVES IN ⟦BATON ROUGE⟧ WITH HER SON.
Camping at ⟦Lake Ossawinnick⟧ over the weekend.
The ⟦Burke River⟧ crossing is shut.
Sheriff of ⟦Turner County⟧ was notified.
Resident of ⟦Sandusky County⟧.
Country of birth: ⟦Vietnam⟧
City: ⟦Springfield⟧
⟦Chaniá⟧, 14 August 2023
Summer house in ⟦Vila Serrana⟧, ⟦Brazil⟧.
Seen in her ⟦Braintree⟧ office.
A ⟦Tonga⟧-born woman.
son in ⟦tripoli⟧ died at 44
i flew to ⟦arizona⟧ on the nineteenth
Stayed at the ⟦Hotel Minos Bay⟧.
walked to the ⟦Ōkahu marae⟧ yesterday
Came from the ⟦Azores⟧ as a child.
Retired to ⟦St. Petersburg⟧, ⟦FL⟧ in 2010.
""".strip().splitlines()

NO_PLACES = r"""
Lyme disease titer sent. Marburg virus excluded.
Los Angeles grade C oesophagitis; Vienna 4.4; Boston bowel prep 3-3-2; Rome IV; Montreal A2.
Glasgow Coma Scale 15. Ann Arbor stage II.
Salmonella Dublin and S. Newport not isolated.
Do not start St. John's wort.
Nice recovery, took a bath, eats an orange; mobile and reading.
Mr. Jackson and Dr. Houston agree. Ms. Paris left.
West Nile virus, German measles, Norwegian scabies, Rocky Mountain spotted fever.
Lives in an apartment. Lives in assisted living. Moved to recovery.
Transferred to ICU. Returned to OR. Visit to ED. Travel by car.
Foley in place. Suspended from Mayo stand. Held in Mayfield pins.
I explained in Spanish. It began in March, back in october.
PT SEEN IN CLINIC AND SENT TO LAB ON DATE BELOW
turkey sandwich, china plate, brazil nuts, guinea pig
He is from home. She came from work. Back to baseline.
""".strip().splitlines()


@pytest.mark.parametrize("line", PLACES)
def test_a_place_is_found_where_its_context_says_so(line: str, check: Callable[..., None]) -> None:
    check(line, find=places.find, edges=False)


@pytest.mark.parametrize("text", NO_PLACES)
def test_a_town_in_the_name_of_a_score_a_germ_or_a_person_is_no_place(text: str, check: Callable[..., None]) -> None:
    check(text, find=places.find)
