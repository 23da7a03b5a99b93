"""What the default engine finds in perfect transcripts of scripts written with the rules at hand (synthetic)."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from incognote import Deidentifier
from incognote.languages import written
from incognote_benchmarks.speech.script import parsed

SCRIPTS = sorted((Path(__file__).parents[3] / "data" / "speech" / "written").glob("*.txt"))


@cache
def counts() -> Counter[str]:
    """Count the words of all scripts: identifying ones, those found, others, and those kept."""
    counted: Counter[str] = Counter()
    engine = Deidentifier()
    for path in SCRIPTS:
        script = parsed(path.read_text(encoding="utf-8"))
        words = script.words
        pauses = [pause for said in script.utterances for pause in (*[0.0] * (len(said.words) - 1), 1.0)]
        transcript = written([word.text for word in words], pauses)
        spans = [each.span for each in engine.deidentify(transcript.text).replacements]
        hidden = {i for span in spans for i in transcript.words(span.start, span.end)}
        for i, word in enumerate(words):
            counted["identifying" if word.type else "other"] += 1
            counted["found"] += bool(word.type) and i in hidden
            counted["kept"] += not word.type and i not in hidden
    return counted


def test_the_engine_finds_nearly_all_identifying_words() -> None:
    assert len(SCRIPTS) >= 15
    assert counts()["found"] >= 0.98 * counts()["identifying"]


def test_the_engine_keeps_nearly_all_other_words() -> None:
    assert counts()["kept"] >= 0.92 * counts()["other"]
