"""The LangGraph machine: nodes and edges, readable on one screen.

    identify ─ fields ─ detect ─ plan ─┬─ extract chunk 1 ─┬─ merge ─ replace ─ audit ─┬─ result
                                       ├─ extract chunk 2 ─┤            ↑── mend, widen ─┘
                                       └─ …               ─┘
Nodes between which the way never parts are one step of LangGraph's (`stretch`).
A record that a node fails on passes the nodes behind it untouched (`nodes.guarded`) and ends with the verdict
`quarantine`: LangGraph asks about a conditional edge after each node for a fifth of what a short record costs.
This module imports LangGraph: whoever wants to stay light imports it when a record comes.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime as Langgraph
from langsmith.run_helpers import tracing_context

from incognote.agents import nodes
from incognote.agents.case import Case, Item, State
from incognote.errors import Unread
from incognote.nouns import Reason, Result, Span, Text
from incognote.schemas.policy import everything as serving_all

if TYPE_CHECKING:
    from incognote.agents.toolkit import Toolkit

WAY = ("identify", "fields", "detect", "plan", "merge", "replace", "audit")


def stretch(*names: str) -> tuple[str, Any]:
    """Nodes that always follow one another, as one step under all of their names.

    LangGraph takes 0.25 ms of processor time for each step and as much as 2 for a record's whole way, which is a fifth
    of what a short record costs. Each node still fails closed by itself.
    """
    steps = [finished if name == "result" else getattr(nodes, name) for name in names]

    async def step(state: State, runtime: Langgraph[Case]) -> State:
        written = State()
        for node in steps:
            written.update(await node(state, runtime))
        return written

    return " ─ ".join(names), step


async def after_audit(state: State, runtime: Langgraph[Case]) -> Literal["mend", "widen", "result"]:
    """Mask what is left, at most twice; widen once, if the policy says so; else the verdict stands.

    Async, since LangGraph gives a sync one a thread.
    """
    case = runtime.context
    if case.mendable:
        return "mend"
    held = bool(case.leftovers or case.doubts) and not case.widened and not case.quarantined
    return "widen" if held and case.tools.policy.on_review == "widen" else "result"


async def finished(state: State, runtime: Langgraph[Case]) -> State:
    """The node `result`, unless the audit sends the record back."""
    return await nodes.result(state, runtime) if await after_audit(state, runtime) == "result" else {}


@cache
def machine(*, reads: bool = False, finds: bool = False) -> CompiledStateGraph[State, Case, State, State]:
    """The compiled graph, one of each kind per process; no checkpointer, so nothing is persisted.

    Args:
        reads: with language models, which read chunk by chunk between `plan` and `merge`.
        finds: only as far as `merge`: what would be replaced.
    """
    end = ("merge",) if finds else (*WAY[WAY.index("merge") :], "result")
    begin = WAY[: WAY.index("merge")]
    settling = stretch(*end) if reads else stretch(*begin, *end)
    graph = StateGraph(State, context_schema=Case)
    graph.add_node(*settling)
    if reads:
        opening, step = stretch(*begin)
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
        back = {name: stretch(name, "replace", "audit", "result") for name in ("mend", "widen")}
        onward: dict[Hashable, str] = {"result": END, **{name: step[0] for name, step in back.items()}}
        for step in back.values():
            graph.add_node(*step)
        for name, _ in (settling, *back.values()):
            graph.add_conditional_edges(name, after_audit, onward)
    return graph.compile(name="incognote")


async def run(item: Item, tools: Toolkit) -> Result:
    """One item through the machine, never traced, whatever the environment says."""
    case = Case(item, tools)
    await _through(machine(reads=tools.reader is not None), case)
    if case.result is None:
        nodes.conclude(case)
    assert case.result is not None  # just made
    return case.result


async def found(text: Text, tools: Toolkit, *, everything: bool = False) -> tuple[Span, ...] | Unread:
    """One plain text as far as `merge`: what is to be replaced, or why it was not read whole.

    Args:
        everything: under the policy that serves every type, instead of the toolkit's own.
    """
    policy = serving_all(tools.policy) if everything else tools.policy
    case = Case(Item(text.content), tools, policy=policy, finding=True)
    await _through(machine(reads=tools.reader is not None, finds=True), case)
    if case.quarantined:
        return Unread.of(case.reasons[0].code, case.reasons[0].detail)
    unanswered = sorted(code for made in case.read.values() for code in made.unanswered)
    if unanswered and policy.models.on_failure == "review":
        return Unread.of(unanswered[0])
    return tuple(s for s in case.spans.get("", ()) if policy.replaces(s.type))


async def _through(graph: CompiledStateGraph[State, Case, State, State], case: Case) -> None:
    try:
        with tracing_context(enabled=False):
            await graph.ainvoke(State(), context=case, output_keys="outcome")
    except Exception as bug:  # of the machine itself: its nodes fail closed, and so does the way between them
        case.quarantined, case.output, case.result = True, None, None
        case.reasons.append(Reason("internal-error", "", f"{type(bug).__name__} in the machine"))


def drawing() -> str:
    """The graph as Mermaid text, made offline."""
    return machine(reads=True).get_graph().draw_mermaid()
