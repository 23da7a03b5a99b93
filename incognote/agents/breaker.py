"""End a run whose language model fails: in the same way for record after record, by silence, or by marking everything.

After that no call is made. Records that need the model get `model-stopped`, which is retryable, as any outage is. After
`REST` seconds, calls are allowed again, so that a service recovers by itself. The next failure of that kind ends them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock

from incognote.errors import ModelStopped
from incognote.reasons import reason_texts

IN_A_ROW = 10
"""The run ends after this many records in a row for which the model failed in the same way."""
WINDOW, SHARE = 40, 0.5
"""The run also ends if this share of the last `WINDOW` records or texts failed in the same way."""
REST = 60.0
"""Seconds without a call after a run has ended."""
SEVERAL = 5
"""The run ends if the evidence of an alarm is this many times as strong as needed for the alarm."""
SLACK = 0.25
"""Evidence in each text that a working model may leave, since a certain finding can be false."""
_ALARMS = {"model-silent": 4, "model-overmarks": 40}  # certain findings; words
SECONDARY = frozenset({"model-calls", "model-stopped", "budget-exhausted"})
"""Codes that say nothing about the cause of a failure."""


class ModelAlarm:
    """Evidence against a model that adds up over the texts of a run, until a text speaks for the model.

    Args:
        code: the reason code.
        plenty: how much evidence raises the alarm, in one text or in several.
    """

    def __init__(self, code: str, plenty: int) -> None:
        self.code, self._plenty = code, plenty
        self._sum = self._texts = 0
        self._last: deque[bool] = deque(maxlen=WINDOW)

    def saw(self, evidence: int | None) -> tuple[bool, bool]:
        """Record a text. Return whether it raises the alarm, and whether the run must end.

        Args:
            evidence: 0 if the text speaks for the model; None if it says nothing.
        """
        self._texts += 1
        if evidence is None:
            return False, False
        self._last.append(evidence > 0)
        if not evidence:
            self._sum = self._texts = 0
            return False, False
        self._sum += evidence
        slack = SLACK * (self._texts - 1)
        often = len(self._last) == WINDOW and sum(self._last) >= SHARE * WINDOW
        return self._sum >= self._plenty + slack, often or self._sum >= SEVERAL * self._plenty + slack


class Breaker:
    """Decides whether a run may call its models. Thread-safe; one per run and process.

    Args:
        active: False for a replay, which makes no calls.

    Attributes:
        stopped: the code of the failure that ended the run; "" while it goes on.
        listener: receives that code, once each time.
    """

    def __init__(self, *, active: bool = True) -> None:
        self._active = active
        self._lock = Lock()
        self._since = 0.0
        self._forget()
        self.listener: Callable[[str], None] | None = None

    def _forget(self) -> None:
        self.stopped = ""
        self._last: deque[str] = deque(maxlen=WINDOW)
        self._silent, self._overmarks = (ModelAlarm(code, plenty) for code, plenty in _ALARMS.items())

    def permit(self) -> None:
        """Check before each call.

        Raises:
            ModelStopped: the run has ended.
        """
        if self.stopped and not self._rested:
            raise ModelStopped(
                f"the language model failed again and again ({self.stopped}), so incognote stopped calling it. "
                f"{reason_texts()[self.stopped].next} Then run `incognote quarantine retry`."
            )

    @property
    def _rested(self) -> bool:
        return time.monotonic() - self._since >= REST

    def answered(self, codes: Iterable[str]) -> None:
        """Record what a model did for one record.

        Args:
            codes: of the failure; empty if the model answered at least once.
        """
        code = min(set(codes) - SECONDARY, default="")
        with self._lock:
            self._last.append(code)
            row = list(self._last)[-IN_A_ROW:]
            often = len(self._last) == WINDOW and self._last.count(code) >= SHARE * WINDOW
            bad = bool(code) and (often or row == [code] * IN_A_ROW)
            self._judge(code, bad=bad, good=not code and self.stopped not in _ALARMS)

    def silent(self, certain: int | None) -> bool:
        """Record a text. Return whether the model is suspiciously silent about it.

        Args:
            certain: the number of certain findings of which the model named none; 0 if it named something; None if
                there was nothing certain to name.
        """
        return self._alarmed(self._silent, certain)

    def overmarks(self, words: int | None) -> bool:
        """Record a text. Return whether the model marks suspiciously much in it.

        Args:
            words: the number of words that the model alone marked in a text of which it marked nearly everything; 0 if
                it did not; None if the text is too short to tell.
        """
        return self._alarmed(self._overmarks, words)

    def _alarmed(self, alarm: ModelAlarm, evidence: int | None) -> bool:
        with self._lock:
            raised, ends = alarm.saw(evidence)
            self._judge(alarm.code, bad=ends, good=evidence == 0 and self.stopped == alarm.code)
            return raised

    def _judge(self, code: str, *, bad: bool, good: bool) -> None:
        if self.stopped and good and self._rested:
            self._forget()
        elif bad and (not self.stopped or self._rested):
            self.stop(code)
            if self.listener is not None:
                self.listener(code)

    def stop(self, code: str) -> None:
        """End the run."""
        if self._active:
            self.stopped, self._since = code, time.monotonic()
