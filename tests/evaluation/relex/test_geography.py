"""Places: town, state, ZIP code, and area code belong together in the new notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.evaluation.relex.geography import agree, geography
from incognote.evaluation.relex.pairs import NotePair

Pair = Callable[..., NotePair]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (("Fairbanks", "Alaska", "99701"), (True, True, True)),
        (("Fairbanks", "Michigan", "48104"), (False, True, False)),
        (("Fairbanks", "Alaska", "48104"), (True, False, False)),
        (("Fairbanks", "", "99701"), (None, None, True)),
        (("Nowhereville", "Alaska", ""), (False, None, None)),
        (("Centro", "", "60054"), (None, None, None)),
    ],
)
def test_a_town_agrees_with_its_state_and_code(place: tuple[str, str, str], expected: tuple[bool | None, ...]) -> None:
    assert agree(*place) == expected


def test_parts_that_were_replaced_one_by_one_are_judged_together(pair: Pair) -> None:
    note = pair("Lives in [CITY Salem|Fairbanks], [STATE Oregon|Alaska] [ZIP 97301|48104]. Sent to Juneau, OH.")
    found = geography([note], 20, 0)
    assert {name: (figure.value, figure.of) for name, figure in found.items()} == {
        "town and state": (1, 1), "ZIP and state": (0, 1), "town and ZIP": (0, 1), "area code and state": (None, 0),
    }  # fmt: skip


@pytest.mark.parametrize(("phone", "agrees"), [("907-555-0101", 1), ("212-555-0101", 0)])
def test_an_area_code_that_fitted_must_still_fit(pair: Pair, phone: str, agrees: int) -> None:
    note = pair(
        f"[ADDRESS 1 Elm St, Ann Arbor, MI 48104|2 Oak St, Juneau, AK 99801], [TELEPHONE_NUMBER 734-555-0100|{phone}], "
        "brother [TELEPHONE_NUMBER 212-555-0100|415-555-0100]"
    )
    found = geography([note], 20, 0)["area code and state"]
    assert (found.value, found.of) == (agrees, 1)
