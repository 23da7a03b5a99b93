"""One of the processes of `shards.py`: it runs the machine for what comes on its input, until that ends.

Messages in: `begin` (settings, keyring, which of how many), `run` (number, Item), `find` (number, (Text, everything)),
`cancel` (number), `stop` (the budget is spent). Out: `done` (number, answer, answers from the recording), `spent`
(Usage).
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Coroutine
from functools import partial
from typing import Any

from incognote.agents.shards import framed, received
from incognote.agents.toolkit import Toolkit
from incognote.keys import Keyring
from incognote.settings import ModelSettings, Settings

SWITCH = 0.001
"""Seconds after which a busy thread lets the other run: the one that holds the models' slots must not wait long."""
YOUNG = 20_000
"""Objects made before those that refer to each other are looked for: at Python's 700 that took a tenth of the time."""


def main() -> None:
    """Serve standard input. Whatever else prints, prints to standard error."""
    sys.setswitchinterval(SWITCH)
    gc.set_threshold(YOUNG)
    answers = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_serve(answers))


async def _serve(answers: int) -> None:
    loop = asyncio.get_running_loop()
    asked = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(asked), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(answers, "wb"))
    said = asyncio.StreamWriter(transport, protocol, None, loop)
    at_work: dict[int, asyncio.Task[None]] = {}
    desk: _Desk | None = None
    try:
        while True:
            what, *given = await received(asked)
            if what == "begin":
                desk = _Desk(said, *given)
            elif desk is None or what == "cancel":
                if task := at_work.get(given[0]):
                    task.cancel()
            elif what == "stop":
                desk.stop()
            else:
                number, work = given[0], desk.work(what, given[1])
                at_work[number] = asyncio.create_task(desk.answer(number, work))
                at_work[number].add_done_callback(partial(_forget, at_work, number))
    except (asyncio.IncompleteReadError, ConnectionError):
        for task in at_work.values():
            task.cancel()
        await asyncio.gather(*at_work.values(), return_exceptions=True)
    if desk is not None:
        await desk.tools.aclose()


def _forget(at_work: dict[int, asyncio.Task[None]], number: int, _: asyncio.Task[None]) -> None:
    del at_work[number]


class _Desk:
    """This process's tools, and the way its answers take."""

    def __init__(
        self, said: asyncio.StreamWriter, settings: Settings, keyring: Keyring, index: int, count: int
    ) -> None:
        self._said = said
        self.tools = Toolkit(share(settings, index, count), keyring=keyring, aside=True)
        self._hits, self._warm = 0, False
        if self.tools.models is not None:
            self.tools.models.budget.told = lambda usage: said.write(framed(("spent", usage)))

    def work(self, what: str, given: Any) -> Coroutine[Any, Any, Any]:
        from incognote.agents.graph import found, run

        if what == "run":
            return run(given, self.tools)
        text, everything = given
        return found(text, self.tools, everything=everything)

    async def answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        try:
            answer = await work
        except Exception:  # a bug: the process that asked serves it itself and meets it where it can be told
            answer = None
        hits, before = self.tools.hits, self._hits
        self._hits = hits
        if not self._warm:  # the tables that are loaded by now stay for good: they need not be looked through again
            gc.freeze()
            self._warm = True
        self._said.write(framed(("done", number, answer, hits - before)))
        await self._said.drain()

    def stop(self) -> None:
        if self.tools.models is not None:
            self.tools.models.budget.closed = True


def share(settings: Settings, index: int, count: int) -> Settings:
    """The settings of one process of several: its part of each model's slots, and the budget kept elsewhere."""

    def part(of: ModelSettings) -> int:
        return max(1, (of.model_slots + count - 1 - index) // count)

    models = {name: own.model_copy(update={"model_slots": part(own)}) for name, own in settings.models.items()
              if "model_slots" in own.model_fields_set}  # fmt: skip
    return settings.model_copy(
        update={
            "processes": 0,
            "budget_tokens": None,
            "budget_usd": None,
            "model_slots": part(settings),
            "models": {**settings.models, **models},
        }
    )
