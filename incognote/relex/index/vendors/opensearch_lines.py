"""Documents in the form in which OpenSearch stores them: the actions of a bulk request, and the results."""

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
    """The error for a status of the cluster."""
    if status == 429 or status >= 500:
        return IndexUnavailable(f"the index is not available ({status}). Records wait until it is back")
    if status in (401, 403):
        return IndexRejected(f"the index refused the user ({status}). Check the user, password, and permissions")
    if status == 404:
        return IndexRejected("the index does not exist (404). Create it with `incognote index create`")
    return IndexRejected(f"the index refused a request ({status}). Check its version, plugins, and prefix")


def size(op: Create | Swap | Delete) -> int:
    """The number of lines that an operation has in a bulk request."""
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
    """Write a pending identity as a whole, because all of it is known. For others, only the cluster has the vector."""
    action = {"_id": doc.id, **_still(doc)}
    if doc.state == "pending":
        return {"_op_type": "index", **action, "_source": _source(written(doc) | dict(values))}
    return {"_op_type": "update", **action, "doc": _source(values)}


def _still(doc: Doc) -> Json:
    number, term = doc.version
    return {"if_seq_no": number, "if_primary_term": term}


def held(action: str, item: Json) -> tuple[int, int] | None:
    """The version that one line of a bulk request made; None if it did not apply.

    Raises:
        IndexUnavailable, IndexRejected: it failed for another reason.
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
    """Fields of a document in OpenSearch's form."""
    fields_there = dict(values)
    if "body" in fields_there:
        fields_there["body"] = base64.b64encode(fields_there["body"]).decode()
    vector = fields_there.pop("vector", None)
    if vector is not None:  # five digits distinguish every float16 from its neighbors
        fields_there["vector"] = [float(f"{x:.5g}") for x in np.frombuffer(vector, "<f2").tolist()]
    return fields_there


def read(hit: Json) -> Doc:
    """The document of a hit."""
    source: Json = hit["_source"]
    vector = source.pop("vector", None)
    return Doc(
        **{**source, "tags": tuple(source["tags"]), "body": base64.b64decode(source["body"])},
        id=hit["_id"],
        vector=None if vector is None else np.array(vector, "<f2").tobytes(),
        version=(hit["_seq_no"], hit["_primary_term"]),
    )
