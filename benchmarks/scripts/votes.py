"""Measure what it costs and gains to drop findings that only a minority of three voters named (`veto = "minority"`).

    python benchmarks/scripts/votes.py --out docs/measured/votes.json

The voters are simulated: each gives the recorded reply to prompt 3, but leaves out some phrases and invents others, by
its own seed. Recall and precision are by character and ignore types. All texts are synthetic.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import incognote_benchmarks
from incognote.errors import ModelProblem
from incognote.llm.base import LanguageModel, Reply, Request
from incognote.llm.recording import Recording, Replayed
from incognote.sdk import Deidentifier
from incognote.testing import text_of
from incognote_benchmarks.recorded import BOTH, MODEL, REPLIES, read_notes, scored

DATA = Path(__file__).parents[2] / "tests" / "data"
CORPORA = (DATA / "dev_h.jsonl", DATA / "dev_j.jsonl")
PROMPT = "extract/v3"
MINORITY = Path(incognote_benchmarks.__file__).with_name("minority.toml")
Noise = tuple[int, float, float]
"""The seed of a voter, the share of phrases that it leaves out, and the mean number that it invents for a text."""
NOISE: dict[str, tuple[Noise, Noise, Noise]] = {
    "each leaves out 5% and invents 0.5": ((0, 0.05, 0.5), (1, 0.05, 0.5), (2, 0.05, 0.5)),
    "each leaves out 20% and invents 0.5": ((0, 0.2, 0.5), (1, 0.2, 0.5), (2, 0.2, 0.5)),
    "two leave out the same 20%": ((0, 0.0, 0.0), (1, 0.2, 0.0), (1, 0.2, 0.0)),
}
_WORDS = re.compile(r"[A-Z][a-z]{3,}|\d{2,}(?:[./-]\d+)*")
_TYPES = ("PERSON", "HOSPITAL", "DATE", "ID")


class Voter:
    """A model that gives the recorded replies with errors of its own.

    Args:
        inner: gives the recorded replies.
        number: makes its name unique.
        noise: its errors. The text is a part of the seed.
    """

    replays = True
    """It makes no calls, so nothing has to stop them."""

    def __init__(self, inner: LanguageModel, number: int, noise: Noise) -> None:
        self.name = f"simulated/voter-{number}"
        self._inner, self._noise = inner, noise

    async def complete(self, request: Request) -> Reply:
        """Answer.

        Raises:
            ModelUnavailable: no reply to this request is recorded.
        """
        reply = await self._inner.complete(request)
        text = text_of(request)
        seed, leaves, invents = self._noise
        random = Random(f"{seed} {text}")  # noqa: S311 -- a simulation
        said = json.loads(reply.text[reply.text.index("{") : reply.text.rindex("}") + 1])
        said = {kind: [phrase for phrase in phrases if random.random() >= leaves] for kind, phrases in said.items()}
        candidates = [match[0] for match in _WORDS.finditer(text)]
        for _ in range(int(invents) + (random.random() < invents % 1)):
            if candidates:
                said.setdefault(random.choice(_TYPES), []).append(f"<<{random.choice(candidates)}>>")
        return replace(reply, text=json.dumps({kind: phrases for kind, phrases in said.items() if phrases}))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def found(lines: Sequence[str], noise: Sequence[Noise], policy: str = "strict") -> dict[int, list[Any]]:
    """Return the spans in each text with a recorded reply, by its index."""
    recording = Recording(REPLIES / f"{PROMPT.replace('/', '-')}.jsonl", plain=True, create=False)
    models = [Voter(Replayed(MODEL, recording), number, each) for number, each in enumerate(noise)]
    with Deidentifier(policy, model=models, prompt=PROMPT, passes=1, detectors=(*BOTH, "llm")) as deid:
        spans = deid.detect_each([str(json.loads(line)["text"]) for line in lines])
    return {i: each for i, each in enumerate(spans) if not isinstance(each, ModelProblem)}


def measured(lines: Sequence[str]) -> dict[str, Any]:
    """Score a single voter, and three with and without the findings of a minority."""
    results: dict[str, Any] = {}
    lines = [lines[i] for i in found(lines, NOISE["each leaves out 5% and invents 0.5"][:1])]
    for name, noise in NOISE.items():
        systems = {"the first voter alone": found(lines, noise[:1]), "three": found(lines, noise, str(MINORITY))}
        systems["three, nothing outvoted"] = found(lines, noise)
        answered = sorted(set.intersection(*(set(each) for each in systems.values())))
        spans = {system: [each[i] for i in answered] for system, each in systems.items()}
        reports = scored([lines[i] for i in answered], spans, "dev")
        results[name] = {"texts": len(answered)} | {
            system: {key: report.figures[key].as_dict() for key in
                     ("recall", "precision", "documents_leaking", "clean_texts_touched")}
            for system, report in reports.items()
        }  # fmt: skip
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    content = {corpus.stem: measured(read_notes([corpus])) for corpus in CORPORA}
    written = json.dumps(content, indent=1) + "\n"
    print(written)  # noqa: T201 -- this is a program that prints
    if given.out:
        given.out.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
