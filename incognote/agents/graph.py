"""The LangGraph machine: nodes and edges, readable on one screen.

    identify ─ fields ─ detect ─ plan ─ merge ─ replace ─ audit ─┬─ result
                                                  ↑── mend, widen ─┘
A node that fails leads straight to `result`, with the verdict `quarantine`. This module imports LangGraph:
whoever wants to stay light imports it when a record comes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime as Langgraph
from langsmith.run_helpers import tracing_context

from incognote.agents import nodes
from incognote.agents.case import Case, Item, State
from incognote.nouns import Result

if TYPE_CHECKING:
    from incognote.agents.toolkit import Toolkit

WAY = ("identify", "fields", "detect", "plan", "merge", "replace", "audit")
MOST_ROUNDS = 2  # a third look found nothing new on the development notes


def onward(target: str) -> Callable[[State], Awaitable[str]]:
    """To the next node, or straight to the result after a failure (async, since LangGraph gives sync ones a thread)."""

    async def route(state: State) -> str:
        return "result" if "failed" in state else target

    return route


async def after_audit(state: State, runtime: Langgraph[Case]) -> Literal["mend", "widen", "result"]:
    """Mask what is left, at most twice; widen once, if the policy says so; else the verdict stands."""
    case = runtime.context
    if case.quarantined:
        return "result"
    if case.leftovers and case.rounds < MOST_ROUNDS:
        return "mend"
    held = bool(case.leftovers or case.doubts) and not case.widened
    return "widen" if held and case.tools.policy.on_review == "widen" else "result"


@cache
def machine() -> CompiledStateGraph[State, Case, State, State]:
    """The compiled graph, one per process; no checkpointer, so nothing is persisted."""
    graph = StateGraph(State, context_schema=Case)
    for name in (*WAY, "mend", "widen", "result"):
        graph.add_node(name, getattr(nodes, name))
    graph.add_edge(START, WAY[0])
    for name, target in pairwise(WAY):
        graph.add_conditional_edges(name, onward(target), [target, "result"])
    graph.add_conditional_edges("audit", after_audit, ["mend", "widen", "result"])
    for name in ("mend", "widen"):
        graph.add_conditional_edges(name, onward("replace"), ["replace", "result"])
    graph.add_edge("result", END)
    return graph.compile(name="incognote")


async def run(item: Item, tools: Toolkit) -> Result:
    """One item through the machine, never traced, whatever the environment says."""
    case = Case(item, tools)
    with tracing_context(enabled=False):
        await machine().ainvoke(State(), context=case)
    assert case.result is not None  # `result` is the only way to END
    return case.result


def drawing() -> str:
    """The graph as Mermaid text, made offline."""
    return machine().get_graph().draw_mermaid()
