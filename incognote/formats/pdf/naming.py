"""Rename resources whose names can be words, in the resources and in the streams that use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from incognote.formats.pdf import closed
from incognote.formats.pdf.values import entries, is_dictionary, is_name, name

_KINDS = ("/ExtGState", "/ColorSpace", "/Pattern", "/Shading", "/XObject", "/Font", "/Properties")
_NOTHING = "/R0"  # the new name of a resource that does not exist
_USES = {"Tf": 0, "Do": 0, "gs": 0, "cs": 0, "CS": 0, "sh": 0, "scn": -1, "SCN": -1, "BDC": 1}
"""The position of a resource's name among the operands of each operator that uses one."""


class ResourceNames:
    """The new names of the resources of a document.

    Args:
        pdf: the document.
    """

    def __init__(self, pdf: Any) -> None:
        self._pdf = pdf
        found = {key for holder in _resources(pdf) for kind in _KINDS for key, _ in entries(holder, kind)}
        odd = sorted(key for key in found if not closed.is_resource(key[1:]))
        self.new = {key: f"/R{number}" for number, key in enumerate(odd, 1)}

    def apply(self) -> int:
        """Rename the resources, after all streams were rewritten. Return how many names changed."""
        for holder in list(_resources(self._pdf)) if self.new else ():
            for kind in _KINDS:
                for key, value in entries(holder, kind):
                    if key in self.new:
                        del holder[kind][key]
                        holder[kind][self.new[key]] = value
        return len(self.new)

    def renamed(self, instructions: Iterable[tuple[str, list[Any]]]) -> Iterator[tuple[str, list[Any]]]:
        """Yield instructions with the new names."""
        for operator, operands in instructions:
            at = _USES.get(operator)
            old = operands[at] if at is not None and len(operands) > max(at, 0) else None
            if at is None or not is_name(old) or closed.is_resource(str(old)[1:]):
                yield operator, operands
                continue
            changed = list(operands)
            changed[at] = name(self.new.get(str(old), _NOTHING))
            yield operator, changed


def _resources(pdf: Any) -> Iterator[Any]:
    """Yield all dictionaries of resources."""
    for each in pdf.objects:
        holder = each if hasattr(each, "keys") else None
        if holder is None:
            continue
        if any(is_dictionary(holder.get(kind, None)) for kind in _KINDS):
            yield holder
        for key in ("/Resources", "/DR", "/AcroForm"):
            inner = holder.get(key, None)
            if is_dictionary(inner) and not inner.is_indirect:
                yield inner
                yield from [inner["/DR"]] if is_dictionary(inner.get("/DR", None)) else []
