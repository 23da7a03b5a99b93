"""How a student is trained: the tables of the one TOML file that `distill.config` does not read, each checked."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from incognote.errors import SettingError
from incognote_training.student.shape import Part, Sizes, Switches

_Share = Annotated[float, Field(ge=0, le=1)]
_Weight = Annotated[float, Field(ge=0)]
_Count = Annotated[int, Field(ge=1)]
_ELSEWHERE = ("synth", "select", "annotate")


class Data(Part):
    """What is trained on, and what watches it.

    Attributes:
        files: JSONL files of documents. A document whose `source` is `template`, `injected` or not given counts as
            synthetic; any other was written or annotated one by one, and counts as authentic. A source may have
            several parts ("template+corrupted").
        without: sources, or parts of them, to leave out.
        synthetic_share: the share of synthetic documents among all (CIPHER Table 3); all there are of both when None.
        total: how many documents an epoch has; with a share and no total, as many as the smaller side has, so that
            every share makes an epoch of one size.
        repeat_authentic: how often an epoch holds each authentic document, where no share is asked for.
        development: annotated texts to watch recall and precision on, and to calibrate on; never trained on.
    """

    files: Annotated[tuple[Path, ...], Field(min_length=1)]
    without: tuple[str, ...] = ()
    synthetic_share: _Share | None = None
    total: _Count | None = None
    repeat_authentic: _Count = 1
    development: Path | None = None


class Losses(Part):
    """The parts of the loss and their weights; 0 turns one off.

    Attributes:
        gamma: the focal power; 0 is plain cross-entropy.
        soft: train on the votes as a distribution; without it on the tag with most votes.
        crf: the CRF's likelihood; needs `switches.crf`.
        early: the early exit's loss, over the full exit's.
        detection, preservation, compliance, consistency: Guan's λ1 to λ4.
        anneal: whether λ1 to λ3 follow his cosine schedule, down to `floor`.
    """

    gamma: _Weight = 2.0
    soft: bool = True
    crf: _Weight = 1.0
    early: _Weight = 0.5
    detection: _Weight = 1.0
    preservation: _Weight = 0.0
    compliance: _Weight = 0.1
    consistency: _Weight = 0.0
    anneal: bool = False
    floor: _Share = 0.1


class Augment(Part):
    """How often a view of a window is made harder.

    Attributes:
        lexicon: per unit, that the lexicon's features are blanked, so that unknown names are learned from context.
        pieces: per unit of a span, that its pieces are unknown.
        case: per window, that its case features are those of ALL CAPS, and as often of no capitals.
    """

    lexicon: _Share = 0.15
    pieces: _Share = 0.1
    case: _Share = 0.04


class Run(Part):
    """How long and how fast.

    Attributes:
        minutes, epochs, steps: training ends with the first of those that are given; at least one is.
            With `minutes` the learning rate follows the clock, so that two runs are not alike to the last digit.
        window, overlap: in pieces; overlap is the run time's alone.
        batch_pieces: places in a batch, padding included.
        rate, head_rate: the peak learning rates of the pretrained layers and of what is new.
        save_minutes, save_steps: a checkpoint every so often, whichever comes first.
        evaluate_minutes: a look at the development file every so often; 0 for one at the end.
        precision: `auto` takes bf16 where a child process survives it and finds it faster.
    """

    seed: int = 0
    minutes: Annotated[float, Field(gt=0)] | None = None
    epochs: _Count | None = None
    steps: _Count | None = None
    window: Annotated[int, Field(ge=16, le=512)] = 192
    overlap: Annotated[int, Field(ge=0)] = 32
    batch_pieces: _Count = 4096
    rate: Annotated[float, Field(gt=0)] = 2e-4
    head_rate: Annotated[float, Field(gt=0)] = 1e-3
    warmup: _Share = 0.06
    decay: _Weight = 0.01
    threads: _Count = 2
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    save_minutes: Annotated[float, Field(gt=0)] = 5.0
    save_steps: _Count | None = None
    evaluate_minutes: _Weight = 20.0

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.minutes is None and self.epochs is None and self.steps is None:
            raise ValueError("give minutes, epochs or steps")
        if self.overlap >= self.window - 2:
            raise ValueError("overlap must be smaller than window")
        return self


class Config(Part):
    """All of it. `base` is a folder with a BERT model, or "minilm" for the installed package."""

    base: str = "minilm"
    sizes: Sizes = Sizes()
    switches: Switches = Switches()
    losses: Losses = Losses()
    augment: Augment = Augment()
    data: Data
    run: Run

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.switches.exit_layer > self.sizes.layers:
            raise ValueError("switches.exit_layer must be at most sizes.layers")
        if self.run.window > self.sizes.positions:
            raise ValueError("run.window must be at most sizes.positions")
        return self

    @property
    def key(self) -> str:
        """16 hexadecimal digits of all that decides the result.

        Not of how often it is saved and watched; and of files the names, for a folder may be moved.
        """
        told = self.model_dump(mode="json")
        told["base"] = Path(self.base).name
        told["data"]["files"] = [path.name for path in self.data.files]
        told["data"]["development"] = self.data.development.name if self.data.development else None
        for name in ("save_minutes", "save_steps", "evaluate_minutes", "threads"):
            del told["run"][name]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path, changes: Mapping[str, Any] | None = None) -> Config:
    """Read a file; paths in it are relative to its folder.

    Args:
        changes: values to set over the file's, by dotted name ("run.minutes").

    Raises:
        SettingError: it cannot be read, is no TOML, or a value does not fit; the message names each field.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingError(f"{path.name} cannot be read as TOML") from None
    for name in _ELSEWHERE:
        told.pop(name, None)
    for name, value in (changes or {}).items():
        table = told
        *outer, last = name.split(".")
        for step in outer:
            table = table.setdefault(step, {})
        table[last] = value
    folder = path.parent.absolute()
    _resolve(told.get("data", {}), folder)
    base = told.get("base", "minilm")
    if isinstance(base, str) and base != "minilm":
        told["base"] = str(folder / base)
    return checked(told, path.name)


def checked(told: Mapping[str, Any], name: str) -> Config:
    """A configuration from its tables.

    Raises:
        SettingError: as `read`.
    """
    try:
        return Config.model_validate(told)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors(include_input=False)
        )
        raise SettingError(f"{name}: {'; '.join(faults)}") from None


def template() -> str:
    """The shipped configuration, a starting point to be copied."""
    return files("incognote_training.training").joinpath("default.toml").read_text(encoding="utf-8")


def _resolve(data: dict[str, Any], folder: Path) -> None:
    if isinstance(data.get("files"), list):
        data["files"] = [folder / each if isinstance(each, str) else each for each in data["files"]]
    if isinstance(data.get("development"), (str, Path)):
        data["development"] = folder / data["development"]
