"""The index for more than one machine: OpenSearch with its k-NN plugin, by `opensearch-py`.

Vectors are stored there in plain form, because OpenSearch could not search them otherwise. See the threat note in
docs/surrogate-index.md.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from incognote.errors import IndexRejected, IndexUnavailable, MissingExtra, SettingError
from incognote.relex.index.docs import (
    Counted,
    Create,
    Delete,
    Doc,
    Get,
    NearestIdentities,
    Op,
    Page,
    Program,
    Scan,
    Swap,
    side_by_side,
)
from incognote.relex.index.sealing import Meta, Sealer
from incognote.relex.index.vendors.opensearch_lines import Json, actions_of, held, read, refused, size

T = TypeVar("T")
VERSION = 1  # the version of the mapping; an older index is upgraded when it is opened
_LOGGERS = ("opensearch", "opensearchpy.trace")
_MGET, _BULK, _PAGE = 1000, 500, 500  # documents per request
_SCROLL = "5m"
_PURGE = 600  # seconds
_KEYWORDS = ("kind", "key", "domain", "scope", "group", "type", "state", "pool", "tags", "into")
_SPACES: dict[str, tuple[str, Callable[[float], float]]] = {
    "lucene": ("cosinesimil", lambda score: 2 * score - 1),
    "faiss": ("innerproduct", lambda score: score - 1 if score >= 1 else 1 - 1 / score),
}  # per engine: its name for the similarity, and the function from its score to the cosine of vectors of length 1
_COUNTED = ("kind", "state", "domain", "group")


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """How to connect to a cluster.

    Args:
        host, port, tls: its address. Without TLS only on the loopback interface.
        prefix: the alias of the index; the index itself is called prefix-000001.
        user, password: basic authentication; None for none.
        ca: a file or folder of certificates to trust instead of the usual ones.
        engine: the vector search engine: `lucene` or `faiss`.
        replicas: of each shard, when the index is made.
        timeout: for one answer, in seconds.
        attempts: how often a request is sent in total if there is no answer.
        slots: the number of connections.

    Raises:
        SettingError: a value is out of range; the message names it.
    """

    host: str
    prefix: str
    port: int = 9200
    tls: bool = True
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: Path | None = None
    engine: Literal["lucene", "faiss"] = "lucene"
    replicas: int = 1
    timeout: float = 10.0
    attempts: int = 4
    slots: int = 16

    def __post_init__(self) -> None:
        if not self.tls and self.host not in ("localhost", "127.0.0.1", "::1"):
            raise SettingError("index: tls=off is allowed only for an index on this machine")
        if self.engine not in _SPACES:
            raise SettingError(f"index: engine must be one of {', '.join(_SPACES)}")
        if self.user is not None and not self.password:
            raise SettingError("index: its user needs a password. Set INCOGNOTE_INDEX_PASSWORD or index_password_file")
        if self.ca is not None and not self.ca.exists():
            raise SettingError("index: the ca file does not exist")
        if self.timeout <= 0 or min(self.attempts, self.slots) < 1 or self.replicas < 0:
            raise SettingError("index: timeout, attempts and slots must be greater than 0, and replicas at least 0")


class OpenSearchStore:
    """The documents of a cluster. Each operation in a round of programs shares one request with those of the others.

    A request is repeated only if that cannot do anything twice. This holds for reads, for creations, which succeed
    once, and for changes and deletions, which apply to one version.

    Args:
        cluster: how to connect to it.

    Raises:
        MissingExtra: the extra `opensearch` is not installed.
    """

    vendor = "opensearch"
    seals_vectors = False

    def __init__(self, cluster: ClusterAddress) -> None:
        try:
            from opensearchpy import AsyncOpenSearch
        except ImportError:
            raise MissingExtra("opensearch", "an index in OpenSearch") from None
        for name in _LOGGERS:  # at lower levels they log requests and answers
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._cluster = cluster
        tls: Json = {"use_ssl": True, "verify_certs": True} if cluster.tls else {}
        if cluster.tls and cluster.ca is not None:
            tls["ca_certs"] = str(cluster.ca)
        self._client = AsyncOpenSearch(
            hosts=[{"host": cluster.host, "port": cluster.port}],
            http_auth=None if cluster.user is None else (cluster.user, cluster.password),
            timeout=cluster.timeout,
            max_retries=0,
            maxsize=cluster.slots,
            **tls,
        )
        self._asking = AsyncRetrying(
            retry=retry_if_exception_type(IndexUnavailable),
            stop=stop_after_attempt(cluster.attempts),
            wait=wait_random_exponential(multiplier=0.2, max=10),
            reraise=True,
        )

    def use(self, sealer: Sealer) -> None:
        """Do nothing: this store seals nothing."""

    async def create(self, meta: Meta) -> None:
        """Make the index if there is none.

        Raises:
            IndexUnavailable, IndexRejected: it cannot be made.
        """
        prefix = self._cluster.prefix
        template = {"index_patterns": [f"{prefix}-0*"], "template": self._layout(meta.dimension), "version": VERSION}
        await self._ask(lambda: self._client.indices.put_index_template(name=prefix, body=template))
        made = {"aliases": {prefix: {"is_write_index": True}}}
        await self._ask(lambda: self._client.indices.create(index=f"{prefix}-000001", body=made), fine=(400,))
        await self._write([Create((meta.doc(),))])

    async def prepare(self) -> None:
        """Check that the index exists with this version, or upgrade it.

        Raises:
            IndexRejected: it does not exist, or has a newer version.
        """
        prefix = self._cluster.prefix
        answer = await self._ask(lambda: self._client.indices.get_mapping(index=prefix))
        for mapping in (index["mappings"] for index in answer.values()):
            version = mapping.get("_meta", {}).get("version")
            if version is None:
                raise IndexRejected("the index belongs to another program. Use another prefix")
            if version > VERSION:
                raise IndexRejected("the index was made by a newer version of incognote. Use that version")
            if version < VERSION:
                dimension = mapping["properties"].get("vector", {}).get("dimension", 0)
                await self._ask(partial(self._bring_up, self._layout(dimension)["mappings"]))

    async def _bring_up(self, mappings: Json) -> None:
        await self._client.indices.put_mapping(index=self._cluster.prefix, body=mappings)

    def _layout(self, dimension: int) -> Json:
        properties: Json = {name: {"type": "keyword"} for name in _KEYWORDS}
        properties |= {"draws": {"type": "integer"}, "created": {"type": "long"}, "body": {"type": "binary"}}
        if dimension:
            space, _ = _SPACES[self._cluster.engine]
            method = {"name": "hnsw", "engine": self._cluster.engine, "space_type": space}
            properties["vector"] = {"type": "knn_vector", "dimension": dimension, "method": method}
        return {
            "settings": {
                "index.knn": bool(dimension),
                "number_of_shards": 1,
                "number_of_replicas": self._cluster.replicas,
            },
            "mappings": {"dynamic": "strict", "_meta": {"version": VERSION}, "properties": properties},
        }

    async def run_all(self, programs: Sequence[Program[T]], *, writes: bool) -> list[T]:
        """Run them side by side. Each may die midway, as claimants may."""
        return await side_by_side(programs, self._round)

    async def refresh(self) -> None:
        """Make all writes visible to searches."""
        await self._ask(lambda: self._client.indices.refresh(index=self._cluster.prefix))

    async def purge(self) -> None:
        """Rewrite the segments that still hold deleted documents. Snapshots are the operator's responsibility."""
        await self.refresh()
        await self._ask(
            lambda: self._client.indices.forcemerge(
                index=self._cluster.prefix, params={"only_expunge_deletes": "true", "request_timeout": _PURGE}
            )
        )

    async def drop(self) -> None:
        """Delete the index, its template and all its contents."""
        prefix = self._cluster.prefix
        await self._ask(lambda: self._client.indices.delete(index=f"{prefix}-000001"), fine=(404,))
        await self._ask(lambda: self._client.indices.delete_index_template(name=prefix), fine=(404,))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _round(self, ops: list[Op]) -> list[Any]:
        """The operations of a round: one request for all reads, one for all writes, one for each search."""
        results: dict[int, Any] = {}
        gets = {n: op for n, op in enumerate(ops) if isinstance(op, Get)}
        found = await self._read({one for op in gets.values() for one in op.ids})
        for n, get in gets.items():
            results[n] = {one: found[one] for one in get.ids if one in found}
        writes = {n: op for n, op in enumerate(ops) if isinstance(op, Create | Swap | Delete)}
        results |= zip(writes, await self._write(list(writes.values())), strict=True)
        rest = {n: op for n, op in enumerate(ops) if n not in results}
        results |= zip(rest, await asyncio.gather(*map(self._search, rest.values())), strict=True)
        return [results[n] for n in range(len(ops))]

    async def _read(self, ids: Iterable[str]) -> dict[str, Doc]:
        wanted = sorted(ids)
        found: dict[str, Doc] = {}
        for start in range(0, len(wanted), _MGET):
            some = wanted[start : start + _MGET]
            answer = await self._ask(partial(self._mget, some))
            for hit in answer["docs"]:
                if "error" in hit:
                    raise refused(404)
                if hit["found"]:
                    found[hit["_id"]] = read(hit)
        return found

    async def _write(self, ops: Sequence[Create | Swap | Delete]) -> list[Any]:
        actions = [action for op in ops for action in actions_of(op)]
        done: list[Any] = []
        for start in range(0, len(actions), _BULK):
            items = await self._ask(partial(self._bulk, actions[start : start + _BULK]))
            done += [held(*item.popitem()) for item in items]
        results: list[Any] = []
        rest = iter(done)
        for op in ops:
            own = [next(rest) for _ in range(size(op))]
            match op:
                case Create():
                    results.append(own)
                case Swap():
                    results.append([version is not None for version in own])
                case Delete():
                    results.append(sum(version is not None for version in own))
        return results

    async def _mget(self, ids: list[str]) -> Any:
        params = {"_source_excludes": "vector"}
        return await self._client.mget(body={"ids": ids}, index=self._cluster.prefix, params=params)

    async def _bulk(self, actions: list[Json]) -> list[Any]:
        """Send one request, so that a repeated request starts from the beginning."""
        from opensearchpy.helpers import async_streaming_bulk

        bulk = async_streaming_bulk(
            self._client,
            actions,
            chunk_size=_BULK,
            max_chunk_bytes=sys.maxsize,
            raise_on_error=False,
            index=self._cluster.prefix,
            params={"require_alias": "true"},  # without it, a deleted index could be created again, empty
        )
        return [item async for _, item in bulk]

    async def _search(self, op: Op) -> Any:
        match op:
            case Scan():
                return await self._scan(op)
            case NearestIdentities():
                return await self._near(op)
            case _:
                return await self._tally()

    async def _scan(self, op: Scan) -> Page:
        if op.after is None:
            await self.refresh()
            terms = [
                {"terms": {name: list(wanted) if isinstance(wanted, tuple) else [wanted]}}
                for name, wanted in op.where.items()
            ]
            body: Json = {
                "query": {
                    "bool": {
                        "filter": terms,
                        "must_not": [{"term": {name: value}} for name, value in op.without.items()],
                    }
                },
                "sort": ["_doc"],
                "size": _PAGE,
                "seq_no_primary_term": True,
            }
            if not op.vectors:
                body["_source"] = {"excludes": ["vector"]}
            answer = await self._ask(
                lambda: self._client.search(body=body, index=self._cluster.prefix, params={"scroll": _SCROLL})
            )
        else:
            asked = {"scroll_id": op.after, "scroll": _SCROLL}
            answer = await self._ask(lambda: self._client.scroll(body=asked))
        docs = [read(hit) for hit in answer["hits"]["hits"]]
        scroll = answer["_scroll_id"]
        if len(docs) == _PAGE:
            return Page(docs, scroll)
        await self._ask(lambda: self._client.clear_scroll(body={"scroll_id": [scroll]}), fine=(404,))
        return Page(docs, None)

    async def _near(self, op: NearestIdentities) -> list[tuple[str, float]]:
        where = {**op.where, "kind": "identity", "state": "active"}
        terms = [{"term": {name: value}} for name, value in where.items()]
        terms += [{"term": {"tags": tag}} for tag in op.tags]
        knn = {"vector": op.vector.tolist(), "k": op.k, "filter": {"bool": {"filter": terms}}}
        body = {"query": {"knn": {"vector": knn}}, "size": op.k, "_source": False}
        answer = await self._ask(lambda: self._client.search(body=body, index=self._cluster.prefix))
        _, cosine = _SPACES[self._cluster.engine]
        near = [(str(hit["_id"]), cosine(hit["_score"])) for hit in answer["hits"]["hits"]]
        return sorted(near, key=lambda one: (-one[1], one[0]))

    async def _tally(self) -> list[Counted]:
        await self.refresh()
        sources = [{name: {"terms": {"field": name}}} for name in _COUNTED]
        inner = {
            "draws": {"sum": {"field": "draws"}},
            "moved": {"filter": {"range": {"draws": {"gt": 0}}}},
            "vectors": {"filter": {"exists": {"field": "vector"}}},
        }
        body = {"size": 0, "aggs": {"rows": {"composite": {"size": 10000, "sources": sources}, "aggs": inner}}}
        answer = await self._ask(lambda: self._client.search(body=body, index=self._cluster.prefix))
        return [
            Counted(
                **bucket["key"],
                count=bucket["doc_count"],
                moved=bucket["moved"]["doc_count"],
                draws=int(bucket["draws"]["value"]),
                vectors=bucket["vectors"]["doc_count"],
            )
            for bucket in answer["aggregations"]["rows"]["buckets"]
        ]

    async def _ask(self, send: Callable[[], Awaitable[Any]], *, fine: tuple[int, ...] = ()) -> Any:
        """Send a request and return the answer; None for a status in `fine`.

        Raises:
            IndexUnavailable: there was no answer after all attempts.
            IndexRejected: the cluster refused.
        """
        return await self._asking(_once, send, fine)


async def _once(send: Callable[[], Awaitable[Any]], fine: tuple[int, ...]) -> Any:
    from aiohttp import ClientSSLError
    from opensearchpy.exceptions import ConnectionError as Unconnected
    from opensearchpy.exceptions import OpenSearchException, TransportError

    try:
        return await send()
    except Unconnected as error:
        if isinstance(error.info, ssl.SSLError | ClientSSLError):
            raise IndexRejected("the index's certificate is not trusted. Set its CA (?ca=FILE)") from None
        raise IndexUnavailable("the index does not answer. Records wait until it is back") from None
    except TransportError as error:
        status = error.status_code if isinstance(error.status_code, int) else 0
        if status in fine:
            return None
        raise refused(status) from None
    except OpenSearchException as error:
        raise IndexRejected(f"the index gave an answer that cannot be read ({type(error).__name__})") from None
