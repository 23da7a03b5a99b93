"""Disguised identifiers: what the rules release from two test sets, compared with the list of known leaks.

`tests/data/hidden/leaking.json` lists the variants that leak with the rules alone; docs/measured/hidden.json has the
figures for rules plus encoder. The test also fails when a leak is fixed; regenerate the list with
`python tests/benchmarks/test_hidden.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from incognote import Deidentifier

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "scripts"))
import hidden  # noqa: E402 (a script next to the package)

LEAKING = ROOT / "tests" / "data" / "hidden" / "leaking.json"
BATTERIES = ("battery_1", "battery_2", "battery_3", "battery_4", "battery_5", "battery_6")


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    return Deidentifier(detectors=("rules",))


@pytest.mark.parametrize("name", BATTERIES)
def test_the_variants_that_leak_are_those_that_are_known_to(deid: Deidentifier, name: str) -> None:
    assert hidden.battery(deid, name)["leaking"] == json.loads(LEAKING.read_text(encoding="utf-8"))[name]


def test_of_the_benign_exports_at_most_one_in_fifty_is_held(deid: Deidentifier) -> None:
    told = hidden.held(deid, "benign")["languages"]["en"]
    assert told["n"] == 500
    assert told["held"] <= 10


def test_a_note_in_another_language_is_held_nearly_always_and_an_english_one_hardly_ever(deid: Deidentifier) -> None:
    told = hidden.held(deid, "languages")["languages"]
    assert set(told) == {"ar", "de", "en", "es", "fr", "ru", "zh"}
    for lang in ("ar", "ru", "zh"):
        assert told[lang]["held"] == told[lang]["n"] > 60
    for lang in ("de", "es", "fr"):
        assert told[lang]["n"] - told[lang]["held"] <= 6
    assert told["en"]["held"] <= 4


if __name__ == "__main__":
    with Deidentifier(detectors=("rules",)) as made:
        lists = {name: hidden.battery(made, name)["leaking"] for name in BATTERIES}
    LEAKING.write_text(json.dumps(lists, indent=1) + "\n", encoding="utf-8")
