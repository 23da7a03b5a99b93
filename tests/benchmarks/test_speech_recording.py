"""Synthetic recordings whose words have exact times."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from incognote.speech.nouns import RATE
from incognote_benchmarks.speech import espeak, festival, flite
from incognote_benchmarks.speech.conditions import CONDITIONS, SNR, applied
from incognote_benchmarks.speech.measures import extra, word_errors
from incognote_benchmarks.speech.recording import cast, line_of, main, recorded
from incognote_benchmarks.speech.run import ARMS
from incognote_benchmarks.speech.run import main as run
from incognote_benchmarks.speech.script import parsed
from incognote_benchmarks.speech.spoken import Spoken

SCRIPT = """# kind: dialogue
# speakers: D=clinician, P=patient
D: good morning mister [[PERSON|harper]]
P: my |knee {{hurts}}
D: since [[DATE|march third]]
"""
VOICES = (("flite", "rms"), ("flite", "slt"))
LINE = "good morning mister harper".split()


@pytest.fixture(autouse=True, scope="module")
def _flite() -> None:
    if shutil.which("flite") is None:
        pytest.skip("the program flite is not installed")


def _words_are_loud_and_the_rest_is_silent(spoken: Spoken, words: Sequence[str]) -> None:
    assert len(spoken.times) == len(words)
    inside = np.zeros(len(spoken.sound), bool)
    for start, end in spoken.times:
        part = slice(round(start * RATE), round(end * RATE))
        inside[part] = True
        assert float(np.sqrt(np.mean(spoken.sound[part] ** 2))) > 0.01
    energy = spoken.sound**2
    assert float(energy[~inside].sum()) < 0.01 * float(energy.sum())


@pytest.mark.parametrize("voice", flite.VOICES)
def test_flite_tells_the_time_of_each_word_and_says_the_same_twice(voice: str) -> None:
    [one], [two] = flite.say([LINE], voice), flite.say([LINE], voice)
    _words_are_loud_and_the_rest_is_silent(one, LINE)
    assert np.array_equal(one.sound, two.sound)


@pytest.mark.parametrize("voice", festival.VOICES)
def test_festival_tells_the_time_of_each_word_and_says_the_same_twice(voice: str) -> None:
    if shutil.which("festival") is None:
        pytest.skip("the program festival is not installed")
    [one], [two] = festival.say([LINE], voice), festival.say([LINE], voice)
    _words_are_loud_and_the_rest_is_silent(one, LINE)
    assert np.array_equal(one.sound, two.sound)


@pytest.mark.parametrize("voice", espeak.VOICES[:2])
def test_espeak_tells_the_time_of_each_word_and_says_the_same_twice(voice: str) -> None:
    if shutil.which("espeak-ng") is None:
        pytest.skip("the program espeak-ng is not installed")
    [one], [two] = espeak.say([LINE], voice), espeak.say([LINE], voice)
    _words_are_loud_and_the_rest_is_silent(one, LINE)
    assert np.array_equal(one.sound, two.sound)


def test_words_that_espeak_says_as_one_share_its_time_by_letters() -> None:
    events = [(1, 0, 0, b""), (1, 7, 400, b""), (7, 13, 900, b"_:"), (5, 13, 1000, b"")]
    assert espeak.word_times(["on", "the", "third"], events, 1000) == [(0.0, 160.0), (160.0, 400.0), (400.0, 900.0)]


def test_speakers_follow_each_other_or_overlap_where_the_script_says_so() -> None:
    script = parsed(SCRIPT)
    voices = cast(script, VOICES, "a")
    assert voices["D"] != voices["P"]
    clean, overlap = (recorded(script, voices, "a", condition) for condition in ("clean", "overlap"))
    assert [each.word.text for each in clean.words] == [word.text for word in script.words]
    starts = {each.word.text: each.time for each in clean.words}
    assert starts["since"].start > starts["hurts"].end
    crossing = {each.word.text: each.time for each in overlap.words}
    assert crossing["since"].start == pytest.approx(crossing["knee"].start, abs=0.06)


def test_a_recording_is_the_same_each_time() -> None:
    script = parsed(SCRIPT)
    assert CONDITIONS
    for condition in CONDITIONS:
        one, two = (recorded(script, cast(script, VOICES, "a"), "a", condition) for _ in range(2))
        assert np.array_equal(one.sound, two.sound)
        assert float(np.abs(one.sound).max()) <= 1


@pytest.mark.parametrize("condition", ["white", "babble"])
def test_noise_is_15_db_below_the_speech(condition: str) -> None:
    speech = flite.say([LINE], "rms")[0].sound
    noise = applied(condition, speech, "a") - speech
    loud = np.abs(speech) > 0.01
    ratio = 10 * np.log10(np.mean(speech[loud] ** 2) / np.mean(noise**2))
    assert ratio == pytest.approx(SNR, abs=0.5)


def test_a_telephone_loses_what_is_outside_of_its_band() -> None:
    seconds = np.arange(RATE) / RATE
    for frequency, kept in ((100, False), (1000, True), (3900, False)):
        tone = 0.5 * np.sin(2 * np.pi * frequency * seconds)
        assert (float(np.std(applied("telephone", tone, "a"))) > 0.2) is kept


def test_the_gold_has_the_times_of_identifiers_and_facts() -> None:
    script = parsed(SCRIPT)
    recording = recorded(script, cast(script, VOICES, "a"), "a")
    gold = recording.gold("a")
    assert [each.type for each in gold.identifiers] == ["PERSON", "DATE"]
    assert len(gold.facts) == 1
    line = line_of(recording, "a.wav")
    assert [each["phrase"] for each in line["intervals"]] == [0, 1, 1]
    assert [each["text"] for each in line["speech"] if each["fact"]] == ["hurts"]


def test_files_are_written_with_their_gold(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(SCRIPT, encoding="utf-8")
    out = tmp_path / "out"
    asked = ["prog", str(tmp_path), str(out), "--conditions", "clean", "telephone"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", asked)
        main()
    assert soundfile.info(out / "a.telephone.wav").subtype == "ULAW"
    assert soundfile.info(out / "a.telephone.wav").samplerate == 8000
    assert soundfile.info(out / "a.clean.wav").samplerate == RATE
    rows = [json.loads(line) for line in (out / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["a.clean.wav", "a.telephone.wav"]


def test_word_errors_are_insertions_deletions_and_substitutions() -> None:
    assert word_errors("i'm mister harper".split(), "Im mister harbor".split()) == 1
    assert word_errors(["a", "b", "c"], ["a", "c"]) == 1
    assert word_errors([], ["a"]) == 1


def test_extra_seconds_are_those_that_were_not_muted_before() -> None:
    script = parsed(SCRIPT)
    gold = recorded(script, cast(script, VOICES, "a"), "a").gold("a")
    fact = gold.facts[0]
    assert extra(gold, [fact], []) == pytest.approx((fact.end - fact.start, 0.0))
    assert extra(gold, [fact], [fact]) == (0.0, 0.0)


def test_a_run_measures_each_arm(tmp_path: Path) -> None:
    pytest.importorskip("pocketsphinx", reason="the extra `audio` is not installed")
    (tmp_path / "a.txt").write_text(SCRIPT, encoding="utf-8")
    out, heard, requests = tmp_path / "out.json", tmp_path / "heard", tmp_path / "requests.jsonl"
    run([
        str(tmp_path), "--conditions", "clean", "--arms", *ARMS, "--remember", str(heard), "--quick",
        "--requests", str(requests), "--out", str(out),
    ])  # fmt: skip
    made = json.loads(out.read_text(encoding="utf-8"))["clean"]
    assert list(made) == list(ARMS)
    figures = {arm: each["figures"] for arm, each in made.items()}
    assert figures["perfect"]["word_error_rate"]["value"] == 0
    assert figures["perfect"]["phi_seconds_muted"]["value"] > 0.9
    muted = [figures[arm]["phi_seconds_muted"]["value"] for arm in ("step1", "gaps", "doubts")]
    assert muted == sorted(muted)
    assert "extra_seconds_without_fact" in figures["doubts"]
    assert len(list(heard.iterdir())) == 1
    first = json.loads(requests.read_text(encoding="utf-8").splitlines()[0])
    assert {"address", "model", "system", "user"} <= first.keys()
