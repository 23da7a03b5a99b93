"""Forgetting a subject: what each store deletes, what it reports as remaining, and that other subjects' data stays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from incognote.agents.item import Item
from incognote.errors import SettingError
from incognote.files.quarantine import Contents, Quarantine
from incognote.keys import Keyring
from incognote.llm.recording import Recording
from incognote.nouns import Reason, Text, patient_scope
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IdentityPlace, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.service.audit import AuditLog, entries
from incognote.service.optouts import OptOuts
from incognote.service.recall import ForgetReceipt, Forgetter, unknown
from incognote.service.review import ReviewCase, ReviewQueue

KEY = Keyring(bytes(range(32)))
WHOM, OTHER = "Zebulon-7712", "Okonkwo-1"


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[SurrogateIndex]:
    """An index with the surrogates of two patients."""
    async with await open_index(f"sqlite:///{tmp_path / 'index.db'}", KEY, create=True) as made:
        for patient in (WHOM, OTHER):
            place = IdentityPlace("default", patient_scope(patient), "PERSON")
            whole = f"Surrogate of {len(patient)}"
            await made.claim(SurrogateProposal(place, "PATIENT", (patient.split("-")[0],), {"full": whole}, whole))
        yield made


def recording(tmp_path: Path) -> Recording:
    """Three replies. Two contain the subject's name, one of them escaped in JSON inside JSON."""
    made = Recording(tmp_path / "answers", KEY)
    made.put("a", json.dumps({"text": json.dumps({"PERSON": ["Zoë Quackenbosh"]})}).encode())
    made.put("b", '{"text": "zoë quackenbosh came"}'.encode())
    made.put("c", b'{"text": "Okonkwo came"}')
    return made


def quarantine(tmp_path: Path) -> Quarantine:
    """A quarantine with one record of each patient."""
    made = Quarantine(tmp_path / "held", KEY)
    for n, patient in enumerate((WHOM, OTHER), start=1):
        made.put(Contents(b"a note", {"patient": patient}), outcome="quarantine", reasons=[Reason("malformed")],
                 source="s", position=n, kind="text")  # fmt: skip
    return made


def reviews(database: str) -> ReviewQueue:
    """A review queue with one record of each patient."""
    made = ReviewQueue(database, KEY)
    for patient in (WHOM, OTHER):
        text = Text(f"A note of {patient}.")
        item = Item(text.content, patient=patient)
        case = ReviewCase(item, (text,), reasons=(Reason("doubtful"),), policy="strict 1")
        made.put(f"key of {len(patient)}", "r1", case)
    return made


async def test_every_store_deletes_what_is_the_subjects_and_nothing_else(
    tmp_path: Path, database: str, index: SurrogateIndex
) -> None:
    answers, held, queue = recording(tmp_path), quarantine(tmp_path), reviews(database)
    optouts, audit = OptOuts(database, KEY), AuditLog(tmp_path / "audit", KEY)
    forgetter = Forgetter(
        audit, optouts, reviews=queue, quarantines=[held], index=index, recording=answers
    )
    receipts = {one.store: one for one in await forgetter.forget(WHOM, "Ada", ["Zoë Quackenbosh", "x"])}
    counts = {store: (one.found, one.deleted) for store, one in receipts.items()}
    assert counts.pop("index")[1] >= 2
    assert counts == {"opt-outs": (0, 0), "review": (1, 1), "quarantine": (1, 1), "recording": (2, 2)}
    assert [entry.facts.get("store") for entry in entries(tmp_path / "audit") if entry.event == "forget.store"] == list(
        receipts
    )
    assert {store: one.after for store, one in receipts.items() if one.after} == {"opt-outs": 1}
    assert not any(one.fault for one in receipts.values())
    assert optouts.refused([WHOM, OTHER, f" {WHOM.upper()}"]) == {WHOM, f" {WHOM.upper()}"}
    assert len(queue.list()) == len(list(held.items())) == len(answers) == 1
    assert answers.get("c") is not None
    assert (await index.stats()).identities == {("default", "PERSON"): 1}

    again = {one.store: one for one in await forgetter.forget(WHOM, "Ada")}
    assert all(one.deleted == 0 for one in again.values())
    assert unknown(list(again.values()))
    written = "".join(path.read_text() for path in (tmp_path / "audit").iterdir())
    assert "Zebulon" not in written + str(receipts) + str(again)
    for opened in (answers, queue, optouts):
        opened.close()


async def test_stores_that_are_not_named_give_no_receipt(tmp_path: Path) -> None:
    optouts = OptOuts(f"sqlite:///{tmp_path / 'service.db'}", KEY)
    done = await Forgetter(AuditLog(tmp_path / "audit", KEY), optouts).forget(WHOM, "Ada")
    assert [receipt.store for receipt in done] == ["opt-outs"]
    assert isinstance(done[0], ForgetReceipt)


def test_a_plain_recording_is_not_purged(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="encrypted"):
        Recording(tmp_path / "plain.jsonl", plain=True).purge(["x"])


def test_what_was_purged_is_not_in_the_file(tmp_path: Path) -> None:
    made = recording(tmp_path)
    size = len(made)
    assert made.purge(["nobody"]) == 0
    assert made.purge(["QUACKENBOSH"]) == 2
    assert len(made) == size - 2
    made.close()
    opened = Recording(tmp_path / "answers", KEY, create=False)
    assert (opened.get("a"), opened.get("b")) == (None, None)
    opened.close()
