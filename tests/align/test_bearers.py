"""Suffixes, nicknames, and initials are found beside and far from the names that they belong to."""

from __future__ import annotations

import pytest

from incognote.align.bearers import short_forms
from incognote.nouns import Span, Text


def found(content: str, *names: str, score: float = 0.8) -> list[str]:
    """Return the short forms in a text in which the names were detected."""
    text = Text(content)
    spans = [Span(text, at := content.index(name), at + len(name), "PATIENT", score) for name in names]
    return [span.text for span in short_forms(text, spans, {"gas", "rest", "ems"}.__contains__)]


@pytest.mark.parametrize(
    ("content", "name", "form"),
    [
        ("his father, Otis Sr., came", "Otis", "Otis Sr."),
        ("RE: Otis James Tillman, Sr.\nDOB", "Otis James Tillman, Sr", "Otis James Tillman, Sr."),
        ("Salvatore Esposito (Sr.) called", "Salvatore Esposito", "Salvatore Esposito (Sr.)"),
        ("per Joe jnr and Mrs Ferraro", "Joe", "Joe jnr"),
        ("named Manuel III after", "Manuel", "Manuel III"),
        ('Minjun Kim ("MJ") is better', "Minjun Kim", "MJ"),
        ("Joseph “T-Joe” Hebert", "Joseph", "T-Joe"),
        ("Raymond D. Kowalczyk came. R.D.K. walks daily", "Raymond D. Kowalczyk", "R.D.K."),
        ("KOWALCZYK, RAYMOND D JR\nR. K. walks", "KOWALCZYK, RAYMOND D JR", "R. K."),
        ("Anne J Braithwaite called (AJB assisting)", "Anne J Braithwaite", "AJB"),
        ("Anil Mehta saw her. Refilled. -AM", "Anil Mehta", "AM"),
        ("Carl Ness\nSigned CN", "Carl Ness", "CN"),
        ("Tyler Boggs\nTB/kn", "Tyler Boggs", "TB"),
        ("Raymond Kowalczyk came. R.D.K. walks daily", "Raymond Kowalczyk", "R.D.K."),
        ("Otis James Tillman. OJ does not want it", "Otis James Tillman", "OJ"),
        ("Leng Jayden Vang. Dad says LJ walks", "Leng Jayden Vang", "LJ"),
        ("the grandson everybody calls Quad (Raymond)", "Raymond", "Quad"),
        ("Otis came. He goes by OT-Dog now", "Otis", "OT-Dog"),
        ("Otis Tillman Sr. came. Junior drove him in", "Otis Tillman Sr.", "Junior"),
        ("Otis Tillman Jr. came; the other card is Junior's own", "Otis Tillman Jr.", "Junior"),
        ("Odette Fontenot came. O. wants her mother at home", "Odette Fontenot", "O."),
    ],
)
def test_a_short_form_of_a_found_name_is_found(content: str, name: str, form: str) -> None:
    assert form in found(content, name)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Mary Davis, M.D., saw him", "Mary Davis"),  # a credential
        ("Raymond Kowalczyk came. A.B. walks", "Raymond Kowalczyk"),  # somebody else
        ("Robert Stone\nR.S.\u00a0", "Robert"),  # a single name has no initials
        ("Anil Mehta came at 9 AM today", "Anil Mehta"),
        ("Anil Mehta\nAM\n", "Anil Mehta"),  # an abbreviation on a line of its own
        ("Grace A Sims had a GAS exchange", "Grace A Sims"),  # a common word
        ("Odette Fontenot takes vitamin O. Takes", "Odette Fontenot"),
        ("Sam Wu came. Call if BP does rise; everyone calls EMS", "Sam Wu"),
        ("Otis Tillman Sr. is in a junior high; the senior is seen", "Otis Tillman Sr."),
        ("Otis Tillman came. Junior said so", "Otis Tillman"),
        ("lead II after Dr. Park, II, III", "Park"),
        ("Joe is Senior Registrar", "Joe"),
        ('Joe said "Thanks a lot for this"', "Joe"),
    ],
)
def test_other_abbreviations_and_words_are_not_found(content: str, name: str) -> None:
    assert found(content, name) == []


def test_initials_that_are_once_used_as_a_name_are_found_everywhere() -> None:
    content = "Otis James Tillman\nOJ (his choice) is 44. OJ wants to donate."
    assert found(content, "Otis James Tillman") == ["OJ", "OJ", "OJ"]


def test_a_doubtful_name_has_no_short_forms() -> None:
    assert found("Raymond Kowalczyk came. R.K. walks", "Raymond Kowalczyk", score=0.4) == []
