"""Any sentence-transformers model that is on this machine. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from threading import RLock
from typing import Any

import numpy as np

from incognote.embedding.base import Vectors, by_tokens, unit
from incognote.errors import MissingExtra, UnknownName

_TEXTS = 256  # tokenized at once
_TOKENS = 4_096  # read at once


class SentenceTransformersEmbedder:
    """A model of the sentence-transformers library, on the CPU.

    Args:
        model: a folder, or a model's name in this machine's cache. Prompts that a model expects before a text are not
            added, and code that comes with a model is not run.

    Raises:
        MissingExtra: the extra `train` is not installed.
    """

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("train", "a sentence-transformers model")
        self.name = f"sentence-transformers:{model}"
        self._source = model
        self._lock = RLock()
        self._read: Any = None
        self._version = ""
        self._dimension = 0

    @property
    def _model(self) -> Any:
        """The model, read once by the first thread."""
        with self._lock:
            if self._read is None:
                from sentence_transformers import SentenceTransformer

                try:
                    self._read = SentenceTransformer(self._source, device="cpu", local_files_only=True).eval()
                except (OSError, ValueError):
                    raise UnknownName("sentence-transformers model on this machine", self._source) from None
            return self._read

    @property
    def version(self) -> str:
        """A hash of weights, buffers, modules and vocabulary."""
        with self._lock:
            if not self._version:
                model = self._model
                digest = sha256(repr([self._window, *map(str, model)]).encode())
                digest.update(repr(sorted(model.tokenizer.get_vocab().items())).encode())
                for name, tensor in sorted(model.state_dict().items()):
                    digest.update(f"{name}{tuple(tensor.shape)}".encode())
                    digest.update(tensor.detach().cpu().contiguous().flatten().view(_bytes()).numpy())
                self._version = digest.hexdigest()[:16]
            return self._version

    @property
    def dimension(self) -> int:
        with self._lock:
            if not self._dimension:
                self._dimension = int(self.embed(["a"]).shape[1])
            return self._dimension

    @property
    def _window(self) -> int:
        """The window in tokens, including the special ones."""
        return int(self._model.max_seq_length or self._model.tokenizer.model_max_length)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, texts × dimension.

        Raises:
            UnknownName: the model is not on this machine.
        """
        with self._lock:  # its tokenizer is set up for every call, and the model uses all threads anyway
            parts = [self._embed(texts[at : at + _TEXTS]) for at in range(0, len(texts), _TEXTS)]
            return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import torch

        model, tokenizer = self._model, self._model.tokenizer
        read = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
        cut = tokenizer(
            read,
            truncation=True,
            max_length=self._window,
            stride=0,
            return_overflowing_tokens=True,
            return_special_tokens_mask=True,
        )
        owners, windows = cut["overflow_to_sample_mapping"], cut["input_ids"]
        tokens = [len(mask) - sum(mask) for mask in cut["special_tokens_mask"]]
        sums: Vectors | None = None
        for batch in by_tokens([len(window) for window in windows], _TOKENS):
            rows = tokenizer.pad({"input_ids": [windows[i] for i in batch]}, return_tensors="pt")
            with torch.inference_mode():
                answer = model({"input_ids": rows["input_ids"], "attention_mask": rows["attention_mask"]})
            vectors = unit(answer["sentence_embedding"].float().cpu().numpy())
            if sums is None:
                sums = np.zeros((len(texts), vectors.shape[1]), np.float32)
            np.add.at(sums, [owners[i] for i in batch], vectors * np.array([[tokens[i]] for i in batch], np.float32))
        assert sums is not None  # there is at least one text, and a window for every text
        return unit(sums)


def _bytes() -> Any:
    import torch

    return torch.uint8
