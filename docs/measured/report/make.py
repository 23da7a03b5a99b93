"""The example of `incognote experiment report`: rules and recorded replies of a language model, on synthetic notes.

    python docs/measured/report/make.py RESULTS
    incognote experiment report RESULTS --out docs/measured/report

Nothing is asked: `tests/data/replies/README.md` says whose replies they are. Tokens are characters / 4, for the model's
own count is unknown, and so is its price. A note without a recorded reply to every request of a corpus is left out of
that corpus: `notes` has those read in one pass, `dense` those with a second pass besides.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import yaml

from incognote import Deidentifier
from incognote.errors import ModelProblem
from incognote.evaluation.experiments.cell import Cell
from incognote.evaluation.experiments.plan import plan
from incognote.evaluation.experiments.run import run
from incognote.llm.base import LanguageModel, Reply, Request
from incognote.llm.recording import Recording, Replayed
from incognote_benchmarks.recorded import MODEL, NOTES, REPLIES

PROMPTS = ["extract/v1", "extract/v2"]
SYSTEMS = [
    {"name": "rules", "detectors": ["rules"]},
    {"name": "model", "detectors": ["llm"]},
    {"name": "rules + model", "detectors": ["rules", "llm"]},
]


class Answering:
    """The recorded model, as if it were asked: calls count, and tokens are characters / 4."""

    name = MODEL

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def complete(self, request: Request) -> Reply:
        """The recorded reply; a request without one ends the example, for `answered` left such notes out."""
        reply = self._recording.reply(request.address(MODEL))
        if reply is None:
            raise KeyError("no recorded reply")
        asked = sum(len(message.content) for message in request.messages)
        return replace(reply, usage=replace(reply.usage, input=asked // 4, calls=1))

    async def aclose(self) -> None:
        """Nothing is held."""


def recording(prompt: str) -> Recording:
    return Recording(REPLIES / f"{prompt.replace('/', '-')}.jsonl", plain=True, create=False)


def answered(passes: int) -> list[str]:
    """The lines of the notes to which every request with so many passes has a reply."""
    lines = [line for line in NOTES.read_text(encoding="utf-8").split("\n") if line]
    texts = [str(json.loads(line)["text"]) for line in lines]
    whole = set(range(len(lines)))
    for prompt in PROMPTS:
        for detectors in (("llm",), ("rules", "llm")):
            model = Replayed(MODEL, recording(prompt))
            with Deidentifier(model=model, prompt=prompt, passes=passes, detectors=detectors) as opened:
                found = opened.detect_each(texts)
            whole -= {i for i, each in enumerate(found) if isinstance(each, ModelProblem)}
    return [lines[i] for i in sorted(whole)]


def experiment(folder: Path, name: str, passes: int) -> Path:
    """Write a corpus of the notes that are answered, and an experiment over it; several passes for the model alone."""
    (folder / f"{name}.jsonl").write_text("".join(line + "\n" for line in answered(passes)), encoding="utf-8")
    spec = {
        "name": name,
        "corpora": [{"name": name, "path": f"{name}.jsonl", "synthetic": True, "split": "dev"}],
        "systems": SYSTEMS if passes == 1 else SYSTEMS[:2],
        "models": [{"name": MODEL, "api_base": "http://localhost:9/v1"}],  # never asked
        "prompts": PROMPTS,
        "passes": list(range(1, passes + 1)),
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def opened(cell: Cell) -> LanguageModel:
    assert cell.asking is not None
    return Answering(recording(cell.asking.prompt))


def main() -> None:
    """Run both experiments into one folder of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    results: Path = parser.parse_args().results
    results.mkdir(parents=True, exist_ok=True)
    for name, passes in (("notes", 1), ("dense", 2)):
        run(plan(experiment(results, name, passes), results), opened=opened)


if __name__ == "__main__":
    main()
