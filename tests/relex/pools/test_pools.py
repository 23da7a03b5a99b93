"""The pools are large, contain no clinical words, and are consistent with each other."""

from __future__ import annotations

from incognote.relex.generate.base import plain
from incognote.relex.pools import pools
from incognote_en.places import state_of
from incognote_en.rules.gazetteer import ordinary


def test_there_are_names_enough() -> None:
    people = pools().people.values()
    assert len({name for one in people for name in (*one.surname, *one.more)}) >= 2000
    for gender in ("male", "female"):
        assert len({name for one in people for name in one.names(gender)}) >= 600
        assert all(len(one.names(gender)) >= 8 for one in people)


def test_no_name_means_something_in_a_chart() -> None:
    drawn = {name for one in pools().people.values() for name in (*one.surname, *one.more, *one.after.get("", ()))}
    drawn |= {name for one in pools().people.values() for names in one.given.values() for name in names}
    drawn |= {name for one in pools().people.values() for names in one.nicknames.values() for name in names}
    assert not {plain(name) for name in drawn} & ordinary()


def test_a_given_name_has_one_gender_in_a_culture() -> None:
    assert len(pools().people) > 50
    for one in pools().people.values():
        male, female = (
            {name for kind, names in one.given.items() if kind.startswith(gender) for name in names}
            for gender in ("male", "female")
        )
        assert not male & female


def test_nicknames_are_of_listed_names_and_differ_from_them() -> None:
    assert len(pools().people["en"].nicknames) > 100
    for one in pools().people.values():
        given = {name for names in one.given.values() for name in names} | set(one.also["given"])
        assert one.nicknames.keys() <= given
        assert all(full not in short for full, short in one.nicknames.items())


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


def test_names_of_institutions_are_no_clinical_words() -> None:
    saints = {name for key in ("names", "san", "santa") for name in pools().words("institutions", "saint", key)}
    names = {*saints, *pools().words("institutions", "core", "plain")}
    assert not {plain(name) for name in names} & ordinary()
