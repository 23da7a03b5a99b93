"""The SDK's public API: batches lose nothing, frames keep their shape, all threads share one toolkit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from incognote import Deidentifier, Item, Result, UsageError
from incognote.errors import SettingError

NOTE = "A seen 03/16/2025"


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    """One instance for the module."""
    return Deidentifier(key="6b" * 32, concurrency=4)


@pytest.fixture(scope="module")
def shifting(tmp_path_factory: pytest.TempPathFactory) -> Deidentifier:
    """An instance that shifts dates for each patient."""
    policy = tmp_path_factory.mktemp("policy") / "shift.toml"
    policy.write_text('name = "shift"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    return Deidentifier(policy, key="6b" * 32)


def nested() -> list[Any]:
    """A list that is too deep for JSON's encoder."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize("broken", [{"a": float("nan")}, {"a": b"bytes"}, {"a": {1, 2}}, {"a": nested()}])
def test_a_mapping_that_json_cannot_hold_is_quarantined_alone(deid: Deidentifier, broken: dict[str, Any]) -> None:
    assert deid.deidentify(broken).verdict.outcome == "quarantine"
    outcomes = [r.verdict.outcome for r in deid.batch([NOTE, NOTE, broken, NOTE, NOTE, NOTE])]
    assert outcomes == ["release"] * 2 + ["quarantine"] + ["release"] * 3


def failing() -> Iterator[str]:
    """A reader that fails after three notes."""
    yield from (NOTE, NOTE, NOTE)
    raise OSError("the disk is gone")


def test_what_was_read_before_a_reader_fails_is_served_first(deid: Deidentifier) -> None:
    served: list[Result] = []
    with pytest.raises(OSError, match="the disk is gone"):
        served.extend(deid.batch(failing()))
    assert [r.text for r in served] == ["A seen [DATE]"] * 3


async def test_the_same_holds_for_the_async_batch(deid: Deidentifier) -> None:
    served: list[Result] = []

    async def drain() -> None:
        async for result in deid.abatch(failing()):
            served.append(result)

    with pytest.raises(OSError, match="the disk is gone"):
        await drain()
    assert len(served) == 3


@pytest.mark.parametrize("given", [bytearray(b"bytes"), 5, None, {"a"}])
def test_what_is_neither_note_nor_record_is_a_usage_error(deid: Deidentifier, given: Any) -> None:
    with pytest.raises(UsageError):
        deid.deidentify(given)


def test_a_frame_keeps_index_rows_and_other_columns(deid: Deidentifier) -> None:
    frame = pd.DataFrame({"n": [NOTE, None, "Dr. Abara came", ""], "k": [1, 2, 3, 4]}, index=[9, 9, "x", 2])
    made = deid.deidentify_frame(frame, text="n")
    assert list(made.index) == [9, 9, "x", 2]
    assert list(made["k"]) == [1, 2, 3, 4]
    assert list(made["n"].fillna("-")) == ["A seen [DATE]", "-", "Dr. [PERSON] came", ""]
    assert list(made["verdict"]) == ["release"] * 4
    assert list(frame["n"].fillna("-")) == [NOTE, "-", "Dr. Abara came", ""]


def test_a_cell_that_is_no_text_is_quarantined(deid: Deidentifier) -> None:
    made = deid.deidentify_frame(pd.DataFrame({0: ["hello", b"John Smith", 5, ["a"]]}), text=0)
    assert list(made["verdict"]) == ["release", "quarantine", "quarantine", "quarantine"]
    assert list(made[0].fillna("-")) == ["hello", "-", "-", "-"]
    assert "Smith" not in str(made)


@pytest.mark.parametrize("nobody", [None, float("nan"), pd.NA, "", "  "])
def test_a_row_without_a_subject_is_held_where_the_policy_needs_one(shifting: Deidentifier, nobody: Any) -> None:
    made = shifting.deidentify_frame(pd.DataFrame({"n": [NOTE, NOTE], "p": ["p-1", nobody]}), text="n", patient="p")
    assert list(made["verdict"]) == ["release", "review"]
    assert "no-subject" in made["reasons"][1]


def test_an_integer_subject_is_the_same_beside_a_gap(shifting: Deidentifier) -> None:
    whole = shifting.deidentify_frame(pd.DataFrame({"n": [NOTE], "p": [7]}), text="n", patient="p")
    beside = shifting.deidentify_frame(pd.DataFrame({"n": [NOTE, NOTE], "p": [7, None]}), text="n", patient="p")
    assert whole["n"][0] == beside["n"][0]


def test_a_missing_column_and_a_taken_one_are_usage_errors(deid: Deidentifier) -> None:
    frame = pd.DataFrame({"n": [NOTE], "verdict": [1]})
    with pytest.raises(UsageError, match="no column 'm'"):
        deid.deidentify_frame(frame, text="m")
    with pytest.raises(UsageError, match="verdict"):
        deid.deidentify_frame(frame, text="n")


def test_known_columns_are_sought_in_their_rows_text(deid: Deidentifier) -> None:
    frame = pd.DataFrame({"n": ["zorrquill is well", "zorrquill is well"], "name": ["Zorrquill", None]})
    made = deid.deidentify_frame(frame, text="n", known=["name"])
    assert list(made["n"]) == ["[PERSON] is well", "zorrquill is well"]


SENSITIVE = pd.DataFrame({
    "n": ["Seen today, MRN 48213977.", "Karen is well.", None], "pat": ["P-77812", "P-77812", "P-9"],
    "mrn": [48213977, None, 48213977], "name": ["Oyelowo", "Karen", ""], "age": [70, 71, 72]}, index=[3, 3, 5])


def test_columns_of_subjects_and_known_identifiers_come_back_hashed(deid: Deidentifier) -> None:
    made = deid.deidentify_frame(SENSITIVE, text="n", patient="pat", known=["mrn", "name"])
    written = made.to_csv()
    assert not [raw for raw in ("P-77812", "P-9", "48213977", "Oyelowo", "Karen") if raw in written]
    assert list(made["verdict"]) == ["release"] * 3
    assert list(made["age"]) == [70, 71, 72]
    pat, mrn = list(made["pat"]), list(made["mrn"])
    assert pat[0] == pat[1] != pat[2]
    assert mrn[0] == mrn[2] != pat[0]
    assert pd.isna(mrn[1])
    assert list(made["name"])[2] == ""
    assert list(SENSITIVE["pat"]) == ["P-77812", "P-77812", "P-9"]


def test_a_hash_in_a_frame_is_the_hash_of_a_record(deid: Deidentifier) -> None:
    made = deid.deidentify_frame(pd.DataFrame({"n": [NOTE], "p": ["P-77812"]}), text="n", patient="p")
    record = deid.deidentify({"dataType": "note", "patient_id": "P-77812", "text": NOTE}).record
    assert list(made["p"]) == [record["patient_id"]]


def test_a_known_number_beside_a_gap_is_found_as_it_is_written(deid: Deidentifier) -> None:
    made = deid.deidentify_frame(pd.DataFrame({"n": ["code 48213 here", "x"], "mrn": [48213, None]}),
                                 text="n", known=["mrn"])
    assert "48213" not in made.to_csv()
    assert list(made["verdict"]) == ["release"] * 2


def test_columns_are_kept_by_name(deid: Deidentifier) -> None:
    made = deid.deidentify_frame(SENSITIVE, text="n", patient="pat", known=["mrn"], keep=["pat"])
    assert list(made["pat"]) == ["P-77812", "P-77812", "P-9"]
    assert "48213977" not in made.to_csv()
    with pytest.raises(UsageError, match="no column 'patt'"):
        deid.deidentify_frame(SENSITIVE, text="n", patient="pat", keep=["patt"])
    with pytest.raises(UsageError, match="something else"):
        deid.deidentify_frame(SENSITIVE, text="n", known=["n"])


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_values_of_a_frame_stay_as_they_were_and_count_as_empty(deid: Deidentifier, nothing: Any) -> None:
    frame = pd.DataFrame({"n": pd.Series([nothing, NOTE], dtype=object), "p": pd.Series(["p", nothing], dtype=object),
                          "mrn": pd.Series([nothing, nothing], dtype=object)})
    made = deid.deidentify_frame(frame, text="n", patient="p", known=["mrn"])
    assert list(made["verdict"]) == ["release"] * 2
    assert list(made["reasons"]) == [""] * 2
    for cell in (made["n"][0], made["p"][1], made["mrn"][0], made["mrn"][1]):
        assert cell is nothing


def test_a_known_cell_may_be_a_list(deid: Deidentifier) -> None:
    frame = pd.DataFrame({"n": ["zorrquill and plughfoo are well"], "name": [["Zorrquill", "Plughfoo"]]})
    made = deid.deidentify_frame(frame, text="n", known=["name"])
    assert list(made["n"]) == ["[PERSON] and [PERSON] are well"]
    assert "lughfoo" not in made.to_csv()


def test_threads_share_one_toolkit() -> None:
    deid = Deidentifier()
    seen: list[str] = []
    threads = [threading.Thread(target=lambda: seen.append(deid.engine.keyring.id)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1


def test_a_missing_roster_stops_the_run_and_not_every_record(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="roster"):
        Deidentifier(roster=tmp_path / "absent.csv").deidentify(NOTE)


def test_an_item_carries_its_own_words(deid: Deidentifier) -> None:
    assert deid.deidentify(Item(NOTE, id="7")).id == "7"
    with pytest.raises(UsageError):
        deid.deidentify(Item(NOTE, id="7"), patient="p")


def test_a_number_is_taken_as_its_digits_and_another_kind_of_name_is_refused_by_its_parameter() -> None:
    with Deidentifier(key="6b" * 32) as deid:
        assert deid.deidentify(NOTE, patient=4471902).text == deid.deidentify(NOTE, patient="4471902").text  # type: ignore[arg-type]
        for words in ({"patient": 7.5}, {"patient": True}, {"id": b"x"}, {"domain": 7}, {"data_type": 7}):
            with pytest.raises(UsageError, match=f"{next(iter(words))}="):
                deid.deidentify(NOTE, **words)
            with pytest.raises(UsageError, match=f"{next(iter(words))}="):
                next(deid.batch([Item(NOTE, **words)]))
        assert deid.deidentify(Item(NOTE, patient=4471902)).text == deid.deidentify(NOTE, patient="4471902").text  # type: ignore[arg-type]
        assert "Quux" not in deid.deidentify(Item("Quux is well.", known={"name": "Zed Quux"})).text  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="known"):
            deid.deidentify(Item(NOTE, known=5.5j))  # type: ignore[arg-type]
