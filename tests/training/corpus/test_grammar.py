"""The document grammar: all constructs, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from incognote.errors import UsageError
from incognote_training.corpus.grammar import Piece, Slot, assemble, expand, parse, slots


def fill(name: str, argument: str) -> Iterator[Piece]:
    yield Piece(f"<{name}{'/' + argument if argument else ''}>", "CITY" if name == "city" else None)


def made(text: str, seed: int = 0) -> str:
    return assemble(expand(parse(text), Random(seed), fill))[0]


def every(text: str) -> set[str]:
    return {made(text, seed) for seed in range(80)}


def test_one_of_the_alternatives_stands() -> None:
    assert every("a {b|c|} d") == {"a b d", "a c d", "a  d"}


def test_alternatives_nest_and_may_begin_with_a_slot() -> None:
    assert every("{{{x}}|{b|c}}") == {"<x>", "b", "c"}


def test_a_slot_has_an_argument_and_may_be_capital() -> None:
    assert list(slots(parse("{{^n:3-7}} {a|{{#%?}}}"))) == [Slot("n", "3-7", True), Slot("#%?", "", False)]


def test_an_optional_part_is_there_as_often_as_it_says() -> None:
    there = sum("x" in made("{?25 x}.", seed) for seed in range(400))
    assert 60 < there < 140


def test_repeats_stand_on_lines_or_between_their_signs() -> None:
    assert every("{*2-3 a}") == {"a\na", "a\na\na"}
    assert made("{*2-2, a}") == "a, a"
    assert made("{*2-2; a}") == "a; a"
    assert made("{*2-2_ a}") == "a a"


def test_parts_come_in_any_order_or_some_of_them() -> None:
    assert every("{~ a || b}") == {"a b", "b a"}
    assert every("{~~1-1 a || b}") == {"a", "b"}
    assert every("{~~~ a || b}") == {"a\n\nb", "b\n\na"}


def test_escaped_signs_and_bars_outside_braces_stand() -> None:
    assert made(r"PID|1 \{x\} {a\|b} \n.") == "PID|1 {x} a|b\n."


@pytest.mark.parametrize("text", ["{a|b", "a}", "{?30 x", "{~ a || b"])
def test_braces_that_do_not_match_are_refused_by_place(text: str) -> None:
    with pytest.raises(UsageError, match="character"):
        parse(text, "some file")


def test_spans_are_where_their_words_are() -> None:
    text, spans = assemble(iter([Piece("in "), Piece("Ghent", "CITY"), Piece(", "), Piece("Rome", "CITY")]))
    assert [(text[a:b], kind) for a, b, kind in spans] == [("Ghent", "CITY"), ("Rome", "CITY")]


def test_empty_lines_and_blanks_left_by_absent_parts_are_gone() -> None:
    text, spans = assemble(iter([Piece("a \n\n"), Piece("\n\n\nb"), Piece("Ghent", "CITY"), Piece("  \n")]))
    assert text == "a\n\nbGhent"
    assert spans == [(4, 9, "CITY")]


def test_the_article_fits_the_age() -> None:
    text, spans = assemble(iter([Piece("is a "), Piece("82-year-old", "AGE"), Piece(" man")]))
    assert text == "is an 82-year-old man"
    assert text[spans[0][0] : spans[0][1]] == "82-year-old"
    assert assemble(iter([Piece("is a "), Piece("72-year-old", "AGE")]))[0] == "is a 72-year-old"
