"""Move an index between stores, as documents in sealed lines, and between keys, by sealing its documents again."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from incognote.errors import UsageError, WrongKey
from incognote.keys import Keyring
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.docs import META, Create, Delete, Doc, Get, Page, Program, Scan, Swap
from incognote.relex.index.sealing import Meta, Sealer, key_reference

Tick = Callable[[int], None]  # receives the number of documents processed since the last call
_HEAD = "incognote index 1"
_PAGE = 500  # documents per step of an import
_CLEAR = [f.name for f in fields(Doc) if f.name not in ("body", "vector", "version")]


async def export(index: SurrogateIndex, path: Path, tick: Tick = lambda _: None) -> int:
    """Write everything to a new file, sealed -> number of documents."""
    count, after, whole = 0, None, False
    with _new(path) as out:
        out.write(head(index.sealer, secrets.token_hex(8)) + "\n")
        while not whole:
            some = await index.run(page(index.sealer, after))
            out.writelines(line(index.sealer, doc) + "\n" for doc in some.docs)
            count, after, whole = count + len(some.docs), some.next, some.next is None
            tick(len(some.docs))
        out.write(tail(index.sealer, count) + "\n")
    return count


async def take_in(index: SurrogateIndex, path: Path, tick: Tick = lambda _: None) -> int:
    """Fill an empty index from an export under the same key -> number of documents.

    After an interruption, call it again.
    """
    count = 0
    with _opened(path) as source:
        name = read_head(index.sealer, source.readline())
        first = source.tell()
        check_tail(index.sealer, iter(source.readline, ""))
        source.seek(first)
        await index.run(begin(index.sealer, "importing", name, index.sealer.meta), writes=True)
        docs = read_lines(index.sealer, source)
        while batch := list(islice(docs, _PAGE)):
            count += await index.run(take(index.sealer, batch), writes=True)
            tick(len(batch))
    index.reopen(await index.run(end(index.sealer, "importing"), writes=True))
    await index.refresh()
    return count


async def rekey(index: SurrogateIndex, new: Keyring, tick: Tick = lambda _: None) -> int:
    """Seal everything under another key -> number of documents.

    After an interruption, `rekey` of `opening` finishes it.
    """
    if not new.persistent or new.id == index.keyring.id:
        raise UsageError("the new key must be different and persistent. Create one with `incognote key new`")
    if not index.originals_kept:
        raise UsageError("the index stores no originals, so its keys cannot be recomputed")
    to = replace(index.sealer.meta, key=new.id, check=new.check)
    await index.run(begin(index.sealer, "rekeying", key_reference(index.keyring), to), writes=True)
    old, index.keyring = index.keyring, new
    index.reopen(to)
    return await end_rekey(index, old, tick)


async def end_rekey(index: SurrogateIndex, old: Keyring, tick: Tick = lambda _: None) -> int:
    """Finish a change of the key, from the old one to the index's -> number of documents."""
    before = index.sealer.under(old, index.sealer.meta)
    total, swept = 0, 1
    while swept:  # the last sweep finds nothing: writes during one sweep are handled by the next
        await index.refresh()
        swept, after, first = 0, None, True
        while first or after is not None:
            count, after = await index.run(rekey_page(index.sealer, before, after), writes=True)
            swept, first = swept + count, False
            tick(count)
        total += swept
    index.reopen(await index.run(end(index.sealer, "rekeying"), writes=True))
    await index.store.purge()
    return total


def page(sealer: Sealer, after: Any) -> Program[Page]:
    """A page of all documents except the index's own, with their vectors."""
    yield from sealer.fetch()
    found: Page = yield Scan({}, {"kind": "meta"}, vectors=True, after=after)
    return found


def head(sealer: Sealer, export: str) -> str:
    """The first line of an export. It holds only what is needed to reject a file that does not fit."""
    meta = sealer.meta
    facts = {
        "file": _HEAD,
        "export": export,
        "key": meta.key,
        "check": meta.check,
        "originals": meta.originals,
        "dimension": meta.dimension,
        "embedder": meta.embedder,
    }
    return json.dumps(facts)


def line(sealer: Sealer, doc: Doc) -> str:
    """A document as a sealed line, with its unsealed vector inside."""
    raw = sealer.raw(doc)
    facts = {name: getattr(doc, name) for name in _CLEAR}
    facts |= {"body": _text(doc.body), "vector": None if raw is None else _text(raw)}
    return _text(sealer.keyring.seal("index", json.dumps(facts).encode(), "export"))


def tail(sealer: Sealer, count: int) -> str:
    """The last line. A file without it was truncated."""
    return _text(sealer.keyring.seal("index", json.dumps({"lines": count}).encode(), "export end"))


def read_head(sealer: Sealer, first: str) -> str:
    """The name of an export that fits the index.

    Raises:
        UsageError: it is not an export, or is from another kind of index.
        WrongKey: it was made under another key.
    """
    try:
        facts = json.loads(first)
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or facts.get("file") != _HEAD:
        raise UsageError("the file is not an export of an index, or is from a newer version")
    sealer.keyring.require(facts["key"], facts["check"])
    meta = sealer.meta
    for name in ("originals", "dimension", "embedder"):
        if facts[name] != getattr(meta, name):
            raise UsageError(f"{name}: the export and this index differ. Create an index with the same options")
    return str(facts["export"])


def check_tail(sealer: Sealer, lines: Iterable[str]) -> None:
    """Check that all lines after the head are present.

    Raises:
        UsageError: the file was truncated.
    """
    count, last = -1, ""
    for text in lines:
        count, last = count + 1, text.strip()
    try:
        sealed_count = json.loads(sealer.keyring.open("index", _bytes(last), "export end"))
    except WrongKey:
        sealed_count = None
    if sealed_count != {"lines": count}:
        raise UsageError("the export is incomplete: it was truncated, or is still being written")


def read_lines(sealer: Sealer, lines: Iterable[str]) -> Iterator[Doc]:
    """The documents of the lines between head and tail.

    Raises:
        WrongKey: a line was damaged.
    """
    held = ""
    for text in lines:
        if held:
            yield _document(sealer, held)
        held = text.strip()


def _document(sealer: Sealer, text: str) -> Doc:
    facts = json.loads(sealer.keyring.open("index", _bytes(text), "export"))
    raw = facts.pop("vector")
    body = _bytes(facts.pop("body"))
    vector = None if raw is None else sealer.laid(facts["id"], _bytes(raw))
    return Doc(**{**facts, "tags": tuple(facts["tags"])}, body=body, vector=vector)


def begin(sealer: Sealer, state: Literal["importing", "rekeying"], detail: str, to: Meta) -> Program[Meta]:
    """Lock the index for all other users, or find it locked for the same reason -> its current metadata.

    Raises:
        UsageError: an import into an index with other contents.
    """
    found = yield Get((META,))
    current = Meta.read(found.get(META))
    if (current.state, current.detail) == (state, detail):
        return current
    yield from sealer.fetch()
    if state == "importing":
        some = yield Scan({}, {"kind": "meta"})
        if some.docs:
            raise UsageError("an import needs an empty index, or the one in which the same import was interrupted")
    meta = replace(to, state=state, detail=detail)
    (swapped,) = yield Swap(((found[META], _said(meta)),))
    if not swapped:
        raise UsageError("another process is changing the index. Try again when it has finished")
    return meta


def end(sealer: Sealer, during: str) -> Program[Meta]:
    """Unlock the index."""
    found = yield Get((META,))
    current = Meta.read(found.get(META))
    sealer.keyring.require(current.key, current.check)
    meta = replace(current, state="open", detail="")
    if current.state == during:
        yield Swap(((found[META], _said(meta)),))
    return meta


def take(sealer: Sealer, docs: Iterable[Doc]) -> Program[int]:
    """Create documents of an export if they do not exist -> how many are new."""
    yield from sealer.fetch(during="importing")
    made = yield Create(tuple(docs))
    return sum(version is not None for version in made)


def rekey_page(new: Sealer, old: Sealer, after: Any) -> Program[tuple[int, Any]]:
    """Seal a page of the documents under the old key again -> how many, and where the next page begins."""
    yield from new.fetch(during="rekeying")
    found = yield Scan({"key": old.keyring.id}, {"kind": "meta"}, vectors=True, after=after)
    pairs = [(doc, new.rekeyed(doc, old)) for doc in found.docs]
    pointers = [(doc, made) for doc, made in pairs if doc.kind != "identity"]
    yield Create(tuple(made for _, made in pointers))
    yield Delete(tuple(doc for doc, _ in pointers))
    changed = ("key", "scope", "tags", "body", "vector")
    identities = [(doc, made) for doc, made in pairs if doc.kind == "identity"]
    yield Swap(tuple((doc, {name: getattr(made, name) for name in changed}) for doc, made in identities))
    return len(found.docs), found.next


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


def _opened(path: Path) -> IO[str]:
    try:
        return path.open(encoding="ascii", errors="replace")
    except OSError as error:
        raise UsageError(f"the export cannot be read: {error.strerror}") from None


@contextmanager
def _new(path: Path) -> Iterator[IO[str]]:
    """A file that only its owner can read. It is deleted if it is not finished."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"the export cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            yield out
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
