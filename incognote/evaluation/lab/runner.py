"""Run a prompt on annotated texts and ask the same model questions, with one client, one recording, one budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from incognote.agents.runtime import Runtime
from incognote.errors import ModelProblem, ModelUnavailable, SettingError
from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.experiments.meter import Metered, SpendingLedger
from incognote.evaluation.experiments.plan import UsageEstimate, reading
from incognote.extraction.chunks import chunks
from incognote.extraction.need import mean_passes
from incognote.files.atomic import exclusive
from incognote.llm.base import LanguageModel, Reply, Request, Usage
from incognote.llm.opening import ModelSpec, open_model, price_of
from incognote.llm.recording import Recorded, Recording
from incognote.prompts.loader import load
from incognote.schemas.policy import Policy, load_policy
from incognote.sdk import Deidentifier
from incognote.settings import CHUNK_WORDS, Passes, Settings

_BATCH = 32
Watch = Callable[[int], None]
"""Called in the caller's thread, with the number of documents just read."""


@dataclass(frozen=True, slots=True)
class ModelRequestOptions:
    """How a model is asked.

    Args:
        model: vendor/name.
        detectors: their findings are combined; `llm` must be among them.
        synthetic: whether the texts are made up. If so, replies are stored in clear. Otherwise the key encrypts them.
        budget_usd: for all runs in one folder.
    """

    model: str
    policy: str = "strict"
    detectors: tuple[str, ...] = ("rules", "llm")
    api_base: str | None = None
    passes: Passes = 1
    chunk_words: int = CHUNK_WORDS
    synthetic: bool = False
    budget_usd: float | None = None
    config: str | None = field(default=None, repr=False)

    def settings(self) -> Settings:
        """Return the effective settings.

        Raises:
            SettingError: `llm` is not among the detectors, a value is malformed, or a configured setting would override
                what is measured.
        """
        if "llm" not in self.detectors:
            raise SettingError("detectors must include llm, because its prompt is measured.")
        words = {"policy": self.policy, "detectors": self.detectors, "api_base": self.api_base}
        asking = {"passes": self.passes, "chunk_words": self.chunk_words}
        made = Settings.load(self.config, **words, **asking)
        if made.budget_usd is not None or made.budget_tokens is not None:
            raise SettingError(
                "budget_usd, budget_tokens: --budget-usd sets the budget here. Remove them from the settings."
            )
        own = made.models.get(self.model)
        if own is not None and (set_ := sorted(own.model_fields_set & {"prompt", "passes", "chunk_words"})):
            raise SettingError(f"The settings for {self.model} set {', '.join(set_)}. Remove them.")
        return made

    def spec(self) -> ModelSpec:
        """How to open the model. There is no fallback, because its answers would count as the model's own."""
        own = self.settings().for_model(self.model)
        key = own.api_key.get_secret_value() if own.api_key else None
        return ModelSpec(
            self.model, own.home, api_base=self.api_base or own.api_base, api_key=key, timeout=own.model_timeout,
            attempts=own.model_attempts, slots=own.model_slots, prices=own.prices,
        )  # fmt: skip


class PromptRunner:
    """Runs prompts on documents. Use it in a `with` statement, which keeps other runs out of the folder.

    Args:
        folder: for replies and the ledger of calls, readable by its owner only.
        how: how the model is asked.
        opened: opens the model; by default according to the settings, under its agreement.

    Raises:
        EgressRefused, MissingExtra: the model may not be asked, or cannot be.
        SettingError: there is a budget in US$, but the price is not known.
        KeyMissing: the texts are not synthetic, and no key is configured to encrypt the recording.
        IncognoteError: another run is writing to the folder.
    """

    def __init__(
        self, folder: Path, how: ModelRequestOptions, opened: Callable[[], LanguageModel] | None = None
    ) -> None:
        self.how, self.folder = how, folder
        self.policy: Policy = load_policy(how.policy)
        self._settings = how.settings()
        if opened is None and how.budget_usd is not None and price_of(how.spec()) is None:
            raise SettingError(
                f"budget_usd: no price is known for {how.model}. Add it to a file in the setting `prices`."
            )
        self._open = opened or (lambda: open_model(how.spec()))
        Runtime.shared().run(self._open().aclose())  # fail before anything is written
        self._lock = exclusive(folder, private=True)

    def __enter__(self) -> Self:
        self._lock.__enter__()
        keyring = None if self.how.synthetic else self._settings.keyring(persistent=True)
        place = self.folder / ("replies.jsonl" if self.how.synthetic else "replies.sealed")
        self._recording = Recording(place, keyring, plain=self.how.synthetic)
        self._ledger = SpendingLedger(self.folder / "spent.jsonl", self.how.budget_usd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._recording.close()
        self._lock.__exit__(kind, error, trace)

    @property
    def paid(self) -> Usage:
        """The usage of all runs in this folder."""
        return self._ledger.spent

    @property
    def before(self) -> Usage:
        """The usage before this run."""
        return self._ledger.before

    def found(self, prompt: str, gold: Sequence[Gold], watch: Watch | None = None) -> list[tuple[LabeledSpan, ...]]:
        """Run the detectors on each document, with this prompt for the model.

        If the model declines a document, nothing was found in it.

        Raises:
            ModelUnavailable: a request was not answered, or the budget is spent. The answers so far are kept.
        """
        meter = Metered(self._open(), self._ledger, load(prompt).version)
        model = Recorded(meter, self._recording)
        how = self.how
        words: dict[str, Any] = {"passes": how.passes, "chunk_words": how.chunk_words, "detectors": how.detectors}
        made: list[tuple[LabeledSpan, ...]] = []
        with Deidentifier(how.policy, config=how.config, model=model, prompt=prompt, **words) as deid:
            for at in range(0, len(gold), _BATCH):
                for spans in deid.detect_each([document.text for document in gold[at : at + _BATCH]]):
                    read = () if isinstance(spans, ModelProblem) else spans
                    made.append(tuple(LabeledSpan(s.start, s.end, s.type) for s in read))
                    if watch is not None:
                        watch(1)
                if meter.unserved:
                    raise ModelUnavailable(
                        "The model did not answer, or the budget is spent. Run the same command again, if needed "
                        "with a larger --budget-usd. Nothing is paid for twice."
                    )
        return made

    def ask(self, request: Request) -> Reply:
        """Ask for one reply. It comes from the recording if it is there.

        Raises:
            ModelProblem: from the model; or the budget is spent.
        """
        model = Recorded(Metered(self._open(), self._ledger, "propose"), self._recording)

        async def answered() -> Reply:
            try:
                return await model.complete(request)
            finally:
                await model.aclose()

        return Runtime.shared().run(answered())

    def estimate(self, prompt: str, gold: Sequence[Gold], times: int) -> UsageEstimate:
        """Estimate the usage for reading the documents with a prompt this many times."""
        pieces = [chunk for one in gold for chunk in chunks(one.text, self.how.chunk_words)]
        return reading(pieces, mean_passes(self.how.passes) * times, prompt, self.policy, price_of(self.how.spec()))
