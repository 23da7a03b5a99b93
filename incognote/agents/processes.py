"""Worker processes that each run the whole machine, so that texts are processed on all cores.

Python runs one thread at a time: one process cannot keep a fast language model's slots busy, nor detect on two cores.
The processes are spawned, never forked (a fork would copy the loop's locks and connections). Each holds its share of
the models' slots. If one of them does not answer, this process does the work itself: slower, with the same result.

Messages to a process: `begin` (settings, keyring, index, count), `run` (number, the Items of a unit), `find` (number,
(Text, everything)), `cancel` (number), `stop` (why no more calls may be made). From it: `done` (number, answer, answers
from the recording), `spent` (Usage), `stopped` (why it stopped calling the model).

`concurrent.futures.ProcessPoolExecutor` was tried with two processes and does not replace this. It serves one call per
process: 64 answers of 0.2 s took 6.5 s, where 16 slots of a model allow 0.8 s. `cancel` of a running call returned
False, and the call ran to its end. One killed process failed all 10 calls under way, and the pool refused every later
call; here the remaining processes go on. It has no channel for the budget (`spent`, `stop`) while a call runs.
"""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from incognote.agents.engine import Engine
from incognote.agents.graph import find, run_unit
from incognote.agents.item import Item
from incognote.errors import BudgetExhausted, SettingError
from incognote.keys import Keyring
from incognote.llm.base import Usage
from incognote.nouns import Result, Text
from incognote.settings import ModelSettings, Settings

_COMMAND = (sys.executable, "-P", "-c", "from incognote.agents.processes import main; main()")
_SECRET = frozenset({"INCOGNOTE_KEY", "INCOGNOTE_KEY_FD", "INCOGNOTE_KEY_COMMAND"})
"""Variables that a process does not inherit. It gets the key through its pipe."""
LENGTH_BYTES = 4
"""Length of the prefix that gives the size of each message. A message is a pickled tuple that starts with its kind."""
SWITCH_SECONDS = 0.001
"""The interval after which a busy thread yields. The thread that holds the models' slots must not wait long."""
GC_THRESHOLD = 20_000
"""The number of new objects before a garbage collection. With Python's default of 700, it took a tenth of the time."""


@dataclass(slots=True, eq=False)
class _Process:
    """A process as its parent sees it: its pipes, and the futures that wait for answers."""

    pipes: asyncio.subprocess.Process
    waiting: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    listening: asyncio.Task[None] | None = None

    def send(self, *message: Any) -> None:
        self.write(framed(message))

    def write(self, message: bytes) -> None:
        assert self.pipes.stdin is not None
        self.pipes.stdin.write(message)


class Processes:
    """The worker processes of a Deidentifier. They are used from the event loop of the first call.

    Args:
        engine: this process's own engine. It provides the settings and the key, and it takes over if a process dies.
        processes: the number of processes. Fewer are started if the models have fewer slots.

    Raises:
        SettingError: batches are configured, which one process sends, or a model is an object of this process.
    """

    def __init__(self, engine: Engine, processes: int) -> None:
        settings, models = engine.settings, engine.models
        if settings.batch:
            raise SettingError("processes: a batch is sent from a single process. Remove processes (--jobs).")
        if models is not None and settings.model is None:
            raise SettingError("processes: a model object cannot be sent to other processes. Pass its name")
        self._engine = engine
        self._count = processes if models is None else min(processes, models.fewest_slots)
        self._numbers = count()
        self._forget()
        self.hits = 0
        """The number of answers that the processes found in the recording."""

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._all: list[_Process] = []
        self._starting: asyncio.Lock | None = None
        self._begun = False

    async def run(self, items: Sequence[Item]) -> list[Result]:
        """Run one unit, like `graph.run_unit`."""
        results: list[Result] | None = await self._ask("run", items)
        return await run_unit(items, self._engine) if results is None else results

    async def find(self, text: Text, *, everything: bool) -> Any:
        """Find spans, like `graph.find`, under the policy or under the one that serves every type."""
        answer = await self._ask("find", (text, everything))
        return await find(text, self._engine, everything=everything) if answer is None else answer

    async def _ask(self, kind: str, subject: Any) -> Any:
        """Return the answer of the least busy process; None if no process is left, or the question cannot be sent.

        A row of a table that its reader has opened cannot be sent. It holds a table's schema and its codec.
        """
        if self._pid != os.getpid():  # forked: the pipes are the parent's
            self._forget()
        if not self._begun:
            await self._begin()
        if not self._all:
            return None
        process = min(self._all, key=lambda s: len(s.waiting))
        number = next(self._numbers)
        try:
            question = framed((kind, number, subject))
        except (TypeError, AttributeError, pickle.PicklingError):
            return None
        answer = process.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            process.write(question)
            return await answer
        except asyncio.CancelledError:
            if process in self._all:
                process.send("cancel", number)
            raise
        finally:
            process.waiting.pop(number, None)

    async def _begin(self) -> None:
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if not self._begun:
                self._all = [await self._started(i) for i in range(self._count)]
                self._begun = True

    async def _started(self, index: int) -> _Process:
        engine = self._engine
        paths = os.pathsep.join(path for path in sys.path if path)
        pipes = await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if name not in _SECRET} | {"PYTHONPATH": paths},
            start_new_session=True,  # an interrupt is for this process, which ends the others by closing their pipes
        )
        process = _Process(pipes)
        process.send("begin", engine.settings, engine.keyring, index, self._count)
        process.listening = asyncio.create_task(self._listen(process))
        return process

    async def _listen(self, process: _Process) -> None:
        """Handle a process's messages until it ends. Pending requests are then served here."""
        assert process.pipes.stdout is not None
        handlers: dict[str, Callable[..., None]] = {
            "done": self._done, "spent": self._spent, "stopped": self._stopped,
        }  # fmt: skip
        try:
            while True:
                kind, *content = await received(process.pipes.stdout)
                handlers[kind](process, *content)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # it has ended, or was killed
        except Exception:  # an unreadable message may hold words of a note, so its error is dropped
            with suppress(ProcessLookupError):
                process.pipes.kill()
        finally:  # no request waits for it any longer
            if process in self._all:
                self._all.remove(process)
            for future in process.waiting.values():
                if not future.done():
                    future.set_result(None)

    def _done(self, process: _Process, number: int, answer: Any, hits: int) -> None:
        self.hits += hits
        future = process.waiting.get(number)
        if future is not None and not future.done():
            future.set_result(answer)

    def _spent(self, process: _Process, usage: Usage) -> None:
        """Add to the one budget, which is kept here. Tell all processes when it is spent."""
        assert self._engine.models is not None
        budget = self._engine.models.budget
        before = budget.exhausted
        budget.take(usage)
        if budget.exhausted and not before:
            self._stopped(process, BudgetExhausted.code)

    def _stopped(self, process: _Process, code: str) -> None:
        """Tell all processes that no more calls may be made. Calls under way may finish."""
        if code != BudgetExhausted.code and self._engine.models is not None:
            self._engine.models.breaker.stop(code)
        for each in self._all:
            each.send("stop", code)

    async def aclose(self) -> None:
        """End the processes."""
        if self._pid != os.getpid():
            return
        ending, self._all = self._all, []
        for process in ending:
            assert process.pipes.stdin is not None
            process.pipes.stdin.close()
        for process in ending:
            await process.pipes.wait()
            if process.listening is not None:
                await process.listening
        self._begun = False


def framed(message: tuple[Any, ...]) -> bytes:
    """Return a message in its wire format."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


async def received(pipe: asyncio.StreamReader) -> Any:
    """Return the next message.

    Raises:
        IncompleteReadError: the pipe is closed.
    """
    length = int.from_bytes(await pipe.readexactly(LENGTH_BYTES), "big")
    return pickle.loads(await pipe.readexactly(length))  # noqa: S301 -- from our own process, over a private pipe


def main() -> None:
    """Serve standard input. All other output goes to standard error."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(GC_THRESHOLD)
    answers = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_serve(answers))


async def _serve(answers: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(answers, "wb"))
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    at_work: dict[int, asyncio.Task[None]] = {}
    server: _Server | None = None
    try:
        while True:
            kind, *content = await received(reader)
            if kind == "begin":
                server = _Server(writer, *content)
            elif server is None or kind == "cancel":
                if task := at_work.get(content[0]):
                    task.cancel()
            elif kind == "stop":
                server.stop(*content)
            else:
                number, work = content[0], server.work(kind, content[1])
                at_work[number] = asyncio.create_task(server.answer(number, work))
                at_work[number].add_done_callback(partial(_forget, at_work, number))
    except (asyncio.IncompleteReadError, ConnectionError):
        for task in at_work.values():
            task.cancel()
        await asyncio.gather(*at_work.values(), return_exceptions=True)
    if server is not None:
        await server.engine.aclose()


def _forget(at_work: dict[int, asyncio.Task[None]], number: int, _: asyncio.Task[None]) -> None:
    del at_work[number]


class _Server:
    """The state of one worker process: its engine and the pipe for its answers."""

    def __init__(
        self, writer: asyncio.StreamWriter, settings: Settings, keyring: Keyring, index: int, count: int
    ) -> None:
        self._writer = writer
        self.engine = Engine(share(settings, index, count), keyring=keyring, own_thread=True)
        self._hits, self._warm = 0, False
        if self.engine.models is not None:
            self.engine.models.budget.listener = lambda usage: writer.write(framed(("spent", usage)))
            self.engine.models.breaker.listener = partial(self._tell, asyncio.get_running_loop())

    def work(self, kind: str, subject: Any) -> Coroutine[Any, Any, Any]:
        if kind == "run":
            return run_unit(subject, self.engine)
        text, everything = subject
        return find(text, self.engine, everything=everything)

    async def answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        try:
            answer = await work
        except Exception:  # a bug: the parent process repeats the work itself and can report the error
            answer = None
        hits, before = self.engine.hits, self._hits
        self._hits = hits
        if not self._warm:  # the tables that are loaded by now stay loaded, so garbage collection can skip them
            gc.freeze()
            self._warm = True
        self._writer.write(framed(("done", number, answer, hits - before)))
        await self._writer.drain()

    def _tell(self, loop: asyncio.AbstractEventLoop, code: str) -> None:
        """Send why this process stopped calling the model. The breaker may be in another thread."""
        loop.call_soon_threadsafe(self._writer.write, framed(("stopped", code)))

    def stop(self, code: str) -> None:
        if self.engine.models is None:
            return
        if code == BudgetExhausted.code:
            self.engine.models.budget.closed = True
        else:
            self.engine.models.breaker.stop(code)


def share(settings: Settings, index: int, count: int) -> Settings:
    """Return the settings for one of several processes: its part of each model's slots, and no budget of its own."""

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
