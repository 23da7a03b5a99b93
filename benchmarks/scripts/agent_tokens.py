"""Count the calls and tokens of the four relexicalization agents if a language model plays all of them.

    python benchmarks/scripts/agent_tokens.py --out docs/measured/agent_tokens.json

The longitudinal notes are relexicalized with their gold spans: one note at a time, all at once, and one note at a time
with agents_for = "doubtful". Each time has a new index and the embedded embedder. The model declines every request, so
the embedded agents decide and the next request is as it would be. Only the decision agent's requests are answered, with
no. Tokens are characters / 4 of each request as it is sent. Replies are not counted, except the decision agent's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from incognote.embedding import open_embedder
from incognote.keys import Keyring
from incognote.llm.base import Reply, Request
from incognote.relex.agents.llm import (
    DoubtfulClusterer,
    LlmClusterer,
    LlmQuerier,
    LlmReplacer,
    LlmValidator,
    ModelAsker,
)
from incognote.relex.batch import Agents, Tools
from incognote.relex.graph import relexicalize
from incognote.testing.memory_index import MemoryIndex
from incognote_benchmarks.relex_replies import CORPORA, read_corpus

_KEY = Keyring(bytes(32))
_QUESTION = re.compile(r"^(Q\d+): .+(?:\n  [a-z]+: .+)*((?:\n  \d+ .+)+)", re.MULTILINE)


class Counting:
    """A model that counts requests. It answers decisions with no, and declines everything else."""

    name = "counting"

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    async def complete(self, request: Request) -> Reply:
        self.counts["calls"] += 1
        self.counts["characters"] += sum(len(message.content) for message in request.messages)
        questions = _QUESTION.findall(request.messages[1].content)
        if not questions:
            return Reply("", "refusal")
        said = json.dumps({name: ["N"] * hits.count("\n") for name, hits in questions})
        self.counts["questions"] += len(questions)
        self.counts["characters"] += len(said)
        return Reply(said)

    async def aclose(self) -> None:
        """Nothing is open."""


HOW = ("note by note", "all at once", "note by note, doubtful identities only")


async def counted(corpus: str, how: str) -> dict[str, Any]:
    """Relexicalize a corpus in one of three ways, and return calls and tokens per note by agent."""
    notes = read_corpus(corpus).notes
    embedder = open_embedder("embedded")
    models = {name: Counting() for name in ("cluster", "query", "decision", "replacement")}
    ask = {name: ModelAsker(model, consents=True) for name, model in models.items()}
    clusterer, validator = LlmClusterer(ask["cluster"]), LlmValidator(ask["decision"])
    if "doubtful" in how:  # as with agents_for = "doubtful"
        agents = Agents(clusterer=DoubtfulClusterer(clusterer), validator=validator)
    else:
        agents = Agents(clusterer, LlmQuerier(ask["query"]), validator, LlmReplacer(ask["replacement"]))
    tools = Tools(MemoryIndex(_KEY, dimension=embedder.dimension), _KEY, agents=agents, embedder=embedder)
    for portion in [list(notes)] if how == "all at once" else [[note] for note in notes]:
        await relexicalize(portion, tools)
    return {
        "notes": len(notes),
        **{
            name: {
                "calls": model.counts["calls"],
                "tokens per note": round(model.counts["characters"] / 4 / len(notes)),
            }
            for name, model in models.items()
        },
    }


def main() -> None:
    """Print the counts; with `--out`, also write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the report here as `now`; other keys of the file stay")
    given = parser.parse_args()
    report = {name: {how: asyncio.run(counted(name, how)) for how in HOW} for name in CORPORA}
    print(json.dumps(report, indent=1))  # noqa: T201 -- this is a program that prints
    if given.out:
        kept = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
        given.out.write_text(json.dumps({**kept, "now": report}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
