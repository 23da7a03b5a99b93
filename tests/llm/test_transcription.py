"""A recognizer behind a server: what is sent, the rules of egress, tries, and replies that cannot be used."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from incognote.errors import EgressRefused, ModelRejected, ModelUnavailable, SettingError
from incognote.llm.agreements import Agreements, AgreementTerms
from incognote.llm.opening import ModelSpec, open_recognizer
from incognote.llm.vendors.transcription import words_of
from incognote.speech.nouns import RATE, HeardWord
from incognote.testing import LocalServer, Trouble

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

SOUND = (np.arange(2 * RATE) % 200 * 50).astype(np.int16)
WORDS = [HeardWord("john", 0.2, 0.5, 0.9), HeardWord("harper", 0.5, 1.1, 0.4)]
VENDORS = ["openai/whisper-1", "whispercpp/base"]


def spec(server: LocalServer, home: Path, model: str = VENDORS[0], **more: Any) -> ModelSpec:
    settings = {"api_base": server.url, "api_key": server.api_key, "attempts": 1, "timeout": 20.0, **more}
    return ModelSpec(model, home, **settings)


@pytest.mark.parametrize("model", VENDORS)
def test_the_sound_is_sent_as_it_is_and_words_come_back_with_times(model: str, tmp_path: Path) -> None:
    got: list[tuple[Samples, str]] = []

    def transcribe(sound: Samples, language: str) -> list[HeardWord]:
        got.append((sound, language))
        return WORDS

    with LocalServer({}, transcribe=transcribe) as server:
        words = open_recognizer(spec(server, tmp_path, model)).hear(SOUND, "es")

    assert [(word.text, word.start, word.end) for word in words] == [("john", 0.2, 0.5), ("harper", 0.5, 1.1)]
    assert len(got) == 1
    assert np.array_equal(got[0][0], SOUND)
    assert got[0][1] == "es"


def test_confidence_is_the_words_probability_or_that_of_its_segment(tmp_path: Path) -> None:
    with LocalServer({}, transcribe=lambda *_: WORDS) as server:
        cpp = open_recognizer(spec(server, tmp_path, "whispercpp/base")).hear(SOUND, "en")
        openai = open_recognizer(spec(server, tmp_path)).hear(SOUND, "en")

    assert [word.confidence for word in cpp] == [0.9, 0.4]
    assert [word.confidence for word in openai] == [pytest.approx(np.exp(-0.2))] * 2


def test_the_name_and_tags_of_a_file_are_not_sent(tmp_path: Path) -> None:
    with LocalServer({}, transcribe=lambda *_: WORDS) as server:
        open_recognizer(spec(server, tmp_path)).hear(SOUND, "en")
        [call] = server.log

    assert b'filename="sound.wav"' in call.body
    content = call.body.split(b"audio/wav\r\n\r\n")[1].split(b"\r\n--")[0]
    with wave.open(io.BytesIO(content)) as file:
        assert len(content) == 44 + 2 * file.getnframes()


def test_an_unavailable_server_is_asked_again(tmp_path: Path) -> None:
    replies: list[Trouble | list[HeardWord]] = [
        Trouble("status", status=503, retry_after=0.01), Trouble("drop"), Trouble("cut"), WORDS
    ]  # fmt: skip
    with LocalServer({}, transcribe=lambda *_: replies.pop(0)) as server:
        words = open_recognizer(spec(server, tmp_path, attempts=4)).hear(SOUND, "en")

    assert [word.text for word in words] == ["john", "harper"]
    assert replies == []


@pytest.mark.parametrize(
    ("trouble", "error", "says"),
    [
        (Trouble("status", status=500), ModelUnavailable, "status 500"),
        (Trouble("status", status=400), ModelRejected, "status 400"),
        (Trouble("status", status=401), ModelRejected, "API key"),
        (Trouble("status", status=307), EgressRefused, "redirect"),
        (Trouble("drop"), ModelUnavailable, "connection failed"),
        (Trouble("hang", seconds=30), ModelUnavailable, "within 0.5 s|before the timeout"),
    ],
)
def test_a_failure_has_a_remedy_and_nothing_of_the_reply(
    trouble: Trouble, error: type[Exception], says: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(0), LocalServer({}, transcribe=lambda *_: trouble, echo=True) as server:
        recognizer = open_recognizer(spec(server, tmp_path, timeout=0.5 if trouble.kind == "hang" else 20.0))
        with pytest.raises(error, match=says) as caught:
            recognizer.hear(SOUND, "en")

    assert "RIFF" not in str(caught.value) + caplog.text
    assert caught.value.__cause__ is None


def test_words_without_times_are_refused_since_they_could_not_be_muted() -> None:
    reply: dict[str, Any] = {  # as the models gpt-4o do
        "text": "My name is Harper.", "segments": [{"start": 0, "end": 2, "text": "…"}]}
    with pytest.raises(ModelRejected, match="without times") as caught:
        words_of(reply, 2.0)
    assert "Harper" not in str(caught.value)

    some = {**reply, "words": [{"word": "My", "start": 0.1, "end": 0.3}]}
    with pytest.raises(ModelRejected, match="without times"):
        words_of(some, 2.0)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"error": "x"},
        {"text": 5},
        {"text": "a", "words": [{"word": "a"}]},
        {"text": "a", "words": [{"word": "a", "start": float("nan"), "end": 1}]},
    ],
)
def test_a_reply_of_another_form_is_no_transcription(content: Any) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        words_of(json.loads(json.dumps(content)), 2.0)


def test_times_outside_the_sound_and_overlaps_are_cut() -> None:
    reply = {
        "text": "a b c",
        "words": [
            {"word": "b", "start": 0.5, "end": 1.5}, {"word": "a", "start": -1, "end": 0.7},
            {"word": "c", "start": 1.2, "end": 9},
        ],
    }  # fmt: skip

    assert [(word.text, word.start, word.end) for word in words_of(reply, 2.0)] == [
        ("a", 0.0, 0.7), ("b", 0.7, 1.5), ("c", 1.5, 2.0)
    ]  # fmt: skip


def test_a_server_elsewhere_needs_https_an_agreement_and_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EgressRefused, match="https"):
        open_recognizer(ModelSpec("openai/whisper-1", tmp_path, api_base="http://speech.example.org/v1"))

    there = ModelSpec("openai/whisper-1", tmp_path, api_base="https://speech.example.org/v1")
    with pytest.raises(EgressRefused, match="no agreement"):
        open_recognizer(there)

    terms = AgreementTerms("BAA 7", 0)
    Agreements(tmp_path).record("openai/whisper-1", "https://speech.example.org/v1", by="A. Officer", terms=terms)
    with pytest.raises(SettingError, match="api_key"):
        open_recognizer(there)


def test_another_vendor_and_fallbacks_are_refused(tmp_path: Path) -> None:
    local = ModelSpec("openai/whisper-1", tmp_path, api_base="http://127.0.0.1:9/v1")
    with pytest.raises(SettingError, match="whispercpp/NAME"):
        open_recognizer(ModelSpec("anthropic/claude", tmp_path, api_base="http://127.0.0.1:9/v1"))
    with pytest.raises(SettingError, match="fallbacks"):
        open_recognizer(ModelSpec("openai/a", tmp_path, api_base="http://127.0.0.1:9/v1", fallbacks=(local,)))


def test_a_permit_stops_a_request_before_it_is_sent(tmp_path: Path) -> None:
    def refuse() -> None:
        raise SettingError("stopped")

    with LocalServer({}, transcribe=lambda *_: WORDS) as server:
        with pytest.raises(SettingError, match="stopped"):
            open_recognizer(spec(server, tmp_path, permit=refuse)).hear(SOUND, "en")
        assert server.log == []
