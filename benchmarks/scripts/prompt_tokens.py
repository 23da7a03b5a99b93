"""Compare the calls and tokens per text of this checkout with those of an older one, with recorded replies.

    git worktree add FOLDER 1bf15fa
    python benchmarks/scripts/prompt_tokens.py --before FOLDER --notes NOTES.jsonl ... [--out JSON]

Each checkout runs in its own process with its own defaults: rules, encoder, prompt, chunks, and passes. This checkout
gets the recorded replies. No replies to the older prompt are recorded for these texts, so it gets `{}`, and its replies
are taken to be as long as those of this checkout. Its second pass therefore sees no masks. Tokens are characters / 4.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
REPLIES = HERE / "tests" / "data" / "replies" / "extract-v3.jsonl"


class Counting:
    """A model that counts its calls and their characters. It answers from a recording, or with `{}`."""

    name = "recorded/large-language-model"
    replays = True  # so that a text without a recorded reply does not end the run

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.calls = self.characters_in = self.schema = self.characters_out = 0

    async def complete(self, request: Any) -> Any:
        from incognote.llm.base import Reply, Usage

        reply = await self._inner.complete(request) if self._inner else Reply("{}", usage=Usage(calls=1))
        self.calls += 1
        self.characters_in += sum(len(message.content) for message in request.messages)
        self.schema += len(json.dumps(request.schema)) if request.schema else 0
        self.characters_out += len(reply.text)
        return reply

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def counted(texts: list[str], replies: Path | None) -> dict[str, float]:
    """Run all texts once, and return the means per text."""
    from incognote import Deidentifier

    inner = None
    if replies is not None:
        from incognote.llm.recording import Recording, Replayed

        inner = Replayed(Counting.name, Recording(replies, plain=True, create=False))
    model = Counting(inner)
    with Deidentifier(model=model) as deid:
        results = list(deid.batch(texts))
    held = sum(any(r.code.startswith("model-") for r in each.verdict.reasons) for each in results)
    sums = {"in": model.characters_in / 4, "schema": model.schema / 4, "out": model.characters_out / 4}
    means = {name: round(total / len(texts), 1) for name, total in sums.items()}
    return {"calls": round(model.calls / len(texts), 3), "held": held, **means}


def main(arguments: Sequence[str] | None = None) -> None:
    """Count both checkouts for each file of notes, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout of the older commit")
    parser.add_argument("--notes", type=Path, nargs="+", required=True)
    parser.add_argument("--replies", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    if given.before is None:
        texts = [json.loads(line)["text"] for line in given.notes[0].read_text(encoding="utf-8").split("\n") if line]
        print(json.dumps(counted(texts, given.replies)))  # noqa: T201 -- for the process that started this one
        return
    figures: dict[str, Any] = {"counted": "characters / 4, mean per text", "about": __doc__.split("\n\n")[2]}
    for notes in given.notes:
        row: dict[str, Any] = {"n": sum(1 for line in notes.read_text(encoding="utf-8").split("\n") if line)}
        for name, root, replies in (("before", given.before, []), ("now", HERE, ["--replies", str(REPLIES)])):
            path = os.pathsep.join(str(root / part) for part in ("", "languages/en"))
            command = [sys.executable, __file__, "--notes", str(notes.resolve()), *replies]
            run = subprocess.run(  # noqa: S603 -- this script
                command, env={**os.environ, "PYTHONPATH": path}, cwd=root, capture_output=True, text=True, check=True
            )
            row[name] = json.loads(run.stdout.splitlines()[-1])
        row["before"]["out"] = row["now"]["out"]
        for title, parts in (("ratio", ("in", "out")), ("ratio with the schema", ("in", "out", "schema"))):
            now, before = (sum(row[which][part] for part in parts) for which in ("now", "before"))
            row[title] = round(now / before, 3)
        figures[f"{notes.stem} (synthetic)"] = row
        print(notes.stem, json.dumps(row))  # noqa: T201 -- this is a program that prints
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
