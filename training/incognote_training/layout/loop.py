"""The training loop. After a kill, the same call continues from the last checkpoint."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from incognote.errors import UsageError
from incognote_training.layout import data
from incognote_training.layout.networks import built
from incognote_training.layout.networks.base import Network, Targets
from incognote_training.layout.networks.darknet import YoloV3Dla, clustered

STATE, CONFIG, HISTORY = "state.pt", "config.json", "history.jsonl"
_GROWTH = ((0.0, 0.65), (0.4, 0.85), (0.75, 1.0))  # share of the training, and the size of the inputs from then on
_AVERAGED = 0.998
_WARM = 0.03  # share of the training until the rate of learning is highest
SAVED = 120.0
"""Seconds between checkpoints."""
Watch = Callable[[float, dict[str, float]], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train.

    Args:
        network: small or yolov3-dla.
        width: multiplies the channels.
        epochs: times that each page is seen.
        minutes: ends earlier, after this time. The rate and the size of the inputs follow whichever ends first.
        batch: pages in a step.
        rate: the highest rate of learning.
        threads: of torch.
        bf16: whether matrix products are made in bfloat16.
        size: pixels of the longer side of the network's input; it must be 416 for yolov3-dla.
    """

    network: str = "small"
    width: float = 1.0
    epochs: int = 20
    minutes: float | None = None
    batch: int = 16
    rate: float = 2e-3
    seed: int = 1
    threads: int = 1
    bf16: bool = True
    size: int = 640


PAPER = Plan("yolov3-dla", epochs=250, batch=8, rate=0.003, bf16=False, size=416)
"""The image paper's schedule (§III.A)."""


@dataclass(slots=True)
class _Run:
    """The state of a training: all of it is in a checkpoint."""

    network: Any
    average: Any
    optimizer: Any
    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0


def train(
    plan: Plan,
    pages: Sequence[Path],
    folder: Path,
    *,
    begin: Path | None = None,
    watch: Watch = lambda share, figures: None,
) -> Network:
    """Train a network on folders of pages, and return it with its averaged weights.

    Args:
        begin: the folder of an earlier training, whose weights a new training begins with.

    Raises:
        UsageError: the folder holds a training with another plan, or no pages were found.
    """
    torch.set_num_threads(plan.threads)
    torch.manual_seed(plan.seed)
    found = data.read(*pages)
    run = _opened(plan, folder, begin, found)
    per_epoch = len(data.plan(found, plan.batch, plan.seed, 0))
    noted = time.monotonic()
    start = noted - run.seconds
    for batch, size in _fed(plan, found, run, lambda ahead: _share(plan, run, per_epoch, ahead)):
        share = _share(plan, run, per_epoch)
        for group in run.optimizer.param_groups:
            group["lr"] = rate_at(plan, share)
        figures = _step(run, batch, share, bf16=plan.bf16)
        run.seconds = time.monotonic() - start
        watch(share, figures)
        if run.step % 20 == 0 or run.step == 1:
            row = {"step": run.step, "share": round(share, 4), "seconds": round(run.seconds, 1), "input": size}
            with (folder / HISTORY).open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**row, **figures}) + "\n")
        if time.monotonic() - noted >= SAVED:
            noted = time.monotonic()
            _save(folder, run)
    _save(folder, run)
    return _ready(run.average)


def trained(folder: Path) -> tuple[Plan, Network]:
    """Return the plan and the averaged network of the last checkpoint.

    Raises:
        UsageError: the folder holds no training.
    """
    plan = _plan(folder)
    network = built(plan.network, plan.width)
    network.load_state_dict(_state(folder)["average"])
    network.size = plan.size
    return plan, _ready(network)


def _plan(folder: Path) -> Plan:
    try:
        return Plan(**json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise UsageError("the folder holds no training. Name one that `layout train` wrote") from None


def _state(folder: Path) -> dict[str, Any]:
    try:
        return dict(torch.load(folder / STATE, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, EOFError):
        raise UsageError("the checkpoint is missing or cannot be read. Train again") from None


def _opened(plan: Plan, folder: Path, begin: Path | None, pages: list[Any]) -> _Run:
    """A new training, or the one of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = not (folder / CONFIG).is_file()
    if fresh:
        (folder / CONFIG).write_text(json.dumps(asdict(plan)), encoding="utf-8")
    elif _plan(folder) != plan:
        raise UsageError("the folder holds a training with another plan. Name another folder")
    network = built(plan.network, plan.width)
    if isinstance(network, YoloV3Dla):
        network.anchors.copy_(_anchors(pages, network.size))
    if begin is not None:
        network.load_state_dict(_state(begin)["average"])
    average = built(plan.network, plan.width)
    average.load_state_dict(network.state_dict())
    network = network.to(memory_format=torch.channels_last)
    decayed = [each for each in network.parameters() if each.ndim > 1]
    others = [each for each in network.parameters() if each.ndim <= 1]
    groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    optimizer: Any
    if plan.network == "small":
        optimizer = torch.optim.AdamW(groups, lr=plan.rate, weight_decay=0.05)
    else:
        optimizer = torch.optim.SGD(groups, lr=plan.rate, momentum=0.9, weight_decay=5e-4)
    run = _Run(network, average, optimizer)
    if not fresh and (folder / STATE).is_file():
        state = _state(folder)
        network.load_state_dict(state["network"])
        average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        run = replace(run, **state["place"])
    return run


def _save(folder: Path, run: _Run) -> None:
    """Write a checkpoint, completely or not at all."""
    state = {
        "network": run.network.state_dict(),
        "average": run.average.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "place": {"epoch": run.epoch, "batch": run.batch, "step": run.step, "seconds": run.seconds},
    }
    torch.save(state, folder / (STATE + ".new"))
    os.replace(folder / (STATE + ".new"), folder / STATE)


def _anchors(pages: list[Any], size: int) -> Any:
    """Dimension clusters of the training regions."""
    sizes = []
    for page in pages:
        scale = size / max(page.width, page.height)
        for region in page.regions:
            left, top, right, bottom = region.box
            sizes.append(((right - left) * scale, (bottom - top) * scale))
    return clustered(torch.tensor(sizes))


def _share(plan: Plan, run: _Run, per_epoch: int, ahead: int = 0) -> float:
    """The share of the training that is done, or will be some steps ahead."""
    share = (run.step + ahead) / (plan.epochs * per_epoch)
    return min(1.0, share if plan.minutes is None else max(share, run.seconds / 60 / plan.minutes))


def rate_at(plan: Plan, share: float) -> float:
    """The rate of learning: cosine after a warm-up; for the paper's network, a tenth after 200 and after 225 of 250."""
    if plan.network == "yolov3-dla":
        return plan.rate * (1.0 if share < 0.8 else 0.1 if share < 0.9 else 0.01)
    return min(1.0, 0.05 + share / _WARM) * plan.rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share)))


def _fed(plan: Plan, pages: list[Any], run: _Run, share: Callable[[int], float]) -> Iterator[tuple[Any, int]]:
    """Yield batches and their size until the training is done. The next ones are made in a thread meanwhile."""
    square = plan.network == "yolov3-dla"

    def size(ahead: int) -> int:
        if square:
            return plan.size
        part = [part for begin, part in _GROWTH if share(ahead) >= begin][-1]
        return max(1, round(plan.size * part / 128)) * 128

    def made(numbers: list[tuple[int, int]], epoch: int, wanted: int) -> tuple[Any, int]:
        return data.batch(pages, numbers, wanted, (plan.seed, epoch), square=square), wanted

    with ThreadPoolExecutor(1) as pool:
        while run.epoch < plan.epochs:
            batches = data.plan(pages, plan.batch, plan.seed, run.epoch)[run.batch :]
            waiting = [pool.submit(made, each, run.epoch, size(ahead)) for ahead, each in enumerate(batches[:2])]
            for number in range(len(batches)):
                if share(0) >= 1:
                    return
                if number + 2 < len(batches):
                    waiting.append(pool.submit(made, batches[number + 2], run.epoch, size(2)))
                run.batch += 1
                yield waiting.pop(0).result()
            run.epoch, run.batch = run.epoch + 1, 0


def _step(run: _Run, batch: data.Batch, share: float, *, bf16: bool) -> dict[str, float]:
    """One step; returns the parts of the loss."""
    pictures = (torch.from_numpy(batch.pictures).float() / 255).to(memory_format=torch.channels_last)
    targets = Targets(torch.from_numpy(batch.boxes), torch.from_numpy(batch.kinds), torch.from_numpy(batch.pages))
    run.network.train()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        maps = run.network.maps(pictures)
    parts = run.network.losses(maps, targets, share)
    run.optimizer.zero_grad()
    sum(parts.values()).backward()
    torch.nn.utils.clip_grad_norm_(run.network.parameters(), 10.0)
    run.optimizer.step()
    run.step += 1
    keep = min(_AVERAGED, run.step / (run.step + 10))
    with torch.no_grad():
        for mean, new in zip(run.average.state_dict().values(), run.network.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(new, 1 - keep)
            else:
                mean.copy_(new)
    return {name: round(float(value.detach()), 4) for name, value in parts.items()}


def _ready(network: Network) -> Network:
    network.eval()
    return network
