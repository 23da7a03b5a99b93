"""The figures of the pages about Spark, and the simulation of workers that share an index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote_benchmarks.spark.__main__ import cost, flatness
from incognote_benchmarks.spark.contention import Load, Station, Times, simulate
from incognote_benchmarks.spark.page import written

DOCS = Path(__file__).parents[2] / "docs"
QUICK = {"exact": Times(1, 1), "query": Times(1, 1), "claim": Times(1, 1)}


@pytest.mark.parametrize("page", ["spark.md", "scale.md"])
def test_the_figures_of_a_page_are_those_that_were_measured(page: str) -> None:
    spark, contention = (
        json.loads((DOCS / "measured" / f"{name}.json").read_text(encoding="utf-8")) for name in ("spark", "contention")
    )
    text = (DOCS / page).read_text(encoding="utf-8")
    assert "<!-- figures: " in text
    assert written(text, spark, contention) == text


def test_a_station_serves_as_many_requests_at_once_as_it_has_slots() -> None:
    station = Station(2)
    assert [station.serve(0, 1) for _ in range(5)] == [1, 1, 2, 2, 3]
    assert (station.waited, station.busy) == (4, 5)
    assert station.serve(10, 1) == 11


def test_workers_that_share_nothing_busy_are_as_fast_as_their_sum() -> None:
    load = Load(work=0.1, index_slots=64)
    one, ten = (simulate(workers, load, QUICK, Times(1, 1)) for workers in (1, 10))
    assert one["notes_per_second"] == pytest.approx(1 / 0.104, rel=0.02)
    assert ten["of_the_ideal"] == pytest.approx(1, abs=0.02)
    assert ten["index_wait_ms_a_note"] < 0.1


def test_a_full_index_is_the_limit_whatever_the_number_of_workers() -> None:
    load = Load(work=0.001, index_slots=1)
    rows = [simulate(workers, load, QUICK, Times(1, 1)) for workers in (20, 100)]
    assert [row["notes_per_second"] for row in rows] == [pytest.approx(250, rel=0.03)] * 2
    assert all(row["index_busy"] > 0.97 for row in rows)


def test_the_memory_is_told_in_tenths_of_the_time() -> None:
    told = flatness([(second, 300.0, 100.0 + second) for second in range(100)])
    assert (len(told["python_mb"]), told["python_mb"][0], told["python_mb"][-1]) == (10, 104, 194)
    assert told["python_last_to_second"] == pytest.approx(194 / 114, abs=0.02)


def test_a_million_notes_cost_the_time_of_a_note_a_million_times() -> None:
    assert cost({"seconds": 36, "notes": 1000})["core_hours_per_million"] == 10
