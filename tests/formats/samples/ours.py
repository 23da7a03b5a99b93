"""Plain text, JSON, JSON lines, and tables."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace

from incognote.formats.registry import named
from incognote.formats.tables import Columns, Layout, reader

from . import Sample

LATIN = ("Patient Jos\u00e9, seen again. " * 5).encode("latin-1")
PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"
COLUMNS = Columns(("text",), passed=("id",))


def _record(text: str, **how: bool) -> str:
    return json.dumps({"dataType": "note", "id": "7", "text": text}, **how)  # type: ignore[arg-type]  # options of json.dumps


def _lines(texts: Sequence[str]) -> bytes:
    ends = ("\r\n", "\n", "\n\n")
    rows = (_record(text, ensure_ascii=i % 2 == 0) + ends[i % 3] for i, text in enumerate(texts))
    return codecs.BOM_UTF8 + "".join(rows).encode()


def _table(texts: Sequence[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([("id", "text"), *((i, text) for i, text in enumerate(texts))])
    return out.getvalue().encode()


SAMPLES = (
    Sample(
        named("text"), lambda texts: "\r\n".join(texts).encode(), [(LATIN, "encoding"), (PS, "unsupported-format")]
    ),
    Sample(
        named("json"),
        lambda texts: codecs.BOM_UTF16_LE + _record("\n".join(texts), ensure_ascii=False).encode("utf-16-le"),
        [(LATIN, "encoding"), (PS, "unsupported-format"), (b'{"text": ', "malformed")],
    ),
    Sample(
        named("lines"), _lines, [(b'{"text": "Jos\xe9"}\n', "encoding"), (b'{"text": \n', "malformed")], many=True
    ),
    *(
        Sample(
            replace(named(name), open=reader(name, Layout(COLUMNS))),
            lambda texts, sign=sign: _table(texts, sign),
            [(f"id{sign}text\n1".encode(), "schema-violation"), (b"", "malformed-table"), (PS, "unsupported-format")],
            many=True,
        )
        for name, sign in (("csv", ","), ("tsv", "\t"))
    ),
)
