"""The filter of the review queue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from incognote.service.review.nouns import State


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A filter for lines of the queue. None omits a condition.

    Args:
        state, release: as in `QueueEntry`.
        reason: a reason code for which the record is held.
        find: a line's number, or a part of its id or key.
        until: queued at this time or before, as ISO 8601 in UTC.
        assignee: the name of a person; "" for unassigned records.
    """

    state: State | None = "waiting"
    release: str | None = None
    reason: str | None = None
    find: str | None = None
    until: str | None = None
    assignee: str | None = None

    def conditions(self, at: Any, assignee: Any) -> list[Any]:
        """Return the filter for SQLAlchemy.

        Args:
            at: the columns of the queue's table.
            assignee: the column of the assignee.
        """
        from sqlalchemy import or_

        given = [(at.state, self.state), (at.release, self.release)]
        wanted: list[Any] = [column == value for column, value in given if value is not None]
        if self.reason is not None:
            wanted.append(at.reasons.contains(f'["{self.reason}"', autoescape=True))
        if self.find is not None:
            near = [column.contains(self.find, autoescape=True) for column in (at.id, at.record_key)]
            number = [at.number == int(self.find)] if re.fullmatch("[0-9]{1,9}", self.find) else []
            wanted.append(or_(*near, *number))
        if self.until is not None:
            wanted.append(at.since <= self.until)
        if self.assignee is not None:
            wanted.append(assignee == self.assignee if self.assignee else assignee.is_(None))
        return wanted
