"""The loop of relexicalization as a LangGraph machine, readable on one screen (RedactOR, Algorithm 3 and Figure 4).

    cluster ─ query ─ retrieve ─ validate ─ generate ─ index ─ apply
       ↑                                       ↑────────┤
       └────────────────────────────────────────────────┘

From `index` back to `generate` where a draw was refused; back to `cluster` where others wrote meanwhile what decides
about these mentions. Nothing of a note is in the state that LangGraph sees. This module imports LangGraph: whoever
wants to stay light imports it when a record comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith.run_helpers import tracing_context

from incognote.relex import steps
from incognote.relex.agents.base import Note
from incognote.relex.batch import Batch, Outcome, State, Tools

WAY = ("cluster", "query", "retrieve", "validate", "generate", "index")
_STEPS = 2000  # far more than any batch takes: LangGraph wants a number


@cache
def machine() -> CompiledStateGraph[State, Batch, State, State]:
    """The compiled graph; no checkpointer, so nothing is persisted."""
    graph = StateGraph(State, context_schema=Batch)
    for name in (*WAY, "apply"):
        graph.add_node(name, getattr(steps, name))
    graph.add_edge(START, WAY[0])
    for edge in pairwise(WAY):
        graph.add_edge(*edge)
    graph.add_conditional_edges("index", steps.after_index, ["cluster", "generate", "apply"])
    graph.add_edge("apply", END)
    return graph.compile(name="relex")


async def relexicalize(notes: Sequence[Note], tools: Tools) -> Outcome:
    """A batch through the loop, never traced, whatever the environment says.

    Which mentions are one, and the strings, depend on the set of notes and on what the index holds, not on the order.

    Raises:
        IndexProblem, ModelProblem: nothing was handed out, and the same batch later gets what it would have got.
        AccountingError: an agent left something out.
    """
    batch = Batch(notes, tools, tools.draw())
    if any(note.variants for note in notes):
        with tracing_context(enabled=False):
            await machine().ainvoke(State(), {"recursion_limit": _STEPS}, context=batch, output_keys="shown")
    return Outcome(batch.shown, batch.report)
