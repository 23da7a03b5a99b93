"""Clinical model consistency detects surrogates that mislead a model in one group, and ignores harmless ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.errors import UsageError
from incognote.evaluation.relex.downstream import EVERYBODY, FAMILY, conditions, conditions_kept, model_consistency
from incognote.evaluation.relex.pairs import NotePair

Pair = Callable[..., NotePair]
SURNAMES = ["Reed", "Stone", "Hill", "Lane", "Ford", "Marsh", "Wood", "Field"]


def notes(pair: Pair, surrogate: Callable[[int, str, str], str]) -> list[NotePair]:
    """Sixteen patients in two groups. Half have a stroke, which the place of treatment shows."""
    made = []
    for at in range(16):
        label, race = ("stroke", "heart")[at % 2], ("A", "B")[at // 8]
        place = {"stroke": "Neurology Wing", "heart": "Cardiac Wing"}[label]
        where = f"[HOSPITAL {place}|{surrogate(at, label, race)}]"
        marked = f"[PATIENT Ann {SURNAMES[at % 8]}|Eve Moss] was seen at {where} today"
        made.append(pair(marked, f"p{at}", at, label=label, race=race))
    return made


def kept(at: int, label: str, race: str) -> str:
    return {"stroke": "Neurology Wing", "heart": "Cardiac Wing"}[label]


def swapped_for_b(at: int, label: str, race: str) -> str:
    return kept(at, label if race == "A" else {"stroke": "heart", "heart": "stroke"}[label], race)


def test_harmless_surrogates_shift_nothing(pair: Pair) -> None:
    told = model_consistency(notes(pair, kept), 50)
    assert told[EVERYBODY][EVERYBODY].before == 1
    assert told[EVERYBODY][EVERYBODY].shift.value == 0
    assert {name: shift.shift.value for name, shift in told["race"].items()} == {"A": 0, "B": 0}


def test_surrogates_that_mislead_in_one_group_shift_that_group(pair: Pair) -> None:
    told = model_consistency(notes(pair, swapped_for_b), 50)
    assert told["race"]["A"].shift.value == 0
    assert told["race"]["B"].shift.value == -1
    assert told["race"]["B"].shift.high is not None
    assert told["race"]["B"].shift.high < 0


def on_metformin(pair: Pair, surname: Callable[[int], str]) -> list[NotePair]:
    """Sixteen patients, every second one on metformin."""
    return [
        pair(f"[PATIENT Ann {surname(at)}|Eve Moss] takes {'metformin ' if at % 2 else ''}daily", f"p{at}", at)
        for at in range(16)
    ]


def test_without_labels_conditions_are_the_task_and_their_words_are_withheld(pair: Pair) -> None:
    """If the model could see `metformin`, it would find every note."""
    (told,) = model_consistency(on_metformin(pair, lambda at: SURNAMES[at // 2]), 50)[EVERYBODY].values()
    assert told.before is not None
    assert told.before <= 0.5


def test_a_model_that_names_led_shifts_when_they_go(pair: Pair) -> None:
    (told,) = model_consistency(on_metformin(pair, lambda at: SURNAMES[at % 8]), 50)[EVERYBODY].values()
    assert told.before == 1
    assert told.shift.high is not None
    assert told.shift.high < 0


def test_groups_are_guessed_from_the_words_only_where_the_gold_names_none(pair: Pair) -> None:
    made = [
        pair(f"[PATIENT Fatima Hassan|Eve Moss], [AGE {70 + at}-year-old|70-year-old] {kind}", f"p{at}", at, label=kind)
        for at, kind in enumerate(["stroke", "heart"] * 6)
    ]
    told = model_consistency(made, 20)
    assert set(told["age group (guess)"]) == {"65 and over"}
    assert set(told["home of the name (guess)"]) == {"ar"}


def test_one_patient_is_too_few(pair: Pair) -> None:
    with pytest.raises(UsageError, match="two patients"):
        model_consistency([pair("[PATIENT Ann Reed|Eve Moss]")])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Has diabetes and asthma.", {"diabetes", "lung disease"}),
        ("No diabetes or asthma, but hypertension.", {"hypertension"}),
        ("He denies angina. Without fever\nCOPD", {"lung disease"}),
        ("Diabetes: none. Angina: ruled out. Asthma", {"diabetes", "heart disease", "lung disease"}),
        ("Angina ruled out. Diabetes denied.", set()),
        ("Asthma. Mother had breast cancer and a stroke.", {"lung disease", FAMILY}),
        ("Diabetes in her mother.\nFamily history: stroke", {"diabetes", FAMILY}),
        ("Brother without diabetes", set()),
    ],
)
def test_negated_conditions_and_those_of_relatives_are_not_the_patients(text: str, read: set[str]) -> None:
    assert {name for name, _ in conditions(text)} == read


def test_a_condition_that_a_surrogate_swallowed_is_seen(pair: Pair) -> None:
    kept = pair("Diabetes. Seen by Dr. [CLINICIAN Hill|Stone].")
    lost = pair("Lives at [ADDRESS 1 Elm St, Salem\nFall|2 Oak St, Juneau] on the stairs", "q", 1)
    assert conditions_kept([kept, lost], 20).value == 0.5
