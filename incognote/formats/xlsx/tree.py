"""Walk the elements of a spreadsheet part, and remove what no rule keeps (`rules.toml`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from incognote.errors import MalformedRecord
from incognote.formats.base import Change
from incognote.formats.office.package import XmlPart
from incognote.formats.records.rawxml import XML, Element
from incognote.formats.xlsx.closed import MAIN, SPACES, elements, is_closed

Rule = Callable[[Element], Collection[str] | None]
"""Reads an element. It returns the attributes that it has dealt with, and `*` if also the content, or None to remove
the element."""
WHOLE = "*"
_LISTS = frozenset(("conditionalFormatting", "dataValidations", "hyperlinks", "definedNames", "tableParts"))
"""Elements that must have another one inside, and so are removed without any."""
_DECLARED = "xmlns"
_PREFIXES = {**{f"{{{uri}}}": f"{prefix}:" for prefix, uri in SPACES.items() if prefix}, f"{{{XML}}}": "xml:"}


class Cleaner:
    """Finds the changes that are made to a part in every document.

    Args:
        part: the part.
        rules: what to do with an element besides, by its name.
        ids: returns the new id of a relation.

    Attributes:
        fixed: the changes.
    """

    def __init__(self, part: XmlPart, rules: Mapping[str, Rule], ids: Callable[[str], str] = str) -> None:
        self.part, self.rules, self._ids = part, rules, ids
        self.fixed: list[Change] = []

    def clean(self) -> list[Change]:
        """Return the changes.

        Raises:
            MalformedRecord: the root has no rule, or there are words where the standard allows none.
        """
        root = self.part.xml.root
        if root.uri != MAIN or root.name not in elements():
            form = "a part in another form, such as Strict Open XML. Save it as .xlsx"
            raise MalformedRecord(form, field=self.part.shown)
        self._element(root)
        self.fixed += [(start, end, "") for start, end in self.part.xml.comments]
        self.fixed += [(each.start, each.end, "") for each in self.part.xml.stylesheets]
        return self.fixed

    def _element(self, element: Element) -> bool:
        """Clean an element. Return whether it stays."""
        before = len(self.fixed)
        done: Collection[str] | None = ()
        if element.uri != MAIN or element.name not in elements():
            done = None
        elif element.name in self.rules:
            done = self.rules[element.name](element)
        if done is None:
            del self.fixed[before:]
            self.fixed.append((element.start, element.end, ""))
            return False
        self.fixed += self._attributes(element, done)
        if WHOLE in done:
            return True
        kept = [self._element(child) for child in element.elements]
        if any(self.part.source[each.start : each.end].strip() for each in element.characters):
            raise MalformedRecord(f"words in <{element.name}>, which has none. Save it again", field=self.part.shown)
        if kept and not any(kept) and element.name in _LISTS:
            del self.fixed[before:]
            self.fixed.append((element.start, element.end, ""))
            return False
        return True

    def _attributes(self, element: Element, done: Collection[str]) -> Iterator[Change]:
        allowed = elements()[element.name]
        declared = {name[6:]: each.value for name, each in element.attributes.items() if name.startswith(_DECLARED)}
        for name, attribute in element.attributes.items():
            key = name
            for uri, prefix in _PREFIXES.items():
                if name.startswith(uri):
                    key = prefix + name.removeprefix(uri)
            if key in done:
                continue
            if key == "r:id" and key in allowed:
                if (new := self._ids(attribute.value)) != attribute.value:
                    yield attribute.start, attribute.end, new
                continue
            if name == _DECLARED or name.startswith(f"{_DECLARED}:"):
                stays = SPACES.get(name[6:]) == attribute.value
            elif key == "mc:Ignorable":
                stays = all(each in SPACES and SPACES[each] == declared.get(each) for each in attribute.value.split())
            else:
                stays = key in allowed and is_closed(key, attribute.value)
            if not stays:
                yield (*attribute.whole, "")
