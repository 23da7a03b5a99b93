"""Processor time per note: detection alone, a whole run without a model, and one with an instant model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from incognote.llm.base import Reply, Request, Usage
from incognote.nouns import Text
from incognote.sdk import Deidentifier
from incognote_benchmarks.reading.material import Note, findings, names_once
from incognote_benchmarks.script import Script


class Instant:
    """A scripted model that answers without yielding to the event loop, so that its own time can be subtracted.

    Attributes:
        seconds: processor time spent on answers.
        calls: the number of calls.
    """

    name = "scripted/instant"

    def __init__(self, answer: Callable[[Request], str]) -> None:
        self._answer = answer
        self.seconds, self.calls = 0.0, 0

    async def complete(self, request: Request) -> Reply:
        began = time.thread_time()
        reply = Reply(self._answer(request), usage=Usage(calls=1))
        self.seconds += time.thread_time() - began
        self.calls += 1
        return reply

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def cpu(material: Sequence[Note], rounds: int = 3) -> dict[str, Any]:
    """Milliseconds of processor time per note, over all threads of the process: the minimum of several rounds.

    Args:
        material: notes that fit in one chunk.
        rounds: the number of rounds. Other work on the machine only adds time, so the minimum is the best estimate.

    Returns:
        `detection`: the rules alone. `without_model`: a whole run with the rules. `with_model`: a whole run with passes
        by need, minus the scripted model's own time. `orchestration`: that minus detection. `of_model`: `with_model`
        minus the run without a model, which is the cost of prompts, contracts, alignment, and the graph's own node.
        `no_rules`: a whole run with the model alone.
    """
    texts = [note.text for note in material]
    best: dict[str, float] = {}

    def told(name: str, seconds: float) -> None:
        best[name] = min(best.get(name, seconds), seconds)

    model = Instant(Script({note.text: findings(note) for note in material}, write=names_once))
    rules = Deidentifier(detectors=("rules",))
    both, alone = (Deidentifier(model=model, detectors=d) for d in (("rules", "llm"), ("llm",)))
    for deidentifier in (rules, both, alone):
        list(deidentifier.batch(texts[:4]))  # load tables and compile graphs
    calls = 0
    for _ in range(rounds):
        began = time.process_time()
        rules.engine.detection.detect([Text(text) for text in texts])
        told("detection", time.process_time() - began)
        for name, deidentifier in (("without_model", rules), ("with_model", both), ("no_rules", alone)):
            answering, calls, began = model.seconds, model.calls, time.process_time()
            list(deidentifier.batch(texts))
            told(name, time.process_time() - began - (model.seconds - answering))
    best["orchestration"] = best["with_model"] - best["detection"]
    best["of_model"] = best["with_model"] - best["without_model"]
    return {
        "notes": len(texts),
        "characters": sum(map(len, texts)) / len(texts),
        "calls": (model.calls - calls) / len(texts),
        "rounds": rounds,
        "milliseconds": {name: 1000 * seconds / len(texts) for name, seconds in best.items()},
    }
