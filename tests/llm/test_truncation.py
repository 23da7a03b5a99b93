"""A server that cuts a prompt silently is noticed by its own count of tokens. No honest server is."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.errors import ContextTooLong, PromptCut
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.llm.opening import ModelSpec, open_model
from incognote.llm.truncation import PromptCheck
from incognote.testing import LocalServer

SYSTEM = "word " * 500


def ask(words: int) -> Request:
    return Request((Message("system", SYSTEM), Message("user", "note " * words)))


def counted(tokens: float) -> Reply:
    return Reply("{}", usage=Usage(input=int(tokens), calls=1), model="openai/m")


def passes(check: PromptCheck, words: int, tokens: float) -> bool:
    try:
        check.check(ask(words), counted(tokens))
    except PromptCut:
        return False
    return True


@pytest.mark.parametrize("density", [1.0, 1.2, 1.41, 2.0, 3.3])
def test_no_tokenizer_is_suspected(density: float) -> None:
    check = PromptCheck()
    assert all(passes(check, words, density * (500 + words)) for words in (3000, 0, 20, 250, 600, 5000))


def test_texts_of_different_density_in_one_run_are_not_suspected() -> None:
    check = PromptCheck()
    assert all(passes(check, 300, density * 800) for density in (3.3, 1.41, 3.3, 1.41))


@pytest.mark.parametrize("window", [2048, 4096, 8192])
def test_what_ollama_leaves_of_a_long_prompt_is_noticed_at_the_first_call(window: int) -> None:
    words = int(window / 1.45) + 1 - 500  # just too long
    assert not passes(PromptCheck(), words, window / 2 + 2)


def test_after_a_whole_prompt_smaller_cuts_are_noticed() -> None:
    check = PromptCheck()
    assert passes(PromptCheck(), 1000, 0.65 * 1.5 * 1500)
    assert passes(check, 100, 1.5 * 600)
    assert not passes(check, 1000, 0.65 * 1.5 * 1500)


def test_no_usage_says_nothing() -> None:
    assert passes(PromptCheck(), 9000, 0)


def test_a_short_prompt_says_nothing() -> None:
    PromptCheck().check(Request((Message("user", "word " * 63),)), counted(2))


def test_a_server_that_does_not_count_what_it_cached_is_not_suspected() -> None:
    check = PromptCheck()
    assert passes(check, 300, 1.5 * 800)
    assert passes(check, 250, 1.5 * 250)
    assert passes(check, 310, 1.2 * 310)


def test_a_cut_prompt_does_not_pass_for_a_cached_one() -> None:
    check = PromptCheck()
    assert passes(check, 300, 1.5 * 800)
    assert not passes(check, 3000, 2050)
    assert not passes(PromptCheck(), 300, 1.5 * 300), "nothing was cached before the first call"


async def test_a_cut_prompt_is_an_error_that_names_the_servers_setting(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    with LocalServer(lambda _: "{}", dialect="ollama", context=1000) as server:
        model = open_model(
            ModelSpec("openai/m", home=tmp_path, api_base=server.url, api_key=server.api_key, attempts=1)
        )
        assert (await model.complete(ask(100))).text == "{}"
        with pytest.raises(PromptCut, match=r"read only 500 tokens.*OLLAMA_CONTEXT_LENGTH") as caught:
            await model.complete(ask(900))
        await model.aclose()
    assert isinstance(caught.value, ContextTooLong)  # so smaller chunks are tried


@pytest.mark.parametrize(("context", "outcome"), [(2600, "release"), (300, "review")])
def test_a_note_is_read_in_smaller_chunks_or_held(context: int, outcome: str) -> None:
    pytest.importorskip("openai")
    with LocalServer(lambda _: "{}", dialect="ollama", context=context) as server:
        settings = {"model": "openai/m", "api_base": server.url, "api_key": server.api_key, "chunk_words": 800}
        with Deidentifier(passes=1, detectors=("rules", "llm"), **settings) as deid:
            result = deid.deidentify("The wound is clean and dry. " * 250)
        assert server.calls > 2
    assert result.verdict.outcome == outcome
    assert [r.code for r in result.verdict.reasons if r.code == "model-prompt-cut"] == (
        [] if outcome == "release" else ["model-prompt-cut"]
    )
