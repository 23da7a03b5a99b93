"""In made-up charts, a quarter of whose person types are wrong, hardly anybody is joined to the patient."""

from __future__ import annotations

from incognote_benchmarks.wrong_types import charts, joined


def test_at_most_one_patient_in_a_hundred_gets_somebody_else_joined() -> None:
    found = [joined(gold) for gold in charts(200, seed=3)]
    assert len(found) == 200
    assert sum(with_patient for with_patient, _ in found) <= 2
    assert sum(any_two for _, any_two in found) <= 12
