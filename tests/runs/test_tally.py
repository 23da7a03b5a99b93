"""In every run, each record is released or held, and the counts agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from incognote.errors import AccountingError
from incognote.files.inputs import Input, read
from incognote.files.sources import find
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.driver import run
from incognote.runs.tally import Tally

MANIFEST = {
    "policy": {"name": "strict"},
    "schema": {"data_type": "note", "version": "0f"},
    "counts": {"by_type": {"DATE": 2}},
}


def _inputs(tmp_path: Path, data: bytes) -> Iterable[Input]:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return read(find([str(path)]).files[0])


def _serve(inputs: Iterator[Input]) -> Iterator[Result]:
    """Release in windows of two, as the SDK does. Texts that contain `hold` go to review."""
    window: list[Input] = []
    for one in inputs:
        window.append(one)
        if len(window) == 2:
            yield from map(_result, window)
            window = []
    yield from map(_result, window)


def _result(one: Input) -> Result:
    if "hold" in str(one.content):
        return Result(
            None, Verdict("review", (Reason("doubtful"), Reason("no-subject"))), MANIFEST, _output=one.content
        )
    return Result(None, Verdict("release"), MANIFEST, _output=one.content)


def _settle(inputs: Iterable[Input]) -> tuple[Tally, list[int], list[tuple[int, str]]]:
    released: list[int] = []
    held: list[tuple[int, str]] = []
    tally = run(
        inputs,
        _serve,
        lambda one, _: released.append(one.position),
        lambda one, verdict, _: held.append((one.position, verdict.outcome)),
    )
    return tally, released, held


def test_every_record_is_released_or_held_in_order(tmp_path: Path) -> None:
    data = b'{"a":1}\n"hold"\n\xff\n\xfe\n{"b":2}\n\xfd\n"hold"\n{"c":3}\n\xff'
    tally, released, held = _settle(_inputs(tmp_path, b"{}\n" * 100 + data))
    assert released == [*range(1, 101), 101, 105, 108]
    assert sorted(held) == [
        (102, "review"),
        *((n, "quarantine") for n in (103, 104, 106)),
        (107, "review"),
        (109, "quarantine"),
    ]
    assert tally.read == 109
    assert dict(tally.outcomes) == {"release": 103, "review": 2, "quarantine": 4}
    assert tally.reasons == {("review", "doubtful"): 2, ("review", "no-subject"): 2, ("quarantine", "encoding"): 4}
    assert tally.review_share == 2 / 109
    assert tally.held == 6


def test_the_tally_gathers_what_the_manifests_say(tmp_path: Path) -> None:
    tally, _, _ = _settle(_inputs(tmp_path, b'{}\n"hold"\n{}\n'))
    assert tally.replaced == {"DATE": 4}  # of the released records
    assert tally.schemas == {"note": "0f"}
    assert tally.labels == {"policy": {"name": "strict"}}


def test_a_record_its_file_cannot_write_is_held(tmp_path: Path) -> None:
    held: list[Verdict] = []

    def release(one: Input, result: Result) -> None:
        "\ud800".encode()

    tally = run(_inputs(tmp_path, b"{}\n"), _serve, release, lambda one, verdict, _: held.append(verdict))
    assert [verdict.reasons[0].code for verdict in held] == ["encoding"]
    assert tally.outcomes == {"quarantine": 1}


def test_a_lost_record_is_an_error_and_not_a_result(tmp_path: Path) -> None:
    def forgetful(inputs: Iterator[Input]) -> list[Result]:
        return [_result(one) for one in inputs][:-1]

    with pytest.raises(AccountingError, match="3 records were read, but 2"):
        run(_inputs(tmp_path, b"{}\n" * 3), forgetful, lambda *_: None, lambda *_: None)


def test_no_more_inputs_are_taken_than_are_served(tmp_path: Path) -> None:
    ahead = [0]

    def counted(inputs: Iterable[Input]) -> Iterator[Input]:
        for one in inputs:
            ahead[0] += 1
            assert ahead[0] <= 2
            yield one

    def release(one: Input, result: Result) -> None:
        ahead[0] -= 1

    tally = run(counted(_inputs(tmp_path, b"{}\n" * 1000)), _serve, release, lambda *_: None)
    assert tally.read == 1000


def test_no_record_at_all_balances_too() -> None:
    assert run([], _serve, lambda *_: None, lambda *_: None).review_share == 0.0
