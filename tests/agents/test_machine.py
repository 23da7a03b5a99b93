"""The machine: when any node fails, the record is quarantined and the reason contains no value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier, Item, NotReleased
from incognote.agents import graph, nodes
from incognote.agents.nodes import Progress

NOTE = "Mrs. Adaeze Okonkwo, 66, was seen by Dr. Wieczorek on 03/09/2025."


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    """One instance for the module: building the lexicon takes longer than processing a note."""
    return Deidentifier()


def test_a_note_goes_all_the_way(deid: Deidentifier) -> None:
    result = deid.deidentify(NOTE, id="n-1")
    assert result.id == "n-1"
    assert result.verdict.released
    assert result.text == "Mrs. [PERSON], [AGE], was seen by Dr. [PERSON] on [DATE]."
    assert [(r.span.text, result.text[r.out_start : r.out_end]) for r in result.replacements] == [
        ("Adaeze Okonkwo", "[PERSON]"),
        ("66", "[AGE]"),
        ("Wieczorek", "[PERSON]"),
        ("03/09/2025", "[DATE]"),
    ]


def test_the_manifest_says_what_decided_and_holds_no_phi(deid: Deidentifier) -> None:
    manifest = deid.deidentify(NOTE, id="Okonkwo", patient="Okonkwo").manifest
    assert manifest["policy"] == {"name": "strict", "version": deid.engine.policy.version, "label": None}
    assert manifest["key"] == {"id": deid.engine.keyring.id, "check": deid.engine.keyring.check, "persistent": False}
    assert manifest["counts"]["replaced"] == 4
    assert manifest["versions"]["detector:rules"] == deid.engine.detection.detectors[0].version
    assert "Okonkwo" not in str(manifest)


@pytest.mark.parametrize("name", graph.WAY)
async def test_a_bug_in_any_node_quarantines_the_record(
    name: str, deid: Deidentifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(at: Progress) -> None:
        raise ValueError(f"bug while holding {at.item.content}")

    passed: list[str] = []

    def watched(name: str) -> Any:
        async def step(at: Progress) -> None:
            passed.append(name)

        return nodes.guarded(step)

    broken.__name__ = name
    for after in graph.WAY[graph.WAY.index(name) + 1 :]:
        monkeypatch.setattr(nodes, after, watched(after))
    monkeypatch.setattr(nodes, name, nodes.guarded(broken))
    at = Progress(Item(NOTE), deid.engine, deid.engine.policy)
    await graph.machine.__wrapped__().ainvoke({}, context=at)
    assert passed == []
    assert at.result is not None
    assert at.result.verdict.outcome == "quarantine"
    assert [str(r) for r in at.result.verdict.reasons] == [f"internal-error: ValueError in {name}"]
    with pytest.raises(NotReleased):
        at.result.output(even_if_unreleased=True)


@pytest.mark.parametrize("length", [10, 5_000])
def test_a_bug_in_the_detectors_quarantines_short_and_long_texts(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, texts: Any, known: Any = ()) -> Any:
        raise ValueError("bug while holding a note")

    deid = Deidentifier()
    monkeypatch.setattr(type(deid.engine.detection), "detect", broken)
    result = deid.deidentify("x" * length)
    assert result.verdict.outcome == "quarantine"
    assert [str(r) for r in result.verdict.reasons] == ["internal-error: ValueError in detect"]


def test_a_known_identifier_left_in_the_output_means_quarantine(monkeypatch: pytest.MonkeyPatch) -> None:
    deid = Deidentifier()
    monkeypatch.setattr(type(deid.engine.detection), "detect", lambda self, texts, known=(): [[] for _ in texts])
    result = deid.deidentify("Bed 4 asks for the Okonkwo file.", known={"name": "Adaeze Okonkwo"})
    assert result.verdict.outcome == "quarantine"
    assert [str(r) for r in result.verdict.reasons] == ["known-identifier-left: PERSON"]
    with pytest.raises(NotReleased):
        _ = result.text


def test_a_known_identifier_is_replaced_where_no_rule_would_see_it(deid: Deidentifier) -> None:
    text = "pt zorrquill doing well, code qz-77 seen"
    assert deid.deidentify(text, known={"name": "Zorrquill", "mrn": "QZ77X"}).text.startswith("pt [PERSON] doing")
    assert deid.deidentify("ref qz 77x", known={"mrn": "QZ77X"}).text == "ref [MEDICAL_RECORD_NUMBER]"


def test_a_policy_keyed_per_patient_needs_one(tmp_path: Path) -> None:
    shifting = tmp_path / "shift.toml"
    shifting.write_text('name = "shift"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    deid = Deidentifier(shifting, key="6b" * 32)
    held = deid.deidentify(NOTE)
    assert held.verdict.outcome == "review"
    assert [r.code for r in held.verdict.reasons] == ["no-subject"]
    one, again = (deid.deidentify(NOTE, patient="p-1").text for _ in range(2))
    assert one == again
    assert "03/09/2025" not in one
    assert "[DATE]" not in one


def leaving(doubt: str) -> Callable[..., list[list[Any]]]:
    """A detector that has low confidence in one word."""
    from incognote import Span

    def detect(self: Any, texts: Any, known: Any = ()) -> list[list[Span]]:
        return [
            [Span(t, at, at + len(doubt), "PERSON", 0.45, ("rules:test",))]
            if (at := t.content.find(doubt)) >= 0
            else []
            for t in texts
        ]

    return detect


def test_a_doubt_means_review_and_widening_masks_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "Vitals stable.\r\nSpoke with Quillfeather today.\r\nHome tomorrow."
    deid = Deidentifier()
    monkeypatch.setattr(type(deid.engine.detection), "detect", leaving("Quillfeather"))
    held = deid.deidentify(text)
    assert held.verdict.outcome == "review"
    assert [str(r) for r in held.verdict.reasons] == ["doubtful: PERSON"]
    widening = tmp_path / "widen.toml"
    widening.write_text('name = "widen"\nextends = "strict"\non_review = "widen"\n')
    widened = Deidentifier(widening).deidentify(text)
    assert widened.text == "Vitals stable.\r\n[PERSON]\r\nHome tomorrow."
    assert widened.manifest["counts"]["widened"] == 1


def test_a_text_beyond_the_limit_is_quarantined_not_cut() -> None:
    result = Deidentifier(max_characters=10).deidentify(NOTE)
    assert result.verdict.outcome == "quarantine"
    assert "max_characters" in str(result.verdict.reasons[0])


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "—"])
def test_a_text_that_can_hold_nothing_comes_out_as_it_went_in(deid: Deidentifier, text: str) -> None:
    assert deid.deidentify(text).text == text


def test_the_graph_can_be_printed_offline() -> None:
    drawing = graph.drawing()
    for name in (*graph.WAY, "widen", "result"):
        assert name in drawing


def test_nothing_is_persisted() -> None:
    assert graph.machine().checkpointer is None


def test_a_hashed_field_forfeits_the_safe_harbor_label() -> None:
    deid = Deidentifier("safe-harbor", key="6b" * 32)
    plain = {"dataType": "clinicalRecord", "note": "Seen on 03/09/2025."}
    assert deid.deidentify(plain).manifest["policy"]["label"] == "safe-harbor"
    hashed = deid.deidentify({**plain, "MRN": "77120943"})
    assert hashed.manifest["policy"]["label"] is None
    assert "77120943" not in hashed.output(even_if_unreleased=True)


def test_a_bug_of_the_machine_itself_quarantines_the_record_and_ends_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = graph.machine

    class Broken:
        async def ainvoke(self, *_: Any, context: Progress, **__: Any) -> None:
            raise ValueError(f"poison of {context.item.content}")

    calls = iter([Broken(), real(), real()])
    monkeypatch.setattr(graph, "machine", lambda **words: next(calls))
    first, *others = Deidentifier(concurrency=1).batch([NOTE] * 3)
    assert first.verdict.outcome == "quarantine"
    assert [str(reason) for reason in first.verdict.reasons] == ["internal-error: ValueError in the machine"]
    assert [result.verdict.outcome for result in others] == ["release", "release"]


@pytest.mark.parametrize("gap", [" ", "\xa0", "\u202f", "  ", "\t"])
def test_a_title_before_a_replaced_name_stays_whatever_is_between_them(deid: Deidentifier, gap: str) -> None:
    assert deid.deidentify(f"Dear Dr.{gap}Achterberg,\n").text == f"Dear Dr.{gap}[PERSON],\n"
