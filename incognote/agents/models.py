"""The language models of a Deidentifier: opened from the settings once, with one budget and one recording for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incognote.errors import KeyMissing, SettingError
from incognote.extraction.budget import Budget
from incognote.keys import Keyring
from incognote.llm.aside import Aside
from incognote.llm.base import LanguageModel
from incognote.schemas.policy import Policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.llm.opening import ModelSpec
    from incognote.llm.recording import Recording


class Models:
    """Those that read notes and those that play agents are the same.

    Args:
        recording: keeps their answers; its owner closes it.
        given: instead of those the settings name: objects that serve the door's protocol.
        aside: ask them on a thread of their own (`llm.aside`), which pays where the processor is not yet the limit.

    Raises:
        SettingError, EgressRefused, PolicyProblem, MissingExtra: they cannot be asked as configured; nothing was sent.
    """

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        recording: Recording | None = None,
        given: Sequence[LanguageModel] = (),
        *,
        aside: bool = False,
    ) -> None:
        names = [name.strip() for name in (settings.model or "").split(",") if name.strip()]
        self.first: Settings = settings.for_model(names[0] if names else given[0].name)
        """The settings of the first one, which also say how all are asked."""
        self.all: tuple[LanguageModel, ...] = (
            tuple(_kept(model, recording, replay=settings.replay) for model in given)
            if given
            else tuple(_opened(settings, name, policy, recording, aside=aside) for name in names)
        )
        self.budget = Budget(settings.budget_tokens, settings.budget_usd)
        self.fewest_slots = min(settings.for_model(model.name).model_slots for model in self.all)

    @property
    def hits(self) -> int:
        """Answers that came from the recording."""
        return sum(getattr(model, "hits", 0) for model in self.all)

    async def aclose(self) -> None:
        """Close them."""
        for model in self.all:
            await model.aclose()


def open_recording(settings: Settings, keyring: Keyring) -> Recording | None:
    """The recording that the settings name.

    Raises:
        SettingError: none is named, and a replay or batches need one.
        KeyMissing: the key dies with this process.
    """
    if settings.recording is None:
        if settings.replay or settings.batch:
            word = "replay" if settings.replay else "batch"
            raise SettingError(f"{word}: name the recording (--recording) that answers come from and are kept in")
        return None
    if not keyring.persistent:
        raise KeyMissing("a recording is sealed, so it needs a persistent key: set key_file (INCOGNOTE_KEY_FILE)")
    from incognote.llm.recording import Recording

    return Recording(settings.recording, keyring)


def _kept(model: LanguageModel, recording: Recording | None, *, replay: bool = False) -> LanguageModel:
    """A model whose answers are kept in the recording, or come from it alone."""
    if recording is None:
        return model
    from incognote.llm.recording import Recorded, Replayed

    return Replayed(model.name, recording) if replay else Recorded(model, recording)


def _opened(
    settings: Settings, name: str, policy: Policy, recording: Recording | None, *, aside: bool
) -> LanguageModel:
    """One model of the settings, opened; of a replay only its name is needed."""
    from incognote.llm.opening import open_batch, open_model, price_of

    if recording is not None and settings.replay:
        from incognote.llm.recording import Replayed

        return Replayed(name, recording)
    spec = _spec(settings, name)
    if settings.budget_usd is not None and price_of(spec) is None:
        raise SettingError(f"budget_usd: no price is known for {name}: name a table (prices), or bound budget_tokens")
    if recording is not None and settings.batch:
        return open_batch(spec, recording, allow_provider_storage=policy.models.allow_provider_storage)
    model = open_model(spec)
    return _kept(Aside(model) if aside else model, recording)


def _spec(settings: Settings, name: str, *, last: bool = False) -> ModelSpec:
    """How to open a model, with what the settings say of it.

    Args:
        name: vendor/name, for a fallback also vendor/name@URL.
        last: it is a fallback, and has none itself.
    """
    from incognote.llm.opening import ModelSpec

    name, _, address = name.partition("@")
    own = settings.for_model(name)
    return ModelSpec(
        name,
        settings.home,
        api_base=address or own.api_base,
        api_key=own.api_key.get_secret_value() if own.api_key else None,
        timeout=own.model_timeout,
        attempts=own.model_attempts,
        slots=own.model_slots,
        fallbacks=() if last else tuple(_spec(settings, each, last=True) for each in own.fallbacks),
        prices=settings.prices,
    )
