"""Requests to reveal: a second named person approves one use, for a limited time, of exactly what was requested."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra service")

from incognote.errors import AlreadyDecided, IncognoteError, UnknownName, UsageError
from incognote.keys import Keyring
from incognote.service.reveals import Reveals

KEY = Keyring(bytes(range(32)))
ASKED = {"what": "original", "surrogate": "Kevin Chang", "domain": "d"}
WHOM = "patient:Zebulon-7712"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reveals(database: str, clock: Clock) -> Iterator[Reveals]:
    opened = Reveals(database, KEY, 60, clock)
    yield opened
    opened.close()


def test_an_approved_request_is_used_once_by_who_asked(reveals: Reveals) -> None:
    made = reveals.ask(ASKED, "recall of a device", "ada", hidden=WHOM)
    (shown,) = reveals.items()
    assert shown.about == {"question": ASKED, "why": "recall of a device", "patient": True}
    with pytest.raises(UsageError, match="must approve"):
        reveals.take(made.id, ASKED, "ada", hidden=WHOM)
    assert reveals.approve(made.id, "eve").approved_by == "eve"
    assert reveals.take(made.id, ASKED, "ada", hidden=WHOM).approved_by == "eve"
    with pytest.raises(UnknownName):
        reveals.take(made.id, ASKED, "ada", hidden=WHOM)
    assert reveals.items() == []


@pytest.mark.parametrize("name", ["ada", "Ada", " ADA "])
def test_the_requester_cannot_approve_under_any_spelling_of_the_name(reveals: Reveals, name: str) -> None:
    made = reveals.ask(ASKED, "x", "ada")
    with pytest.raises(UsageError, match="Another person"):
        reveals.approve(made.id, name)


def test_an_approval_is_for_one_question_and_one_person(reveals: Reveals) -> None:
    made = reveals.ask(ASKED, "x", "ada", hidden=WHOM)
    reveals.approve(made.id, "eve")
    for asked, hidden in (({**ASKED, "surrogate": "Ann Lee"}, WHOM), (ASKED, ""), (ASKED, "patient:other")):
        with pytest.raises(UsageError, match="something else"):
            reveals.take(made.id, asked, "ada", hidden=hidden)
    with pytest.raises(UsageError, match="Another person made this request"):
        reveals.take(made.id, ASKED, "eve", hidden=WHOM)
    with pytest.raises(AlreadyDecided):
        reveals.approve(made.id, "bob")
    assert reveals.take(made.id, ASKED, "ada", hidden=WHOM)


def test_a_request_ends_approved_or_not_and_is_deleted(reveals: Reveals, clock: Clock) -> None:
    waiting, approved = reveals.ask(ASKED, "x", "ada"), reveals.ask(ASKED, "x", "ada")
    reveals.approve(approved.id, "eve")
    clock.now += timedelta(minutes=61)
    with pytest.raises(UnknownName):
        reveals.approve(waiting.id, "eve")
    with pytest.raises(UnknownName):
        reveals.take(approved.id, ASKED, "ada")
    assert reveals.items() == []


def test_of_many_who_use_one_approval_one_succeeds(reveals: Reveals) -> None:
    made = reveals.ask(ASKED, "x", "ada")
    reveals.approve(made.id, "eve")

    def use(_: int) -> bool:
        try:
            return bool(reveals.take(made.id, ASKED, "ada"))
        except IncognoteError:
            return False

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, range(8))) == 1


def test_the_file_and_the_repr_hold_nothing_of_what_is_asked(tmp_path: Path) -> None:
    opened = Reveals(f"sqlite:///{tmp_path / 'r.db'}", KEY, 60)
    made = opened.ask(ASKED, "of Zebulon", "ada", hidden=WHOM)
    opened.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode("latin-1") + repr(made)
    assert not [word for word in ("Kevin", "Zebulon", "7712") if word in stored]
