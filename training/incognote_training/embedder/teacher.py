"""The teacher: sentence vectors of texts, and the mean vector of each WordPiece in its contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from incognote.embedding.base import by_tokens, unit
from incognote.errors import MissingExtra

Matrix = NDArray[np.float32]
_TOKENS = 4_096
_WINDOW = 254  # plus two special tokens: the input length of all-MiniLM-L6-v2


@dataclass(frozen=True)
class Lesson:
    """The teacher's output.

    Attributes:
        ids: the WordPieces of each text, without the special ones.
        vectors: of length 1, texts × teacher's dimension.
        meanings: the mean contextual vector of each WordPiece, vocabulary × teacher's dimension; zero if unseen.
        counts: how often each WordPiece occurred.
    """

    ids: list[list[int]]
    vectors: Matrix
    meanings: Matrix
    counts: NDArray[np.int64]


class Teacher:
    """A BERT-like sentence encoder with mean pooling, loaded with `transformers`.

    Args:
        folder: of the model; nothing is downloaded.

    Raises:
        MissingExtra: the extra `train` is not installed.
    """

    def __init__(self, folder: str) -> None:
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError:
            raise MissingExtra("train", "distilling the embedder") from None
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        backend = self.tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        self.backend: Any = backend

    def read(self, texts: Sequence[str], what: str, progress: Progress) -> Lesson:
        """Encode texts in windows. A text's vector is the mean of its windows, weighted by tokens."""
        import torch

        ids = [list(found.ids) for found in self.backend.encode_batch(list(texts), add_special_tokens=False)]
        owners, windows = [], []
        for number, own in enumerate(ids):
            for at in range(0, len(own), _WINDOW):
                owners.append(number)
                windows.append(own[at : at + _WINDOW])
        size, width = self.backend.get_vocab_size(), int(self._model.config.hidden_size)
        sums, means = np.zeros((len(texts), width), np.float32), torch.zeros((size, width))
        first, last, pad = (self.tokenizer.convert_tokens_to_ids(t) for t in ("[CLS]", "[SEP]", "[PAD]"))
        bar = progress.add_task(what, total=sum(map(len, windows)))
        for batch in by_tokens([len(w) + 2 for w in windows], _TOKENS):
            rows = [torch.tensor([first, *windows[i], last]) for i in batch]
            padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
            mask = (padded != pad).long()
            with torch.inference_mode():
                states = self._model(input_ids=padded, attention_mask=mask).last_hidden_state
            pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            vectors = unit(pooled.numpy())
            lengths = np.array([[len(windows[i])] for i in batch], np.float32)
            np.add.at(sums, [owners[i] for i in batch], vectors * lengths)
            kept = mask.bool() & (padded != first) & (padded != last)
            means.index_add_(0, padded[kept], states[kept] / pooled.norm(dim=1).mean())
            progress.advance(bar, float(lengths.sum()))
        counts = np.bincount(np.fromiter((i for own in ids for i in own), np.int64), minlength=size)
        meanings: Matrix = means.numpy() / np.maximum(counts, 1)[:, None].astype(np.float32)
        return Lesson(ids, unit(sums), meanings, counts)
