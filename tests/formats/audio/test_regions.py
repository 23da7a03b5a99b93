"""Times of a recording that a person mutes without words."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.agents.item import Item, packed, unpacked
from incognote.errors import MalformedRecord
from incognote.formats.audio.derived import muted_transcript
from incognote.formats.audio.document import BODY, AudioDocument
from incognote.formats.base import UNWORDED
from incognote.formats.output import rebuilt
from incognote.formats.registry import named
from incognote.nouns import MutedInterval, PageBox
from incognote.speech.files import SoundFile
from incognote.speech.nouns import Interval

from . import made

WAV = made.file()


@pytest.fixture(autouse=True, scope="module")
def _heard() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard())
        yield


def document(*regions: MutedInterval) -> AudioDocument:
    return AudioDocument(WAV).with_regions(regions)


def all_of(one: AudioDocument, new: str = "[PERSON]") -> dict[str, list[tuple[int, int, str]]]:
    """Return the changes that replace the regions of a recording."""
    return {BODY: [(start, end, new) for start, end, _ in one.marks]}


def test_each_region_is_a_character_after_the_text_and_a_finding_of_a_person() -> None:
    plain, more = document(), document(MutedInterval(1, 2, "PERSON"), MutedInterval(3, 4, "DATE"))
    assert more.texts[0].content == plain.texts[0].content + f"\n{UNWORDED}\n{UNWORDED}"
    found = [each for each in more.findings if each.source == "person"]
    assert [(more.texts[0].content[each.start : each.end], each.type) for each in found] == [
        (UNWORDED, "PERSON"), (UNWORDED, "DATE"),
    ]  # fmt: skip


@given(st.integers(0, 5_900), st.integers(50, 3_000))
def test_a_region_is_muted_exactly_and_all_other_samples_stay(start: int, length: int) -> None:
    end = min(start + length, 6_000)
    one = document(MutedInterval(start / 1000, end / 1000, "PERSON"))
    assert one.muted(all_of(one)) == [Interval(start / 1000, end / 1000)]
    after = np.concatenate(list(SoundFile(rebuilt(named("wav"), one, all_of(one), {})).samples()))
    first, last, fade = start * 16, end * 16, 80
    assert not after[first:last].any()
    before = made.sound()
    assert np.array_equal(after[: max(0, first - fade)], before[: max(0, first - fade)])
    assert np.array_equal(after[last + fade :], before[last + fade :])


def test_a_region_that_the_policy_keeps_is_not_muted() -> None:
    assert document(MutedInterval(1, 2, "PERSON")).muted({}) == []


def test_words_in_a_region_are_left_out_of_the_transcripts() -> None:
    one = document(MutedInterval(2.05, 2.4, "PERSON"))  # within "thompson"
    muted = muted_transcript(one, all_of(one))
    assert muted is not None
    words = str(muted.derived("text", b""))
    assert "thompson" in str(muted_transcript(document(), {}).derived("text", b"")).lower()  # type: ignore[union-attr]  # it is a recording
    assert "thompson" not in words.lower()
    assert "[PERSON]" in words
    told = json.loads(muted.derived("json", b""))
    assert told["muted"] == [[2.05, 2.4]]
    assert {"start": 2.05, "end": 2.4, "text": "[PERSON]", "replaced": True} in told["lines"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        MutedInterval(5, 6.5, "PERSON"), MutedInterval(2, 2, "PERSON"), MutedInterval(-1, 2, "PERSON"),
        MutedInterval(1, 2, "NO_TYPE"), PageBox(1, 0, 0, 9, 9, "SIGNATURE"),
    ],
)  # fmt: skip
def test_a_region_that_does_not_fit_is_refused(wrong: MutedInterval) -> None:
    with pytest.raises(MalformedRecord, match=r"^regions: "):
        document(wrong)


def test_what_was_heard_and_the_regions_are_the_same_after_they_were_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    before = document()
    readings = before.readings()
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: pytest.fail("it is heard again"))
    again = AudioDocument(WAV).with_readings(readings)
    assert (again.transcript, again.texts, again.remarks) == (before.transcript, before.texts, before.remarks)
    item = Item(WAV, regions=(MutedInterval(1, 2, "PERSON", 1.0, ("person",)), PageBox(1, 0, 0, 9, 9, "STAMP")))
    assert unpacked(json.loads(json.dumps(packed(item)))).regions == item.regions
