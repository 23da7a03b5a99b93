"""The pools are large, contain no clinical words, and are consistent with each other."""

from __future__ import annotations

import pytest

from incognote.relex.generate.base import plain
from incognote.relex.pools import pools
from incognote_en.places import state_of
from incognote_en.rules.gazetteer import ordinary


def test_there_are_names_enough() -> None:
    table = pools().data("people")
    sizes = {
        kind: len({n for lists in table.values() for n in lists[kind].split()})
        for kind in ("male", "female", "surname")
    }
    assert sizes["surname"] >= 2000
    assert sizes["male"] >= 600
    assert sizes["female"] >= 600


def test_no_name_means_something_in_a_chart() -> None:
    table = pools().data("people")
    names = {plain(name) for lists in table.values() for kind in lists.values() for name in kind.split()}
    assert not names & ordinary()


@pytest.mark.parametrize("home", "ar et gh gr he hu jp ke ko pk pl ro ru so tr vi zh".split())
def test_a_home_has_names_of_its_own_and_no_english_ones(home: str) -> None:
    assert len(pools().surnames(home)) >= 50
    assert "Smith" not in pools().surnames(home)
    for gender in ("male", "female", "unknown"):
        assert "Courtney" not in pools().given(home, gender)
    assert set(pools().given("xx", "female")) == set(pools().given("en", "female"))
    assert "Taylor" in pools().given("en", "unknown")


def test_names_of_one_gender_are_not_names_of_the_other() -> None:
    assert pools().data("people")
    for locale in pools().data("people"):
        table = pools().data("people")[locale]
        assert not set(table["male"].split()) & set(table["female"].split())


def test_us_towns_agree_with_their_zip_and_area_codes() -> None:
    checked = 0
    for (country, region), towns in pools().towns.items():
        for town in towns if country == "US" else ():
            assert all(pools().home_of_area[area] == (country, region) for area in town.areas)
            for code in town.zips:
                told = state_of(code)
                assert told is not None
                assert told.name == region
                checked += 1
    assert checked > 800


def test_every_state_has_towns() -> None:
    states = {name for country, name in pools().towns if country == "US"}
    assert len(states) == 51


def test_countries_beyond_the_us_have_towns_with_codes() -> None:
    for country in ("CA", "GB", "AU", "IE", "NZ", "IN", "ZA"):
        towns = [town for (home, _), found in pools().towns.items() if home == country for town in found]
        assert len(towns) >= 14
        assert all(town.zips and town.areas for town in towns)


def test_saints_are_no_eponyms() -> None:
    assert not {plain(name) for name in pools().words("institutions", "saint", "names")} & ordinary()
