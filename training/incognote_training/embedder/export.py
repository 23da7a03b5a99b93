"""Write the student as files: int8 rows with a float16 scale each in ONNX, the tokenizer, and a card in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.embedding.vendors.embedded import content_hash
from incognote.errors import MissingExtra
from incognote_training.embedder.teacher import Matrix

_OPSET = 17
_WINDOW = 512


def quantized(table: Matrix) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows in steps of 1/127 of their largest entry, and the size of a step for each row."""
    steps = (np.abs(table).max(axis=1) / 127).astype(np.float16)
    safe = np.where(steps > 0, steps, 1).astype(np.float32)
    return np.clip(np.rint(table / safe[:, None]), -127, 127).astype(np.int8), steps


def graph(table: Matrix) -> bytes:
    """An ONNX model: `ids` (texts × WordPieces, int64) to `sum` (texts × dimension), the sum of their scaled rows.

    Raises:
        MissingExtra: the extra `train` is not installed.
    """
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingExtra("train", "distilling the embedder") from None
    rows, steps = quantized(table)
    nodes = [
        helper.make_node("Gather", ["rows", "ids"], ["small"]),
        helper.make_node("Cast", ["small"], ["vectors"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["steps", "ids"], ["half"]),
        helper.make_node("Cast", ["half"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "middle"], ["row"]),
        helper.make_node("MatMul", ["row", "vectors"], ["one"]),
        helper.make_node("Squeeze", ["one", "middle"], ["sum"]),
    ]
    made = helper.make_graph(
        nodes,
        "static-embedding",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "pieces"])],
        [helper.make_tensor_value_info("sum", TensorProto.FLOAT, ["texts", table.shape[1]])],
        [
            numpy_helper.from_array(rows, "rows"),
            numpy_helper.from_array(steps, "steps"),
            numpy_helper.from_array(np.array([1], np.int64), "middle"),
        ],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    data: bytes = model.SerializeToString()
    return data


def write(folder: Path, table: Matrix, tokenizer: Any, pad: int, facts: dict[str, Any]) -> str:
    """Write model.onnx, tokenizer.json, and model.json, and return the version.

    Args:
        tokenizer: a `tokenizers.Tokenizer` that neither truncates nor pads.
        pad: the padding WordPiece; its row becomes zero.
        facts: further content of the card.
    """
    table = table.copy()
    table[pad] = 0
    model, words = graph(table), json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
    version = content_hash(model, words.encode())
    card = {"version": version, "dimension": table.shape[1], "window": _WINDOW, "pad": pad, **facts}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_bytes(words.encode())
    (folder / "model.json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return version
