"""The JSON reader that keeps positions, against the standard library's reader and against itself."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import AccountingError, MalformedRecord
from incognote.formats.base import splice
from incognote.formats.records.rawjson import MAX_DEPTH, Node, parse, quoted, raw_offsets, string_edits

ANY_TEXT = st.text(st.characters(), max_size=30)  # includes lone surrogates, NUL, combining marks, and emoji
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
WRITINGS = st.fixed_dictionaries(
    {"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1, "\t"]), "sort_keys": st.booleans()}
)


def value_of(raw: str, node: Node) -> Any:
    """Return a node as Python values."""
    if node.kind == "object":
        return {name: value_of(raw, inner) for name, inner in node.value.items()}
    if node.kind == "array":
        return [value_of(raw, inner) for inner in node.value]
    return json.loads(raw[node.start : node.end]) if node.kind in ("integer", "number") else node.value


def nodes_of(node: Node) -> list[Node]:
    inner = node.value.values() if node.kind == "object" else node.value if node.kind == "array" else ()
    return [node, *(n for i in inner for n in nodes_of(i))]


def joined(text: str) -> str:
    """Join surrogate pairs into one character, as any JSON reader does."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(JSON_VALUES, WRITINGS)
def test_reads_what_the_standard_library_reads(value: Any, writing: dict[str, Any]) -> None:
    raw = json.dumps(value, **writing)
    assert value_of(raw, parse(raw)) == json.loads(raw)


@given(JSON_VALUES, WRITINGS)
def test_every_value_stands_where_its_node_says(value: Any, writing: dict[str, Any]) -> None:
    raw = json.dumps(value, **writing)
    nodes = list(nodes_of(parse(raw)))
    assert nodes
    for node in nodes:
        assert json.loads(raw[node.start : node.end]) == value_of(raw, node)


@given(JSON_VALUES, WRITINGS)
def test_splicing_nothing_changes_nothing(value: Any, writing: dict[str, Any]) -> None:
    raw = json.dumps(value, **writing)
    strings = [node for node in nodes_of(parse(raw)) if node.kind == "string"]
    assert splice(raw, [edit for node in strings for edit in string_edits(raw, node, [])]) == raw


@given(st.data(), ANY_TEXT.filter(bool), ANY_TEXT, st.booleans())
def test_an_edit_lands_exactly_where_it_was_meant(data: st.DataObject, text: str, new: str, ascii_only: bool) -> None:
    text = joined(text)
    raw = '{ "before" : 1.10,"text":' + json.dumps(text, ensure_ascii=ascii_only) + ' , "after":"\\u00e9\\/" }'
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    after = splice(raw, string_edits(raw, parse(raw).value["text"], [(start, end, new)]))
    assert joined(parse(after).value["text"].value) == joined(text[:start] + new + text[end:])
    assert after.startswith('{ "before" : 1.10,"text":"')
    assert after.endswith('" , "after":"\\u00e9\\/" }')


@given(st.lists(st.sampled_from(["a", "é", "\\u00e9", "\\n", "\\/", '\\"', "\\\\", "\\ud83d\\ude00", "😀", "\\ud83d",
                                 "\\ude00", "\u0301", "א"])))
def test_offsets_count_decoded_characters_whatever_the_escapes(parts: list[str]) -> None:
    raw = '"' + "".join(parts) + '"'
    node = parse(raw)
    offsets = raw_offsets(raw, node, range(len(node.value) + 1))
    assert (offsets[0], offsets[-1]) == (1, len(raw) - 1)
    assert [parse(f'"{raw[a:b]}"').value for a, b in pairwise(offsets)] == list(node.value)


def test_numbers_spacing_key_order_and_escapes_survive_an_edit() -> None:
    raw = '{"z":1.10,\r\n\t"a" : [ 1E5 , -0 ],"t":"\\u00e9\\/ John \\ud83d\\ude00","m":{}}\n'
    after = splice(raw, string_edits(raw, parse(raw).value["t"], [(3, 7, '["P"]\n')]))
    assert after == '{"z":1.10,\r\n\t"a" : [ 1E5 , -0 ],"t":"\\u00e9\\/ [\\"P\\"]\\n \\ud83d\\ude00","m":{}}\n'


def test_a_byte_order_mark_is_skipped_and_kept() -> None:
    raw = '\ufeff{"a":"b"}'
    root = parse(raw)
    assert splice(raw, string_edits(raw, root.value["a"], [(0, 1, "c")])) == '\ufeff{"a":"c"}'


def test_a_member_knows_where_its_name_begins() -> None:
    raw = '{"a" : 1, "b\\u0063":[2]}'
    root = parse(raw)
    assert [raw[n.key_start :][:3] for n in root.value.values()] == ['"a"', '"b\\']
    assert root.value["bc"].value[0].key_start == -1


@pytest.mark.parametrize(("raw", "kind"), [
    ("0", "integer"), ("-0", "integer"), ("12", "integer"), ("1.0", "number"), ("1e0", "number"), ("-1.5E-7", "number"),
    ("true", "boolean"), ("null", "null"), ('""', "string"), ("[]", "array"), ("{ }", "object"), (" [ ] ", "array"),
])
def test_kinds_are_those_of_draft_4(raw: str, kind: str) -> None:
    assert parse(raw).kind == kind


@pytest.mark.parametrize("raw", [
    "", " ", "\ufeff", "{", "}", "[", '{"Doe"', '{"Doe":', '{"Doe":1', '{"Doe":1,', '{"Doe":1,}', "[1,]", "[1 2]",
    '{"Doe" 1}', "{Doe:1}", "'Doe'", '"Doe', '"Doe\x01"', '"Doe\\x"', '"\\u12g4 Doe"', "01", "1.", ".5", "+1", "-",
    "1e", "NaN", "Infinity", "-Infinity", "nul", "True", '{"a":1]', "[1}", "{]", "[}", "[,1]", "{,}", '"Doe" "Doe"',
    '{"a":1}}', '{"Doe":1,"Doe":2}', '{"Doe":1,"D\\u006fe":2}', "\x0c1", "\u00a01", "[" * 201, '{"a":' * 201,
    "\x00", "PK\x03\x04Doe",
])
def test_what_is_not_strict_json_is_refused_by_position_alone(raw: str) -> None:
    with pytest.raises(MalformedRecord, match=r"line \d+, column \d+\Z") as caught:
        parse(raw)
    assert "Doe" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(JSON_VALUES.map(json.dumps), st.data())
def test_a_broken_text_is_refused_by_both_readers_or_by_neither(raw: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(raw)))
    broken = raw[:at] + data.draw(st.sampled_from(["", ",", "}", '"', "\\", "1", " "])) + raw[at + 1 :]

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in found}) < len(found):
            raise ValueError("a key twice")
        return dict(found)

    def constant(name: str) -> None:
        raise ValueError(name)

    try:
        expected = json.loads(broken, object_pairs_hook=pairs, parse_constant=constant)
    except ValueError:
        with pytest.raises(MalformedRecord):
            parse(broken)
    else:
        assert value_of(broken, parse(broken)) == expected


def test_the_position_of_a_fault_is_that_of_the_first_wrong_character() -> None:
    with pytest.raises(MalformedRecord, match="line 3, column 8"):
        parse('{\n "a": 1,\n  "b": Doe\n}')


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH).kind == "array"
    with pytest.raises(MalformedRecord, match="deeper than 200"):
        parse("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


def test_a_million_brackets_are_refused_not_recursed_into() -> None:
    with pytest.raises(MalformedRecord):
        parse("[" * 1_000_000)


@given(ANY_TEXT)
def test_a_quoted_text_reads_as_itself_and_utf_8_can_hold_it(text: str) -> None:
    written = quoted(text)
    assert joined(json.loads(written)) == joined(text)
    assert parse(written.encode().decode()).kind == "string"


@pytest.mark.parametrize("edits", [[(0, 2, "x"), (1, 3, "y")], [(2, 1, "x")], [(0, 99, "x")], [(-1, 1, "x")]])
def test_edits_that_overlap_or_lie_outside_are_a_bug_not_an_output(edits: list[tuple[int, int, str]]) -> None:
    with pytest.raises(AccountingError):
        splice('"abc"', edits)


def test_a_node_shows_no_value() -> None:
    assert "Doe" not in repr(parse('{"a":"Doe"}').value["a"])


def test_a_note_of_ten_megabytes_is_edited_at_its_end() -> None:
    raw = json.dumps({"note": "é line\n" * 1_400_000 + "Doe"})
    node = parse(raw).value["note"]
    after = splice(raw, string_edits(raw, node, [(len(node.value) - 3, len(node.value), "[PERSON]")]))
    assert after == raw[: -len('Doe"}')] + '[PERSON]"}'
