"""From one place to another, and from one key to another: documents in sealed lines, and documents sealed anew."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Literal

from incognote.errors import UsageError, WrongKey
from incognote.keys import Keyring
from incognote.relex.index.desk import Desk, Meta
from incognote.relex.index.docs import META, Create, Delete, Doc, Get, Page, Program, Scan, Swap

_HEAD = "incognote index 1"
_CLEAR = [f.name for f in fields(Doc) if f.name not in ("body", "vector", "version")]


def page(desk: Desk, after: Any) -> Program[Page]:
    """A page of all documents but the index's own, with their vectors."""
    yield from desk.fetch()
    found: Page = yield Scan({}, {"kind": "meta"}, vectors=True, after=after)
    return found


def head(desk: Desk, export: str) -> str:
    """The first line of an export: what is needed to refuse it, and nothing else."""
    meta = desk.meta
    told = {
        "file": _HEAD,
        "export": export,
        "key": meta.key,
        "check": meta.check,
        "originals": meta.originals,
        "dimension": meta.dimension,
        "embedder": meta.embedder,
    }
    return json.dumps(told)


def line(desk: Desk, doc: Doc) -> str:
    """A document as a sealed line; its vector goes along in clear inside."""
    raw = desk.raw(doc)
    told = {name: getattr(doc, name) for name in _CLEAR}
    told |= {"body": _text(doc.body), "vector": None if raw is None else _text(raw)}
    return _text(desk.keyring.seal("index", json.dumps(told).encode(), "export"))


def tail(desk: Desk, count: int) -> str:
    """The last line: a file without it was cut."""
    return _text(desk.keyring.seal("index", json.dumps({"lines": count}).encode(), "export end"))


def read_head(desk: Desk, first: str) -> str:
    """The name of an export that fits the index.

    Raises:
        UsageError: it is none, or of another kind of index.
        WrongKey: it was made under another key.
    """
    try:
        told = json.loads(first)
    except ValueError:
        told = None
    if not isinstance(told, dict) or told.get("file") != _HEAD:
        raise UsageError("the file is no export of an index, or of a newer version")
    desk.keyring.require(told["key"], told["check"])
    meta = desk.meta
    for name in ("originals", "dimension", "embedder"):
        if told[name] != getattr(meta, name):
            raise UsageError(f"{name}: the export's differs from this index's; make one with the same options")
    return str(told["export"])


def check_tail(desk: Desk, lines: Iterable[str]) -> None:
    """See to it that all lines after the head are there.

    Raises:
        UsageError: the file was cut.
    """
    count, last = -1, ""
    for text in lines:
        count, last = count + 1, text.strip()
    try:
        told = json.loads(desk.keyring.open("index", _bytes(last), "export end"))
    except WrongKey:
        told = None
    if told != {"lines": count}:
        raise UsageError("the export is not whole: it was cut, or is still being written")


def read_lines(desk: Desk, lines: Iterable[str]) -> Iterator[Doc]:
    """The documents of the lines between head and tail.

    Raises:
        WrongKey: a line was damaged.
    """
    held = ""
    for text in lines:
        if held:
            yield _document(desk, held)
        held = text.strip()


def _document(desk: Desk, text: str) -> Doc:
    told = json.loads(desk.keyring.open("index", _bytes(text), "export"))
    raw = told.pop("vector")
    body = _bytes(told.pop("body"))
    vector = None if raw is None else desk.laid(told["id"], _bytes(raw))
    return Doc(**{**told, "tags": tuple(told["tags"])}, body=body, vector=vector)


def begin(desk: Desk, state: Literal["importing", "rekeying"], detail: str, to: Meta) -> Program[Meta]:
    """Shut the index to everybody else, or find it shut for the same reason -> what it says of itself now.

    Raises:
        UsageError: an import into an index that holds something else.
    """
    found = yield Get((META,))
    stands = Meta.read(found.get(META))
    if (stands.state, stands.detail) == (state, detail):
        return stands
    yield from desk.fetch()
    if state == "importing":
        some = yield Scan({}, {"kind": "meta"})
        if some.docs:
            raise UsageError("an import needs an empty index, or the one that the same import was broken off in")
    meta = replace(to, state=state, detail=detail)
    (swapped,) = yield Swap(((found[META], _said(meta)),))
    if not swapped:
        raise UsageError("somebody else is changing the index: try again when that has ended")
    return meta


def end(desk: Desk, during: str) -> Program[Meta]:
    """Open the index again."""
    found = yield Get((META,))
    stands = Meta.read(found.get(META))
    desk.keyring.require(stands.key, stands.check)
    meta = replace(stands, state="open", detail="")
    if stands.state == during:
        yield Swap(((found[META], _said(meta)),))
    return meta


def take(desk: Desk, docs: Iterable[Doc]) -> Program[int]:
    """Documents of an export, each where none stands -> how many are new."""
    yield from desk.fetch(during="importing")
    made = yield Create(tuple(docs))
    return sum(version is not None for version in made)


def rekey(new: Desk, old: Desk, after: Any) -> Program[tuple[int, Any]]:
    """Seal a page of the documents that are still under the former key anew -> how many, and where the next begins."""
    yield from new.fetch(during="rekeying")
    found = yield Scan({"key": old.keyring.id}, {"kind": "meta"}, vectors=True, after=after)
    anew = [(doc, new.rekeyed(doc, old)) for doc in found.docs]
    pointers = [(doc, made) for doc, made in anew if doc.kind != "identity"]
    yield Create(tuple(made for _, made in pointers))
    yield Delete(tuple(doc for doc, _ in pointers))
    changed = ("key", "scope", "tags", "body", "vector")
    identities = [(doc, made) for doc, made in anew if doc.kind == "identity"]
    yield Swap(tuple((doc, {name: getattr(made, name) for name in changed}) for doc, made in identities))
    return len(found.docs), found.next


def former(keyring: Keyring) -> str:
    """What an index under rekeying says of its former key."""
    return f"{keyring.id} {keyring.check}"


def _said(meta: Meta) -> dict[str, Any]:
    doc = meta.doc()
    return {"key": doc.key, "body": doc.body}


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise UsageError("the export is damaged: a line is not base64") from None
