"""The questions for a better guideline that the recorded replies give rise to, and how answers to them were taken in.

    python tests/data/replies/propose.py ask FOLDER
    (the answerer reads FOLDER/NAME.prompt.txt and writes FOLDER/NAME.reply.txt, word for word)
    python tests/data/replies/propose.py take FOLDER --about "when, by whom, with what before it"

Errors are those of the recorded first passes over ../notes.jsonl; the question is about the type with the most of them.
The lines of propose-v1.jsonl are a plain recording, addressed by the whole request.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

from incognote.errors import ModelProblem
from incognote.evaluation.corpus import Gold, LabeledSpan, read_gold
from incognote.evaluation.lab.proposing import Mistakes, mistakes, propose_prompt, some
from incognote.llm.base import Request
from incognote.prompts.loader import asked, load
from incognote.schemas.policy import load_policy
from incognote_benchmarks.recorded import MODEL, System

HERE = Path(__file__).parent
SYSTEMS = (System("prompt 1", "extract/v1", detectors=()), System("prompt 2", "extract/v2", detectors=()))


def worst(system: System) -> tuple[str, Mistakes]:
    """The type with the most errors of a recorded system, over the notes it has replies for."""
    gold = [one for one in read_gold(HERE.parent / "notes.jsonl") if isinstance(one, Gold)]
    with system.open(HERE) as deid:
        found = deid.detect_each([one.text for one in gold])
    read = [(g, f) for g, f in zip(gold, found, strict=True) if not isinstance(f, ModelProblem)]
    labels = [[LabeledSpan(span.start, span.end, span.type) for span in spans] for _, spans in read]
    made = mistakes([g for g, _ in read], labels, load_policy("strict"))
    return max(made.items(), key=lambda item: (len(item[1]), item[0]))


def request(system: System, type_: str, errors: Mistakes) -> Request:
    """The question about a type, as the lab asks it."""
    about = asked(load_policy("strict"))[type_]
    said = load(system.prompt or "").sections["guidelines"]
    return propose_prompt("propose/v1").request(type_, about, said, some(errors.missed, 1), some(errors.wrong, 1))


def _line() -> Any:
    spec = importlib.util.spec_from_file_location("make", HERE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("ask", "take"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--about", default="")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    make, rows = _line(), []
    for system in SYSTEMS:
        type_, errors = worst(system)
        question = request(system, type_, errors)
        name = f"{(system.prompt or '').replace('/', '-')}-{type_}"
        if given.verb == "ask":
            (given.folder / f"{name}.prompt.txt").write_text(make.whole(question), encoding="utf-8")
            print(name, len(errors.missed), "missed,", len(errors.wrong), "wrong")
        else:
            said = (given.folder / f"{name}.reply.txt").read_text(encoding="utf-8")
            rows.append(make.line(question.address(MODEL), "propose/v1", said, given.about))
    if rows:
        written = "".join(json.dumps(row) + "\n" for row in rows)
        (HERE / "propose-v1.jsonl").write_text(written, encoding="utf-8")
