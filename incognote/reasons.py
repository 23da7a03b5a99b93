"""The explanations of reason codes, read from `reasons.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class ReasonText:
    """What a reason code means and what to do about it.

    Args:
        means: what happened.
        next: what an operator does about it.
        review: what a reviewer does about it on the review page; the same as `next` by default.
    """

    means: str
    next: str
    review: str = ""


@cache
def reason_texts() -> Mapping[str, ReasonText]:
    """Return all reason codes that have a text, in the order of the file."""
    texts_by_code = tomllib.loads(files("incognote").joinpath("reasons.toml").read_text(encoding="utf-8"))
    return {code: ReasonText(**{"review": texts["next"], **texts}) for code, texts in texts_by_code.items()}
