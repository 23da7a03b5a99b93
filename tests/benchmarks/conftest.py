"""The five notes from the evaluation tests."""

from ..evaluation.conftest import found, gold, jsonl  # noqa: TID252 -- tests are not a package with an absolute name

__all__ = ["found", "gold", "jsonl"]
