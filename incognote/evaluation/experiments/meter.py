"""The usage of models: a ledger that survives a kill, and its budget.

Cells that run in parallel often send the same request. One of them sends it, and the others wait for the recording.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

from incognote.errors import ContextTooLong, ModelProblem, ModelUnavailable, SettingError
from incognote.files.atomic import unwritable
from incognote.llm.base import LanguageModel, Reply, Request, Usage
from incognote.llm.recording import Recorded


class SpendingLedger:
    """Every paid call of an experiment, one line each in a JSONL file: the cell's key, tokens, and money, but no text.

    All writes are on the models' event loop, so there is no lock. With a budget, a call begins only if there is room
    for it and for the calls in progress. Each is assumed to cost as much as the most expensive one so far. The first
    call runs alone, and one call may always run. So the budget is exceeded at most by the excess of a call over the
    calls before it.

    Args:
        path: the file; its existing lines are counted.
        usd, tokens: limits over all runs; None for no limit.

    Raises:
        SettingError: the file is not a ledger.
    """

    def __init__(self, path: Path, usd: float | None = None, tokens: int | None = None) -> None:
        self._path, self._usd, self._tokens = path, usd, tokens
        self.before = self.spent = _read(path)
        self._dearest: Usage | None = None
        self._under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent, so that no more calls may be made."""
        total = self.spent.input + self.spent.output
        over = self._tokens is not None and total >= self._tokens
        return over or (self._usd is not None and (self.spent.usd or 0.0) >= self._usd)

    async def begin(self) -> None:
        """Wait for a call's turn. `end` must follow, whether the call succeeds or not.

        Raises:
            ModelUnavailable: the budget is spent.
        """
        while not self.exhausted and not self._room:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        if self.exhausted:
            raise ModelUnavailable("The budget of the experiment is spent. Raise it and run again.")
        self._under_way += 1

    def end(self) -> None:
        """End a call, and wake the callers that wait for room."""
        self._under_way -= 1
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
        self._waiting.clear()

    @property
    def _room(self) -> bool:
        if not self._under_way or (self._tokens is None and self._usd is None):
            return True
        if self._dearest is None:
            return False
        calls, one = self._under_way + 1, self._dearest
        tokens = self.spent.input + self.spent.output + calls * (one.input + one.output)
        usd = (self.spent.usd or 0.0) + calls * (one.usd or 0.0)
        return (self._tokens is None or tokens <= self._tokens) and (self._usd is None or usd <= self._usd)

    def take(self, cell: str, usage: Usage) -> None:
        """Record a call in the file."""
        self.spent += usage
        most = self._dearest or usage
        self._dearest = Usage(
            max(most.input, usage.input), max(most.output, usage.output), usd=max(most.usd or 0.0, usage.usd or 0.0)
        )
        try:
            with self._path.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"cell": cell, **asdict(usage)}) + "\n")
        except OSError as error:
            raise unwritable(error) from None


class Metered:
    """The model of one cell. Its calls are recorded in the ledger, and it is not called once the budget is spent.

    Args:
        model: the model to call.
        ledger: of the experiment.
        cell: its key.

    Attributes:
        unserved: how many requests failed for lack of money, network, or consent. Such a cell cannot be finished, no
            matter what the policy does with such texts.
    """

    def __init__(self, model: LanguageModel, ledger: SpendingLedger, cell: str) -> None:
        self.name = model.name
        self.unserved = 0
        self._model, self._ledger, self._cell = model, ledger, cell

    async def complete(self, request: Request) -> Reply:
        """Answer a request and record its usage.

        Raises:
            ModelUnavailable: the budget is spent.
            ModelProblem: from the model.
        """
        try:
            await self._ledger.begin()
            try:
                reply = await self._model.complete(request)
                self._ledger.take(self._cell, reply.usage)
            finally:
                self._ledger.end()
        except ContextTooLong:  # the caller then retries with smaller chunks, in every run
            raise
        except ModelProblem:
            self.unserved += 1
            raise
        return reply

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


def _read(path: Path) -> Usage:
    spent = Usage()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return spent
    except (OSError, UnicodeDecodeError):
        raise SettingError("The ledger of the experiment cannot be read. Check its permissions.") from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            row.pop("cell")
            spent += Usage(**row)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SettingError(
                f"Line {number} of the experiment's ledger is not a call. Correct or remove it."
            ) from None
    return spent


Waiting = dict[str, asyncio.Future[None]]
"""Requests in progress, by address; shared by everything that shares a recording. On one event loop, so no lock."""


class SharedModel:
    """A recorded model that never sends a request that another cell is waiting for.

    Args:
        model: of one cell.
        waiting: of the recording.
    """

    def __init__(self, model: Recorded, waiting: Waiting) -> None:
        self.name = model.name
        self._model, self._waiting = model, waiting

    @property
    def hits(self) -> int:
        """The number of answers that came from the recording."""
        return self._model.hits

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording, after waiting for another cell to fill it if needed, otherwise from the model.

        Raises:
            ModelProblem: from the model. If the request of another cell failed, this one sends its own.
        """
        address = request.address(self.name)
        while (other := self._waiting.get(address)) is not None:
            await asyncio.wait([other])
        own = self._waiting[address] = asyncio.get_running_loop().create_future()
        try:
            return await self._model.complete(request)
        finally:
            del self._waiting[address]
            own.set_result(None)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
