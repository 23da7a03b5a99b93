"""The LangGraph machine: its nodes and edges on one screen.

    identify ─ fields ─ detect ─ plan ─┬─ extract chunk 1 ─┬─ merge ─ replace ─ audit ─┬─ result
                                       ├─ extract chunk 2 ─┤            ↑── mend, widen ─┘
                                       └─ …               ─┘
Nodes with no branch between them are one LangGraph step (`joined`). `nodes` says which values each node gets. If a node
fails on a record, the record passes the later nodes unchanged (`nodes.guarded`) and ends with the verdict `quarantine`.
A conditional edge after each node would cost a fifth of the time of a short record. This module imports LangGraph, so
import it only when the first record arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime as Langgraph
from langsmith.run_helpers import tracing_context

from incognote.agents import nodes
from incognote.agents.composites import PatientRequests, Seat
from incognote.agents.engine import Engine
from incognote.agents.item import Item
from incognote.agents.nodes import MachineState, Progress
from incognote.errors import Unread
from incognote.nouns import Reason, Result, Span, Text
from incognote.schemas.policy import everything as serving_all

Machine = CompiledStateGraph[MachineState, Progress, MachineState, MachineState]
WAY = ("identify", "fields", "detect", "plan", "merge", "replace", "audit")


def joined(*names: str) -> tuple[str, Any]:
    """Combine nodes that always follow one another into one step with all of their names.

    LangGraph takes 0.25 ms of processor time for each step and up to 2 ms for a record's whole path. That is a fifth of
    the time of a short record. Each node still fails closed by itself.
    """
    parts = [finished if name == "result" else getattr(nodes, name) for name in names]

    async def step(state: MachineState, runtime: Langgraph[Progress]) -> MachineState:
        written = MachineState()
        for node in parts:
            written.update(await node(state, runtime))
        return written

    return " ─ ".join(names), step


async def after_audit(state: MachineState, runtime: Langgraph[Progress]) -> str:
    """Return the next node. It is async because LangGraph runs a sync function in a thread."""
    return nodes.after_audit(runtime.context)


async def finished(state: MachineState, runtime: Langgraph[Progress]) -> MachineState:
    """The node `result`: fill the vault, make the verdict and manifest, unless the audit sends the record back."""
    at = runtime.context
    if nodes.after_audit(at) != "result":
        return {}
    failed = await nodes.keep(state, runtime)
    return {**failed, "outcome": nodes.conclude(at).outcome}


@cache
def machine(*, reads: bool = False, finds: bool = False) -> Machine:
    """Return the compiled graph, one of each kind per process. It has no checkpointer, so nothing is persisted.

    Args:
        reads: with language models, which read chunk by chunk between `plan` and `merge`.
        finds: stop after `merge` and only find what would be replaced.
    """
    end = ("merge",) if finds else (*WAY[WAY.index("merge") :], "result")
    begin = WAY[: WAY.index("merge")]
    settling = joined(*end) if reads else joined(*begin, *end)
    graph = StateGraph(MachineState, context_schema=Progress)
    graph.add_node(*settling)
    if reads:
        opening, step = joined(*begin)
        graph.add_node(opening, step)
        graph.add_node("extract", nodes.extract)
        graph.add_edge(START, opening)
        graph.add_conditional_edges(opening, nodes.all_at_once, {"extract": "extract", "merge": settling[0]})
        graph.add_edge("extract", settling[0])
    else:
        graph.add_edge(START, settling[0])
    if finds:
        graph.add_edge(settling[0], END)
    else:
        back = {name: joined(name, "replace", "audit", "result") for name in ("mend", "widen")}
        onward: dict[Hashable, str] = {"result": END, **{name: step[0] for name, step in back.items()}}
        for step in back.values():
            graph.add_node(*step)
        for name, _ in (settling, *back.values()):
            graph.add_conditional_edges(name, after_audit, onward)
    return graph.compile(name="incognote")


async def run(item: Item, engine: Engine, seat: Seat | None = None) -> Result:
    """Run one item through the machine. It is never traced, even if the environment asks for tracing.

    Args:
        seat: its place among the records of its patient that share requests.
    """
    at = Progress(item, engine, engine.policy, seat=seat)
    try:
        await _through(machine(reads=engine.reader is not None), at)
    finally:
        if seat is not None:
            seat.put(())  # a record that failed has nothing to ask, and the others do not wait for it
    if at.result is None:
        nodes.conclude(at)
    assert at.result is not None  # was made in the line above
    return at.result


async def run_unit(items: Sequence[Item], engine: Engine) -> list[Result]:
    """Run the records of one patient at the same time. Their short texts share requests.

    Args:
        items: one item, or several of one patient and one domain (`sharing.units`).
    """
    if len(items) == 1 or engine.reader is None:
        return [await run(item, engine) for item in items]
    requests = PatientRequests(engine.reader, engine.policy, len(items))
    try:
        running = (run(item, engine, seat) for item, seat in zip(items, requests.seats(), strict=True))
        return await asyncio.gather(*running)
    finally:
        await requests.aclose()


async def find(text: Text, engine: Engine, *, everything: bool = False) -> tuple[Span, ...] | Unread:
    """Run one plain text as far as `merge`. Return the spans to replace, or the reason why it was not read completely.

    Args:
        everything: use the policy that serves every type, instead of the engine's own.
    """
    policy = serving_all(engine.policy) if everything else engine.policy
    at = Progress(Item(text.content), engine, policy, finding=True)
    await _through(machine(reads=engine.reader is not None, finds=True), at)
    if at.failures:
        return Unread.of(at.failures[0].code, at.failures[0].detail)
    unanswered = sorted(code for extraction in at.read.values() for code in extraction.unanswered)
    if unanswered and policy.models.on_failure == "review":
        return Unread.of(unanswered[0])
    return tuple(s for s in at.merged.spans.get("", ()) if policy.replaces(s.type))


async def _through(graph: Machine, at: Progress) -> None:
    try:
        with tracing_context(enabled=False):
            await graph.ainvoke(MachineState(), context=at, output_keys="outcome")
    except Exception as bug:  # an error of the machine itself: its nodes and the edges between them fail closed
        at.result = None
        at.failures.append(Reason("internal-error", "", f"{type(bug).__name__} in the machine"))
    nodes.judge(at)


def drawing() -> str:
    """Return the graph as Mermaid text, made offline."""
    return machine(reads=True).get_graph().draw_mermaid()
