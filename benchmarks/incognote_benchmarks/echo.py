"""Record echoes by hand: a model writes each note again with marks in place of identifiers (RedactOR, section A.3).

    python -m incognote_benchmarks.echo ask NOTES.jsonl FOLDER [--baseline brief|detailed|redacted]
    (the answerer reads FOLDER/ID.prompt.txt and writes FOLDER/ID.reply.txt, word for word)
    python -m incognote_benchmarks.echo take FOLDER REPLIES.jsonl

Use one folder for each baseline. The replies can go to one file, because each is stored under its whole request.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

from incognote.errors import UsageError
from incognote.jsonlines import read_rows
from incognote.llm.base import Reply, Usage
from incognote.llm.recording import Recording
from incognote_benchmarks.peers.echo import baselines, echo_request
from incognote_benchmarks.recorded import MODEL

_ADDRESSES = "addresses.json"


def ask(notes: Path, folder: Path, baseline: str) -> int:
    """Write a prompt for each note, and return how many.

    Raises:
        UsageError: a note's id cannot be a file name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    addresses: dict[str, str] = {}
    for number, row in read_rows(notes):
        if not re.fullmatch(r"\w[\w.-]*", row["id"]):
            raise UsageError(f"{notes.name}, line {number}: the id must consist of letters, digits, '.', '_', and '-'.")
        request = echo_request(row["text"], baselines()[baseline])
        prompt = "\n\n".join(message.content for message in request.messages)
        (folder / f"{row['id']}.prompt.txt").write_text(prompt + "\n", encoding="utf-8")
        addresses[row["id"]] = request.address(MODEL)
    (folder / _ADDRESSES).write_text(json.dumps(addresses), encoding="utf-8")
    return len(addresses)


def take(folder: Path, replies: Path) -> int:
    """Add the replies in a folder to a plain recording, and return how many notes have one. A token is 4 characters."""
    recording = Recording(replies, plain=True)
    taken = 0
    for name, address in json.loads((folder / _ADDRESSES).read_text(encoding="utf-8")).items():
        written = folder / f"{name}.reply.txt"
        if written.exists():
            text = written.read_text(encoding="utf-8")
            recording.keep_reply(address, Reply(text, usage=Usage(output=-(-len(text) // 4), calls=1), model=MODEL))
            taken += 1
    recording.close()
    return taken


def main(arguments: Sequence[str] | None = None) -> None:
    """Write prompts, or take replies."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.echo", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask", help="write the prompts")
    asking.add_argument("notes", type=Path)
    asking.add_argument("folder", type=Path)
    asking.add_argument("--baseline", default="detailed", choices=sorted(baselines()))
    taking = verbs.add_parser("take", help="add the replies to a recording")
    taking.add_argument("folder", type=Path)
    taking.add_argument("replies", type=Path)
    given = parser.parse_args(arguments)
    if given.verb == "ask":
        print(ask(given.notes, given.folder, given.baseline), "prompts to answer")  # noqa: T201 -- a program that prints
    else:
        print(take(given.folder, given.replies), "replies taken")  # noqa: T201 -- as above


if __name__ == "__main__":
    main()
