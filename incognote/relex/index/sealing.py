"""Apply the key: from words to ids, from identities to documents, and back."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from incognote.errors import IndexBusy, IndexRejected, UsageError
from incognote.keys import Keyring
from incognote.nouns import subject_form
from incognote.relex.index.docs import META, Doc, Get, Kind, Op
from incognote.relex.index.nouns import (
    IdentityPlace,
    IndexedIdentity,
    Sighting,
    SurrogatePart,
    SurrogateProposal,
    Vector,
)

FORMAT = 1  # the format of documents and bodies; each vendor counts the versions of its own tables or mappings
DIMENSION = 128  # the dimension of the embedder that comes with the package


@dataclass(frozen=True, slots=True)
class Meta:
    """The metadata of an index, in plain text.

    Args:
        index: a random name, made with it.
        key, check: id and check value of the master key. During rekeying, those of the new one.
        originals: whether originals and variants are stored, sealed. Without them it can never be rekeyed.
        dimension: of the vectors; 0 if none are stored.
        embedder: the version of the embedder that made the vectors. Vectors of two versions are never compared.
        state: `open`, or the operation in progress.
        detail: the former key during rekeying; the export's name during an import.
    """

    index: str
    key: str
    check: str
    originals: bool = True
    dimension: int = DIMENSION
    embedder: str = ""
    state: Literal["open", "rekeying", "importing"] = "open"
    detail: str = ""
    format: int = FORMAT

    @classmethod
    def new(cls, keyring: Keyring, *, originals: bool, dimension: int, embedder: str) -> Meta:
        """Metadata of a new index."""
        return cls(secrets.token_hex(8), keyring.id, keyring.check, originals, dimension, embedder)

    @classmethod
    def read(cls, doc: Doc | None) -> Meta:
        """Metadata from its document.

        Raises:
            IndexRejected: it is gone, or has a newer version.
        """
        facts = json.loads(doc.body) if doc is not None else {}
        if not facts:
            raise IndexRejected("the index does not exist. Create it with `incognote index create`")
        if facts["format"] != FORMAT:
            raise IndexRejected("the index was made by a newer version of incognote. Use that version")
        return cls(**facts)

    def doc(self) -> Doc:
        """The document of the metadata."""
        return Doc(META, "meta", self.key, body=json.dumps(asdict(self), sort_keys=True).encode())


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals and opens for one index under one key.

    Args:
        keyring: the master key.
        meta: the index's metadata.
        seals_vectors: whether vectors are stored sealed. Otherwise they are stored in plain form, so that the store can
            search them.
    """

    keyring: Keyring
    meta: Meta
    seals_vectors: bool

    def fetch(self, *ids: str, during: str = "open") -> Generator[Op, Any, dict[str, Doc]]:
        """Get documents by id, after checking that the index is still under this key and open.

        Raises:
            WrongKey, IndexBusy, IndexRejected: it is not.
        """
        found: dict[str, Doc] = yield Get((META, *ids))
        meta = Meta.read(found.pop(META, None))
        self.keyring.require(meta.key, meta.check)
        if meta.state != during:
            raise IndexBusy(f"the index has an unfinished {_DOING[meta.state]}. Finish it with the same command")
        return found

    def key_id(self, place: IdentityPlace, variant: str) -> str:
        """The id under which a variant is found."""
        return self._mac("key", place.domain, place.scope, place.group, subject_form(variant))

    def reservation_id(self, domain: str, scope: str, whole: str) -> str:
        """The id of a surrogate's reservation. Only one identity can hold it."""
        return self._mac("reservation", domain, scope, subject_form(whole))

    def usage_id(self, identity: str, output: str) -> str:
        """The id of the fact that an output shows an identity's surrogate."""
        return self._mac("usage", identity, output)

    def mention_id(self, one: Sighting) -> str:
        """The id of a record's mentions in a block."""
        return self._mac("mention", one.domain, one.scope, one.block, one.record)

    def block_id(self, domain: str, block: str) -> str:
        """The value for a block of mentions in a document."""
        return self._mac("shelf", domain, block)[:32]

    def part_id(self, part: SurrogatePart) -> str:
        """The id of a part, independent of its value."""
        return self._mac("part", part.domain, part.scope, part.type, part.normal)

    def original_id(self, domain: str, form: str) -> str:
        """The id of the fact that a form is an original of the domain."""
        return self._mac("original", domain, form)

    def scope_id(self, domain: str, scope: str) -> str:
        """The value for a scope in a document."""
        return self._mac("scope", domain, scope)[:32]

    def tags(self, domain: str, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """The values for attributes in a document, used for filtering."""
        return tuple(sorted(self._mac("tag", domain, name, value)[:16] for name, value in attributes.items()))

    def identity_id(self, keys: Iterable[str], *, apart_from: str = "") -> str:
        """The id of an identity created under these keys. It is the same for every caller that claims them."""
        return self._mac("identity", apart_from, *sorted(keys))[:32]

    def _mac(self, *words: str) -> str:
        return self.keyring.mac("index", json.dumps(words)).hex()

    def seal(self, id: str, content: object) -> bytes:
        """A sealed body for the document with that id."""
        return self.keyring.seal("index", json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass"), id)

    def open(self, doc: Doc) -> Any:
        """Open what `seal` sealed.

        Raises:
            WrongKey: the document was damaged, exchanged or sealed with another key.
        """
        return json.loads(self.keyring.open("index", doc.body, doc.id).decode("utf-8", "surrogatepass"))

    def half(self, vector: Vector | None) -> bytes | None:
        """A vector of length 1 as float16. A zero vector resembles nothing and becomes None.

        Raises:
            UsageError: its dimension differs from the index's, or a number is not finite.
        """
        if vector is None or not self.fits(vector) or not vector.any():
            return None
        return (vector / np.linalg.norm(vector)).astype("<f2").tobytes()

    def fits(self, vector: Vector) -> bool:
        """Whether vectors are stored at all.

        Raises:
            UsageError: they are, and this one has another dimension or a number that is not finite.
        """
        wanted = self.meta.dimension
        if wanted and (vector.shape != (wanted,) or not np.isfinite(vector).all()):
            raise UsageError(f"vector: this index needs {wanted} finite numbers")
        return bool(wanted)

    def laid(self, id: str, raw: bytes) -> bytes:
        """A float16 vector in its stored form."""
        return self.keyring.seal("index", raw, f"{id} vector") if self.seals_vectors else raw

    def raw(self, doc: Doc) -> bytes | None:
        """The float16 vector of a document."""
        if doc.vector is None or not self.seals_vectors:
            return doc.vector
        return self.keyring.open("index", doc.vector, f"{doc.id} vector")

    def query(self, vector: Vector) -> np.ndarray[Any, np.dtype[np.float32]] | None:
        """A search vector of length 1; None for a zero vector or an index without vectors."""
        if not self.fits(vector) or not vector.any():
            return None
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def variants(self, proposal: SurrogateProposal) -> dict[str, str]:
        """The proposal's variants by their key ids.

        Raises:
            UsageError: its vector does not fit; nothing was begun.
        """
        if proposal.vector is not None:
            self.fits(proposal.vector)
        return {self.key_id(proposal.place, variant): subject_form(variant) for variant in proposal.variants}

    def proposed(self, id: str, proposal: SurrogateProposal, variants: Mapping[str, str]) -> Doc:
        """The document of an identity whose claim is still pending."""
        place, keeps = proposal.place, self.meta.originals
        raw = self.half(proposal.vector)
        content = {
            "scope": place.scope,
            "surrogate": dict(proposal.surrogate),
            "whole": proposal.whole,
            "attributes": dict(proposal.attributes),
            "original": proposal.original if keeps else None,
            "keys": {key: variant if keeps else "" for key, variant in variants.items()},
            "vector": None if raw is None else base64.b64encode(raw).decode(),
        }
        return Doc(
            id,
            "identity",
            self.keyring.id,
            place.domain,
            self.scope_id(place.domain, place.scope),
            place.group,
            proposal.type,
            "pending",
            proposal.pool,
            self.tags(place.domain, proposal.attributes),
            draws=proposal.draws,
            created=_now(),
            body=self.seal(id, content),
        )

    def active(self, id: str, body: dict[str, Any]) -> dict[str, Any]:
        """The fields that change when an identity's claim ends. Only from then on can its vector be found."""
        encoded = body["vector"]
        vector = None if encoded is None else self.laid(id, base64.b64decode(encoded))
        return {"state": "active", "body": self.ended(id, body), "vector": vector}

    def ended(self, id: str, body: dict[str, Any]) -> bytes:
        """The body of an identity, without what only its claim needed."""
        return self.seal(id, {**body, "keys": {}, "vector": None})

    def key(self, id: str, variant: str, owner: Doc, scope: str) -> Doc:
        """The document of a variant's key."""
        keeps = self.meta.originals
        content = {"scope": scope, "group": owner.group, "variant": variant} if keeps else {}
        return self._pointer("key", id, owner.domain, owner.scope, owner.id, content)

    def reservation(self, domain: str, scope: str, whole: str, owner: str) -> Doc:
        """The document that keeps a surrogate for its identity."""
        own = self.reservation_id(domain, scope, whole)
        content = {"scope": scope, "whole": whole}
        return self._pointer("reservation", own, domain, self.scope_id(domain, scope), owner, content)

    def reserved(self, part: SurrogatePart, owner: str) -> Doc:
        """The document that reserves a value for its part. A part's id, unlike an identity's, changes with the key."""
        doc = self.reservation(part.domain, part.scope, part.whole, owner)
        normal = part.normal if self.meta.originals else ""
        content = {"scope": part.scope, "whole": part.whole, "part": [part.type, normal]}
        return replace(doc, body=self.seal(doc.id, content))

    def mention(self, id: str, one: Sighting) -> Doc:
        """The document of a record's mentions in a block."""
        content = {"scope": one.scope, "shelf": one.block, "record": one.record, "said": list(one.said)}
        scope, block = self.scope_id(one.domain, one.scope), self.block_id(one.domain, one.block)
        return replace(self._pointer("mention", id, one.domain, scope, block, content), group=one.group)

    def part(self, id: str, part: SurrogatePart) -> Doc:
        """The document of a part's value."""
        normal = part.normal if self.meta.originals else ""
        content = {"scope": part.scope, "type": part.type, "normal": normal, "value": part.value}
        return self._pointer("part", id, part.domain, self.scope_id(part.domain, part.scope), "", content)

    def original(self, domain: str, scope: str, form: str) -> Doc:
        """The document which says that a form is an original."""
        content = {"scope": scope, "form": form} if self.meta.originals else {}
        own = self.original_id(domain, form)
        return self._pointer("original", own, domain, self.scope_id(domain, scope), "", content)

    def usage(self, owner: Doc, output: str) -> Doc:
        """The document which says that an output shows an identity's surrogate."""
        content = {"scope": self.open(owner)["scope"], "output": output}
        return self._pointer("usage", self.usage_id(owner.id, output), owner.domain, owner.scope, owner.id, content)

    def _pointer(self, kind: Kind, id: str, domain: str, scope: str, owner: str, content: object) -> Doc:
        sealed = self.seal(id, content)
        return Doc(id, kind, self.keyring.id, domain, scope, into=owner, created=_now(), body=sealed)

    def identity(self, doc: Doc) -> IndexedIdentity:
        """The identity of a document."""
        body = self.open(doc)
        return IndexedIdentity(
            doc.id,
            IdentityPlace(doc.domain, body["scope"], doc.group),
            doc.type,
            body["surrogate"],
            body["whole"],
            body["attributes"],
            body["original"],
            doc.pool,
            doc.draws,
            doc.created,
            body.get("hand", ""),
        )

    def identities(self, docs: Iterable[Doc]) -> tuple[IndexedIdentity, ...]:
        """The identities of documents, oldest first."""
        return tuple(self.identity(doc) for doc in sorted(docs, key=rank))

    def rekeyed(self, doc: Doc, old: Sealer) -> Doc:
        """A document of the former key under this one. A pointer gets another id.

        Raises:
            WrongKey: the document was damaged.
        """
        content = old.open(doc)
        doc = replace(doc, key=self.keyring.id, scope=self.scope_id(doc.domain, content["scope"]))
        if doc.kind == "identity":
            raw = old.raw(doc)
            return replace(
                doc,
                tags=self.tags(doc.domain, content["attributes"]),
                body=self.seal(doc.id, content),
                vector=None if raw is None else self.laid(doc.id, raw),
            )
        if doc.kind == "key":
            own = self.key_id(IdentityPlace(doc.domain, content["scope"], content["group"]), content["variant"])
        elif doc.kind == "reservation":
            own = self.reservation_id(doc.domain, content["scope"], content["whole"])
            if "part" in content:
                kind, normal = content["part"]
                doc = replace(doc, into=self.part_id(SurrogatePart(doc.domain, content["scope"], kind, normal, "")))
        elif doc.kind == "usage":
            own = self.usage_id(doc.into, content["output"])
        elif doc.kind == "part":
            own = self.part_id(SurrogatePart(doc.domain, content["scope"], content["type"], content["normal"], ""))
        elif doc.kind == "original":
            own = self.original_id(doc.domain, content["form"])
        else:
            said = Sighting(doc.domain, content["scope"], content["shelf"], content["record"], ())
            own = self.mention_id(said)
            doc = replace(doc, into=self.block_id(doc.domain, said.block))
        return replace(doc, id=own, body=self.seal(own, content), version=None)

    def under(self, keyring: Keyring, meta: Meta) -> Sealer:
        """The same sealer under another key."""
        return replace(self, keyring=keyring, meta=meta)


def key_reference(keyring: Keyring) -> str:
    """How an index refers to its former key during rekeying."""
    return f"{keyring.id} {keyring.check}"


_DOING = {"open": "nothing", "rekeying": "key change", "importing": "import"}


def rank(doc: Doc) -> tuple[int, str]:
    """The order of identities. If several turn out to be one, the first stays."""
    return doc.created, doc.id


def _now() -> int:
    return time.time_ns() // 1000
