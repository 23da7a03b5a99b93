"""Tables: rows as records, notes joined from several rows, and every byte outside the changed cells kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import AccountingError, MalformedRecord, SchemaViolation, UsageError
from incognote.formats.records.csvtext import DELIMITERS, Rows, dictionaries
from incognote.formats.records.rows import BadRows, OpenRows, Table
from incognote.formats.tables import Columns, Layout
from incognote.nouns import Known
from incognote.schemas.record_schema import compile_schema
from incognote.schemas.registry import Registry

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTES = Registry().get("csvNotes")
TEXT = {"type": "string", "autoDeId": True}


def schema_of(**properties: Any) -> Any:
    return compile_schema({"dataType": "t", "type": "object", "properties": properties})


def table(text: str, schema: Any, **more: Any) -> Table:
    delimiter = more.pop("delimiter", None)
    return Layout(schema, **more).table(io.StringIO(text, newline=""), delimiter)


def opened(t: Table) -> list[OpenRows]:
    records = list(t.records())
    assert not [r for r in records if isinstance(r, BadRows)]
    return [r for r in records if isinstance(r, OpenRows)]


def rebuilt(t: Table, edits: Mapping[str, Sequence[tuple[int, int, str]]] | None = None) -> str:
    """Rebuild the whole table, with the same edits in every record and [X] for every action."""
    parts = []
    for record in opened(t):
        mine = {path: found for path, found in (edits or {}).items() if path in {x.field for x in record.texts}}
        parts.append((record, record.rewritten(mine, dict.fromkeys(record.actions, "[X]"))))
    return "".join(t.rebuild(parts))


CELLS = st.text(st.sampled_from('ab,;"\n\r\t| é😀\u0301\u2028\x85\x00'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4), st.sampled_from(DELIMITERS),
       st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]), st.sampled_from(["\r\n", "\n", "\r"]))
def test_cells_read_as_the_standard_library_reads_them(
    rows: list[list[str]], sign: str, quoting: Any, end: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=sign, quoting=quoting, lineterminator=end).writerows(rows)
    lines = io.StringIO(out.getvalue(), newline="")
    expected = csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=sign, strict=True)
    reader = Rows(lines, sign)
    read = list(reader)
    assert [list(row.values) for row in read] == [row for row in expected if row]
    assert not any(row.fault for row in read)
    assert "".join(row.raw for row in read) + reader.tail == out.getvalue()


@given(st.text(st.sampled_from('ab,"\n\r '), max_size=20))
def test_any_text_is_read_whole_and_faults_where_the_strict_reader_faults(text: str) -> None:
    reader = Rows(io.StringIO(text, newline=""), ",")
    read = list(reader)
    assert "".join(row.raw for row in read) + reader.tail == text
    try:
        expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        assert any(row.fault for row in read)
    else:
        assert [list(row.values) for row in read] == expected


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4), st.data())
def test_only_the_changed_cell_changes(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    out = io.StringIO(newline="")
    quoting = data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    csv.writer(out, quoting=quoting).writerows([("a", "t"), *rows])
    t = table(out.getvalue(), schema_of(a={"type": "string", "passThrough": True}, t=TEXT))
    new = data.draw(CELLS)
    result = rebuilt(t, {"t": [(0, 1, new)]})
    assert list(csv.reader(io.StringIO(result, newline=""), strict=True)) == [
        ["a", "t"], *([a, (new + b[1:] if b else b)] for a, b in rows)]


def test_a_table_without_edits_comes_back_byte_for_byte() -> None:
    text = '\ufeffid;"t"\r\n\r\n1;"x ""y"""\n2;"a\r\nb"\r\n\n3;plain\r\n\r\n\r\n'
    t = table(text, schema_of(id={"type": "string", "passThrough": True}, t=TEXT))
    assert rebuilt(t) == text


def test_quotes_and_spacing_of_untouched_cells_stay() -> None:
    text = 'a,b,t\n"1", 2 ,Jane Doe\n3,"4, x","Jane ""JD"" Doe"\n'
    passing = {"type": "string", "passThrough": True}
    t = table(text, schema_of(a=passing, b=passing, t=TEXT))
    assert rebuilt(t, {"t": [(0, 4, "[A, B]")]}) == 'a,b,t\n"1", 2 ,"[A, B] Doe"\n3,"4, x","[A, B] ""JD"" Doe"\n'


@pytest.mark.parametrize("sign", DELIMITERS)
def test_the_delimiter_is_the_one_that_shows_the_schemas_columns(sign: str) -> None:
    note = "Seen, well; no\t| fever".replace(sign, "")
    (record,) = opened(table(f"note_id{sign}patient_id{sign}text\nn1{sign}p1{sign}{note}\n", NOTES))
    assert record.texts[0].content == note


def test_a_tab_in_a_column_name_does_not_confuse_a_named_delimiter() -> None:
    assert table("a\tb,t\n1,x\n", schema_of(**{"a\tb": TEXT, "t": TEXT}), delimiter=",").columns == ("a\tb", "t")


def test_each_row_is_a_record_of_its_own() -> None:
    first, second = opened(table(
        "note_id,patient_id,author,text\nn1,4471,Ann Roe,Seen by Roe\nn2,,,\n", NOTES))
    assert (first.rows, first.id, first.patient) == ((1,), "n1", "4471")
    assert first.known == (Known("MEDICAL_RECORD_NUMBER", "4471"), Known("CLINICIAN", "Ann Roe"))
    assert [(a.text.field, a.action, a.entity_type) for a in first.actions] == [
        ("note_id", "hash", None), ("patient_id", "hash", "MEDICAL_RECORD_NUMBER"), ("author", "mask", "CLINICIAN")]
    assert first.rewritten({"text": [(8, 11, "[CLINICIAN]")]}, dict.fromkeys(first.actions, "h")) == \
        "h,h,h,Seen by [CLINICIAN]\n"
    assert (second.texts, [a.text.field for a in second.actions], second.patient) == ((), ["note_id"], None)


def test_typed_columns_are_read_by_their_type() -> None:
    number = {"type": ["number", "null"], "passThrough": True}
    whole = {"type": "integer", "shouldHash": True}
    flag = {"type": "boolean", "passThrough": True}
    schema = schema_of(x=number, n=whole, f=flag, t=TEXT)
    first, second = opened(table("x,n,f,t\n1.5,12,TRUE,a\n,,,b\n", schema))
    assert first.actions[0].text.content == "12"
    assert second.actions == ()
    for row, column in (("abc,1,true,a", "x"), ("1,1.5,true,a", "n"), ("1,1,Doe,a", "f")):
        (bad,) = table(f"x,n,f,t\n{row}\n", schema).records()
        assert isinstance(bad, BadRows)
        assert bad.problem.field == column
        assert str(bad.problem).startswith(f"row 1: {column}: is of type")


def test_a_faulty_row_alone_is_refused_and_none_vanishes() -> None:
    text = ('note_id,patient_id,text\nn1,p1,fine\nn2,p2\nn3,p3,x,Doe\nn4,p4,"a"Doe\n"","",ok\n'
            'n6,p6,fine\nn7,p7,"Doe never closed\nn8,p8,lost\n')
    records = list(table(text, NOTES).records())
    assert [type(r) for r in records] == [OpenRows, BadRows, BadRows, BadRows, OpenRows, OpenRows, BadRows]
    assert [r.rows for r in records] == [(1,), (2,), (3,), (4,), (5,), (6,), (7,)]
    bad = [r for r in records if isinstance(r, BadRows)]
    assert [str(r.problem) for r in bad] == [
        "row 2 has 2 cells, but the header has 3", "row 3 has 4 cells, but the header has 3",
        "row 4 cannot be read: text follows a closing quote",
        "row 7 cannot be read: an opening quote is never closed",
    ]
    assert "note_id,patient_id,text\n" + "".join(r.content for r in records) == text
    assert "Doe" not in repr(bad)


PIECES = ("note_id,patient_id,line,text\r\n"
          "n1,p1,2,\"Doe, MD, saw him\"\r\n"
          "n2,p2,1,Other\r\n"
          "n1,p1,10,end\r\n"
          "n1,p1,1,Seen by Jane\r\n"
          ",p9,1,alone\r\n"
          ",p8,1,alone too\r\n")


def test_pieces_of_a_note_are_joined_in_order_and_cut_back_onto_their_rows() -> None:
    t = table(PIECES, NOTES, group="note_id", order="line")
    records = opened(t)
    assert [r.rows for r in records] == [(4, 1, 3), (2,), (5,), (6,)]
    assert records[0].texts[0].content == "Seen by Jane\nDoe, MD, saw him\nend"
    assert records[0].patient == "p1"
    edits = {"text": [(8, 16, "[CLINICIAN]"), (18, 20, "[X]"), (29, 33, "[Y]")]}
    parts = [(r, r.rewritten(edits if r.rows[0] == 4 else {}, dict.fromkeys(r.actions, "h"))) for r in records]
    assert "".join(t.rebuild(reversed(parts))) == (
        "note_id,patient_id,line,text\r\n"
        'h,h,2,", [X], saw him"\r\n'
        "h,h,1,Other\r\n"
        "h,h,10,[Y]\r\n"
        "h,h,1,Seen by [CLINICIAN]\r\n"
        ",h,1,alone\r\n"
        ",h,1,alone too\r\n"
    )


@given(st.lists(st.text("ab\n", max_size=5), min_size=1, max_size=4), st.data())
def test_an_edit_of_joined_pieces_changes_nothing_outside_it(pieces: list[str], data: st.DataObject) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("g", "t"), *(("1", piece) for piece in pieces)])
    t = table(out.getvalue(), schema_of(g={"type": "string", "passThrough": True}, t=TEXT), group="g")
    (record,) = opened(t)
    full = [piece for piece in pieces if piece]
    content = "\n".join(full)
    assert [text.content for text in record.texts] == ([content] if full else [])
    start = data.draw(st.integers(0, max(len(content) - 1, 0)))
    end = data.draw(st.integers(min(start + 1, len(content)), len(content)))
    if not full:
        return
    result = "".join(t.rebuild([(record, record.rewritten({"t": [(start, end, "#")]}, {}))]))
    cells = [row["t"] for row in csv.DictReader(io.StringIO(result, newline=""), strict=True)]
    at, expected = 0, []
    for piece in pieces:
        kept = "".join(c if not start <= at + i < end else "" for i, c in enumerate(piece))
        expected.append(kept)
        at += len(piece) + 1 if piece else 0
    assert [cell.replace("#", "") for cell in cells] == expected
    assert sum(cell.count("#") for cell in cells) == 1


def test_actions_of_grouped_rows_have_paths_of_their_own() -> None:
    (record, *_) = opened(table(PIECES, NOTES, group="note_id", order="line"))
    assert [a.text.field for a in record.actions] == [
        "note_id[0]", "patient_id[0]", "note_id[1]", "patient_id[1]", "note_id[2]", "patient_id[2]"]
    assert len(set(record.actions)) == 6


def test_without_an_order_the_tables_own_order_counts() -> None:
    records = opened(table(PIECES, NOTES, group="note_id"))
    assert records[0].texts[0].content == "Doe, MD, saw him\nend\nSeen by Jane"


def test_dates_order_pieces_as_text_and_a_mixture_is_refused() -> None:
    schema = schema_of(g=TEXT, o={"type": "string", "passThrough": True}, t=TEXT)
    (record,) = opened(table("g,o,t\n1,2024-02-01,b\n1,2024-01-31,a\n", schema, group="g", order="o"))
    assert record.rows == (2, 1)
    (bad,) = table("g,o,t\n1,2024-02-01,b\n1,7,a\n", schema, group="g", order="o").records()
    assert isinstance(bad, BadRows)
    assert (bad.rows, bad.problem.field) == ((1, 2), "o")


def test_rows_of_one_note_with_two_subjects_are_refused() -> None:
    text = "note_id,patient_id,text\nn1,p1,a\nn1,p2,b\n"
    (bad,) = table(text, NOTES, group="note_id").records()
    assert isinstance(bad, BadRows)
    assert "different patients" in str(bad.problem)
    assert not {"p1", "p2"} & set(str(bad.problem).split())


def test_a_bad_row_among_pieces_is_refused_alone() -> None:
    records = list(table("note_id,patient_id,text\nn1,p1,a\nn1,p1\nn1,p1,b\n", NOTES, group="note_id").records())
    assert [(type(r), r.rows) for r in records] == [(OpenRows, (1, 3)), (BadRows, (2,))]


def test_a_note_that_comes_back_with_other_rows_is_a_bug_not_an_output() -> None:
    t = table(PIECES, NOTES, group="note_id")
    with pytest.raises(AccountingError, match="a note of 3 rows came back as 1"):
        list(t.rebuild([(opened(t)[0], "one,row\n")]))


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "  \n"])
def test_an_empty_table_is_malformed(text: str) -> None:
    with pytest.raises(MalformedRecord, match="the table is empty"):
        table(text, NOTES)


def test_a_bare_quote_in_the_header_costs_no_row() -> None:
    t = table('\ufeff\na,t 5"\n1,x\n2,y\n', schema_of(a={"type": "string", "passThrough": True}, **{'t 5"': TEXT}))
    assert [record.rows for record in opened(t)] == [(1,), (2,)]


def test_a_table_of_a_header_alone_has_no_records() -> None:
    t = table("note_id,patient_id,text", NOTES)
    assert list(t.records()) == []
    assert "".join(t.rebuild([])) == "note_id,patient_id,text"


@pytest.mark.parametrize(("header", "error", "words"), [
    ("note_id,patient_id,text,extra", SchemaViolation, "column 'extra': not in the schema csvNotes"),
    ("n1,Jane Doe,Seen 3/4", SchemaViolation, "column 1, column 2, column 3: not in the schema"),
    ("note_id,text", SchemaViolation, "lacks columns of the schema csvNotes: patient_id"),
    ("note_id,text,patient_id,text", MalformedRecord, "columns 2 and 4 have the same name"),
    ('note_id,patient_id,"text', MalformedRecord, "an opening quote"),
])
def test_a_header_that_does_not_fit_is_told_without_quoting_data(header: str, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        table(header + "\nn1,p1,Doe\n", NOTES)
    assert "Doe" not in str(caught.value)


def test_group_and_order_must_be_columns_of_the_table() -> None:
    for more in ({"group": "nope"}, {"order": "line"}, {"group": "note_id", "order": "nope"}):
        with pytest.raises(UsageError):
            table(PIECES, NOTES, **more)


def test_a_nested_schema_is_not_for_tables() -> None:
    nested = schema_of(a={"type": "array", "items": TEXT})
    with pytest.raises(UsageError, match="nested fields"):
        table("a\nx\n", nested)


def test_a_cell_of_megabytes_is_read() -> None:
    note = "line one\n" * 300_000
    (record,) = opened(table(f'a,t\n1,"{note}"\n', schema_of(a={"type": "string", "passThrough": True}, t=TEXT)))
    assert record.texts[0].content == note


def test_columns_without_a_schema_are_served_as_named() -> None:
    columns = Columns(text=["body"], id="row", patient="mrn", passed=["sex"], hashed=["visit no"], dropped=["ssn"])
    t = table('row,"ssn",sex,body,visit no,mrn\n7,111,f,"Doe, x",v9,778\n', columns)
    (record,) = opened(t)
    assert (record.id, record.patient) == ("7", "778")
    assert record.known == (Known("FIN", "v9"), Known("MEDICAL_RECORD_NUMBER", "778"))
    out = record.rewritten({"body": [(0, 3, "[P]")]}, dict.fromkeys(record.actions, "h"))
    assert "".join(t.rebuild([(record, out)])) == 'row,sex,body,visit no,mrn\nh,f,"[P], x",h,h\n'


def test_group_and_order_columns_without_a_schema_are_hashed_and_counted() -> None:
    t = table("note,seq,t\nA,2,y\nA,1,x\n", Columns(text=["t"]), group="note", order="seq")
    (record,) = opened(t)
    assert record.texts[0].content == "x\ny"
    assert {a.text.field for a in record.actions} == {"note[0]", "note[1]"}
    (bad,) = table("note,seq,t\nA,6505551234,y\n", Columns(text=["t"]), group="note", order="seq").records()
    assert isinstance(bad, BadRows)
    assert bad.problem.field == "seq"


def test_an_id_that_is_passed_by_name_passes() -> None:
    (record,) = opened(table("id,t\n7,x\n", Columns(text=["t"], id="id", passed=["id"])))
    assert record.actions == ()


@pytest.mark.parametrize(("columns", "words"), [
    (Columns(text=["t"]), "no rule for column [12], column 3\\."),
    (Columns(text=["t"], passed=["a"]), "no rule for column 3\\."),
    (Columns(text=["nope"]), "no column 'nope'"),
    (Columns(text=[]), "at least one text column"),
    (Columns(text=["t"], passed=["t"]), "used for two things"),
])
def test_a_column_nobody_named_is_a_usage_error(columns: Columns, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        table("a,t,Jane Doe\n1,x,y\n", columns)


def test_other_columns_are_another_version() -> None:
    versions = {Columns(text=["t"], passed=["a"]).schema().version, Columns(text=["t"], hashed=["a"]).schema().version,
                Columns(text=["t"], passed=["a"]).schema("o").version}
    assert len(versions) == 3


def test_rows_as_dictionaries_leave_out_what_cannot_be_read() -> None:
    text = 'a|b\n1|"x|y"\n2\n"3"z|4\n5|6\n'
    assert list(dictionaries(io.StringIO(text, newline=""))) == [{"a": "1", "b": "x|y"}, {"a": "5", "b": "6"}]


def test_the_example_table_opens_under_its_schema() -> None:
    with (EXAMPLES / "notes.csv").open(encoding="utf-8", newline="") as stream:
        t = Layout(NOTES, "note_id", "line").table(stream, None)
        records = opened(t)
    assert sum(len(r.rows) for r in records) == 12
    assert max(len(r.rows) for r in records) > 1
    unchanged = "".join(t.rebuild((r, r.rewritten({}, {a: a.text.content for a in r.actions})) for r in records))
    assert unchanged == (EXAMPLES / "notes.csv").read_bytes().decode("utf-8")
