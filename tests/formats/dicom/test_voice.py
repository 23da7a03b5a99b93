"""A waveform that may be a voice is held. An ECG passes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from pydicom import Dataset, dcmread, dcmwrite

from incognote.errors import NotReleased, UnsupportedFormat
from incognote.formats.dicom.document import DicomDocument
from incognote.formats.output import rebuilt
from incognote.formats.registry import UnreadableSource, named, nested, open_one
from incognote.sdk import Deidentifier
from tests.formats.samples.dicom import instance

CLASSES = "1.2.840.10008.5.1.4.1.1.9."
ECG, VOICE, AUDIO = f"{CLASSES}1.1", f"{CLASSES}4.1", f"{CLASSES}4.2"
SAMPLES = (np.sin(np.arange(4_000) / 9) * 9_000).astype("<i2").tobytes()


def waveform(sop: str, rate: Any = 500, modality: str = "ECG", data: bytes = SAMPLES) -> bytes:
    """Return an instance with one group of channels."""
    source = Dataset()
    source.CodeValue, source.CodingSchemeDesignator, source.CodeMeaning = "2:1", "MDC", "Lead I"
    channel = Dataset()
    channel.ChannelSourceSequence = [source]
    channel.WaveformBitsStored = 16
    group = Dataset()
    group.WaveformOriginality, group.NumberOfWaveformChannels = "ORIGINAL", 1
    group.NumberOfWaveformSamples = len(data) // 2
    if rate is not None:
        group.SamplingFrequency = rate
    group.ChannelDefinitionSequence = [channel]
    group.WaveformBitsAllocated, group.WaveformSampleInterpretation = 16, "SS"
    group.WaveformData = data
    return instance(sop, Modality=modality, WaveformSequence=[group])


@pytest.mark.parametrize(
    "data",
    [
        waveform(VOICE, 8_000, "AU"), waveform(AUDIO, 44_100, "AU"), waveform(VOICE, 500, "AU"), waveform(VOICE),
        waveform(ECG, 500, "AU"), waveform(ECG, 8_000), waveform(ECG, 2_001), waveform(ECG, None), waveform(ECG, "0"),
        waveform(f"{CLASSES}9.1"), waveform(f"{CLASSES}100.1"), waveform("1.2.840.10008.5.1.4.1.1.7"),
        waveform("1.2.3.4"),
    ],
    ids=["voice", "audio", "slow voice", "voice that says ECG", "ECG that says audio", "fast ECG", "just too fast",
         "no rate", "rate of zero", "unknown class", "other sound", "picture", "private class"],
)  # fmt: skip
def test_what_may_be_a_voice_is_held_with_the_remedy(data: bytes) -> None:
    with pytest.raises(UnreadableSource, match=r"voice.*WAV") as problem:
        open_one(data, "application/dicom")
    assert problem.value.field == "WaveformSequence"


def test_a_voice_in_an_item_of_another_sequence_is_held() -> None:
    inner = Dataset()
    inner.WaveformData, inner.WaveformBitsAllocated = SAMPLES, 16
    holder = Dataset()
    holder.WaveformSequence = [inner]
    with pytest.raises(UnsupportedFormat, match="voice"):
        DicomDocument(instance(ReferencedImageSequence=[holder]))


def test_a_voice_without_the_header_of_a_file_is_held() -> None:
    whole = dcmread(io.BytesIO(waveform(VOICE, 8_000, "AU")))
    bare, out = Dataset(), io.BytesIO()
    bare.update({element.tag: element for element in whole})
    dcmwrite(out, bare, implicit_vr=True, little_endian=True)
    with pytest.raises(UnreadableSource, match="voice"):
        nested(out.getvalue(), "application/dicom", "attachment")


@pytest.mark.parametrize("number", ["1.1", "1.2", "1.3", "2.1", "3.1", "5.1", "6.1", "7.1", "8.1"])
def test_other_waveforms_keep_their_samples(number: str) -> None:
    document = open_one(waveform(f"{CLASSES}{number}", "2000"), "application/dicom")[1]
    values = {action: action.text.content[action.start : action.end] for action in document.actions}
    output = dcmread(io.BytesIO(rebuilt(named("dicom"), document, {}, values)))
    assert output.WaveformSequence[0].WaveformData == SAMPLES


def test_a_voice_is_never_released_and_the_reason_says_why() -> None:
    result = Deidentifier().deidentify(waveform(VOICE, 8_000, "AU"), media_type="application/dicom")
    assert result.verdict.outcome != "release"
    assert [reason.code for reason in result.verdict.reasons] == ["unsupported-format"]
    with pytest.raises(NotReleased):
        _ = result.data
