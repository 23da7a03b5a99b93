"""What the recorded replies of a large language model to the relexicalizing agents are worth.

    python -m incognote_benchmarks.relex_replies [--replies FOLDER] [--notes FOLDER] [--out JSON]

Replies to exactly the prompts that the agents render (`tests/data/replies/README.md` says by whom and how) are
replayed; nothing is asked. A patient or case whose requests are not all recorded is left out.
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
from incognote.relex.agents.base import RelexNote
from incognote.relex.agents.llm import LlmClusterer, LlmQuerier, LlmReplacer, LlmValidator, ModelAsker
from incognote.relex.cluster import cluster, variant
from incognote.relex.generate import KeyedDraw, UsedSurrogates
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, IndexHit
from incognote.relex.nouns import Identity, MentionVariant

T = TypeVar("T")
MODEL = "recorded/large-language-model"
REPLIES, NOTES = Path("tests/data/replies"), Path("tests/data/longitudinal")
CORPORA = ("notes", "blind", "blind2")
NAMES = ("PATIENT", "RELATIVE", "CLINICIAN", "PERSON")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Longitudinal notes with gold identities, all of one domain."""

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
    """A file of the folder, its given spans as mentions."""
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
    """One question to the query, decision or replacement agent, as it was put.

    Args:
        id: decision-07; the agent's name before the dash.
        corpus, records: the notes at hand.
        identities: who is asked about; of a decision one.
        query, hits: of a decision.
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
    """The cases of a file; mentions stand there as [record, start, end], so that no later clusterer changes them."""
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
    """An identity as the index would find it."""
    original = identity.attributes.get("name") or max((v.words for v in identity.variants), key=lambda w: (len(w), w))
    place = IdentityPlace(identity.domain, identity.scope, identity.group)
    kind = identity.attributes["type"]
    return IndexHit(IndexedIdentity(identity.id, place, kind, {}, "-", identity.attributes, original), 0.0)


@dataclass(slots=True)
class Answers:
    """What the agents said, by patient or case; what was not recorded is absent, what could not be used is None."""

    partitions: dict[str, list[Identity]] = field(default_factory=dict, repr=False)
    unread: list[str] = field(default_factory=list)
    queries: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    decisions: dict[str, list[bool]] = field(default_factory=dict)
    substitutes: dict[str, tuple[UsedSurrogates, dict[str, Any]]] = field(default_factory=dict, repr=False)
    refused: int = 0


async def ask_all(model: LanguageModel, corpora: Mapping[str, Corpus], cases: Sequence[Case]) -> Answers:
    """Put every question; one after the other, so that whoever answers by hand gets them in a fixed order."""
    said = Answers()
    asker = ModelAsker(model)
    for name, corpus in corpora.items():
        answered = []
        for patient in corpus.patients:
            if await _answer(said, f"{name} {patient}", LlmClusterer(asker).cluster(corpus.of([patient]))) is not None:
                answered.append(patient)
        if answered:  # once more together: staff and institutions across patients
            said.partitions[name] = await LlmClusterer(asker).cluster(corpus.of(answered))
    for case in cases:
        notes = [note for note in corpora[case.corpus].notes if note.record in case.records]
        if case.agent == "query":
            found = await _answer(said, case.id, LlmQuerier(asker).query(case.identities, notes))
            if found is not None:
                said.queries[case.id] = found
        elif case.agent == "decision":
            hits = [hit_of(one) for one in case.hits]
            asked = LlmValidator(asker).validate(case.identities[0], case.query, hits, notes)
            if (yes := await _answer(said, case.id, asked)) is not None:
                said.decisions[case.id] = yes
        else:
            taken, replacer = UsedSurrogates(), LlmReplacer(asker)
            given = await _answer(said, case.id, replacer.replace(case.identities, KeyedDraw(_KEY), taken, notes))
            if given is not None:
                said.substitutes[case.id] = (taken, dict(given))
                said.refused += sum(replacer.refused.values())
    return said


_KEY = Keyring(bytes(32))


async def _answer(said: Answers, about: str, asked: Awaitable[T]) -> T | None:
    """The answer; None where it is not recorded, or cannot be used, which is told."""
    try:
        return await asked
    except Unread:
        said.unread.append(about)
    except ModelUnavailable:
        return None
    return None


def replayed(replies: Path = REPLIES, notes: Path = NOTES) -> tuple[dict[str, Corpus], list[Case], Answers]:
    """The recorded answers, with what was asked.

    Raises:
        SettingError: there is no recording.
    """
    corpora = {name: read_corpus(name, notes) for name in CORPORA}
    cases = read_cases(replies / "relex-cases-v1.jsonl", corpora)
    model = Replayed(MODEL, Recording(replies / "relex-v1.jsonl", plain=True, create=False))
    return corpora, cases, asyncio.run(ask_all(model, corpora, cases))


def scores(
    corpora: Mapping[str, Corpus], cases: Sequence[Case], said: Answers, resamples: int = 2000
) -> dict[str, Any]:
    """Every figure, with n: clusters beside the embedded clusterer on the same patients, decisions, substitutes."""
    made: dict[str, Any] = {"clusters": {}, "unread": said.unread}
    for name, found in said.partitions.items():
        corpus = corpora[name]
        mine = {v: one.id for one in found for v in one.variants}
        gold = {v: corpus.gold[v] for v in mine}
        embedded = {v: one.id for one in cluster(gold) for v in one.variants}
        every = repeated(gold)
        made["clusters"][name] = {
            "patients": len({v.patient for v in mine}),
            **{
                f"{who}, {what}": bcubed(
                    gold, theirs, lambda v: v.patient, scored=scored, resamples=resamples
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
    """The gold identity of a case's identity; cases are chosen so that there is one."""
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
    """How many, and how many of them had to be drawn after all, and names that stand twice among one patient's."""
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
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.relex_replies", description=__doc__)
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--notes", type=Path, default=NOTES)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    told = json.dumps(scores(*replayed(given.replies, given.notes)), indent=1)
    print(told)  # noqa: T201 -- this is a program that prints
    if given.out:
        given.out.write_text(told + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
