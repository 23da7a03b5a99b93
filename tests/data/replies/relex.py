"""How the cases for the relexicalizing agents were chosen, asked about and answers taken in, by hand.

    python tests/data/replies/relex.py cases                      (once; rewrites relex-cases-v1.jsonl)
    python tests/data/replies/relex.py ask FOLDER                 (writes FOLDER/NNN.txt and FOLDER/manifest.jsonl)
    (the answerer reads FOLDER/NNN.txt and writes REPLIES/NNN.txt, word for word)
    python tests/data/replies/relex.py take FOLDER REPLIES --about "when, by whom, with what before it"

`ask` writes out what has no recorded reply yet: every patient's notes for clustering, then the cases. A reply that
breaks the contract is asked about once more, so ask and take by turns until nothing is asked. The lines of
relex-v2.jsonl are a plain recording, addressed by the whole request.

The cases' identities are those the embedded clusterer found on the day they were chosen, frozen as lists of mentions.
No gold stands in a request; of the decisions only those were kept whose identities hold mentions of one gold identity
each, so that the right answer is known.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib.util
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from incognote.errors import ModelUnavailable
from incognote.llm.base import Reply, Request
from incognote.llm.recording import Recording
from incognote.relex.agents.llm.asking import named
from incognote.relex.agents.llm.replacing import INVENTED
from incognote.relex.agents.llm.retrieving import SOUGHT
from incognote.relex.cluster import cluster
from incognote.relex.nouns import Identity
from incognote_benchmarks.relex_replies import CORPORA, MODEL, Corpus, ask_all, hit_of, read_cases, read_corpus

HERE = Path(__file__).parent
NOTES, CASES, REPLIES = HERE.parent / "longitudinal", HERE / "relex-cases-v1.jsonl", HERE / "relex-v2.jsonl"
QUERIES, DECISIONS, SUBSTITUTES = 10, 20, 20
HITS = 4
_SHOWN = ("type", "name", "gender", "kin", "locale", "role", "kind")


def frozen(identity: Identity) -> dict[str, Any]:
    """An identity as a case keeps it."""
    about = {key: value for key, value in identity.attributes.items() if key in _SHOWN}
    about["normal"] = identity.id[:12]
    mentions = [[v.record, v.start, v.end] for v in identity.variants]
    return {
        "id": identity.id, "group": identity.group, "scope": identity.scope, "attributes": about, "mentions": mentions,
    }  # fmt: skip


def cases(corpora: Sequence[Corpus]) -> Iterator[dict[str, Any]]:
    """Queries and substitutes for a patient each; decisions about identities of later notes against earlier ones."""
    patients = sorted(((c, p) for c in corpora for p in c.patients), key=lambda cp: _shuffled(cp[0].name, cp[1]))
    for agent, count, groups, most in (("query", QUERIES, SOUGHT, 30), ("replacement", SUBSTITUTES, INVENTED, 40)):
        for at, (corpus, patient) in enumerate(patients[:count], 1):
            notes = corpus.of([patient])
            found = [one for one in cluster(v for n in notes for v in n.variants) if one.group in groups]
            row = {"id": f"{agent}-{at:02}", "corpus": corpus.name, "records": [n.record for n in notes]}
            yield row | {"identities": [frozen(one) for one in list(named(found).values())[:most]]}
    asked = [question for corpus in corpora for question in _questions(corpus)]
    for at, (corpus, records, one, hits) in enumerate(sorted(asked, key=lambda q: _shuffled(q[2].id))[:DECISIONS], 1):
        row = {"id": f"decision-{at:02}", "corpus": corpus.name, "records": records, "identities": [frozen(one)]}
        yield row | {"query": hit_of(one).identity.original, "hits": [frozen(hit) for hit in hits]}


def _questions(corpus: Corpus) -> Iterator[tuple[Corpus, list[str], Identity, list[Identity]]]:
    """Persons and organisations of a patient's last two notes, and those most like them in everybody's first two."""
    first: list[Identity] = []
    for patient in corpus.patients:
        first += cluster(v for note in corpus.of([patient])[:2] for v in note.variants)
    for patient in corpus.patients:
        last = corpus.of([patient])[2:]
        for one in cluster(v for note in last for v in note.variants):
            if one.group not in ("PERSON", "ORG") or not _pure(corpus, one):
                continue
            near = [other for other in first if other.group == one.group and _met(one, other) and _pure(corpus, other)]
            hits = sorted(near, key=lambda other: (-_alike(one, other), other.id))[:HITS]
            likely = [_alike(one, hit) for hit in hits]
            if len(likely) > 1 and likely[1] >= 60 and not _same_words(one, hits[0]):
                yield corpus, [note.record for note in last], one, sorted(hits, key=lambda hit: _shuffled(hit.id))


def _met(one: Identity, other: Identity) -> bool:
    return other.scope in ("", one.scope) or one.scope == ""


def _alike(one: Identity, other: Identity) -> float:
    return max(
        float(fuzz.token_set_ratio(a.words.casefold(), b.words.casefold()))
        for a in one.variants
        for b in other.variants
    )


def _same_words(one: Identity, other: Identity) -> bool:
    """An exact key would have found it, and nobody would have been asked."""
    return bool({v.words.casefold() for v in one.variants} & {v.words.casefold() for v in other.variants})


def _pure(corpus: Corpus, identity: Identity) -> bool:
    return len({corpus.gold[v] for v in identity.variants}) == 1


def _shuffled(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


class Deferred:
    """Answers from the recording; what it lacks is written out to be answered."""

    def __init__(self, replies: Recording, folder: Path) -> None:
        self.name, self.asked = MODEL, 0
        self._replies, self._folder = replies, folder
        self._known = {row["address"] for row in _rows(folder / "manifest.jsonl")}

    async def complete(self, request: Request) -> Reply:
        address = request.address(MODEL)
        known = self._replies.reply(address)
        if known is not None:
            return known
        if address not in self._known:
            name = f"{len(self._known) + 1:03}"
            self._known.add(address)
            (self._folder / f"{name}.txt").write_text(_whole(request), encoding="utf-8")
            with (self._folder / "manifest.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps({"file": name, "address": address, "prompt": _prompt(request)}) + "\n")
        self.asked += 1
        raise ModelUnavailable("not answered yet")

    async def aclose(self) -> None:
        """Nothing is held."""


def _prompt(request: Request) -> str:
    """Which agent's prompt it is, by its contract."""
    signs = {'PERSON_1": [': "cluster/v1", '"Q1": [': "decision/v2", '"replacement"': "replacement/v2"}
    return f"relex/{next((a for sign, a in signs.items() if sign in request.messages[0].content), 'query/v2')}"


def _whole(request: Request) -> str:
    return "\n\n".join(message.content for message in request.messages) + "\n"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line] if path.exists() else []


def ask(folder: Path) -> int:
    """Write out every request that has no reply yet; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    corpora = {name: read_corpus(name, NOTES) for name in CORPORA}
    model = Deferred(Recording(REPLIES, plain=True), folder)
    asyncio.run(ask_all(model, corpora, read_cases(CASES, corpora)))
    return model.asked


def take(folder: Path, replies: Path, about: str) -> int:
    """Take every written reply into the recording; returns how many."""
    line = _line()
    known = {row["address"] for row in _rows(REPLIES)}
    new = []
    for row in _rows(folder / "manifest.jsonl"):
        reply = replies / f"{row['file']}.txt"
        if reply.exists() and row["address"] not in known:
            new.append(line(row["address"], row["prompt"], reply.read_text(encoding="utf-8"), about))
    with REPLIES.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(one) + "\n" for one in new)
    return len(new)


def _line() -> Any:
    spec = importlib.util.spec_from_file_location("make", HERE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.line


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return len(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("cases")
    asking = verbs.add_parser("ask")
    asking.add_argument("folder", type=Path)
    taking = verbs.add_parser("take")
    taking.add_argument("folder", type=Path)
    taking.add_argument("replies", type=Path)
    taking.add_argument("--about", default="", help="when and by whom it was answered, as far as is known")
    given = parser.parse_args()
    if given.verb == "cases":
        print(_write(CASES, cases([read_corpus(name, NOTES) for name in CORPORA])), "cases")
    elif given.verb == "ask":
        print(ask(given.folder), "requests to answer")
    else:
        print(take(given.folder, given.replies, given.about), "replies taken")
