"""Change the master key. Either all named stores are moved to the new key, or the change does not begin.

A database and the recording change as a whole. The quarantine changes item by item, with each item whole. The index
records its progress. So a killed run leaves nothing unreadable, and the same call completes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import IncognoteError, UsageError, WrongKey
from incognote.files.atomic import unused
from incognote.files.outputs import hashed_name
from incognote.files.quarantine import Contents, Held, Quarantine
from incognote.files.sources import Source
from incognote.keys import Keyring
from incognote.service.audit import AuditLog
from incognote.service.audit.log import key_entry

_IN_USE = "a process uses it: stop the workers, the API, and other runs of incognote"


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores that are under the key, with paths and addresses as in the settings.

    Args:
        quarantines: folders of held records.
        ledger: the ledger's database.
        databases: the service's databases: opt-outs, drift, review queue, API keys and jobs.
        index, index_password: the surrogate index.
        recording: the recording of models' answers.
        audit: the audit log's folder.
    """

    quarantines: Sequence[Path] = ()
    ledger: str | None = None
    databases: Sequence[str] = ()
    index: str | None = None
    index_password: str | None = field(default=None, repr=False)
    recording: Path | None = None
    audit: Path | None = None


@dataclass(frozen=True, slots=True)
class Rotated:
    """One store, and the number of its items that were resealed; 0 if an earlier run had done it."""

    store: str
    items: int


def rotate(stores: Stores, former: Keyring, new: Keyring, *, by: str) -> list[Rotated]:
    """Move all stores to a new key. If it is interrupted, the same call completes it.

    Args:
        by: the staff member who does this, for the audit log.

    Raises:
        UsageError: the keys are the same, a store does not exist, or the index keeps no originals.
        WrongKey: a store is under a third key, or the former key is not persistent.
        IncognoteError: a store is in use or failed. As far as possible, all of this is checked before anything is
            changed. The message names the store.
    """
    if not (former.persistent and new.persistent) or former.id == new.id:
        raise UsageError(
            "The new key must be another one, and both keys must be persistent. To make one, run: incognote key new"
        )
    _look(stores, former, new)
    if stores.audit is not None:
        with _named("audit log"):
            _log(stores.audit, former, new).append("key.rotating", by=by, key=new.id, former_key=former.id)
    with ExitStack() as held:
        _hold(held, stores)
        done = list(_changed(stores, former, new))
        if stores.audit is not None:  # last, since it records what has happened
            with _named("audit log"):
                log = AuditLog(stores.audit, new, former=former)
                count = sum(one.items for one in done)
                log.append("key.rotated", by=by, key=new.id, former_key=former.id, count=count)
                done.append(Rotated("audit log", 1))
    return done


def _hold(held: ExitStack, stores: Stores) -> None:
    for folder in (*stores.quarantines, *([stores.audit] if stores.audit is not None else [])):
        with _named("audit log" if folder == stores.audit else "quarantine"):
            held.enter_context(unused(folder, _IN_USE))


def _look(stores: Stores, former: Keyring, new: Keyring) -> None:
    """Check that each store exists, is under one of the two keys, and is not in use."""
    with ExitStack() as held:
        _hold(held, stores)
        if stores.audit is not None and (named := key_entry(stores.audit)) is not None:
            with _named("audit log"):
                key = str(named.facts.get("key")), str(named.facts.get("check"))
                (new if key[0] == new.id else former).require(*key)
        for folder in stores.quarantines:
            with _named("quarantine"):
                Quarantine(folder, new, former=former)
    if stores.ledger is not None:
        from incognote.ledger.rekeying import rekey as ledger

        with _named("ledger"):
            ledger(stores.ledger, former, new, dry=True)
    if stores.databases:
        from incognote.service.rekeying import rekey as database

        for url in stores.databases:
            with _named("database"):
                database(url, former, new, dry=True)
    if stores.index is not None:
        from incognote.relex.index.opening import rekeyable

        with _named("index"):
            asyncio.run(rekeyable(stores.index, former, new, password=stores.index_password))
    if stores.recording is not None:
        from incognote.llm.sealedstore import SealedStore

        with _named("recording"):
            try:
                SealedStore(stores.recording, new, create=False).close()
            except WrongKey:
                SealedStore(stores.recording, former, create=False).close()


def _changed(stores: Stores, former: Keyring, new: Keyring) -> Iterator[Rotated]:
    if stores.ledger is not None:  # first, since it knows of workers on other machines
        from incognote.ledger.rekeying import rekey as ledger

        with _named("ledger"):
            yield Rotated("ledger", ledger(stores.ledger, former, new))
    if stores.databases:
        from incognote.service.rekeying import rekey as database

        for url in stores.databases:
            with _named("database"):
                yield Rotated("database", database(url, former, new))
    for folder in stores.quarantines:
        with _named("quarantine"):

            def source_of(held: Held, contents: Contents) -> str:
                return hashed_name(Source(None, contents.words["name"], held.kind), new)

            yield Rotated("quarantine", Quarantine(folder, new, former=former).rekey(former, source_of))
    if stores.recording is not None:
        from incognote.llm.sealedstore import rekey as recording

        with _named("recording"):
            yield Rotated("recording", recording(stores.recording, former, new))
    if stores.index is not None:
        from incognote.relex.index.opening import rekey as index

        with _named("index"):
            done = asyncio.run(index(stores.index, former, new, password=stores.index_password))
            yield Rotated("index", done)


def _log(folder: Path, former: Keyring, new: Keyring) -> AuditLog:
    """Open the audit log under its current key. An interrupted change of its key is completed."""
    named = key_entry(folder)
    if named is not None and named.facts.get("key") == new.id:
        return AuditLog(folder, new, former=former)
    return AuditLog(folder, former)


@contextmanager
def _named(store: str) -> Iterator[None]:
    """Add the name of the store to errors."""
    try:
        yield
    except (WrongKey, UsageError) as error:
        raise type(error)(f"{store}: {error}") from None
    except IncognoteError as error:
        raise IncognoteError(f"{store}: {error}") from None
