"""One cell of an experiment: a corpus, a system, and how a model is asked, with the key of its results.

The key is a hash over everything that decides the results, including files and code.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import incognote
from incognote.errors import SettingError, UsageError
from incognote.evaluation.experiments.spec import Corpus, Model, Spec, System, resolved
from incognote.settings import Passes, Settings

_DECIDING = ("max_characters",)
_ASKING = (
    "passes", "chunk_words", "chunk_overlap", "votes", "vote_rule", "temperature", "spread", "composite",
    "context_tokens", "max_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: one value for each axis that applies to models only."""

    model: Model
    prompt: str
    chunk_words: int
    passes: Passes
    votes: int
    seed: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of the axes, ready to run.

    Attributes:
        folder: the base of relative paths in the spec.
        asking: None if no model is asked.
        settings: the effective settings, including those from the environment.
        facts: everything that decides the predictions, in JSON form; `key` is its hash.
    """

    folder: Path
    corpus: Corpus
    system: System
    asking: Asking | None
    words: dict[str, Any]
    settings: Settings
    facts: dict[str, Any]

    @property
    def key(self) -> str:
        """16 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def path(self) -> Path:
        """The path of the corpus."""
        return self.folder / self.corpus.path

    @property
    def label(self) -> str:
        """The cell's name in tables."""
        parts = [self.corpus.name, self.system.name]
        if self.asking is not None:
            a = self.asking
            parts += [a.model.name, a.prompt, f"w{a.chunk_words}", f"p{a.passes}", f"v{a.votes}", f"s{a.seed}"]
        return ":".join(parts)


def cells(spec: Spec, folder: Path) -> list[Cell]:
    """Every combination of a spec, checked as far as possible without reading a text or asking a model.

    Raises:
        SettingError, UnknownName, PolicyProblem, UsageError: something that the spec names does not exist or is not
            usable.
    """
    hashes = {corpus.name: hash_of_path(folder / corpus.path) for corpus in spec.corpora}
    ways = [
        Asking(*each)
        for each in product(spec.models, spec.prompts, spec.chunk_words, spec.passes, spec.votes, spec.seeds)
    ]
    return [
        _cell(folder, corpus, hashes[corpus.name], system, asking)
        for corpus in spec.corpora
        for system in spec.systems
        for asking in (ways if system.asks else [None])
    ]


def _cell(folder: Path, corpus: Corpus, corpus_hash: str, system: System, asking: Asking | None) -> Cell:
    words: dict[str, Any] = {
        **resolved(folder, system.settings),
        "policy": _named(folder, system.policy),
        "detectors": system.detectors,
    }
    if asking is not None:
        words |= {
            "prompt": _named(folder, asking.prompt),
            "chunk_words": asking.chunk_words,
            "passes": asking.passes,
            "votes": asking.votes,
        }
        if asking.model.api_base is not None:
            words["api_base"] = asking.model.api_base
    settings = Settings.load(**words)
    if settings.budget_usd is not None or settings.budget_tokens is not None:
        raise SettingError(
            "budget_usd, budget_tokens: an experiment has its own budget. Remove them from the settings."
        )
    if asking is not None:
        settings = settings.for_model(asking.model.name)
        other = sorted(name for name in words if _plain(settings, name) != _told(words[name]))
        if other:
            raise SettingError(
                f"The settings for {asking.model.name} contradict the experiment: {', '.join(other)}. Remove them, "
                "or run without these settings."
            )
    return Cell(folder, corpus, system, asking, words, settings, _facts(corpus_hash, settings, asking))


def _facts(corpus_hash: str, settings: Settings, asking: Asking | None) -> dict[str, Any]:
    from incognote.agents.manifest import incognote_version
    from incognote.prompts.loader import load
    from incognote.schemas.policy import load_policy

    facts: dict[str, Any] = {
        "corpus": corpus_hash,
        "detectors": sorted(settings.detectors),
        "policy": load_policy(settings.policy).version,
        "packs": [hash_of_path(pack) for pack in settings.packs],
        "roster": hash_of_path(settings.roster) if settings.roster is not None else None,
        "settings": {name: _plain(settings, name) for name in _DECIDING},
        "code": f"{incognote_version()}+{hash_of_code()}",
    }
    if asking is not None:
        facts["model"] = asking.model.name
        facts["prompt"] = load(settings.prompt).version
        facts["seed"] = asking.seed
        facts["asking"] = {name: _plain(settings, name) for name in _ASKING}
    return facts


def _plain(settings: Settings, name: str) -> Any:
    return _told(getattr(settings, name))


def _told(value: Any) -> Any:
    """The JSON form of a setting."""
    if isinstance(value, (list, tuple)):
        return [_told(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _named(folder: Path, name: str) -> str:
    """Return the name of a shipped item unchanged, and resolve the path of a TOML file."""
    return str(folder / name) if name.endswith(".toml") else name


_UNCOUNTED = ("evaluation", "cli", "testing")
"""Subpackages that do not affect predictions."""


def hash_of_path(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files, in hexadecimal.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    if path.is_dir():
        return _of_files(path, [each for each in path.rglob("*") if each.is_file()])
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror or type(error).__name__}.") from None


@cache
def hash_of_code() -> str:
    """The first 16 digits of the hash of all code and data that affect predictions."""
    root = Path(incognote.__file__).parent
    counted = [
        each
        for each in root.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts and each.relative_to(root).parts[0] not in _UNCOUNTED
    ]
    return _of_files(root, counted)[:16]


def _of_files(root: Path, files: list[Path]) -> str:
    total = hashlib.sha256()
    for each in sorted(files):
        name = each.relative_to(root).as_posix().encode()
        total.update(len(name).to_bytes(4) + name + bytes.fromhex(hash_of_path(each)))
    return total.hexdigest()
