"""Renders the chart with the small subset of Helm's template language that it uses, and nothing more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

_TAG = re.compile(r"(\{\{-?)\s*(.*?)\s*(-?\}\})")


class Unknown(Exception):
    """A template uses a construct that this renderer does not support."""


def rendered(template: str, scope: Mapping[str, Any]) -> str:
    """Render a template with its values.

    Raises:
        Unknown: the template has an unsupported word or a value that does not exist.
    """
    pieces: list[str] = []
    at = 0
    for tag in _TAG.finditer(template):
        pieces += [template[at : tag.start()], tag]  # type: ignore[list-item]  # text and tags alternate
        at = tag.end()
    pieces.append(template[at:])
    for n, piece in enumerate(pieces):
        if isinstance(piece, re.Match):
            if piece[1] == "{{-":
                pieces[n - 1] = pieces[n - 1].rstrip()
            if piece[3] == "-}}":
                pieces[n + 1] = pieces[n + 1].lstrip()
    return _run(pieces, dict(scope))


def _run(pieces: list[Any], scope: dict[str, Any]) -> str:
    out: list[str] = []
    n = 0
    while n < len(pieces):
        piece = pieces[n]
        if not isinstance(piece, re.Match):
            out.append(piece)
        elif piece[2].startswith(("if ", "range ")):
            end = _end(pieces, n)
            inner = pieces[n + 1 : end]
            if piece[2].startswith("if "):
                out.append(_run(inner, scope) if _value(piece[2][3:], scope) else "")
            else:
                asked = re.fullmatch(r"range (\$\w+), (\$\w+) := (.+)", piece[2])
                if asked is None:
                    raise Unknown(piece[2])
                for key, value in sorted(_value(asked[3], scope).items()):
                    out.append(_run(inner, {**scope, asked[1]: key, asked[2]: value}))
            n = end
        else:
            value = _value(piece[2], scope)
            out.append(str(value).lower() if isinstance(value, bool) else str(value))
        n += 1
    return "".join(out)


def _end(pieces: list[Any], start: int) -> int:
    depth = 0
    for n in range(start, len(pieces)):
        if isinstance(pieces[n], re.Match):
            depth += pieces[n][2].startswith(("if ", "range "))
            depth -= pieces[n][2] == "end"
            if depth == 0:
                return n
    raise Unknown("a block without an end")


def _value(asked: str, scope: Mapping[str, Any]) -> Any:
    first, *pipes = (part.strip() for part in asked.split("|"))
    to_yaml = first.startswith("toYaml ")
    value: Any = scope
    for name in first.removeprefix("toYaml ").removeprefix(".").split("."):
        if name not in value:
            raise Unknown(first)
        value = value[name]
    if to_yaml:
        value = yaml.safe_dump(value, default_flow_style=False).rstrip("\n")
    for pipe in pipes:
        word, *arguments = pipe.split()
        if word == "quote":
            value = '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        elif word == "indent":
            value = "\n".join(" " * int(arguments[0]) + line for line in str(value).rstrip("\n").split("\n"))
        else:
            raise Unknown(pipe)
    return value
