"""Processes that each run the whole machine, so that texts are served on as many cores as there are.

Python runs one thread at a time: one process cannot keep a quick language model's slots busy, nor detect on two cores.
The processes are started afresh, never forked (a fork would copy the loop's locks and connections), and hold their
share of the models' slots. What one of them does not answer, this process serves itself: slower, and no less sure.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from incognote.errors import SettingError
from incognote.llm.base import Usage

if TYPE_CHECKING:
    from incognote.agents.case import Item
    from incognote.agents.toolkit import Toolkit
    from incognote.nouns import Result, Text

_COMMAND = (sys.executable, "-P", "-c", "from incognote.agents.shard import main; main()")
_SECRET = frozenset({"INCOGNOTE_KEY", "INCOGNOTE_KEY_FD", "INCOGNOTE_KEY_COMMAND"})
"""Variables that a process does not inherit: it is given the key through its pipe."""
LENGTH = 4
"""Bytes before each message, which tell how many follow; a message is a pickled tuple, its first item says what."""


@dataclass(slots=True, eq=False)
class _Shard:
    """One process: its pipes, and who waits for what."""

    process: asyncio.subprocess.Process
    waiting: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    listening: asyncio.Task[None] | None = None

    def tell(self, *message: Any) -> None:
        self.write(framed(message))

    def write(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message)


class Shards:
    """What the processes of a Deidentifier are asked through, from the event loop that asked first.

    Args:
        tools: this process's own, which the processes' settings and key come from and which serve where one died.
        processes: how many; fewer are started where the models have fewer slots.

    Raises:
        SettingError: batches, which one process sends, or a model that is an object of this process.
    """

    def __init__(self, tools: Toolkit, processes: int) -> None:
        settings, models = tools.settings, tools.models
        if settings.batch:
            raise SettingError("processes: one process sends the batches; leave processes (--jobs) out")
        if models is not None and settings.model is None:
            raise SettingError("processes: a model that is an object lives in this process; name one instead")
        self._tools = tools
        self._count = processes if models is None else min(processes, models.fewest_slots)
        self._numbers = count()
        self._forget()
        self.hits = 0
        """Answers that the processes found in the recording."""

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._shards: list[_Shard] = []
        self._starting: asyncio.Lock | None = None
        self._begun = False

    async def run(self, item: Item) -> Result:
        """As `graph.run`."""
        from incognote.agents.graph import run

        result: Result | None = await self._ask("run", item)
        return await run(item, self._tools) if result is None else result

    async def find(self, text: Text, *, everything: bool) -> Any:
        """As `graph.found`, under the policy or under the one that serves every type."""
        from incognote.agents.graph import found

        answer = await self._ask("find", (text, everything))
        return await found(text, self._tools, everything=everything) if answer is None else answer

    async def _ask(self, what: str, given: Any) -> Any:
        """The answer of the least busy process; None where none is left to give it, or the question cannot travel.

        What cannot is a row of a table that its reader has opened: it holds a table's schema and its codec.
        """
        if self._pid != os.getpid():  # forked: the pipes are the parent's
            self._forget()
        if not self._begun:
            await self._begin()
        if not self._shards:
            return None
        shard = min(self._shards, key=lambda s: len(s.waiting))
        number = next(self._numbers)
        try:
            question = framed((what, number, given))
        except (TypeError, AttributeError, pickle.PicklingError):
            return None
        answer = shard.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            shard.write(question)
            return await answer
        except asyncio.CancelledError:
            if shard in self._shards:
                shard.tell("cancel", number)
            raise
        finally:
            shard.waiting.pop(number, None)

    async def _begin(self) -> None:
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if not self._begun:
                self._shards = [await self._started(i) for i in range(self._count)]
                self._begun = True

    async def _started(self, index: int) -> _Shard:
        tools = self._tools
        paths = os.pathsep.join(path for path in sys.path if path)
        process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if name not in _SECRET} | {"PYTHONPATH": paths},
            start_new_session=True,  # an interrupt is for this process, which ends them by closing their pipes
        )
        shard = _Shard(process)
        shard.tell("begin", tools.settings, tools.keyring, index, self._count)
        shard.listening = asyncio.create_task(self._listen(shard))
        return shard

    async def _listen(self, shard: _Shard) -> None:
        """Take what a process says until it says no more; whoever still waits then is served here."""
        assert shard.process.stdout is not None
        heard: dict[str, Callable[..., None]] = {"done": self._done, "spent": self._spent}
        try:
            while True:
                kind, *said = await received(shard.process.stdout)
                heard[kind](shard, *said)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # it has ended, or was killed
        except Exception:  # what it said cannot be read, and may hold words of a note: the error is not spoken of
            with suppress(ProcessLookupError):
                shard.process.kill()
        finally:  # nobody waits for it any longer
            if shard in self._shards:
                self._shards.remove(shard)
            for future in shard.waiting.values():
                if not future.done():
                    future.set_result(None)

    def _done(self, shard: _Shard, number: int, answer: Any, hits: int) -> None:
        self.hits += hits
        future = shard.waiting.get(number)
        if future is not None and not future.done():
            future.set_result(answer)

    def _spent(self, shard: _Shard, usage: Usage) -> None:
        """One budget for all: it is kept here, and all are told when it is spent."""
        assert self._tools.models is not None
        budget = self._tools.models.budget
        before = budget.exhausted
        budget.take(usage)
        if budget.exhausted and not before:
            for each in self._shards:
                each.tell("stop")  # calls under way are let finish

    async def aclose(self) -> None:
        """End the processes."""
        if self._pid != os.getpid():
            return
        ending, self._shards = self._shards, []
        for shard in ending:
            assert shard.process.stdin is not None
            shard.process.stdin.close()
        for shard in ending:
            await shard.process.wait()
            if shard.listening is not None:
                await shard.listening
        self._begun = False


def framed(message: tuple[Any, ...]) -> bytes:
    """A message as it travels."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH, "big") + body


async def received(pipe: asyncio.StreamReader) -> Any:
    """The next message.

    Raises:
        IncompleteReadError: there will be none.
    """
    length = int.from_bytes(await pipe.readexactly(LENGTH), "big")
    return pickle.loads(await pipe.readexactly(length))  # noqa: S301 -- from our own process, over a pipe nobody else holds


