"""The objects of the API, one of each per process: engines, keys, queue, jobs, audit log, telemetry."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from starlette.concurrency import run_in_threadpool

from incognote.agents.item import Item, opened
from incognote.errors import SettingError
from incognote.nouns import Reason, Result, Verdict
from incognote.service.api.jobs import Jobs
from incognote.service.api.keys import ApiKeys
from incognote.service.api.problems import Refused
from incognote.service.audit import AuditLog
from incognote.service.monitoring import audit_folder, database_of
from incognote.service.optouts import OptOuts
from incognote.service.reveals import open_reveals
from incognote.service.review import ReviewQueue
from incognote.service.telemetry import Telemetry
from incognote.service.worker.records import subject_of

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

Operation = Literal["tag", "redact", "surrogate"]
RELEASE = "api"
"""The release name of job documents in the review queue."""


class ApiContext:
    """The context of the API; see the module's docstring.

    Args:
        deid: serves `tag` and `redact`, under the policy of its settings. Its owner must close it.
        telemetry: receives an event for every request.
        given: settings that `deid` was made with, for engines with another policy or other detectors.

    Raises:
        SettingError, KeyMissing, WrongKey, IncognoteError: database or audit log cannot be used.
    """

    def __init__(self, deid: Deidentifier, telemetry: Telemetry, given: dict[str, Any] | None = None) -> None:
        tools = deid.engine
        self.settings, self.telemetry = tools.settings, telemetry
        self._deid, self._given = deid, dict(given or {})
        self._variants: dict[tuple[str, tuple[str, ...] | None], Deidentifier] = {}
        self._making = threading.Lock()
        url = database_of(self.settings)
        self.audit = AuditLog(audit_folder(self.settings), tools.keyring)
        self.keys = ApiKeys(url, tools.keyring)
        self.optouts = OptOuts(url, tools.keyring)
        self.queue = ReviewQueue(url, tools.keyring)
        self.jobs = Jobs(url, tools.keyring, self.settings.service.api_lease)
        self.reveals = open_reveals(self.settings, tools.keyring)
        self.board: tuple[float, dict[str, Any]] | None = None

    @property
    def deid(self) -> Deidentifier:
        """The engine of the configured policy."""
        return self._deid

    def engine(self, operation: Operation) -> Deidentifier:
        """Return the engine that serves an operation.

        Raises:
            Refused: no surrogate index is configured (501).
        """
        if operation != "surrogate" or self._deid.engine.policy.surrogates:
            return self._deid
        if self.settings.index is None:
            raise Refused(501, "surrogate needs an index of surrogates: set `index` (INCOGNOTE_INDEX)")
        try:
            return self.variant("surrogate")
        except SettingError as error:
            raise Refused(501, str(error)) from None

    def variant(self, policy: str, detectors: tuple[str, ...] | None = None) -> Deidentifier:
        """Return the engine with another policy or other detectors. It is made on first use and kept.

        Args:
            policy: a name that the server chose, since each engine stays in memory.
            detectors: as in `Settings.detectors`, with `llm` if the language model reads; None for the configured ones.

        Raises:
            SettingError, UnknownName, PolicyProblem: it cannot be made.
        """
        from incognote.sdk import Deidentifier

        changed = {} if detectors is None else {"detectors": detectors, "processes": 0}
        with self._making:
            if (policy, detectors) not in self._variants:
                made = Deidentifier(**{**self._given, **changed, "policy": policy})
                made.ready()
                self._variants[policy, detectors] = made
            return self._variants[policy, detectors]

    def relearn(self) -> None:
        """Read the record schemas again, since one was approved."""
        for made in (self._deid, *list(self._variants.values())):
            made.engine.__dict__.pop("registry", None)

    def close(self) -> None:
        """Close everything that this object created."""
        for made in self._variants.values():
            made.close()
        for store in (self.keys, self.optouts, self.queue, self.jobs, self.reveals):
            store.close()


REFUSAL = Result(None, Verdict("quarantine", (Reason("opted-out", "", "the subject opted out or was deleted"),)), {})


async def served(context: ApiContext, operation: Operation, item: Item) -> Result:
    """Return the result of an item.

    Raises:
        Refused: the operation is not configured (501).
        IncognoteError: the list of opt-outs does not answer.
    """
    engine = await run_in_threadpool(context.engine, operation)  # the first surrogate engine takes seconds to prepare
    if await run_in_threadpool(opted_out, context, engine, item):
        return replace(REFUSAL, id=item.id)
    return await engine.adeidentify(item)


async def served_each(context: ApiContext, operation: Operation, items: Sequence[Item]) -> list[Awaitable[Result]]:
    """Start to serve items. Return an awaitable of each result.

    Raises:
        Refused, IncognoteError: as for `served`.
    """
    engine = await run_in_threadpool(context.engine, operation)
    gone = [await run_in_threadpool(opted_out, context, engine, item) for item in items]
    results = iter(await engine.adeidentify_each([item for item, out in zip(items, gone, strict=True) if not out]))

    async def refused(item: Item) -> Result:
        return replace(REFUSAL, id=item.id)

    return [asyncio.create_task(refused(item)) if out else next(results) for item, out in zip(items, gone, strict=True)]


def opted_out(context: ApiContext, engine: Deidentifier, item: Item) -> bool:
    """Whether the subject of an item is on the opt-out list."""
    patient = subject_of(item, opened(item, engine.engine))
    return patient is not None and bool(context.optouts.refused({patient}))
