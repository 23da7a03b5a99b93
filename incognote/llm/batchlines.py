"""The lines of a batch's input, output and error files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from incognote.errors import ModelProblem, ModelUnavailable
from incognote.llm.base import Reply, Usage
from incognote.llm.vendors import faults
from incognote.llm.vendors.chat import reply_of

MOST_REQUESTS = 50_000
"""The provider's bound on the requests of one batch."""
MOST_BYTES = 190_000_000
"""The provider takes files up to 200 MB."""
_NEVER_RUN = ("batch_expired", "batch_cancelled")


def line(address: str, name: str, parameters: Mapping[str, Any]) -> bytes:
    """One request, to the model of a name such as `openai/gpt-4o-mini`."""
    body = {"model": name.removeprefix("openai/"), **parameters}
    row = {"custom_id": address, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def pieces(lines: Iterable[tuple[str, bytes]]) -> Iterator[tuple[list[str], bytes]]:
    """Addresses and lines as batches within the provider's bounds: the addresses of each, and its file's content."""
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
    """A request that failed since the endpoint does not take one of its parameters."""

    parameter: str


Outcome = Reply | ModelProblem | Unwanted


def results(content: bytes, asked: Iterable[str], name: str) -> dict[str, Outcome]:
    """What an output or error file says, by address.

    A line that is not whole, answers what was not asked, or says that its request never ran, says nothing.

    Args:
        content: JSON lines.
        asked: the batch's addresses.
        name: the model's.
    """
    known = set(asked)
    found: dict[str, Outcome] = {}
    for written in content.split(b"\n"):  # not splitlines: a reply may hold U+2028
        try:
            row = json.loads(written)
            address, response, error = row["custom_id"], row.get("response") or {}, row.get("error") or {}
            if address in known and error.get("code") not in _NEVER_RUN:
                found[address] = _outcome(response.get("status_code"), response.get("body"), name)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            continue
    return found


def _outcome(status: Any, body: Any, name: str) -> Outcome:
    if not isinstance(status, int):
        return ModelUnavailable(f"{name}: a request of the batch failed at the provider; try later")
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
