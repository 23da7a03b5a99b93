"""What the doctor says."""

from __future__ import annotations

from typing import Literal, NamedTuple

State = Literal["ok", "warn", "fail"]


class Line(NamedTuple):
    """One finding: its state, what it is about, what was seen, and what to do ("" for nothing)."""

    state: State
    about: str
    seen: str
    remedy: str = ""
