"""A spoken dialogue from its bytes to a muted recording, with the recognizer that is part of the extra `audio`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from incognote import Deidentifier
from incognote.nouns import Result
from incognote.speech.files import SoundFile

WORDS = "my name is doctor smith. the patient was born on march third nineteen sixty two. his blood pressure is high."


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    if shutil.which("flite") is None:
        pytest.skip("the program flite is not installed")
    file = tmp_path_factory.mktemp("speech") / "visit.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", WORDS, "-o", str(file)], check=True, timeout=60)
    return file.read_bytes()


@pytest.fixture(scope="module")
def result(recording: bytes) -> Result:
    with Deidentifier() as deid:
        return deid.deidentify(recording, media_type="audio/wav")


def test_names_and_dates_are_muted_and_clinical_words_are_kept(recording: bytes, result: Result) -> None:
    assert result.verdict.released
    before, after = (np.concatenate(list(SoundFile(data).samples()))[:, 0] for data in (recording, result.data))
    assert len(before) == len(after)
    rate = SoundFile(recording).rate
    for each in result.intervals:
        assert not after[round(each.start * rate) + 1 : round(each.end * rate) - 1].any()
    assert {"BIRTH_DATE_TIME", "CLINICIAN"} <= {each.type for each in result.intervals}
    pressure = slice(round(0.8 * len(after)), round(0.95 * len(after)))
    assert np.array_equal(after[pressure], before[pressure])


def test_the_transcripts_hold_no_identifier(result: Result) -> None:
    for kind in ("text", "srt", "vtt", "json"):
        words = str(result.derived(kind)).casefold()
        assert "smith" not in words
        assert "1962" not in words
        assert "pressure" in words


def test_no_identifier_is_in_the_manifest_or_the_repr(result: Result) -> None:
    for shown in (repr(result), json.dumps(dict(result.manifest), default=str), repr(result.intervals)):
        assert "smith" not in shown.casefold()


def test_an_empty_recording_and_a_damaged_one_are_not_released(tmp_path: Path) -> None:
    from . import made

    with Deidentifier() as deid:
        silent = deid.deidentify(made.file(np.zeros((16_000, 1), np.int16)), media_type="audio/wav")
        cut = deid.deidentify(made.file()[:3000], media_type="audio/wav")
    assert [reason.code for reason in silent.verdict.reasons] == ["poor-hearing"]
    assert cut.verdict.outcome == "quarantine"


def test_safe_harbor_leaves_the_transcript_and_no_voice(recording: bytes) -> None:
    with Deidentifier(policy="safe-harbor") as deid:
        result = deid.deidentify(recording, media_type="audio/wav")
    assert result.verdict.released
    assert not np.concatenate(list(SoundFile(result.data).samples())).any()
    assert "blood pressure" in result.derived("text")
    assert result.intervals[0].type == "BIOMETRIC_ID"
