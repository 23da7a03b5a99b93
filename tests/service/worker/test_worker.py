"""How a worker processes a source: each record once, each in its place, and none lost."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from incognote.agents.item import Item
from incognote.errors import ReviewCeiling, UsageError
from incognote.llm.base import Reply, Usage
from incognote.service.worker.hooks import Hooks
from incognote.testing import ScriptedLLM, text_of

Lines = Callable[..., str]


def test_every_kind_of_file_comes_out_and_nothing_of_it_in_names(house: Any, lines: Lines) -> None:
    house.put("Carter/Emily.txt")
    house.put("one.json", '{"id": "a",\n "text": "Dr. Emily Carter called."}')
    house.put("lines.jsonl", lines(1, 2))
    house.put("more.ndjson.gz", gzip.compress(lines(3).encode()))
    house.put("most.jsonl.zst", zstandard.ZstdCompressor().compress(lines(4, 5).encode()))
    house.put("scan.ps", b"%!PS")
    done = house.run()
    assert done.states == {"released": 7, "quarantined": 1}
    texts = [line["text"] for line in house.lines()]
    assert len(texts) == 7
    assert not any("Emily" in text or "Carter" in text for text in texts)
    assert house.whole()
    assert not any("arter" in path.name or "mily" in path.name for path in house.destination.rglob("*"))


def test_what_was_done_is_not_done_again_and_what_is_new_is(house: Any, lines: Lines) -> None:
    path = house.put("a.jsonl", lines(1, 2))
    house.run()
    assert house.run().states == {}
    path.write_text(lines(1, 2, 3))
    done = house.run()
    assert (done.states, done.skipped) == ({"released": 1}, 2)
    assert len(house.lines()) == 3


def test_a_changed_note_is_a_new_version_beside_the_old(house: Any, lines: Lines) -> None:
    path = house.put("a.jsonl", lines(1))
    house.run()
    path.write_text(lines(1, text="Seen again by Dr. Emily Carter."))
    house.run()
    assert len(house.lines()) == 2


def test_a_release_takes_one_policy_and_another_policy_takes_another_release(house: Any, lines: Lines) -> None:
    house.put("a.jsonl", lines(1))
    house.run()
    with pytest.raises(UsageError, match=r"policy\.name, policy\.version"):
        house.worker(policy="paper")
    house.run(policy="paper", release="r2")
    assert len(house.lines("r1")) == len(house.lines("r2")) == 1
    assert house.counts("r1") == house.counts("r2") == {"released": 1}


def test_shards_have_a_size(build: Callable[..., Any], lines: Lines) -> None:
    house = build(shard_records=4, batch_records=2)
    house.put("a.jsonl", lines(*range(10)))
    assert house.run().shards == 3
    assert len(house.lines()) == 10


@pytest.mark.parametrize(("form", "packing", "suffix"), [
    ("lines", "gzip", ".jsonl.gz"), ("lines", "zstd", ".jsonl.zst"), ("parquet", "zstd", ".parquet"),
])  # fmt: skip
def test_shards_are_packed_as_asked(house: Any, lines: Lines, form: str, packing: str, suffix: str) -> None:
    house.put("a.jsonl", lines(1, 2))
    house.run(form=form, packing=packing)
    (shard,) = (house.destination / "r1").iterdir()
    assert shard.name.endswith(suffix)
    data = shard.read_bytes()
    if suffix == ".parquet":
        import io

        from pyarrow import parquet

        rows = parquet.read_table(io.BytesIO(data)).to_pylist()
    else:
        text = gzip.decompress(data) if packing == "gzip" else zstandard.ZstdDecompressor().decompress(data)
        rows = [json.loads(line) for line in text.splitlines()]
    assert [set(row) for row in rows] == [{"id", "text"}] * 2


def test_parquet_is_read(house: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    house.source.joinpath("x").mkdir()
    rows = pa.table({"id": ["1", "2"], "text": ["Dr. Emily Carter called.", "Nothing."]})
    parquet.write_table(rows, house.source / "x" / "a.parquet")
    house.put("b.parquet", b"PAR1 and nothing more")
    done = house.run()
    assert done.states == {"released": 2, "quarantined": 1}
    assert house.held_for() == ["malformed-table"]


def test_tables_stay_tables_and_a_table_nobody_told_of_is_held(house: Any) -> None:
    from incognote.formats.tables import Columns, Layout

    house.put("a.csv", "id,note\n1,Dr. Emily Carter called.\n2,Nothing.\n")
    house.put("b.csv", "id,note\n3,Dr. Emily Carter called.")
    house.put("c.csv", "other\nEmily\n")
    layout = Layout(Columns(("note",), None, None, (), ("id",), ()))
    done = house.run(layout=layout)
    assert done.states == {"released": 3, "quarantined": 1}
    (shard,) = (house.destination / "r1").glob("*.csv")
    assert shard.read_text().splitlines()[0] == "id,note"
    assert len(shard.read_text().splitlines()) == 4
    assert house.held_for() == ["schema-violation"]
    house.run(release="r2")
    assert house.held_for("r2") == ["unknown-data-type"] * 3


def test_what_cannot_be_released_is_held_under_its_key_and_comes_out_when_it_can(house: Any) -> None:
    house.put("a.jsonl", '{"id": "1", "text": broken\n{"id": "2", "dataType": "unheard-of"}\n')
    done = house.run()
    assert done.states == {"quarantined": 2}
    assert house.held_for() == ["malformed", "unknown-data-type"]
    ledger = house.ledger
    release = ledger.release("r1")
    keys = [entry.key for entry in ledger.entries(release=release.id)]
    assert ledger.requeue(release.id, keys) == 2
    assert house.run().states == {"quarantined": 2}
    assert len(house.held_for()) == 2  # in their own places, not next to them


def test_lines_of_one_huge_file_are_shared_by_ranges_and_each_is_read_once(
    build: Callable[..., Any], lines: Lines
) -> None:
    house = build(part_bytes=300, batch_records=3)
    house.put("a.jsonl", lines(*range(40)) + "\n\n" + lines(99, text="x" * 1000))
    workers = [house.worker() for _ in range(3)]

    async def all_at_once() -> Any:
        return await asyncio.gather(*(worker.run(once=True) for worker in workers))

    done = asyncio.run(all_at_once())
    assert sum(one.states["released"] for one in done) == 41
    assert len({line["id"] for line in house.lines()}) == 41
    assert house.whole()


def test_utf_16_is_not_cut_into_ranges(build: Callable[..., Any], lines: Lines) -> None:
    house = build(part_bytes=100)
    house.put("a.jsonl", ("\ufeff" + lines(*range(9))).encode("utf-16-le"))
    assert house.run().states == {"released": 9}


def test_a_stopped_worker_settles_what_it_has_and_returns_the_rest(build: Callable[..., Any], lines: Lines) -> None:
    house = build(batch_records=2, shard_records=2)
    house.put("a.jsonl", lines(*range(20)))
    stopping: list[Any] = []

    async def stop() -> None:
        stopping[0].stop()

    worker = house.worker(hooks=Hooks(settled=stop))
    stopping.append(worker)
    done = house.run(worker)
    assert 2 <= done.states["released"] < 20
    assert len(house.lines()) == done.states["released"]
    assert "claimed" not in house.counts()
    assert house.ledger.workers() == 0
    house.run()
    assert house.counts() == {"released": 20}
    assert len(house.lines()) == 20


def test_opted_out_subjects_are_refused_at_claim(house: Any) -> None:
    house.put("a.txt")
    house.put("b.txt", "Seen again.")
    made = house.made()
    asked: list[str] = []

    def refused(patients: Any) -> set[str]:
        asked.extend(patients)
        return {patient for patient in patients if patient == "p1"}

    worker = house.worker(made=made, hooks=Hooks(refused=refused))
    from incognote.files.inputs import RecordDefaults

    worker._words = RecordDefaults(patient="p1")
    assert house.run(worker).states == {"refused": 2}
    assert asked == ["p1"]
    assert not house.destination.joinpath("r1").exists()


def test_too_many_records_in_review_stop_the_run(build: Callable[..., Any], lines: Lines, tmp_path: Any) -> None:
    house = build(review_least=10, review_ceiling=0.2, shard_records=5, batch_records=5)
    policy = tmp_path / "own.toml"
    policy.write_text('name = "own"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    house.put("a.jsonl", lines(*range(40)))  # without a patient, so dates cannot be shifted
    told: list[str] = []
    with pytest.raises(ReviewCeiling, match="review_ceiling"):
        house.run(policy=str(policy), hooks=Hooks(tell=lambda event, **facts: told.append(event)))
    assert house.counts()["review"] == 10
    assert "worker.ceiling" in told
    assert house.ledger.workers() == 0


def test_facts_are_of_the_closed_vocabulary(house: Any, lines: Lines) -> None:
    from incognote.service.vocabulary import checked

    house.put("a.jsonl", lines(1))
    told: list[str] = []

    def tell(event: str, **facts: Any) -> None:
        checked(event, facts)
        told.append(event)

    house.run(hooks=Hooks(tell=tell))
    assert told == ["records.claimed", "records.committed"]


@pytest.mark.parametrize("files", [1, 6])
def test_short_texts_of_one_patient_share_a_request(house: Any, files: int) -> None:
    subject = {"reference": "Patient/1"}
    record = {"resourceType": "Observation", "status": "final", "code": {"text": "dose"}, "subject": subject}
    lines = [json.dumps({**record, "id": str(n), "note": [{"text": f"Dose {n} was taken."}]}) + "\n" for n in range(6)]
    for number in range(files):
        house.put(f"{number}.jsonl", "".join(lines[number::files]))
    model = ScriptedLLM(lambda request: "{}")
    house.run(house.worker(made=house.made(model=model, detectors=("rules", "llm"), passes=1)))
    assert house.counts() == {"released": 6}
    assert model.calls == 1


def test_an_outage_of_the_model_pauses_and_uses_up_no_try(house: Any, lines: Lines) -> None:
    from incognote.errors import ModelUnavailable

    house.put("a.jsonl", lines(*range(6)))
    away = 5

    def answer(request: Any) -> str:
        nonlocal away
        away -= 1
        if away >= 0:
            raise ModelUnavailable("away")
        return '{"PERSON": ["<<Emily Carter>>"]}'

    made = house.made(model=ScriptedLLM(answer), detectors=("rules", "llm"), model_attempts=1, passes=1)
    done = house.run(house.worker(made=made))
    assert house.counts() == {"released": 6}
    assert done.pauses >= 1
    assert all(entry.tries == 0 for entry in house.ledger.entries())
    assert len(house.lines()) == 6


def test_a_record_that_alone_meets_an_outage_is_not_waited_for_for_ever(
    build: Callable[..., Any], lines: Lines
) -> None:
    from incognote.errors import ModelUnavailable

    house = build(batch_records=2, most_tries=2)
    house.put("a.jsonl", lines(1, 2) + lines(3, text="A poisonous one by Dr. Emily Carter."))

    def answer(request: Any) -> str:
        if "poisonous" in text_of(request):
            raise ModelUnavailable("away")
        return '{"PERSON": ["<<Emily Carter>>"]}'

    made = house.made(model=ScriptedLLM(answer), detectors=("rules", "llm"), model_attempts=1, passes=1)
    worker = house.worker(made=made)

    async def run() -> Any:
        working = asyncio.create_task(worker.run(once=True))
        for number in range(200):
            await asyncio.sleep(0.05)
            if working.done():
                break
            house.put(f"more{number}.jsonl", lines(100 + number))
        return await working

    done = asyncio.run(run())
    assert done.states["released"] >= 2
    assert done.states["review"] + done.states["quarantined"] == 1


def test_the_worker_says_what_the_sdk_says(house: Any) -> None:
    note = "Dr. Emily Carter saw Mr. John Smith on 03/16/2025 at Mercy Hospital."
    house.put("a.txt", note)
    house.run()
    assert house.lines()[0]["text"] == house.made().deidentify(Item(note)).text


def test_what_a_model_took_is_told_with_each_settlement(build: Callable[..., Any], lines: Lines) -> None:
    """Each cost is reported with one settlement and not again with the next."""
    house = build(shard_records=2, batch_records=2)
    house.put("a.jsonl", lines(1, 2, 3, 4))

    def answer(request: Any) -> Reply:
        return Reply('{"PERSON": ["<<Emily Carter>>"]}', usage=Usage(input=90, output=10, calls=1, usd=0.25))

    told: list[dict[str, Any]] = []
    hooks = Hooks(tell=lambda event, **facts: told.append(facts) if event == "records.committed" else None)
    made = house.made(model=ScriptedLLM(answer), detectors=("rules", "llm"), passes=1)
    house.run(house.worker(made=made, hooks=hooks))
    assert sum(facts["released"] for facts in told) == 4
    assert len(told) >= 2
    spent = made.engine.models.budget.spent
    assert sum(facts["tokens"] for facts in told) == spent.input + spent.output > 0
    assert sum(facts["usd"] for facts in told) == pytest.approx(spent.usd)
    house.put("b.jsonl", lines(5))
    told.clear()
    house.run(house.worker(hooks=hooks, release="r2"))
    assert "tokens" not in told[0]  # without a model, there are no costs to report
