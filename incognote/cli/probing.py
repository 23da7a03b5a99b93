"""The checks of `incognote doctor` for language models. Each model is asked one invented question."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, NamedTuple

from incognote.cli.engine import names_of
from incognote.runs.units import dollars, duration, passes_shown

if TYPE_CHECKING:
    from incognote.llm.base import LanguageModel, Usage
    from incognote.llm.opening import ModelSpec
    from incognote.schemas.policy import Policy
    from incognote.settings import Settings

_CHARACTERS_A_TOKEN = 4
_CHARACTERS_A_WORD = 6  # clinical prose, including the space
_PHRASES, _TOKENS_A_PHRASE = 12, 8  # assumed for a reply


class Check(NamedTuple):
    """The result of one check: state, topic, finding, and remedy ("" if none)."""

    state: Literal["ok", "off", "warn", "fail"]
    about: str
    seen: str
    remedy: str = ""


class Estimate(NamedTuple):
    """The estimated token usage of one note, and the assumptions."""

    usage: Usage
    assumed: str


def models(settings: Settings) -> Iterator[Check]:
    """Yield several checks per model; none if no model is named. Only an invented sentence is sent.

    Raises:
        IncognoteError: a run with these settings would be refused. Nothing was sent.
    """
    from incognote.agents.models import Models
    from incognote.agents.runtime import Runtime
    from incognote.llm.opening import ModelSpec
    from incognote.schemas.policy import load_policy

    names = names_of(settings)
    if not names:
        return
    policy = load_policy(settings.policy)
    if settings.batch and not policy.models.allow_provider_storage:
        remedy = "allow_provider_storage = true under [models] in the policy, or leave out --batch"
        yield Check("fail", "batch", f"the policy {policy.name} does not let the provider store notes", remedy)
    specs = [
        ModelSpec(name, settings.home, settings.for_model(name).api_base, prices=settings.prices) for name in names
    ]
    if settings.batch:
        yield from _batch(specs)
    before = [line for spec in specs for line in (*_package(spec), *_agreement(spec))]
    yield from before
    if all(line.state == "ok" for line in before):
        opened = Models(_straight(settings, names), policy)
        try:
            for spec, model in zip(specs, opened.all, strict=True):
                yield from _probed(spec, model)
        finally:
            Runtime.shared().run(opened.aclose())
    estimate = _estimate(settings, names[0], policy)
    for spec in specs:
        yield from _cost(spec, estimate, batch=settings.batch)


def _batch(specs: list[ModelSpec]) -> Iterator[Check]:
    from incognote.errors import SettingError
    from incognote.llm.opening import check_batch

    for spec in specs:
        try:
            check_batch(spec)
        except SettingError as error:
            yield Check("fail", "batch", f"{spec.model} cannot answer in batches", str(error))


def _straight(settings: Settings, names: list[str]) -> Settings:
    """Return settings that ask each model directly and only once, so that a missing model fails at once."""
    from incognote.settings import ModelSettings

    once = {"model_attempts": 1}
    tables = {
        name: settings.models.get(name, ModelSettings.model_validate({})).model_copy(update=once) for name in names
    }
    unrecorded = {"recording": None, "replay": False, "batch": False}
    return settings.model_copy(update={**unrecorded, "models": {**settings.models, **tables}})


def _package(spec: ModelSpec) -> Iterator[Check]:
    package = "openai" if spec.model.startswith("openai/") else "litellm"
    try:
        yield Check("ok", "llm", f"the extra is installed: {package} {version(package)}")
    except PackageNotFoundError:
        yield Check("fail", "llm", f"the extra is not installed: {package}", "pip install 'incognote[llm]'")


def _agreement(spec: ModelSpec) -> Iterator[Check]:
    """Check who agreed that the model may receive notes. Without an agreement, a run is refused."""
    from incognote.errors import EgressRefused
    from incognote.llm.agreements import Agreements
    from incognote.llm.egress import EgressAddress

    try:
        found = Agreements(spec.home).require(spec.model, spec.address)
    except EgressRefused:
        remedy = (
            f"incognote model agree {spec.model} --api-base {spec.address} --by NAME --baa REFERENCE --retention-days N"
        )
        yield Check("fail", "agreement", f"{spec.model} is not on this machine, and no agreement is recorded", remedy)
        return
    where = f"{spec.model} at {EgressAddress.of(spec.address)}"
    if found is None:
        yield Check("ok", "agreement", f"{where} is on this machine and needs no agreement")
    else:
        yield Check("ok", "agreement", f"{where}: by {found.by} at {found.at}, terms {found.terms.baa}")


def _probed(spec: ModelSpec, model: LanguageModel) -> Iterator[Check]:
    from incognote.agents.runtime import Runtime
    from incognote.cli.reading import omissions
    from incognote.llm.base import left_out_by
    from incognote.llm.probe import probe

    seen = Runtime.shared().run(probe(model))
    if seen.answers and not seen.obeys_schema:  # one status 500 does not prove that the server rejects schemas
        seen = Runtime.shared().run(probe(model))
    if not seen.answers:
        yield Check("fail", "model", f"no answer after {duration(seen.seconds)}: {seen.problem}")
        return
    tokens = f"{seen.usage.input:,} tokens in, {seen.usage.output:,} out"
    yield Check("ok", "model", f"{seen.model} answers in {duration(seen.seconds)} ({tokens})")
    if seen.model != spec.model:
        yield Check("warn", "model", f"{spec.model} does not answer; a fallback did")
    if rejected := left_out_by(model):
        remedy = "replies are checked anyway; a server that constrains them needs fewer calls"
        yield Check("warn", "requests", f"the server does not support {omissions(rejected)}", remedy)
    if seen.obeys_schema:
        yield Check("ok", "replies", "follow the JSON schema without repair")
    else:
        remedy = "replies are repaired or requested again; expect more calls and more records for review"
        yield Check("warn", "replies", f"do not follow the JSON schema (this reply ended with {seen.finish})", remedy)


def _cost(spec: ModelSpec, estimate: Estimate, *, batch: bool) -> Iterator[Check]:
    from incognote.llm.opening import price_of
    from incognote.llm.probe import cost_per_1000_notes

    cost = cost_per_1000_notes(estimate.usage, price_of(spec))
    if cost is None:
        seen = f"no price is known for {spec.model}; assumed: a note of {estimate.assumed}"
        yield Check("warn", "cost", seen, "add a row for it to the file in the setting `prices`")
    else:
        cost = cost / 2 if batch else cost
        yield Check("ok", "cost", f"{spec.model}: {dollars(cost)} per 1,000 notes of {estimate.assumed}")


def _estimate(settings: Settings, name: str, policy: Policy) -> Estimate:
    """Estimate one note with all its calls to one model."""
    from incognote.extraction.need import mean_passes
    from incognote.llm.base import Usage
    from incognote.prompts.loader import load

    own = settings.for_model(name)
    prompt = load(own.prompt)
    types = prompt.types(policy)
    rendered = prompt.render([""], types)
    around = (len(rendered.system) + len(rendered.user)) // _CHARACTERS_A_TOKEN
    taken = around + own.chunk_words * _CHARACTERS_A_WORD // _CHARACTERS_A_TOKEN
    keys = len(json.dumps({name: [] for name in types})) // _CHARACTERS_A_TOKEN if rendered.strict else 0
    reply = keys + _PHRASES * _TOKENS_A_PHRASE
    calls = mean_passes(own.passes) * own.votes
    votes = f", {own.votes} votes" if own.votes > 1 else ""
    return Estimate(
        Usage(input=int(calls * taken), output=int(calls * reply), calls=math.ceil(calls)),
        f"1 chunk of {own.chunk_words} words, {passes_shown(own.passes)}{votes}: {calls:g} calls, {taken:,} tokens in "
        f"(the prompt {around:,}, its characters / {_CHARACTERS_A_TOKEN}) and {reply:,} out each",
    )
