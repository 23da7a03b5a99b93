"""Which characters of a Word document are hidden: by their own properties, or by their styles."""

from __future__ import annotations

from incognote.formats.records.rawxml import Element

_DEEPEST = 20  # styles based on each other


def switched(properties: Element | None, name: str) -> bool | None:
    """Return whether properties switch something on or off, or None if they do not say."""
    found = properties.child(name) if properties is not None else None
    if found is None:
        return None
    value = next((a.value for key, a in found.attributes.items() if key.endswith("}val") or key == "val"), "true")
    return value.lower() not in ("0", "false", "off")


def value_of(properties: Element | None, name: str) -> str:
    """Return the value of a property, or ""."""
    found = properties.child(name) if properties is not None else None
    if found is None:
        return ""
    return next((a.value for key, a in found.attributes.items() if key.endswith("}val")), "")


class HiddenStyles:
    """The styles of a document, as far as they hide text.

    Args:
        root: the root of the part with the styles, or None if there is none.
    """

    def __init__(self, root: Element | None) -> None:
        self._own: dict[str, bool | None] = {}
        self._base: dict[str, str] = {}
        self._default: dict[str, str] = {}
        for style in root.elements if root is not None else ():
            if style.name != "style":
                continue
            named = {key.rpartition("}")[2]: a.value for key, a in style.attributes.items()}
            name = named.get("styleId", "")
            self._own[name] = switched(style.child("rPr"), "vanish")
            self._base[name] = value_of(style, "basedOn")
            if named.get("default", "") in ("1", "true", "on"):
                self._default[named.get("type", "")] = name

    def hides(self, paragraph: str, run: str, table: str = "") -> bool:
        """Whether text in these styles is hidden. Each style switches what the other ones say."""
        names = (paragraph or self._default.get("paragraph", ""), run or self._default.get("character", ""), table)
        return sum(map(self._is_hidden, names)) % 2 == 1

    def _is_hidden(self, name: str) -> bool:
        for _ in range(_DEEPEST):
            own = self._own.get(name)
            if own is not None or not name:
                return bool(own)
            name = self._base.get(name, "")
        return False
