"""What errors tell drivers: which of them leave records unchanged."""

from __future__ import annotations

import pickle

import pytest

from incognote import errors

RETRYABLE = {
    "BudgetExhausted", "IndexBusy", "IndexProblem", "IndexRejected", "IndexUnavailable", "LeaseLost",
    "LedgerUnavailable", "ModelStopped", "ModelUnavailable", "SourceUnavailable", "StoreProblem", "Unwritable",
}  # fmt: skip


def test_what_is_retryable_is_no_records_fault_and_passes_by_itself() -> None:
    classes = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    ours = {name: kind for name, kind in classes.items() if issubclass(kind, errors.IncognoteError)}
    assert {name for name, kind in ours.items() if kind.retryable} == RETRYABLE


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        (("model-unavailable", "doubtful"), "model-unavailable"),
        (("model-unavailable", "budget-exhausted"), "budget-exhausted"),
        (("index-rejected",), "index-rejected"),
        (("model-rejected", "internal-error", "malformed"), None),
        ((), None),
        (("",), None),
    ],
)
def test_a_verdict_is_no_verdict_if_one_of_its_codes_is_of_a_retryable_error(
    codes: tuple[str, ...], code: str | None
) -> None:
    assert errors.retryable_code(codes) == code


def test_an_unread_text_travels_between_processes_with_its_code_and_class() -> None:
    spent, declined = errors.Unread.of("budget-exhausted", "why"), errors.Unread.of("model-declined")
    assert (type(spent), spent.retryable, declined.retryable) == (errors.BudgetExhausted, True, False)
    for error in (spent, declined):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.code, str(again)) == (type(error), error.code, str(error))


def test_every_code_is_of_one_class() -> None:
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and "code" in vars(kind)]
    codes = [kind.code for kind in classes if kind.code]
    assert len(codes) > 15
    assert len(codes) == len(set(codes))
