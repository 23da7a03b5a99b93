"""The interactive parts of a PDF: form fields, annotations, bookmarks, and the places that links lead to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Any

from incognote.errors import MalformedRecord
from incognote.formats.pdf import closed
from incognote.formats.pdf.keeping import Kept
from incognote.formats.pdf.resources import Resources
from incognote.formats.pdf.values import (
    array,
    dictionary,
    entries,
    forms_of,
    is_array,
    is_dictionary,
    is_name,
    is_stream,
    is_string,
    items,
    name,
    string,
    tree,
)
from incognote.formats.rtf.closed import is_full_name
from incognote.nouns import Known

_NUMBER = re.compile(r"/\d{1,3}")


def fields_of(form: Any) -> Iterator[Any]:
    """Yield the fields and widgets of a form, in order."""
    waiting = items(form, "/Fields")[::-1] if form is not None else []
    seen = set()
    while waiting:
        field = waiting.pop()
        if field.is_indirect and field.objgen in seen:
            continue
        seen.add(field.objgen)
        yield field
        waiting += items(field, "/Kids")[::-1]


def _states_of(field: Any) -> Iterator[Any]:
    """Yield the names of the states of a button and of its widgets."""
    for widget in (field, *items(field, "/Kids")):
        yield from (value for key in ("/V", "/DV", "/AS") if is_name(value := widget.get(key, None)))
        for _, look in entries(widget, "/AP"):
            yield from sorted(look.keys()) if is_dictionary(look) else ()


def _is_state(state: Any) -> bool:
    """Whether the name of a state of a button is a number or a usual word."""
    return str(state) in closed.names("choices") or bool(_NUMBER.fullmatch(str(state)))


def _name_of(field: Any) -> tuple[Any, str] | None:
    """Return what identifies a field: the field above it, and its name. None: it has no name."""
    above = field.get("/Parent", None)
    return (above.objgen if is_dictionary(above) else None, str(field["/T"])) if "/T" in field else None


class Interactive:
    """Cleans the interactive parts of a document.

    Args:
        root: its catalog. kept: collects the texts. resources: cleans the appearance of annotations.
        pages: the numbers of its pages. A place on another page is removed, since that page is not read.
    """

    def __init__(self, root: Any, kept: Kept, resources: Resources, pages: Collection[tuple[int, int]]) -> None:
        self._root, self._kept, self._resources, self._pages = root, kept, resources, pages
        self._places: dict[str, str] = {}
        self._in_form = {each.objgen for each in fields_of(root.get("/AcroForm", None)) if each.is_indirect}

    def places(self) -> None:
        """Rename the named places, which can be headings."""
        found: dict[str, Any] = {key[1:]: value for key, value in entries(self._root, "/Dests")}
        if is_dictionary(self._root.get("/Names", None)) and "/Dests" in self._root["/Names"]:
            found |= dict(tree(self._root["/Names"]["/Dests"], "/Names"))
        if "/Dests" in self._root:
            self._kept.remove(self._root, "/Dests")
        targets = {old: value.get("/D", None) if is_dictionary(value) else value for old, value in found.items()}
        targets = {old: target for old, target in targets.items() if self._is_place(target)}
        if not targets:
            if found and "/Names" in self._root and "/Dests" in self._root["/Names"]:
                self._kept.remove(self._root["/Names"], "/Dests")
            return
        digits = len(str(len(targets)))
        self._places = {old: f"place{number:0{digits}}" for number, old in enumerate(targets, 1)}
        if list(self._places) != list(self._places.values()) or len(targets) < len(found):
            self._kept.changed += 1
        if "/Names" not in self._root:
            self._root["/Names"] = dictionary()
        pairs = [each for old, new in self._places.items() for each in (string(new), targets[old])]
        self._root["/Names"]["/Dests"] = dictionary({"/Names": array(pairs)})

    def form(self) -> None:
        """Clean the form fields.

        Raises:
            MalformedRecord: the value of a field is a stream.
        """
        form = self._root.get("/AcroForm", None)
        if form is None:
            return
        self._kept.keep(form, "acroform")
        self._look(form)
        if "/DR" in form:
            self._resources.clean(form["/DR"])
        fields = list(fields_of(form))
        same: dict[Any, list[Any]] = {}  # widgets of one name are one field, such as the choices of a group
        for field in fields:
            same.setdefault(_name_of(field), []).append(field)
        numbers: dict[Any, int] = {}
        for number, field in enumerate(fields, 1):
            key = _name_of(field)
            self._field(field, numbers.setdefault(key, number), same[key] if key is not None else [field])

    def annotations(self, page: Any) -> None:
        """Clean the annotations of a page. Links to other documents, sounds, films, and drawings are removed."""
        found = items(page, "/Annots")
        kept = [each for each in found if is_dictionary(each) and self._annotation(each)]
        if len(kept) < len(found):
            self._kept.changed += 1
            page["/Annots"] = array(kept)

    def bookmarks(self) -> None:
        """Clean the bookmarks. Their titles are a text."""
        outlines = self._root.get("/Outlines", None)
        if not is_dictionary(outlines):
            return
        self._kept.keep(outlines, "outlines")
        waiting = [outlines.get("/First", None)]
        while waiting:
            item = waiting.pop()
            if not is_dictionary(item) or not self._kept.first(item):
                continue
            self._target(item)
            self._kept.keep(item, "outline")
            if "/Title" in item:
                self._kept.text("bookmarks", item, "/Title")
            waiting += [item.get("/Next", None), item.get("/First", None)]

    def _field(self, field: Any, number: int, same: Sequence[Any]) -> None:
        kept = self._kept
        kept.keep(field, "field")
        self._own_page(field)
        self._look(field)
        self._appearance(field)
        if "/T" in field:
            kept.write(field, "/T", string(f"field{number}"))
        if "/TU" in field:
            kept.text("form", field, "/TU")
        for key, text in (("/V", "form"), ("/DV", "defaults")):
            value = field.get(key, None)
            if is_stream(value):
                raise MalformedRecord("a form field whose value is a stream. Print the document to a new PDF")
            if is_string(value):
                kept.text(text, field, key, "\t" if "/TU" in field and key == "/V" else "\n")
            elif is_array(value):
                self._options(value)
        if any(not _is_state(value) for value in _states_of(field)):
            self._states([widget for each in same for widget in (each, *items(each, "/Kids"))])
        if is_array(field.get("/Opt", None)):
            self._options(field["/Opt"])

    def _own_page(self, annotation: Any) -> None:
        """Remove the page that an annotation says it is on, unless that is a page of the document."""
        if "/P" in annotation and annotation["/P"].objgen not in self._pages:
            self._kept.remove(annotation, "/P")

    def _options(self, values: Any) -> None:
        for index in range(len(values)):
            if is_array(values[index]):
                self._options(values[index])
            elif is_string(values[index]):
                self._kept.text("form", values, index)

    def _states(self, widgets: Sequence[Any]) -> None:
        """Rename the states of a button, which can be words."""
        looks = [look for widget in widgets for _, look in entries(widget, "/AP") if is_dictionary(look)]
        found = sorted({state for look in looks for state in look.keys()})  # noqa: SIM118 -- not a dict
        free = (each for each in map("/{}".format, count(11)) if each not in found)
        new = {state: next(free) for state in found if not _is_state(state)}
        for look in looks:
            for state in sorted(look.keys()):
                if state in new:
                    look[new[state]] = look[state]
                    del look[state]
        for widget in widgets:
            for key in ("/V", "/AS", "/DV"):
                value = widget.get(key, None)
                if value is not None and not is_string(value) and not _is_state(value):
                    widget[key] = name(new.get(str(value), "/Off"))
        self._kept.changed += 1

    def _look(self, holder: Any) -> None:
        if "/DA" in holder and not closed.APPEARANCE.fullmatch(str(holder["/DA"])):
            self._kept.write(holder, "/DA", string("/Helv 0 Tf 0 g"))
        if is_dictionary(holder.get("/MK", None)):
            self._kept.keep(holder["/MK"], "look")
            if "/CA" in holder["/MK"] and self._kept.first(holder["/MK"]):
                self._kept.text("form", holder["/MK"], "/CA")

    def _annotation(self, annotation: Any) -> bool:
        """Clean an annotation. Return whether it stays."""
        kept = self._kept
        kind = str(annotation.get("/Subtype", ""))
        if kind not in closed.names("annotations"):
            return False
        if kind == "/Link" and not self._target(annotation):
            return False
        if kind == "/Widget":
            if "/FT" not in annotation and "/Parent" not in annotation:
                return False
            if kept.first(annotation) and annotation.objgen not in self._in_form:
                self._field(annotation, 0, [annotation])
        else:
            author = annotation.get("/T", None)
            if is_string(author) and is_full_name(str(author)):
                kept.known.append(Known("PERSON", str(author).strip()))
            kept.keep(annotation, "annotation")
            self._own_page(annotation)
            self._look(annotation)
            self._appearance(annotation)
            if "/Name" in annotation and str(annotation["/Name"]) not in closed.names("icons"):
                kept.remove(annotation, "/Name")
            if is_string(annotation.get("/Contents", None)):
                kept.text("annotations", annotation, "/Contents")
        return True

    def _appearance(self, holder: Any) -> None:
        """Clean the forms that draw a field or an annotation. One that is not read with a page is removed."""
        if "/AP" not in holder:
            return
        if all(self._resources.reads(form) for form in forms_of(holder)):
            for form in forms_of(holder):
                self._resources.xobject(form)
        else:
            self._kept.remove(holder, "/AP")

    def _is_place(self, place: Any) -> bool:
        """Whether a value is a place on a page of the document."""
        return is_array(place) and len(place) > 0 and (isinstance(place[0], int) or place[0].objgen in self._pages)

    def _target(self, holder: Any) -> bool:
        """Bring the place that a link or a bookmark leads to into one form. Return whether there is one."""
        action = holder.get("/A", None)
        place = holder.get("/Dest", None)
        if place is None and is_dictionary(action) and action.get("/S") == "/GoTo":
            place = action.get("/D", None)
        if is_string(place) or (place is not None and not is_array(place)):
            place = string(self._places.get(str(place).removeprefix("/"), "place0"))
        elif not self._is_place(place):
            place = None
        if place is None:
            if "/Dest" in holder:
                self._kept.remove(holder, "/Dest")
            return False
        if "/Dest" not in holder or not is_array(place):
            self._kept.write(holder, "/Dest", place)
        return True
