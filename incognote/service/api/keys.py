"""API keys and their roles. Only a hash is stored. A fast hash is sufficient for 256 random bits."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from incognote.errors import UnknownName, UsageError
from incognote.keys import Keyring
from incognote.service.store import ServiceStore

if TYPE_CHECKING:
    from sqlalchemy import Row

ROLES = ("submit", "try", "review", "approve", "reveal")
"""What the roles may do.

submit: submit texts. try: use the try page. review: see records in review, correct, reject. approve: release records
    and approve schemas. reveal: export originals (gold).
"""

NOBODY = "local"
"""The name of the caller with the start token, as long as no key exists."""
_PREFIX = "incognote"
_WRITTEN = re.compile(rf"{_PREFIX}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: the name of an API key, and its roles."""

    name: str
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key as `list` shows it. The key itself is shown only once, when it is made."""

    id: str
    name: str
    roles: tuple[str, ...]
    made: str
    expires: str | None
    revoked: str | None


class ApiKeys:
    """The keys of one service.

    Args:
        url, keyring: as in `ServiceStore`.
        clock: returns the time.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(self, url: str, keyring: Keyring, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        from incognote.service.tables import KEYS, KEYS_META

        self._clock, self._table = clock, KEYS
        self._store = ServiceStore(url, KEYS.metadata, KEYS_META, _VERSION, keyring)

    def new(self, name: str, roles: Iterable[str], *, expires: datetime | None = None) -> tuple[ApiKey, str]:
        """Make a key. Return its entry in the database, and the key itself, which cannot be shown again.

        Args:
            name: identifies the holder in the audit log. Use one key for each person or program.
            roles: from ROLES.
            expires: when it expires; a time with its zone.

        Raises:
            UsageError: an unknown role, no role, a name that is taken or malformed, or a time without zone.
        """
        from sqlalchemy import insert
        from sqlalchemy.exc import IntegrityError

        wanted = set(roles)
        if not wanted or wanted - set(ROLES):
            raise UsageError(f"a key has one role or more, of: {', '.join(ROLES)}")
        if name == NOBODY:
            raise UsageError("this name is reserved for the start token of the server; choose another one")
        if not _NAME.fullmatch(name):
            raise UsageError(
                "a key name has up to 64 letters, digits, dots, hyphens, and underscores, and at least one letter"
            )
        if expires is not None and expires.tzinfo is None:
            raise UsageError("the expiry time needs a time zone")
        made, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        ordered = tuple(role for role in ROLES if role in wanted)
        ends = None if expires is None else _written(expires)
        row = {"id": made, "name": name, "roles": ",".join(ordered), "digest": _digest(secret), "made": self._now}
        try:
            with self._store.begin() as connection:
                connection.execute(insert(self._table).values(**row, expires=ends))
        except IntegrityError:
            raise UsageError(
                "a key with this name exists or existed. Choose a new name, so that the audit log stays unambiguous"
            ) from None
        return ApiKey(made, name, ordered, row["made"], ends, None), f"{_PREFIX}_{made}_{secret}"

    def find(self, written: str) -> Caller | None:
        """Return the caller with a key; None if it is malformed, unknown, revoked or expired."""
        row = self._row(written)
        return None if row is None or self._end(row) else Caller(row.name, frozenset(row.roles.split(",")))

    def ended(self, written: str) -> str | None:
        """Why a key that was once valid is refused; None for a key that is valid or never was.

        Only a person who holds the key can learn this.
        """
        row = self._row(written)
        return None if row is None else self._end(row)

    def _end(self, row: Row[Any]) -> str | None:
        if row.revoked is not None:
            return f"was revoked on {row.revoked[:10]}"
        if row.expires is not None and row.expires <= self._now:
            return f"expired on {row.expires[:10]}"
        return None

    def _row(self, written: str) -> Row[Any] | None:
        """Return the row of a key whose secret is correct."""
        from sqlalchemy import select

        form = _WRITTEN.fullmatch(written)
        if form is None:
            return None
        named, secret = form.groups()
        with self._store.begin() as connection:
            row = connection.execute(select(self._table).where(self._table.c.id == named)).first()
        stored = row.digest if row is not None else _digest("")  # so that an unknown id takes the same time
        return row if hmac.compare_digest(stored, _digest(secret)) else None

    def items(self) -> list[ApiKey]:
        """Return all keys, the oldest first, including revoked ones."""
        from sqlalchemy import select

        with self._store.begin() as connection:
            rows = connection.execute(select(self._table).order_by(self._table.c.made, self._table.c.id))
            return [_key(row) for row in rows]

    def any(self) -> bool:
        """Whether there is an active key."""
        return bool(self.active())

    def active(self) -> list[ApiKey]:
        """Return the keys that are neither revoked nor expired."""
        now = self._now
        return [key for key in self.items() if key.revoked is None and (key.expires is None or key.expires > now)]

    def revoke(self, name: str) -> ApiKey:
        """Revoke a key by its name or id.

        Raises:
            UnknownName: there is no such key.
        """
        from sqlalchemy import update

        found = [key for key in self.items() if name in (key.name, key.id)]
        if not found:
            raise UnknownName("API key", name, [key.name for key in self.items()])
        with self._store.begin() as connection:
            place = (self._table.c.id == found[0].id) & self._table.c.revoked.is_(None)
            connection.execute(update(self._table).where(place).values(revoked=self._now))
        return next(key for key in self.items() if key.id == found[0].id)

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    @property
    def _now(self) -> str:
        return _written(self._clock())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds")


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(row.id, row.name, tuple(row.roles.split(",")), row.made, row.expires, row.revoked)
