"""Guesses from names and the words around them."""

from __future__ import annotations

import pytest

from incognote.relex.names import gender, locale, parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Eleanor Hargrove", "female"),
        ("HARGROVE, ROBERT", "male"),
        ("Chidi Okafor", "male"),
        ("Wang Xiuying", "female"),
    ],
)
def test_a_given_name_tells_the_gender(written: str, value: str) -> None:
    assert gender(parse(written)).value == value


def test_unknown_is_an_answer() -> None:
    assert gender(parse("Qzxv Wilson")).value == "unknown"
    assert gender(parse("Wilson", title="dr")).confidence == 0.0
    assert locale(parse("Qzxv")).value == "unknown"


def test_titles_and_kin_words_go_before_the_name() -> None:
    assert gender(parse("Robin Hood"), ["wife"]) == ("female", 0.95)
    assert gender(parse("Mr. Robin Hood")).value == "male"
    assert gender(parse("Robin Hood"), ["Mrs", "husband"]).value == "unknown"


@pytest.mark.parametrize(
    ("written", "home"),
    [
        ("Adam Wilson", "en"),
        ("Chidi Okafor", "ng"),
        ("Nguyen Thi Lan", "vi"),
        ("Wang Xiuying", "zh"),
        ("Park Ji-yeon", "ko"),
        ("María del Carmen Fuentes Ortega", "es"),
        ("Aleksandr Sokolov", "ru"),
        ("Rajesh Patel", "in"),
        ("Khalid Al-Mansouri", "ar"),
        ("Nagy István", "hu"),
    ],
)
def test_a_name_is_at_home_somewhere(written: str, home: str) -> None:
    assert locale(parse(written)).value == home
