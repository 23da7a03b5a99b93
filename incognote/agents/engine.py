"""The engine of a Deidentifier: policy, registry, detectors, key and models. Built once, shared by all its records."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from incognote.agents.detection import LLM, Detection
from incognote.errors import SettingError
from incognote.keys import Keyring
from incognote.schemas.lint import voice_of
from incognote.schemas.policy import Policy, load_policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.models import Models, NoteReader
    from incognote.agents.relexing import Relexing
    from incognote.agents.vaulting import Vault
    from incognote.detectors import Detector
    from incognote.llm.base import LanguageModel
    from incognote.llm.recording import Recording
    from incognote.schemas.choices import Voice
    from incognote.schemas.registry import Registry
    from incognote.speech.asr.base import SpeechRecognizer


class Engine:
    """Everything that determines an output: policy, registry, detectors, key, and models. All records share one engine.

    Thread-safe after construction.

    Args:
        models: used instead of the models in the settings.
        keyring: used instead of the key in the settings.
        own_thread: call the models on a separate thread.
        detectors: used in addition to the detectors in the settings.

    Raises:
        SettingError, UnknownName, PolicyProblem, SchemaProblem, KeyMissing: the configuration cannot be used.
    """

    def __init__(
        self, settings: Settings, models: Sequence[LanguageModel] = (), keyring: Keyring | None = None, *,
        own_thread: bool = False, detectors: Sequence[Detector] = (),
    ) -> None:  # fmt: skip
        self.settings = settings
        self.domain = settings.domain
        self.policy: Policy = load_policy(settings.policy)
        self.keyring: Keyring = settings.keyring() if keyring is None else keyring
        self.detection = Detection(
            settings.detectors,
            settings.packs,
            settings.roster,
            point=settings.encoder_point,
            fast=settings.encoder_fast,
            objects=detectors,
            languages=settings.languages,
            read=self._languages_read(models),
        )
        self.recording = self._recording(models)
        self.models = self._models(models, own_thread=own_thread)
        """The language models, for reading notes and for agents; None if none is used."""
        self.reader = self._reader()
        if settings.schemas:
            _ = self.registry
        self._masks = _masks_version()

    def _languages_read(self, models: Sequence[LanguageModel]) -> frozenset[str]:
        """Return the languages that the language models read; empty if they do not read all of each text."""
        names = [model.name for model in models] or self.settings.model_names
        if not names or not self._reads or self.policy.models.route != "all":
            return frozenset()
        from incognote.agents.models import languages_read

        return languages_read(self.settings, names)

    @cached_property
    def _reads(self) -> bool:
        """Whether the configured models read notes. They do unless `detectors` is set without `llm`."""
        return LLM in self.settings.detectors or "detectors" not in self.settings.model_fields_set

    @cached_property
    def shares(self) -> bool:
        """Whether short texts of several records of one patient share requests."""
        return self.reader is not None and self.reader.composes and self.policy.models.route != "embedded"

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Open documents within the block, and read their pages, pictures, and sound, as the settings say."""
        from incognote.formats.audio.hearing import Hearing, recordings_are_heard
        from incognote.formats.images.reading import languages_of_pages, whole_regions
        from incognote.formats.pictures import pictures_are_read

        seed = self.keyring.mac("voices", "")
        hearing = Hearing(self._recognizer, self.settings.audio_margin, self.voice, seed)
        with (
            languages_of_pages(self.detection.reads),
            pictures_are_read(read=self.settings.pictures == "read"),
            whole_regions(go=self.policy.replaces("REGION")),
            recordings_are_heard(hearing),
        ):
            yield

    @cached_property
    def _recognizer(self) -> str | SpeechRecognizer:
        if "/" not in self.settings.recognizer:
            return self.settings.recognizer
        from incognote.agents.models import recognizer_of

        return recognizer_of(self.settings)

    @cached_property
    def voice(self) -> Voice:
        """What happens to voices in recordings: what the policy or the settings say, whichever leaves less."""
        from incognote.formats.audio.hearing import stricter

        return stricter(self.settings.voice, voice_of(self.policy))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The languages that the detectors or the language models read, and the accepted languages."""
        return self.detection.reads | (self.reader.reads if self.reader else frozenset())

    @cached_property
    def has_agents(self) -> bool:
        """Whether a model runs the agents of relexicalization."""
        return bool(self.settings.agents) and bool(self.policy.surrogates)

    def _recording(self, models: Sequence[LanguageModel]) -> Recording | None:
        """Return the recording, which stores the answers of models and of the index; None if it is not needed."""
        asked = (bool(models) or self.settings.model is not None) and (self._reads or self.has_agents)
        if not asked and (not self.policy.surrogates or self.settings.recording is None):
            return None
        from incognote.agents.models import open_recording

        return open_recording(self.settings, self.keyring)

    def _models(self, models: Sequence[LanguageModel], *, own_thread: bool) -> Models | None:
        """Return the configured models; None if no model is called."""
        settings = self.settings
        if not models and settings.model is None:
            if LLM in settings.detectors:
                raise SettingError("detectors: llm needs a model. Set model (--model, INCOGNOTE_MODEL).")
            if self.has_agents:
                raise SettingError("agents: a model is needed. Set model (--model, INCOGNOTE_MODEL).")
            return None
        if not (self._reads or self.has_agents):
            return None
        from incognote.agents.models import Models

        return Models(settings, self.policy, self.recording, models, own_thread=own_thread)

    def _reader(self) -> NoteReader | None:
        """Return the reader that uses language models; None if no model reads notes."""
        if self.models is None or not self._reads:
            return None
        from incognote.agents.models import NoteReader

        return NoteReader(self.settings, self.policy, self.models)

    @cached_property
    def registry(self) -> Registry:
        from incognote.schemas.registry import Registry

        return Registry(self.settings.schemas)

    @cached_property
    def relexing(self) -> Relexing:
        """The object that requests surrogates.

        Raises:
            SettingError, KeyMissing: no index or no persistent key is configured.
        """
        from incognote.agents.relexing import Relexing

        return Relexing(self.settings, self.policy, self.keyring, self.models, self.recording)

    @cached_property
    def vault(self) -> Vault | None:
        """The object that keeps what is removed from images; None if the policy does not want it.

        Raises:
            SettingError, KeyMissing: no index or no persistent key is configured.
        """
        kept = self.policy.pages.vault
        if not kept:
            return None
        from incognote.agents.vaulting import Vault

        return Vault(self.settings, self.keyring, pixels=kept == "pixels")

    @cached_property
    def versions(self) -> dict[str, str]:
        """Content hashes, for manifests, of everything that decides an answer."""
        versions = {f"detector:{d.name}": d.version for d in self.detection.detectors}
        if self.has_agents:
            versions |= self.relexing.agents.versions
        if self._masks is not None:
            versions["dicom-masks"] = self._masks
        versions["languages"] = " ".join(sorted(self.detection.reads))
        # a pack's plain hash could be guessed from a short staff list, so the manifest has a keyed hash
        return {**versions, **{f"pack:{i}": self.mac_id(p.version) for i, p in enumerate(self.detection.packs)}}

    @property
    def hits(self) -> int:
        """The number of answers that came from the recording."""
        return self.models.hits if self.models else 0

    async def aclose(self) -> None:
        """Close connections and the recording."""
        if "relexing" in self.__dict__:
            await self.relexing.aclose()
        if self.__dict__.get("vault") is not None:
            await self.__dict__["vault"].aclose()
        if self.models is not None:
            await self.models.aclose()
        if self.recording is not None:
            self.recording.close()

    def mac_id(self, value: str) -> str:
        """Return a keyed short name for something whose own name may be PHI."""
        return self.keyring.mac("names", value).hex()[:16]


def _masks_version() -> str | None:
    """Return the version of the masks for DICOM; None if a hospital has none of its own."""
    if not os.environ.get("INCOGNOTE_DICOM_MASKS"):  # notes need no module of a format
        return None
    from incognote.formats.dicom.masks import masks_version

    return masks_version()
