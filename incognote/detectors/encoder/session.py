"""The model's graphs in onnxruntime, one thread each; nothing else of the package imports onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.errors import SettingError

Floats = NDArray[np.float32]


class Session:
    """Thread-safe, as onnxruntime's sessions are.

    Args:
        folder: a bundle's.
        fast: whether to leave by the early exit.

    Raises:
        SettingError: a graph cannot be loaded.
    """

    def __init__(self, folder: Path, *, fast: bool) -> None:
        self._lower = _open(folder / "lower.onnx")
        self._fast = fast
        upper = folder / "upper.onnx"
        self._upper = _open(upper) if not fast and upper.is_file() else None

    def __call__(self, ids: NDArray[np.int64], features: Floats) -> Floats:
        """Logits, windows × pieces × tags."""
        hidden, early = _asked(self._lower, ("hidden", "fast"), ids=ids, features=features)
        logits: Floats = early
        if self._upper is not None:
            (logits,) = _asked(self._upper, ("logits",), hidden=hidden, ids=ids, features=features)
        return logits


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
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime raises its own classes, one per status; all of them mean this
        raise SettingError(f"encoder: {path.name} cannot be loaded; export the model again") from None
