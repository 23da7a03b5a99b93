"""Generators of surrogates, one module per kind, behind one protocol.

draw, taken = Keyed(keyring), Taken()
surrogates = Generators(Choices()).generate_all(identities, draw, taken)
"""

from __future__ import annotations

from incognote.relex.generate.base import Choices, Component, Draw, Keyed, Kind, Random, Request
from incognote.relex.generate.batch import Generators, originals
from incognote.relex.generate.taken import Taken

__all__ = ["Choices", "Component", "Draw", "Generators", "Keyed", "Kind", "Random", "Request", "Taken", "originals"]
