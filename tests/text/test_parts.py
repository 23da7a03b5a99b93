"""Large texts are read in parts and, after edits, only around the changes: just enough to give the same result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier, Span, Text
from incognote.agents import audit
from incognote.detectors.known import KnownDetector
from incognote.detectors.rules import RulesDetector
from incognote.nouns import Known
from incognote.text import parts

NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"
small_texts = st.text(alphabet="ab \n\r", max_size=200)


@given(small_texts)
def test_every_offset_is_in_one_part_and_what_is_shorter_than_the_margin_is_whole_in_it(content: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("LARGE", 1), ("PART", 30), ("MARGIN", 10), ("_LINE", 4)):
            patched.setattr(parts, name, value)
        made = list(parts.parts(content))
    assert all(content.startswith(part.content, part.first) for part in made)
    assert all(len(part.content) <= 30 + 2 * (10 + 4) for part in made)
    for at in range(len(content)):
        (part,) = (part for part in made if part.owns(at - part.first))
        assert content[max(0, at - 6) : at + 6] in part.content


@given(st.text(max_size=50))
def test_a_text_of_common_length_is_one_part(content: str) -> None:
    assert list(parts.parts(content)) == [(content, 0, 0, len(content))]


def test_in_parts_the_same_is_found_as_in_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    text = Text("\n\n".join(notes[:40]))
    known = KnownDetector([Known("PATIENT", "Dennis R. Long"), Known("TELEPHONE_NUMBER", "(330) 555-0142")])
    whole = {(s.start, s.end) for s in RulesDetector().detect([text])[0] if s.score >= 0.5}
    sought = known.detect([text])
    monkeypatch.setattr(parts, "LARGE", 1)
    assert known.detect([text]) == sought
    found = {(s.start, s.end) for s in RulesDetector().detect([text])[0] if s.score >= 0.5}
    assert len(found & whole) > 0.99 * len(found | whole)  # a name also supports its repetitions in another part


@given(small_texts, st.lists(st.tuples(st.integers(0, 199), st.integers(0, 20)), max_size=6))
def test_windows_hold_every_change_with_its_surroundings(content: str, places: list[tuple[int, int]]) -> None:
    changed = [(at, min(at + length, len(content))) for at, length in places if at < len(content)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "MARGIN", 10)
        patched.setattr(parts, "_LINE", 4)
        made = parts.windows(content, changed)
    assert all(stop < start for (_, stop), (start, _) in pairwise(made))
    for start, end in changed:
        low, high = max(0, start - 10), min(len(content), end + 10 - 4)
        assert any(a <= low and high <= b for a, b in made)


def test_windows_give_the_answer_of_a_whole_reading_and_read_less(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    text = "\n\n".join(notes[:40])
    deid = Deidentifier(key="6b" * 32, detectors=("rules",))
    detect = deid.engine.detection.detect
    read: list[int] = []

    def counted(texts: Sequence[Text], known: Any = ()) -> list[list[Span]]:
        read.append(sum(map(len, texts)))
        return detect(texts, known)

    monkeypatch.setattr(deid.engine.detection, "detect", counted)
    answers, lengths = [], []
    for huge in (10**9, 1_000):
        monkeypatch.setattr(audit, "LARGE", huge)
        result = deid.deidentify(text)
        answers.append((result.output(even_if_unreleased=True), result.verdict, result.manifest))
        lengths.append(read[-1])
        read.clear()
    assert answers[0] == answers[1]
    assert answers[0][2]["counts"]["mended"] > 0
    assert lengths[1] < lengths[0] / 2


def test_a_finding_beside_a_change_has_the_whole_text_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word is visible only after the previous one is gone, as a masked name reveals the next one."""
    words = ("quillfeather", "okonkwo", "wieczorek")

    def detect(self: Any, texts: Sequence[Text], known: Any = ()) -> list[list[Span]]:
        found = []
        for text in texts:
            word = next((w for w in words if w in text.content), "\n\n\n")
            places = [i for i in range(len(text)) if text.content.startswith(word, i)]
            found.append([Span(text, i, i + len(word), "PERSON", 0.9, ("test",)) for i in places])
        return found

    deid = Deidentifier()
    monkeypatch.setattr(type(deid.engine.detection), "detect", detect)
    monkeypatch.setattr(audit, "LARGE", 1_000)
    text = f"{' and '.join(words)}\n" + "nothing of note today\n" * 400 + f"{words[2]} alone\n"
    result = deid.deidentify(text)
    assert result.verdict.released
    assert result.manifest["counts"]["mended"] == 3
    assert words[2] not in result.text


@given(st.text(alphabet="ab \n\r", max_size=200))
def test_sections_are_the_text_and_end_in_a_blank_line(content: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "LARGE", 1)
        patched.setattr(parts, "_SECTION", 20)
        made = [content[start:end] for start, end in parts.sections(content)]
    assert "".join(made) == content
    for section in made[:-1]:
        assert len(section) >= 20
        assert section.rstrip(" \t\r\n").count("\n") < section.count("\n") - 1
