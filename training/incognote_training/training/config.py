"""The training configuration: the tables of the TOML file that `incognote_training.config` does not read, validated."""

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
from incognote_training.student.shape import Part, Sizes, Switches, WordSizes

_Share = Annotated[float, Field(ge=0, le=1)]
_Weight = Annotated[float, Field(ge=0)]
_Count = Annotated[int, Field(ge=1)]
_ELSEWHERE = ("synth", "select", "annotate")


class Data(Part):
    """The training data, and the data for monitoring.

    Attributes:
        files: JSONL files of documents. A document whose `source` is `template`, `injected` or missing counts as
            synthetic. Any other was written or annotated individually, and counts as authentic. A source may have
            several parts ("template+corrupted").
        without: sources, or parts of them, to leave out.
        synthetic_share: the share of synthetic documents (CIPHER Table 3); None for all documents of both kinds.
        total: the number of documents in an epoch. With a share but no total, it is the size of the smaller side, so
            that every share gives an epoch of the same size.
        repeat_authentic: how often an epoch holds each authentic document, if no share is given.
        development: annotated texts for monitoring recall and precision, and for calibration; never trained on.
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
        soft: train on the votes as a distribution; otherwise on the tag with the most votes.
        crf: the CRF's likelihood; needs `switches.crf`.
        early: the early exit's loss, relative to the full exit's.
        detection, preservation, compliance, consistency: Guan's λ1 to λ4.
        anneal: whether λ1 to λ3 follow Guan's cosine schedule, down to `floor`.
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
        lexicon: per unit, the probability that the lexicon's features are blanked, so that unknown names are learned
            from context.
        pieces: per unit of a span, the probability that its pieces are unknown.
        case: per window, the probability of the case features of ALL CAPS, and the same of no capitals.
    """

    lexicon: _Share = 0.15
    pieces: _Share = 0.1
    case: _Share = 0.04


class Run(Part):
    """Duration, speed, and checkpoints.

    Attributes:
        minutes, epochs, steps: training ends with the first of the given limits; at least one is needed. With
            `minutes` the learning rate follows the clock, so two runs differ in the last digits.
        window, overlap: in pieces; overlap applies at run time only.
        batch_pieces: positions in a batch, including padding.
        rate, head_rate: the peak learning rates of the pretrained layers and of the new ones.
        save_minutes, save_steps: intervals between checkpoints; whichever comes first.
        evaluate_minutes: the interval between evaluations on the development file; 0 for only one at the end.
        precision: `auto` uses bf16 if a child process survives it and finds it faster.
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
    """The whole configuration.

    Attributes:
        base: a folder with a BERT model, or "minilm" for the installed package.
        words: the sizes of a model of words (`student/recurrent.py`). It has no base, and `sizes` does not apply.
        vocabulary: the file of its vocabulary.
        languages: the languages of the documents (ISO 639-1); more than English needs a model of words.
    """

    base: str = "minilm"
    sizes: Sizes = Sizes()
    words: WordSizes | None = None
    vocabulary: Path | None = None
    languages: tuple[str, ...] = ("en",)
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
        if (self.words is None) != (self.vocabulary is None):
            raise ValueError("give both words and vocabulary, or neither")
        if self.words is not None and (self.losses.preservation or self.switches.exit_layer):
            raise ValueError("a model of words has no early exit and no preservation loss. Set both to 0")
        if self.words is None and self.languages != ("en",):
            raise ValueError("languages other than English need a model of words. Add the table `words`")
        return self

    @property
    def key(self) -> str:
        """16 hexadecimal digits of a hash over everything that decides the result.

        It leaves out how often the run is saved and evaluated. Of files it has only the names, so that a folder may be
        moved.
        """
        content = self.model_dump(mode="json")
        content["base"] = Path(self.base).name
        content["vocabulary"] = self.vocabulary.name if self.vocabulary else None
        content["data"]["files"] = [path.name for path in self.data.files]
        content["data"]["development"] = self.data.development.name if self.data.development else None
        for name in ("save_minutes", "save_steps", "evaluate_minutes", "threads"):
            del content["run"][name]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path, changes: Mapping[str, Any] | None = None) -> Config:
    """Read a file. Paths in it are relative to its folder.

    Args:
        changes: values that override the file's, by dotted name ("run.minutes").

    Raises:
        SettingError: it cannot be read, is not TOML, or a value does not fit. The message names each field.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingError(f"{path.name} cannot be read as TOML") from None
    for name in _ELSEWHERE:
        tables.pop(name, None)
    for name, value in (changes or {}).items():
        table = tables
        *outer, last = name.split(".")
        for step in outer:
            table = table.setdefault(step, {})
        table[last] = value
    folder = path.parent.absolute()
    _resolve(tables.get("data", {}), folder)
    base = tables.get("base", "minilm")
    if isinstance(base, str) and base != "minilm":
        tables["base"] = str(folder / base)
    if isinstance(tables.get("vocabulary"), str):
        tables["vocabulary"] = folder / tables["vocabulary"]
    return checked(tables, path.name)


def checked(told: Mapping[str, Any], name: str) -> Config:
    """Validate the tables of a configuration.

    Raises:
        SettingError: as for `read`.
    """
    try:
        return Config.model_validate(told)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors(include_input=False)
        )
        raise SettingError(f"{name}: {'; '.join(faults)}") from None


def template() -> str:
    """The shipped configuration, as a starting point to copy."""
    return files("incognote_training.training").joinpath("default.toml").read_text(encoding="utf-8")


def _resolve(data: dict[str, Any], folder: Path) -> None:
    if isinstance(data.get("files"), list):
        data["files"] = [folder / each if isinstance(each, str) else each for each in data["files"]]
    if isinstance(data.get("development"), (str, Path)):
        data["development"] = folder / data["development"]
