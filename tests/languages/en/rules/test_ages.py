"""Ages: the span covers the number, the unit, and "old". Durations, doses, and gestations are not ages."""

from __future__ import annotations

import pytest

AGES = [
    "a ⟦45-year-old⟧ man",
    "a ⟦45 year old⟧ man",
    "a ⟦45 years old⟧ man",
    "is ⟦76 years old⟧ and on 76 mg of it",
    "a ⟦45-yr-old⟧ man",
    "a ⟦45yo⟧ man",
    "a ⟦45 yo⟧ man",
    "a ⟦45 y/o⟧ man",
    "a ⟦45 y.o.⟧ man",
    "a ⟦45-y-o⟧ man",
    "⟦45 YEAR OLD⟧ FEMALE",
    "she is ⟦72 years of age⟧ and well",
    "a ⟦6-month-old⟧ girl",
    "a ⟦12-day-old⟧ boy",
    "⟦11 weeks old⟧",
    "⟦3 yr old⟧",
    "a ⟦2 1/2 year old⟧ boy",
    "a ⟦2½-year-old⟧ boy",
    "a ⟦45-\nyear-old⟧ man",
    "a ⟦45 year\nold⟧ man",
    "pt is a ⟦34F⟧ with Crohn's",
    "⟦44M⟧ POD 2",
    "new one, ⟦58f⟧ ?cellulitis",
    "Whitfield ⟦26⟧ M  DL",
    "⟦72⟧ F with CHF",
    "M/⟦59⟧, driver",
    "Aslam | ⟦61⟧/M | ward",
    "⟦55 Yrs⟧ / M",
    "⟦61 y⟧/M",
    "⟦9 mo⟧/F",
    "male, ⟦36 yrs⟧. Cell",
    "M ⟦8Y⟧",
    "Hrafnhildur (⟦79 y⟧) seen",
    "Maria (⟦68 yrs⟧)",
    "Age: ⟦45⟧",
    "Age ⟦45⟧",
    "AGE/SEX: ⟦45⟧/M",
    "Age............⟦62⟧",
    "aged ⟦53⟧.",
    "twins aged ⟦4⟧ both well",
    "Mark, age ⟦9⟧, nosebleed",
    "at the age of ⟦81⟧ she",
    "at age ⟦40⟧.",
    "since about age ⟦12⟧ and",
    "mother ⟦61⟧ DM2",
    "Father died at ⟦58⟧ of HCC",
    "mom – breast CA dx at ⟦71⟧;",
    "son, ⟦6⟧, with a bug",
    "Daughter Harper, ⟦9⟧, every other weekend",
    "brother Harjit (⟦48⟧), 1 hap match",
    "Mr Tobias, ⟦81⟧, from Leeds",
    "GPA lady, ⟦67⟧, NHS no",
    "He was ⟦37⟧ at the index event",
    "he is now ⟦39⟧ and retraining",
    "died when pt was ⟦12⟧.",
    "I just turned ⟦47⟧",
    "subject ⟦57⟧ at screening",
    "in her ⟦late forties⟧,",
    "in his ⟦mid-40s⟧ he",
    "in his ⟦60s⟧ he",
    "in their ⟦mid-twenties⟧ can",
    "an ⟦octogenarian⟧ with AF",
    "⟦nonagenarian⟧ lady",
    "a ⟦seventy one year old⟧ woman",
    "their ⟦ten-month-old⟧ twins",
    "Mr Fono is ⟦forty-four⟧.",
    "came over at ⟦nineteen⟧ and",
    "he's ⟦sixty nine⟧ and my dad",
    "male, ⟦3y 4m⟧, born",
    "Lopeyok s/o Ekitela, ⟦14 months⟧, MUAC 11.2",
    "wife Bibi Gul, ⟦30ish⟧, G6P4",
]

NO_AGES = [
    "smoked for 30 years",
    "x 30 yrs, 2 packs",
    "3 years ago he fell",
    "due again in 5 y",
    "a 3-year history of pain",
    "2 yrs post CABG",
    "at 14 mo post transplant",
    "follow up in 6 months",
    "40 pk-yr, 30 pack years",
    "39w4d by LMP, 22 wks by fundus",
    "ex-28 2/7, now 30 0/7 PMA",
    "76 mg daily",
    "take 45 min before bed",
    "pain 7, HR 88, RR 18",
    "T 98 F, temp 101F",
    "28F drain, 16F foley, 6F sheath",
    "adults aged 65 years or older",
    "patients aged 18-65",
    "age > 65 scores 1",
    "age-related change",
    "mean age of onset varies",
    "HR in the low 90s, sats mid 90s",
    "at 60 per minute",
    "rate set at 12 and",
    "Bosniak 2F, grade 3M",
    "levels 2, 3, 4",
    "Glasgow motor 6, verbal 5",
    "Braden 15, Morse 75",
    "gave two 5-0 sutures",
    "three months later",
    "an old bruise",
    "2D/M-mode echo",
    "5 m walk, 10 m drop",
    "he is 5 feet tall",
    "she was 4 cm dilated",
    "WBC was 12.",
    "he was 2 days post op",
    "ward unit 2, 3 d)",
    "Patient 12, 3 years, enrolled",
    "patient no. 17, 6 months, arm B",
    "for 3 y, DOB on file",
]

BESIDE_A_RECORD_NUMBER = [
    "seen (MRN ⟦4471902⟧, ⟦58 y⟧) by",
    "seen (MRN: ⟦4471902⟧; ⟦58yrs⟧) by",
    "seen (MRN ⟦4471902⟧, ⟦58 y⟧, male)",
    "in clinic: MRN ⟦4471902⟧, ⟦8 months⟧, is",
    "(⟦58 y⟧, MRN ⟦4471902⟧)",
    "hospital no ⟦339201⟧, ⟦58 y⟧ F",
]


@pytest.mark.parametrize("marked", AGES)
def test_an_age_is_found_with_its_unit(marked, check):
    check(marked, "AGE")


@pytest.mark.parametrize("marked", BESIDE_A_RECORD_NUMBER)
def test_a_number_of_years_beside_a_record_number_is_an_age(marked, check):
    check(marked, "AGE", "MEDICAL_RECORD_NUMBER")


@pytest.mark.parametrize("text", NO_AGES)
def test_this_is_no_age(text, check):
    check(text)
