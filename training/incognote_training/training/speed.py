"""Measure the time of parts of the encoder on this machine: decoding, reading, a training step. Use the ratios."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.bundle import allowed, classes, load
from incognote.detectors.encoder.decoding import Cutting, Finder, logits_of
from incognote.detectors.encoder.units import Pieces
from incognote.detectors.encoder.viterbi import Decoder, viterbi
from incognote.detectors.encoder.windows import Session, batch, cut
from incognote.nouns import Text
from incognote_training.student.shape import Sizes, Switches

Floats = NDArray[np.float32]
NOTE_WORDS = 500


def decoding(sequences: int = 64, words: int = 128, phi: float = 0.12, seed: int = 0) -> dict[str, float]:
    """CPU seconds to decode the same sequences one by one, in one batch, and only in uncertain stretches.

    Args:
        phi: the share of words that are not certainly O.
    """
    random = np.random.default_rng(seed)
    n = len(classes())
    transitions = np.where(allowed(n), random.normal(0, 1, (1 + 2 * n, 1 + 2 * n)), -np.inf).astype(np.float32)
    block = random.normal(0, 2, (sequences, words, 1 + 2 * n)).astype(np.float32)
    block[:, :, 0] += np.where(random.random((sequences, words)) < phi, 0, 40)
    lengths = np.full(sequences, words)
    decoder = Decoder(transitions)
    return {
        "one_by_one": _best(lambda: [viterbi(row[None], lengths[:1], transitions) for row in block]),
        "batched": _best(lambda: viterbi(block, lengths, transitions)),
        "stretches": _best(lambda: decoder(list(block))),
    }


def reading(texts: Sequence[str], folder: Path | None = None, *, fast: bool = False) -> dict[str, float]:
    """The speed of a bundle on one core, and the time of each stage.

    Returns:
        words; pieces (summed over windows, with overlaps); CPU seconds in total and of `pieces_making`, `session`,
        `decoding`; pieces_per_second of the graphs alone; notes_per_second for notes of 500 words.
    """
    bundle = load(folder)
    session = Session(bundle.folder, fast=fast, leave=bundle.leave)
    cutting = Cutting(Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical), bundle.window, bundle.overlap)
    way = bundle.exits["fast" if fast else "full"]
    find = Finder(way, way.biases["balanced"], "speed")
    sources = [Text(text) for text in texts]
    encoded, logits = logits_of(texts, cutting, session, len(way.transitions))
    windows = [w for i, one in enumerate(encoded) for w in cut(i, one, cutting.window, cutting.overlap)]
    made = [batch(encoded, [window], cutting.pieces.special) for window in windows]
    words = sum(len(text.split()) for text in texts)
    pieces = sum(window.size for window in windows)
    alone = _best(lambda: [session(alone.ids, alone.features) for alone in made], times=3)
    splitting = _best(lambda: [cutting.pieces(text) for text in texts], times=3)
    deciding = _best(lambda: find(sources, encoded, logits), times=3)
    whole = _best(lambda: find(sources, *logits_of(texts, cutting, session, len(way.transitions))), times=3)
    return {
        "words": words, "pieces": pieces, "seconds": whole, "pieces_making": splitting, "session": alone,
        "decoding": deciding, "pieces_per_second": pieces / alone, "notes_per_second": words / NOTE_WORDS / whole,
    }  # fmt: skip


def beside_plain(
    texts: Sequence[str], folder: Path | None = None, sizes: Sizes | None = None, rounds: int = 3
) -> dict[str, float]:
    """Compare a bundle's graphs with plain int8 MiniLM: six layers, no features, none of our ideas, the same exporter.

    The weights of the plain model are random, which takes the same time. Both read the same windows, alternately.

    Args:
        sizes: of the plain model; MiniLM's if None.

    Returns:
        Pieces per CPU second of `ours`, of the same without early exits (`whole`), of `fast`, and of `plain`; and
        `share`, which is `ours` over `plain`.

    Raises:
        MissingExtra: the extra `train` is not installed.
    """
    from incognote_training.student.model import Student
    from incognote_training.training.export import graphs, quantise

    bundle = load(folder)
    cutting = Cutting(Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical), bundle.window, bundle.overlap)
    encoded = [cutting.pieces(text) for text in texts]
    windows = [w for i, one in enumerate(encoded) for w in cut(i, one, cutting.window, cutting.overlap)]
    made = [batch(encoded, [window], cutting.pieces.special) for window in windows]
    off = Switches(shape=False, lexicon=False, specialised=False, fusion=False, medical=False, crf=False, exit_layer=0)
    with tempfile.TemporaryDirectory() as written:
        path = Path(written)
        graphs(Student(sizes or Sizes(), off, len(classes())).eval(), path)
        quantise(path)
        plain = Session(path, fast=False)
        ways = {
            "ours": Session(bundle.folder, fast=False, leave=bundle.leave),
            "whole": Session(bundle.folder, fast=False),
            "fast": Session(bundle.folder, fast=True),
            "plain": plain,
        }
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(rounds):
            for name, session in ways.items():
                taken = _best(lambda run=session: [run(one.ids, one.features) for one in made], times=1)  # type: ignore[misc]  # mypy knows no defaults of a lambda
                best[name] = min(best[name], taken)
    pieces = sum(window.size for window in windows)
    speeds = {name: pieces / seconds for name, seconds in best.items()}
    return {**speeds, "share": speeds["ours"] / speeds["plain"]}


def training(length: int, windows: int, *, threads: int, bf16: bool, config: Any) -> float:
    """Windows per second of training steps on made-up input, as the best of three.

    Args:
        config: provides sizes, switches, and losses.
    """
    import torch

    from incognote_training.student.model import Student
    from incognote_training.training.examples import Targets
    from incognote_training.training.objective import Objective

    torch.set_num_threads(threads)
    random = np.random.default_rng(0)
    n, units = 1 + 2 * len(classes()), length // 2
    student = Student(config.sizes, config.switches, len(classes())).train()
    objective = Objective(student, config.losses, bf16)
    optimizer = torch.optim.AdamW(student.parameters())
    ids = random.integers(1, config.sizes.vocabulary, (windows, length))
    features = (random.random((windows, length, 64)) < 0.1).astype(np.float32)
    at = np.tile(np.arange(units) * 2, (windows, 1))
    tags = np.zeros((windows, units), np.int64)
    wanted = Targets(at, np.ones((windows, units), bool), tags, np.eye(n, dtype=np.float32)[tags])

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        objective(ids, features, wanted, 0.5).backward()
        optimizer.step()

    step()
    return windows / _best(step, times=3, clock=time.perf_counter)


def _best(work: Callable[[], Any], times: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """The shortest of several runs, in CPU seconds by default, because other work only makes a run longer."""
    best = float("inf")
    for _ in range(times):
        begun = clock()
        work()
        best = min(best, clock() - begun)
    return best
