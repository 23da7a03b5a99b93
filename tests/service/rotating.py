"""Every kind of store: filled under one key, read under another, and rotated in processes that kill themselves.

As a program, `rotating.py FOLDER STEP` rotates in child processes that are killed before the first write, the
(1 + STEP)-th write, and so on, each on a new copy of FOLDER named `killed-N`, until a child finishes.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from incognote.agents.item import Item
from incognote.files.quarantine import Contents, Quarantine
from incognote.keys import Keyring
from incognote.ledger import FoundFile, Ledger, Wanted
from incognote.llm.recording import Recording
from incognote.nouns import Reason, Span, Text
from incognote.relex.index.nouns import IdentityPlace, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.service.api.jobs import Jobs
from incognote.service.api.keys import ApiKeys
from incognote.service.audit import AuditLog
from incognote.service.drift import DriftStore
from incognote.service.optouts import OptOuts
from incognote.service.reveals import Reveals
from incognote.service.review import ReviewCase, ReviewDecision, ReviewQueue
from incognote.service.rotation import Stores, rotate

OLD, NEW, THIRD = (Keyring(bytes([n]) * 32) for n in (1, 2, 3))
WHO = "Zebulon-7712"
NOTE = Text("Seen by Dr. Emily Carter.")


def stores(at: Path, ledger: str = "", database: str = "") -> Stores:
    """Return the stores in a folder. Ledger and database use SQLite there unless given."""
    return Stores(
        quarantines=(at / "held",),
        ledger=ledger or f"sqlite:///{at / 'ledger.db'}",
        databases=(database or f"sqlite:///{at / 'service.db'}",),
        index=f"sqlite:///{at / 'index.db'}",
        recording=at / "answers",
        audit=at / "audit",
    )


def fill(at: Path, ledger: str = "", database: str = "", key: Keyring = OLD) -> str:
    """Put something in every store. Return an API key's secret."""
    place = stores(at, ledger, database)
    held = Quarantine(place.quarantines[0], key)
    for n in (1, 2):
        held.put(Contents(f"note {n}".encode(), {"name": "ward/a.txt"}), outcome="quarantine",
                 reasons=[Reason("malformed", "x", "detail")], source="s", position=n, kind="text")  # fmt: skip
    with closing(Ledger(place.ledger or "", key)) as book:
        release = book.freeze("r1", {"key": key.id})
        worker = book.join(30)
        book.found(release.id, [FoundFile("a" * 32, "b" * 32, "ward/a.txt", 9)])
        (part,) = book.claim_parts(worker, release.id, most=9, bytes=99)
        book.claim(worker, release.id, [Wanted(book.key("record", "1"), "c" * 32, part.id, book.subject(WHO))])
        book.leave(worker)
    url = place.databases[0]
    with closing(OptOuts(url, key)) as optouts:
        optouts.add(WHO, "Ada")
    with closing(DriftStore(url, key)) as drift:
        drift.add(drift.source("source"), [{"PERSON": 2}])
    with closing(ApiKeys(url, key)) as keys:
        _, secret = keys.new("ana", ["submit"])
    with closing(Reveals(url, key, 1440)) as reveals:
        reveals.ask({"what": "gold"}, "audit", "ada", hidden=WHO)
    with closing(ReviewQueue(url, key)) as queue:
        span = Span(NOTE, 12, 24, "PERSON", 0.9, ("rules",))
        item = Item(NOTE.content, patient=WHO)
        case = ReviewCase(item, (NOTE,), (span,), (), (Reason("doubtful"),), "strict@1", None, {})
        queue.comment(queue.put("k1", "r1", case), "Zofia is his wife.", "ana")
        queue.decide(queue.put("k2", "r1", case), ReviewDecision("approve", (span,)), "ana")
    with closing(Jobs(url, key, 60)) as jobs:
        jobs.submit("ana", "redact", [{"text": "one", "patient": WHO}, {"text": "two"}])
        jobs.settle(jobs.claim(1)[0], "released", {"text": "done"})
    with closing(Recording(place.recording or "", key)) as answers:
        answers.put("an address", b"an answer")
        answers.sealed.set_job("t1", b"a batch")
    asyncio.run(_claim(place.index or "", key))
    AuditLog(place.audit or "", key).append("worker.started", worker="w1")
    return secret


async def _claim(url: str, key: Keyring) -> None:
    async with await open_index(url, key, create=True) as index:
        place = IdentityPlace("default", f"patient:{WHO}", "PERSON")
        await index.claim(SurrogateProposal(place, "PATIENT", ("emily",), {"full": "Ada"}, "Ada", original="Emily"))


def readers(at: Path, ledger: str = "", database: str = "") -> dict[str, Callable[[Keyring], Any]]:
    """Return a function per store that reads it under a key, and raises if that is not the store's key."""
    place = stores(at, ledger, database)
    url = place.databases[0]

    def quarantine(key: Keyring) -> Any:
        held = Quarantine(place.quarantines[0], key)
        return [(one.position, held.open(one)) for one in held.items()]

    def book(key: Keyring) -> Any:
        with closing(Ledger(place.ledger or "", key)) as opened:
            found = list(opened.entries(subject=opened.subject(WHO)))
            return [(one.release, one.key, one.file, one.state) for one in found], opened.key("record", "1")

    def optouts(key: Keyring) -> Any:
        with closing(OptOuts(url, key)) as opened:
            return opened.refused([WHO, "Okonkwo-1"])

    def drift(key: Keyring) -> Any:
        with closing(DriftStore(url, key)) as opened:
            return opened.source("source"), opened.sources()

    def keys(key: Keyring) -> Any:
        with closing(ApiKeys(url, key)) as opened:
            return opened.items()

    def reveals(key: Keyring) -> Any:
        with closing(Reveals(url, key, 1440)) as opened:
            return opened.items()

    def reviews(key: Keyring) -> Any:
        with closing(ReviewQueue(url, key)) as opened:
            return [(opened.open(one.id), opened.comments(one.id)) for one in opened.list(None)]

    def jobs(key: Keyring) -> Any:
        with closing(Jobs(url, key, 60)) as opened:
            (job,) = opened.list("ana")
            return opened.documents(job.id, "ana")

    def recording(key: Keyring) -> Any:
        with closing(Recording(place.recording or "", key, create=False)) as opened:
            return opened.get("an address"), opened.sealed.jobs()

    def index(key: Keyring) -> Any:
        async def look() -> Any:
            async with await open_index(place.index or "", key) as opened:
                return await opened.lookup(IdentityPlace("default", f"patient:{WHO}", "PERSON"), ["emily"])

        return asyncio.run(look())

    def audit(key: Keyring) -> Any:
        AuditLog(place.audit or "", key).head()

    found = (quarantine, book, optouts, drift, keys, reveals, reviews, jobs, recording, index, audit)
    return {one.__name__: one for one in found}


def killed_at(number: int, at: Path) -> int:
    """Rotate in a child process that is killed before its n-th write. Return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = [number]

    def step(real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **more: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **more)

        return counted

    Keyring.seal = step(Keyring.seal)  # type: ignore[method-assign] -- counts, then calls the original
    os.replace = step(os.replace)
    os.fsync = step(os.fsync)
    try:
        rotate(stores(at), OLD, NEW, by="Ada")
    except BaseException as error:
        print(type(error), error, file=sys.stderr)
        os._exit(1)
    os._exit(0)


def main() -> None:
    """Run as described at the top of the module, and print each child's exit code by its number, as JSON."""
    source, step = Path(sys.argv[1]), int(sys.argv[2])
    ended: dict[int, int] = {}
    number = 1
    while not ended or ended[number - step] == -signal.SIGKILL:
        at = source.with_name(f"killed-{number}")
        shutil.copytree(source, at)
        ended[number] = killed_at(number, at)
        number += step
    print(json.dumps(ended))


if __name__ == "__main__":
    main()
