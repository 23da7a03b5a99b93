"""Rekey the service's databases to another master key: all parts of one database in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.errors import IncognoteError
from incognote.keys import Keyring, MacKey, Purpose, mac_row
from incognote.service.store import open_engine
from incognote.sqlite import fold, sqlite_file

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class RekeyedPart:
    """The data that one part of the service keeps under the key.

    Args:
        meta: its table of names and values.
        macs: purpose and scope of names that are keyed hashes. Their derived key is carried over.
        table: the table with its sealed columns.
        keys: the columns that identify a row of it.
        sealed: the sealed columns, with the label that each was sealed with.
    """

    meta: str
    macs: tuple[tuple[Purpose, str], ...] = ()
    table: str = ""
    keys: tuple[str, ...] = ()
    sealed: Mapping[str, str] | None = None


PARTS = (
    RekeyedPart("optout_meta", (("ledger", "optout"),)),
    RekeyedPart("drift_meta", (("ledger", "source"),)),
    RekeyedPart("api_key_meta"),
    RekeyedPart("reveal_meta", (("review", "reveal"),), "reveal_requests", ("id",), {"sealed": "{id}/reveal"}),
    RekeyedPart(
        "review_meta", (("review", "patient"),), "reviews", ("id",),
        {"sealed": "{id}/case", "decision": "{id}/decision"},
    ),
    RekeyedPart("review_meta", (), "review_comments", ("id", "item"), {"sealed": "{item}/{id}/comment"}),
    RekeyedPart(
        "api_job_meta", (("review", "patient"),), "api_documents", ("job", "number"),
        {"given": "{job}/{number}/given", "answer": "{job}/{number}/answer"},
    ),
)  # fmt: skip


def rekey(url: str, former: Keyring, new: Keyring, *, dry: bool = False) -> int:
    """Reseal everything in a database. Return the number of rows. Parts that were done before are left unchanged.

    A process that has the database open with the former key gets an error at the end of its next transaction, and
    writes nothing.

    Args:
        dry: only check whether it could be done.

    Raises:
        WrongKey: a part is under neither key, and nothing was changed.
        SettingError, IncognoteError: as in `ServiceStore`.
    """
    from sqlalchemy import inspect, text
    from sqlalchemy.exc import SQLAlchemyError

    engine = open_engine(url)
    try:
        there = set(inspect(engine).get_table_names())
        parts = [part for part in PARTS if part.meta in there and (not part.table or part.table in there)]
        with engine.begin() as db:
            if not dry and parts:
                _hold(db, engine.dialect.name, parts)
            rows = {
                part.meta: {row.name: row.value for row in db.execute(text(f"SELECT name, value FROM {part.meta}"))}  # noqa: S608 -- our names
                for part in parts
            }
            former_parts = [part for part in parts if _under_former(rows[part.meta], former, new)]
            done = 0 if dry else sum(_rekeyed(db, part, rows[part.meta], former, new) for part in former_parts)
    except SQLAlchemyError as error:
        raise IncognoteError(
            f"The database of the service does not answer ({type(error).__name__}). Check it."
        ) from None
    finally:
        engine.dispose()
    file = sqlite_file(url)
    if file is not None and not dry:
        fold(file)
    return done


def _hold(db: Connection, dialect: str, parts: list[RekeyedPart]) -> None:
    """Wait for current writers, and keep new ones out."""
    from sqlalchemy import text

    if dialect == "sqlite":
        db.execute(text("PRAGMA secure_delete=ON"))
        db.execute(text(f"UPDATE {parts[0].meta} SET value = value"))  # noqa: S608 -- our name; takes the write lock
        return
    tables = [part.table for part in parts if part.table] + [part.meta for part in parts]
    db.execute(text(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE"))


def _under_former(rows: Mapping[str, str], former: Keyring, new: Keyring) -> bool:
    if (rows.get("key"), rows.get("check")) == (new.id, new.check):
        return False
    former.require(rows.get("key", ""), rows.get("check", ""))
    return True


def _rekeyed(db: Connection, part: RekeyedPart, rows: Mapping[str, str], former: Keyring, new: Keyring) -> int:
    from sqlalchemy import text

    values = {"key": new.id, "check": new.check}
    for purpose, scope in part.macs:
        values[mac_row(purpose, scope)] = MacKey.of(rows, former, purpose, scope).kept(new, purpose, scope)
    for name, value in values.items():
        db.execute(text(f"DELETE FROM {part.meta} WHERE name = :name"), {"name": name})  # noqa: S608 -- our name
        db.execute(
            text(f"INSERT INTO {part.meta} (name, value) VALUES (:name, :value)"),  # noqa: S608 -- as above
            {"name": name, "value": value},
        )
    done = 0
    where = " AND ".join(f"{name} = :{name}" for name in part.keys)
    keys = db.execute(text(f"SELECT {', '.join(part.keys)} FROM {part.table}")).all() if part.table else []  # noqa: S608 -- as above
    for key in keys:
        place = dict(key._mapping)
        for column, label in (part.sealed or {}).items():
            asked = text(f"SELECT {column} FROM {part.table} WHERE {where}")  # noqa: S608 -- as above
            sealed: Any = db.execute(asked, place).scalar_one()
            if sealed is not None:
                resealed = new.resealed(former, "review", bytes(sealed), label.format(**place))
                change = text(f"UPDATE {part.table} SET {column} = :resealed WHERE {where}")  # noqa: S608 -- as above
                db.execute(change, {**place, "resealed": resealed})
        done += 1
    return done
