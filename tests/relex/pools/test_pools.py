"""The pools are large, contain no clinical words, are consistent with each other, and never change."""

from __future__ import annotations

import hashlib
import json
import tomllib

import pytest

from incognote.errors import UnknownName
from incognote.languages import language
from incognote.relex.generate.base import plain
from incognote.relex.pools import CURRENT, VERSIONS, pools
from incognote_en.places import state_of
from incognote_en.rules.gazetteer import ordinary

PRINTS = {
    "1": "f631e2a1f5a648db7ea48023e61c7260be51b5fc5ab4b9f96abb2c47a91a475c",
    "2": "eb355445a85d3f0386a08bb1df4337f717c6ac5d5a8db031eb501b1ca86826aa",
}
"""The hash of each version's data, in its order, without comments. Existing surrogates depend on it, so a change of the
data needs a new version."""


def fingerprint(version: str) -> str:
    files = [entry for entry in language().file("pools", f"v{version}").iterdir() if entry.name.endswith(".toml")]
    data = {entry.name: tomllib.loads(entry.read_text("utf-8")) for entry in sorted(files, key=lambda file: file.name)}
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_as_it_was_when_it_was_given_out(version: str) -> None:
    assert fingerprint(version) == PRINTS[version]


def test_the_current_version_is_one_of_the_versions() -> None:
    assert pools().version == CURRENT
    assert CURRENT in VERSIONS


def test_a_version_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="version of the pools"):
        pools("0")


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


def test_a_locale_of_few_names_borrows_and_one_of_many_does_not() -> None:
    assert len(pools("1").surnames("gr")) > 1000
    assert "Yamamoto" not in pools("1").surnames("es")


@pytest.mark.parametrize("home", "ar et gh gr he hu jp ke ko pk pl ro ru so tr vi zh".split())
def test_a_home_has_names_of_its_own_and_no_english_ones(home: str) -> None:
    assert len(pools("2").surnames(home)) >= 50
    assert "Smith" not in pools("2").surnames(home)
    for gender in ("male", "female", "unknown"):
        assert "Courtney" not in pools("2").given(home, gender)
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
            assert all(pools().home_of_area[area] == region for area in town.areas)
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
