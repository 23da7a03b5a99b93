"""Writing a FHIR record: members that leave an object, and values that give way to `data-absent-reason`.

In FHIR's JSON (R4, section 2.6.2) what is said of a primitive `birthDate` stands beside it, in `_birthDate`; beside a
list stands a list as long, with null where there is nothing to say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from incognote.records.rawjson import Node

Edit = tuple[int, int, str]

_REASON = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
WITHHELD = f'{{"extension": [{{"url": "{_REASON}", "valueCode": "masked"}}]}}'


class Surgery:
    """Structural edits of one raw record, collected per object.

    Attributes:
        edits: of the raw text. gone: the stretches they remove or replace, within which no other edit may stand.
    """

    def __init__(self) -> None:
        self._removed: dict[int, set[str]] = {}
        self._holders: dict[int, Node] = {}
        self._items: dict[tuple[int, str], list[int]] = {}
        self.edits: list[Edit] = []
        self.gone: list[tuple[int, int]] = []

    def drop(self, holder: Node, name: str) -> None:
        """Remove a member, leaving nothing."""
        self._holders[id(holder)] = holder
        self._removed.setdefault(id(holder), set()).add(name)

    def withhold(self, holder: Node, name: str, index: int | None) -> None:
        """Remove a primitive, or one item of a list of them, and say that it was masked."""
        node, sibling = holder.value[name], holder.value.get(f"_{name}")
        self._holders[id(holder)] = holder
        if index is not None:
            self._items.setdefault((id(holder), name), []).append(index)
        elif sibling is None:
            self._replace(node.key_start, node.end, f'"_{name}": {WITHHELD}')
        else:
            self._replace(sibling.start, sibling.end, WITHHELD)
            self.drop(holder, name)

    def finish(self) -> list[Edit]:
        """All edits; `gone` is complete after this."""
        for (key, name), indices in self._items.items():
            self._withhold_items(self._holders[key], name, sorted(indices))
        for key, names in self._removed.items():
            for start, end in _stretches(self._holders[key], names):
                self._replace(start, end, "")
        self.gone.sort()
        return self.edits

    def keeps(self, node: Node) -> bool:
        """Whether a value still stands where it stood; to be asked after `finish`."""
        i = bisect_right(self.gone, (node.start, node.end)) - 1
        return i < 0 or self.gone[i][1] < node.end

    def _withhold_items(self, holder: Node, name: str, indices: Sequence[int]) -> None:
        values, sibling = holder.value[name], holder.value.get(f"_{name}")
        for i in indices:
            self._replace(values.value[i].start, values.value[i].end, "null")
            if sibling is not None:
                self._replace(sibling.value[i].start, sibling.value[i].end, WITHHELD)
        if sibling is None:
            said = ", ".join(WITHHELD if i in set(indices) else "null" for i in range(len(values.value)))
            self.edits.append((values.end, values.end, f', "_{name}": [{said}]'))

    def _replace(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new))
        self.gone.append((start, end))


def _stretches(holder: Node, names: Iterable[str]) -> Iterable[tuple[int, int]]:
    """What of the raw text leaves with some members of an object, so that its commas still stand between the others.

    A run of leaving members takes the comma before it; a run at the front, the one after it.
    """
    removed = set(names)
    members = [(name, node.key_start, node.end) for name, node in holder.value.items()]
    kept_end: int | None = None
    run: tuple[int, int] | None = None
    for name, start, end in members:
        if name in removed:
            run = (run[0] if run else (start if kept_end is None else kept_end), end)
            continue
        if run:
            yield run if kept_end is not None else (run[0], start)
        run, kept_end = None, end
    if run:
        yield run
