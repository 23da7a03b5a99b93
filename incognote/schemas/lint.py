"""The policy lint: report what is impossible in a policy, or forbidden by its legal label, and why.

The rules of the labels are in `labels.toml`, with the paragraphs that they implement. The letters of the catalog are
those of 45 CFR 164.514(b)(2)(i). Labels of other laws name the same types by these letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.schemas.catalogue import catalogue, shipped
from incognote.schemas.choices import Choice, Policy, Voice
from incognote.schemas.operatorfacts import operator_facts


@dataclass(frozen=True, slots=True)
class Breach:
    """One fault: a stable code, a sentence with the remedy, and the entity type ("" for the whole policy)."""

    code: str
    message: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class LegalLabel:
    """The requirements of a legal label; see `labels.toml`."""

    name: str
    cites: str
    covers: frozenset[str]
    also: frozenset[str]
    derived: bool
    threshold: float
    enough: Mapping[str, tuple[str, ...]]

    def covered(self, entity_type: str) -> bool:
        """Whether the label requires that a policy covers a type."""
        types = catalogue()
        return types[entity_type].hipaa in self.covers or any(step in self.also for step in types.lineage(entity_type))

    def sufficient(self, entity_type: str) -> tuple[str, ...]:
        """Return the operators that remove enough of a type."""
        steps = (*catalogue().lineage(entity_type), "default")
        return next(self.enough[step] for step in steps if step in self.enough)


@cache
def labels() -> Mapping[str, LegalLabel]:
    """Return the legal labels that a policy may claim, by name."""
    return {name: _label(name, table) for name, table in shipped("labels.toml").items()}


def _label(name: str, table: Mapping[str, Any]) -> LegalLabel:
    enough = {entity_type: tuple(names) for entity_type, names in table["enough"].items()}
    return LegalLabel(
        name,
        table["cites"],
        frozenset(table["covers"]),
        frozenset(table["also"]),
        table["derived"],
        table["threshold"],
        enough,
    )


def lint(policy: Policy) -> list[Breach]:
    """Return every fault of a policy, in the order of its file. Empty for a valid policy."""
    choices = (fault for name, choice in policy.types.items() for fault in _choice(name, choice))
    faults = [*_numbers(policy), *_vault(policy), *choices, *_reach(policy)]
    if policy.label is None:
        return faults
    if policy.label not in labels():
        known = ", ".join(f'"{name}"' for name in labels())
        said = f'label "{policy.label}" is unknown. Use one of: {known}, "none"'
        return [*faults, Breach("unknown-label", said)]
    rule = labels()[policy.label]
    return [*faults, *contradictions(policy, policy.label), *_audit(policy, rule), *_reveal(policy, rule)]


def _audit(policy: Policy, rule: LegalLabel) -> Iterator[Breach]:
    for name, score in {"doubt": policy.doubt, "audit_threshold": policy.audit_threshold}.items():
        if score > rule.threshold:
            said = f"{name} is {score:g}, so findings with a lower score are never checked. The label {rule.name}"
            yield Breach("audit-off", f"{said} allows at most {rule.threshold:g}")


def _reveal(policy: Policy, rule: LegalLabel) -> Iterator[Breach]:
    if policy.relex.reveal and not rule.derived and any(c.operator == "surrogate" for c in policy.types.values()):
        said = f"relex.reveal links a surrogate to the individual. The label {rule.name} requires reveal = false"
        yield Breach("reveal", said)


def _vault(policy: Policy) -> Iterator[Breach]:
    if policy.pages.vault and not policy.relex.reveal:
        said = "pages.vault keeps what is removed so that it can be revealed, but relex.reveal is false"
        yield Breach("vault", f"{said}. Change one of them")


def voice_of(policy: Policy) -> Voice:
    """Return what happens to voices in recordings: as the policy says, or else as its label requires."""
    if policy.recordings.voice is not None:
        return policy.recordings.voice
    return "keep" if policy.label is None else _voices_allowed(labels()[policy.label])[0]


def _voices_allowed(rule: LegalLabel) -> tuple[Voice, ...]:
    """Return what a label allows for voices, the least first.

    A voice is a biometric identifier, and a disguised one is derived from the individual's.
    """
    if not rule.covered("BIOMETRIC_ID"):
        return ("keep", "disguise", "remove")
    return ("disguise", "remove") if rule.derived else ("remove",)


def claimable(policy: Policy) -> tuple[str, ...]:
    """Return the legal labels that a policy does not contradict, whether it claims them or not."""
    return tuple(name for name in labels() if not contradictions(policy, name))


def contradictions(policy: Policy, label: str) -> list[Breach]:
    """Return where a policy contradicts the requirements of a label."""
    rule, types, facts = labels()[label], catalogue(), operator_facts()
    found: list[Breach] = []
    if not rule.derived:
        found += [
            Breach(
                "derived",
                f"{name}: {c.operator} derives a value from the individual's data, which the label "
                f"{label} does not allow (45 CFR 164.514(c)). Use label or generalize",
                name,
            )
            for name, c in policy.types.items()
            if c.operator in facts and facts[c.operator].always_derived
        ]
    if policy.pages.vault and not rule.derived:
        said = "pages.vault derives a number from the individual's image, which the label"
        found.append(Breach("derived", f"{said} {label} does not allow (45 CFR 164.514(c)). Use vault = false"))
    if (voice := policy.recordings.voice) is not None and voice not in (fit := _voices_allowed(rule)):
        said = f'recordings.voice is "{voice}", but a voice is a biometric identifier ({rule.cites}). Use one of:'
        found.append(Breach("voice", f"{said} {', '.join(fit)}"))
    for name in types:
        if rule.covered(name):
            found += _covered(name, policy, rule)
    return found


def _covered(name: str, policy: Policy, rule: LegalLabel) -> Iterator[Breach]:
    facts, choice, served = operator_facts(), policy.choice(name), policy.serves(name)
    american, letter = rule.cites.startswith("45 CFR"), catalogue()[name].hipaa
    named = f"{rule.cites} {'lists' if american else 'covers'} it" + (f" ({letter})" if american and letter else "")
    if choice is None:
        said = f"{name} is not covered by the policy, but {named}. Add the type, or remove the label"
        yield Breach("missing", said, name)
        return
    if choice.operator not in facts or (not rule.derived and facts[choice.operator].always_derived):
        return  # already reported for the listed type
    if choice.operator == "keep":
        said = f"{name} is kept (as {served}), but {named}. Replace it, or remove the label"
        yield Breach("kept", said, name)
    elif choice.operator not in rule.sufficient(name):
        fit = ", ".join(rule.sufficient(name))
        said = f"{name}: {choice.operator} leaves more detail than {rule.cites} allows. Use one of: {fit}"
        yield Breach("too-fine", said, name)
    if choice.threshold > rule.threshold:
        said = (
            f"{name}: threshold {choice.threshold:g} leaves identifiers with a lower score in the text. "
            f"The label {rule.name} allows at most {rule.threshold:g}"
        )
        yield Breach("high-threshold", said, name)


def _numbers(policy: Policy) -> Iterator[Breach]:
    scores = {"doubt": policy.doubt, "audit_threshold": policy.audit_threshold}
    for name, score in scores.items():
        if not 0 <= score <= 1:  # also false for NaN
            yield Breach("out-of-range", f"{name} is {score:g}, but must be between 0 and 1")
    if not 0 < policy.over_masked <= 1:
        yield Breach("out-of-range", f"over_masked is {policy.over_masked:g}, but must be above 0 and at most 1")


def _choice(name: str, choice: Choice) -> Iterator[Breach]:
    facts = operator_facts().get(choice.operator)
    known = name in catalogue()
    if not known:
        yield Breach("unknown-type", f"{name} is not an entity type. To list them, run: incognote policy explain", name)
    if not 0 <= choice.threshold <= 1:
        yield Breach("out-of-range", f"{name}: threshold is {choice.threshold:g}, but must be between 0 and 1", name)
    if facts is None:
        names = ", ".join(operator_facts())
        yield Breach("unknown-operator", f'{name}: there is no operator "{choice.operator}". Use one of: {names}', name)
        return
    if known and not facts.serves(name):
        suited = ", ".join(facts.suits)
        said = (
            f"{name}: {choice.operator} supports only {suited} and their subtypes. Use another operator, such as label"
        )
        yield Breach("unsuited", said, name)
    for key, value in choice.params.items():
        if key not in facts.params:
            names = ", ".join(facts.params) or "none"
            yield Breach("unknown-param", f'{name}: {choice.operator} has no parameter "{key}". Known: {names}', name)
        elif not facts.params[key].accepts(value):
            yield Breach("bad-param", f"{name}: {key} of {choice.operator} must be {facts.params[key].wanted}", name)


def _reach(policy: Policy) -> Iterator[Breach]:
    types = catalogue()
    for name in policy.priority:
        if name not in types:
            yield Breach("unknown-type", f"priority: {name} is not an entity type", name)
        elif kept := next((t for t in types if name in types.lineage(t) and not policy.replaces(t)), None):
            said = f"priority: {kept} is not replaced, so it would leave the identifiers that overlap it in the text"
            yield Breach("kept-first", f"{said}. Give it an operator, or remove {name}", name)
    for name in policy.without:
        if name not in types:
            yield Breach("unknown-type", f"without: {name} is not an entity type", name)
        elif (served := policy.serves(name)) is not None:
            yield Breach(
                "unreachable",
                f"without: {name} is still replaced, as {served}. To leave it unchanged, write "
                f'[types.{name}] operator = "keep"',
                name,
            )
