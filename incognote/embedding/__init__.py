"""The one door to embedders: texts in, unit vectors out, whoever computes them."""

from incognote.embedding.base import Embedder, Vectors
from incognote.embedding.opening import open_embedder

__all__ = ["Embedder", "Vectors", "open_embedder"]
