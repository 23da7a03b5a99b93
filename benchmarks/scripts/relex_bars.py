"""Check the loop at scale: processes that meet the same people at once, in different orders, on one index.

    python benchmarks/scripts/relex_bars.py --patients 200 --processes 8
    python benchmarks/scripts/relex_bars.py --index "opensearch://localhost:9200/bars?tls=off&replicas=0&vectors=off"

It prints JSON: whether the partition in the index is the one that the clusterer makes of all mentions; whether all
processes gave each stable note the same strings; how many surrogates two identities share (none is allowed); and the
time. Notes are made up, with names from the pools. Each process handles every note on its own, without knowing of the
others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex import partition
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import Tools
from incognote.relex.cluster import cluster, variant
from incognote.relex.graph import relexicalize
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.opening import open_index
from incognote.relex.nouns import MentionVariant
from incognote.relex.pools import pools

_KEY = Keyring(b"a key of 32 bytes for these bars" * 2)
_SEED = 11


def notes(patients: int) -> list[RelexNote]:
    """Two notes per patient: the first has everybody's whole name, the second title and surname."""
    draw = random.Random(_SEED)  # noqa: S311 -- made-up notes, not a secret
    english = pools().people["en"]
    given = [*english.given["female"], *english.given["male"]]
    names = [*english.surname, *english.more]
    staff = [(draw.choice(given), name) for name in draw.sample(names, max(3, patients // 8))]
    made = []
    for n in range(patients):
        first, last = draw.choice(given), draw.choice(names)
        doctor, kin = draw.choice(staff), draw.choice(given)
        whole = [("PATIENT", f"{first} {last}"), ("CLINICIAN", " ".join(doctor)), ("RELATIVE", f"{kin} {last}")]
        short = [("PATIENT", f"{last.upper()}, {first.upper()}"), ("CLINICIAN", doctor[1]), ("RELATIVE", kin)]
        for visit, mentions in enumerate((whole, short)):
            made.append(_note(f"{n}-{visit}", f"p{n}", [*mentions, ("MEDICAL_RECORD_NUMBER", f"{7_000_000 + n}")]))
    return made


def _note(record: str, patient: str, mentions: list[tuple[str, str]]) -> RelexNote:
    content, spans = "", []
    for kind, words in mentions:
        content += "Dr. " if kind == "CLINICIAN" else "Seen: "
        spans.append((len(content), len(content) + len(words), kind))
        content += f"{words}. "
    text = Text(content)
    found = [variant(Span(text, *span), record=record, patient=patient, domain="bars") for span in spans]
    return RelexNote(record, patient, "bars", {"": content}, tuple(sorted(found)))


async def work(url: str, patients: int, seed: int) -> None:
    """Run one process: every note on its own. Print the strings of the first notes, which identify their people."""
    async with await open_index(url, _KEY) as index:
        tools = Tools(index, _KEY)
        given: dict[str, list[str]] = {}
        moved = 0
        every = notes(patients)
        for note in random.Random(seed).sample(every, len(every)):  # noqa: S311 -- an order, not a secret
            outcome = await relexicalize([note], tools)
            moved += outcome.report.moved
            if note.record.endswith("-0"):
                given[note.record] = [outcome.shown[v].text for v in note.variants]
    sys.stdout.write(json.dumps({"given": given, "moved": moved}) + "\n")


async def judge(index: SurrogateIndex, patients: int) -> dict[str, object]:
    """The state of the index after all processes have ended."""
    mentions = sorted(v for note in notes(patients) for v in note.variants)
    together: dict[str, set[MentionVariant]] = defaultdict(set)
    wholes: Counter[tuple[str, str]] = Counter()
    for one, found in (await partition.led(index, mentions)).items():
        if found:
            entry = partition.latest(found)
            if one not in together[entry.id] and not together[entry.id]:
                wholes[entry.place.scope, entry.whole] += 1
            together[entry.id].add(one)
    wanted = {frozenset(i.variants) for i in cluster(mentions) if i.group in partition.INDEXED}
    return {
        "mentions": len(mentions),
        "identities": len(wanted),
        "partition_as_clustered": {frozenset(one) for one in together.values()} == wanted,
        "surrogates_shared_in_a_scope": sum(count > 1 for count in wholes.values()),
    }


async def main(asked: argparse.Namespace, folder: str) -> None:
    """Start the processes, wait for them, and judge the result."""
    url = asked.index or f"sqlite:///{folder}/bars.db?vectors=off"
    index = await open_index(url, _KEY, create=True)
    began = time.perf_counter()
    own = [sys.executable, str(Path(__file__)), "--patients", str(asked.patients), "--worker"]
    workers = [
        subprocess.Popen([*own, f"{seed}:{url}"], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220, S603 -- nothing else runs; this very file
        for seed in range(asked.processes)
    ]
    outputs = [json.loads(worker.communicate()[0]) for worker in workers]
    took = time.perf_counter() - began
    async with index:
        result = await judge(index, asked.patients)
        result |= {
            "corpus": "made-up notes of the pools' names",
            "index": index.vendor,
            "processes": asked.processes,
            "notes_each": 2 * asked.patients,
            "same_strings_everywhere": all(one["given"] == outputs[0]["given"] for one in outputs),
            "draws_moved": sum(one["moved"] for one in outputs),
            "seconds": round(took, 1),
        }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--index", help="an address; default: a temporary SQLite file")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        seed, _, url = given.worker.partition(":")
        asyncio.run(work(url, given.patients, int(seed)))
    else:
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(main(given, place))
