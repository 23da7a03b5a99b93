"""Programs run side by side: each round does the next operation of all of them at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from incognote.relex.index.docs import Op, Program

T = TypeVar("T")


async def side_by_side(programs: Sequence[Program[T]], do: Callable[[list[Op]], Awaitable[list[Any]]]) -> list[T]:
    """What the programs return, in their order.

    Args:
        programs: where one fails, the others are left where they stand; what they did so far is what a claimant that
            died would leave, and hurts nobody.
        do: the operations of a round, in any order -> their results.
    """
    ended: dict[int, T] = {}
    results: dict[int, Any] = dict.fromkeys(range(len(programs)))
    try:
        while results:
            ops: dict[int, Op] = {}
            for index, result in results.items():
                try:
                    ops[index] = programs[index].send(result)
                except StopIteration as stop:
                    ended[index] = stop.value
            results = dict(zip(ops, await do(list(ops.values())), strict=True)) if ops else {}
    finally:
        for program in programs:
            program.close()
    return [ended[index] for index in range(len(programs))]
