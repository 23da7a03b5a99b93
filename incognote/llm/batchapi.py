"""What batch mode needs from a provider. The vendors' endpoints are in `incognote.llm.vendors`."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra, ModelProblem, ModelUnavailable
from incognote.llm.base import Reply, Request, Usage
from incognote.llm.egress import Egress, silence_loggers
from incognote.llm.vendors import faults

if TYPE_CHECKING:
    import httpx

    from incognote.llm.batchjobs import BatchJob

MARK = "incognote"
"""Names our files and batches at a provider."""
CLOCKS_DIFFER = 3600
"""The assumed difference, in seconds, between a provider's clock and ours."""
_LARGEST = 1 << 30  # bytes of a file with results
_TIMEOUT = 600.0  # seconds for each call, including sending or reading a file


@dataclass(frozen=True, slots=True)
class Unwanted:
    """A request that failed because the endpoint does not support one of its parameters.

    Args:
        parameter: its name.
        problem: the error if omitting it does not help.
        sure: whether the endpoint named the parameter. Many do not name `response_format`.
    """

    parameter: str
    problem: ModelProblem
    sure: bool = True


Outcome = Reply | ModelProblem | Unwanted


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch.

    Args:
        ended: whether it is final.
        whole: whether it has ended normally, so that a request without a result will never get one.
        results: ids of what holds errors and replies, in this order. A reply overrides an error.
        files: ids of everything to delete at the provider.
        sure: whether the batch is certainly ours. Otherwise, it is deleted only if it answers one of our requests.
    """

    ended: bool
    whole: bool
    results: tuple[str, ...]
    files: tuple[str, ...]
    sure: bool = True


class BatchApi(ABC):
    """One provider. Every call raises ModelUnavailable, ModelRejected or EgressRefused, with a status and a remedy.

    Args:
        name: the model's name, such as `openai/gpt-4o-mini`.
        api_base: the address of the provider's API.
        api_key: its key.
        egress: where requests may go.

    Raises:
        EgressRefused: the address is not allowed.
        MissingExtra: the extra `llm` is not installed.
    """

    most_requests = 50_000
    """The provider's limit for the requests of one batch."""
    most_bytes = 190_000_000
    """The provider's limit for the size of one batch."""

    def __init__(self, name: str, *, api_base: str, api_key: str, egress: Egress) -> None:
        try:
            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "batch mode") from None
        egress.check(api_base)
        self.name = name
        self.base = api_base.rstrip("/")
        self.model = name.partition("/")[2]
        self._transport = Guarded(egress, _LARGEST)
        self._http = client(self._transport, _TIMEOUT)
        self._http.headers.update(self._headers(api_key))

    # -- what a vendor implements

    def _headers(self, api_key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {api_key}"}

    @abstractmethod
    def line(self, address: str, request: Request, left_out: Collection[str]) -> bytes:
        """Return one request as a line of JSON, without what the endpoint does not support."""

    @abstractmethod
    async def send(self, token: str, content: bytes) -> str:
        """Create a batch of these lines, and return its id."""

    @abstractmethod
    async def find(self, job: BatchJob, known: Collection[str]) -> str | None:
        """Return the id of the batch that a job has created, if it has. `known` are the batches of other jobs."""

    @abstractmethod
    async def sweep(self, token: str) -> None:
        """Delete everything that was uploaded under a token for a batch that was not created."""

    @abstractmethod
    async def state(self, batch: str) -> BatchState | None:
        """Return the state of a batch; None if the provider does not know its id."""

    @abstractmethod
    def outcomes(self, content: bytes, asked: Iterable[str]) -> dict[str, Outcome]:
        """Return the outcomes in a file of results, by address.

        A line that is incomplete, answers an unknown request, or states that its request never ran is skipped.

        Args:
            content: JSON lines.
            asked: the batch's addresses.
        """

    @abstractmethod
    async def read(self, file: str) -> bytes:
        """Return the whole content of a file of results; empty if it no longer exists."""

    @abstractmethod
    async def delete(self, file: str) -> None:
        """Delete a file, if it still exists."""

    # -- what all share

    def pieces(self, lines: Iterable[tuple[str, bytes]]) -> Iterator[tuple[list[str], bytes]]:
        """Split requests into batches within the provider's limits: the addresses of each, and its lines."""
        addresses: list[str] = []
        content: list[bytes] = []
        size = 0
        for address, written in lines:
            if addresses and (len(addresses) == self.most_requests or size + len(written) > self.most_bytes):
                yield addresses, b"".join(content)
                addresses, content, size = [], [], 0
            addresses.append(address)
            content.append(written)
            size += len(written)
        if addresses:
            yield addresses, b"".join(content)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()
        await self._transport.shut()

    async def _call(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """Return the response to a call; None if the object does not exist."""
        silence_loggers()
        with faults.exchange() as noted:
            try:
                async with asyncio.timeout(_TIMEOUT):
                    response = await self._http.request(method, self.base + path, **more)
                if response.is_success:
                    return response
                if response.status_code == 404:
                    return None
            except TimeoutError:
                noted.status, noted.failure = None, f"no complete answer within {_TIMEOUT:g} s"
            except Exception:  # noqa: S110 -- httpx's message may quote what was sent, so only `noted` is used
                pass
        raise noted.problem(self.name)

    async def _json(self, method: str, path: str, **more: Any) -> dict[str, Any] | None:
        """Return the JSON object in the response to a call; None if the object does not exist.

        Raises:
            ModelUnavailable: the response is not a JSON object.
        """
        response = await self._call(method, path, **more)
        if response is None:
            return None
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise faults.Exchange(response.status_code).problem(self.name)
        return answer

    async def _made(self, path: str, *, name: str = "id", **more: Any) -> str:
        """Return the id, in a member of this name, of what a POST creates."""
        answer = await self._json("POST", path, **more)
        if answer is None or not isinstance(answer.get(name), str):
            raise faults.Exchange(404).problem(self.name)
        return str(answer[name])


def rows(content: bytes, asked: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield address and content of each whole line about a request of the batch."""
    known = set(asked)
    for written in content.split(b"\n"):  # not splitlines, since a reply may contain U+2028
        try:
            row = json.loads(written)
            if isinstance(row, dict) and row.get("custom_id") in known:
                yield row["custom_id"], row
        except (ValueError, TypeError):
            continue


def failure(status: int | None, body: Any, name: str) -> Outcome:
    """Return the outcome of a request that failed at the provider."""
    if status is None:
        return ModelUnavailable(f"{name}: a request of the batch failed at the provider. Try later")
    noted = faults.Exchange()
    noted.note(status, {}, json.dumps(body).encode())
    if (finish := noted.finish) is not None:
        return Reply("", finish, Usage(calls=1), 0.0, name)
    if noted.kind == "parameter" and noted.parameter is not None:
        return Unwanted(noted.parameter, noted.problem(name))
    if noted.unclear and status < 500:
        return Unwanted("response_format", noted.problem(name), sure=False)
    return noted.problem(name)
