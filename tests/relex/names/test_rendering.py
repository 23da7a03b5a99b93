"""Rendering a surrogate in the shape of the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.relex.names import Parsed, fit, parse, render

CHANG = {"given": "Kevin", "middle": "Lee", "surname": "Chang"}

GIVEN = st.sampled_from("Robert Chidi Min-jun Xiuying María Anne-Marie Temitope István Lan Siobhán Ahmed".split())
SURNAME = st.sampled_from(
    "Hargrove Okafor O'Donnell;van der Meer;de la Cruz;Al-Mansouri;Lindqvist-Moreau;Fuentes Ortega;Nguyen;Wang".replace(
        " O'", ";O'"
    ).split(";")
)
MIDDLE = st.sampled_from(["", "T.", "N", "James", "Q. R."])
TITLE = st.sampled_from(["", "Dr. ", "Mrs ", "Prof. Dr. "])
TAIL = st.sampled_from(["", ", MD", " Jr.", " III", ", RN, BSN"])
OWNED = st.sampled_from(["", "'s", "’s"])
CASE = st.sampled_from([str, str.upper, str.lower])


@st.composite
def written(draw: st.DrawFn) -> str:
    first, last, middle = draw(GIVEN), draw(SURNAME), draw(MIDDLE)
    shape = draw(
        st.sampled_from(["{f} {m} {l}", "{l}, {f} {m}", "{i}. {l}", "{l}, {i}.", "{l}", "{f}", "{i}{j}", "{i}.{j}."])
    )
    name = shape.format(f=first, m=middle, l=last, i=first[0], j=last[0]).strip().replace("  ", " ")
    return draw(TITLE) + draw(CASE)(name) + draw(TAIL) + draw(OWNED)


@given(written())
def test_a_name_with_its_own_parts_is_itself(name: str) -> None:
    read = parse(name)
    assert render(read, parts_of(read)) == name


@given(st.text(min_size=1, max_size=30))
def test_anything_with_its_own_parts_is_itself(words: str) -> None:
    read = parse(words)
    assert render(read, parts_of(read)) == words


def parts_of(name: Parsed) -> dict[str, str]:
    """Return the parts of a name as written, in the form that `render` takes: by role, and by role and normal form.

    "surname" is the first surname. If there are several, each also has its own entry ("surname:ortega").
    """
    parts: dict[str, str] = {}
    for role in ("given", "nick", "middle", "surname"):
        found = name.of(role)
        for piece in found:
            text = "".join(c for c in piece.text if c.isalnum()) if piece.style == "spelled" else piece.text
            parts.setdefault(role, text)
            if len(found) > 1:
                parts.setdefault(f"{role}:{piece.key}", text)
    return parts


@pytest.mark.parametrize(
    ("original", "surrogate"),
    [
        ("Adam Wilson", "Kevin Chang"),
        ("Dr. Adam Wilson, MD", "Dr. Kevin Chang, MD"),
        ("WILSON, ADAM J.", "CHANG, KEVIN L."),
        ("wilson, adam", "chang, kevin"),
        ("A. Wilson", "K. Chang"),
        ("Wilson, A.", "Chang, K."),
        ("Adam Wilson's", "Kevin Chang's"),
        ("AJW", "KLC"),
        ("A.W.", "K.C."),
        ("Adam Wilson Jr.", "Kevin Chang Jr."),
        ("Willem van der Meer", "Kevin Chang"),
        ("A-D-A-M", "K-E-V-I-N"),
        ("Baby Boy Wilson", "Baby Boy Chang"),
        ("Wang Xiuying", "Chang Kevin"),
        ("María del Carmen Fuentes Ortega", "Kevin Lee Chang"),
        ('Margaret "Peggy" Doyle', 'Kevin "Kevin" Chang'),
    ],
)
def test_the_shape_is_kept(original: str, surrogate: str) -> None:
    assert render(parse(original), CHANG) == surrogate


def test_a_lone_surname_is_the_surrogates() -> None:
    assert render(fit("Wilson", [parse("Adam Wilson")], "dr"), CHANG) == "Chang"


def test_a_middle_name_without_a_part_is_left_out() -> None:
    parts = {"given": "Kevin", "surname": "Chang"}
    assert render(parse("WILSON, ADAM J."), parts) == "CHANG, KEVIN"
    assert render(parse("Adam J. Wilson"), parts) == "Kevin Chang"


def test_each_of_two_surnames_has_its_own_part() -> None:
    parts = CHANG | {"surname:lindqvist": "Berg", "surname:moreau": "Petit"}
    assert render(parse("Kat Lindqvist-Moreau"), parts) == "Kevin Berg-Petit"
    assert render(parse("Moreau", title="mrs"), parts) == "Petit"


def test_a_missing_surname_is_an_error_that_quotes_nothing() -> None:
    with pytest.raises(UsageError) as caught:
        render(parse("Adam Wilson"), {"given": "Kevin"})
    assert "surname" in str(caught.value)
    assert "Wilson" not in str(caught.value)


def test_a_particle_gives_no_initial() -> None:
    assert render(parse("A. W."), {"given": "Kees", "surname": "van der Laan"}) == "K. L."


def test_initials_keep_their_full_stops_where_a_middle_name_is_left_out() -> None:
    assert render(parse("H.T.T.N."), {"given": "Gail", "middle": "Ada", "surname": "Eaton"}) == "G.A.E."
