"""OpenAI's files and batches endpoints for batch mode, with errors turned into ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from incognote.errors import MissingExtra, ModelProblem, ModelUnavailable
from incognote.llm.base import Reply, Usage
from incognote.llm.egress import Egress, silence_loggers
from incognote.llm.vendors import faults
from incognote.llm.vendors.chat import reply_of

MOST_REQUESTS = 50_000
"""The provider's limit for the requests of one batch."""
MOST_BYTES = 190_000_000
"""The provider accepts files up to 200 MB."""
_NEVER_RUN = ("batch_expired", "batch_cancelled")


def line(address: str, name: str, parameters: Mapping[str, Any]) -> bytes:
    """Return the line of one request, for a model name such as `openai/gpt-4o-mini`."""
    body = {"model": name.removeprefix("openai/"), **parameters}
    row = {"custom_id": address, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def pieces(lines: Iterable[tuple[str, bytes]]) -> Iterator[tuple[list[str], bytes]]:
    """Split requests into batches within the provider's limits: the addresses of each, and its file's content."""
    addresses: list[str] = []
    content: list[bytes] = []
    size = 0
    for address, written in lines:
        if addresses and (len(addresses) == MOST_REQUESTS or size + len(written) > MOST_BYTES):
            yield addresses, b"".join(content)
            addresses, content, size = [], [], 0
        addresses.append(address)
        content.append(written)
        size += len(written)
    if addresses:
        yield addresses, b"".join(content)


@dataclass(frozen=True, slots=True)
class Unwanted:
    """A request that failed because the endpoint does not support one of its parameters."""

    parameter: str


Outcome = Reply | ModelProblem | Unwanted


def results(content: bytes, asked: Iterable[str], name: str) -> dict[str, Outcome]:
    """Return the outcomes in an output or error file, by address.

    A line that is incomplete, answers an unknown request, or states that its request never ran is skipped.

    Args:
        content: JSON lines.
        asked: the batch's addresses.
        name: the model's name.
    """
    known = set(asked)
    answer: dict[str, Outcome] = {}
    for written in content.split(b"\n"):  # not splitlines, since a reply may contain U+2028
        try:
            row = json.loads(written)
            address, response, error = row["custom_id"], row.get("response") or {}, row.get("error") or {}
            if address in known and error.get("code") not in _NEVER_RUN:
                answer[address] = _outcome(response.get("status_code"), response.get("body"), name)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            continue
    return answer


def _outcome(status: Any, body: Any, name: str) -> Outcome:
    if not isinstance(status, int):
        return ModelUnavailable(f"{name}: a request of the batch failed at the provider. Try later")
    if status == 200:
        from openai.types.chat import ChatCompletion

        return reply_of(ChatCompletion.construct(**body), 0.0, name)
    noted = faults.Exchange()
    noted.note(status, {}, json.dumps(body).encode())
    if noted.kind == "filter":
        return Reply("", "filter", Usage(calls=1), 0.0, name)
    if noted.kind == "parameter" and noted.parameter is not None:
        return Unwanted(noted.parameter)
    return noted.problem(name)


_KEPT_SECONDS = 7 * 24 * 3600  # we delete files ourselves; if no later run does so, the provider does
_CLOCKS_DIFFER = 3600  # seconds
_ENDED = ("completed", "failed", "expired", "cancelled")
_MARK = "incognote"
_LARGEST = 1 << 30  # bytes of an output file
_TIMEOUT = 600.0  # seconds for each call, including sending or reading a file
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch.

    Args:
        status: as named by the provider.
        ended: whether it is final.
        results: ids of the files with errors and replies, in this order. A reply overrides an error.
        files: ids of all its files.
    """

    status: str
    ended: bool
    results: tuple[str, ...]
    files: tuple[str, ...]


class BatchApi:
    """One provider. Every call raises ModelUnavailable, ModelRejected or EgressRefused, with a status and a remedy.

    Args:
        name: the model's name, for messages.
        api_base: the address of its API.
        api_key: sent as bearer token.
        egress: where requests may go.

    Raises:
        MissingExtra: the extra `llm` is not installed.
    """

    def __init__(self, name: str, *, api_base: str, api_key: str, egress: Egress) -> None:
        try:
            from openai import AsyncOpenAI

            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "batch mode") from None
        self._name = name
        self._transport = Guarded(egress, _LARGEST)
        self._http = client(self._transport, _TIMEOUT)
        self._client = AsyncOpenAI(
            api_key=api_key, base_url=api_base, max_retries=0, timeout=_TIMEOUT, http_client=self._http
        )

    async def upload(self, token: str, content: bytes) -> str:
        """Upload the lines of a batch and return the file's id."""
        file = await self._ask(
            self._client.files.create(
                file=(_name(token), content, "application/jsonl"),
                purpose="batch",
                expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
            )
        )
        return str(file.id)

    async def open(self, file: str, token: str) -> str:
        """Create a batch from an uploaded file and return the batch's id."""
        batch = await self._ask(
            self._client.batches.create(
                input_file_id=file,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_MARK: token},
                output_expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
            )
        )
        return str(batch.id)

    async def find(self, token: str, since: float) -> str | None:
        """Return the id of the batch with a token, created after about a time (seconds since 1970), or None."""

        async def seek() -> str | None:
            async for batch in self._client.batches.list(limit=100):  # the newest first
                if (batch.metadata or {}).get(_MARK) == token:
                    return str(batch.id)
                if batch.created_at < since - _CLOCKS_DIFFER:
                    break
            return None

        return await self._ask_for(seek())

    async def sweep(self, token: str) -> None:
        """Delete every file stored under a token."""

        async def seek() -> list[str]:
            return [f.id async for f in self._client.files.list(purpose="batch") if f.filename == _name(token)]

        for file in await self._ask(seek()):
            await self.delete(file)

    async def state(self, batch: str) -> BatchState | None:
        """Return the state of a batch; None if the provider does not know its id."""
        answer = await self._ask_for(self._client.batches.retrieve(batch))
        if answer is None:
            return None
        results = tuple(file for file in (answer.error_file_id, answer.output_file_id) if file)
        files = tuple(dict.fromkeys(file for file in (answer.input_file_id, *results) if file))
        return BatchState(str(answer.status), answer.status in _ENDED, results, files)

    async def read(self, file: str) -> bytes:
        """Return a file's whole content; empty if it no longer exists."""
        answer = await self._ask_for(self._client.files.content(file))
        return b"" if answer is None else bytes(answer.content)

    async def delete(self, file: str) -> None:
        """Delete a file, if it still exists."""
        await self._ask_for(self._client.files.delete(file))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()
        await self._transport.shut()

    async def _ask(self, call: Awaitable[T]) -> T:
        answer = await self._ask_for(call)
        if answer is None:
            raise faults.Exchange(404).problem(self._name)
        return answer

    async def _ask_for(self, call: Awaitable[T]) -> T | None:
        """Return the result of a call; None if the object does not exist.

        Exceptions of the library are converted here.
        """
        silence_loggers()
        with faults.exchange() as noted:
            try:
                async with asyncio.timeout(_TIMEOUT):
                    return await call
            except TimeoutError:
                noted.status, noted.failure = None, f"no complete answer within {_TIMEOUT:g} s"
            except Exception:  # from the library: its message may quote what was sent, so only `noted` is used
                if noted.status == 404:
                    return None
        raise noted.problem(self._name)


def _name(token: str) -> str:
    return f"{_MARK}-{token}.jsonl"
