"""Write a trained network as `layout.onnx` (int8) with its card, and check that it finds what the fp32 one does."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from incognote.errors import MissingExtra
from incognote.evaluation.regions import scored
from incognote.files.atomic import write_atomic
from incognote.pages.boxes import letterboxed
from incognote.pages.layout import CARD, KINDS, MODEL, LayoutDetector, content_hash
from incognote_training.layout import data, effects, evaluate
from incognote_training.layout.networks.base import Module, Network

_OPSET = 17
_CALIBRATION = 64
_MULTIPLE = 32


@dataclass(frozen=True, slots=True)
class Made:
    """What was written.

    Args:
        bytes: of the network.
        int8, fp32: F1 over all classes on the same pages.
        same: share of the fp32 network's regions that the int8 one finds, too.
    """

    bytes: int
    int8: float
    fp32: float
    same: float


def export(network: Network, pages: Path, out: Path, *, int8: bool = True) -> Made:
    """Write a network and its card.

    Args:
        network: in evaluation mode.
        pages: a folder of `generate`, apart from the training's. Half of it calibrates the integers and the lowest
            scores of the classes; the other half measures.
        out: a folder.

    Raises:
        MissingExtra: onnx is not installed.
        UsageError: the folder has no pages.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "fp32"
        whole.mkdir()
        (whole / MODEL).write_bytes(graph(network))
        _card(network, whole, dict.fromkeys(KINDS, 0.05))
        model = quantized(whole / MODEL, network, pages) if int8 else (whole / MODEL).read_bytes()
        write_atomic(out / MODEL, model)
        _card(network, out, dict.fromkeys(KINDS, 0.05))
        found = [evaluate.on_folder(LayoutDetector(each).find, pages, _change) for each in (whole, out)]
    lowest = evaluate.limits(found[1][::2])
    _card(network, out, lowest)
    kept = [
        [([one for one in regions if one.score >= lowest[one.kind]], gold) for regions, gold in each[1::2]]
        for each in found
    ]
    f1 = [scored(each)["all"].f1 for each in kept]
    same = scored((small, large) for (large, _), (small, _) in zip(*kept, strict=True))["all"].recall
    return Made(len(model), f1[1], f1[0], same)


def graph(network: Network) -> bytes:
    """Return an ONNX model in fp32: `page` (1 × 1 × height × width, 0 to 1) to `boxes` and `scores`.

    Raises:
        MissingExtra: onnx is not installed.
    """
    size = network.size
    page = torch.zeros(1, 1, size, size if network.square else size * 3 // 4)
    axes = {} if network.square else {"page": {2: "height", 3: "width"}}
    return traced(network.eval(), {"page": page}, ("boxes", "scores"), axes)


def traced(
    network: Module, inputs: Mapping[str, torch.Tensor], outputs: Sequence[str], axes: Mapping[str, Mapping[int, str]]
) -> bytes:
    """Return an ONNX model in fp32 of a network.

    Args:
        inputs: examples, by name. outputs: the names of what the network returns.
        axes: the names of the axes of any length, of inputs and outputs.

    Raises:
        MissingExtra: onnx is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra("train", "exporting a network of the layout") from None
    with tempfile.TemporaryDirectory() as place, torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the legacy exporter announces its successor
        path = Path(place) / "network.onnx"
        torch.onnx.export(
            network,
            tuple(inputs.values()),
            str(path),
            dynamo=False,
            opset_version=_OPSET,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=axes,
        )
        onnx.checker.check_model(str(path))
        return path.read_bytes()


def quantized(path: Path, network: Network, pages: Path) -> bytes:
    """Return a graph with convolutions in int8, calibrated on worn pages of a folder."""
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):  # type: ignore[misc] # onnxruntime is not analyzed where types are checked
        def __init__(self) -> None:
            self.left = _inputs(network, pages)

        def get_next(self) -> dict[str, Any] | None:
            return next(self.left, None)

    ready, small = path.with_name("ready.onnx"), path.with_name("small.onnx")
    quant_pre_process(str(path), str(ready), skip_symbolic_shape=True)
    quantize_static(
        str(ready),
        str(small),
        Reader(),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=["Conv", "Relu", "Add", "MaxPool", "Concat", "Resize"],
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
        nodes_to_exclude=_last(ready),
        extra_options={"CalibMovingAverage": True},
    )
    return small.read_bytes()


def _last(path: Path) -> list[str]:
    """The nodes after the last convolutions: boxes in pixels need more than eight bits."""
    import onnx

    nodes = list(onnx.load(str(path)).graph.node)
    makers = {name: node for node in nodes for name in node.output}
    after, waiting = set(), ["boxes", "scores"]
    while waiting:
        node = makers.get(waiting.pop())
        if node is not None and node.name not in after:
            after.add(node.name)
            if node.op_type != "Conv":
                waiting += node.input
    return sorted(after)


def _inputs(network: Network, pages: Path) -> Iterator[dict[str, Any]]:
    for number, page in enumerate(data.read(pages)[: 2 * _CALIBRATION : 2]):
        pixels, _ = letterboxed(_change(data.picture(page), number), network.size, _multiple(network))
        yield {"page": (pixels / np.float32(255))[None, None].astype(np.float32)}


def _change(page: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """Every second pair of pages is worn."""
    return effects.worn(page, np.random.default_rng(number)) if number % 4 > 1 else page


def _multiple(network: Network) -> int:
    return network.size if network.square else _MULTIPLE


def _card(network: Network, folder: Path, lowest: dict[str, float]) -> None:
    card = {
        "version": content_hash((folder / MODEL).read_bytes()),
        "size": network.size,
        "multiple": _multiple(network),
        "kinds": list(KINDS),
        "lowest": lowest,
    }
    write_atomic(folder / CARD, (json.dumps(card, indent=1) + "\n").encode())
