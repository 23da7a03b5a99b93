"""The four agents of relexicalization: embedded agents, or a language model if the settings say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.agents.models import Models
from incognote.errors import SettingError
from incognote.llm.base import Usage
from incognote.relex.agents.base import EmbeddedClusterer, EmbeddedQuerier, EmbeddedReplacer, EmbeddedValidator
from incognote.relex.agents.llm import (
    DoubtfulClusterer,
    LlmClusterer,
    LlmQuerier,
    LlmReplacer,
    LlmValidator,
    ModelAsker,
)
from incognote.relex.batch import Agents
from incognote.relex.generate import Choices, Generators
from incognote.schemas.policy import Policy
from incognote.settings import AGENTS, Settings


class RelexAgents:
    """The four agents, and the costs of those that use a model.

    Args:
        models: the first model answers for the agents that the settings name, within the shared budget.
        choices: the policy's options for surrogates.

    Raises:
        SettingError: the policy does not allow models to read notes, or batches are configured.
    """

    def __init__(self, settings: Settings, policy: Policy, models: Models | None, choices: Choices) -> None:
        played = settings.agents if models is not None else ()
        doubtful = settings.agents_for == "doubtful"
        if doubtful:  # the embedded agents have no doubts about search words and draws
            played = tuple(name for name in played if name in ("cluster", "decision"))
        if played and policy.models.route == "embedded":
            raise SettingError(
                f'agents: the policy {policy.name} does not let a model read notes (models.route = "embedded").'
            )
        if played and settings.batch:
            raise SettingError("agents: the steps run one after the other, and a batch takes hours. Remove batch.")
        self._askers = {name: self._asker(name, models, policy) for name in played} if models is not None else {}
        self._usage: dict[str, Usage] = {name: Usage() for name in played}
        ask = self._askers
        self._replacer = LlmReplacer(ask["replacement"], choices=choices) if "replacement" in ask else None
        clusterer = LlmClusterer(ask["cluster"]) if "cluster" in ask else None
        self.all = Agents(
            (DoubtfulClusterer(clusterer) if doubtful else clusterer) if clusterer else EmbeddedClusterer(),
            LlmQuerier(ask["query"]) if "query" in ask else EmbeddedQuerier(),
            LlmValidator(ask["decision"]) if "decision" in ask else EmbeddedValidator(),
            self._replacer or EmbeddedReplacer(Generators(choices)),
        )

    def _asker(self, name: str, models: Models, policy: Policy) -> ModelAsker:
        def take(usage: Usage) -> None:
            self._usage[name] += usage
            models.budget.take(usage)

        return ModelAsker(
            models.all[0],
            consents=policy.models.on_failure == "embedded",
            tally=take,
            exhausted=lambda: models.budget.exhausted,
            max_tokens=models.first.max_tokens,
        )

    @property
    def versions(self) -> dict[str, str]:
        """Return, for manifests, the implementation of each agent and its prompt version."""
        four = (self.all.clusterer, self.all.querier, self.all.validator, self.all.replacer)
        return {f"agent:{name}": f"{agent.name} {agent.version}" for name, agent in zip(AGENTS, four, strict=True)}

    def counts(self) -> dict[str, Any] | None:
        """Return what the model's agents did so far, in counts and codes; None without such agents.

        Returns:
            By agent: calls, tokens_in, tokens_out, usd (None if a price is unknown), faults of its replies by code,
            and stood_in (how often the embedded agent answered instead, by reason). For `replacement` also
            drawn_instead: the number of its substitutes that were already taken.
        """
        if not self._askers:
            return None
        by_agent: dict[str, Any] = {}
        for name, asker in self._askers.items():
            used = self._usage[name]
            by_agent[name] = {
                "calls": used.calls,
                "tokens_in": used.input,
                "tokens_out": used.output,
                "usd": used.usd,
                "faults": dict(sorted(asker.faults.items())),
                "stood_in": dict(sorted(asker.stood_in.items())),
            }
        if self._replacer is not None:
            by_agent["replacement"]["drawn_instead"] = sum(self._replacer.refused.values())
        return by_agent


def choices_of(policy: Policy) -> Choices:
    """Return the surrogate options: places from CITY, ages from AGE, dates from DATE, or the type that serves each."""
    params = {name: _params(policy, kind) for name, kind in (("place", "CITY"), ("age", "AGE"), ("date", "DATE"))}
    default = Choices()
    return Choices(
        places=params["place"].get("places", default.places),
        ages=params["age"].get("ages", default.ages),
        band=params["age"].get("band", default.band),
        days=params["date"].get("days", default.days),
    )


def _params(policy: Policy, kind: str) -> Mapping[str, Any]:
    choice = policy.choice(kind)
    return choice.params if choice is not None and choice.operator == "surrogate" else {}
