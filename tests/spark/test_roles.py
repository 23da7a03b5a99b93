"""Columns by their roles: what is wrong is said before a job starts, with the argument and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from incognote.errors import UsageError
from incognote.spark.roles import Roles

from .conftest import require_spark

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

NONE: dict[str, Any] = {"patient": None, "id": None, "known": (), "path": None, "media_type": None, "keep": ()}


def schema(**columns: str) -> StructType:
    require_spark()
    from pyspark.sql import types as t

    kinds: dict[str, Any] = {"string": t.StringType, "binary": t.BinaryType, "int": t.IntegerType}
    return t.StructType([t.StructField(name, kinds[kind]()) for name, kind in columns.items()])


def roles(text: str, **named: Any) -> Roles:
    return Roles.named(text=text, **{**NONE, **named})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (roles("nota"), "text: the table has no column 'nota'. Its columns: note, patient, n, verdict"),
        (roles("note", patient="who"), "patient: the table has no column 'who'"),
        (roles("note", known="mrn"), "known: the table has no column 'mrn'"),
        (roles("note", keep=["a"]), "keep: the table has no column 'a'"),
        (roles("note", keep="verdict"), "already has a column 'verdict'"),
        (roles("note", patient="note"), "text: the column 'note' cannot be used for something else"),
        (roles("n"), "text: the column 'n' is neither string nor binary. Cast it"),
        (roles("note", path="patient"), "path is only for documents"),
        (roles("note", media_type="n"), "media_type: the column 'n' is not a string"),
    ],
)
def test_a_wrong_column_is_named_with_its_argument(wrong: Roles, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        wrong.check(schema(note="string", patient="string", n="int", verdict="string"))
    assert said in str(refused.value)


def test_columns_without_a_role_are_left_out_and_those_that_identify_are_hashed() -> None:
    made = roles("note", patient="patient", id="n", known="mrn", keep=["ward", "n"])
    before = schema(name="string", note="string", patient="int", n="int", mrn="int", ward="int")
    made.check(before)
    assert made.read == ("note", "patient", "n", "mrn", "ward")
    assert [made.is_hashed(name) for name in made.read] == [False, True, False, True, False]
    kinds = {field.name: field.dataType.simpleString() for field in made.output(before)}
    assert {name: kinds[name] for name in made.read} == {
        "note": "string", "patient": "string", "n": "int", "mrn": "string", "ward": "int",
    }  # fmt: skip
    assert tuple(kinds) == made.written
    assert kinds["reasons"] == "array<struct<code:string,field:string>>"
