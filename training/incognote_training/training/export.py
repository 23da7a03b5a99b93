"""Export a trained student to a bundle: two ONNX graphs, split at the early exit, in signed int8 per channel.

The bundle is then checked. The graphs are made by the legacy exporter at opset 17. Attention is onnxruntime's own node,
without a mask, because the run time never pads: it is a third faster than the nodes that torch would write. The tag
heads and the projection of the features stay in fp32. They are small, and rounding there would affect every answer.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from incognote.detectors.encoder.bundle import FORMAT, WORDS, Exit, classes
from incognote.detectors.encoder.decoding import Cutting, Run, logits_of
from incognote.detectors.encoder.units import plain
from incognote.detectors.encoder.viterbi import Decoder
from incognote.detectors.encoder.windows import Session, batch, cut, surest
from incognote.detectors.encoder.words import WIDTH
from incognote.errors import IncognoteError, MissingExtra, UsageError
from incognote.evaluation.corpus import Gold, read_gold
from incognote_training.student.attention import Layer, attention
from incognote_training.student.base import folder_of
from incognote_training.student.model import Student
from incognote_training.student.recurrent import AnyStudent
from incognote_training.training import card
from incognote_training.training.calibrate import Asked, calibrated, leaving
from incognote_training.training.card import Exported
from incognote_training.training.config import Config
from incognote_training.training.judge import runner, transitions
from incognote_training.training.loop import pieces_of

LIMIT = 30_000_000
"""Maximum size of a bundle in bytes."""
_OPSET = 17
_ITS_OWN = "com.microsoft"  # the domain of onnxruntime's operators
_CLOSE = 1e-3


class _Lower(nn.Module):
    def __init__(self, student: AnyStudent) -> None:
        super().__init__()
        self.student = student

    def forward(self, ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.student.lower(ids, features)
        early = self.student.early(hidden) if self.student.early is not None else hidden[:, :, :1]
        return hidden, early


class _Whole(nn.Module):
    """A model with one exit, in the form of a lower graph that nothing follows."""

    def __init__(self, student: AnyStudent) -> None:
        super().__init__()
        self.student = student

    def forward(self, ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.student.lower(ids, features)
        return hidden[:, :, :1], self.student.upper(hidden, ids, features)


class _Upper(nn.Module):
    def __init__(self, student: AnyStudent) -> None:
        super().__init__()
        self.student = student

    def forward(self, hidden: Tensor, ids: Tensor, features: Tensor) -> Tensor:
        return self.student.upper(hidden, ids, features)


def export(
    config: Config, student: AnyStudent, folder: Path, gold: Path, *,
    history: Sequence[dict[str, Any]] = (), balanced: float = 0.0,
) -> Exported:  # fmt: skip
    """Write a bundle, calibrated on a gold file that was not used for training.

    Args:
        folder: for the bundle; its content is replaced only after everything succeeded.
        gold: annotated texts, for temperatures, operating points, and the parity of int8.
        history: of the training, for the card.
        balanced: see `calibrated`.

    Raises:
        UsageError: the gold file has no text, or the bundle is larger than LIMIT.
        IncognoteError: the graphs do not give the student's output.
        MissingExtra: onnx or onnxruntime is not installed.
    """
    texts = [each for each in read_gold(gold) if isinstance(each, Gold)]
    if not texts:
        raise UsageError(f"{gold.name} holds no text to calibrate on")
    student.eval()
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        path = Path(made)
        if config.vocabulary is not None:
            shutil.copyfile(config.vocabulary, path / WORDS)
        else:
            (path / "tokenizer.json").write_text(plain(folder_of(config.base) / "tokenizer.json"), encoding="utf-8")
        graphs(student, path)
        pieces = pieces_of(config)
        cutting = Cutting(pieces, config.run.window, config.run.overlap)
        fp32 = _difference(student, path, texts, cutting)
        if fp32 > _CLOSE:
            raise IncognoteError(f"export: the graphs differ from the student by {fp32:.4f}. Report this bug")
        quantise(path)
        exits: dict[str, Exit] = {}
        points, parity = {}, {}
        for name, fast in [("full", False), *([("fast", True)] if student.early is not None else [])]:
            asked = _asked(texts, cutting, Session(path, fast=fast))
            exits[name], points[name] = calibrated(asked, transitions(student), balanced)
            parity[name] = _agreement(asked, _asked(texts, cutting, runner(student, fast=fast)), transitions(student))
        leave = leaving(_surest(texts, cutting, path), exits["full"]) if "fast" in exits else None
        content = {
            "format": FORMAT, "languages": config.languages, "classes": classes(),
            "window": config.run.window, "overlap": config.run.overlap,
            "medical": config.switches.medical, "leave": leave,
            "exits": {name: way.as_json() for name, way in exits.items()},
        }  # fmt: skip
        (path / "bundle.json").write_text(json.dumps(content), encoding="utf-8")
        size = sum(each.stat().st_size for each in path.iterdir())
        if size > LIMIT:
            raise UsageError(f"export: the bundle has {size:,} bytes, and the limit is {LIMIT:,}. Use fewer layers")
        exported = Exported(size, parity, fp32, points)
        (path / "MODEL_CARD.md").write_text(card.written(config, exported, gold, len(texts), history), encoding="utf-8")
        _replace(path, folder)
    return exported


def graphs(student: AnyStudent, folder: Path) -> None:
    """Write `lower.onnx` and `upper.onnx`, in fp32. A model with one exit has only the first.

    Raises:
        MissingExtra: onnx is not installed.
    """
    try:
        import onnx  # noqa: F401 -- torch imports it only when it writes
    except ImportError:
        raise MissingExtra("train", "exporting a model") from None
    features = torch.zeros(2, 32, student.features.in_features)
    parts: list[tuple[str, nn.Module, tuple[Tensor, ...], tuple[str, ...], tuple[str, ...]]]
    if not isinstance(student, Student):
        ids = torch.full((2, 32, WIDTH), 1)
        parts = [("lower.onnx", _Whole(student), (ids, features), ("ids", "features"), ("hidden", "fast"))]
    else:
        ids, hidden = torch.full((2, 32), 1), torch.zeros(2, 32, student.sizes.hidden)
        parts = [
            ("lower.onnx", _Lower(student), (ids, features), ("ids", "features"), ("hidden", "fast")),
            ("upper.onnx", _Upper(student), (hidden, ids, features), ("hidden", "ids", "features"), ("logits",)),
        ]
    for name, module, inputs, names, outputs in parts:
        with torch.inference_mode(), _one_node(student), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the legacy exporter announces its successor, which is slower here
            torch.onnx.export(
                module.eval(), inputs, str(folder / name), input_names=list(names), output_names=list(outputs),
                dynamic_axes={each: {0: "windows", 1: "pieces"} for each in (*names, *outputs)},
                opset_version=_OPSET, custom_opsets={_ITS_OWN: 1} if isinstance(student, Student) else {}, dynamo=False,
            )  # fmt: skip


class _OneNode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
        return attention(q, k, v, q.new_zeros(()), heads, nn.Identity())

    @staticmethod
    def symbolic(graph: Any, q: Any, k: Any, v: Any, heads: int) -> Any:
        return graph.op(f"{_ITS_OWN}::MultiHeadAttention", q, k, v, num_heads_i=heads).setType(q.type())


@contextmanager
def _one_node(student: AnyStudent) -> Iterator[None]:
    layers = [each for each in student.modules() if isinstance(each, Layer)]
    for layer in layers:
        layer.attention = lambda q, k, v, blocked, heads, drop: _OneNode.apply(q, k, v, heads)
    try:
        yield
    finally:
        for layer in layers:
            layer.attention = attention


def quantise(folder: Path) -> None:
    """Quantize both graphs of a folder to int8."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    for path in sorted(folder.glob("*.onnx")):
        kept = [
            node.name
            for node in onnx.load(path).graph.node
            if node.op_type == "Conv"  # as slow in int8
            or (node.op_type == "MatMul" and any(f"/{part}/" in node.name for part in ("head", "early", "features")))
        ]
        whole = path.with_suffix(".fp32")
        path.rename(whole)
        quant_pre_process(whole, whole, skip_symbolic_shape=True)
        quantize_dynamic(whole, path, weight_type=QuantType.QInt8, per_channel=True, nodes_to_exclude=kept)
        whole.unlink()


def _difference(student: AnyStudent, folder: Path, texts: Sequence[Gold], cutting: Cutting) -> float:
    worst = 0.0
    for fast in (False, True) if student.early is not None else (False,):
        some = texts[:8]
        one = _asked(some, cutting, Session(folder, fast=fast)).logits
        other = _asked(some, cutting, runner(student, fast=fast)).logits
        worst = max(worst, *(float(np.abs(a - b).max(initial=0)) for a, b in zip(one, other, strict=True)))
    return worst


def _asked(texts: Sequence[Gold], cutting: Cutting, run: Run) -> Asked:
    return Asked(texts, *logits_of([gold.text for gold in texts], cutting, run, 1 + 2 * len(classes())))


def _surest(texts: Sequence[Gold], cutting: Cutting, folder: Path) -> Iterator[tuple[float, float]]:
    """Per window, the largest log-odds at the early exit and at the full one."""
    fast, full = Session(folder, fast=True), Session(folder, fast=False)
    for gold in texts:
        encoded = cutting.pieces(gold.text)
        for window in cut(0, encoded, cutting.window, cutting.overlap):
            alone = batch([encoded], [window], cutting.pieces.special)
            yield surest(fast(alone.ids, alone.features)[0]), surest(full(alone.ids, alone.features)[0])


def _agreement(one: Asked, other: Asked, a: Any) -> float:
    decode = Decoder(a)
    pairs = list(zip(decode(one.logits), decode(other.logits), strict=True))
    return float(sum((x == y).sum() for x, y in pairs) / max(1, sum(len(x) for x, _ in pairs)))


def _replace(made: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in sorted(
        made.iterdir(), key=lambda path: path.name == "bundle.json"
    ):  # bundle.json last, because it marks the bundle as complete
        target = folder / (each.name + ".new")
        shutil.copyfile(each, target)
        target.replace(folder / each.name)
