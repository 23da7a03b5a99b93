"""The kinds of objects of pikepdf, and short ways to make them. pikepdf is imported when they are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any


def is_string(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.String | str)


def is_name(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.Name)


def is_array(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.Array)


def is_dictionary(value: Any) -> bool:
    """Whether a value is a dictionary and not a stream."""
    import pikepdf

    return isinstance(value, pikepdf.Dictionary) and not is_stream(value)


def is_stream(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.Stream)


def dictionary(entries: Mapping[str, Any] | None = None) -> Any:
    import pikepdf

    return pikepdf.Dictionary(entries or {})


def array(items: Iterable[Any]) -> Any:
    import pikepdf

    return pikepdf.Array(items)


def name(value: str) -> Any:
    import pikepdf

    return pikepdf.Name(value)


def decimal(value: float) -> Decimal:
    """Return a number as a file has it: with at most five decimals."""
    return Decimal(f"{value:.5f}".rstrip("0").rstrip(".") or "0")


def string(value: str) -> Any:
    import pikepdf

    return pikepdf.String(value)


def entries(holder: Any, key: str) -> list[tuple[str, Any]]:
    """Return the entries of a dictionary in a dictionary, in the order of their names."""
    inner = holder.get(key, None)
    return [(name, inner[name]) for name in sorted(inner.keys())] if is_dictionary(inner) else []


def items(holder: Any, key: str) -> list[Any]:
    """Return the items of an array in a dictionary."""
    inner = holder.get(key, None)
    return list(inner) if is_array(inner) else []


def tree(node: Any, key: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a tree of names (`/Names`) or numbers (`/Nums`)."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop(0)
        if node.is_indirect and node.objgen in seen:
            continue
        seen.add(node.objgen)
        pairs = items(node, key)
        for index in range(0, len(pairs) - 1, 2):
            yield str(pairs[index]) if key == "/Names" else pairs[index], pairs[index + 1]
        waiting += items(node, "/Kids")


def forms_of(annotation: Any) -> Iterator[Any]:
    """Yield the streams that draw an annotation, in the order of their names."""
    for _, look in entries(annotation, "/AP"):
        if is_stream(look):
            yield look
        elif is_dictionary(look):
            yield from (look[state] for state in sorted(look.keys()) if is_stream(look[state]))
