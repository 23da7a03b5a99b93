"""Rooms, beds, and bays; postal codes of several countries."""

from __future__ import annotations

import pytest

ROOMS = [
    "⟦Rm 512B⟧",
    "in ⟦Room 3⟧.",
    "⟦Room 207-B⟧",
    "⟦Bed No. 31⟧.",
    "twin A in ⟦bed 8⟧.",
    "⟦Pod C bed 7⟧",
    "⟦Trauma Bay 2⟧.",
    "from ⟦bay 3⟧ went",
    "⟦Resus 2⟧.",
    "⟦CHAIR 9⟧",
    "⟦O.T. 2⟧, 08:00",
    "operating ⟦room #3⟧ and",
    "⟦ED Hall Bed 6⟧",
    "⟦HEM DAY BED 3⟧",
    "⟦rm 12b⟧",
    "Lives alone, ⟦apt 12B⟧, third floor",
    "moved to ⟦Apartment 4⟧ since",
]
NO_ROOMS = [
    "room air 98%",
    "bed rest for 3 days",
    "in bed 24 hours a day",
    "OR 3.2 (95% CI 1.1-4.4)",
    "moved to the operating room.  A general anesthetic",
    "bedside commode x2",
    "chair 30 min TID",
    "pressure bed sores 2",
    "next appt 10 am",
    "T waves flat 2 mm",
    "apt 10:30",
]
ZIPS = [
    "zip ⟦04699⟧",
    "ZIP: ⟦83702-1234⟧",
    "Boise, ID ⟦83702⟧",
    "Tillman Falls, OH ⟦44993⟧",
    "Ottershaw, NM ⟦87999-0014⟧",
    "Otterby Parva ⟦OT4 9QZ⟧",
    "Tarnside ⟦SW1A 1AA⟧",
    "Lac, ON ⟦K0Z 9X9⟧",
    "Boulia QLD ⟦4829⟧",
    "Ballinaferra, ⟦V93 X0T7⟧.",
    "Distt. Sitapurwa - ⟦261999⟧",
    "New Delhi ⟦110001⟧",
    "#08-221 S(⟦553642⟧)",
    "PIN code ⟦560 001⟧",
]
NO_ZIPS = ["Hgb 10.1, PLT 15000", "Platelets 150000 - 400000", "CPT 24538", "T4 5TH digit", "IN 25 min"]


@pytest.mark.parametrize("marked", ROOMS)
def test_a_room_or_bed_is_found(marked, check):
    check(marked, "ROOM")


@pytest.mark.parametrize("marked", ZIPS)
def test_a_postal_code_is_found(marked, check):
    check(marked, "ZIP")


@pytest.mark.parametrize("text", NO_ROOMS + NO_ZIPS)
def test_this_is_no_place_number(text, check):
    check(text)
