"""Read and check a bundle: the folder that training writes and the detector loads.

    bundle.json       format, languages, classes, transitions, temperatures, biases, window, leave, medical-aware or not
    lower.onnx        ids, features → hidden, fast (the logits of its own exit)
    upper.onnx        hidden, ids, features → logits; absent if the model has no further layers
    tokenizer.json    the vocabulary of WordPieces
    words.txt         instead of it, the vocabulary of a model of words in several languages
    MODEL_CARD.md     for people

The model is cut at the early exit into two graphs, so that no weight is stored twice. `fast` runs the lower one alone.

The label set maps the classes of the encoder to BIO tags and to catalogue types.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.errors import SettingError, UnknownName
from incognote.languages import language
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import titles

BY_FORM = "EMAIL"
"""The class whose spans get their type from their form."""
_ELSE = "USERNAME"
FORMAT = 1
POINTS = ("recall", "balanced", "precision")
WORDS = "words.txt"
FILES = ("bundle.json", "lower.onnx", "upper.onnx", "tokenizer.json", WORDS)
"""The files of a bundle, as the package ships them. The second graph and one of the two vocabularies are absent."""
_REQUIRED = frozenset({"bundle.json", "lower.onnx"})


@dataclass(frozen=True, slots=True)
class _Table:
    classes: tuple[str, ...]
    ignored: frozenset[str]
    into: dict[str, str]
    forms: tuple[tuple[str, re.Pattern[str]], ...]
    titled: frozenset[str]
    titles: re.Pattern[str]
    never: dict[str, re.Pattern[str]]


@cache
def _table() -> _Table:
    read = tomllib.loads(files("incognote.detectors.encoder").joinpath("labels.toml").read_text(encoding="utf-8"))
    forms = tuple((row["type"], re.compile(row["pattern"])) for row in read["forms"])
    some = "|".join(sorted(titles(), key=len, reverse=True))
    before = re.compile(rf"(?:(?:{some})(?:\.[ \t]*|[ \t]+))+(?=\w)", re.IGNORECASE)
    return _Table(
        tuple(read["classes"]),
        frozenset(read["ignored"]),
        read["into"],
        forms,
        frozenset(read["titled"]),
        before,
        {class_: re.compile(pattern) for class_, pattern in read["never"].items()},
    )


def classes() -> tuple[str, ...]:
    """The classes, in the order of their tags."""
    return _table().classes


def class_of(type_: str) -> str | None:
    """Return the class of a catalogue type, or None for a type that is not annotated.

    Raises:
        UnknownName: neither the type nor one of its ancestors belongs to a class.
    """
    table = _table()
    for step in catalogue().lineage(type_):
        if step in table.ignored:
            return None
        if step in table.into:
            return table.into[step]
        if step in table.classes:
            return step
    raise UnknownName("class for the entity type", type_, table.classes)


def type_of(class_: str, words: str) -> str:
    """Return the catalogue type of a span of this class with these words."""
    if class_ != BY_FORM:
        return class_
    return next((name for name, form in _table().forms if form.match(words)), _ELSE)


def behind_title(class_: str, text: str, start: int, end: int) -> int:
    """Return where a name of this class begins: after its titles, or `start` if it has none."""
    table = _table()
    found = table.titles.match(text, start, end) if class_ in table.titled else None
    return found.end() if found else start


def is_none(class_: str, words: str) -> bool:
    """Whether words can never be of a class, whatever the model says."""
    pattern = _table().never.get(class_)
    return pattern is not None and pattern.match(words) is not None


def tags(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the BIO tags of some classes: O is 0, B of class i is 1 + 2i, and I of class i is 2 + 2i."""
    return ("O", *(f"{part}-{name}" for name in names for part in "BI"))


def allowed(n_classes: int) -> NDArray[np.bool_]:
    """Which tag may follow which (from × to, both 1 + 2n). The I of a class may follow only its own B or I."""
    n = 1 + 2 * n_classes
    legal = np.ones((n, n), bool)
    for i in range(n_classes):
        legal[:, 2 + 2 * i] = False
        legal[1 + 2 * i, 2 + 2 * i] = legal[2 + 2 * i, 2 + 2 * i] = True
    return legal


@dataclass(frozen=True, slots=True)
class Exit:
    """One exit of the model: the full one or the early one.

    Attributes:
        transitions: the transitions of the CRF, tags × tags, minus infinity where forbidden.
        temperatures: one per class; logits are divided by it before the score is computed.
        biases: for each operating point, the value added to the logit of O.
    """

    transitions: NDArray[np.float32]
    temperatures: NDArray[np.float32]
    biases: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return the exit's entry in `bundle.json`."""
        finite = np.where(np.isfinite(self.transitions), self.transitions, 0)
        return {
            "transitions": [[round(float(x), 4) for x in row] for row in finite],
            "temperatures": [round(float(x), 4) for x in self.temperatures],
            "biases": self.biases,
        }


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checked bundle.

    Attributes:
        folder: the folder of its files.
        version: the SHA-256 of its files.
        window, overlap: in pieces.
        medical: whether the pieces are medical-aware.
        languages: ISO 639-1 codes of the languages that the model reads.
        exits: "full" and, where the model has an early exit, "fast".
        leave: if the log-odds of the early exit are below this, a window needs no further layers; None: not used.
    """

    folder: Path
    version: str
    window: int
    overlap: int
    medical: bool
    languages: frozenset[str]
    exits: dict[str, Exit]
    leave: float | None


def load(folder: Path | None = None) -> Bundle:
    """Read a bundle.

    Raises:
        SettingError: there is no bundle, a file is missing or malformed, or it was made for other classes.
    """
    folder = folder or Path(str(language().file("encoder")))
    if not (folder / "bundle.json").is_file():
        raise SettingError(
            "encoder: its files are not installed. Install the language package (pip install incognote-en), or "
            "remove `encoder` from `detectors`."
        )
    try:
        read = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
        if read["format"] != FORMAT:
            raise SettingError("encoder: bundle.json has another format version. Export the model again.")
        if tuple(read["classes"]) != classes():
            raise SettingError("encoder: the model was trained for other classes. Train and export it again.")
        exits = {name: _exit(row) for name, row in read["exits"].items()}
        window, overlap = int(read["window"]), int(read["overlap"])
        if not 0 <= overlap < window - 2:
            raise SettingError("encoder: bundle.json: overlap must be smaller than window.")
        leave = float(read["leave"]) if "fast" in exits and read.get("leave") is not None else None
        languages = frozenset(map(str, read.get("languages", ("en",))))
        return Bundle(folder, digest(folder), window, overlap, bool(read["medical"]), languages, exits, leave)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise SettingError("encoder: bundle.json is malformed. Export the model again.") from None
    except OSError as error:
        raise SettingError(
            f"encoder: {Path(error.filename or 'a file').name} cannot be read. Export the model again."
        ) from None


def digest(folder: Path) -> str:
    """Return the SHA-256, in hexadecimal, of the files that determine the detected spans."""
    total = hashlib.sha256()
    there = {name for name in FILES if (folder / name).is_file()}
    required = _REQUIRED if WORDS in there else {*_REQUIRED, "tokenizer.json"}
    for name in FILES:
        if name in there or name in required:
            with (folder / name).open("rb") as stream:
                total.update(name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def _exit(row: dict[str, Any]) -> Exit:
    n = len(classes())
    transitions = np.array(row["transitions"], np.float32)
    temperatures = np.array(row["temperatures"], np.float32)
    if transitions.shape != (1 + 2 * n, 1 + 2 * n) or temperatures.shape != (n,) or not (temperatures > 0).all():
        raise ValueError
    biases = {point: float(row["biases"][point]) for point in POINTS}
    return Exit(np.where(allowed(n), transitions, -np.inf).astype(np.float32), temperatures, biases)
