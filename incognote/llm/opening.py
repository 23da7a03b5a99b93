"""Open a model from the settings: check the address, find the agreement, and add the wrappers."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from incognote.errors import SettingError
from incognote.llm.agreements import Agreements
from incognote.llm.base import LanguageModel
from incognote.llm.egress import Egress
from incognote.llm.lengths import Suspecting
from incognote.llm.prices import FREE, Price, Priced, Prices
from incognote.llm.retry import Fallbacks, Limited, Retrying
from incognote.llm.truncation import Checked
from incognote.plugins import installed, load

if TYPE_CHECKING:
    from incognote.llm.batchapi import BatchApi
    from incognote.llm.recording import Recording
    from incognote.speech.asr.base import SpeechRecognizer


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the settings describe it.

    Args:
        model: `vendor/model`. `openai/NAME` is any OpenAI-compatible address; all others are litellm's vendors.
        home: the folder with the agreements.
        api_base: the address; None for the vendor's own, if known.
        api_key: None for the vendor's usual variable (OPENAI_API_KEY ...). An address on the loopback needs none.
        timeout: for one complete reply, in seconds.
        attempts: the total number of tries while the model is unavailable.
        slots: concurrent requests.
        context: tokens of a request and its reply, for servers that are told how much to reserve (Ollama).
        fallbacks: the models to ask when this one fails, in this order.
        prices: the user's own price table.
        permit: called before each request is sent. An error that it raises stops the request.

    Raises:
        SettingError: a value is out of its range. The message names it.
    """

    model: str
    home: Path
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    attempts: int = 5
    slots: int = 16
    context: int = 8192
    fallbacks: tuple[ModelSpec, ...] = ()
    prices: Path | None = None
    permit: Callable[[], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vendor, _, name = self.model.partition("/")
        if not vendor or not name:
            raise SettingError("model must be VENDOR/NAME, such as openai/gpt-4o-mini.")
        if self.timeout <= 0:
            raise SettingError("timeout must be more than 0 seconds.")
        for setting in ("attempts", "slots"):
            if getattr(self, setting) < 1:
                raise SettingError(f"{setting} must be at least 1.")

    @property
    def address(self) -> str:
        """The api_base in effect.

        Raises:
            SettingError: none is given, and the vendor's address is not known.
        """
        vendor = self.model.partition("/")[0]
        address = self.api_base or _known().get(vendor)
        if address is None:
            raise SettingError(f"api_base: no address is known for {vendor}. Set api_base.")
        return address


def open_model(spec: ModelSpec) -> LanguageModel:
    """Open a model that is ready for requests. Nothing is sent yet.

    Raises:
        EgressRefused: plain http to another machine, or no recorded agreement for a model on another machine.
        MissingExtra: the extra `llm` is not installed.
        SettingError: a malformed address or price table, a missing key, an unknown vendor.
    """
    specs = (spec, *_flat(spec.fallbacks))
    guards = [_admitted(each) for each in specs]  # all of them, before the first SDK is loaded
    models = [_wrapped(each, egress) for each, egress in zip(specs, guards, strict=True)]
    return models[0] if len(models) == 1 else Fallbacks(models)


def open_batch(spec: ModelSpec, recording: Recording, *, allow_provider_storage: bool) -> LanguageModel:
    """Open a model that answers in batches, at half the price. Replies are kept in the recording.

    Raises:
        PolicyProblem: the policy does not allow storing notes at the provider.
        SettingError: a vendor without a batch API that we know, or fallbacks, which batches do not support.
        EgressRefused, MissingExtra: as in `open_model`.
    """
    check_batch(spec)
    from incognote.llm.batch import BatchModel

    module, name = _BATCHES[spec.model.partition("/")[0]]
    egress = _admitted(spec)
    api: type[BatchApi] = getattr(import_module(f"incognote.llm.vendors.{module}"), name)
    return BatchModel(
        api(spec.model, api_base=spec.address, api_key=_key(spec, egress), egress=egress),
        recording,
        allow_provider_storage=allow_provider_storage,
        price=price_of(spec),
    )


def open_recognizer(spec: ModelSpec) -> SpeechRecognizer:
    """Open a speech recognizer behind a server: `openai/NAME`, or `whispercpp/NAME`. Nothing is sent yet.

    The rules for addresses, agreements, timeouts and tries are those of a language model.

    Raises:
        EgressRefused: plain http to another machine, or no recorded agreement for a model on another machine.
        MissingExtra: the extra `llm` is not installed.
        SettingError: another vendor, a malformed address, a missing key, or fallbacks, which it does not support.
    """
    from incognote.llm.vendors.transcription import PATHS, TranscriptionServer

    if spec.model.partition("/")[0] not in PATHS or spec.fallbacks:
        names = ", ".join(f"{name}/NAME" for name in PATHS)
        raise SettingError(f"a speech recognizer is a single model without fallbacks, of one of these: {names}.")
    egress = _admitted(spec)
    return TranscriptionServer(
        spec.model, api_base=spec.address, api_key=_key(spec, egress), timeout=spec.timeout, attempts=spec.attempts,
        egress=egress, permit=spec.permit,
    )  # fmt: skip


def check_batch(spec: ModelSpec) -> None:
    """Check that a model can answer in batches.

    Raises:
        SettingError: a vendor without a batch API that we know, or fallbacks, which batches do not support.
    """
    if spec.model.partition("/")[0] not in _BATCHES or spec.fallbacks:
        names = ", ".join(f"{name}/NAME" for name in _BATCHES)
        raise SettingError(f"batch needs a single model without fallbacks, of one of these vendors: {names}.")


_BATCHES = {
    "openai": ("openai_batch", "OpenAIBatch"),
    "azure": ("openai_batch", "AzureBatch"),
    "anthropic": ("anthropic_batch", "AnthropicBatch"),
    "gemini": ("gemini_batch", "GeminiBatch"),
    "groq": ("openai_batch", "GroqBatch"),
    "mistral": ("openai_batch", "MistralBatch"),
}
"""Module and class of each vendor's batch API."""


def price_of(spec: ModelSpec) -> Price | None:
    """Return the price of a model: free on the loopback, None if it is unknown."""
    if Egress([spec.address]).loopback:
        return FREE
    return Prices.load(spec.prices).of(spec.model)


def _flat(specs: tuple[ModelSpec, ...]) -> list[ModelSpec]:
    return [each for spec in specs for each in (spec, *_flat(spec.fallbacks))]


def _admitted(spec: ModelSpec) -> Egress:
    """Return the egress guard of one model. It allows only this model's address, not those of its fallbacks."""
    egress = Egress([spec.address])
    Agreements(spec.home).require(spec.model, spec.address)
    return egress


def _wrapped(spec: ModelSpec, egress: Egress) -> LanguageModel:
    limited = Limited(Checked(Priced(_adapter(spec, egress), price_of(spec))), spec.slots, spec.permit)
    return Suspecting(Retrying(limited, spec.attempts) if spec.attempts > 1 else limited)


def _adapter(spec: ModelSpec, egress: Egress) -> LanguageModel:
    if spec.model.startswith("openai/"):
        from incognote.llm.vendors.chat import OpenAIModel

        key = _key(spec, egress)
        return OpenAIModel(spec.model, api_base=spec.address, api_key=key, timeout=spec.timeout, egress=egress)
    vendor = spec.model.partition("/")[0]
    if vendor in installed("incognote.models"):
        model: LanguageModel = load("incognote.models", vendor)(spec, egress)
        return model
    from incognote.llm.vendors.litellm_sdk import LiteLLMModel

    return LiteLLMModel(
        spec.model, api_base=spec.api_base, api_key=spec.api_key, timeout=spec.timeout, egress=egress,
        context=spec.context,
    )  # fmt: skip


def _key(spec: ModelSpec, egress: Egress) -> str:
    variable = f"{spec.model.partition('/')[0].upper()}_API_KEY"
    key = spec.api_key or os.environ.get(variable) or ("not-needed" if egress.loopback else None)
    if key is None:
        raise SettingError(f"api_key is missing. Set it, or set {variable}.")
    return key


@lru_cache(maxsize=1)
def _known() -> Mapping[str, str]:
    text = (files("incognote.llm.vendors") / "addresses.toml").read_text(encoding="utf-8")
    return {vendor: str(address) for vendor, address in tomllib.loads(text).items()}
