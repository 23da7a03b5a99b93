"""HTML, XHTML and Markdown: paragraphs whose words are split by markup, with references and escapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from incognote.formats.registry import named

from . import Sample


def _body(texts: Sequence[str]) -> str:
    return "".join(f"\n <p>{escape(t[:1])}<b>{escape(t[1:2])}</b>{escape(t[2:], quote=i % 2 == 0)}</p>"
                   for i, t in enumerate(texts))


def _html(texts: Sequence[str]) -> bytes:
    return f"<!DOCTYPE html>\n<HTML><body lang=en>{_body(texts)}<hr></body>".encode()


def _xhtml(texts: Sequence[str]) -> bytes:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head/>'
    return f"{head}<body>{_body(texts)}</body></html>\n".encode("utf-8-sig")


def _markdown(texts: Sequence[str]) -> bytes:
    marked = (re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text) for text in texts)
    return "\n\n".join(f"## {words}\n" if i % 2 else words for i, words in enumerate(marked)).encode()


DAMAGED = [
    (b'<meta charset="windows-1252"><p>Jos\xc3\xa9</p>', "encoding"),
    (b"<p>Jos\xe9</p>", "encoding"),
    (b'<meta charset="utf-7"><p>+ADw-</p>', "encoding"),
    (b"<p>Ca\x00rter</p>", "malformed"),
    (b"<p>seen<plaintext><p>Carter", "malformed"),
    (b"<title>a<b></title><p>Carter", "malformed"),
]

SAMPLES = (
    Sample(named("html"), _html, DAMAGED),
    Sample(named("xhtml"), _xhtml, [*DAMAGED, (b'<!DOCTYPE html [<!ENTITY c "Carter">]><p>&c;</p>', "malformed")]),
    Sample(named("markdown"), _markdown, [(b"Jos\xe9", "encoding"), *DAMAGED[4:]]),
)
