"""Embedders turn texts into unit vectors. They are opened by their names."""

from __future__ import annotations

from incognote.embedding.base import Embedder, Vectors
from incognote.errors import UnknownName
from incognote.plugins import installed, load

__all__ = ["Embedder", "Vectors", "open_embedder"]

EMBEDDED = "embedded"
SENTENCE_TRANSFORMERS = "sentence-transformers:"


def open_embedder(name: str = EMBEDDED) -> Embedder:
    """Open an embedder. Its weights are read on first use.

    Args:
        name: `embedded`, the model in this package, or `sentence-transformers:MODEL` with a folder or the name of a
            model that is already on this machine (extra `train`). Nothing is downloaded. `VENDOR:REST` uses an
            installed package (`incognote.embedders`).

    Raises:
        MissingExtra: the required extra is not installed.
        UnknownName: no embedder has that name, or the model is not on this machine.
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
