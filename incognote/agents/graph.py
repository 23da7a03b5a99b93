"""The LangGraph machine: nodes and edges, readable on one screen.

    identify ─ fields ─ detect ─ plan ─ merge ─ replace ─ audit ─┬─ result
                                                  ↑── mend, widen ─┘
A record that a node fails on passes the nodes behind it untouched (`nodes.guarded`) and ends with the verdict
`quarantine`: LangGraph asks about a conditional edge after each node for a fifth of what a short record costs.
This module imports LangGraph: whoever wants to stay light imports it when a record comes.
"""

from __future__ import annotations

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


async def after_audit(state: State, runtime: Langgraph[Case]) -> Literal["mend", "widen", "result"]:
    """Mask what is left, at most twice; widen once, if the policy says so; else the verdict stands.

    Async, since LangGraph gives a sync one a thread.
    """
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
    for edge in (*pairwise(WAY), ("mend", "replace"), ("widen", "replace")):
        graph.add_edge(*edge)
    graph.add_conditional_edges("audit", after_audit)
    graph.add_edge("result", END)
    return graph.compile(name="incognote")


async def run(item: Item, tools: Toolkit) -> Result:
    """One item through the machine, never traced, whatever the environment says."""
    case = Case(item, tools)
    with tracing_context(enabled=False):
        await machine().ainvoke(State(), context=case, output_keys="outcome")
    assert case.result is not None  # `result` is the only way to END
    return case.result


def drawing() -> str:
    """The graph as Mermaid text, made offline."""
    return machine().get_graph().draw_mermaid()
