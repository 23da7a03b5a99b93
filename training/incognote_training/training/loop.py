"""Train a student. Training can resume after a kill at any moment."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from incognote.detectors.encoder.bundle import classes
from incognote.detectors.encoder.units import Numbering, Pieces
from incognote.detectors.encoder.words import WordRows
from incognote.errors import UsageError
from incognote_training.student.base import begin_from, folder_of
from incognote_training.student.model import Student
from incognote_training.student.recurrent import AnyStudent, Ensemble, Recurrent
from incognote_training.training import state
from incognote_training.training.config import Config
from incognote_training.training.documents import mixed
from incognote_training.training.examples import Example, encode, epoch, targets, view
from incognote_training.training.judge import score_student
from incognote_training.training.objective import Objective
from incognote_training.training.precision import chosen

CLIP = 1.0
_NEW = ("features.", "fusion.", "head.", "early.", "crf.", "alpha", "beta")

Watch = Callable[[str, float, dict[str, float]], None]
"""Called with the stage ("encode", "train", "evaluate"), its progress (0..1), and figures to show."""


@dataclass(slots=True)
class Trained:
    """The result: the student, its steps, seconds, and pieces, and the last score."""

    student: AnyStudent
    steps: int
    seconds: float
    pieces: int
    bf16: bool
    score: dict[str, float] = field(default_factory=dict)


def pieces_of(config: Config) -> Numbering:
    """The numbers that a student with this configuration reads.

    Raises:
        SettingError: the base does not exist.
        MissingLanguage: one of the languages is not installed.
    """
    if config.vocabulary is not None:
        return WordRows(config.vocabulary, config.languages)
    return Pieces(folder_of(config.base) / "tokenizer.json", medical=config.switches.medical)


def blank(config: Config) -> AnyStudent:
    """A student with this configuration and random weights."""
    if config.words is None or config.vocabulary is None:
        return Student(config.sizes, config.switches, len(classes()))
    size = WordRows(config.vocabulary, config.languages).size
    return Recurrent(config.words, config.switches, size, len(classes()))


def fresh(config: Config) -> AnyStudent:
    """A student at the start: the base's weights, and the others drawn from the seed.

    Raises:
        SettingError: the base does not exist, or does not fit the sizes.
    """
    torch.manual_seed(config.run.seed)
    student = blank(config)
    if isinstance(student, Student):
        begin_from(student, folder_of(config.base))
    return student


def trained(folder: Path) -> tuple[Config, AnyStudent]:
    """The student from a run's last checkpoint, ready for inference.

    Raises:
        UsageError: the folder has no run, or no checkpoint.
    """
    config = state.configured(folder)
    student = blank(config)
    _, read = state.restore(folder)
    student.load_state_dict(read["student"])
    return config, student.eval()


def together(folders: Sequence[Path]) -> tuple[Config, AnyStudent]:
    """The student of a run, or several models of words as one, with the configuration of the first.

    Raises:
        UsageError: a folder has no run or checkpoint, or the runs are not of models of words with the same vocabulary.
    """
    configs, students = zip(*map(trained, folders), strict=True)
    if len(students) == 1:
        return configs[0], students[0]
    words = [student for student in students if isinstance(student, Recurrent)]
    vocabularies = {config.vocabulary.read_bytes() for config in configs if config.vocabulary is not None}
    if len(words) < len(students) or len(vocabularies) != 1:
        raise UsageError("only models of words with the same vocabulary can be exported as one")
    return configs[0], Ensemble(words).eval()


def train(config: Config, folder: Path, *, watch: Watch | None = None) -> Trained:
    """Train up to the configured limit, from the last checkpoint in the folder if there is one.

    Dropout, augmentation, and order depend on the seed, so a killed and resumed run ends like an unbroken one. With
    `minutes` the learning rate follows the clock, which differs between runs.

    Raises:
        UsageError: there is nothing to train on, or the folder holds another run.
        SettingError, MissingExtra: as for `pieces_of` and `fresh`.
    """
    run = config.run
    torch.set_num_threads(run.threads)
    watch = watch or _nobody
    resumed = state.begin(folder, config)
    bf16 = chosen(run.precision, run.threads)
    pieces = pieces_of(config)
    documents = mixed(config.data, run.seed)
    if not documents:
        raise UsageError("data: the files hold no document to train on")
    examples = encode(documents, pieces, soft=config.losses.soft, watch=lambda i, n: watch("encode", i / n, {}))
    student = fresh(config)
    optimizer = torch.optim.AdamW(_groups(student, config), betas=(0.9, 0.98), eps=1e-6, fused=True)
    place = state.Place()
    if resumed:
        place, read = state.restore(folder)
        student.load_state_dict(read["student"])
        optimizer.load_state_dict(read["optimizer"])
    session = _Session(
        config, folder, student.train(), optimizer, Objective(student, config.losses, bf16), place, watch
    )
    session.run(examples, pieces)
    score = session.evaluate(pieces, end=True)
    return Trained(student.eval(), place.step, place.seconds, session.pieces, bf16, score)


class _Session:
    def __init__(
        self, config: Config, folder: Path, student: AnyStudent, optimizer: torch.optim.Optimizer, objective: Objective,
        place: state.Place, watch: Watch,
    ) -> None:  # fmt: skip
        self.config, self.folder, self.student, self.optimizer = config, folder, student, optimizer
        self.objective, self.place, self.watch = objective, place, watch
        self.pieces = 0
        self._saved = self._looked = place.seconds
        self._smooth = math.nan
        self._batches = 1

    def run(self, examples: list[Example], pieces: Numbering) -> None:
        """Take steps until the end."""
        run, place = self.config.run, self.place
        encoded = [example.encoded for example in examples]
        while self.progress < 1:
            made = epoch(examples, run.window, run.batch_pieces, run.seed, place.epoch)
            self._batches = max(1, len(made))
            for number in range(place.batch, len(made)):
                if self.progress >= 1:
                    break
                begun = time.perf_counter()
                random = np.random.default_rng([run.seed, 3, place.epoch, number])
                augment = self.config.augment
                batch = view(examples, encoded, made[number], pieces.special, pieces.unknown, augment, random)
                other = None
                if self.config.losses.consistency:
                    again = view(examples, encoded, made[number], pieces.special, pieces.unknown, augment, random)
                    other = again.ids, again.features
                loss = self._step(batch.ids, batch.features, targets(examples, batch), other)
                place.step, place.batch = place.step + 1, number + 1
                place.seconds += time.perf_counter() - begun
                self.pieces += batch.ids.size
                self._after(loss, pieces)
            if place.batch >= len(made):
                place.epoch, place.batch = place.epoch + 1, 0
        self.save()

    @property
    def progress(self) -> float:
        """0 at the start, 1 at the end, by the nearest limit."""
        run, place = self.config.run, self.place
        done = [0.0]
        if run.minutes is not None:
            done.append(place.seconds / (60 * run.minutes))
        if run.steps is not None:
            done.append(place.step / run.steps)
        if run.epochs is not None:
            done.append((place.epoch + place.batch / self._batches) / run.epochs)
        return min(1.0, max(done))

    def _step(self, ids: Any, features: Any, wanted: Any, other: Any) -> float:
        progress = self.progress
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate(progress, self.config.run.warmup)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.objective(ids, features, wanted, progress, other)
        loss.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), CLIP)
        self.optimizer.step()
        return float(loss.detach())

    def _after(self, loss: float, pieces: Numbering) -> None:
        run, place = self.config.run, self.place
        self._smooth = loss if math.isnan(self._smooth) else 0.95 * self._smooth + 0.05 * loss
        self.watch("train", self.progress, {"loss": self._smooth, "step": place.step})
        if place.step % 10 == 0:
            state.note(
                self.folder, {"kind": "loss", "step": place.step, "seconds": place.seconds, "loss": self._smooth}
            )
        due = run.save_steps is not None and place.step % run.save_steps == 0
        if due or place.seconds - self._saved > 60 * run.save_minutes:
            self.save()
        if run.evaluate_minutes and place.seconds - self._looked > 60 * run.evaluate_minutes and self.progress < 1:
            self.evaluate(pieces)

    def save(self) -> None:
        parts = {"student": self.student.state_dict(), "optimizer": self.optimizer.state_dict()}
        state.save(self.folder, self.place, parts)
        self._saved = self.place.seconds

    def evaluate(self, pieces: Numbering, *, end: bool = False) -> dict[str, float]:
        """Recall and precision on the development file, if there is one. They are added to the history."""
        path = self.config.data.development
        self._looked = self.place.seconds
        if path is None:
            return {}
        self.watch("evaluate", self.progress, {})
        score = score_student(self.student, self.config, pieces, path)
        row = {"kind": "score", "step": self.place.step, "seconds": self.place.seconds, "end": end, **score}
        state.note(self.folder, row)
        self.watch("train", self.progress, {**score, "step": self.place.step})
        return score


def rate(progress: float, warmup: float) -> float:
    """The share of the peak learning rate: a linear rise, then a linear fall to zero."""
    if progress < warmup:
        return max(progress / warmup, 0.02)
    return max(0.0, (1 - progress) / (1 - warmup)) if warmup < 1 else 1.0


def _groups(student: AnyStudent, config: Config) -> list[dict[str, Any]]:
    """Parameters by learning rate and decay. Vectors and embeddings are not decayed."""
    run = config.run
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in student.named_parameters():
        if parameter.requires_grad:
            new = any(part in name for part in _NEW)
            plain = parameter.ndim < 2 or name.startswith(("words", "positions"))
            groups.setdefault((new, plain), []).append(parameter)
    return [
        {"params": params, "peak": run.head_rate if new else run.rate, "weight_decay": 0.0 if plain else run.decay}
        for (new, plain), params in groups.items()
    ]


def _nobody(stage: str, share: float, figures: dict[str, float]) -> None:
    return
