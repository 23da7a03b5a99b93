"""How the recorded replies were asked for and taken in, by hand, where no model's server can be reached.

    python tests/data/replies/make.py ask NOTES.jsonl REPLIES.jsonl FOLDER --prompt extract/v2 --chunk-words 256 600
    (the answerer reads FOLDER/NAME.prompt.txt and writes FOLDER/NAME.reply.txt, word for word)
    python tests/data/replies/make.py take REPLIES.jsonl FOLDER

`ask` runs the pipeline over the notes with each chunk size, and writes each request without a recorded reply as a file.
Sizes that make the same request share its file. A second pass needs the first one's reply, so repeat `ask` and `take`
until no request is left. The lines are a plain recording (`Recording(..., plain=True)`), addressed by the whole
request: a changed prompt finds no reply.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from incognote import Deidentifier
from incognote.errors import ModelUnavailable
from incognote.llm.base import Reply, Request
from incognote.llm.recording import Recording
from incognote.settings import CHUNK_WORDS, read_passes

NAME = "recorded/large-language-model"
FEW = 8
"""Texts for one Deidentifier. After 10 texts without a reply, it would stop asking."""


def whole(request: Request) -> str:
    """A request as one text, for the answerer."""
    return "\n\n".join(message.content for message in request.messages) + "\n"


class Deferred:
    """Answers from the recording; what it lacks is written out to be answered."""

    def __init__(self, replies: Recording, folder: Path, prompt: str) -> None:
        self.name, self.asked = NAME, set[str]()
        self._replies, self._folder, self._prompt = replies, folder, prompt

    async def complete(self, request: Request) -> Reply:
        address = request.address(NAME)
        known = self._replies.reply(address)
        if known is not None:
            return known
        name = hashlib.sha256(address.encode()).hexdigest()[:12]
        (self._folder / f"{name}.prompt.txt").write_text(whole(request), encoding="utf-8")
        about = {"address": address, "prompt": self._prompt}
        (self._folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")
        self.asked.add(name)
        await asyncio.sleep(0.2)  # so that the note's other chunks are asked about, too
        raise ModelUnavailable("not answered yet")

    async def aclose(self) -> None:
        """Nothing is held."""


def ask(notes: Path, replies: Path, folder: Path, prompt: str, passes: int | str, sizes: Sequence[int]) -> int:
    """Write out every request that has no reply yet; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [json.loads(line)["text"] for line in notes.read_text(encoding="utf-8").split("\n") if line]
    model = Deferred(Recording(replies, plain=True), folder, prompt)
    for words in sizes:
        for at in range(0, len(texts), FEW):
            with Deidentifier(model=model, prompt=prompt, passes=passes, chunk_words=words) as made:
                made.detect_each(texts[at : at + FEW])
    return len(model.asked)


def take(replies: Path, folder: Path, about: str) -> int:
    """Take every written reply into the file; returns how many."""
    taken = 0
    known = {json.loads(line)["address"] for line in replies.read_text().splitlines()} if replies.exists() else set()
    with replies.open("a", encoding="utf-8") as out:
        for facts in sorted(folder.glob("*.json")):
            reply = facts.with_suffix("").with_suffix(".reply.txt")
            told = json.loads(facts.read_text(encoding="utf-8"))
            if not reply.exists() or told["address"] in known:
                continue
            text = reply.read_text(encoding="utf-8")
            out.write(json.dumps(line(told["address"], told["prompt"], text, about)) + "\n")
            taken += 1
    return taken


def line(address: str, prompt: str, text: str, about: str) -> dict[str, object]:
    """One line of a plain recording. Usage is counted by characters / 4: the model's own count is unknown."""
    usage = {"input": 0, "output": -(-len(text) // 4), "cached": 0, "calls": 1, "usd": None}
    value = {"text": text, "finish": "stop", "usage": usage, "seconds": 0.0, "model": NAME}
    return {"address": address, "kind": "reply", "prompt": prompt, "about": about, "value": value}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask")
    asking.add_argument("notes", type=Path)
    asking.add_argument("replies", type=Path)
    asking.add_argument("folder", type=Path)
    asking.add_argument("--prompt", default="extract/v2")
    asking.add_argument("--passes", type=read_passes, default="need")
    asking.add_argument("--chunk-words", type=int, nargs="+", default=[CHUNK_WORDS], help="for whole notes, 100000")
    taking = verbs.add_parser("take")
    taking.add_argument("replies", type=Path)
    taking.add_argument("folder", type=Path)
    taking.add_argument("--about", default="", help="when and by whom it was answered, as far as is known")
    given = parser.parse_args()
    if given.verb == "ask":
        how = (given.prompt, given.passes, given.chunk_words)
        print(ask(given.notes, given.replies, given.folder, *how), "requests to answer")
    else:
        print(take(given.replies, given.folder, given.about), "replies taken")
