"""Real LangChain and LangGraph around and inside `Deidentified`, observed by a callback handler."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from incognote import Deidentifier, NotReleased, UsageError
from incognote.integrations.langchain import Deidentified, deidentify_node

NOTE = "Mr. Emeka Okonkwo, MRN 4471902, was seen by Dr. Abara on 03/09/2025."
USED: UsageMetadata = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
WORDS = ("Emeka", "Okonkwo", "4471902", "Abara", "03/09/2025")


class Echo(SimpleChatModel):
    """A chat model that repeats the last message."""

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        return f"You said: {messages[-1].content}"

    @property
    def _llm_type(self) -> str:
        return "echo"


class Watch(BaseCallbackHandler):
    """Records what a tracer receives."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.seen += [messages, more]

    def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        self.seen += [inputs, more]

    def on_llm_end(self, response: Any, **more: Any) -> None:
        self.seen += [response, more]

    def on_chain_end(self, outputs: Any, **more: Any) -> None:
        self.seen += [outputs, more]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


@pytest.fixture(scope="module")
def rules() -> Deidentifier:
    return Deidentifier(detectors=["rules"])


def test_neither_the_model_nor_a_tracer_gets_the_original_and_the_answer_has_it_back(rules: Deidentifier) -> None:
    watch = Watch()
    chain = ChatPromptTemplate.from_template("Summarize: {note}") | Echo()
    answer = Deidentified(chain, rules, restore=True).invoke({"note": NOTE}, {"callbacks": [watch]})
    assert answer.content == f"You said: Summarize: {NOTE}"
    assert len(watch.seen) >= 6
    assert not any(word in str(watch.seen) for word in WORDS)
    assert "[PERSON_1], MRN [MEDICAL_RECORD_NUMBER_1]" in str(watch.seen)


async def test_awaited_it_answers_the_same(rules: Deidentifier) -> None:
    wrapped = Deidentified(Echo(), rules, restore=True)
    assert (await wrapped.ainvoke(NOTE)).content == wrapped.invoke(NOTE).content == f"You said: {NOTE}"


def test_without_restoring_the_policy_writes_and_the_answer_stays_as_it_is(rules: Deidentifier) -> None:
    answer = Deidentified(Echo(), rules).invoke("Seen by Dr. Abara.")
    assert answer.content == "You said: Seen by Dr. [PERSON]."


def test_two_people_in_two_messages_keep_their_own_labels(rules: Deidentifier) -> None:
    seen: list[Any] = []
    model = RunnableLambda(lambda messages: seen.append(messages) or " and ".join(m.content for m in messages))
    answer = Deidentified(model, rules, restore=True).invoke(
        [HumanMessage("Dr. Abara saw her."), {"role": "user", "content": "Dr. Okonkwo called Dr. Abara."}]
    )
    assert [m.content for m in seen[0]] == ["Dr. [CLINICIAN_1] saw her.", "Dr. [CLINICIAN_2] called Dr. [CLINICIAN_1]."]
    assert answer == "Dr. Abara saw her. and Dr. Okonkwo called Dr. Abara."


def test_a_label_that_the_text_holds_already_is_not_taken(rules: Deidentifier) -> None:
    text = "Template: [CLINICIAN_1]. Seen by Dr. Abara."
    assert Deidentified(Echo(), rules, restore=True).invoke(text).content == f"You said: {text}"


def test_what_else_a_message_carries_is_cleaned_or_dropped(rules: Deidentifier) -> None:
    asked = AIMessage(
        [{"type": "text", "text": "Looking up Dr. Abara."}],
        name="Okonkwo",
        additional_kwargs={"note": NOTE},
        patient="Emeka Okonkwo",  # LangChain's messages accept any attribute
        tool_calls=[{"name": "find", "args": {"who": "Seen by Dr. Abara."}, "id": "c1"}],
    )
    told = ToolMessage(NOTE, tool_call_id="c1", artifact={"raw": NOTE})
    seen: list[list[BaseMessage]] = []
    Deidentified(RunnableLambda(seen.append), rules).invoke([asked, told])
    ((first, second),) = seen
    assert not any(word in str((first, second)) for word in WORDS)
    assert isinstance(first, AIMessage)
    assert first.tool_calls[0]["args"] == {"who": "Seen by Dr. [PERSON]."}
    assert isinstance(second, ToolMessage)
    assert second.tool_call_id == "c1"


class Admission(HumanMessage):
    """A message class defined by an application."""

    mrn: str = ""


class Strict(HumanMessage):
    """A message class with a required attribute of its own."""

    mrn: str


def test_a_streamed_message_and_messages_of_an_application_lose_what_they_hold_beside_their_text(
    rules: Deidentifier,
) -> None:
    part = {"name": "find", "args": '{"who": "Emeka Okonkwo"}', "id": "c1", "index": 0, "type": "tool_call_chunk"}
    streamed = AIMessageChunk("Looking up Dr. Abara.", tool_call_chunks=[part], usage_metadata=USED)
    seen: list[list[BaseMessage]] = []
    Deidentified(RunnableLambda(seen.append), rules).invoke([streamed, Admission("Well.", mrn="4471902")])
    ((first, second),) = seen
    assert isinstance(first, AIMessageChunk)
    assert (first.tool_call_chunks, first.usage_metadata) == ([], USED)
    assert isinstance(second, Admission)
    assert second.mrn == ""
    assert "Okonkwo" not in repr(first)


def test_an_answer_of_any_shape_is_restored_and_a_block_without_text_stays(rules: Deidentifier) -> None:
    blocks = [{"type": "reasoning", "text": None}, {"type": "text", "text": "[CLINICIAN_1]"}]

    def answer(_: Any) -> Any:
        return AIMessage(blocks), ("[CLINICIAN_1]",)

    message, named = Deidentified(RunnableLambda(answer), rules, restore=True).invoke("Seen by Dr. Abara.")
    assert message.content == [blocks[0], {"type": "text", "text": "Abara"}]
    assert named == ("Abara",)


@pytest.mark.parametrize(
    "given",
    [
        Strict("Well.", mrn="4471902"),
        4471902,
        {"mrn": 4471902},
        b"note",
        [HumanMessage([{"type": "image_url", "image_url": {"url": "data:x"}}])],
        {"role": "4471902", "content": "Well."},
    ],
    ids=["an attribute that cannot be reset", "a number", "a number in a dict", "bytes", "an image", "an unknown role"],
)
def test_what_is_no_text_is_refused_and_nothing_runs(given: Any, rules: Deidentifier) -> None:
    ran: list[Any] = []
    with pytest.raises(UsageError) as refused:
        Deidentified(RunnableLambda(ran.append), rules).invoke(given)
    assert not ran
    assert "4471902" not in str(refused.value)


def test_a_text_that_is_held_stops_the_call(rules: Deidentifier) -> None:
    ran: list[Any] = []
    with pytest.raises(NotReleased) as held:
        Deidentified(RunnableLambda(ran.append), rules).invoke(r"{\rtf1\ansi Seen by Dr. Ab\'61ra}")
    assert not ran
    assert "61ra" not in str(held.value)


def test_a_whole_graph_inside_leaves_no_original_in_its_checkpoints(rules: Deidentifier) -> None:
    saver = InMemorySaver()
    graph = StateGraph(State).add_node("model", lambda state: {"messages": [Echo().invoke(state["messages"])]})
    compiled = graph.add_edge(START, "model").add_edge("model", END).compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "1"}}
    answer = Deidentified(compiled, rules, restore=True).invoke({"messages": [HumanMessage(NOTE)]}, config)
    assert answer["messages"][-1].content == f"You said: {NOTE}"
    kept = str(list(saver.list(config))) + str(saver.blobs)
    assert "CLINICIAN_1" in kept
    assert not any(word in kept for word in WORDS)


def test_a_node_replaces_the_messages_that_came_before_it(rules: Deidentifier) -> None:
    graph = StateGraph(State)
    graph.add_node("tool", lambda _: {"messages": [ToolMessage(NOTE, tool_call_id="c1")]})
    graph.add_node("deidentify", deidentify_node(deidentifier=rules))
    graph.add_node("model", lambda state: {"messages": [Echo().invoke(state["messages"])]})
    graph.add_edge(START, "tool").add_edge("tool", "deidentify").add_edge("deidentify", "model").add_edge("model", END)
    state = graph.compile().invoke({"messages": [HumanMessage("Read the note.")]})
    assert len(state["messages"]) == 3
    assert "[PERSON]" in state["messages"][-1].content
    assert not any(word in str(state) for word in WORDS)
