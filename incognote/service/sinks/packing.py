"""Released records on their way into a shard: lines of one shape, then the bytes of a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import dataclass, field
from typing import Literal

from incognote.files.inputs import TABLES, Input

Packing = Literal["none", "gzip", "zstd"]
Form = Literal["lines", "parquet"]
_SUFFIX: dict[str, str] = {"none": "", "gzip": ".gz", "zstd": ".zst"}
_NO_LINE = str.maketrans("\r\n", "  ")  # between the values of a JSON document, the only place they can stand


@dataclass(frozen=True, slots=True)
class Shape:
    """What the lines of a shard are.

    Args:
        head: the header line of a table.
    """

    kind: Literal["jsonl", "csv", "tsv"] = "jsonl"
    head: str = field(default="", repr=False)


def shape_of(one: Input) -> Shape:
    """Tables stay tables; records and texts are lines of JSON."""
    if one.table is None or one.source.kind not in TABLES:
        return Shape()
    head = one.table.table.head
    return Shape("tsv" if one.source.kind == "tsv" else "csv", head if head.endswith(("\n", "\r")) else head + "\n")


def line_of(one: Input, output: str, id: str) -> bytes:
    """A released record as it stands in a shard.

    Args:
        id: of a text, which has none of its own that may be told: random, since a hash of a file's name or of a text
            is derived from the individual.

    Raises:
        UnicodeEncodeError: it holds what UTF-8 cannot write.
    """
    if one.table is not None:
        return (output if output.endswith(("\n", "\r")) else output + "\n").encode()
    if one.is_record:
        return (output.translate(_NO_LINE) + "\n").encode()
    return (json.dumps({"id": id, "text": output}, ensure_ascii=False) + "\n").encode()


def suffix(shape: Shape, form: Form, packing: Packing) -> str:
    """Of a shard's name."""
    return ".parquet" if form == "parquet" else f".{shape.kind}{_SUFFIX[packing]}"


def packed(shape: Shape, lines: list[bytes], form: Form, packing: Packing) -> bytes:
    """The bytes of a shard."""
    if form == "parquet":
        return _parquet(shape, lines, packing)
    data = shape.head.encode() + b"".join(lines)
    if packing == "gzip":
        return gzip.compress(data, mtime=0)
    if packing == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


def _parquet(shape: Shape, lines: list[bytes], packing: Packing) -> bytes:
    """A column a field; one column of JSON where fields of one name are of several kinds."""
    import pyarrow as pa
    from pyarrow import parquet

    if shape.kind == "jsonl":
        rows = [json.loads(line) for line in lines]
    else:
        text = shape.head + b"".join(lines).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if shape.kind == "tsv" else ","))
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        table = pa.table({"record": [json.dumps(row, ensure_ascii=False) for row in rows]})
    out = io.BytesIO()
    parquet.write_table(table, out, compression=packing)
    return out.getvalue()
