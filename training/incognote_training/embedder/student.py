"""The student: one vector per WordPiece, whose length is its weight in a sum, trained to match the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.progress import Progress

from incognote.embedding.base import unit
from incognote_training.embedder.teacher import Lesson, Matrix

_RARE = 1e-3  # `a` of Arora et al. 2017 (smooth inverse frequency), for the initial weights
_SEEN = 3  # minimum number of contexts for a WordPiece's mean to be used


@dataclass(frozen=True, slots=True)
class Course:
    """How the student is trained.

    Attributes:
        pairs: the weight of the cosines between the texts of a batch, compared with the position of each text.
    """

    dimension: int = 128
    epochs: int = 12
    batch: int = 512
    rate: float = 2e-3
    pairs: float = 10.0
    seed: int = 0


def projection(vectors: Matrix, dimension: int) -> Matrix:
    """The directions (teacher's dimension × dimension) that best keep the dot products of the vectors (SVD)."""
    _, directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors.astype(np.float64))
    kept: Matrix = directions[:, ::-1][:, :dimension].astype(np.float32)
    return kept


def beginning(lesson: Lesson, alone: Matrix, onto: Matrix) -> Matrix:
    """Each WordPiece's mean in context, or its own vector if it is too rare. Frequent ones are shorter.

    Args:
        alone: the teacher's vector of each WordPiece as a text of its own.
    """
    meant = np.where(lesson.counts[:, None] >= _SEEN, lesson.meanings, alone) @ onto
    share = lesson.counts / lesson.counts.sum()
    begun: Matrix = (meant * (_RARE / (_RARE + share))[:, None]).astype(np.float32)
    return begun


def teach(lesson: Lesson, begin: Matrix, onto: Matrix, course: Course, progress: Progress) -> Matrix:
    """Train the student's table, vocabulary × dimension.

    The loss has two parts: 1 − cosine to the teacher's projected vector, and the squared error between the cosines of
    the texts of a batch and the teacher's own, unprojected cosines.
    """
    import torch
    from torch.nn.functional import embedding_bag, normalize

    torch.manual_seed(course.seed)
    order = np.random.default_rng(course.seed)
    table = torch.nn.Parameter(torch.from_numpy(begin.copy()))
    truth, places = torch.from_numpy(lesson.vectors), torch.from_numpy(unit(lesson.vectors @ onto))
    usable = np.array([number for number, own in enumerate(lesson.ids) if own])
    steps = course.epochs * (len(usable) // course.batch)
    optimizer = torch.optim.SparseAdam([table], lr=course.rate)  # few rows per batch: ten times as fast
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    bar = progress.add_task("student", total=steps)
    for _ in range(course.epochs):
        shuffled = order.permutation(usable)
        for at in range(0, len(shuffled) - course.batch + 1, course.batch):
            chosen = shuffled[at : at + course.batch]
            bags, offsets = _bags([lesson.ids[i] for i in chosen])
            said = normalize(embedding_bag(bags, table, offsets, mode="sum", sparse=True))
            wanted = truth[chosen]
            place = 1 - (said * places[chosen]).sum(1).mean()
            pairs = ((said @ said.T - wanted @ wanted.T) ** 2).mean()
            optimizer.zero_grad()
            (place + course.pairs * pairs).backward()  # type: ignore[no-untyped-call,unused-ignore]  # torch's own hole
            optimizer.step()
            schedule.step()
            progress.advance(bar)
    made: Matrix = table.detach().numpy()
    return made


def _bags(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """All WordPieces in one row and the start of each text, as tensors."""
    import torch

    lengths = np.array([0, *map(len, rows[:-1])])
    return torch.tensor([i for row in rows for i in row]), torch.from_numpy(np.cumsum(lengths))


def embed(table: Matrix, ids: Sequence[Sequence[int]]) -> Matrix:
    """The student's vectors of texts, given by their WordPieces."""
    return unit(np.stack([table[list(own)].sum(0) if own else np.zeros(table.shape[1], np.float32) for own in ids]))
