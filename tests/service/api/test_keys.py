"""API keys are shown once, stored as hashes, and revoked immediately."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incognote.errors import UnknownName, UsageError
from incognote.keys import Keyring
from incognote.service.api.keys import ApiKeys, Caller


class Clock:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> Iterator[ApiKeys]:
    opened = ApiKeys(f"sqlite:///{tmp_path / 'service.db'}", Keyring(bytes(range(32))), clock)
    yield opened
    opened.close()


def test_a_key_opens_for_its_name_and_roles(keys: ApiKeys) -> None:
    made, written = keys.new("ward-7", ["review", "submit"])
    assert made.roles == ("submit", "review")
    assert keys.find(written) == Caller("ward-7", frozenset({"submit", "review"}))


def test_nobody_bears_the_name_of_who_comes_without_a_key(keys: ApiKeys) -> None:
    """Otherwise two users would share jobs, and the audit log would confuse them."""
    with pytest.raises(UsageError, match="reserved for the start token"):
        keys.new("local", ["submit"])


def test_the_database_holds_no_key(keys: ApiKeys, tmp_path: Path) -> None:
    _, written = keys.new("ward-7", ["submit"])
    keys.close()
    secret = written.split("_", 2)[2]
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_what_is_no_key_opens_nothing(keys: ApiKeys) -> None:
    _, written = keys.new("ward-7", ["submit"])
    _, name, secret = written.split("_", 2)
    for wrong in ("", "x", written[:-1], written + "x", f"incognote_{name}_", f"incognote__{secret}",
                  f"other_{name}_{secret}", f"incognote_{'0' * 12}_{secret}", "incognote_\ud800_x"):  # fmt: skip
        assert keys.find(wrong) is None


def test_a_revoked_key_opens_nothing_and_its_name_is_not_given_again(keys: ApiKeys) -> None:
    _, written = keys.new("ward-7", ["submit"])
    assert keys.revoke("ward-7").revoked is not None
    assert keys.find(written) is None
    assert not keys.any()
    with pytest.raises(UsageError, match="exists or existed"):
        keys.new("ward-7", ["submit"])


def test_a_key_ends_when_it_was_said_to(keys: ApiKeys, clock: Clock) -> None:
    _, written = keys.new("ward-7", ["submit"], expires=clock.now + timedelta(days=1))
    assert keys.find(written) is not None
    clock.now += timedelta(days=1)
    assert keys.find(written) is None
    assert not keys.any()


@pytest.mark.parametrize(
    ("name", "roles"),
    [("a b", ["submit"]), ("2025-03-16", ["submit"]), ("", ["submit"]), ("x" * 65, ["submit"]), ("a", []),
     ("a", ["admin"])],
)  # fmt: skip
def test_malformed_keys_are_refused(keys: ApiKeys, name: str, roles: list[str]) -> None:
    with pytest.raises(UsageError):
        keys.new(name, roles)


def test_revoking_nobody_is_said(keys: ApiKeys) -> None:
    with pytest.raises(UnknownName):
        keys.revoke("nobody")
