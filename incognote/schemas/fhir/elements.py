"""Compile the written rules of one release of FHIR, type by type. See the package for the form of a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

Rule = Literal[
    "pass", "code", "link", "uri", "type", "mask", "absent", "drop", "id", "reference", "date", "text", "display",
    "narrative", "attachment", "resource", "extension", "refuse",
]
Elements = Mapping[str, "ElementRule"]
T = TypeVar("T")
_WRITTEN = re.compile(r"(?P<like>@)?(?P<type>[\w.]+)(?:\((?P<limits>[^)]*)\)|~(?P<pattern>\w+))?(?P<many>\[\])?"
                      r"(?: (?P<rule>[a-z]+))?(?: (?P<entity>[A-Z_]+))?")
_BY_TYPE: dict[str, Rule] = {
    **dict.fromkeys(("boolean", "integer", "unsignedInt", "positiveInt", "integer64", "decimal",
                     "time"), "pass"),
    **dict.fromkeys(("date", "dateTime", "instant"), "date"), **dict.fromkeys(("id", "oid", "uuid"), "id"),
    **dict.fromkeys(("uri", "url", "canonical"), "uri"), "string": "text", "markdown": "text", "code": "code",
    "xhtml": "narrative", "base64Binary": "absent", "Extension": "extension", "Resource": "resource",
}


@dataclass(frozen=True, slots=True)
class ElementRule:
    """The rule for one element.

    Args:
        type: a FHIR primitive or data type; `Element` or `BackboneElement` for an element defined in place.
        rule: the rule of a primitive, or a rule that overrides the data type's. None: the elements of the type decide.
        many: whether it is a list.
        entity: the entity type of the value.
        values, pattern: the limits for a string that passes.
        targets: the resource types that a Reference may name.
        elements: the elements of an element defined in place.
    """

    type: str
    rule: Rule | None = None
    many: bool = False
    entity: str | None = None
    values: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None
    targets: tuple[str, ...] = ()
    elements: Elements | None = None


@dataclass(frozen=True, slots=True)
class ExtensionRule:
    """The content of one allowed extension: value elements, or nested extensions by URL."""

    values: Elements
    inner: Mapping[str, ExtensionRule]


class Lazy(Mapping[str, T], Generic[T]):
    """A mapping whose values are compiled when they are first used.

    Args:
        written: the values as in the file.
        compiled: compiles the value of a key.
    """

    def __init__(self, written: Mapping[str, Any], compiled: Callable[[str], T]) -> None:
        self._written, self._compiled = written, compiled
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            self._written[name]  # raises KeyError
            self._values[name] = self._compiled(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)


class Compiler:
    """Compiles the written rules of one release, type by type."""

    def __init__(self, written: Mapping[str, Any], patterns: Mapping[str, str]) -> None:
        self._written = written
        self._patterns = {name: re.compile(form, re.ASCII) for name, form in patterns.items()}
        self.types: Lazy[Elements] = Lazy(written["types"], self._type)

    def resource(self, name: str) -> Elements:
        return self._with_base(self._written["resources"][name])

    def _type(self, name: str) -> Elements:
        return self._with_base(self._written["types"][name])

    def _with_base(self, written: Mapping[str, Any]) -> Elements:
        own: dict[str, ElementRule] = {**self.types[written["base"]]} if "base" in written else {}
        self._elements(written["elements"], own, {"": own}, "")
        return own

    def _elements(self, written: Mapping[str, Any], into: dict[str, ElementRule], root: dict[str, Elements],
                  path: str) -> None:
        """Compile elements. Each is added before its inner elements, so that one of these may be like it.

        Args:
            written: the elements. into: receives them.
            root: the elements at each path of the type, "" for its own. path: the path of `into`, with a dot.
        """
        for name, given in written.items():
            if isinstance(given, dict):
                type_ = given["type"].removesuffix("[]")
                inner = root[path + name] = {**self.types[type_]}
                into[name] = ElementRule(type_, many=given["type"] != type_, elements=inner)
                self._elements(given["elements"], inner, root, f"{path}{name}.")
            elif given.startswith("*"):
                for type_ in self._written["open_types"]:
                    own = name.removesuffix("[x]") + type_[0].upper() + type_[1:]
                    into[own] = self.element(type_ + given[1:], root)
            else:
                into[name] = self.element(given, root)

    def element(self, written: str, root: Mapping[str, Elements]) -> ElementRule:
        """Compile the rule of one element."""
        part = _WRITTEN.fullmatch(written)
        assert part is not None, written
        many = bool(part["many"])
        if part["like"]:
            return ElementRule("BackboneElement", many=many, elements=root[part["type"]])
        limits = tuple(part["limits"].split("|")) if part["limits"] else ()
        is_reference = part["type"] in ("Reference", "CodeableReference")
        bounded = part["pattern"] or (limits and not is_reference)
        rule: Any = part["rule"] or ("pass" if bounded else _BY_TYPE.get(part["type"]))
        return ElementRule(
            part["type"], rule, many, part["entity"] or ("GUID" if rule == "absent" else None),
            values=frozenset(limits) if limits and not is_reference else None,
            pattern=self._patterns[part["pattern"]] if part["pattern"] else None,
            targets=limits if is_reference else (),
        )

    def extensions(self, written: Mapping[str, Any]) -> Lazy[ExtensionRule]:
        """Return extensions by URL."""
        return Lazy(written, lambda url: ExtensionRule(
            {name: self.element(value, {}) for name, value in written[url].items() if name != "extension"},
            self.extensions(written[url].get("extension", {}))))
