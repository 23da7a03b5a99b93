"""Requests that several records of one patient share (RedactOR §5).

Each record plans its own chunks. When all records of the unit have planned theirs, or have failed, the small chunks are
packed into requests, in the order of the records. Each request is sent once, and each record takes its own answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.llm.base import Usage

if TYPE_CHECKING:
    from incognote.agents.models import NoteReader
    from incognote.extraction.extractor import Extraction, TextChunk
    from incognote.schemas.policy import Policy


@dataclass(slots=True, eq=False)
class _Request:
    """The chunks of one request.

    Args:
        members: the index of the record of each chunk, and the index of the chunk in that record.
        answers: the call that reads them, once it has begun.
    """

    members: list[tuple[int, int]]
    answers: asyncio.Task[list[Extraction]] | None = None

    def of(self, record: int) -> list[int]:
        return [chunk for owner, chunk in self.members if owner == record]


@dataclass(slots=True, eq=False)
class PatientRequests:
    """The requests of one unit.

    Args:
        records: the number of records in the unit.
    """

    reader: NoteReader
    policy: Policy
    records: int
    _pieces: dict[int, Sequence[TextChunk]] = field(default_factory=dict, repr=False)
    _requests: list[_Request] = field(default_factory=list, repr=False)
    _planned: asyncio.Event = field(default_factory=asyncio.Event)

    def seats(self) -> list[Seat]:
        """Return the place of each record in the unit."""
        return [Seat(self, record) for record in range(self.records)]

    def put(self, record: int, pieces: Sequence[TextChunk]) -> None:
        """Add the planned chunks of a record. Only the first call for a record counts."""
        self._pieces.setdefault(record, pieces)
        if len(self._pieces) < self.records or self._planned.is_set():
            return
        chunks = [(record, chunk) for record in range(self.records) for chunk in range(len(self._pieces[record]))]
        groups = self.reader.requests([self._pieces[record][chunk] for record, chunk in chunks])
        self._requests = [_Request([chunks[each] for each in group]) for group in groups]
        self._planned.set()

    async def of(self, record: int) -> list[_Request]:
        """Wait until all records are planned. Return the requests with chunks of one record."""
        await self._planned.wait()
        return [request for request in self._requests if request.of(record)]

    async def read(self, request: _Request, record: int) -> list[Extraction]:
        """Return the answers about the chunks of one record. The first caller sends the request.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the model failed on a chunk of this record.
        """
        if request.answers is None:
            request.answers = asyncio.create_task(self._answers(request))
        answers = await asyncio.shield(request.answers)
        mine = [each for each, (owner, _) in zip(answers, request.members, strict=True) if owner == record]
        if problem := next((each.problem for each in mine if each.problem is not None), None):
            raise problem
        return mine

    async def _answers(self, request: _Request) -> list[Extraction]:
        pieces = [self._pieces[record][chunk] for record, chunk in request.members]
        if len({record for record, _ in request.members}) == 1:
            return await self.reader.extract(pieces, self.policy)
        answers = await self.reader.extract(pieces, self.policy, apart=True)
        total = sum((each.usage for each in answers), Usage())
        shares = divided(total, [piece.chunk.end - piece.chunk.start for piece in pieces])
        return [replace(each, usage=share) for each, share in zip(answers, shares, strict=True)]

    async def aclose(self) -> None:
        """Cancel the calls that nobody waits for."""
        calls = [request.answers for request in self._requests if request.answers is not None]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """One record's place in the requests of its unit."""

    requests: PatientRequests
    record: int

    def put(self, pieces: Sequence[TextChunk]) -> None:
        """Add the record's planned chunks. Without this call, the other records of the unit wait."""
        self.requests.put(self.record, pieces)

    async def planned(self) -> tuple[tuple[list[int], ...], int]:
        """Return the record's chunks by request, and how many chunks of other records are in these requests."""
        requests = await self.requests.of(self.record)
        own = tuple(request.of(self.record) for request in requests)
        return own, sum(len(request.members) for request in requests) - sum(map(len, own))

    async def read(self, request: int) -> list[Extraction]:
        """Return the answers to one request about the record's own chunks.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the model failed.
        """
        return await self.requests.read((await self.requests.of(self.record))[request], self.record)


def divided(usage: Usage, weights: Sequence[int]) -> Iterator[Usage]:
    """Divide usage by weight. The integers of all parts add up to the whole. A single call belongs to the first part.

    Args:
        weights: positive numbers.
    """
    total, before = sum(weights), 0
    for weight in weights:
        after = before + weight

        def part(whole: int, before: int = before, after: int = after) -> int:
            return -(-whole * after // total) - -(-whole * before // total)

        usd = None if usage.usd is None else usage.usd * weight / total
        yield Usage(part(usage.input), part(usage.output), part(usage.cached), part(usage.calls), usd)
        before = after
