"""Compare the processor time, calls, and tokens per note of this checkout with those of an older one.

    git worktree add FOLDER 1bf15fa
    python benchmarks/scripts/cost_of_note.py --before FOLDER [--notes NOTES.jsonl] [--out JSON]

Each checkout runs in its own process with its own defaults: rules, encoder, and a model that answers at once from the
gold. The processor time leaves out the model's. It is the minimum of several rounds, which alternate between the
checkouts. Tokens are characters / 4 and include the schema. The corpus is the notes of up to 256 words.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROUNDS = 3
WORDS = 256


class Instant:
    """A model that names the gold of a note in its first pass, and nothing in a later one."""

    name = "scripted/instant"

    def __init__(self, replies: dict[str, str]) -> None:
        self._replies = replies
        self.calls = self.characters_in = self.characters_out = 0
        self.seconds = 0.0

    async def complete(self, request: Any) -> Any:
        from incognote.llm.base import Reply, Usage

        began = time.thread_time()
        shown = request.messages[-1].content
        text = next((reply for note, reply in self._replies.items() if note in shown), "{}")
        self.calls += 1
        self.characters_in += sum(len(m.content) for m in request.messages) + len(json.dumps(request.schema or ""))
        self.characters_out += len(text)
        self.seconds += time.thread_time() - began
        return Reply(text, usage=Usage(calls=1))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def measured(notes: Path) -> dict[str, float]:
    """Run all notes once, and return the means per note."""
    from incognote import Deidentifier

    replies = {}
    for line in notes.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        if len(note["text"].split()) <= WORDS:
            named: dict[str, list[str]] = {}
            for span in note["spans"]:
                named.setdefault(span["type"], []).append(f"<<{note['text'][span['start'] : span['end']]}>>")
            replies[note["text"].strip()] = json.dumps(named)
    texts, model = list(replies), Instant(replies)
    with Deidentifier(model=model) as deid:
        list(deid.batch(texts[:4]))  # load tables and compile graphs
        model.calls = model.characters_in = model.characters_out = 0
        model.seconds, began = 0.0, time.process_time()
        list(deid.batch(texts))
        seconds = time.process_time() - began - model.seconds
    counts = {"calls": model.calls, "tokens_in": model.characters_in / 4, "tokens_out": model.characters_out / 4}
    return {"notes": len(texts), "ms": 1000 * seconds / len(texts), **{k: v / len(texts) for k, v in counts.items()}}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both checkouts in turns, and print a line for each."""
    here = Path(__file__).parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout of the older commit")
    parser.add_argument("--notes", type=Path, default=here / "tests" / "data" / "notes.jsonl")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    if given.before is None:
        print(json.dumps(measured(given.notes)))  # noqa: T201 -- for the process that started this one
        return
    best: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for name, root in (("before", given.before), ("after", here)):
            path = os.pathsep.join(str(root / part) for part in ("", "languages/en"))
            command = [sys.executable, __file__, "--notes", str(given.notes.resolve())]
            run = subprocess.run(  # noqa: S603 -- this script
                command, env={**os.environ, "PYTHONPATH": path}, cwd=root, capture_output=True, text=True, check=True
            )
            told = json.loads(run.stdout.splitlines()[-1])
            best[name] = min(best.get(name, told), told, key=lambda each: float(each["ms"]))
    for name, each in best.items():
        print(  # noqa: T201 -- this is a program that prints
            f"{name}: {each['ms']:.1f} ms, {each['calls']:.2f} calls, {each['tokens_in']:,.0f} tokens in, "
            f"{each['tokens_out']:,.0f} out per note ({each['notes']} notes)"
        )
    if given.out:
        given.out.write_text(json.dumps(best, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
