"""The confusion matrix of the three notes, by hand."""

from __future__ import annotations

import pytest

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import UNTYPED, Scheme

from .conftest import confusion


def test_the_notes_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    table = confusion(notes, scheme)
    assert table.rows == ("AGE", "CONTACT", "DATE", "ID", "LOCATION", "PERSON", "spurious")
    assert table.columns == ("AGE", "CONTACT", "DATE", "ID", "LOCATION", "PERSON", "missed")
    assert table.cells == (
        (0, 0, 1, 0, 0, 0, 0),  # the age 76 was found as a date
        (0, 1, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 0, 1),
        (0, 0, 0, 0, 0, 0, 1),
        (0, 0, 0, 0, 1, 0, 0),
        (0, 0, 0, 0, 0, 2, 0),
        (0, 0, 0, 0, 0, 2, 0),  # call and Foley
    )
    assert table.at("AGE", "DATE") == 1
    assert table.worst(2) == [("spurious", "PERSON", 2), ("AGE", "DATE", 1)]
    assert len(table.worst()) == 4


def test_findings_without_a_type_have_a_column() -> None:
    pair = Pair("1", "Ann", (LabeledSpan(0, 3, "PERSON"),), (LabeledSpan(0, 3, UNTYPED),))
    table = confusion([pair], Scheme.of([pair]))
    assert table.columns == ("PERSON", UNTYPED, "missed")
    assert table.at("PERSON", UNTYPED) == 1


def test_no_document_is_no_score(scheme: Scheme) -> None:
    with pytest.raises(UsageError, match="No gold, no score"):
        confusion([], scheme)
