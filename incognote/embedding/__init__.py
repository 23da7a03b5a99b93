"""Embedders: texts in, unit vectors out; opened by their names."""

from __future__ import annotations

from incognote.embedding.base import Embedder, Vectors
from incognote.errors import UnknownName
from incognote.plugins import installed, load

__all__ = ["Embedder", "Vectors", "open_embedder"]

EMBEDDED = "embedded"
SENTENCE_TRANSFORMERS = "sentence-transformers:"


def open_embedder(name: str = EMBEDDED) -> Embedder:
    """An embedder ready to be asked; its weights are read when it is first used.

    Args:
        name: `embedded`, the model that comes with this package, or `sentence-transformers:MODEL` with
            a folder or the name of a model that is already on this machine (extra `train`). Nothing is downloaded.
            `VENDOR:REST` asks an installed package (`incognote.embedders`).

    Raises:
        MissingExtra: the extra it needs is not installed.
        UnknownName: no embedder bears that name, or the model is not on this machine.
    """
    if name == EMBEDDED:
        from incognote.embedding.vendors.embedded import EmbeddedEmbedder

        return EmbeddedEmbedder()
    if name.startswith(SENTENCE_TRANSFORMERS) and name != SENTENCE_TRANSFORMERS:
        from incognote.embedding.vendors.sentence_transformers_sdk import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(name.removeprefix(SENTENCE_TRANSFORMERS))
    vendor, _, rest = name.partition(":")
    others = installed("incognote.embedders")
    if vendor in others:
        embedder: Embedder = load("incognote.embedders", vendor)(rest)
        return embedder
    raise UnknownName("embedder", name, [EMBEDDED, f"{SENTENCE_TRANSFORMERS}MODEL", *others])
