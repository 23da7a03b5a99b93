"""Drift: real differences are reported once, random ones are not, and each source has its own daily counts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import WrongKey
from incognote.keys import Keyring
from incognote.service.drift import Alarm, Day, DriftStore, alarms
from incognote.service.telemetry import Telemetry

KEY = Keyring(bytes(range(32)))
RULES = {"least": 100, "z": 5.0, "change": 0.5}


def records(chance: Random, count: int, rate: int) -> list[dict[str, int]]:
    """Return records with 0 to `2 * rate` names each, and a date in every third record."""
    return [{"PERSON": chance.randint(0, 2 * rate), **({"DATE": 1} if n % 3 == 0 else {})} for n in range(count)]


class Clock:
    """A calendar that a test advances."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """March 1."""
    return Clock()


@pytest.fixture
def store(database: str, clock: Clock) -> Iterator[DriftStore]:
    """Four weeks of a source with two names per record."""
    made = DriftStore(database, KEY, least=100, clock=clock)
    chance = Random(5)
    for _ in range(28):
        made.add("a" * 16, records(chance, 40, 2))
        clock.now += timedelta(days=1)
    yield made
    made.close()


def test_an_equal_day_raises_no_alarm(store: DriftStore) -> None:
    store.add("a" * 16, records(Random(6), 300, 2))
    assert store.found("a" * 16) == []


def test_names_that_are_no_longer_found_raise_one(store: DriftStore) -> None:
    store.add("a" * 16, [{"DATE": 1} if n % 3 == 0 else {} for n in range(300)])
    found = {alarm.entity_type: alarm for alarm in store.found("a" * 16)}
    assert set(found) == {"PERSON", ""}
    assert found["PERSON"].outlook == "fewer"
    assert found["PERSON"].rate == 0
    assert found["PERSON"].expected == pytest.approx(2, abs=0.2)


def test_a_type_that_was_never_there_raises_one(store: DriftStore) -> None:
    day = [{**one, "MEDICAL_RECORD_NUMBER": 2} for one in records(Random(7), 200, 2)]
    store.add("a" * 16, day)
    assert ("MEDICAL_RECORD_NUMBER", "more") in {(one.entity_type, one.outlook) for one in store.found("a" * 16)}


def test_a_few_records_say_nothing(store: DriftStore) -> None:
    store.add("a" * 16, [{} for _ in range(99)])
    assert store.found("a" * 16) == []
    store.add("a" * 16, [{}])
    assert store.found("a" * 16)


def test_sources_and_days_are_kept_apart(store: DriftStore, clock: Clock) -> None:
    store.add("b" * 16, [{} for _ in range(300)])
    assert store.found("b" * 16) == []
    assert store.found("a" * 16) == []
    assert store.sources() == ["a" * 16, "b" * 16]
    clock.now += timedelta(days=40)
    assert store.sources() == []


def test_an_alarm_is_told_once_by_one_of_all_who_look_and_so_is_its_end(
    store: DriftStore, clock: Clock, database: str
) -> None:
    stream = io.StringIO()
    other = DriftStore(database, KEY, least=100, clock=clock)
    store.add("a" * 16, [{} for _ in range(300)])
    for one in (store, other, store):
        assert one.check("a" * 16, Telemetry(stream).tell)
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert sorted((line["event"], line["entity_type"]) for line in told) == [
        ("drift.alarm", "ANY"),
        ("drift.alarm", "DATE"),
        ("drift.alarm", "PERSON"),
    ]
    clock.now += timedelta(days=1)
    store.add("a" * 16, records(Random(8), 300, 2))
    other.check("a" * 16, Telemetry(stream).tell)
    other.close()
    told = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert told.count("drift.calm") == 3


def test_batches_of_two_workers_add_up(store: DriftStore, clock: Clock, database: str) -> None:
    other = DriftStore(database, KEY, least=100, clock=clock)
    for one in (store, other):
        one.add("c" * 16, [{"PERSON": 1}] * 50)
    other.close()
    now, _ = store._sides("c" * 16)
    assert (now.records, now.totals["PERSON"], now.squares["PERSON"]) == (100, 100, 100)


def test_another_key_is_refused(store: DriftStore, database: str) -> None:
    with pytest.raises(WrongKey):
        DriftStore(database, Keyring(bytes(32)))


def test_a_sources_name_is_keyed(store: DriftStore) -> None:
    assert store.source("s3://hospital/notes") != store.source("s3://hospital/letters")
    assert "hospital" not in store.source("s3://hospital/notes")


@given(st.lists(st.dictionaries(st.sampled_from(["PERSON", "DATE"]), st.integers(0, 9)), max_size=30))
def test_days_of_parts_are_the_day_of_the_whole(counts: list[dict[str, int]]) -> None:
    half = len(counts) // 2
    assert Day.of(counts[:half]) + Day.of(counts[half:]) == Day.of(counts)


@given(st.integers(100, 400), st.integers(0, 5))
def test_constant_rates_alarm_only_where_they_differ(count: int, rate: int) -> None:
    before, now = Day.of([{"PERSON": 2}] * count), Day.of([{"PERSON": rate}] * count)
    found = [alarm.entity_type for alarm in alarms(now, before, **RULES)]  # type: ignore[arg-type]  # floats and ints
    assert bool(found) == (abs(rate - 2) >= 1)


def test_an_alarm_says_how_far_it_is_off() -> None:
    before, now = Day.of([{"PERSON": 2 + n % 2} for n in range(200)]), Day.of([{"PERSON": n % 2} for n in range(200)])
    (_, person) = alarms(now, before, least=100, z=5, change=0.5)
    assert person == Alarm("PERSON", "fewer", 0.5, 2.5, person.z)
    assert person.z > 30
