"""`incognote evaluate`: scores against gold spans."""

from __future__ import annotations


def evaluate() -> None:
    """Scores."""
