"""What is said in a recording does not leak: it is in no log, exception, repr, manifest, temporary file, or tag."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pocketsphinx", reason="needs the extra audio")
pytest.importorskip("soundfile", reason="needs the extra audio")

import soundfile

from .speech import spoken

WORDS = "my name is doctor thompson. his blood pressure is high."
TAG = "Zebulon Quackenbosh"
CANARIES = re.compile(r"thompson|tomson|quackenbosh|zebulon|blood pressure", re.IGNORECASE)
"""What is said, as a recognizer may write it, and what the tags of the file say."""
SCRIPT = """
import json, logging, sys, traceback, warnings
logging.basicConfig(filename=sys.argv[1], level=logging.DEBUG)
logging.captureWarnings(True)
warnings.simplefilter("always")
from pathlib import Path
from incognote import Deidentifier
from incognote.errors import IncognoteError
with Deidentifier(detectors=("rules",)) as deid:
    sound = Path(sys.argv[2]).read_bytes()
    heard = 0
    for data in (sound, sound[: len(sound) // 2], sound[:60] + sound[200:]):
        result = deid.deidentify(data, media_type="audio/wav", id="Thompson")
        heard += len(result.intervals)
        print(repr(result), json.dumps(dict(result.manifest)), repr(result.intervals), repr(result.replacements))
        print(*map(str, result.verdict.reasons))
        calls = lambda: result.text, lambda: result.derived("hocr"), lambda: result.project([(10**9, 10**9 + 1)])
        for broken in calls:
            try:
                broken()
            except IncognoteError:
                traceback.print_exc()
    assert heard, "the control: the name was heard"
"""


@pytest.fixture
def loud(tmp_path: Path) -> dict[str, str]:
    """An environment with a temporary folder of its own."""
    home = tmp_path / "home"
    home.mkdir()
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "INCOGNOTE_HOME", "TMPDIR")
    return {**os.environ, **dict.fromkeys(names, str(home)), "PYTHONASYNCIODEBUG": "1"}


def recording() -> bytes:
    """A spoken recording whose tags name a patient."""
    out = io.BytesIO()
    with soundfile.SoundFile(out, "w", 16_000, 1, "PCM_16", format="WAV") as file:
        file.title = file.artist = file.comment = TAG
        file.write(spoken.say(WORDS, "slt"))
    return out.getvalue()


def assert_clean(channel: str, content: str | bytes) -> None:
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    found = sorted(set(CANARIES.findall(text)))
    assert not found, f"{channel} shows {found}"


def test_the_sdk_leaks_nothing_of_a_recording(loud: dict[str, str], tmp_path: Path) -> None:
    sound, log = tmp_path / "sound.bin", tmp_path / "debug.log"
    sound.write_bytes(recording())
    assert TAG.encode() in sound.read_bytes()
    done = subprocess.run([sys.executable, "-c", SCRIPT, log, sound], capture_output=True, env=loud, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert b"Traceback" in done.stderr
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    assert_clean("the debug log", log.read_bytes() if log.exists() else b"")
    for path in (tmp_path / "home").rglob("*"):
        assert_clean("a file name", path.name)
        if path.is_file():
            assert_clean(f"a file, {path.name}", path.read_bytes())


def test_the_command_line_leaks_nothing_of_a_recording(loud: dict[str, str], tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "Thompson.wav").write_bytes(recording())
    (source / "Thompson-cut.wav").write_bytes(recording()[:9_000])
    done = subprocess.run(
        [sys.executable, "-m", "incognote", "deid", source, "--out", out, "--detectors", "rules", "--json",
         "--also", "vtt,json"], capture_output=True, env=loud, timeout=300,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr.decode()[-2000:]  # the cut file is held
    told = json.loads(done.stdout)["data"]
    assert (told["released"], told["quarantined"]) == (1, 1)
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    [wav] = out.rglob("*.wav")
    assert soundfile.SoundFile(wav).copy_metadata() == {}
    for path in tmp_path.rglob("*"):
        if source in (path, *path.parents):
            continue
        assert_clean("a file name", path.name)
        if path.is_file():  # the transcripts hold the words that stay, and no name
            content = path.read_bytes()
            kept = content.replace(b"blood pressure", b"") if path.suffix in (".vtt", ".json") else content
            assert_clean(f"a file, {path.name}", kept)
