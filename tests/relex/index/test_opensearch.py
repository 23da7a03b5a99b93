"""The index in OpenSearch: what a thief could read, how to connect, and errors when it is unavailable."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import json
import ssl
import traceback
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from incognote.errors import IndexRejected, IndexUnavailable, SettingError
from incognote.keys import Keyring
from incognote.relex.index import claims
from incognote.relex.index.nouns import IdentityPlace, SurrogateClaimed, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.relex.index.vendors import opensearch as vendor
from incognote.relex.index.vendors import opensearch_lines

pytest.importorskip("opensearchpy", reason="the extra `opensearch` is not installed")
Make = Callable[..., Any]
Propose = Callable[..., SurrogateProposal]
CANARY = "Zebulon Quartermain"


def asked(url: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def base(index: Any) -> tuple[str, str]:
    """Return the node's address and the index's alias."""
    host, _, prefix = str(index.url).removeprefix("opensearch://").partition("?")[0].partition("/")
    return f"http://{host}", prefix


async def test_a_dump_of_all_documents_shows_no_original_and_no_scope(make: Make, propose: Propose) -> None:
    index = await make("opensearch")
    place = IdentityPlace("clinic", "MRN-4711", "PERSON")
    one = propose(
        CANARY, "Mr. Quartermain", whole="Li Wei", place=place, seed=1, attributes={"role": "surgeon"}, type="CLINICIAN"
    )
    outcome = await index.claim(one)
    await index.use([(outcome.identity.id, "note-99")])
    await index.refresh()
    url, prefix = base(index)
    page = asked(f"{url}/{prefix}/_search?scroll=1m", {"size": 2, "query": {"match_all": {}}})
    dump = []
    while page["hits"]["hits"]:
        dump += page["hits"]["hits"]
        page = asked(f"{url}/_search/scroll", {"scroll": "1m", "scroll_id": page["_scroll_id"]})
    text = json.dumps(dump)
    bodies = b"".join(base64.b64decode(hit["_source"]["body"]) for hit in dump if hit["_source"]["kind"] != "meta")
    assert len(dump) == 6
    assert "CLINICIAN" in text  # types are in clear text, so the search can find something
    for word in ("Quartermain", "quartermain", "Zebulon", "zebulon", "MRN-4711", "surgeon", "Li Wei", "note-99"):
        assert word not in text
        assert word.encode() not in bodies
    assert any("vector" in hit["_source"] for hit in dump)  # in clear text; see docs/surrogate-index.md


async def test_without_vectors_none_is_stored(make: Make, propose: Propose) -> None:
    index = await make("opensearch", dimension="0", vectors="off")
    await index.claim(propose("a", seed=1))
    url, prefix = base(index)
    (mapping,) = asked(f"{url}/{prefix}/_mapping").values()
    assert "vector" not in mapping["mappings"]["properties"]
    assert mapping["mappings"]["dynamic"] == "strict"
    assert (await index.stats()).vectors == 0


@pytest.mark.parametrize("steps", range(1, 9))
async def test_a_claimant_that_dies_at_any_step_holds_up_nobody(make: Make, propose: Propose, steps: int) -> None:
    index = await make("opensearch", dimension="0", vectors="off")
    program: Any = claims.claim(index.sealer, propose("a", "b", whole="First"))
    result = None
    for _ in range(steps):
        try:
            (result,) = await index.store._round([program.send(result)])
        except StopIteration:
            break
    outcome = await index.claim(propose("b", "c", whole="Second"))
    assert isinstance(outcome, SurrogateClaimed)
    again = await index.claim(propose("a", "b", whole="Third"))
    assert again == SurrogateClaimed(outcome.identity, created=False)


async def test_nobody_there_is_unavailable_and_a_claim_gives_nothing(key: Keyring) -> None:
    with pytest.raises(IndexUnavailable, match="does not answer"):
        await open_index("opensearch://localhost:1/x?tls=off&attempts=2&timeout=1", key)


async def test_an_index_that_is_not_there_or_a_strangers_is_refused(opensearch: str, key: Keyring) -> None:
    with pytest.raises(IndexRejected, match="index create"):
        await open_index(f"opensearch://{opensearch}/absent?tls=off", key)
    asked(f"http://{opensearch}/strange-one", {"aliases": {"strange": {}}}, "PUT")
    with pytest.raises(IndexRejected, match="another program"):
        await open_index(f"opensearch://{opensearch}/strange?tls=off", key)


async def test_an_index_that_is_gone_is_not_made_anew_by_a_claim(make: Make, propose: Propose) -> None:
    index = await make("opensearch")
    url, prefix = base(index)
    await index.claim(propose(CANARY))
    asked(f"{url}/{prefix}-000001", method="DELETE")
    with pytest.raises(IndexRejected) as caught:
        await index.claim(propose(CANARY))
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert prefix not in {row["index"] for row in asked(f"{url}/_cat/indices?format=json")}


async def test_what_the_cluster_says_of_a_document_is_not_passed_on(make: Make, propose: Propose) -> None:
    index = await make("opensearch")
    with pytest.raises(IndexRejected) as caught:
        await index.store._ask(
            lambda: index.store._client.index(index=base(index)[1], body={"unknown": CANARY, "draws": CANARY})
        )
    told = "".join(traceback.format_exception(caught.value))
    assert "(400)" in told
    assert CANARY not in told


async def test_an_index_of_an_older_mapping_is_brought_up_and_one_of_a_newer_refused(
    make: Make, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = vendor.OpenSearchStore._layout

    def older(self: Any, dimension: int) -> Any:
        layout = real(self, dimension)
        layout["mappings"]["_meta"]["version"] = vendor.VERSION - 1
        del layout["mappings"]["properties"]["pool"]
        return layout

    with monkeypatch.context() as patch:
        patch.setattr(vendor, "VERSION", vendor.VERSION - 1)
        patch.setattr(vendor.OpenSearchStore, "_layout", older)
        words = lambda doc: {"kind": "meta", "key": doc.key, "tags": [], "body": doc.body}  # noqa: E731 -- its mapping has no more
        patch.setattr(opensearch_lines, "written", words)
        old = await make("opensearch")
    index = await make("opensearch", url=old.url)
    assert (await index.claim(propose("a", pool="7"))).identity.pool == "7"
    url, prefix = base(index)
    asked(f"{url}/{prefix}/_mapping", {"_meta": {"version": 99}}, "PUT")
    with pytest.raises(IndexRejected, match="newer version"):
        await make("opensearch", url=old.url)


@pytest.fixture
async def guarded(opensearch: str, tmp_path: Path) -> AsyncIterator[int]:
    """A TLS proxy that requires a password, in front of the node. Return its port. Its CA is in ca.pem."""
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(secret, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "ca.pem").write_bytes(certificate.public_bytes(pem))
    (tmp_path / "both.pem").write_bytes(certificate.public_bytes(pem) + secret.private_bytes(pem, *plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    wanted = b"authorization: basic " + base64.b64encode(b"indexer:right").lower()
    host, _, port = opensearch.partition(":")

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        with contextlib.suppress(OSError):
            sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            if wanted not in head.lower():
                writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
            else:
                back, forth = await asyncio.open_connection(host, int(port))
                forth.write(head)
                await asyncio.gather(pass_on(reader, forth), pass_on(back, writer))
                with contextlib.suppress(OSError):
                    await forth.wait_closed()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "localhost", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await asyncio.sleep(0.1)


async def test_tls_a_ca_of_ones_own_and_a_password(
    guarded: int, make: Make, propose: Propose, key: Keyring, tmp_path: Path
) -> None:
    plain = await make("opensearch")
    _, prefix = base(plain)
    url = f"opensearch://indexer@localhost:{guarded}/{prefix}?attempts=1"
    trusted = f"{url}&ca={tmp_path / 'ca.pem'}"
    async with await open_index(trusted, key, password="right") as index:
        assert (await index.claim(propose("wilson"))).created
    with pytest.raises(IndexRejected, match="certificate"):
        await open_index(url, key, password="right")
    with pytest.raises(IndexRejected, match="401") as caught:
        await open_index(trusted, key, password="wrong-word")
    assert "wrong-word" not in str(caught.value)
    with pytest.raises(SettingError, match="password"):
        await open_index(trusted, key)


async def test_a_claim_whose_answers_are_lost_on_the_way_is_sent_again_and_gives_one_surrogate(
    make: Make, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opensearchpy.exceptions import ConnectionTimeout

    index = await make("opensearch")
    real, lost = index.store._client.bulk, []

    async def bulk(**words: Any) -> Any:
        answer = await real(**words)
        if words["body"] not in lost:
            lost.append(words["body"])
            raise ConnectionTimeout("TIMEOUT", "no answer", None)
        return answer

    monkeypatch.setattr(index.store._client, "bulk", bulk)
    outcomes = await index.claim_all([propose(f"p{n}", f"q{n}", seed=n) for n in range(5)])
    assert len(lost) >= 4
    assert [outcome.identity.whole for outcome in outcomes] == [f"Surrogate of p{n}" for n in range(5)]
    stats = await index.stats()
    assert (stats.identities, stats.keys, stats.reservations) == ({("clinic", "PERSON"): 5}, 10, 5)


async def test_a_cluster_that_stays_overloaded_is_unavailable_and_nothing_was_handed_out(
    make: Make, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opensearchpy.exceptions import TransportError

    index = await make("opensearch", attempts="2")
    real, sent = index.store._client.bulk, []

    async def bulk(**words: Any) -> Any:
        sent.append(words)
        raise TransportError(429, "es_rejected_execution_exception", {"error": CANARY})

    with monkeypatch.context() as patch:
        patch.setattr(index.store._client, "bulk", bulk)
        with pytest.raises(IndexUnavailable, match="429") as caught:
            await index.claim(propose("a", whole="First"))
    assert len(sent) == 2
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert index.store._client.bulk == real
    assert (await index.claim(propose("a", whole="Second"))).identity.whole == "Second"
