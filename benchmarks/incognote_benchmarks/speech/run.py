"""Measure what is muted in synthetic recordings: seconds of identifiers, whole identifiers, other speech that is kept.

    python -m incognote_benchmarks.speech.run tests/data/speech/dev --conditions clean --arms step1 doubts --out OUT

The arms:

    step1     what the detectors find in the transcript (RedactOR §3.2, the first step)
    gaps      also speech without words (the second step of the paper)
    doubts    also doubted, spelled, and known words (the whole software without a language model)
    model     also a language model, whose replies were recorded (`--replies`)
    perfect   the transcript is what was said: the ceiling of any recognizer

Each recording goes through `Deidentifier.deidentify`. The recognizer's words can be kept in a folder (`--remember`), so
that it hears each recording once.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import pickle
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote import Deidentifier
from incognote.agents.item import Item
from incognote.agents.stages import Planned
from incognote.agents.steps import detect, identify, merge
from incognote.evaluation.recordings.measures import TITLES, MutedRecording
from incognote.formats.audio import document
from incognote.formats.audio.document import AudioDocument
from incognote.formats.audio.hearing import Hearing, heard
from incognote.formats.audio.judge import findings
from incognote.llm.base import Request
from incognote.speech.intervals import union
from incognote.speech.nouns import RATE, Heard, HeardWord, Interval
from incognote.testing import ScriptedLLM, read_replies
from incognote_benchmarks.speech.conditions import CONDITIONS
from incognote_benchmarks.speech.measures import Ran, summary, word_errors
from incognote_benchmarks.speech.recording import CASTS, Recording, recordings, write

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

MODEL = "recorded/large-language-model"
ARMS: dict[str, frozenset[str] | None] = {
    "step1": frozenset(), "gaps": frozenset({"gap"}), "doubts": None, "model": None, "perfect": None,
}  # fmt: skip
"""The sources of findings that an arm keeps; None for all."""
_TITLES = {
    **TITLES,
    "word_error_rate": "Word error rate",
    "extra_seconds_without_fact": "Seconds muted beyond step 1: without a clinical fact",
}


@dataclass(slots=True)
class Listener:
    """Hears recordings in place of the software, to keep what was heard, or to hear what was said.

    Args:
        folder: keeps what was heard; None for no folder.
        said: the words that were said, which are then heard without an error; None to use the recognizer.
        heard: what was heard last.
    """

    folder: Path | None = None
    said: Recording | None = None
    heard: Heard | None = None

    def hear(self, blocks: Iterable[Samples], how: Hearing) -> Heard:
        """Return what is heard in a recording."""
        if self.said is not None:
            self.heard = given(self.said)
            return self.heard
        sound = list(blocks)
        path: Path | None = None
        if self.folder is not None:
            recognizer = how.recognizer if isinstance(how.recognizer, str) else how.recognizer.name
            digest = hashlib.sha256(b"".join([recognizer.encode(), *(each.tobytes() for each in sound)]))
            path = self.folder / digest.hexdigest()
            if path.exists():
                kept: Heard = pickle.loads(path.read_bytes())  # noqa: S301 -- our own file, of an earlier run
                self.heard = kept
                return kept
        self.heard = _HEARD(sound, how)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pickle.dumps(self.heard))
        return self.heard


_HEARD, _FINDINGS = heard, findings


def given(recording: Recording) -> Heard:
    """Return a hearing without an error. Words of several speakers at once are heard one after the other."""
    words: list[HeardWord] = []
    at = 0.0
    for each in sorted(recording.words, key=lambda word: word.time.start):
        start = max(at, each.time.start)
        at = max(start + 0.01, each.time.end)
        words.append(HeardWord(each.word.text, start, at))
    voiced = union(each.interval for each in words)
    return Heard(tuple(words), tuple(voiced), (), len(recording.sound) / RATE)


@contextmanager
def listening(listener: Listener, kept: frozenset[str] | None) -> Iterator[None]:
    """Let the listener hear within the block, and keep only findings of some sources (None: all)."""

    def kept_findings(*args: Any) -> Iterator[Any]:
        return (each for each in _FINDINGS(*args) if kept is None or each[4] in kept)

    module: Any = document  # the arms differ only in what it hears and finds
    module.heard, module.findings = listener.hear, kept_findings
    try:
        yield
    finally:
        module.heard, module.findings = _HEARD, _FINDINGS


def quick(deid: Deidentifier, sound: bytes) -> tuple[list[Interval], str, tuple[str, ...]]:
    """Like `whole`, but without the audit, the second reader, and a language model. There is no verdict."""
    engine = deid.engine
    with engine.opening():
        opened = identify(
            Item(sound, media_type="audio/wav"), lambda: engine.registry, data_type=None, longest=10**8, finding=False
        )
        assert isinstance(opened.record, AudioDocument)
        found = detect(opened, (), engine.detection, engine.policy)
        merged = merge(opened, found, Planned("embedded"), {}, engine.detection, None, engine.policy)
        spans = [s for each in merged.spans.values() for s in each if engine.policy.replaces(s.type)]
        muted = union(time for s in spans for time in opened.record.times_of(s.field, s.start, s.end))
    return muted, "", ()


def whole(deid: Deidentifier, sound: bytes) -> tuple[list[Interval], str, tuple[str, ...]]:
    """Return what is muted in a recording, the verdict, and the codes of its reasons."""
    result = deid.deidentify(sound, media_type="audio/wav")
    muted = union(Interval(each.start, each.end) for each in result.intervals)
    return muted, result.verdict.outcome, tuple(sorted({reason.code for reason in result.verdict.reasons}))


def ran(deid: Deidentifier, name: str, recording: Recording, sound: bytes, arm: str, said: Options) -> Ran:
    """Return what an arm does with a recording."""
    listener = Listener(said.remember, recording if arm == "perfect" else None)
    began = time.perf_counter()
    with listening(listener, ARMS[arm]):
        muted, verdict, reasons = (quick if said.quick and arm != "model" else whole)(deid, sound)
    took = time.perf_counter() - began
    words = [each.word.text for each in recording.words]
    heard = [word.text for word in listener.heard.words] if listener.heard is not None else []
    gold = recording.gold(name)
    found = MutedRecording(name, tuple(muted), verdict)
    return Ran(gold, found, word_errors(words, heard), len(words), took, len(recording.sound) / RATE, reasons)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run: the folder of what was heard, and whether to leave out the audit."""

    remember: Path | None = None
    quick: bool = False


def bytes_of(recording: Recording, condition: str) -> bytes:
    """Return the recording as a WAV file."""
    out = io.BytesIO()
    write(out, recording, condition)
    return out.getvalue()


class Requests:
    """Answers nothing, and keeps each request for whoever records replies: {"address", "model", "system", "user"}."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, request: Request) -> str:
        system, user = (message.content for message in request.messages[:2])
        address = request.address(MODEL)
        self.lines.append(json.dumps({"address": address, "model": MODEL, "system": system, "user": user}))
        return "{}"


def report(rows: dict[tuple[str, str], list[Ran]]) -> dict[str, Any]:
    """Return the summary of each condition and arm."""
    made: dict[str, Any] = {}
    for (condition, arm), own in rows.items():
        base = rows.get((condition, "step1")) if arm != "step1" else None
        made.setdefault(condition, {})[arm] = summary(own, {row.gold.id: row for row in base} if base else None)
    return made


def lines(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the printed table."""
    for condition, arms in made.items():
        for arm, each in arms.items():
            held, factor = each["held"], each["real_time_factor"]
            took = f"{each['seconds']:.0f} s, real-time factor {factor}"
            yield f"{condition}, {arm}: {each['recordings']} recordings, {took}"
            for name, figure in each["figures"].items():
                if figure["value"] is not None:
                    low, high = (figure[side] for side in ("low", "high"))
                    between = "" if low is None else f" [{low:.3f}, {high:.3f}]"
                    yield f"  {_TITLES[name]:66} {figure['value']:.3f}{between} of {figure['of']:,}"
            if each["reasons"]:
                yield f"  held: {held['value']:.3f} of {held['of']}; reasons: {each['reasons']}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurement."""
    ask = argparse.ArgumentParser()
    ask.add_argument("scripts", type=Path)
    ask.add_argument("--conditions", nargs="*", choices=CONDITIONS, default=list(CONDITIONS))
    ask.add_argument("--arms", nargs="*", choices=ARMS, default=["step1", "gaps", "doubts", "perfect"])
    ask.add_argument("--cast", choices=CASTS, default="legible")
    ask.add_argument("--only", default="", help="a part of the names of scripts")
    ask.add_argument("--recognizer", default="sphinx")
    ask.add_argument("--remember", type=Path, help="a folder for what was heard")
    ask.add_argument("--quick", action="store_true", help="without the audit and the second reader")
    ask.add_argument("--replies", type=Path, help="recorded replies of a language model, for the arm `model`")
    ask.add_argument("--requests", type=Path, help="where to write the requests of the arm `model`, instead of replies")
    ask.add_argument("--out", type=Path)
    ask.add_argument("--show", action="store_true", help="print what is left of identifiers")
    said = ask.parse_args(arguments)
    asked = Requests()
    rows: dict[tuple[str, str], list[Ran]] = {}
    deids: dict[str, Deidentifier] = {}
    for arm in said.arms:
        answers = read_replies(said.replies) if said.replies else asked
        model = ScriptedLLM(answers, name=MODEL) if arm == "model" else None
        deids[arm] = Deidentifier(recognizer=said.recognizer, model=model)
    for name, condition, recording in recordings(said.scripts, CASTS[said.cast], said.conditions, said.only):
        sound = bytes_of(recording, condition)
        for arm in said.arms:
            row = ran(deids[arm], name, recording, sound, arm, Options(said.remember, said.quick))
            rows.setdefault((condition, arm), []).append(row)
            if said.show:
                _say(f"== {name} {condition} {arm} {row.muted.verdict} {row.took:.1f} s")
                for each in row.gold.identifiers:
                    if not each.is_muted(row.muted.muted):
                        _say(f"   left {each.type} at {each.times[0].start:.2f} s: {_words(recording, each.times)}")
    made = report(rows)
    for line in lines(made):
        _say(line)
    if said.requests:
        said.requests.write_text("".join(line + "\n" for line in asked.lines), encoding="utf-8")
    if said.out:
        said.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _words(recording: Recording, times: Sequence[Interval]) -> str:
    return " ".join(each.word.text for each in recording.words if each.time in times)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
