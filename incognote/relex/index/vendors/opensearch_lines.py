"""Documents as OpenSearch writes and reads them: the actions of a bulk request, and what comes back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from incognote.errors import IndexRejected, IndexUnavailable
from incognote.relex.index.docs import Create, Delete, Doc, Swap

Json = dict[str, Any]


def refused(status: int) -> IndexUnavailable | IndexRejected:
    """What a status of the cluster means."""
    if status == 429 or status >= 500:
        return IndexUnavailable(f"the index does not serve ({status}): its records wait; try again later")
    if status in (401, 403):
        return IndexRejected(f"the index refused the user ({status}): check user, password and rights")
    if status == 404:
        return IndexRejected("the index is gone or was never made (404): `incognote index create` makes one")
    return IndexRejected(f"the index refused a request ({status}): check its version, plugins and prefix")


def size(op: Create | Swap | Delete) -> int:
    """How many lines of a bulk request an operation has."""
    return len(op.changes) if isinstance(op, Swap) else len(op.docs)


def actions_of(op: Create | Swap | Delete) -> list[Json]:
    """The actions of a bulk request, one for each document."""
    match op:
        case Create(docs):
            return [{"_op_type": "create", "_id": doc.id, "_source": _source(written(doc))} for doc in docs]
        case Swap(changes):
            return [_changed(doc, values) for doc, values in changes]
        case Delete(docs):
            return [{"_op_type": "delete", "_id": doc.id, **_still(doc)} for doc in docs]


def _changed(doc: Doc, values: Mapping[str, Any]) -> Json:
    """A pending identity is written whole, for all of it is known; of others the vector stands there only."""
    action = {"_id": doc.id, **_still(doc)}
    if doc.state == "pending":
        return {"_op_type": "index", **action, "_source": _source(written(doc) | dict(values))}
    return {"_op_type": "update", **action, "doc": _source(values)}


def _still(doc: Doc) -> Json:
    number, term = doc.version
    return {"if_seq_no": number, "if_primary_term": term}


def held(action: str, item: Json) -> tuple[int, int] | None:
    """The version that one line of a bulk request made; None where it did not hold.

    Raises:
        IndexUnavailable, IndexRejected: it was neither done nor in vain.
    """
    status = item["status"]
    if status < 300:
        return item["_seq_no"], item["_primary_term"]
    absent = status == 404 and item.get("error", {}).get("type") != "index_not_found_exception" and action != "create"
    if status == 409 or absent:
        return None
    raise refused(status)


def written(doc: Doc) -> dict[str, Any]:
    """The fields of a document that are written."""
    return {f.name: getattr(doc, f.name) for f in fields(Doc) if f.name not in ("id", "version")}


def _source(values: Mapping[str, Any]) -> Json:
    """Fields of a document as they are written there."""
    told = dict(values)
    if "body" in told:
        told["body"] = base64.b64encode(told["body"]).decode()
    vector = told.pop("vector", None)
    if vector is not None:  # five digits tell every float16 from its neighbours
        told["vector"] = [float(f"{x:.5g}") for x in np.frombuffer(vector, "<f2").tolist()]
    return told


def read(hit: Json) -> Doc:
    """A document that was read."""
    told: Json = hit["_source"]
    vector = told.pop("vector", None)
    return Doc(
        **{**told, "tags": tuple(told["tags"]), "body": base64.b64decode(told["body"])},
        id=hit["_id"],
        vector=None if vector is None else np.array(vector, "<f2").tobytes(),
        version=(hit["_seq_no"], hit["_primary_term"]),
    )
