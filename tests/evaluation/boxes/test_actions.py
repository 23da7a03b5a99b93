"""The table of actions."""

from __future__ import annotations

import re

import pytest

from incognote.errors import UsageError
from incognote.evaluation.boxes.actions import ALL, actions
from incognote.evaluation.intervals import share

from .conftest import Lines


def row(action: str, done: bool, **more: object) -> dict[str, object]:
    return {"id": "1.dcm", "action": action, "done": done, **more}


def test_required_actions_are_counted_by_action_and_for_all(lines: Lines) -> None:
    rows = [row("uid changed", True), row("uid changed", False), row("tag removed", True, path="PatientName"),
            row("tag removed", False, required=False), row("tag kept", True, required=False)]  # fmt: skip
    table = actions(lines("a.jsonl", rows))
    assert table == {"tag removed": share(1, 1), "uid changed": share(1, 2), ALL: share(2, 3)}
    assert table["tag removed"].low is not None
    assert table["tag removed"].low < 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": 1, "action": "x", "done": "Ruth Hale"}], "a.jsonl, line 1: done is missing or has a wrong form"),
        ([{"id": 1, "done": True}], "a.jsonl, line 1: action is missing or has a wrong form"),
        ([row("x", True, required=False)], "a.jsonl holds no required action."),
        ([], "a.jsonl holds no required action."),
    ],
)
def test_rows_that_do_not_fit_are_refused(lines: Lines, rows: list[object], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        actions(lines("a.jsonl", rows))
