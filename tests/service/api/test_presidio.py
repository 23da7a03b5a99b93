"""The requests in Presidio's API documentation (version 2.0) get answers that its clients understand."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from incognote.errors import UsageError
from incognote.service.api.adhoc import AdHoc, Pattern, found_in, weight

from .conftest import House

MINIMAL = {"text": "John Smith drivers license is AC432223", "language": "en"}
ENHANCED = {
    "text": "John Smith drivers license is AC432223 and the zip code is 12345",
    "language": "en",
    "return_decision_process": False,
    "correlation_id": "123e4567-e89b-12d3-a456-426614174000",
    "score_threshold": 0.6,
    "entities": ["US_DRIVER_LICENSE", "ZIP"],
    "trace": False,
    "ad_hoc_recognizers": [
        {
            "name": "Zip code Recognizer",
            "supported_language": "en",
            "patterns": [{"name": "zip code (weak)", "regex": r"(\b\d{5}(?:\-\d{4})?\b)", "score": 0.01}],
            "context": ["zip", "code"],
            "supported_entity": "ZIP",
        }
    ],
}
TWO = {
    "text": "hello world, my name is Jane Doe. My number is: 034453334",
    "anonymizers": {"PERSON": {"type": "redact"}, "PHONE_NUMBER": {"type": "replace", "new_value": "ANONYMIZED"}},
    "analyzer_results": [
        {"start": 24, "end": 32, "score": 0.8, "entity_type": "PERSON"},
        {"start": 48, "end": 57, "score": 0.95, "entity_type": "PHONE_NUMBER"},
    ],
}
DEFAULT = {
    "text": "hello world, my name is Jane Doe.",
    "anonymizers": {"DEFAULT": {"type": "replace", "new_value": "ANONYMIZED"}},
    "analyzer_results": [{"start": 24, "end": 32, "score": 0.8, "entity_type": "PERSON"}],
}


async def ask(house: House, method: str, path: str, body: Any = None) -> httpx.Response:
    headers = {} if house.keys else house.key("ann", "submit")
    headers = headers or {"Authorization": f"Bearer {house.keys['ann']}"}
    async with house.client(headers=headers) as client:
        return await client.request(method, path, json=body)


async def test_the_minimal_request(house: House) -> None:
    found = (await ask(house, "POST", "/analyze", MINIMAL)).json()
    told = {(one["entity_type"], one["start"], one["end"]) for one in found}
    assert told == {("PERSON", 0, 10), ("US_DRIVER_LICENSE", 30, 38)}
    assert all(one.keys() == {"entity_type", "start", "end", "score", "analysis_explanation"} for one in found)
    assert all(0 < one["score"] <= 1 and one["analysis_explanation"] is None for one in found)


async def test_the_enhanced_request(house: House) -> None:
    answer = await ask(house, "POST", "/analyze", ENHANCED)
    assert answer.status_code == 200, answer.text
    assert ("US_DRIVER_LICENSE", 30, 38) in {(o["entity_type"], o["start"], o["end"]) for o in answer.json()}
    assert {one["entity_type"] for one in answer.json()} <= {"US_DRIVER_LICENSE", "ZIP"}
    weak = (await ask(house, "POST", "/analyze", {**ENHANCED, "score_threshold": 0.3, "entities": ["ZIP"]})).json()
    assert {"entity_type": "ZIP", "start": 59, "end": 64, "score": 0.4, "analysis_explanation": None} in weak


async def test_the_decision_process_is_told_where_it_is_asked_for(house: House) -> None:
    found = (await ask(house, "POST", "/analyze", {**MINIMAL, "return_decision_process": True})).json()
    explained = found[0]["analysis_explanation"]
    assert explained["recognizer"].startswith("rules")
    assert {"original_score", "score", "textual_explanation", "pattern", "validation_result"} <= explained.keys()


async def test_several_texts_get_a_list_each(house: House) -> None:
    found = (await ask(house, "POST", "/analyze", {"text": ["nothing here", MINIMAL["text"]], "language": "en"})).json()
    assert found[0] == []
    assert len(found[1]) == 2


async def test_what_is_allowed_is_left_out(house: House) -> None:
    found = (await ask(house, "POST", "/analyze", {**MINIMAL, "allow_list": ["John Smith"]})).json()
    assert {one["entity_type"] for one in found} == {"US_DRIVER_LICENSE"}


async def test_offsets_are_code_points(house: House) -> None:
    text = "😀 John Smith was seen."
    found = (await ask(house, "POST", "/analyze", {"text": text, "language": "en"})).json()
    assert [text[one["start"] : one["end"]] for one in found] == ["John Smith"]


async def test_replace_and_redact(house: House) -> None:
    assert (await ask(house, "POST", "/anonymize", TWO)).json() == {
        "text": "hello world, my name is . My number is: ANONYMIZED",
        "items": [
            {"operator": "replace", "entity_type": "PHONE_NUMBER", "start": 40, "end": 50, "text": "ANONYMIZED"},
            {"operator": "redact", "entity_type": "PERSON", "start": 24, "end": 24, "text": ""},
        ],
    }


async def test_replace_as_default(house: House) -> None:
    assert (await ask(house, "POST", "/anonymize", DEFAULT)).json() == {
        "text": "hello world, my name is ANONYMIZED.",
        "items": [{"operator": "replace", "entity_type": "PERSON", "start": 24, "end": 34, "text": "ANONYMIZED"}],
    }


@pytest.mark.parametrize(
    ("how", "new"),
    [
        (None, "<PERSON>"),
        ({"type": "replace"}, "<PERSON>"),
        ({"type": "mask", "masking_char": "#", "chars_to_mask": 4, "from_end": True}, "Jane####"),
        ({"type": "mask", "masking_char": "*", "chars_to_mask": 100, "from_end": False}, "********"),
        ({"type": "keep"}, "Jane Doe"),
    ],
)
async def test_every_operator(house: House, how: dict[str, Any] | None, new: str) -> None:
    body = {**DEFAULT, "anonymizers": None if how is None else {"PERSON": how}}
    assert (await ask(house, "POST", "/anonymize", body)).json()["text"] == f"hello world, my name is {new}."


MASK = {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True}


@pytest.mark.parametrize(
    "how",
    [
        {}, {"type": None}, {"type": "nothing"}, {"type": "Mask"}, {"type": ["mask"]}, {"new_value": "x"},
        {"type": "mask"},
        *({name: MASK[name] for name in MASK if name != gone} for gone in list(MASK)[1:]),
        *({**MASK, **wrong} for wrong in (
            {"masking_char": ""}, {"masking_char": "**"}, {"masking_char": 1}, {"masking_char": None},
            {"chars_to_mask": "4"}, {"chars_to_mask": 4.0}, {"chars_to_mask": None}, {"chars_to_mask": True},
            {"chars_to_mask": 0}, {"chars_to_mask": -1}, {"from_end": "true"}, {"from_end": 1}, {"from_end": None},
        )),
        {"type": "replace", "new_value": 7}, {"type": "replace", "new_value": ["x"]},
        {"type": "hash", "hash_type": "md5"}, {"type": "hash", "hash_type": None}, {"type": "hash", "hash_type": 1},
        {"type": "hash", "salt": ""}, {"type": "hash", "salt": "fifteen bytes.."}, {"type": "hash", "salt": 1},
        {"type": "encrypt"}, {"type": "encrypt", "key": "short"}, {"type": "encrypt", "key": "WmZq4t7w!z%C&F)J"},
        {"type": "custom", "lambda": "lambda x: x"}, {"type": "decrypt", "key": "WmZq4t7w!z%C&F)J"},
    ],
)  # fmt: skip
async def test_an_operator_that_cannot_be_applied_is_refused_and_the_original_is_not_told(
    house: House, how: dict[str, Any]
) -> None:
    for anonymizers in ({"PERSON": how}, {"DEFAULT": how}):
        answer = await ask(house, "POST", "/anonymize", {**DEFAULT, "anonymizers": anonymizers})
        assert answer.status_code == 422
        assert isinstance(answer.json()["error"], str)
        assert "Jane" not in answer.text
        assert "nothing" not in answer.text


async def test_hashes_of_two_types_and_salts_differ(house: House) -> None:
    more: list[dict[str, str]] = [{}, {"hash_type": "sha512"}, {"salt": "s" * 16}, {"salt": "t" * 16}]
    bodies = [{**DEFAULT, "anonymizers": {"PERSON": {"type": "hash", **one}}} for one in more]
    found = [(await ask(house, "POST", "/anonymize", body)).json()["items"][0]["text"] for body in bodies]
    assert [len(one) for one in found] == [64, 128, 64, 64]
    assert len(set(found)) == 4


async def test_a_hash_is_keyed_and_the_same_again(house: House) -> None:
    import hashlib

    body = {**DEFAULT, "anonymizers": {"PERSON": {"type": "hash", "hash_type": "sha256"}}}
    one, two = [(await ask(house, "POST", "/anonymize", body)).json()["items"][0]["text"] for _ in range(2)]
    assert one == two
    assert len(one) == 64
    assert one != hashlib.sha256(b"Jane Doe").hexdigest()


async def test_overlapping_stretches_are_replaced_whole(house: House) -> None:
    results = [
        {"start": 24, "end": 32, "score": 0.8, "entity_type": "NAME"},
        {"start": 24, "end": 28, "score": 0.9, "entity_type": "FIRST_NAME"},
        {"start": 29, "end": 33, "score": 0.3, "entity_type": "LAST_NAME"},
    ]
    told = (await ask(house, "POST", "/anonymize", {"text": DEFAULT["text"], "analyzer_results": results})).json()
    assert told["text"] == "hello world, my name is <NAME><LAST_NAME>"


@pytest.mark.parametrize(
    "body",
    [
        {"analyzer_results": []}, {"text": "", "analyzer_results": []}, {"text": "a"},
        {"text": "a", "analyzer_results": [{"start": 0, "end": 9, "entity_type": "X", "score": 1}]},
        {"text": "a", "analyzer_results": [{"start": 1, "end": 1, "entity_type": "X", "score": 1}]},
        {**DEFAULT, "anonymizers": {"PERSON": {"type": "encrypt", "key": "WmZq4t7w!z%C&F)J"}}},
        {"text": "a", "analyzer_results": [{"start": 0, "end": 1, "entity_type": "X"}]},
        {"text": "a", "analyzer_results": [{"start": "0", "end": 1, "entity_type": "X", "score": 1}]},
        {"text": "a", "analyzer_results": [{"start": -1, "end": 1, "entity_type": "X", "score": 1}]},
    ],
)  # fmt: skip
async def test_what_cannot_be_is_refused_in_presidio_s_way(house: House, body: dict[str, Any]) -> None:
    answer = await ask(house, "POST", "/anonymize", body)
    assert answer.status_code == 422
    assert isinstance(answer.json()["error"], str)


@pytest.mark.parametrize(
    "more",
    [
        {"language": "de"}, {"entities": ["NOTHING_KNOWN"]},
        {"ad_hoc_recognizers": [{"supported_entity": "X", "patterns": [{"regex": "(", "score": 1}]}]},
        {"ad_hoc_recognizers": [{"supported_entity": "X", "patterns": [{"regex": "(a+)+c", "score": 1}]}],
         "text": "a" * 5000 + "b"},
    ],
)  # fmt: skip
async def test_an_analysis_that_cannot_be_is_refused(house: House, more: dict[str, Any]) -> None:
    answer = await ask(house, "POST", "/analyze", {**MINIMAL, **more})
    assert answer.status_code == 422
    assert "error" in answer.json()


async def test_a_deny_list_finds_whole_words(house: House) -> None:
    adhoc = [{"supported_entity": "TITLE", "deny_list": ["Mr.", "drivers"]}]
    body = {**MINIMAL, "ad_hoc_recognizers": adhoc, "entities": ["TITLE"]}
    assert [(o["start"], o["end"]) for o in (await ask(house, "POST", "/analyze", body)).json()] == [(11, 18)]


async def test_the_lists(house: House) -> None:
    entities = (await ask(house, "GET", "/supportedentities?language=en")).json()
    assert {"PERSON", "PHONE_NUMBER", "US_SSN", "EMAIL_ADDRESS", "LOCATION", "DATE_TIME"} <= set(entities)
    assert (await ask(house, "GET", "/recognizers?language=en")).json() == ["rules"]
    assert (await ask(house, "GET", "/anonymizers")).json() == ["hash", "keep", "mask", "redact", "replace"]
    assert (await ask(house, "GET", "/health")).text == "Presidio Analyzer service is up"


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?:(?:x{1000}){1000}){1000}){1000}", "x{99999999}", "x{00000000000000000099999999}",
        r"(?:\[x{1000}(?:]){1000}){1000}",
        "(?:x{0000000000000000000001000}){1000}",
        "(?:a|bc){0000000000000000000050000,}", "(?i)x{400000}", "(?x)x{ 4 }(?:y{1000}){1000}",
        "(?V1)(?:[[a]||[b]]){99999}",
        "(?:(?:(?:(?:ab{3}){30}){30}){30}){30}", "(?=x{300000})x", "(?:(?>x{1000})){1000}", "(?<n>x{200000})",
        "(?:x{200000}|y)", "(?:x{1000}+){1000}?", "(?-i:x{200000})", "(?(DEFINE)x{200000})",
        "(?:x{99999}){99999}{99999}",
    ],
)  # fmt: skip
async def test_a_pattern_that_repeats_too_much_is_refused_before_it_is_compiled(house: House, pattern: str) -> None:
    """A pattern of forty characters used up all memory, and a time limit cannot interrupt the compiler."""
    adhoc = [{"supported_entity": "X", "patterns": [{"regex": pattern, "score": 1}]}]
    answer = await ask(house, "POST", "/analyze", {**MINIMAL, "ad_hoc_recognizers": adhoc})
    assert answer.status_code == 422
    assert "repetitions" in answer.json()["error"] or "malformed" in answer.json()["error"]


@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        (r"\d{3}-\d{2}-\d{4}", 11, 40), ("(ab){3}", 6, 20), ("[]{3}]{4}", 4, 50), (r"\(\{3\}", 4, 10), ("a{,}", 1, 4),
        ("(a|b){2,5}", 4, 20), ("x{0000000003}", 3, 10), ("x{\u0663\u0663\u0663}", 5, 8), ("(?x)a b  # c{999}", 2, 8),
        ("(a{,900}){,900}", 1, 8), ("[a-z]{1000}", 1000, 4000), (r"\p{L}+\s\p{Lu}", 3, 12),
    ],
)  # fmt: skip
def test_how_heavy_a_pattern_is_when_written_out(pattern: str, least: int, most: int) -> None:
    assert least <= weight(pattern) <= most


@pytest.mark.parametrize("pattern", ["(?:a|(?R))*b", "(a|(?1))*b", "(?<x>a|(?&x))*b", "(?P<x>a|(?P>x))*b"])
async def test_a_pattern_that_calls_its_own_groups_is_refused(house: House, pattern: str) -> None:
    adhoc = [{"supported_entity": "X", "patterns": [{"regex": pattern, "score": 1}]}]
    answer = await ask(house, "POST", "/analyze", {**MINIMAL, "ad_hoc_recognizers": adhoc})
    assert (answer.status_code, "groups" in answer.json()["error"]) == (422, True)


def test_a_pattern_of_a_stranger_is_not_kept_in_the_cache() -> None:
    import regex

    regex.purge()
    made = AdHoc(supported_entity="X", patterns=[Pattern(regex=r"\d{5}", score=1)])
    assert found_in(["zip 12345"], [made])[0][0]["start"] == 4
    assert not regex._main._cache  # type: ignore[attr-defined]  # where regex caches patterns


@pytest.mark.parametrize(
    ("texts", "recognizers"),
    [
        (["a" * 300_000], [AdHoc(supported_entity="X", deny_list=["b"])]),
        (["a"] * 300_000, [AdHoc(supported_entity="X", deny_list=["b"])]),
        (["a"], [AdHoc(supported_entity="X", deny_list=["b"] * 6000)] * 2),
        (["a"], [AdHoc(supported_entity="X", deny_list=["b" * 1000] * 201)]),
        (["a " * 20_000], [AdHoc(supported_entity="X", deny_list=["a"])]),
    ],
)
def test_what_lists_and_texts_may_be_has_a_budget(texts: list[str], recognizers: list[AdHoc]) -> None:
    with pytest.raises(UsageError, match="ad_hoc_recognizers"):
        found_in(texts, recognizers)


def test_a_deny_list_finds_the_longest_whole_words_whatever_their_case() -> None:
    listed = AdHoc(supported_entity="X", deny_list=["Mary", "mary ann", "Dr.", "é", ".net"])
    text = "MARY ANN and Maryam saw dr. X; Dr.Y; É a.net .NET mary"
    found = found_in([text], [listed])[0]
    assert [text[one["start"] : one["end"]] for one in found] == ["MARY ANN", "dr.", "É", ".NET", "mary"]


def test_a_deny_list_of_ten_thousand_entries_with_one_beginning_ends_in_time() -> None:
    listed = AdHoc(supported_entity="X", deny_list=["a " * (n % 40) + f"b{n}" for n in range(4000)])
    with pytest.raises(UsageError, match=r"too long|more than"):
        found_in(["a " * 100_000], [listed, AdHoc(supported_entity="Y", deny_list=["a"])])


async def test_a_new_text_out_of_all_proportion_is_refused(house: House) -> None:
    """A request of one megabyte could produce an answer of one terabyte."""
    marked = [{"start": n, "end": n + 1, "entity_type": "X", "score": 1} for n in range(2000)]
    body = {
        "text": "a" * 2000, "analyzer_results": marked,
        "anonymizers": {"X": {"type": "replace", "new_value": "y" * 900}},
    }  # fmt: skip
    assert (await ask(house, "POST", "/anonymize", body)).status_code == 422


async def test_a_text_of_a_format_without_a_reader_is_refused_by_its_name(house: House) -> None:
    async with house.client(headers=house.key("ann", "submit")) as client:
        asked = {"text": ["John Smith", "<html>John Smith</html>"], "language": "en"}
        answer = await client.post("/analyze", json=asked)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "HTML, a format without a reader"
