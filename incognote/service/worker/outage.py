"""What is no record's fault: a model, the index, a budget that is spent; who is to blame, and how long to wait."""

from __future__ import annotations

from incognote.errors import IncognoteError, retryable_code
from incognote.nouns import Result

_FIRST = 0.5
_FAILING = 2  # batches of which nothing was served, one after the other: then it is no record's doing


class Outage(IncognoteError):
    """Something that records need did not serve; they are returned as they were."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code}: records wait until it serves again")
        self.code = code


def is_outage(result: Result) -> str | None:
    """The code of what did not serve a record; None where its verdict is its own."""
    if result.verdict.released:
        return None
    return retryable_code(reason.code for reason in result.verdict.reasons)


class Pauses:
    """Seconds to wait, doubling up to the longest."""

    def __init__(self, longest: float) -> None:
        self._longest, self._next = longest, 0.0
        self.reset()

    def reset(self) -> None:
        """All serves again."""
        self._next = min(_FIRST, self._longest)

    def next(self) -> float:
        """How long to wait now."""
        now, self._next = self._next, min(2 * self._next, self._longest)
        return now


class Blame:
    """Whether what is not served is the record's doing, or nobody is served.

    Args:
        most: how often a record may fail while others are served.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._failed: dict[str, tuple[int, int]] = {}  # how often, and how many had been served by then
        self._served = self._failing = self._in_a_row = 0
        self._code: str | None = None

    def is_records(self, key: str) -> bool:
        """Whether a record that was not served has failed too often while others were."""
        times, served = self._failed.get(key, (0, -1))
        self._failed[key] = (times + (self._served > served), self._served)
        return times >= self._most

    def decided(self, key: str) -> None:
        """A record need not be remembered any more."""
        self._failed.pop(key, None)

    def batch(self, served: int, failed: int, code: str | None) -> None:
        """What came of a batch's records.

        Args:
            code: of what did not serve those that are returned.

        Raises:
            Outage: nobody is served any more.
        """
        self._served += served
        self._code = code or self._code
        if served:
            self._failing = self._in_a_row = 0
        elif failed:
            self._failing += 1
        if self._failing >= _FAILING + self._in_a_row:  # each time farther, past those who are the cause themselves
            raise Outage(self._code or "")

    def round(self) -> None:
        """A round is over.

        Raises:
            Outage: some of its records were not served.
        """
        code, self._code = self._code, None
        if code is not None:
            raise Outage(code)

    def paused(self) -> None:
        """It begins anew."""
        self._failing, self._in_a_row, self._code = 0, self._in_a_row + 1, None
