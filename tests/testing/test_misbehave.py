"""Over HTTP, each misbehavior does what its name says, and the seed determines where it strikes."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from incognote.errors import UnknownName, UsageError
from incognote.llm.base import Message, Reply, Request
from incognote.prompts import fence
from incognote.testing import MISBEHAVIOURS, LocalServer, Misbehaviour, Trouble

NOTE = "Dr. Temitope Oyelaran saw Marisol Gray, 76 years old, on 02/27/2024."
SAID: dict[str, list[str]] = {
    "PERSON": ["Dr. Temitope Oyelaran saw", "Marisol Gray"],
    "AGE": ["76 years old"],
    "DATE": ["on 02/27/2024"],
    "CITY": [],
}
GOOD = json.dumps(SAID)
SYSTEM = 'Answer as {"PERSON": ["Halvorsen-Mbeki, Ines"]}.'
PHRASES = [phrase for phrases in SAID.values() for phrase in phrases]


class Suspect:
    """A server that always misbehaves in one way, called with several seeds."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, name: str, seed: int = 0, *, timeout: float = 30, **settings: Any) -> Any:
        bad = Misbehaviour(name, 1.0, seed, **settings)
        with LocalServer(lambda _: GOOD, misbehaviour=bad) as server:
            got = self._client.ask(server, NOTE, system=SYSTEM, timeout=timeout)
            assert [call.misbehaviour for call in server.log] == [name]
            return got


@pytest.fixture
def suspect(client: Any) -> Suspect:
    return Suspect(client)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_rate_limit_is_429_with_retry_after(suspect: Suspect) -> None:
    got = suspect.ask("rate_limit", retry_after=7)
    assert (got.status, got.headers["retry-after"]) == (429, "7")
    assert got.json["error"]["code"] == "rate_limit_exceeded"


def test_server_error_is_500_in_the_usual_shape(suspect: Suspect) -> None:
    got = suspect.ask("server_error")
    assert got.status == 500
    assert set(got.json["error"]) == {"message", "type", "param", "code"}


def test_a_hang_sends_nothing_until_the_client_gives_up(suspect: Suspect) -> None:
    with pytest.raises(TimeoutError):
        suspect.ask("hang", timeout=0.2)


def test_a_hang_ends_without_a_response(suspect: Suspect) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        suspect.ask("hang", hang=0.05)


def test_a_slow_stream_sends_the_good_reply_but_not_sooner_than_told(suspect: Suspect) -> None:
    began = time.monotonic()
    assert suspect.ask("slow_stream", slow=0.3).text == GOOD
    assert time.monotonic() - began >= 0.3  # a lower bound holds on any machine


def test_a_slow_stream_makes_no_single_pause_long(suspect: Suspect) -> None:
    assert suspect.ask("slow_stream", slow=1.0, timeout=0.8).text == GOOD


def test_a_dropped_connection_ends_without_a_response(suspect: Suspect) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        suspect.ask("dropped_connection")


def test_a_cut_body_ends_in_its_middle(suspect: Suspect) -> None:
    with pytest.raises(http.client.IncompleteRead) as caught:
        suspect.ask("cut_body")
    assert b"chat.completion" in caught.value.partial


def test_a_cut_connection_ends_after_the_bytes_that_were_sent() -> None:
    """The bytes as they arrive on a socket, without an HTTP client."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": NOTE}]})
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-local\r\n"
    server = LocalServer(lambda _: GOOD, misbehaviour=Misbehaviour("cut_body", 1.0))
    with server, socket.create_connection(("127.0.0.1", urlsplit(server.start().url).port or 0), timeout=10) as raw:
        raw.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
        head, _, content = raw.makefile("rb").read().decode().partition("\r\n\r\n")
    length = re.search(r"content-length: (\d+)", head)
    assert head.startswith("HTTP/1.1 200 OK")
    assert length is not None
    assert 0 < len(content) < int(length[1])


@pytest.mark.parametrize(("name", "finish"), [("truncated_json", "stop"), ("length_stop", "length")])
def test_a_cut_reply_is_a_beginning_and_says_why_it_ended(suspect: Suspect, name: str, finish: str) -> None:
    for seed in range(4):
        got = suspect.ask(name, seed)
        assert GOOD.startswith(got.text)
        assert len(got.text) < len(GOOD)
        assert got.choice["finish_reason"] == finish


@pytest.mark.parametrize("name", ["prose_around_json", "code_fence", "echoed_instructions"])
def test_what_stands_around_the_object_leaves_it_whole(suspect: Suspect, name: str) -> None:
    text = suspect.ask(name).text
    assert GOOD in text
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    if name == "echoed_instructions":
        assert text.startswith(SYSTEM)
    if name == "code_fence":
        assert text.startswith("```")


@pytest.mark.parametrize("name", ["trailing_comma", "single_quotes", "not_json", "refusal_text"])
def test_what_is_no_json_cannot_be_read_as_such(suspect: Suspect, name: str) -> None:
    got = suspect.ask(name)
    with pytest.raises(json.JSONDecodeError):
        json.loads(got.text)
    assert got.choice["finish_reason"] == "stop"
    if name != "refusal_text":
        assert all(phrase in got.text for phrase in PHRASES)


def test_trailing_commas_are_all_that_is_wrong(suspect: Suspect) -> None:
    assert json.loads(re.sub(r",(?=[]}])", "", suspect.ask("trailing_comma").text)) == SAID


def test_single_quotes_are_pythons(suspect: Suspect) -> None:
    assert suspect.ask("single_quotes").text == repr(SAID)


def test_duplicate_keys_divide_the_phrases(suspect: Suspect) -> None:
    pairs = json.loads(suspect.ask("duplicate_keys").text, object_pairs_hook=list)
    assert Counter(key for key, _ in pairs) == dict.fromkeys(SAID, 2)
    assert [phrase for _, value in pairs for phrase in value] == PHRASES


def test_a_wrong_shape_is_json_of_no_contract(suspect: Suspect) -> None:
    seen = [json.loads(suspect.ask("wrong_shape", seed).text) for seed in range(8)]
    assert SAID not in seen
    assert {type(said) for said in seen} == {dict, list}
    values = [value for said in seen if isinstance(said, dict) for value in said.values()]
    assert {type(value) for value in values} == {dict, list}
    assert all(isinstance(n, int) for value in values if isinstance(value, list) for n in value)


def test_an_unknown_type_takes_one_phrase_and_none_is_lost(suspect: Suspect) -> None:
    for seed in range(4):
        said = json.loads(suspect.ask("unknown_types", seed).text)
        (stranger,) = said.keys() - SAID.keys()
        assert len(said[stranger]) == 1
        assert Counter(p for value in said.values() for p in value) == Counter(PHRASES)


def test_hallucinated_phrases_do_not_stand_in_the_note(suspect: Suspect) -> None:
    for seed in range(4):
        said = json.loads(suspect.ask("hallucinated_phrases", seed).text)
        extra = Counter(p for value in said.values() for p in value) - Counter(PHRASES)
        assert 1 <= extra.total() <= 2
        assert not any(phrase.casefold() in NOTE.casefold() for phrase in extra)
        assert said.keys() == SAID.keys()


def test_hallucinated_phrases_are_marked_where_the_others_are() -> None:
    request = Request((Message("user", NOTE),))
    act = Misbehaviour("hallucinated_phrases", 1).apply(
        "hallucinated_phrases", request, Reply('{"AGE": ["<<76>> years"]}'), 1
    )
    assert isinstance(act, Reply)
    assert all("<<" in phrase and ">>" in phrase for phrase in json.loads(act.text)["AGE"])


def test_wrong_case_changes_case_alone(suspect: Suspect) -> None:
    for seed in range(4):
        said = json.loads(suspect.ask("wrong_case", seed).text)
        got = [p for value in said.values() for p in value]
        assert [p.casefold() for p in got] == [p.casefold() for p in PHRASES]
        assert got != PHRASES


def test_wrong_whitespace_changes_white_space_alone(suspect: Suspect) -> None:
    for seed in range(4):
        said = json.loads(suspect.ask("wrong_whitespace", seed).text)
        got = [p for value in said.values() for p in value]
        assert [squeezed(p) for p in got] == PHRASES
        assert all(p != good for p, good in zip(got, PHRASES, strict=True))


def test_typos_change_one_letter_of_each_phrase_with_a_long_word(suspect: Suspect) -> None:
    for seed in range(6):
        said = json.loads(suspect.ask("typos", seed).text)
        got = [p for value in said.values() for p in value]
        assert got
        for typed, good in zip(got, PHRASES, strict=True):
            if good == "on 02/27/2024":
                assert typed == good
            else:
                assert typed != good
                assert abs(len(typed) - len(good)) <= 1
                assert (Counter(typed) - Counter(good) | Counter(good) - Counter(typed)).total() <= 1


def test_a_refusal_stands_in_its_own_field(suspect: Suspect) -> None:
    choice = suspect.ask("refusal").choice
    assert choice["message"]["content"] is None
    assert choice["message"]["refusal"]
    assert choice["finish_reason"] == "stop"


def test_a_content_filter_stops_the_reply(suspect: Suspect) -> None:
    texts = set()
    for seed in range(6):
        got = suspect.ask("content_filter", seed)
        assert got.choice["finish_reason"] == "content_filter"
        assert GOOD.startswith(got.text)
        texts.add(got.text)
    assert "" in texts
    assert len(texts) > 1


def test_an_empty_reply_ends_by_itself(suspect: Suspect) -> None:
    got = suspect.ask("empty")
    assert (got.text, got.choice["finish_reason"]) == ("", "stop")


def test_every_misbehaviour_has_a_test_here() -> None:
    body = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in MISBEHAVIOURS if f'"{name}"' not in body] == []


@pytest.mark.parametrize("name", MISBEHAVIOURS)
@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "not json", '{"PERSON": "Gray"}', '{"PERSON": [["x"], 3, null]}']
)
def test_no_misbehaviour_fails_on_an_odd_reply(name: str, text: str) -> None:
    act = Misbehaviour(name, 1.0).apply(name, Request((Message("user", NOTE),)), Reply(text), 1)
    assert isinstance(act, Reply | Trouble)


def asked(number: int) -> Request:
    return Request((Message("user", f"note {number}"),))


def test_the_seed_decides_where_it_strikes() -> None:
    def struck(seed: int) -> list[str | None]:
        return [Misbehaviour(MISBEHAVIOURS, 0.3, seed).choose(asked(n), 1) for n in range(400)]

    assert struck(1) == struck(1)
    assert struck(1) != struck(2)
    hit = [name for name in struck(1) if name]
    assert 80 <= len(hit) <= 160
    assert len(set(hit)) >= 20


def test_a_later_attempt_is_decided_anew() -> None:
    bad = Misbehaviour("empty", 0.5)
    drawn = [tuple(bad.choose(asked(n), attempt) for attempt in (1, 2)) for n in range(60)]
    assert len(set(drawn)) == 4


def test_it_can_be_kept_to_the_first_attempts(client: Any) -> None:
    with LocalServer(lambda _: GOOD, misbehaviour=Misbehaviour("server_error", 1.0, attempts=2)) as server:
        assert [client.ask(server, NOTE).status for _ in range(4)] == [500, 500, 200, 200]
        assert [call.attempt for call in server.log] == [1, 2, 3, 4]


def test_the_reply_is_changed_the_same_way_each_time() -> None:
    bad = Misbehaviour("typos", 1.0, 5)
    once, again = (bad.apply("typos", asked(1), Reply(GOOD), 1) for _ in range(2))
    assert once == again


def test_a_misbehaviour_is_asked_for_by_a_name_there_is() -> None:
    with pytest.raises(UnknownName, match="rate_limit"):
        Misbehaviour("sulking")
    with pytest.raises(UsageError):
        Misbehaviour((), 0.3)
    with pytest.raises(UsageError):
        Misbehaviour("empty", 1.5)


def test_the_fenced_text_is_what_hallucinations_avoid() -> None:
    note = "Bartholomew Quillfeather, Ottilie Vandersnatch, 31 February 1897, nowhere springs"
    line = fence(note)
    request = Request((Message("user", f"The text:\n{line}\n{note}\n{line}"),))
    act = Misbehaviour("hallucinated_phrases", 1).apply("hallucinated_phrases", request, Reply('{"AGE": []}'), 1)
    assert isinstance(act, Reply)
    assert json.loads(act.text) == {"AGE": ["000-00-0000"]}
