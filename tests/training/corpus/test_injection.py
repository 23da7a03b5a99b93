"""Real prose: its identifiers become slots or are removed, and synthetic ones are inserted."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from incognote.errors import SettingError
from incognote_training.corpus.grammar import assemble, expand
from incognote_training.corpus.injection import Source
from incognote_training.corpus.scene import Scene

pytest.importorskip("faker", reason="the generator draws names from Faker: pip install 'incognote[distill]'")

NOTE = (
    "HISTORY OF PRESENT ILLNESS\n\nMartha Collins is a 50-year-old female who presents with knee pain. "
    "She was seen by Dr. Gutierrez. The patient denies fever. Her husband brought her to the emergency room. "
    "Her phone number is 555-0148-22. She moved from Eastchester. Her mother had it at age 52. "
    "Ms. Collins feels well. Her knee is stable."
)
TALK = "[doctor] hi , martha . how are you ?\n[patient] i am fine . my knee hurts ."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    row = {"id": "a", "note": NOTE, "dialogue": TALK}
    (tmp_path / "acibench_notes_dialogues.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


def drawn(source: Source, talk: bool) -> list[tuple[str, list[tuple[str, str]]]]:
    made = []
    for seed in range(60):
        random = Random(seed)
        scene = Scene(random, frozenset("F"))
        template = source(random, "F", talk)
        assert template is not None
        text, spans = assemble(expand(template, random, scene.fill))
        made.append((text, [(text[a:b], kind) for a, b, kind in spans]))
    return made


def test_what_the_notes_held_is_gone(folder: Path) -> None:
    texts = [text for text, _ in drawn(Source(folder), False)]
    for word in (
        "Martha",
        "Collins",
        "Gutierrez",
        "50-year-old female who presents with knee pain. She was seen by Dr. G",
    ):
        assert not any(word in text for text in texts)
    for doubtful in ("555", "Eastchester"):
        assert not any(doubtful in text for text in texts)
    assert any("knee is stable" in text for text in texts)


def test_ours_came_in_with_spans(folder: Path) -> None:
    kinds = {kind for _, spans in drawn(Source(folder), False) for _, kind in spans}
    assert {"PATIENT", "AGE", "CLINICIAN", "RELATIVE", "HOSPITAL"} <= kinds


def test_a_dialogue_loses_the_name_in_small_letters(folder: Path) -> None:
    found = drawn(Source(folder), True)
    assert not any("martha" in text.lower() for text, _ in found)
    assert any(kind == "PATIENT" for _, spans in found for _, kind in spans)


def test_there_is_no_prose_for_another_sex(folder: Path) -> None:
    assert Source(folder)(Random(1), "M", False) is None


def test_a_folder_without_prose_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="prose"):
        Source(tmp_path)
