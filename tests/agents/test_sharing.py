"""Windows and units of records depend only on the records and their order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier, Item, Result
from incognote.agents.item import WINDOW_RECORDS, ItemBatch, WindowCuts
from incognote.agents.sharing import LONGEST, Line, units
from incognote.files.sources import BLOCK_BYTES, BLOCK_FILES, Source, _in_blocks
from incognote.testing import ScriptedLLM

SHORT = "Seen by Dr. Carter."


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    return Deidentifier(model=ScriptedLLM(lambda request: "{}"))


def places(items: Sequence[Item], deid: Deidentifier) -> list[list[int]]:
    return [[at for at, _ in unit] for unit in units(items, deid.engine)]


def about(subject: dict[str, Any]) -> Item:
    record = {
        "resourceType": "Observation", "status": "final", "code": {"text": "note"},
        "subject": subject, "note": [{"text": SHORT}],
    }  # fmt: skip
    return Item(json.dumps(record), is_record=True)


def test_records_whose_patient_is_written_in_the_same_way_form_a_unit(deid: Deidentifier) -> None:
    items = [Item(SHORT, patient="P7"), Item(SHORT, patient="q"), about({"reference": "Patient/P7"})]
    assert places(items, deid) == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Item(SHORT, patient="aB1"), Item(SHORT, patient="Ab1")),
        (Item(SHORT, patient="unknown"), Item(SHORT, patient="unknown")),
        (about({"reference": "http://a.example/Patient/7"}), about({"reference": "http://b.example/Patient/7"})),
        (about({"identifier": {"system": "a", "value": "7"}}), about({"identifier": {"system": "b", "value": "7"}})),
        (about({"display": "John"}), about({"display": "John"})),
    ],
)
def test_records_that_may_be_of_different_patients_are_alone(one: Item, other: Item, deid: Deidentifier) -> None:
    assert places([one, other], deid) == [[0], [1]]


@pytest.mark.parametrize(
    "other",
    [
        Item(SHORT),
        Item(SHORT, patient=" "),
        Item(SHORT, patient="p-8"),
        Item(SHORT, patient="p-7", domain="other"),
        Item(SHORT, patient="p-7", block=1),
        Item(SHORT, patient="p-7", spans=()),
        Item("", patient="p-7", fault="a fault"),
        Item("no record", patient="p-7", is_record=True),
        Item(b"%!PS-Adobe-3.0", patient="p-7"),
        Item("word " * 65, patient="p-7"),
        Item(SHORT + " " * LONGEST, patient="p-7"),
    ],
)
def test_a_record_of_another_kind_is_alone(deid: Deidentifier, other: Item) -> None:
    assert places([Item(SHORT, patient="p-7"), other], deid) == [[0], [1]]


@pytest.mark.parametrize("settings", [{"composite": False}, {"detectors": ("rules",)}])
def test_no_records_share_requests_that_are_not_combined_or_not_sent(settings: dict[str, Any]) -> None:
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), **settings) as deid:
        assert places([Item(SHORT, patient="p-7")] * 2, deid) == [[0], [1]]


items = st.builds(
    Item,
    st.sampled_from([SHORT, "word " * 70, "x " * 20_000]),
    patient=st.sampled_from([None, "a", "b"]),
)


@given(st.lists(items, max_size=300), st.lists(items, max_size=300))
def test_windows_of_a_block_do_not_depend_on_the_blocks_before_it(before: list[Item], block: list[Item]) -> None:
    """So a run that is continued at a block makes the same windows as a whole run."""
    whole, alone = WindowCuts(), WindowCuts()
    _ = [whole.begins(item) for item in before]
    block = [replace(item, block=1) for item in block]
    begins = [whole.begins(item) for item in block]
    assert begins == [alone.begins(item) for item in block]
    assert begins[:1] == [True] * bool(block)


@pytest.mark.parametrize("size", [1, 200])
def test_a_batch_consists_of_whole_windows(size: int) -> None:
    batch, found = ItemBatch(size, windows=True), list[list[Item]]()
    for _ in range(3 * WINDOW_RECORDS + 1):
        found += filter(None, [batch.add(Item(SHORT))])
    assert [len(each) for each in [*found, batch.take()]] == (
        [WINDOW_RECORDS] * 3 + [1] if size == 1 else [2 * WINDOW_RECORDS, WINDOW_RECORDS + 1]
    )


def test_a_large_file_is_a_block_of_its_own() -> None:
    sizes = [1] * (BLOCK_FILES + 1) + [BLOCK_BYTES + 1, 1, 1]
    sources = [Source(None, str(number), "text", size=size) for number, size in enumerate(sizes)]
    assert [source.block for source in _in_blocks(sources)] == [0] * BLOCK_FILES + [1, 2, 3, 3]


def test_a_unit_begins_when_there_is_room_and_results_come_in_order() -> None:
    begun: list[Future[list[Result]]] = []

    def serve(unit: Sequence[Item]) -> Future[list[Result]]:
        begun.append(Future())
        return begun[-1]

    line = Line(serve, 2)
    line.add([[(0, Item("a")), (3, Item("d"))], [(1, Item("b"))], [(2, Item("c"))]])
    assert (len(begun), len(line), line.full) == (1, 4, True)
    made: Any = ["a", "d"]
    begun[0].set_result(made)
    assert line.take(line.first.result()) == "a"
    assert len(begun) == 3
    assert line.first is begun[1]
    line.cancel()
    assert begun[1].cancelled()
