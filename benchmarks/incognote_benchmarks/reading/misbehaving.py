"""Count the calls that each misbehavior of a model costs, for one chunk.

    python -m incognote_benchmarks.reading.misbehaving [--out JSON]

Every reply of the scripted model is bad in the same way. The note has 258 words (synthetic) and is one chunk.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incognote.sdk import Deidentifier
from incognote.testing import MISBEHAVIOURS, Misbehaviour, ScriptedLLM
from incognote_benchmarks.script import Script

WORDS = 258
PEOPLE = ("tashkin", "okoro", "dunsany", "halvik", "sorrel", "quade")


def note() -> str:
    """Return the note: names in lower case, which only the model finds, in clinical sentences."""
    sentences = (f"on rounds {name} reports a dry cough and night sweats since the last visit." for name in PEOPLE)
    text = " ".join(sentences)
    filler = ("metoprolol", "was", "kept", "and", "the", "wound", "is", "dry")
    return text + " " + " ".join(filler[i % len(filler)] for i in range(WORDS - len(text.split())))


def cost(name: str) -> dict[str, Any]:
    """Return what one misbehavior costs: the calls about the chunk, the outcome, and the reason codes."""
    text = note()
    findings = [("PERSON", word, text.index(word), text.index(word) + len(word)) for word in PEOPLE]
    bad = Misbehaviour(name, 1.0, hang=0.0, slow=0.0, retry_after=0.0)
    model = ScriptedLLM(Script({text: findings}), misbehaviour=bad)
    with Deidentifier(model=model, detectors=("rules", "llm"), chunk_words=600) as deid:
        result = deid.deidentify(text)
    codes = sorted({reason.code for reason in result.verdict.reasons})
    return {"calls": model.calls, "outcome": result.verdict.outcome, "codes": codes}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON if requested."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.reading.misbehaving", description=__doc__)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    costs = {name: cost(name) for name in MISBEHAVIOURS}
    for name, row in costs.items():
        print(f"{name:<22}{row['calls']:>3}  {row['outcome']:<11} {', '.join(row['codes'])}")  # noqa: T201 -- prints
    if given.out:
        given.out.write_text(json.dumps(costs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
