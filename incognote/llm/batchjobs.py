"""The batches under way at a provider.

They are recorded before they are sent, so that a run can resume after a kill.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from incognote.errors import IncognoteError
from incognote.llm.sealedstore import SealedStore, written

_LOOK_AGAIN = 0.2  # seconds


@dataclass
class BatchJob:
    """A batch, from the plan to send it until its files are deleted.

    Args:
        model: the name under which its replies are recorded.
        base: the address it is sent to.
        addresses: the content addresses of its requests, which are its custom_ids.
        attempt: 1, or 2 if it repeats the requests that another batch left without a result.
        created: seconds since 1970.
        token: a random name, which the provider gets as metadata and file name.
        batch: the provider's id; None while it is not known to exist.
        files: the provider's ids of files that must still be deleted.
        left_out: the parameters that its requests omit.
        done: its results are recorded, and only files are left.
    """

    model: str
    base: str
    addresses: Sequence[str] = field(repr=False)
    attempt: int = 1
    created: float = field(default_factory=time.time)
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    batch: str | None = None
    files: Sequence[str] = ()
    left_out: Sequence[str] = ()
    done: bool = False


class BatchJobs:
    """The jobs of one model at one address, stored beside its answers."""

    def __init__(self, store: SealedStore, model: str, base: str) -> None:
        self._store = store
        self._model, self._base = model, base.rstrip("/")
        self._gate = Path(f"{store.path}-sending")

    def jobs(self) -> list[BatchJob]:
        """Return all jobs, the oldest first."""
        known = [BatchJob(**json.loads(value)) for value in self._store.jobs().values()]
        mine = [job for job in known if (job.model, job.base) == (self._model, self._base)]
        return sorted(mine, key=lambda job: job.created)

    def intend(self, addresses: Sequence[str], attempt: int, left_out: Sequence[str]) -> BatchJob:
        """Record that these requests are about to be sent."""
        job = BatchJob(self._model, self._base, addresses, attempt, left_out=left_out)
        self.write(job)
        return job

    def write(self, job: BatchJob) -> None:
        """Write or overwrite a job. It is on the disk when this returns."""
        self._store.set_job(job.token, written(asdict(job)))

    def drop(self, job: BatchJob) -> None:
        """Remove a finished job."""
        self._store.drop_job(job.token)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Allow one sender at a time, over all processes.

        A planned job without a batch that is seen here was abandoned.

        The gate is a lock on an empty SQLite file, which the operating system releases if its holder is killed.

        Raises:
            IncognoteError: the gate's file cannot be created.
        """
        try:
            gate = sqlite3.connect(self._gate, timeout=0, isolation_level=None)
        except sqlite3.Error:
            raise IncognoteError("The folder of the recording cannot be written. Check its permissions.") from None
        try:
            while True:
                try:
                    gate.execute("BEGIN EXCLUSIVE")
                    break
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                        raise IncognoteError("The recording cannot be locked. Check the disk.") from None
                    await asyncio.sleep(_LOOK_AGAIN)
            yield
        finally:
            gate.close()
