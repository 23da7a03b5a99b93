"""Sound files are read in every container, and written with mutes that hold no sample of what they replace."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incognote.speech.files import FADE, SoundFile
from incognote.speech.nouns import RATE, Interval

from .sounds import converted, filed, read, tones

LOSSLESS = [
    ("WAV", "PCM_U8", 8_000), ("WAV", "PCM_16", 44_100), ("WAV", "PCM_24", 16_000), ("WAV", "PCM_32", 16_000),
    ("WAV", "FLOAT", 48_000), ("WAV", "DOUBLE", 16_000), ("WAV", "ULAW", 8_000), ("WAV", "ALAW", 8_000),
    ("WAVEX", "PCM_16", 16_000), ("RF64", "PCM_16", 16_000), ("FLAC", "PCM_16", 16_000), ("FLAC", "PCM_24", 96_000),
    ("AIFF", "PCM_16", 22_050), ("AU", "ULAW", 8_000),
]  # fmt: skip
LOSSY = [
    ("MP3", "MPEG_LAYER_III", 44_100), ("MP3", "MPEG_LAYER_III", 8_000), ("OGG", "VORBIS", 44_100),
    ("OGG", "OPUS", 48_000), ("WAV", "MS_ADPCM", 16_000), ("WAV", "IMA_ADPCM", 16_000),
]  # fmt: skip
PROGRAM = [(".m4a", ["-c:a", "aac"], ".m4a"), (".m4a", ["-c:a", "alac"], ".m4a"), (".aac", ["-c:a", "aac"], ".m4a"),
           (".webm", ["-c:a", "libopus"], ".webm"), (".wma", ["-c:a", "wmav2"], ".flac")]  # fmt: skip
CANARY = b"Emily Carter 48213977"
MUTES = [Interval(0.5, 1.0), Interval(2.0, 2.25)]


def _written(data: bytes, mutes: Sequence[Interval] = MUTES, **given: Any) -> bytes:
    out = io.BytesIO()
    SoundFile(data).written(mutes, out, **given)
    return out.getvalue()


def _own(data: bytes) -> npt.NDArray[Any]:
    return np.concatenate(list(SoundFile(data).samples()))


def _inside(length: int, rate: int, margin: float = 0) -> npt.NDArray[np.bool_]:
    inside = np.zeros(length, bool)
    for each in MUTES:
        inside[max(0, round((each.start - margin) * rate)) : round((each.end + margin) * rate)] = True
    return inside


@pytest.mark.parametrize(("container", "codec", "rate"), LOSSLESS)
def test_a_lossless_file_changes_in_its_mutes_and_fades_alone(container: str, codec: str, rate: int) -> None:
    data = filed(tones(rate=rate), rate, container, codec)
    output = _written(data)
    before, after = _own(data), _own(output)
    assert after.shape == before.shape
    inside, faded = _inside(len(before), rate), _inside(len(before), rate, FADE)
    assert (after[inside] == (8 if codec == "ALAW" else 0)).all()  # A-law has no zero
    assert np.array_equal(after[~faded], before[~faded])
    assert np.array_equal(read(output)[~faded], read(data)[~faded])
    old, new = SoundFile(data), SoundFile(output)
    assert (new.container, new.codec, new.rate, new.channels) == (old.container, old.codec, old.rate, old.channels)
    assert old.lossless


@pytest.mark.parametrize(("container", "codec", "rate"), LOSSY)
def test_a_lossy_file_keeps_its_length_and_kind_and_its_mutes_are_silent(container: str, codec: str, rate: int) -> None:
    data = filed(tones(5, rate=rate), rate, container, codec)
    output = _written(data)
    old, new = SoundFile(data), SoundFile(output)
    assert (new.container, new.codec, new.rate, new.channels) == (old.container, old.codec, old.rate, old.channels)
    assert new.frames == old.frames
    middle = read(output)[round(0.6 * rate) : round(0.9 * rate)]
    assert np.abs(middle).max() < 0.002
    assert 0.5 < len(output) / len(data) < 1.3


@pytest.mark.parametrize(("suffix", "arguments", "written"), PROGRAM)
def test_a_file_of_ffmpeg_keeps_its_length_and_its_mutes_are_silent(
    suffix: str, arguments: list[str], written: str, tmp_path: Path
) -> None:
    rate = 48_000
    data = converted(filed(tones(rate=rate), rate), suffix, arguments, tmp_path)
    output = _written(data)
    old, new = SoundFile(data), SoundFile(output)
    assert old.suffix == new.suffix == written
    assert (new.frames, new.rate, new.channels) == (old.frames, old.rate, old.channels)
    sound = np.concatenate(list(new.channel_blocks(0)))
    assert np.abs(sound[round(0.53 * RATE) : round(0.97 * RATE)].astype(int)).max() < 60
    for start in (0.46, 1.01):
        assert np.abs(sound[round(start * RATE) : round((start + 0.03) * RATE)].astype(int)).max() > 8_000
    assert output == _written(data)


def test_the_index_at_the_end_of_an_m4a_is_found_without_a_temporary_file(tmp_path: Path) -> None:
    data = converted(filed(tones()), ".m4a", ["-c:a", "aac"], tmp_path)
    assert data.index(b"moov") > data.index(b"mdat")
    assert SoundFile(data).seconds == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize(("container", "codec", "rate"), [*LOSSLESS[:5], *LOSSLESS[9:12], *LOSSY])
def test_the_same_recording_gives_the_same_bytes(
    container: str, codec: str, rate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = filed(tones(rate=rate), rate, container, codec)
    first = _written(data)
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert _written(data) == first


def test_nothing_of_a_muted_word_is_in_its_fades() -> None:
    sound = np.zeros((RATE, 1))
    sound[4_000:8_000] = 0.5  # heard from 0.25 to 0.5 seconds alone
    output = read(_written(filed(sound), [Interval(0.25, 0.5)]))
    assert not output.any()


def test_a_fade_falls_to_a_mute_and_rises_after_it() -> None:
    sound = np.full((RATE, 1), 0.5)
    output = read(_written(filed(sound), [Interval(0.25, 0.5)], fade=0.01))[:, 0]
    falling, rising = output[3_840:4_000], output[8_000:8_160]
    assert (np.diff(falling) < 0).all()
    assert (np.diff(rising) > 0).all()
    assert np.abs(np.diff(output)).max() < 0.005


def test_mutes_at_the_edges_and_after_the_end_are_clipped() -> None:
    data = filed(tones(1.0))
    output = read(_written(data, [Interval(0, 0.1), Interval(0.9, 5), Interval(7, 8)]))
    assert len(output) == RATE
    assert not output[:1_600].any()
    assert not output[14_400:].any()


def test_a_replacement_is_heard_in_all_channels_and_only_in_its_mute() -> None:
    asked: list[tuple[Interval, int]] = []

    def spoken(interval: Interval, room: int) -> npt.NDArray[np.float32]:
        asked.append((interval, room))
        return np.full(room // 2, 0.25, np.float32)

    data = filed(tones(12.0))
    output = read(_written(data, [Interval(1, 10)], fill=spoken))
    assert asked == [(Interval(1, 10), 9 * RATE)]
    assert np.allclose(output[RATE : RATE + 9 * RATE // 2], 0.25, atol=1e-4)
    assert not output[RATE + 9 * RATE // 2 : 10 * RATE].any()


def test_a_replacement_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        _written(filed(tones()), fill=lambda _, room: np.zeros(room + 1, np.float32))


def test_an_output_follows_what_its_stream_already_holds() -> None:
    data = filed(tones())
    out = io.BytesIO()
    out.write(b"before")
    SoundFile(data).written(MUTES, out)
    assert out.getvalue() == b"before" + _written(data)


def _chunk(name: bytes, value: bytes) -> bytes:
    return name + struct.pack("<I", len(value)) + value + bytes(len(value) % 2)


def _tagged_wav() -> bytes:
    data = filed(tones())
    extra = b"".join(
        (
            _chunk(b"LIST", b"INFO" + _chunk(b"INAM", CANARY)), _chunk(b"bext", CANARY.ljust(602, b"\0")),
            _chunk(b"iXML", CANARY), _chunk(b"cue ", struct.pack("<I", 0)), _chunk(b"id3 ", CANARY),
            _chunk(b"LIST", b"adtl" + _chunk(b"labl", b"\1\0\0\0" + CANARY)), _chunk(b"zzzz", CANARY),
        )
    )  # fmt: skip
    at = data.index(b"data")
    whole = data[:at] + extra + data[at:] + extra
    return whole[:4] + struct.pack("<I", len(whole) - 8) + whole[8:] + CANARY


def _tagged_mp3() -> bytes:
    frame = b"APIC" + struct.pack(">I", len(CANARY) + 14) + b"\0\0" + b"\0image/png\0\x03\0" + CANARY + b"\0"
    frame += b"TIT2" + struct.pack(">I", len(CANARY) + 1) + b"\0\0\0" + CANARY
    tag = b"ID3\x03\x00\x00" + bytes((0, 0, len(frame) >> 7, len(frame) & 0x7F)) + frame
    return tag + filed(tones(), container="MP3", codec="MPEG_LAYER_III") + b"TAG" + CANARY.ljust(125, b"\0")


def _tagged_flac() -> bytes:
    data = filed(tones(), container="FLAC")
    blocks = b"".join(bytes((kind,)) + struct.pack(">I", len(CANARY) + 4)[1:] + b"test" + CANARY for kind in (2, 1))
    return data[:42] + blocks + data[42:] + CANARY


def _tagged_ogg(folder: Path, codec: str) -> bytes:
    arguments = ["-c:a", codec, "-metadata", f"title={CANARY.decode()}"]
    return converted(filed(tones(rate=48_000), 48_000), ".ogg", arguments, folder) + CANARY


def _tagged_aiff() -> bytes:
    data = filed(tones(), container="AIFF")
    note = b"NAME" + struct.pack(">I", len(CANARY)) + CANARY + b"\0"
    whole = data[:12] + note + data[12:] + note.replace(b"NAME", b"ANNO")
    return whole[:4] + struct.pack(">I", len(whole) - 8) + whole[8:] + CANARY


def _tagged_au() -> bytes:
    data = filed(tones(), container="AU", codec="ULAW")
    note = CANARY.ljust(32, b"\0")
    return data[:4] + struct.pack(">I", 24 + len(note)) + data[8:24] + note + data[24:] + CANARY


def _tagged_m4a(folder: Path) -> bytes:
    about = folder / "about"
    name = CANARY.decode()
    about.write_text(f";FFMETADATA1\ntitle={name}\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle={name}\n")
    arguments = ["-f", "ffmetadata", "-i", str(about), "-map_metadata", "1", "-map_chapters", "1", "-c:a", "aac"]
    return converted(filed(tones()), ".m4a", arguments, folder) + b"\0\0\0\x1dfree" + CANARY


@pytest.mark.parametrize("kind", ["wav", "mp3", "flac", "vorbis", "opus", "aiff", "au", "m4a"])
def test_tags_cue_points_pictures_and_unknown_chunks_are_removed(kind: str, tmp_path: Path) -> None:
    match kind:
        case "vorbis" | "opus":
            data = _tagged_ogg(tmp_path, f"lib{kind}")
        case "m4a":
            data = _tagged_m4a(tmp_path)
        case _:
            data = globals()[f"_tagged_{kind}"]()
    assert CANARY in data
    output = _written(data)
    assert SoundFile(output).seconds == pytest.approx(SoundFile(data).seconds)
    for part in (b"Emily", b"Carter", b"48213977"):
        assert part not in output


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000])
def test_listeners_get_16_khz_of_the_same_length_and_sound(rate: int) -> None:
    file = SoundFile(filed(tones(3.0, rate, channels=1), rate))
    blocks = list(file.blocks(1.0))
    assert [len(block) for block in blocks[:2]] == [RATE, RATE]
    sound = np.concatenate(blocks)
    assert sound.dtype == np.int16
    assert abs(len(sound) - 3 * RATE) <= 1
    tone = 0.3 * np.sin(2 * np.pi * 300 * np.arange(len(sound)) / RATE) * 32_768
    assert np.corrcoef(sound, tone)[0, 1] > 0.99
    assert np.std(sound[100:-100] - tone[100:-100]) < 0.03 * 32_768


def test_16_bit_samples_at_16_khz_reach_listeners_unchanged() -> None:
    data = filed(tones(channels=1))
    assert np.array_equal(np.concatenate(list(SoundFile(data).blocks(0.7))), read(data, "int16")[:, 0])


def test_each_channel_is_heard_apart() -> None:
    data = filed(tones(channels=2))
    file = SoundFile(data)
    for channel in (0, 1):
        heard = np.concatenate(list(file.channel_blocks(channel)))
        assert np.array_equal(heard, read(data, "int16")[:, channel])
    assert file.distinct == (0, 1)


def test_a_copied_and_a_silent_channel_are_not_distinct() -> None:
    one = tones(channels=1)
    assert SoundFile(filed(np.hstack((np.zeros_like(one), one, one)))).distinct == (1,)


def test_a_channel_upside_down_does_not_cancel_the_other_one() -> None:
    one = tones(channels=1)
    heard = np.concatenate(list(SoundFile(filed(np.hstack((one, -one)))).blocks()))
    assert np.abs(heard.astype(int)).max() > 8_000


@pytest.mark.parametrize("level", [1e-6, 1e-3, 300.0])
def test_a_quiet_and_a_loud_recording_are_heard_at_a_common_level(level: float) -> None:
    sound = tones(channels=1) * level
    heard = np.concatenate(list(SoundFile(filed(sound, codec="FLOAT")).blocks()))
    assert 0.4 < np.abs(heard.astype(int)).max() / 32_768 <= 1
    assert np.corrcoef(heard, sound[:, 0])[0, 1] > 0.999


def test_a_disguised_recording_keeps_its_length_and_its_mutes() -> None:
    data = filed(tones(rate=44_100), 44_100)
    output = _written(data, disguise=b"secret")
    before, after = read(data, "int16"), read(output, "int16")
    assert after.shape == before.shape
    assert not after[_inside(len(after), 44_100)].any()
    assert not np.array_equal(after, read(_written(data), "int16"))
    assert output == _written(data, disguise=b"secret") != _written(data, disguise=b"other")
