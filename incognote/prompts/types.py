"""Which entity types a model is asked for: those a policy replaces, told in one line each."""

from __future__ import annotations

from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy


def asked(policy: Policy) -> dict[str, str]:
    """The types a policy lists and replaces, in its order, each with its own line and those of finer types it covers.

    A finer type that the policy does not list itself is asked for under its nearest listed ancestor, so the reply is
    short and speaks the policy's language.
    """
    types = catalogue()
    listed = [name for name in policy.types if policy.replaces(name)]
    lines = {name: [types[name].about] for name in listed}
    for name, entity in types.items():
        served = policy.serves(name)
        if served in lines and name != served:
            lines[served].append(entity.about)
    return {name: f"{own}; also: {'; '.join(finer)}" if finer else own for name, (own, *finer) in lines.items()}
