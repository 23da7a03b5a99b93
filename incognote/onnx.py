"""Open ONNX graphs with onnxruntime, one thread each. No other module of the package imports onnxruntime."""

from __future__ import annotations

import os
from typing import Any


def session(model: bytes | str, *, arena: bool = True, **options: Any) -> Any:
    """Return an `onnxruntime.InferenceSession` on the CPU.

    Official builds of onnxruntime report events and a device ID to their maker unless `ORT_DISABLE_TELEMETRY` is set
    before onnxruntime is loaded. It is set here. Events are also turned off, in case onnxruntime was loaded before.

    Args:
        model: the bytes of a graph, or the path of its file.
        arena: whether memory is kept for the next run. It grows with each new shape of the input.
        options: passed to `InferenceSession`.

    Raises:
        Exception: the graph cannot be read. onnxruntime has a class of its own for each status.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.log_severity_level = 3
    settings.enable_cpu_mem_arena = arena
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"], **options)
