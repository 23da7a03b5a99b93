"""Rekey a ledger to another master key, in one transaction while no worker is alive."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, text, update

from incognote.errors import IncognoteError, UsageError
from incognote.keys import Keyring, MacKey, mac_row
from incognote.ledger.database import Database
from incognote.ledger.leases import end_all
from incognote.ledger.tables import FILES, META
from incognote.sqlite import fold, sqlite_file

_PAGE = 1000


def rekey(url: str, former: Keyring, new: Keyring, *, dry: bool = False) -> int:
    """Reseal the names of files. Return how many; 0 if it was done before.

    Keyed names of records and subjects cannot be recomputed. The derived key that made them is carried over.

    Args:
        dry: only check whether it could be done.

    Raises:
        UsageError: the ledger does not exist.
        WrongKey: it is under neither key.
        IncognoteError: a worker is alive.
        SettingError, LedgerUnavailable, LedgerRejected: the database cannot be used.
    """
    file = sqlite_file(url)
    if file is not None and not file.is_file():
        raise UsageError("--ledger: the ledger does not exist. Check the path.")
    base = Database(url)

    def work(db: Connection) -> int:
        if base.vendor == "sqlite":
            db.execute(text("PRAGMA secure_delete=ON"))
        elif not dry:  # running transactions that have read the key end first; new ones wait
            db.execute(text(f"LOCK TABLE {FILES.name}, {META.name} IN ACCESS EXCLUSIVE MODE"))
            db.execute(text(f"ALTER TABLE {META.name} ALTER COLUMN value TYPE TEXT"))  # once 64 characters
        meta = {row.name: row.value for row in db.execute(select(META))}
        if (meta.get("key"), meta.get("check")) == (new.id, new.check):
            return 0
        former.require(meta.get("key", ""), meta.get("check", ""))
        if alive := end_all(db, base.now):
            raise IncognoteError(
                f"Workers of this ledger are running ({alive}). Stop them first. A killed worker counts until its "
                "lease ends."
            )
        return 0 if dry else _rekeyed(db, meta, former, new)

    try:
        done = base.run(work)
    finally:
        base.close()
    if file is not None and not dry:
        fold(file)
    return done


def _rekeyed(db: Connection, told: dict[str, str], former: Keyring, new: Keyring) -> int:
    done = after = 0
    while True:
        asked = select(FILES.c.id, FILES.c.location, FILES.c.sealed).where(FILES.c.id > after)
        rows = db.execute(asked.order_by(FILES.c.id).limit(_PAGE)).all()
        if not rows:
            break
        for row in rows:
            sealed = new.resealed(former, "ledger", row.sealed, row.location)
            db.execute(update(FILES).where(FILES.c.id == row.id).values(sealed=sealed))
        done, after = done + len(rows), rows[-1].id
    carried = MacKey.of(told, former, "ledger").kept(new, "ledger")
    values = {"key": new.id, "check": new.check, mac_row("ledger"): carried}
    db.execute(delete(META).where(META.c.name.in_(values)))
    db.execute(insert(META), [{"name": name, "value": value} for name, value in values.items()])
    return done
