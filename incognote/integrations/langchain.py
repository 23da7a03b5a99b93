"""incognote before a LangChain model, chain or LangGraph graph: what runs inside never gets the original words.

    model = Deidentified(ChatOpenAI(...), restore=True)
    graph.add_node("deidentify", deidentify_node("messages"))

Wrap the whole chain or graph where you can. LangChain hands the inputs of every step that it runs to tracers and
checkpointers; inside `Deidentified` these are de-identified already.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig

from incognote.errors import UsageError
from incognote.nouns import Result, Span
from incognote.sdk import Deidentifier

_LABEL = re.compile(r"\[[A-Z][A-Z0-9_]*_[0-9]+\]")
_STAYS = {"type", "id", "role", "tool_call_id", "status", "usage_metadata", "chunk_position"}
"""Attributes of messages that are not text. The others are de-identified or reset."""
_Change = Callable[[str], str]


class Deidentified(Runnable[Any, Any]):
    """A Runnable around another one, whose input is de-identified first.

    The input is a str, a message, a prompt value, or lists and dicts of these (the state of a graph). Messages lose
    `name`, `additional_kwargs`, `response_metadata`, `artifact` and attributes of your own, which can hold identifiers
    in any form. Keys of dicts, roles, names of tools and ids stay: put no identifier there.

    Args:
        inner: a chat model, a chain or a compiled graph.
        deidentifier: default: rules and encoder under the policy `strict`.
        restore: write each identifier as a numbered label such as [PERSON_1], whatever the policy's operator, and put
            the original words back where the answer holds the label. Labels in tool calls stay. The labels and their
            words are in memory for the one call only.
    """

    def __init__(
        self, inner: Runnable[Any, Any], deidentifier: Deidentifier | None = None, *, restore: bool = False
    ) -> None:
        self._inner, self._deidentifier, self._restore = inner, deidentifier or Deidentifier(), restore

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """De-identify the input, run the inner Runnable, and restore its answer where that is wanted.

        Raises:
            NotReleased: a text was held; nothing ran.
            UsageError: the input holds something that cannot be de-identified, such as an image or a number.
        """
        clean, words = _cleaned(input, self._deidentifier, numbered=self._restore)
        return _restored(self._inner.invoke(clean, config, **kwargs), words)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """As `invoke`, awaited."""
        clean, words = await asyncio.to_thread(_cleaned, input, self._deidentifier, numbered=self._restore)
        return _restored(await self._inner.ainvoke(clean, config, **kwargs), words)


def deidentify_node(*keys: str, deidentifier: Deidentifier | None = None) -> Callable[[Any], dict[str, Any]]:
    """A node for a LangGraph graph that de-identifies these keys of the state, `messages` where none is named.

    Messages keep their ids, so that `add_messages` replaces the originals. A checkpointer or a tracer has seen the
    state before this node: use it for what comes into the graph on the way, such as the answer of a tool.

    Raises:
        NotReleased, UsageError: when it runs, as `Deidentified.invoke`.
    """
    own = deidentifier or Deidentifier()

    def deidentify(state: Any) -> dict[str, Any]:
        return {key: _cleaned(state[key], own, numbered=False)[0] for key in keys or ("messages",)}

    return deidentify


def _cleaned(value: Any, deidentifier: Deidentifier, *, numbered: bool) -> tuple[Any, dict[str, str]]:
    """The value with all its texts de-identified, and the words of each numbered label."""
    texts: list[str] = []

    def collect(text: str) -> str:
        texts.append(text)
        return text

    _walk(value, collect)
    results = deidentifier.batch(texts)
    if not numbered:
        released = iter([result.text for result in results])
        return _walk(value, lambda _: next(released)), {}
    labels = _Labels(texts)
    written = iter([labels.write(result) for result in results])
    return _walk(value, lambda _: next(written)), labels.words


class _Labels:
    """Numbered labels, one for each identifier, in whichever text it stands; none that a text already holds."""

    def __init__(self, texts: list[str]) -> None:
        self._taken = {label for text in texts for label in _LABEL.findall(text)}
        self._labels: dict[tuple[str, str], str] = {}
        self.words: dict[str, str] = {}

    def write(self, result: Result) -> str:
        """The released text with labels in place of what the policy wrote."""
        text, pieces, done = result.text, [], 0
        for each in sorted(result.replacements, key=lambda each: each.out_start):
            pieces += [text[done : each.out_start], self._label(each.span)]
            done = each.out_end
        return "".join([*pieces, text[done:]])

    def _label(self, span: Span) -> str:
        known = self._labels.get((span.type, span.text))
        if known is not None:
            return known
        label = next(label for label in self._candidates(span.type) if label not in self._taken)
        self._taken.add(label)
        self._labels[span.type, span.text], self.words[label] = label, span.text
        return label

    @staticmethod
    def _candidates(kind: str) -> Iterator[str]:
        number = 0
        while True:
            number += 1
            yield f"[{kind}_{number}]"


def _walk(value: Any, change: _Change) -> Any:
    """A copy of the value in which every text is changed.

    Raises:
        UsageError: it holds something that is not text and could be an identifier.
    """
    match value:
        case None | bool():
            return value
        case str():
            return change(value)
        case BaseMessage():
            return _message(value, change)
        case PromptValue():
            return [_message(message, change) for message in value.to_messages()]
        case {"role": _, "content": _}:
            return _message(_of_dict(value), change)
        case list() | tuple():
            return [_walk(each, change) for each in value]
        case dict():
            return {name: _walk(each, change) for name, each in value.items()}
    raise UsageError(
        f"input: a value of type {type(value).__name__} cannot be de-identified. Pass texts, messages, lists, or dicts"
    )


def _of_dict(value: dict[str, Any]) -> BaseMessage:
    try:
        return convert_to_messages([value])[0]
    except (ValueError, TypeError):  # it quotes the role
        raise UsageError(
            "input: LangChain cannot read a dict with role and content as a message. Check its role, or pass a message"
        ) from None


def _message(message: BaseMessage, change: _Change) -> BaseMessage:
    own: dict[str, Any] = {"content": _content(message.content, change), "name": None}
    own |= {"additional_kwargs": {}, "response_metadata": {}}
    if isinstance(message, AIMessage):
        own["tool_calls"] = [{**call, "args": _walk(call["args"], change)} for call in message.tool_calls]
    for name, attribute in type(message).model_fields.items():
        if name in own or name in _STAYS:
            continue
        if attribute.is_required():
            raise UsageError(f"input: incognote cannot de-identify the attribute {name!r} of a message; remove it")
        own[name] = attribute.get_default(call_default_factory=True)
    copied = message.model_copy(update=own)
    object.__setattr__(copied, "__pydantic_extra__", {})  # attributes that an application added
    return copied


def _content(content: str | list[str | dict[Any, Any]], change: _Change) -> Any:
    if isinstance(content, str):
        return change(content)
    changed: list[str | dict[str, str]] = []
    for block in content:
        match block:
            case str():
                changed.append(change(block))
            case {"type": "text", "text": str(text)}:
                changed.append({"type": "text", "text": change(text)})
            case _:
                raise UsageError("input: a message has a block that is not text, which incognote cannot de-identify")
    return changed


def _restored(answer: Any, words: Mapping[str, str]) -> Any:
    """The answer with the words of the labels put back in its texts."""

    def put_back(text: str) -> str:
        return _LABEL.sub(lambda label: words.get(label[0], label[0]), text)

    match answer if words else None:
        case str():
            return put_back(answer)
        case BaseMessage() if isinstance(answer.content, str):
            return answer.model_copy(update={"content": put_back(answer.content)})
        case BaseMessage():
            blocks = [
                {**block, "text": put_back(block["text"])}
                if isinstance(block, dict) and isinstance(block.get("text"), str)
                else block
                for block in answer.content
            ]
            return answer.model_copy(update={"content": blocks})
        case list() | tuple():
            return type(answer)([_restored(each, words) for each in answer])
        case dict():
            return {name: _restored(each, words) for name, each in answer.items()}
    return answer
