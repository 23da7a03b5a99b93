"""All operators by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from incognote.operators.base import Operator
from incognote.operators.date_shift import DateShift
from incognote.operators.fixed_length import FixedLength
from incognote.operators.generalize import Generalize
from incognote.operators.hash import Hash
from incognote.operators.intelligent import Intelligent
from incognote.operators.keep import Keep
from incognote.operators.label import Label
from incognote.operators.same_length import SameLength
from incognote.operators.surrogate import Surrogate
from incognote.plugins import installed, load


@cache
def operators() -> Mapping[str, Operator]:
    """One instance of each, ours and those of installed packages; they hold no state."""
    every: tuple[Operator, ...] = (
        Label(), SameLength(), FixedLength(), Hash(), DateShift(), Generalize(), Keep(), Intelligent(),
        Surrogate(), *(load("incognote.operators", name)() for name in installed("incognote.operators")),
    )  # fmt: skip
    return MappingProxyType({operator.name: operator for operator in every})
