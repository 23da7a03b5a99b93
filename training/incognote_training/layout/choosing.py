"""Train and export the network that says which candidates of a page are regions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from incognote.errors import UsageError
from incognote.files.atomic import write_atomic
from incognote.pages.boxes import boxes_of, overlaps
from incognote.pages.layout import KINDS, content_hash
from incognote.pages.nouns import Region
from incognote.pages.regions import CARD, CROP, DETAIL, INPUTS, MODEL, chosen, described, upright
from incognote_training.layout import data, effects, evaluate
from incognote_training.layout.browser import DrawnWord
from incognote_training.layout.export import traced
from incognote_training.layout.generate import WORDS
from incognote_training.layout.networks.base import Module
from incognote_training.layout.networks.chooser import Chooser
from incognote_training.layout.readings import read_as

Numbers = NDArray[np.float32]
_PARTS = (0, 13, 20, 70, 79, 93, 108)
"""Where the kinds of numbers begin in the measures: place, sources, words, lines, pixels, network."""
_BATCH = 512
_WORN = 0.35  # the share of pages that are worn
_FEW = 0.2  # the share of candidates far from all regions that an epoch sees
_LOST = 0.1  # the share of numbers, and of kinds of numbers, that a candidate loses
_HELD = 10  # one page in so many chooses the lowest scores


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """The candidates of a page.

    Args:
        boxes: candidates × 4. inputs: of the network.
        quality: the overlap of each candidate with the nearest region of each kind, candidates × kinds.
        gold: the regions.
    """

    boxes: Numbers
    inputs: tuple[Numbers, NDArray[np.uint8], NDArray[np.uint8]]
    quality: Numbers
    gold: Sequence[Region]


def examples(folders: Sequence[Path], seed: int = 1) -> Iterator[CandidatePage]:
    """Yield the candidates of pages of `generate`, some of them worn, with words as they may be read.

    Raises:
        UsageError: a folder holds no pages or no words.
    """
    for folder in folders:
        try:
            words = json.loads((folder / WORDS).read_text(encoding="utf-8"))
        except OSError:
            raise UsageError("the folder holds no words. Generate the pages again") from None
        for number, page in enumerate(data.read(folder)):
            rng = np.random.default_rng((seed, number))
            picture = data.picture(page)
            drawn = [DrawnWord(text, (x, y, x1, y1), *how) for text, x, y, x1, y1, *how in words[Path(page.name).name]]
            read, codes = read_as(picture, drawn, page.regions, rng)
            if rng.random() < _WORN:
                picture = effects.worn(picture, rng)
            made, turns, scale = upright(picture, read, codes)
            boxes, numbers, pictures, corners = described(made)
            if turns or not len(boxes):
                continue
            gold = [
                Region(each.kind, tuple(round(side * scale) for side in each.box))  # type: ignore[arg-type]  # four sides
                for each in page.regions
            ]
            inputs = numbers, pictures.astype(np.uint8), corners.astype(np.uint8)
            yield CandidatePage(boxes, inputs, _quality(boxes, gold), gold)


def _quality(boxes: Numbers, gold: Sequence[Region]) -> Numbers:
    made = np.zeros((len(boxes), len(KINDS)), np.float32)
    if gold:
        shared = overlaps(boxes, boxes_of(gold))
        for column, region in enumerate(gold):
            kind = KINDS.index(region.kind)
            made[:, kind] = np.maximum(made[:, kind], shared[:, column])
    return made


def target(quality: torch.Tensor) -> torch.Tensor:
    """Return the score that a candidate should get: 0 below an overlap of 0.5, and 0.4 to 1 above."""
    return torch.where(quality < 0.5, torch.zeros_like(quality), 0.4 + 0.6 * ((quality - 0.5) / 0.45).clamp(0, 1))


def train(
    pages: Sequence[CandidatePage],
    epochs: int = 6,
    minutes: float | None = None,
    rate: float = 2e-3,
    seed: int = 1,
    watch: Callable[[float], None] = lambda share: None,
) -> tuple[Chooser, dict[str, float]]:
    """Return a network in evaluation mode, and the lowest score of each kind, chosen on one page in ten.

    Args:
        epochs: times that each page is seen.
        minutes: ends earlier, after the epoch in which this time is over.
        rate: the highest rate of learning.
        watch: takes the share that is done, from 0 to 1.

    Raises:
        UsageError: there are fewer than two pages.
    """
    if len(pages) < 2:
        raise UsageError("there are no pages to train on. Name folders that `layout generate` wrote")
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    held, own = pages[::_HELD], [page for number, page in enumerate(pages) if number % _HELD]
    inputs = [np.concatenate([page.inputs[part] for page in own]) for part in range(len(INPUTS))]
    quality = np.concatenate([page.quality for page in own])
    mean, deviation = inputs[0].mean(axis=0), inputs[0].std(axis=0) + 1e-3
    network = Chooser(mean.tolist(), deviation.tolist())
    near = quality.max(axis=1) >= 0.35
    far = np.flatnonzero(~near)
    steps = max(1, epochs * ((int(near.sum()) + int(_FEW * len(far))) // _BATCH + 1))
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.15)
    begun, step = time.monotonic(), 0
    for _ in range(epochs):
        rows = np.concatenate([np.flatnonzero(near), rng.choice(far, int(_FEW * len(far)), replace=False)])
        rng.shuffle(rows)
        for start in range(0, len(rows), _BATCH):
            batch = np.sort(rows[start : start + _BATCH])
            numbers, *pictures = (torch.from_numpy(each[batch]).float() for each in inputs)
            numbers = _lossy(numbers, network, rng)
            gain, shift = float(rng.uniform(0.7, 1.2)), float(rng.uniform(-20, 20))
            pictures = [each * gain + shift for each in pictures]
            wanted = target(torch.from_numpy(quality[batch]))
            loss = functional.binary_cross_entropy_with_logits(network(numbers, *pictures), wanted) * len(KINDS)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step < steps:
                schedule.step()
            watch(step / steps)
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            break
    network.eval()
    return network, lowest(network, held)


def _lossy(numbers: torch.Tensor, network: Chooser, rng: np.random.Generator) -> torch.Tensor:
    """Return numbers with noise, some of them replaced by their mean: one by one, and all of one kind."""
    mean, deviation = network.mean, network.deviation
    made = numbers + torch.randn_like(numbers) * deviation * 0.1
    lost = rng.random(numbers.shape) < _LOST
    for begin, end in pairwise(_PARTS):
        lost[:, begin:end] |= rng.random((len(numbers), 1)) < _LOST
    return torch.where(torch.from_numpy(lost), mean, made)


def scores(network: Chooser, page: CandidatePage) -> Numbers:
    """Return the scores of a page's candidates, candidates × kinds."""
    with torch.inference_mode():
        logits = network(*(torch.from_numpy(each).float() for each in page.inputs))
    return np.asarray(torch.sigmoid(logits).numpy(), np.float32)


def lowest(network: Chooser, pages: Sequence[CandidatePage]) -> dict[str, float]:
    """Return for each kind the lowest score at which its F1 is highest on pages."""
    every = np.full(len(KINDS), 0.1, np.float32)
    return evaluate.limits([(chosen(page.boxes, scores(network, page), every), page.gold) for page in pages])


def export(network: Chooser, lowest: dict[str, float], out: Path) -> int:
    """Write `regions.onnx` and its card `regions.json` into a folder, and return the size of the network in bytes.

    Raises:
        MissingExtra: onnx is not installed.
    """
    class Scores(Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, numbers: torch.Tensor, pictures: torch.Tensor, details: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(self.network(numbers, pictures, details))

    sample = (torch.zeros(2, len(network.mean)), torch.zeros(2, 1, *CROP), torch.zeros(2, 1, *DETAIL))
    axes = {name: {0: "candidates"} for name in (*INPUTS, "scores")}
    model = traced(Scores().eval(), dict(zip(INPUTS, sample, strict=True)), ["scores"], axes)
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / MODEL, model)
    card = {"version": content_hash(model), "kinds": list(KINDS), "lowest": lowest}
    write_atomic(out / CARD, (json.dumps(card, indent=1) + "\n").encode())
    return len(model)
