"""Rename resources whose names can be words, in the resources and in the streams that use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from incognote.formats.pdf import closed
from incognote.formats.pdf.content import instructions_of
from incognote.formats.pdf.values import entries, is_dictionary, is_name, is_stream, name

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
        for stream in list(_drawings(self._pdf)) if self.new else ():
            self._rename_in(stream)
        return len(self.new)

    def _rename_in(self, stream: Any) -> None:
        import pikepdf

        old = instructions_of(stream)
        new = list(self.renamed(old))
        if new != old:
            stream.write(pikepdf.unparse_content_stream([
                operands[0] if operator == "INLINE IMAGE"
                else pikepdf.ContentStreamInstruction(operands, pikepdf.Operator(operator))
                for operator, operands in new
            ]))  # fmt: skip

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


def _drawings(pdf: Any) -> Iterator[Any]:
    """Yield the streams that draw patterns, masks, and glyphs, which are not read with a page."""
    for each in pdf.objects:
        if is_stream(each) and each.get("/PatternType", 0) == 1:
            yield each
        elif is_dictionary(each):
            masks = [state.get("/SMask", None) for _, state in entries(each, "/ExtGState") if is_dictionary(state)]
            masks += [each.get("/SMask", None)]
            yield from (mask["/G"] for mask in masks if is_dictionary(mask) and is_stream(mask.get("/G", None)))
            yield from (drawn for _, drawn in entries(each, "/CharProcs") if is_stream(drawn))


def _resources(pdf: Any) -> Iterator[Any]:
    """Yield all dictionaries of resources. The shading of a pattern is not one by the name of `/Shading`."""
    for each in pdf.objects:
        holder = each if hasattr(each, "keys") else None
        if holder is None:
            continue
        if holder.get("/PatternType", None) is None and any(is_dictionary(holder.get(kind, None)) for kind in _KINDS):
            yield holder
        for key in ("/Resources", "/DR", "/AcroForm"):
            inner = holder.get(key, None)
            if is_dictionary(inner) and not inner.is_indirect:
                yield inner
                yield from [inner["/DR"]] if is_dictionary(inner.get("/DR", None)) else []
