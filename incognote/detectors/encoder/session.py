"""The model's graphs in onnxruntime, one thread each; nothing else of the package imports onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.spans import log_odds
from incognote.errors import SettingError

Floats = NDArray[np.float32]


class Session:
    """Thread-safe, as onnxruntime's sessions are.

    Args:
        folder: a bundle's.
        fast: whether to leave by the early exit.
        leave: a window leaves by the early exit, too, where that gives every piece less than these log-odds of being in
            an identifier: most windows of prose hold none, and the upper layers have nothing to add there. None: never.

    Raises:
        SettingError: a graph cannot be loaded.
    """

    def __init__(self, folder: Path, *, fast: bool, leave: float | None = None) -> None:
        self._lower = _open(folder / "lower.onnx")
        self._leave = leave
        upper = folder / "upper.onnx"
        self._upper = _open(upper) if not fast and upper.is_file() else None

    def __call__(self, ids: NDArray[np.int64], features: Floats) -> Floats:
        """Logits, windows × pieces × tags."""
        hidden, early = _asked(self._lower, ("hidden", "fast"), ids=ids, features=features)
        logits: Floats = early
        if self._upper is not None and not self._empty(early):
            (logits,) = _asked(self._upper, ("logits",), hidden=hidden, ids=ids, features=features)
        return logits

    def _empty(self, early: Floats) -> bool:
        return self._leave is not None and all(surest(window) < self._leave for window in early)


def surest(window: Floats) -> float:
    """The largest log-odds of a window's pieces (pieces × tags), the first and the last left out: they are no words."""
    return float(log_odds(window[1:-1]).max(initial=-np.inf))


def _asked(graph: Any, outputs: tuple[str, ...], **inputs: Any) -> Any:
    taken = {each.name for each in graph.get_inputs()}  # the exporter leaves out what a switched-off part would need
    return graph.run(outputs, {name: value for name, value in inputs.items() if name in taken})


def _open(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    try:
        # Fused, the sum of a layer and what skips it is normalised one number at a time: six times as long as the two
        # nodes apart, a seventh of the whole.
        apart = ["SkipLayerNormFusion"]
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=apart
        )
    except Exception:  # onnxruntime raises its own classes, one per status; all of them mean this
        raise SettingError(f"encoder: {path.name} cannot be loaded; export the model again") from None
