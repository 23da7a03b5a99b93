"""The table of actions on DICOM elements, in the manner of the MIDI-B challenge: how many required actions were done.

The rows are JSON lines `{"id", "action", "required"?, "done"}`: an action on an element of an instance, whether it is
required (true by default), and whether the output shows that it was done. More keys are ignored.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ValidationError

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.formats.source import File, rows
from incognote.evaluation.intervals import Figure, share

ALL = "all"
"""The row of the sums."""
PUBLISHED = (0.9791, 0.9993)
"""The least and the largest share of required actions of the challenge's participants, on its images."""


class _Row(BaseModel):
    id: str | int
    action: str
    done: bool
    required: bool = True


def actions(path: str | Path) -> dict[str, Figure]:
    """Return the share of required actions that were done, by action and for all, with Wilson's intervals.

    Raises:
        UsageError: it cannot be read, a line does not fit, or no action is required.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path.name} is not a file. Name a file of JSON lines with the actions.")
    done: Counter[str] = Counter()
    required: Counter[str] = Counter()
    for place, value in rows(File(path, path.name)):
        try:
            if isinstance(value, MalformedRecord):
                raise UsageError(f"{path.name}, {place}: {value}")
            row = _Row.model_validate(value)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "it"
            raise UsageError(f"{path.name}, {place}: {where} is missing or has a wrong form") from None
        required[row.action] += row.required
        done[row.action] += row.required and row.done
    if not required.total():
        raise UsageError(f"{path.name} holds no required action.")
    table = {name: share(done[name], n) for name, n in sorted(required.items()) if n}
    return {**table, ALL: share(done.total(), required.total())}
