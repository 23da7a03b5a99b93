"""Any interleaving of claims, even if some are aborted, gives one surrogate per identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.errors import IndexBusy
from incognote.relex.index import claims, repairs
from incognote.relex.index.docs import Doc, Op
from incognote.relex.index.nouns import (
    Conflict,
    IdentityPlace,
    IndexedIdentity,
    SurrogateClaimed,
    SurrogateProposal,
    SurrogateTaken,
)
from incognote.testing.memory_index import MemoryIndex

PLACE = IdentityPlace("clinic", "patient 7", "PERSON")
VARIANTS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True)
CLAIMS = st.lists(st.tuples(VARIANTS, st.sampled_from(["S1", "S2", "S3", "S4", "S5", "S6"])), min_size=1, max_size=5)


def proposal(variants: list[str], whole: str) -> SurrogateProposal:
    return SurrogateProposal(PLACE, "PATIENT", tuple(variants), {"full": whole}, whole)


def run(index: MemoryIndex, program: Any) -> Any:
    """Run one program to its end."""
    result = None
    while True:
        try:
            result = index.memory.do(program.send(result))
        except StopIteration as stop:
            return stop.value


def bearer(index: MemoryIndex, variant: str) -> tuple[IndexedIdentity, ...]:
    found: tuple[IndexedIdentity, ...] = run(index, claims.lookup(index.sealer, PLACE, [variant]))
    return found


def sound(index: MemoryIndex) -> None:
    """Check that no two identities share a surrogate, each has reserved its own, and no reservation is unused."""
    docs = list(index.memory.docs.values())
    active = [index.sealer.identity(doc) for doc in docs if doc.state == "active"]
    assert len({identity.whole for identity in active}) == len(active)
    reserved = {index.sealer.open(doc)["whole"]: doc.into for doc in docs if doc.kind == "reservation"}
    assert {identity.whole: identity.id for identity in active}.items() <= reserved.items()


@settings(max_examples=200)
@given(CLAIMS, st.lists(st.integers(0, 99), max_size=80), st.sets(st.integers(0, 4), max_size=3))
def test_what_was_handed_out_stays_whoever_comes_between_and_whoever_dies(
    asked: list[tuple[list[str], str]], turns: list[int], dying: set[int]
) -> None:
    index = MemoryIndex(dimension=0)
    begun = [claims.claim(index.sealer, proposal(*one)) for one in asked]
    running: dict[int, tuple[Any, Any]] = {n: (program, None) for n, program in enumerate(begun)}
    ended: dict[int, Any] = {}

    def turn(n: int) -> None:
        program, result = running[n]
        try:
            running[n] = program, index.memory.do(program.send(result))
        except StopIteration as stop:
            ended[n] = stop.value
            del running[n]

    for number in turns:
        if running:
            turn(sorted(running)[number % len(running)])
            for n, outcome in ended.items():  # at every moment, others find what was handed out
                if isinstance(outcome, SurrogateClaimed):
                    assert all(bearer(index, v) == (outcome.identity,) for v in asked[n][0])
    for n in dying & running.keys():
        del running[n]
    while running:
        turn(min(running))
    for n, outcome in ended.items():
        if isinstance(outcome, SurrogateClaimed):
            assert all(bearer(index, v) == (outcome.identity,) for v in asked[n][0])
    for variant in "abcde":  # an aborted claim does not block others
        outcome = run(index, claims.claim(index.sealer, proposal([variant], f"new {variant}")))
        assert isinstance(outcome, SurrogateClaimed)
    keys = [doc.into for doc in index.memory.docs.values() if doc.kind == "key"]
    assert all(index.memory.docs[one].state != "pending" for one in keys)
    sound(index)


def test_a_variant_is_found_however_it_is_written() -> None:
    index = MemoryIndex(dimension=0)
    run(index, claims.claim(index.sealer, proposal(["Zoë  SMITH"], "S1")))
    for written in ("zoe\u0308 smith", "Zoë\u00a0Smi\u00adth", "Zoë\u200b S\u3164mith\ufe0f"):
        assert [entry.whole for entry in bearer(index, written)] == ["S1"]
    assert bearer(index, "zoe smith") == ()


@given(VARIANTS, st.integers(0, 12), VARIANTS)
def test_a_claim_that_was_left_at_any_step_is_carried_on_by_the_next(
    first: list[str], steps: int, second: list[str]
) -> None:
    index = MemoryIndex(dimension=0)
    program, result = claims.claim(index.sealer, proposal(first, "S1")), None
    for _ in range(steps):
        try:
            result = index.memory.do(program.send(result))
        except StopIteration:
            break
    outcome = run(index, claims.claim(index.sealer, proposal(second, "S2")))
    assert isinstance(outcome, SurrogateClaimed)
    assert isinstance(run(index, claims.claim(index.sealer, proposal(first, "S3"))), SurrogateClaimed | Conflict)
    assert bearer(index, second[0]) == (outcome.identity,)
    sound(index)


@given(st.permutations(range(6)), st.lists(st.integers(0, 99), max_size=60))
def test_the_partition_does_not_depend_on_the_order_of_arrival(order: list[int], turns: list[int]) -> None:
    """Claimants merge conflicting identities, as callers do: links a-b, c-d, b-c, and e alone, twice."""
    links = [["a", "b"], ["c", "d"], ["b", "c"], ["e"], ["e"], ["d"]]
    index = MemoryIndex(dimension=0)

    def claimant(n: int) -> Any:
        draws = 0
        while True:
            outcome = yield from claims.claim(index.sealer, proposal(links[n], f"S {n} {draws}"))
            if isinstance(outcome, Conflict):
                yield from repairs.merge(index.sealer, [identity.id for identity in outcome.identities])
            elif isinstance(outcome, SurrogateTaken):
                draws += 1
            else:
                return

    running: list[tuple[Any, Any]] = [(claimant(n), None) for n in order]
    for number in [*turns, *([0] * 10_000)]:
        if not running:
            break
        place = number % len(running)
        program, result = running[place]
        try:
            running[place] = program, index.memory.do(program.send(result))
        except StopIteration:
            del running[place]
    assert not running
    groups = {frozenset(v for v in "abcde" if bearer(index, v) == bearer(index, w)) for w in "abcde"}
    assert groups == {frozenset("abcd"), frozenset("e")}
    sound(index)


def test_a_claim_hands_nothing_out_before_its_last_step() -> None:
    index = MemoryIndex(dimension=0)
    program = claims.claim(index.sealer, proposal(["a", "b"], "S1"))
    result, seen = None, []
    while True:
        try:
            op: Op = program.send(result)
        except StopIteration:
            break
        result = index.memory.do(op)
        seen.append(bool(bearer(index, "a")))
    assert seen == sorted(seen)
    assert seen.count(True) <= 2  # the change that ends the claim, and the read that confirms it


def test_a_scope_that_is_being_forgotten_is_not_waited_for_without_end(monkeypatch: Any) -> None:
    index = MemoryIndex(dimension=0)
    run(index, claims.claim(index.sealer, proposal(["a"], "S1")))
    real: Callable[[Any], Any] = index.memory.do

    def forgets(op: Op) -> Any:
        for doc in [doc for doc in index.memory.docs.values() if doc.kind == "identity"]:
            del index.memory.docs[doc.id]
        return real(op)

    monkeypatch.setattr(index.memory, "do", forgets)
    with pytest.raises(IndexBusy, match="index forget"):
        run(index, claims.claim(index.sealer, proposal(["a"], "S1")))


def test_a_key_that_leads_nowhere_is_taken_over() -> None:
    index = MemoryIndex(dimension=0)
    run(index, claims.claim(index.sealer, proposal(["a", "b"], "S1")))
    gone: list[Doc] = [doc for doc in index.memory.docs.values() if doc.kind in ("identity", "reservation")]
    for doc in gone:
        del index.memory.docs[doc.id]
    other = run(index, claims.claim(index.sealer, proposal(["c"], "S2")))
    joined = run(index, claims.claim(index.sealer, proposal(["a", "c"], "S3")))
    assert joined == SurrogateClaimed(other.identity, created=False)
    alone = run(index, claims.claim(index.sealer, proposal(["b"], "S4")))
    assert alone.created
    assert bearer(index, "a") == (other.identity,)
    assert bearer(index, "b") == (alone.identity,)
