"""The specification of an experiment, read from one YAML file.

    name: passes
    corpora:
      - {name: notes, path: notes.jsonl, synthetic: true, split: dev}
    systems:
      - {name: rules, detectors: [rules]}
      - {name: both, detectors: [rules, llm], policy: strict, settings: {temperature: 0.2}}
    models:
      - {name: openai/gpt-4o-mini}
    prompts: [extract/v3]
    chunk_words: [256]
    passes: [need, 1, 2]
    votes: [1]
    seeds: [0]
    budget_usd: 5
    jobs: 2

Paths are relative to the file. Every combination is a cell. A system without `llm` has one cell per corpus. A seed is a
repetition: each seed sends new requests to the models. A model is identified by its name, even at another address.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from incognote.errors import MissingExtra, SettingError
from incognote.settings import CHUNK_WORDS, PROMPT, Passes

LLM = "llm"
TUNABLE = frozenset({
    "packs", "roster", "prices", "temperature", "spread", "vote_rule", "chunk_overlap", "context_tokens", "max_tokens",
    "composite", "max_characters", "model_timeout", "model_attempts", "model_slots",
})  # fmt: skip
"""The settings that a system may set. The others are an axis of their own or do not affect detection."""
_PATHS = ("packs", "roster", "prices")
_Name = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Corpus(_Part):
    """Annotated texts in any format of `evaluation.formats`. Each opening of a `test` split is logged (`seal`)."""

    name: _Name
    path: Path
    synthetic: bool
    split: Literal["dev", "test"] = "dev"


class System(_Part):
    """Detectors with a policy (a file, or the name of a shipped one), and settings from `TUNABLE`."""

    name: _Name
    detectors: Annotated[tuple[_Name, ...], Field(min_length=1)]
    policy: _Name = "strict"
    settings: dict[str, Any] = {}

    @property
    def asks(self) -> bool:
        """Whether the system uses a language model."""
        return LLM in self.detectors

    @model_validator(mode="after")
    def _settings_are_tunable(self) -> Self:
        unknown = sorted(set(self.settings) - TUNABLE)
        if unknown:
            raise ValueError(f"settings has no {', '.join(unknown)}. Allowed: {', '.join(sorted(TUNABLE))}")
        return self


class Model(_Part):
    """A language model as `vendor/name`, and its address if it is not the vendor's own."""

    name: Annotated[str, Field(pattern=r"^[^/,\s]+/[^,\s]+$")]
    api_base: str | None = None


class Spec(_Part):
    """An experiment.

    Attributes:
        budget_usd, budget_tokens: limits over all runs of the experiment; calls in progress may finish.
        jobs: the number of cells that run in parallel; it does not change the results.
    """

    name: _Name
    corpora: Annotated[tuple[Corpus, ...], Field(min_length=1)]
    systems: Annotated[tuple[System, ...], Field(min_length=1)]
    models: tuple[Model, ...] = ()
    prompts: Annotated[tuple[_Name, ...], Field(min_length=1)] = (PROMPT,)
    chunk_words: Annotated[tuple[Annotated[int, Field(ge=16)], ...], Field(min_length=1)] = (CHUNK_WORDS,)
    passes: Annotated[tuple[Passes, ...], Field(min_length=1)] = ("need",)
    votes: Annotated[tuple[Annotated[int, Field(ge=1, le=32)], ...], Field(min_length=1)] = (1,)
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    budget_usd: Annotated[float, Field(gt=0)] | None = None
    budget_tokens: Annotated[int, Field(gt=0)] | None = None
    jobs: Annotated[int, Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _nothing_is_named_twice(self) -> Self:
        axes: dict[str, Sequence[Any]] = {
            "corpora": [corpus.name for corpus in self.corpora],
            "systems": [system.name for system in self.systems],
            "models": [model.name for model in self.models],
            **{axis: getattr(self, axis) for axis in ("prompts", "chunk_words", "passes", "votes", "seeds")},
        }
        twice = [axis for axis, values in axes.items() if len(set(values)) < len(values)]
        if twice:
            raise ValueError(f"{', '.join(twice)}: an entry is repeated")
        if any(system.asks for system in self.systems) and not self.models:
            raise ValueError("models: the detector llm needs a model")
        return self

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over its content, ignoring comments and the order of keys."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]


def load(path: str | Path) -> Spec:
    """Load an experiment from a file. Its paths stay relative to the file, whose location is not part of the hash.

    Raises:
        MissingExtra: PyYAML is not installed.
        SettingError: the file cannot be read, or something in it is unknown or malformed. The message names it.
    """
    place = Path(path)
    try:
        spec = Spec.model_validate(_read(place))
    except ValidationError as error:
        raise SettingError(f"The experiment is malformed: {'; '.join(_faults(error))}.") from None
    return spec


def _faults(error: ValidationError) -> list[str]:
    """The errors by location. A list that is too short only because of its faulty items is not reported."""
    found = error.errors(include_input=False, include_url=False)
    places = {e["loc"][:-1] for e in found if len(e["loc"]) > 1}
    return [
        ": ".join([*([".".join(map(str, e["loc"]))] if e["loc"] else []), _said(e["type"], e["msg"])])
        for e in found
        if not (e["type"] == "too_short" and any(place[: len(e["loc"])] == e["loc"] for place in places))
    ]


def _said(kind: str, message: str) -> str:
    return "unknown key" if kind == "extra_forbidden" else message.removeprefix("Value error, ")


def _read(place: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra("evaluation", "an experiment's YAML") from None
    try:
        return yaml.safe_load(place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise SettingError("The file of the experiment cannot be read. Check the path.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" near line {mark.line + 1}" if mark is not None else ""
        raise SettingError(f"The file of the experiment is not valid YAML{where}.") from None


def resolved(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """A system's settings with its paths resolved against the experiment's folder."""
    made = dict(settings)
    for name in _PATHS:
        value = made.get(name)
        if isinstance(value, str):
            made[name] = str(folder / value)
        elif isinstance(value, list):
            made[name] = [str(folder / str(each)) for each in value]
    return made
