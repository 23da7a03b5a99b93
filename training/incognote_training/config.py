"""The configuration of the steps that make a detector: `distill.toml`, with one section per step.

    [synth]      n, seed, clean (share without PHI), corrupt (share corrupted), prose (folder of real clinical prose)
    [select]     n, outliers (share), z
    [annotate]   k (annotators), temperature, concurrency

Omitted settings keep their defaults. Options on the command line take precedence over the file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from incognote.errors import SettingError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Synth:
    """How the corpus is made.

    Attributes:
        n: number of documents. seed: the same seed makes the same corpus.
        clean: approximate share of documents without PHI.
        corrupt: share of documents with errors of OCR, typing, or encoding.
        prose: a folder with acibench_notes_dialogues.jsonl and mtsamples_subset.jsonl; "" for templates only.
        handwritten: whether the notes of corpus/handwritten are included, at the start.
        annotated: whether the texts of the prose folder that a language model annotated follow them.
    """

    n: int = 15000
    seed: int = 1
    clean: float = 0.3
    corrupt: float = 0.3
    prose: str = ""
    handwritten: bool = True
    annotated: bool = True


@dataclass(frozen=True, slots=True)
class Select:
    """How training documents are chosen (CIPHER: 10 % outliers, |Z| > 2)."""

    n: int = 10000
    outliers: float = 0.1
    z: float = 2.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Annotate:
    """How documents are annotated (CIPHER: K = 8)."""

    k: int = 8
    temperature: float = 0.7
    concurrency: int = 4
    rules: float = 0.2
    """Without a language model: the weight of our own detectors' findings, compared with gold."""


@dataclass(frozen=True, slots=True)
class Config:
    """The sections that are read here. Others are for the student's training."""

    synth: Synth = field(default_factory=Synth)
    select: Select = field(default_factory=Select)
    annotate: Annotate = field(default_factory=Annotate)


def read(path: str | Path | None) -> Config:
    """Read the configuration from a file, or return the defaults for None.

    Raises:
        SettingError: the file cannot be read, or a section has an unknown name or a value of the wrong type.
    """
    if path is None:
        return Config()
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"the configuration cannot be read ({type(error).__name__}). Name a TOML file") from None
    return Config(
        _section(Synth(), raw, "synth"), _section(Select(), raw, "select"), _section(Annotate(), raw, "annotate")
    )


def overridden(section: T, **options: Any) -> T:
    """Return a section with the given options applied. None means not given."""
    return replace(section, **{name: value for name, value in options.items() if value is not None})  # type: ignore[type-var]  # every section is a dataclass


def _section(default: T, told: dict[str, Any], name: str) -> T:
    values = told.get(name, {})
    known = {one.name: type(getattr(default, one.name)) for one in fields(default)}  # type: ignore[arg-type]  # every section is a dataclass
    if not isinstance(values, dict):
        raise SettingError(f"[{name}] is not a table of settings")
    for key, value in values.items():
        if key not in known:
            raise SettingError(f"[{name}] has no setting {key!r}. It has: {', '.join(sorted(known))}")
        if type(value) is not known[key] and not (known[key] is float and type(value) is int):
            raise SettingError(f"[{name}] {key} must be of type {known[key].__name__}")
    return overridden(default, **values)
