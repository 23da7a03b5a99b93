"""Which parts a person's surrogate needs."""

from __future__ import annotations

from incognote.relex.names import components, fit, parse, render


def test_a_nickname_draws_what_the_name_draws() -> None:
    assert components([parse("Bob Hargrove")]) == components([parse("HARGROVE, ROBERT")])
    assert components([parse("Robert Hargrove"), parse("Bob")]) == {"given": "robert", "surname": "hargrove"}


def test_a_misspelt_surname_draws_what_the_surname_draws() -> None:
    names = [parse("Naomi Rosenthal"), fit("Rosental", [parse("Naomi Rosenthal")], "dr")]
    assert set(components(names).values()) == {"naomi", "rosenthal"}


def test_each_surname_of_a_person_is_a_part() -> None:
    names = [parse("Katarina Lindqvist"), parse("MOREAU, KATARINA"), parse("Kat Lindqvist-Moreau")]
    parts = components(names)
    assert parts["surname:lindqvist"] == "lindqvist"
    assert parts["surname:moreau"] == "moreau"
    drawn = {"given": "Ida", "surname": "Berg", "surname:lindqvist": "Berg", "surname:moreau": "Petit"}
    assert drawn.keys() == parts.keys()
    assert [render(name, drawn) for name in names] == ["Ida Berg", "PETIT, IDA", "Ida Berg-Petit"]


def test_initials_alone_draw_by_themselves() -> None:
    assert components([parse("J.K.")]) == {"given": "j", "surname": "k"}


def test_a_fuller_name_settles_the_reading() -> None:
    assert fit("Wei Li", [parse("Li Wei")]).surname == ("Li",)
    assert fit("Okafor", [parse("Chidi Okafor")]).surname == ("Okafor",)
    assert fit("Bob", [parse("Robert Hargrove")], title="mr").given == ("Bob",)
    assert fit("Hoa", [parse("Nguyen Thi Hoa")]).given == ("Hoa",)
