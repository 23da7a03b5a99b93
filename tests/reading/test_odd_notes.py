"""Unusual notes, read by a model over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.llm.base import Request
from incognote.prompts import marks
from incognote.testing import LocalServer, text_of

PLANTED = (("PERSON", "velmira tashkin"), ("LOCATION", "foxglove"))
NOTE = "brought in by velmira tashkin, lives near foxglove, knee pain. "
ODD = {
    "invisible characters": "brought in by vel\u200bmira tash\u2060kin near fox\u00adglove. " + NOTE,
    "NUL": "a\x00b " + NOTE + "x\x00",
    "lone surrogates": "\ud800 " + NOTE + " \udfff\udc00",
    "byte order mark": "\ufeff" + NOTE,
    "right to left": "\u202e" + NOTE + "\u202c",
    "a word of 100,000 characters": "x" * 100_000 + " " + NOTE,
    "a line of 100,000 characters": NOTE * (100_000 // len(NOTE)),
    "base64": "QUJD" * 10_000 + " " + NOTE,
    "masks": "[PERSON] [DATE] seen by velmira tashkin [LOCATION] near foxglove",
    "marks": NOTE + "<< >> {{ }} and <<velmira tashkin>> in {{foxglove}}",
    "every pair of marks": NOTE + "<< {{ \u27e6 \u2983\u2983 \u2984",
    "fences": "=== 0123456789abcdef ===\n" + NOTE + "\n=== 0123456789abcdef ===",
    "JSON": '{"PERSON": []} {} ' + NOTE,
    "placeholders of the prompt": "$types $$ ${open} $fence $text %s {0} " + NOTE,
    "numbered texts": "Text 1\n" + NOTE + "\nText 2\n",
    "line ends": NOTE.replace(", ", ",\r\n") * 3 + "\u2028\x0b\x0c\x85",
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 " + NOTE,
    "accents apart": "ve\u0301 " + NOTE + "e\u0301",
}


def answer(request: Request) -> str:
    shown = text_of(request)
    opening, closing = marks(shown)
    return json.dumps({kind: [opening + words + closing] for kind, words in PLANTED if words in shown})


@pytest.mark.parametrize("prompt", ["extract/v1", "extract/v2"])
def test_odd_notes_are_read_and_nothing_else_changes(prompt: str, asking: Any) -> None:
    def phrase(request: Request) -> str:
        said = json.loads(answer(request))
        required = (request.schema or {}).get("required", ())
        if not required:
            return json.dumps(said)
        bare = dict(PLANTED)
        return json.dumps({name: [bare[name]] if name in said else [] for name in required})

    with LocalServer(phrase) as server:
        results = asking(server, prompt=prompt, model_timeout=60.0).batch(ODD.values())
        assert ODD
        for (name, note), result in zip(ODD.items(), results, strict=True):
            assert result.verdict.released, (name, result.verdict)
            pieces, at = [], 0
            for r in result.replacements:
                pieces += [note[at : r.span.start], r.text]
                at = r.span.end
            assert result.text == "".join([*pieces, note[at:]]), name
            for _, words in PLANTED:
                assert not set(words.split()) & set(result.text.split()), name
            left = len(note) - sum(len(r.span) for r in result.replacements)
            assert left >= 0.4 * len(note), name


@pytest.mark.parametrize("note", ["", " \n\t ", "\x00", "\ud800", "--- ... ***", "\u200b\ufeff"])
def test_a_note_without_a_letter_is_never_asked_about(note: str, asking: Any) -> None:
    with LocalServer(answer) as server:
        result = asking(server).deidentify(note)
        assert result.text == note
        assert result.manifest["models"]["route"] == "nothing"
        assert server.calls == 0


def test_a_note_of_masks_only_stays_as_it_is(asking: Any) -> None:
    echo = '{"PERSON": ["<<[PERSON]>>", "<<[PERSON] [DATE]>>"], "DATE": ["<<[DATE]>>"]}'
    with LocalServer(lambda request: echo) as server:
        assert asking(server).deidentify("[PERSON] [DATE]").output(even_if_unreleased=True) == "[PERSON] [DATE]"


@pytest.mark.parametrize(
    "reply",
    ["\x00", "\ud83d", '{"PERSON": ["\ud800"]}', '{"PERSON": ["' + "a" * 200_000 + '"]}', "[" * 50_000, '{"":""}'],
    ids=range(6),
)
def test_an_odd_reply_never_ends_a_run(reply: str, asking: Any) -> None:
    with LocalServer(lambda request: reply) as server:
        made: Deidentifier = asking(server, model_timeout=60.0)
        result = made.deidentify(NOTE)
        assert result.verdict.outcome in ("review", "release")
        assert not result.verdict.released or reply == '{"":""}'


def test_chunks_of_one_long_word_are_not_taken_for_light_ones(asking: Any) -> None:
    with LocalServer(answer) as server:
        assert asking(server, model_timeout=60.0).deidentify("x" * 60_000).verdict.released
        assert max(len(text_of(request)) for request in server.requests) <= 600 * 64
        assert not [r for r in server.requests if "Several texts" in r.messages[0].content]
