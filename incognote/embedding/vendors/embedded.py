"""The embedder in this package: one vector per WordPiece, weighted and summed, in ONNX, without torch.

The model and how it was made: languages/en/incognote_en/embedder/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from incognote.embedding.base import Vectors, by_tokens, unit
from incognote.errors import IncognoteError
from incognote.languages import language
from incognote.onnx import session

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_TEXTS = 256  # tokenized at once
_TOKENS = 16_384  # looked up at once: 8 MB of float32


class EmbeddedEmbedder:
    """A static token embedding, distilled from all-MiniLM-L6-v2.

    Args:
        folder: a model made by `python -m incognote_training.embedder`; the shipped one by default.
    """

    name = "embedded"

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or language().file("embedder")
        self._lock = Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None

    @cached_property
    def _card(self) -> dict[str, Any]:
        card: dict[str, Any] = json.loads(self._folder.joinpath("model.json").read_text(encoding="utf-8"))
        return card

    @property
    def version(self) -> str:
        """The hash of the model and its tokenizer, as the card states it.

        The files are checked against it when loaded.
        """
        return str(self._card["version"])

    @property
    def dimension(self) -> int:
        return int(self._card["dimension"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, texts × dimension, of texts of any length. A text without a known WordPiece has zeros.

        Raises:
            IncognoteError: the model's files do not match its card.
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _TEXTS):
            some = texts[start : start + _TEXTS]
            vectors[start : start + len(some)] = self._embed(some)
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        tokenizer, session = self._models()
        owners: list[int] = []
        windows: list[list[int]] = []
        width = int(self._card["window"])
        for number, text in enumerate(texts):
            ids = tokenizer.encode(_encodable(text), add_special_tokens=False).ids
            for at in range(0, len(ids), width):
                owners.append(number)
                windows.append(ids[at : at + width])
        sums = np.zeros((len(texts), self.dimension), np.float32)
        for batch in by_tokens([len(window) for window in windows], _TOKENS):
            padded = np.full(
                (len(batch), len(windows[batch[-1]])), self._card["pad"], np.int64
            )  # the pad's row is zero
            for row, index in enumerate(batch):
                padded[row, : len(windows[index])] = windows[index]
            (summed,) = session.run(["sum"], {"ids": padded})
            np.add.at(sums, [owners[index] for index in batch], summed)
        return unit(sums)

    def _models(self) -> tuple[Tokenizer, InferenceSession]:
        """Return the models, read once by the first thread. Both can be shared afterwards."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._read()
            return self._loaded

    def _read(self) -> tuple[Tokenizer, InferenceSession]:
        from tokenizers import Tokenizer

        model, words = (self._folder.joinpath(name).read_bytes() for name in ("model.onnx", "tokenizer.json"))
        if content_hash(model, words) != self.version:
            raise IncognoteError("The files of the embedding model do not match its card. Reinstall incognote.")
        return Tokenizer.from_buffer(words), session(model)


def content_hash(model: bytes, tokenizer: bytes) -> str:
    """Return the hash that names a version: 16 hexadecimal digits."""
    return sha256(sha256(model).digest() + sha256(tokenizer).digest()).hexdigest()[:16]


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses, by the replacement character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
