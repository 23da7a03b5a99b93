"""As much of HTTP/1.1 as a server on the loopback needs: requests read, responses written, connections kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Asked:
    """One HTTP request. Header names are in lower case; `query` keeps the last value of each name."""

    method: str
    path: str
    query: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked | None:
    """The next request of a connection; None where it ends, or where what comes is not HTTP."""
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        named = (line.split(":", 1) for line in lines[1:] if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, value in named}
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = await _chunks(reader)
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    url = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    return Asked(method, unquote(url.path), query, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailers: nobody here asks for them
    return bytes(body)


def head(status: int, headers: Mapping[str, str], length: int | None) -> bytes:
    """Status line and headers; without a length the body is sent in chunks."""
    size = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{k}: {v}" for k, v in headers.items()), size]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(piece: bytes) -> bytes:
    """A piece of a body sent in chunks; the empty one ends it."""
    return f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


def parts(body: bytes, content_type: str) -> dict[str, tuple[str, bytes]]:
    """The fields of a multipart form: file name ("" for none) and bytes of each.

    Raises:
        ValueError: no multipart form.
    """
    kind, _, rest = content_type.partition(";")
    boundary = _parameter(rest, "boundary")
    if kind.strip().lower() != "multipart/form-data" or not boundary:
        raise ValueError("not a multipart form")
    found: dict[str, tuple[str, bytes]] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))[1:-1]:
        lines, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        for line in lines.decode("utf-8", "replace").split("\r\n"):
            name, _, value = line.partition(":")
            if name.strip().lower() == "content-disposition":
                found[_parameter(value, "name")] = _parameter(value, "filename"), content
    return found


def _parameter(value: str, name: str) -> str:
    """A header's parameter, quoted or bare; "" where it is absent."""
    for piece in value.split(";"):
        key, _, said = piece.strip().partition("=")
        if key.lower() == name:
            return said.strip('"')
    return ""
