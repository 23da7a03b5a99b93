"""Detect servers that cut a prompt silently, by the number of tokens that they report.

If a prompt is longer than the context, Ollama drops its beginning, answers, and reports only what is left. A reply to
half a note looks like any other reply.
"""

from __future__ import annotations

from incognote.errors import PromptCut
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request

_FEWEST_WORDS = 64  # in shorter prompts, the tokens of the chat template count for too much
_FEWEST_TOKENS = 0.85
"""Tokens per word that any whole prompt has. Two tokenizers gave at least 1.38 in 2,520 prompts: all notes of our
development data, also in other languages, in three versions of the prompt. Of a prompt that is too long, Ollama leaves
less than half."""
_USUAL_TOKENS = 1.5
_MOST_LOST = 0.3  # of the tokens that a prompt was expected to have
_CACHED = 2.0  # tokens per word at most, in the part of a prompt that was not cached


class PromptCheck:
    """Compares the tokens that an endpoint reports with the words that were sent. One object per model.

    Once a reply has passed, its tokens per word are also a measure for longer prompts.

    Some servers do not count a beginning that they have cached. Such a count is accepted if the same system message was
    counted as a whole before, and the count fits the rest of the prompt. A cut prompt fills the context, so it has more
    tokens than any before it.
    """

    def __init__(self) -> None:
        self._shortest, self._density = 0, 0.0
        self._most = 0
        self._counted: set[int] = set()

    def check(self, request: Request, reply: Reply) -> None:
        """Check a reply. A reply without usage says nothing.

        Raises:
            PromptCut: the server reports far fewer tokens than the request has.
        """
        words = [len(message.content.split()) for message in request.messages]
        total, tokens = sum(words), reply.usage.input
        if not tokens or total < _FEWEST_WORDS:
            return
        beginning = hash(request.messages[0].content)
        fewest = max(_FEWEST_TOKENS, (1 - _MOST_LOST) * min(_USUAL_TOKENS, self._density))
        if tokens >= fewest * total:
            if not self._shortest or total < self._shortest:
                self._shortest, self._density = total, tokens / total
            self._most = max(self._most, tokens)
            self._counted.add(beginning)
            return
        rest = total - words[0]
        fits_rest = _FEWEST_TOKENS * rest <= tokens <= _CACHED * rest + 64
        if fits_rest and beginning in self._counted and tokens < self._most:
            return
        raise PromptCut(
            f"{reply.model}: the server read only {tokens:,} tokens of a prompt with {total:,} words. "
            "Raise its context size (Ollama: OLLAMA_CONTEXT_LENGTH, or ollama_chat/NAME with context_tokens; "
            "llama.cpp: -c; vLLM: --max-model-len), or lower chunk_words"
        )


class Checked(ModelWrapper):
    """Refuses the replies to prompts that the server has cut.

    Args:
        model: the inner model.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._prompts = PromptCheck()

    async def complete(self, request: Request) -> Reply:
        """Answer.

        Raises:
            PromptCut: the server has read only a part of the request.
        """
        reply = await self._model.complete(request)
        try:
            self._prompts.check(request, reply)
        except PromptCut as problem:
            problem.usage = reply.usage
            raise
        return reply
