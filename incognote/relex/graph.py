"""The loop of relexicalization as a LangGraph machine, readable on one screen (RedactOR, Algorithm 3 and Figure 4).

    cluster ─ query ─ retrieve ─ validate ─ generate ─ index ─ apply
       ↑                                       ↑────────┤        │
       └────────────────────────────────────────────────┴────────┘

The loop returns from `index` to `generate` if a draw was refused. It returns to `cluster` if other writers meanwhile
added something that affects these mentions. Each node returns counts only, so the state that LangGraph sees holds
nothing of a note. Words stay in the RelexBatch. This module imports LangGraph. Import it only when a record arrives if
start-up must stay light.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime as Langgraph
from langsmith.run_helpers import tracing_context

from incognote.errors import AccountingError, IndexBusy
from incognote.relex import partition, settling
from incognote.relex.agents.base import SOUGHT, HitQuestion, RelexNote
from incognote.relex.batch import BatchOutcome, LoopState, RelexBatch, ShownSurrogate, Tools
from incognote.relex.cluster.grouping import group_of
from incognote.relex.index.nouns import Query
from incognote.relex.memory import forms, outdated, recalled, remember_outputs, sightings
from incognote.relex.nouns import Identity, MentionVariant, Surrogate
from incognote.relex.partition import INDEXED
from incognote.relex.plausible import plausible

_STEPS = 2000  # far more than any batch takes; LangGraph requires a limit
HITS = 5
_ROUNDS = 20


@cache
def machine() -> CompiledStateGraph[LoopState, RelexBatch, LoopState, LoopState]:
    """The compiled graph; no checkpointer, so nothing is persisted."""
    graph = StateGraph(LoopState, context_schema=RelexBatch)
    nodes = (cluster, query, retrieve, validate, generate, index, apply)
    for node in nodes:
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "cluster")
    for before, after in pairwise(nodes[:-1]):
        graph.add_edge(before.__name__, after.__name__)
    graph.add_conditional_edges("index", following, ["cluster", "generate", "apply"])
    graph.add_conditional_edges("apply", following, ["cluster", END])
    return graph.compile(name="relex")


async def relexicalize(notes: Sequence[RelexNote], tools: Tools) -> BatchOutcome:
    """Run a batch through the loop. It is never traced, whatever the environment says.

    Which mentions are the same identity, and the surrogates, depend on the set of notes and on the contents of the
    index, not on the order.

    Raises:
        IndexProblem, ModelProblem: nothing was handed out; the same batch gets the same surrogates later.
        AccountingError: an agent left something out.

    An error while one mention is written raises nothing. `BatchOutcome.failed` has it under the mention's record.
    """
    batch = RelexBatch(notes, tools, tools.draw())
    if any(note.variants for note in notes):
        with tracing_context(enabled=False):
            await machine().ainvoke(LoopState(), {"recursion_limit": _STEPS}, context=batch, output_keys="shown")
    return BatchOutcome(batch.shown, batch.report, batch.failed)


async def cluster(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Remember the mentions, recall those that could affect them, and divide them all into identities."""
    batch = runtime.context
    tools = batch.tools
    if not batch.rounds:
        batch.own = frozenset(one for note in batch.notes for one in note.variants)
        await tools.index.note(sightings(batch.own))
        await tools.index.remember(_originals(batch))
    if batch.rounds == _ROUNDS:
        raise IndexBusy("other runs are changing the same people. Try again when they have finished")
    batch.rounds += 1
    batch.wave = 0
    batch.done.clear()
    batch.seen = await _seen(batch)
    batch.found = await partition.led(tools.index, sorted(batch.seen))
    others = partition.earlier(sorted(batch.seen - batch.own), batch.found)
    clustered = await tools.agents.clusterer.cluster(batch.notes, others)
    partition.check(clustered, batch.seen, tools.agents.clusterer.name)
    batch.everybody = [part for one in clustered for part in partition.divided(one, batch.found)]
    batch.entries = partition.chosen(batch.everybody, batch.found)
    batch.identities = [one for one in batch.everybody if _served(one, batch)]
    return {"mentions": len(batch.own), "identities": len(batch.identities)}


async def query(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Make search words for each identity of the domain that no exact key leads to.

    A patient's other identities are not searched for: the clusterer has seen all mentions of the patient.
    """
    batch = runtime.context
    unknown = [one for one in batch.identities if one.id not in batch.entries and one.group in SOUGHT and not one.scope]
    queries = await batch.tools.agents.querier.query(unknown, batch.notes) if unknown else {}
    batch.queries = {one.id: queries.get(one.id, "") for one in unknown}
    return {"queries": sum(map(bool, batch.queries.values()))}


async def retrieve(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Find the most similar entries within domain, scope and group that may be the same (`plausible`).

    A hit that the clusterer has seen is a question for another judge only, such as a model.
    """
    batch = runtime.context
    batch.hits = {}
    embedder, index = batch.tools.embedder, batch.tools.index
    asked = [one for one in batch.identities if batch.queries.get(one.id)]
    if embedder is None or not asked:
        return {"hits": 0}
    vectors = await asyncio.to_thread(embedder.embed, [batch.queries[one.id] for one in asked])
    agents = batch.tools.agents
    one_judge = agents.validator.name == agents.clusterer.name
    decided = {entry.id for entry in batch.entries.values()} if one_judge else set()
    for one, vector in zip(asked, vectors, strict=True):
        batch.vectors[one.id] = vector
        hits = await index.nearest(vector, Query(one.domain, one.group, one.scope), HITS)
        near = [hit for hit in hits if hit.identity.id not in decided and plausible(one, hit)]
        if near:
            batch.hits[one.id] = near
    return {"hits": sum(map(len, batch.hits.values()))}


async def validate(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Accept or reject each hit. The nearest hit with the same referent is used, for one identity only."""
    batch = runtime.context
    validator = batch.tools.agents.validator
    given: set[str] = set()
    questions = [
        HitQuestion(one, batch.queries[one.id], tuple(batch.hits[one.id]))
        for one in batch.identities
        if batch.hits.get(one.id)
    ]
    answers = await validator.validate(questions, batch.notes) if questions else []
    if [len(yes) for yes in answers] != [len(question.hits) for question in questions]:
        raise AccountingError(f"{validator.name}: the validator must answer for each hit")
    for question, said in zip(questions, answers, strict=True):
        hits = (hit.identity for hit, yes in zip(question.hits, said, strict=True) if yes)
        entry = next((entry for entry in hits if entry.id not in given), None)
        if entry is None:
            continue
        if validator.name != batch.tools.agents.clusterer.name:  # the clusterer might separate them again
            entry = await batch.tools.index.unite(entry.id)
        batch.entries[question.identity.id] = entry
        given.add(entry.id)
    batch.accepted |= given
    return {"fitting": len(given)}


async def generate(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Recall what is held. Then draw for each identity that has no surrogate."""
    batch = runtime.context
    if state.get("next") != "generate":
        await settling.begin(batch)
    return {"new": await settling.draw(batch), "next": ""}


async def index(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Hold the parts and claim the wholes. If two writers collide, the second takes the surrogate of the first.

    The next node is `generate` if a draw was refused, and `cluster` if keys turned out to lead to several identities.
    """
    batch = runtime.context
    if not await settling.unoriginal(batch) or not await settling.held(batch):
        return {"next": "generate"}
    if refused := await settling.claimed(batch):
        return {"next": refused}
    batch.wave += 1
    return {"next": "generate" if batch.wave < settling.WAVES else "apply"}


async def following(state: LoopState, runtime: Langgraph[RelexBatch]) -> str:
    """The next node, as set by the last one. It is async because LangGraph runs sync functions in a thread."""
    return state["next"] or END


async def apply(state: LoopState, runtime: Langgraph[RelexBatch]) -> LoopState:
    """Write each mention's surrogate in the style of the original, and list the earlier records that need new outputs.

    The next node is `cluster` if other writers affected these mentions. The index remembers what the outputs show
    before the last look at the mentions. So of two writers at once, the second always sees what the first handed out.
    """
    batch = runtime.context
    served = [one for one in batch.everybody if one.id in batch.surrogates]
    shown: dict[MentionVariant, ShownSurrogate] = {}
    batch.failed.clear()
    for variant, identity in [(variant, one) for one in served for variant in one.variants]:
        try:
            shown[variant] = _shown(variant, identity, batch)
        except Exception as problem:  # a bug: it holds the record of this mention, and no other record
            batch.failed[variant.domain, variant.owner, variant.record] = problem
    batch.shown = {one: shown[one] for one in sorted(batch.own) if one in shown}
    entries = {entry.id for entry in batch.entries.values()}
    uses = {(its.identity, one.record) for one, its in batch.shown.items() if its.identity in entries}
    await batch.tools.index.use(sorted(uses))
    compared = {one: f"{its.text} {its.identity if its.identity in entries else ''}" for one, its in shown.items()}
    await remember_outputs(batch.tools.index, {one: compared.pop(one) for one in batch.shown})
    if await _seen(batch) != batch.seen:
        return {"next": "cluster"}
    batch.outdated = await outdated(batch.tools.index, compared)
    return {"shown": len(batch.shown), "next": ""}


async def _seen(batch: RelexBatch) -> set[MentionVariant]:
    """The mentions that matter: those of the batch, and those of other records that could be the same identity."""
    records = {(one.domain, one.owner, one.record) for one in batch.own}
    found = await recalled(batch.tools.index, sorted(batch.own))
    return {one for one in found if one in batch.own or (one.domain, one.owner, one.record) not in records}


def _served(identity: Identity, batch: RelexBatch) -> bool:
    """Return True if the identity may need a new surrogate, or new parts of one."""
    entry = batch.entries.get(identity.id)
    if entry is not None and batch.tools.generators.lacks(identity, Surrogate(entry.surrogate, entry.pool)):
        return True
    return partition.touched(identity, batch.own, batch.found, batch.entries)


def _originals(batch: RelexBatch) -> list[tuple[str, str, str]]:
    named = [one for one in batch.own if group_of(one.type) in INDEXED]
    return sorted({(one.domain, one.owner, form) for one in named for form in forms(one)})


def _shown(variant: MentionVariant, identity: Identity, batch: RelexBatch) -> ShownSurrogate:
    """The replacement of a mention: its type in brackets if no surrogate can be written in its form."""
    rendered = batch.tools.generators.render(variant, identity, batch.surrogates[identity.id])
    return ShownSurrogate(f"[{variant.type}]" if rendered is None else rendered.text, _id(identity, batch))


def _id(identity: Identity, batch: RelexBatch) -> str:
    """The id that is handed out: the index's, or else one made with the key."""
    entry = batch.entries.get(identity.id)
    if entry is not None:
        return entry.id
    parts = (identity.group, identity.domain, identity.scope, identity.attributes.get("normal", ""))
    return batch.tools.keyring.mac("names", json.dumps(parts)).hex()[:32]
