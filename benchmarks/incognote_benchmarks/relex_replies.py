"""Score the recorded replies of a large language model to the relexicalizing agents.

    python -m incognote_benchmarks.relex_replies [--replies FOLDER] [--notes FOLDER] [--out JSON]

The replies were given to exactly the prompts that the agents render (`tests/data/replies/README.md` says by whom and
how). They are replayed, and no model is asked. A patient or case is left out if any of its requests has no recorded
reply.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from incognote.errors import ModelUnavailable, Unread
from incognote.evaluation.relex.consistency import bcubed, repeated
from incognote.jsonlines import read_rows
from incognote.keys import Keyring
from incognote.llm.base import LanguageModel
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span, Text
from incognote.relex.agents.base import HitQuestion, RelexNote
from incognote.relex.agents.llm import LlmClusterer, LlmQuerier, LlmReplacer, LlmValidator, ModelAsker
from incognote.relex.cluster import cluster, variant
from incognote.relex.cluster.grouping import shared
from incognote.relex.generate import KeyedDraw, UsedSurrogates
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, IndexHit
from incognote.relex.nouns import Identity, MentionVariant

T = TypeVar("T")
MODEL = "recorded/large-language-model"
REPLIES, NOTES = Path("tests/data/replies"), Path("tests/data/longitudinal")
CORPORA = ("notes", "blind", "blind2", "blind8", "blind9")
NAMES = ("PATIENT", "RELATIVE", "CLINICIAN", "PERSON")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Longitudinal notes with gold identities, all in one domain."""

    name: str
    notes: tuple[RelexNote, ...]
    gold: Mapping[MentionVariant, str] = field(repr=False)

    @property
    def patients(self) -> list[str]:
        return sorted({note.patient for note in self.notes})

    def of(self, patients: Iterable[str]) -> list[RelexNote]:
        """The notes of some patients."""
        wanted = set(patients)
        return [note for note in self.notes if note.patient in wanted]


def read_corpus(name: str, folder: Path = NOTES) -> Corpus:
    """Read a file of the folder, with its gold spans as mentions."""
    notes: list[RelexNote] = []
    gold: dict[MentionVariant, str] = {}
    for _, row in read_rows(folder / f"{name}.jsonl"):
        text = Text(row["text"])
        about = {"record": row["id"], "patient": row["patient"], "domain": name}
        found = {variant(Span(text, s["start"], s["end"], s["type"]), **about): s["identity"] for s in row["spans"]}
        gold |= found
        notes.append(RelexNote(row["id"], row["patient"], name, {"": row["text"]}, tuple(sorted(found))))
    return Corpus(name, tuple(notes), gold)


@dataclass(frozen=True, slots=True)
class Case:
    """One question to the query, decision, or replacement agent, exactly as it was asked.

    Args:
        id: such as decision-07, with the agent's name before the dash.
        corpus, records: the notes that the agent sees.
        identities: the identities in question; a decision has one.
        query, hits: for a decision.
    """

    id: str
    corpus: str
    records: tuple[str, ...]
    identities: tuple[Identity, ...] = field(repr=False)
    query: str = field(default="", repr=False)
    hits: tuple[Identity, ...] = field(default=(), repr=False)

    @property
    def agent(self) -> str:
        return self.id.partition("-")[0]


def read_cases(file: Path, corpora: Mapping[str, Corpus]) -> list[Case]:
    """Read cases. Mentions are stored as [record, start, end], so that a later clusterer cannot change them."""
    places = {name: {(v.record, v.start, v.end): v for v in corpus.gold} for name, corpus in corpora.items()}
    cases = []
    for _, row in read_rows(file):
        corpus = row["corpus"]

        def identity(told: Mapping[str, Any], corpus: str = corpus) -> Identity:
            members = tuple(sorted(places[corpus][tuple(place)] for place in told["mentions"]))
            return Identity(told["id"], told["group"], corpus, told["scope"], members, told["attributes"])

        cases.append(
            Case(
                row["id"],
                corpus,
                tuple(row["records"]),
                tuple(identity(one) for one in row["identities"]),
                row.get("query", ""),
                tuple(identity(one) for one in row.get("hits", ())),
            )
        )
    return cases


def hit_of(identity: Identity) -> IndexHit:
    """The hit that the index would return for an identity."""
    original = identity.attributes.get("name") or max((v.words for v in identity.variants), key=lambda w: (len(w), w))
    place = IdentityPlace(identity.domain, identity.scope, identity.group)
    kind = identity.attributes["type"]
    return IndexHit(IndexedIdentity(identity.id, place, kind, {}, "-", identity.attributes, original), 0.0)


@dataclass(slots=True)
class Answers:
    """The agents' answers by patient or case. Cases that were not recorded are absent; `unread` lists unusable ones."""

    partitions: dict[str, list[Identity]] = field(default_factory=dict, repr=False)
    unread: list[str] = field(default_factory=list)
    queries: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    decisions: dict[str, list[bool]] = field(default_factory=dict)
    substitutes: dict[str, tuple[UsedSurrogates, dict[str, Any]]] = field(default_factory=dict, repr=False)
    refused: int = 0


async def ask_all(model: LanguageModel, corpora: Mapping[str, Corpus], cases: Sequence[Case]) -> Answers:
    """Ask every question, one after the other, so that they come in a fixed order if a person answers them."""
    said = Answers()
    asker = ModelAsker(model)
    for name, corpus in corpora.items():
        answered = []
        for patient in corpus.patients:
            if await _answer(said, f"{name} {patient}", LlmClusterer(asker).cluster(corpus.of([patient]))) is not None:
                answered.append(patient)
        if answered:  # once more together, for staff and institutions across patients
            said.partitions[name] = await LlmClusterer(asker).cluster(corpus.of(answered))
    for case in cases:
        notes = [note for note in corpora[case.corpus].notes if note.record in case.records]
        if case.agent == "query":
            found = await _answer(said, case.id, LlmQuerier(asker).query(case.identities, notes))
            if found is not None:
                said.queries[case.id] = found
        elif case.agent == "decision":
            question = HitQuestion(case.identities[0], case.query, tuple(hit_of(one) for one in case.hits))
            if (yes := await _answer(said, case.id, LlmValidator(asker).validate([question], notes))) is not None:
                said.decisions[case.id] = yes[0]
        else:
            taken, replacer = UsedSurrogates(), LlmReplacer(asker)
            given = await _answer(said, case.id, replacer.replace(case.identities, KeyedDraw(_KEY), taken, notes))
            if given is not None:
                said.substitutes[case.id] = (taken, dict(given))
                said.refused += sum(replacer.refused.values())
    return said


_KEY = Keyring(bytes(32))


async def _answer(said: Answers, about: str, asked: Awaitable[T]) -> T | None:
    """The answer, or None if it is not recorded or not usable. Unusable ones are listed in `unread`."""
    try:
        return await asked
    except Unread:
        said.unread.append(about)
    except ModelUnavailable:
        return None
    return None


def replayed(replies: Path = REPLIES, notes: Path = NOTES) -> tuple[dict[str, Corpus], list[Case], Answers]:
    """Replay the recorded answers. Returns the corpora, the cases, and the answers.

    Raises:
        SettingError: there is no recording.
    """
    corpora = {name: read_corpus(name, notes) for name in CORPORA}
    cases = read_cases(replies / "relex-cases-v1.jsonl", corpora)
    model = Replayed(MODEL, Recording(replies / "relex-v2.jsonl", plain=True, create=False))
    return corpora, cases, asyncio.run(ask_all(model, corpora, cases))


def scores(
    corpora: Mapping[str, Corpus], cases: Sequence[Case], said: Answers, resamples: int = 2000
) -> dict[str, Any]:
    """All figures with n: clusters next to the embedded clusterer's on the same patients, decisions, substitutes."""
    made: dict[str, Any] = {"clusters": {}, "unread": said.unread}
    for name, found in said.partitions.items():
        corpus = corpora[name]
        mine = {v: one.id for one in found for v in one.variants}
        gold = {v: corpus.gold[v] for v in mine}
        embedded = {v: one.id for one in cluster(gold) for v in one.variants}
        homes = {v: (v.patient, shared(v.type)) for v in gold}
        every = repeated(gold, homes)
        made["clusters"][name] = {
            "patients": len({v.patient for v in mine}),
            **{
                f"{who}, {what}": bcubed(
                    gold, theirs, lambda v: v.patient, scored=scored, homes=homes, resamples=resamples
                ).as_dict()
                for who, theirs in (("language model", mine), ("embedded", embedded))
                for what, scored in (("names", [v for v in every if v.type in NAMES]), ("all types", every))
            },
        }
    made["decisions"] = _decided(corpora, cases, said)
    made["queries"] = {"cases": len(said.queries), "identities": sum(map(len, said.queries.values()))}
    made["substitutes"] = _substituted(cases, said)
    return made


def meant(corpus: Corpus, identity: Identity) -> str:
    """The gold identity of a case's identity. Cases are chosen so that there is exactly one."""
    (only,) = {corpus.gold[v] for v in identity.variants}
    return only


def _decided(corpora: Mapping[str, Corpus], cases: Sequence[Case], said: Answers) -> dict[str, int]:
    counts = {"cases": len(said.decisions), "right yes": 0, "right no": 0, "wrong yes": 0, "wrong no": 0}
    for case in cases:
        for answer, hit in zip(said.decisions.get(case.id, ()), case.hits, strict=False):
            corpus = corpora[case.corpus]
            right = answer == (meant(corpus, hit) == meant(corpus, case.identities[0]))
            counts[f"{'right' if right else 'wrong'} {'yes' if answer else 'no'}"] += 1
    return counts


def _substituted(cases: Sequence[Case], said: Answers) -> dict[str, int]:
    """The number of substitutes, how many had to be drawn after all, and names used twice for the same patient."""
    from incognote.relex.generate import Generators

    whole: Callable[[Identity, Any], str] = Generators().whole
    count = twice = 0
    for case in cases:
        if case.id in said.substitutes:
            given = said.substitutes[case.id][1]
            names = [whole(one, given[one.id]) for one in case.identities if one.group == "PERSON"]
            count, twice = count + len(given), twice + len(names) - len(set(names))
    return {"cases": len(said.substitutes), "identities": count, "drawn after all": said.refused, "names twice": twice}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write JSON if requested."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.relex_replies", description=__doc__)
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--notes", type=Path, default=NOTES)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    text = json.dumps(scores(*replayed(given.replies, given.notes)), indent=1)
    print(text)  # noqa: T201 -- this is a program that prints
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
