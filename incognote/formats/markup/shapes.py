"""The drawing data of SVG: the commands and numbers that a shape consists of."""

from __future__ import annotations

import re

_NUMBER = r"[-+]?(?:(?:0|[1-9]\d{0,3})(?:\.\d{0,8})?|\.\d{1,8})(?:e-\d{1,2})?(?!\d)"
_STEP = re.compile(rf"[\s,]*(?:(?P<command>[MLHVCSQTAZmlhvcsqtaz])|(?P<number>{_NUMBER}))")
_FLAG = re.compile(r"[\s,]*(?P<number>[01])")
_TAKES = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}
_TRANSFORM = re.compile(
    r"\s*(?P<name>matrix|translate|scale|rotate|skewx|skewy)\((?P<numbers>[^()]*)\)[\s,]*", re.IGNORECASE
)
_ARITY = {"matrix": (6,), "translate": (1, 2), "scale": (1, 2), "rotate": (1, 3), "skewx": (1,), "skewy": (1,)}


def is_shape(name: str, value: str) -> bool:
    """Whether the value of an attribute is drawing data with as many numbers as its commands take.

    No number has more than four digits before its point, or a zero before other digits, as telephone numbers have.

    Args:
        name: the name of the attribute, in lower case.
    """
    if name == "d":
        return _is_path(value)
    if name == "viewbox":
        return _count(value) == 4
    if name == "points":
        return (count := _count(value)) >= 4 and count % 2 == 0
    return name in ("transform", "gradienttransform", "patterntransform") and _is_transform(value)


def _is_path(value: str) -> bool:
    value = value.rstrip()
    at, command, count = 0, "", 0
    while at < len(value):
        is_flag = command == "a" and count % 7 in (3, 4)
        step = (_FLAG if is_flag else _STEP).match(value, at)
        if step is None or (not command and step["command"] not in ("M", "m")):
            return False
        if step["number"]:
            at, count = step.end(), count + 1
        elif not _is_whole(command, count):
            return False
        else:
            at, command, count = step.end(), step["command"].lower(), 0
    return bool(command) and _is_whole(command, count)


def _is_whole(command: str, count: int) -> bool:
    """Whether a command, or none, has all its numbers."""
    takes = _TAKES.get(command, 0)
    return count % takes == 0 and count > 0 if takes else count == 0


def _is_transform(value: str) -> bool:
    at = 0
    while found := _TRANSFORM.match(value, at):
        if _count(found["numbers"]) not in _ARITY[found["name"].lower()]:
            return False
        at = found.end()
    return 0 < at == len(value)


def _count(value: str) -> int:
    """Return how many numbers a value consists of, or -1 if it has anything else."""
    value = value.rstrip()
    at = count = 0
    while at < len(value):
        step = _STEP.match(value, at)
        if step is None or not step["number"]:
            return -1
        at, count = step.end(), count + 1
    return count
