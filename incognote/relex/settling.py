"""Agree with the index on surrogates: recall existing ones, and hold parts before claiming wholes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from incognote.errors import AccountingError
from incognote.relex.batch import RelexBatch
from incognote.relex.facts import clinical_name
from incognote.relex.generate import Component, UsedSurrogates
from incognote.relex.generate.base import plain
from incognote.relex.index.nouns import (
    Conflict,
    IdentityPlace,
    IndexedIdentity,
    SurrogateClaimed,
    SurrogatePart,
    SurrogateProposal,
    SurrogateTaken,
)
from incognote.relex.memory import key_of
from incognote.relex.nouns import Identity, Surrogate

WAVES = 2
"""Contacts are in the second wave, because e-mail addresses are built from the surrogates of their owners."""
_ATTEMPTS = 200


def wave_of(identity: Identity) -> int:
    """The wave in which an identity gets its surrogate."""
    return int(identity.group == "CONTACT")


async def begin(batch: RelexBatch) -> None:
    """Load the parts that the index holds and the surrogates that it stores."""
    tools = batch.tools
    taken = batch.taken = UsedSurrogates(originals=tools.roster)
    batch.settled, batch.surrogates = {}, {}
    generators = tools.generators
    for one in batch.everybody:
        generators.observe(one, taken)
    components = sorted({c for one in batch.identities for c in generators.components(one)})
    values = await tools.index.held([_part(c) for c in components])
    for component, value in zip(components, values, strict=True):
        if value is not None:
            batch.settled[component] = taken.keep(component, value)
    known = [one for one in batch.everybody if one.id in batch.entries]
    for one in sorted(known, key=lambda one: (batch.entries[one.id].created, batch.entries[one.id].id, one.variants)):
        recall(batch, one, batch.entries[one.id])


def recall(batch: RelexBatch, identity: Identity, entry: IndexedIdentity) -> None:
    """Take the identity's surrogate from the index and hold its parts."""
    generators, taken = batch.tools.generators, batch.taken
    surrogate = Surrogate(dict(entry.surrogate), entry.pool)
    before = set(taken.held)
    generators.recall(identity, surrogate, taken)
    batch.settled |= {component: taken.held[component] for component in taken.held.keys() - before}
    batch.surrogates[identity.id] = surrogate


def pending(batch: RelexBatch) -> list[Identity]:
    """The identities of this wave that have no surrogate yet, or whose surrogate lacks a part that they now show."""
    return [
        one
        for one in batch.identities
        if wave_of(one) == batch.wave
        and (one.id not in batch.entries or batch.tools.generators.lacks(one, batch.surrogates[one.id]))
        and one.id not in batch.done
    ]


async def draw(batch: RelexBatch) -> int:
    """Draw surrogates for the pending identities. In a repeated draw, whatever used a refused part is made again."""
    tools, taken = batch.tools, batch.taken
    batch.pending = {one.id: one for one in pending(batch)}
    for one in batch.pending.values():
        tools.generators.again(one, taken)
    for component, value in batch.settled.items():
        taken.keep(component, value)
    if not batch.pending:
        return 0
    before = taken.moved
    answers = await tools.agents.replacer.replace(list(batch.pending.values()), batch.draw, taken, batch.notes)
    if answers.keys() != batch.pending.keys():
        raise AccountingError(f"{tools.agents.replacer.name}: the replacer must return a surrogate for each identity")
    batch.moved += taken.moved - before
    batch.drawn = answers
    return len(answers)


async def held(batch: RelexBatch) -> bool:
    """Return True if the index agrees to all parts that were drawn.

    Parts for which it has other values are exchanged.
    """
    tools, taken = batch.tools, batch.taken
    wanted = {c for one in batch.pending.values() for c in tools.generators.components(one)}
    fresh = sorted(c for c in wanted if c in taken.held and c not in batch.settled)
    answers = await tools.index.hold_all([_part(c, taken.held[c]) for c in fresh])
    agreed = True
    for component, answer in zip(fresh, answers, strict=True):
        if isinstance(answer, SurrogateTaken):
            taken.refuse(component.domain, component.scope, taken.held[component], component.group)
            taken.release(component)
            batch.moved += 1
            agreed = False
        else:
            agreed = agreed and answer == taken.held[component]
            taken.free(component)
            batch.settled[component] = taken.keep(component, answer)
    return agreed


async def unoriginal(batch: RelexBatch) -> bool:
    """Return True if no whole that was drawn is an original of the domain or a clinical word. Others are refused."""
    fresh = [one for one in batch.pending.values() if one.id not in batch.entries and one.group != "OCCUPATION"]
    asked = [(one, whole) for one in fresh if (whole := batch.tools.generators.whole(one, batch.drawn[one.id]))]
    flags = await batch.tools.index.originals([(one.domain, plain(whole)) for one, whole in asked])
    refused = [
        (one, whole)
        for (one, whole), original in zip(asked, flags, strict=True)
        if original or (one.group == "PERSON" and clinical_name(whole))
    ]
    for one, whole in refused:
        refuse(batch, one, whole)
    return not refused


async def claimed(batch: RelexBatch) -> str:
    """Claim the wave's identities.

    Returns:
        "" if all claims succeeded, "generate" if a draw was refused, "cluster" if there was a conflict.
    """
    index = batch.tools.index
    claims: list[tuple[Identity, SurrogateProposal]] = []
    for one in batch.identities:
        if wave_of(one) != batch.wave or one.id in batch.done:
            continue
        if not batch.tools.generators.whole(one, _surrogate(one, batch)):
            batch.surrogates[one.id] = _surrogate(one, batch)
            batch.done.add(one.id)
            continue
        entry, (own, free) = batch.entries.get(one.id), _keys(one, batch)
        if entry is None:
            claims.append((one, _proposal(one, batch, free or [_split(one)])))
        elif not free:
            await _stands(batch, one, SurrogateClaimed(entry, created=False))
        elif own:
            claims.append((one, _proposal(one, batch, [own[0], *free])))
        else:
            added = await index.add_keys(entry.id, free)
            if isinstance(added, Conflict):
                return "cluster"
            await _stands(batch, one, added)
    outcomes = await index.claim_all([proposal for _, proposal in claims])
    if any(isinstance(outcome, Conflict) for outcome in outcomes):
        return "cluster"
    refused = False
    for (one, proposal), outcome in zip(claims, outcomes, strict=True):
        if isinstance(outcome, SurrogateClaimed):
            await _stands(batch, one, outcome)
        else:
            refuse(batch, one, proposal.whole)
            refused = True
    return "generate" if refused else ""


def refuse(batch: RelexBatch, identity: Identity, whole: str) -> None:
    """Exclude the whole from later draws and count the draw as moved."""
    batch.taken.refuse(identity.domain, identity.scope, whole)
    batch.draws[identity.id] += 1
    batch.moved += 1
    if batch.draws[identity.id] > _ATTEMPTS:
        raise AccountingError(f"no free surrogate is left in a scope for group {identity.group}")


async def _stands(batch: RelexBatch, identity: Identity, outcome: SurrogateClaimed) -> None:
    """Tie the identity to its entry in the index.

    Its keys lead there, and its surrogate has all parts that it shows.
    """
    index, entry = batch.tools.index, outcome.identity
    leads = {key_of(one): batch.found[one].get(identity.scope) for one in identity.variants}
    elsewhere = [key for key, lead in leads.items() if lead is not None and lead.id != entry.id]
    if elsewhere:
        await index.move(_place(identity), elsewhere, entry.id)
    more = batch.drawn.get(identity.id)
    if more is not None and not outcome.created and not more.parts.keys() <= entry.surrogate.keys():
        entry = await index.amend(entry.id, more.parts) or entry
    if outcome.created:
        batch.new.add(entry.id)
    batch.entries[identity.id] = entry
    recall(batch, identity, entry)
    batch.done.add(identity.id)


def _keys(identity: Identity, batch: RelexBatch) -> tuple[list[str], list[str]]:
    """The keys that already lead to the identity's entry, and those that lead nowhere yet."""
    entry = batch.entries.get(identity.id)
    leads = {one: batch.found[one].get(identity.scope) for one in identity.variants}
    own = [key_of(one) for one, lead in leads.items() if lead is not None and lead == entry]
    return own, [key_of(one) for one, lead in leads.items() if lead is None]


def _split(identity: Identity) -> str:
    """A key for an identity that was split off: each of its mentions leads to an entry that stays another's."""
    return "split " + hashlib.sha256(" ".join(map(key_of, identity.variants)).encode()).hexdigest()


def _surrogate(identity: Identity, batch: RelexBatch) -> Surrogate:
    if identity.id in batch.entries or identity.id not in batch.drawn:
        return batch.surrogates[identity.id]
    return batch.drawn[identity.id]


def _proposal(identity: Identity, batch: RelexBatch, keys: Sequence[str]) -> SurrogateProposal:
    surrogate = _surrogate(identity, batch)
    return SurrogateProposal(
        _place(identity),
        identity.attributes.get("type", identity.variants[0].type),
        tuple(keys),
        surrogate.parts,
        batch.tools.generators.whole(identity, surrogate),
        _attributes(identity) | ({} if batch.tools.reveal else {REVEAL: "no"}),
        identity.fullest,
        batch.vectors.get(identity.id),
        surrogate.pool,
        batch.draws[identity.id],
    )


_KEPT = ("gender", "locale", "kin")
REVEAL = "reveal"
"""An attribute of identities that must never be mapped back."""


def _attributes(identity: Identity) -> dict[str, str]:
    return {name: identity.attributes[name] for name in _KEPT if name in identity.attributes}


def _place(identity: Identity) -> IdentityPlace:
    return IdentityPlace(identity.domain, identity.scope, identity.group)


def _part(component: Component, value: str = "") -> SurrogatePart:
    return SurrogatePart(component.domain, component.scope, component.type, component.normal, value)
