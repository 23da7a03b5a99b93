"""The five notes of the evaluation's tests."""

from ..evaluation.conftest import found, gold, jsonl  # noqa: TID252 -- tests are no package to name absolutely

__all__ = ["found", "gold", "jsonl"]
