"""The nodes of the loop, one per step of Algorithm 3. Each returns counts alone; words stay in the Batch."""

from __future__ import annotations

import asyncio
import json

from langgraph.runtime import Runtime as Langgraph

from incognote.errors import AccountingError, IndexBusy
from incognote.relex import partition, settling
from incognote.relex.apply import bearers
from incognote.relex.apply import shown as written
from incognote.relex.batch import Batch, Shown, State
from incognote.relex.cluster.scope import group_of
from incognote.relex.index.nouns import Query
from incognote.relex.memory import forms, recalled, sightings
from incognote.relex.nouns import Identity, Variant
from incognote.relex.partition import INDEXED

HITS = 5
_ROUNDS = 20


async def cluster(state: State, runtime: Langgraph[Batch]) -> State:
    """Remember the mentions, recall those that could decide about them, and divide them all into identities."""
    batch = runtime.context
    tools = batch.tools
    if not batch.rounds:
        batch.own = frozenset(one for note in batch.notes for one in note.variants)
        await tools.index.note(sightings(batch.own))
        await tools.index.remember(_originals(batch))
    if batch.rounds == _ROUNDS:
        raise IndexBusy("others write about the same people without end: try again when they have ended")
    batch.rounds += 1
    batch.wave = 0
    batch.done.clear()
    batch.seen = await _seen(batch)
    batch.found = await partition.led(tools.index, sorted(batch.seen))
    if batch.rounds == 1:
        batch.before = {one: partition.latest(found).id for one, found in batch.found.items() if found}
    others = partition.earlier(sorted(batch.seen - batch.own), batch.found)
    clustered = await tools.agents.clusterer.cluster(batch.notes, others)
    partition.check(clustered, batch.seen, tools.agents.clusterer.name)
    batch.everybody = [part for one in clustered for part in partition.divided(one, batch.found)]
    batch.entries = partition.chosen(batch.everybody, batch.found)
    batch.identities = [one for one in batch.everybody if partition.touched(one, batch.own, batch.found, batch.entries)]
    return {"mentions": len(batch.own), "identities": len(batch.identities)}


async def query(state: State, runtime: Langgraph[Batch]) -> State:
    """Words to seek each identity by that no exact key leads to."""
    batch = runtime.context
    unknown = [one for one in batch.identities if one.id not in batch.entries and one.group in INDEXED]
    told = await batch.tools.agents.querier.query(unknown, batch.notes) if unknown else {}
    batch.queries = {one.id: told.get(one.id, "") for one in unknown}
    return {"queries": sum(map(bool, batch.queries.values()))}


async def retrieve(state: State, runtime: Langgraph[Batch]) -> State:
    """The nearest by likeness within domain, scope and group; what exact keys lead to was found before."""
    batch = runtime.context
    batch.hits = {}
    embedder, index = batch.tools.embedder, batch.tools.index
    asked = [one for one in batch.identities if batch.queries.get(one.id)]
    if embedder is None or not asked:
        return {"hits": 0}
    vectors = await asyncio.to_thread(embedder.embed, [batch.queries[one.id] for one in asked])
    known = {entry.id for entry in batch.entries.values()}
    for one, vector in zip(asked, vectors, strict=True):
        batch.vectors[one.id] = vector
        hits = await index.nearest(vector, Query(one.domain, one.group, one.scope), HITS)
        near = [hit for hit in hits if hit.identity.id not in known]  # of the others the clusterer has decided
        if near:
            batch.hits[one.id] = near
    return {"hits": sum(map(len, batch.hits.values()))}


async def validate(state: State, runtime: Langgraph[Batch]) -> State:
    """Yes or no for each hit; the nearest that stands for the same referent is used, by one identity."""
    batch = runtime.context
    validator = batch.tools.agents.validator
    given: set[str] = set()
    for one in batch.identities:
        hits = batch.hits.get(one.id)
        if not hits:
            continue
        told = await validator.validate(one, batch.queries[one.id], hits, batch.notes)
        if len(told) != len(hits):
            raise AccountingError(f"{validator.name}: {len(told)} answers for {len(hits)} hits")
        fitting = [hit.identity for hit, yes in zip(hits, told, strict=True) if yes and hit.identity.id not in given]
        if fitting:
            batch.entries[one.id] = fitting[0]
            given.add(fitting[0].id)
    batch.accepted |= given
    return {"fitting": len(given)}


async def generate(state: State, runtime: Langgraph[Batch]) -> State:
    """What is held is recalled first; whoever then has no surrogate gets one."""
    batch = runtime.context
    if state.get("next") != "generate":
        await settling.begin(batch)
    return {"new": await settling.draw(batch), "next": ""}


async def index(state: State, runtime: Langgraph[Batch]) -> State:
    """Hold the parts, claim the wholes; whoever comes second takes the first's.

    Back to `generate` where a draw was refused, to `cluster` where others wrote what decides about these mentions.
    """
    batch = runtime.context
    if not await settling.unoriginal(batch) or not await settling.held(batch):
        return {"next": "generate"}
    if refused := await settling.claimed(batch):
        return {"next": refused}
    batch.wave += 1
    if batch.wave < settling.WAVES:
        return {"next": "generate"}
    if await _seen(batch) != batch.seen:
        return {"next": "cluster"}
    return {"next": "apply"}


async def after_index(state: State, runtime: Langgraph[Batch]) -> str:
    """Where `index` says. Async, since LangGraph gives a sync one a thread."""
    return state["next"]


async def apply(state: State, runtime: Langgraph[Batch]) -> State:
    """What stands in place of each mention, written as the original was; and which records show which identity."""
    batch = runtime.context
    homes = bearers(batch.identities)
    render = batch.tools.generators.render
    for one in sorted(batch.own):
        identity = homes[one]
        text = written(one, identity, batch.surrogates[identity.id], render)
        batch.shown[one] = Shown(text, _id(identity, batch))
    uses = {(batch.entries[homes[one].id].id, one.record) for one in batch.own if homes[one].id in batch.entries}
    await batch.tools.index.use(sorted(uses))
    for one, identity in bearers(batch.identities).items():
        entry = batch.entries.get(identity.id)
        if one not in batch.own and entry and batch.before.get(one, entry.id) != entry.id:
            batch.outdated.add(one.record)
    return {"shown": len(batch.shown)}


async def _seen(batch: Batch) -> set[Variant]:
    """The mentions that decide: those of the batch, and those of other records that could be one with them."""
    records = {(one.domain, one.owner, one.record) for one in batch.own}
    found = await recalled(batch.tools.index, sorted(batch.own))
    return {one for one in found if one in batch.own or (one.domain, one.owner, one.record) not in records}


def _originals(batch: Batch) -> list[tuple[str, str, str]]:
    named = [one for one in batch.own if group_of(one.type) in INDEXED - {"OCCUPATION"}]
    return sorted({(one.domain, one.owner, form) for one in named for form in forms(one)})


def _id(identity: Identity, batch: Batch) -> str:
    """The id that leaves: the index's, else one made with the key."""
    entry = batch.entries.get(identity.id)
    if entry is not None:
        return entry.id
    told = (identity.group, identity.domain, identity.scope, identity.attributes.get("normal", ""))
    return batch.tools.keyring.mac("names", json.dumps(told)).hex()[:32]
