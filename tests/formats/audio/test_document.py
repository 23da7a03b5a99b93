"""Outputs of recordings: what is muted, what stays, and that a wrong output is refused."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.errors import AccountingError, MalformedRecord
from incognote.formats.audio.derived import muted_transcript
from incognote.formats.audio.document import BODY, AudioDocument
from incognote.formats.audio.hearing import Hearing, recordings_are_heard, stricter
from incognote.formats.base import TextEdit
from incognote.formats.output import rebuilt
from incognote.formats.registry import named, open_one
from incognote.schemas.choices import Voice
from incognote.speech.files import SoundFile
from incognote.speech.nouns import Heard

from . import made

RATE = made.RATE
STEREO = made.sound(channels=2)
LOSSLESS = {
    "wav": made.file(), "24 bit wav": made.file(coding="PCM_24"), "mu-law wav": made.file(coding="ULAW"),
    "float wav": made.file(coding="FLOAT"), "stereo wav": made.file(STEREO), "flac": made.file(kind="FLAC"),
}  # fmt: skip
LOSSY = {"ogg": made.file(kind="OGG"), "opus": made.file(kind="OGG", coding="OPUS"), "mp3": made.file(kind="MP3")}


@pytest.fixture(autouse=True)
def _heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard(gaps=[(5.5, 5.8)]))


def _opened(data: bytes) -> AudioDocument:
    document = open_one(data, None)[1]
    assert isinstance(document, AudioDocument)
    return document


def _change(document: AudioDocument, words: str, new: str = "[PERSON]") -> dict[str, list[tuple[int, int, str]]]:
    start = document.texts[0].content.casefold().index(words)
    return {BODY: [(start, start + len(words), new)]}


def _samples(data: bytes) -> np.ndarray:
    return np.concatenate(list(SoundFile(data).samples()))


def test_opening_a_recording_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    def listening(*_: object) -> Heard:
        raise AssertionError("heard")

    monkeypatch.setattr("incognote.formats.audio.document.heard", listening)
    for data in (*LOSSLESS.values(), *LOSSY.values()):
        _opened(data)


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_changed_word_is_silent_with_its_margins_and_all_other_samples_stay(name: str) -> None:
    document = _opened(LOSSLESS[name])
    changes = _change(document, "thompson")
    output = rebuilt(named("flac" if name == "flac" else "wav"), document, changes, {})
    before, after = _samples(document.data), _samples(output)
    [time] = document.muted(changes)
    assert (time.start, time.end) == pytest.approx((1.7, 2.7))
    start, end, fade = round(1.7 * RATE), round(2.7 * RATE), round(0.005 * RATE)
    assert not after[start:end].any()
    assert np.array_equal(after[: start - fade], before[: start - fade])
    assert np.array_equal(after[end + fade :], before[end + fade :])


@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_recording_keeps_its_length_and_is_silent_where_it_is_muted(name: str) -> None:
    document = _opened(LOSSY[name])
    output = rebuilt(named("mp3" if name == "mp3" else "ogg"), document, _change(document, "thompson"), {})
    before, after = _samples(document.data), _samples(output)
    assert len(after) == len(before)
    assert np.abs(after[round(1.8 * RATE) : round(2.6 * RATE)] / np.abs(before).max()).max() < 0.02


@pytest.mark.parametrize("margin", [0.1, 0.2])
def test_the_margin_is_a_setting(margin: float) -> None:
    with recordings_are_heard(Hearing(margin=margin)):
        document = _opened(made.file())
    [time] = document.muted(_change(document, "thompson"))
    assert (time.start, time.end) == pytest.approx((2.0 - margin, 2.4 + margin))


def test_a_gap_is_muted_like_a_word() -> None:
    document = _opened(made.file())
    token = "<human_timestamp_(00:05.50 - 00:05.80)>"
    [time] = document.muted(_change(document, token))
    assert (time.start, time.end) == pytest.approx((5.2, 6.0))  # the recording ends there


@pytest.mark.parametrize("name", ["wav", "flac", "ogg", "mp3"])
def test_an_output_that_is_not_muted_or_is_another_recording_is_refused(name: str) -> None:
    document = _opened({**LOSSLESS, **LOSSY}[name])
    changes = _change(document, "thompson")
    out = io.BytesIO()
    document.rebuild([TextEdit(BODY, *_change(document, "pressure")[BODY][0])], out)
    for wrong in (document.data, out.getvalue()):
        with pytest.raises(MalformedRecord, match=r"output|silent"):
            document.reopened(wrong, changes)
    shorter = made.file(made.sound()[:-RATE], {"ogg": "OGG"}.get(name, name.upper()))
    with pytest.raises(MalformedRecord, match="length"):
        document.reopened(shorter, changes)


def test_an_edit_of_another_text_is_refused() -> None:
    with pytest.raises(AccountingError):
        _opened(made.file()).rebuild([TextEdit("title", 0, 1, "x")], io.BytesIO())


def test_where_voices_are_removed_everything_is_silent_and_the_transcript_stays() -> None:
    with recordings_are_heard(Hearing(voice="remove")):
        document = _opened(made.file())
    changes = _change(document, "thompson")
    assert not _samples(rebuilt(named("wav"), document, changes, {})).any()
    said = muted_transcript(document, changes)
    assert said is not None
    assert "[PERSON]" in str(said.derived("text", b""))
    assert "blood pressure" in str(said.derived("text", b""))


def test_subtitles_and_json_hold_the_new_words_and_no_old_ones() -> None:
    document = _opened(made.file())
    said = muted_transcript(document, _change(document, "thompson"))
    assert said is not None
    for kind in said.kinds:
        derived = str(said.derived(kind, b""))
        assert "[PERSON]" in derived
        assert "thompson" not in derived.casefold()
        assert "timestamp" not in derived
    assert str(said.derived("srt", b"")).startswith("1\n00:00:00,500 --> 00:00:05,")
    assert str(said.derived("vtt", b"")).startswith("WEBVTT\n\n00:00:00.500 --> 00:00:05.")
    data = json.loads(said.derived("json", b""))
    assert data["muted"] == [[pytest.approx(1.7), pytest.approx(2.7)]]
    [replaced] = [each for line in data["lines"] for each in line if each["replaced"]]
    assert (replaced["start"], replaced["end"]) == (2.0, 2.4)


def test_nothing_heard_goes_to_review(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: replace(made.heard(), words=(), gaps=()))
    document = _opened(made.file())
    assert not document.texts
    assert [reason.code for reason in document.remarks] == ["poor-hearing"]


DOCUMENT = AudioDocument(made.file())
DOCUMENT.__dict__["transcript"] = None


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_all_seconds_are_kept_muted_or_held(drawn: st.DataObject) -> None:
    from incognote.formats.audio.transcript import transcript

    DOCUMENT.__dict__["transcript"] = transcript(made.heard(gaps=[(5.5, 5.8)]), "en")
    text = DOCUMENT.transcript.text
    ends = sorted(drawn.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    changes = {BODY: [(a, b, "x") for a, b in zip(ends[::2], ends[1::2], strict=False)]}
    seconds = DOCUMENT.accounted(changes, released=drawn.draw(st.booleans()))
    assert seconds.kept + seconds.muted + seconds.held == pytest.approx(seconds.total)
    assert min(seconds.kept, seconds.muted, seconds.held) >= 0
    if not seconds.held:
        out = io.BytesIO()
        DOCUMENT.rebuild([TextEdit(BODY, *change) for change in changes[BODY]], out)
        silent = (_samples(out.getvalue()) == 0).mean() * seconds.total
        assert silent == pytest.approx(seconds.muted, abs=0.01)


def test_disguised_voices_differ_and_muted_parts_are_silent() -> None:
    with recordings_are_heard(Hearing(voice="disguise", seed=b"secret")):
        document, other = _opened(made.file()), _opened(made.file(made.sound(5.9)))
    changes = _change(document, "thompson")
    output = rebuilt(named("wav"), document, changes, {})
    before, after = _samples(document.data), _samples(output)
    assert len(before) == len(after)
    assert not after[round(1.7 * RATE) : round(2.7 * RATE)].any()
    assert np.abs(after[: 1 * RATE].astype(int) - before[: 1 * RATE]).mean() > 100
    assert document._seed != other._seed


@pytest.mark.parametrize(("one", "two", "left"), [("keep", "remove", "remove"), ("disguise", "keep", "disguise")])
def test_of_policy_and_settings_the_stricter_one_decides_on_voices(one: Voice, two: Voice, left: Voice) -> None:
    assert stricter(one, two) == left
