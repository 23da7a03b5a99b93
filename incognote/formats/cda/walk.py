"""Walk a CDA document by its rules: find texts, values to replace, and violations."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import replace

from incognote.formats.base import Document
from incognote.formats.cda.narrative import NarrativeReader
from incognote.formats.cda.structure import XSI_TYPE, Embedded, Scope, Structure, flavor_of
from incognote.formats.records.fhir_values import bare
from incognote.formats.records.rawxml import Element, Xml, XmlText
from incognote.nouns import Known
from incognote.schemas.cda import CdaRules, longest
from incognote.schemas.fhir import rules as fhir_rules

TIME = re.compile(r"[0-9]{4,8}|(?:[0-9]{9,14}|[0-9]{14}\.[0-9]+)(?:[+\-][0-9]{1,4})?")
_OID = re.compile(r"[0-2](?:\.(?:0|[1-9][0-9]*))+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_NUMBER = re.compile(r"[+\-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]{1,2})?")
_SHORT = re.compile(r"[+\-]?[0-9]{1,6}(?:\.[0-9]{1,6})?")
_TEMPLATE_VERSION = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2}(\.[0-9])?|POCD_[A-Z]{2}[0-9]{6}[A-Z]{0,2}[0-9]{0,2}|[0-9]{1,2}(\.[0-9]){0,2}"
)
_BARE_CODE = re.compile(r"[A-Z]{1,2}|[ACIP]C[DMV]|[a-z]{2,3}(-[A-Z]{2})?")  # a realm, an event such as ACM, a language
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(?://)?")
_TELECOM = {"tel": "TELEPHONE_NUMBER", "fax": "FAX_NUMBER", "x-text-fax": "FAX_NUMBER", "mailto": "EMAIL"}
_SYSTEMS = {"2.16.840.1.113883.6.1": "http://loinc.org", "2.16.840.1.113883.6.96": "http://snomed.info/sct"}
_CODE = ("code", "codeSystem", "codeSystemName", "displayName")
_HASHED = frozenset({"extension", "value", "code"})
_SYSTEMATIC = frozenset({"root", "codeSystem"})
_NAMING = frozenset({"displayName", "codeSystemName", "assigningAuthorityName", "unit"})
_LONG, _IDENTIFYING = 7, 5
_SHORTEST_NUMBER, _SHORTEST_WORD = 4, 2
_PEOPLE = frozenset({"PATIENT", "RELATIVE", "CLINICIAN", "PERSON"})
_SOUGHT = frozenset({"STREET", "CITY", "ZIP"})


class CdaWalk(Structure):
    """One document. `nested` opens an embedded one: it takes bytes, a media type, and the path.

    Raises:
        SchemaViolation: something is not allowed by any rule. The message names its path and no value.
    """

    def __init__(
        self, source: str, encoding: str, xml: Xml, known: CdaRules,
        nested: Callable[[bytes, str, str], Document],
    ) -> None:  # fmt: skip
        super().__init__(source, encoding, xml, known)
        self._nested = nested
        self._codes = fhir_rules()
        self._narrative = NarrativeReader(known, self._anchors, self._declared)
        name = xml.root.name
        self._class(Scope(xml.root, name, name, self._text("header")))
        self.texts = {field: text for field, text in self.texts.items() if text.text}

    def _class(self, scope: Scope) -> None:
        element = scope.element
        self._attributes(scope)
        if self._has_text(element):
            raise self._refused(scope, "has text where CDA allows none")
        if element.name == "section":
            scope = replace(scope, words=self._text(f"{scope.path}/entries"))
            self._section(scope)
        telling = self._telling(element) if element.name == "observation" else None
        for inner in self._inner(scope):
            name = inner.element.name
            if element.name == "section" and name in ("title", "text"):
                continue
            entry = inner.entry or name == "entry"
            self._element(replace(inner, entry=entry, telling=telling if name == "value" else None))

    def _section(self, scope: Scope) -> None:
        text = self._text(f"{scope.path}/text")
        for inner in self._inner(scope):
            if inner.element.name in ("title", "text"):
                self.fixed += self._narrative.read(inner.element, text, inner.path)

    def _element(self, scope: Scope, kind: str | None = None) -> None:
        rule = longest(scope.plain, self._known.paths)
        name = scope.plain.rpartition("/")[2]
        kind = kind or (rule.type if rule else None) or self._known.elements.get(name)
        if kind is None:
            raise self._refused(scope, "is not an element of CDA R2 or its sdtc extensions. Remove it")
        written = scope.element.attributes.get(XSI_TYPE)
        if written and kind not in ("class", "narrative", "picture", "body"):
            kind = self._known.types.get(written.value.rpartition(":")[2].strip())
            if kind is None:
                raise self._refused(scope, "has an xsi:type that is not supported")
        if kind == "any":
            if scope.element.value("nullFlavor") and not scope.element.children:
                self._attributes(scope)
                return
            raise self._refused(scope, "needs an xsi:type")
        if rule and rule.rule:
            self._ruled(scope, kind, rule.rule, rule.entity)
        else:
            getattr(self, f"_{kind}")(scope)

    def _ruled(self, scope: Scope, kind: str, rule: str, entity: str | None) -> None:
        """Treat a whole element as a rule for its path says."""
        element = scope.element
        attributes = element.attributes
        leaf = not any(element.elements)
        if rule == "pass":
            return
        if leaf and rule == "hash":
            self._attributes(scope, _HASHED | _SYSTEMATIC | _NAMING)
            self._content(scope, "hash", entity)
            for name in sorted(attributes.keys() & (_HASHED | _SYSTEMATIC)):
                if name in _HASHED:
                    self._act(scope, attributes[name], "hash", entity)
                elif not self._known.is_public(attributes[name].value):
                    self._act(scope, attributes[name], "hash", "GUID", "root")
            self.fixed += [(*attributes[name].whole, "") for name in attributes.keys() & _NAMING]
        elif leaf and rule in ("mask", "text") and self._has_text(element):
            self._attributes(scope)
            self._content(scope, rule, entity)
        elif rule == "text":
            getattr(self, f"_{kind}")(scope)
        else:
            self._withhold(scope)

    def _inside(self, scope: Scope, kind: str) -> None:
        """Walk the elements inside a value. The data type of each depends on the type of the value."""
        allowed = self._known.written["inner"].get(kind, {})
        if kind != "string" and self._has_text(scope.element):
            raise self._refused(scope, "has text where CDA allows none")
        for inner in self._inner(scope):
            name = inner.plain.rpartition("/")[2]
            if name not in allowed:
                raise self._refused(inner, f"is not part of its data type ({kind})")
            self._element(inner, allowed[name])

    def _picture(self, scope: Scope) -> None:
        self._withhold(scope)

    def _part(self, scope: Scope) -> None:
        self._attributes(scope)
        self._inside(scope, "part")

    def _digits(self, scope: Scope) -> None:
        self._attributes(scope)
        if any(scope.element.elements):
            raise self._refused(scope, "must be a list of numbers")
        numbers = " ".join(self._source[each.start : each.end] for each in scope.element.characters).split()
        if not all(map(_SHORT.fullmatch, numbers)):
            self._withhold(scope)

    def _id(self, scope: Scope) -> None:
        self._attributes(scope, ("root", "extension", "assigningAuthorityName"))
        element = scope.element
        root, extension = element.attributes.get("root"), element.attributes.get("extension")
        public = root is not None and self._known.is_public(root.value)
        template = element.name in ("templateId", "typeId")
        if root and not (public and (template or extension or element.value("nullFlavor"))):
            self._act(scope, root, "hash", "GUID", "root")
        if extension and not (template and _TEMPLATE_VERSION.fullmatch(extension.value)):
            types = self._known.written
            entity = types["identifying_oids"].get(root.value if root else "") or longest(
                scope.plain, types["identifier_types"])  # fmt: skip
            self._act(scope, extension, "hash", entity)
            number = extension.value.strip()
            if not scope.entry and len(number) >= _SHORTEST_NUMBER and any(c.isdigit() for c in number):
                self.known.append(Known(entity or "GUID", number))
        if "assigningAuthorityName" in element.attributes:
            self._act(scope, element.attributes["assigningAuthorityName"], "mask", "ORGANIZATION")
        self._inside(scope, "id")

    def _code(self, scope: Scope) -> None:
        number, unit = scope.element.value("value"), scope.element.value("unit")
        if (scope.telling and scope.element.name == "value") or self._is_withheld(number, unit):
            self._withhold(scope)
            return
        self._attributes(scope, (*_CODE, "value", "unit"))  # a PQR has a number and a code
        self._coding(scope)
        self._inside(scope, "code")

    def _coding(self, scope: Scope) -> None:
        """Handle the attributes of a code."""
        code, system, system_name, display = map(scope.element.attributes.get, _CODE)
        oid = system.value.strip() if system else ""
        if code and not self._is_kept_code(code.value.strip(), oid, display.value if display else ""):
            words = any(c.isalpha() for c in code.value) and not any(c.isdigit() for c in code.value)
            if words and self._codes.is_worded(code.value):
                scope.words.add_attribute(code)
            else:
                self._act(scope, code, "hash", "GUID")
        if system and oid and not self._known.is_public(oid):
            self._act(scope, system, "hash", "GUID", "root")
        if system_name and system_name.value.strip() not in self._known.code_system_names:
            scope.words.add_attribute(system_name)
        if display:
            scope.words.add_attribute(display)

    def _is_kept_code(self, code: str, system: str, display: str) -> bool:
        if not system:
            letters = re.fullmatch(r"[A-Za-z\-]{4,}", code) is not None
            return _BARE_CODE.fullmatch(code) is not None or (letters and self._codes.is_worded(code))
        if sum(c.isdigit() for c in code) >= _IDENTIFYING and system not in _SYSTEMS and self._codes.told_by(display):
            return False
        return self._codes.is_code(f"urn:oid:{system}", code)

    def _telling(self, observation: Element) -> str | None:
        """Return what the values of an observation reveal about a person, by its code."""
        code = observation.child("code")
        if code is None:
            return None
        for each in (code, *(child for child in code.elements if child.name == "translation")):
            system = each.value("codeSystem")
            named = self._codes.vocabulary["telling_codes"].get(f"{_SYSTEMS.get(system, system)}|{each.value('code')}")
            original = each.child("originalText")
            words = self._source[original.inside : original.end] if original else ""
            if told := named or self._codes.told_by(each.value("displayName")) or self._codes.told_by(
                    words.partition("<")[0]):  # fmt: skip
                return str(told)
        return None

    def _time(self, scope: Scope) -> None:
        self._attributes(scope, ("value",))
        value = scope.element.attributes.get("value")
        if value and value.value.strip():
            written = value.value.strip()
            rule = longest(scope.plain, self._known.paths)
            entity = scope.telling or (rule.entity if rule else None)
            self._act(scope, value, "date", entity or ("DATE_TIME" if len(written) > 8 else "DATE"), "time")
            if entity in ("BIRTH_DATE_TIME", "DEATH_DATE_TIME") and re.match(r"[0-9]{8}", written):
                self.known.append(Known(entity, f"{written[:4]}-{written[4:6]}-{written[6:8]}"))
        self._inside(scope, "time")

    def _number(self, scope: Scope) -> None:
        value, unit = scope.element.value("value"), scope.element.value("unit")
        told = scope.telling and (value or any(scope.element.elements))
        if told or self._is_withheld(value, unit):
            self._withhold(scope)
            return
        self._attributes(scope, ("value", "unit"))
        self._inside(scope, "number")

    def _is_withheld(self, value: str, unit: str) -> bool:
        """Whether a number or its unit may identify a person. Both may be empty."""
        wrong = value and (not _NUMBER.fullmatch(value) or self._is_identifying(value, unit))
        return bool(wrong or (unit and not self._is_unit(unit)))

    def _is_identifying(self, value: str, unit: str) -> bool:
        """Whether a number is as long as an identifier and has no public unit."""
        digits = len(value.lstrip("+-0").partition(".")[0])
        if digits >= _IDENTIFYING and self._codes.told_by(unit):
            return True
        return digits >= _LONG and not self._codes.is_unit("http://unitsofmeasure.org", unit)

    def _is_unit(self, unit: str) -> bool:
        known = self._codes
        return known.is_code("http://unitsofmeasure.org", unit) or unit in known.vocabulary["units"].split() or (
            known.is_worded(unit) and not any(c.isdigit() for c in unit))  # fmt: skip

    def _truth(self, scope: Scope) -> None:
        self._attributes(scope, ("value",))
        if scope.element.value("value") not in ("", "true", "false"):
            raise self._refused(scope, "must be true or false")
        self._inside(scope, "truth")
        if scope.telling:
            self._withhold(scope)

    def _string(self, scope: Scope) -> None:
        if scope.element.value("representation") == "B64":
            self._body(scope)
            return
        self._attributes(scope, _CODE)
        self._coding(scope)  # of an SC
        self._content(scope, "mask" if scope.telling else "text", scope.telling)
        self._inside(scope, "string")

    def _body(self, scope: Scope) -> None:
        """Open the content of a document without a structure, or of any value in base64."""
        self._attributes(scope)
        self._inside(scope, "string")
        text = XmlText(self._source, self._encoding)
        parts = [each for each in scope.element.characters if self._source[each.start : each.end].strip()]
        for part in parts:
            text.add(part)
        content, media_type = text.text, scope.element.value("mediaType") or "text/plain"
        essence = media_type.partition(";")[0]
        if not content:
            return
        encoded = scope.element.value("representation") == "B64"
        if not encoded and essence == "text/plain":
            self.texts[scope.path] = text
            return
        try:
            data = base64.b64decode("".join(content.split()), validate=True) if encoded else content.encode()
        except (binascii.Error, ValueError):
            raise self._refused(scope, "is not base64") from None
        media_type = media_type if encoded else f"{essence}; charset=utf-8"
        self.children[scope.path] = Embedded(self._nested(data, media_type, scope.path), text, encoded)

    def _telecom(self, scope: Scope) -> None:
        self._attributes(scope, ("value",))
        self._inside(scope, "telecom")
        value = scope.element.attributes.get("value")
        if value is None or not value.value.strip():
            return
        if scope.element.name == "reference":
            masked = [(*value.whole, flavor_of(scope.element))]
            self.fixed += self._anchors.edits(value) if value.value.startswith("#") else masked
            return
        text = XmlText(self._source, self._encoding)
        text.add_attribute(value)
        written = text.text
        scheme = _SCHEME.match(written)
        entity = _TELECOM.get(scheme[1].lower(), "URL") if scheme else "TELEPHONE_NUMBER"
        start = scheme.end() if scheme and scheme.end() < len(written) else 0
        self._act(scope, value, "mask", entity, "url", start)
        if len(written) - start >= _SHORTEST_NUMBER and not scope.entry:
            self.known.append(Known(entity, written[start:].strip()))

    def _address(self, scope: Scope) -> None:
        self._parts(scope, "address", self._known.written["parts"]["address"].get)

    def _name(self, scope: Scope) -> None:
        holder = scope.plain.rpartition("/")[0]
        entity = longest(holder, self._known.names) or "PERSON"
        if entity == "text" and scope.holder is not None:
            entity = self._known.written["entity_classes"].get(scope.holder.value("classCode"), entity)
        parts = dict.fromkeys(self._known.written["parts"]["name"], entity)
        written = self._parts(scope, "name", parts.get)
        names = [words for wanted in ("given", "family") for part, words in written if part == wanted]
        full = bare(" ".join(names or [words for part, words in written if not part]))
        sought = _PEOPLE if scope.entry else _PEOPLE | {"ORGANIZATION"}
        if entity in sought and len(full) >= _SHORTEST_WORD:
            self.known.append(Known(entity, full))

    def _parts(self, scope: Scope, kind: str, entity_of: Callable[[str], str | None]) -> list[tuple[str, str]]:
        """Mask the parts of a name or an address, and return the words of each."""
        self._attributes(scope)
        written: list[tuple[str, str]] = []
        mixed = entity_of("") or "PERSON"
        self._content(scope, "text" if mixed == "text" else "mask", mixed)
        if scope.path in self.fields:
            written.append(("", self.fields[scope.path].text.text))
        for inner in self._inner(scope):
            part = inner.plain.rpartition("/")[2]
            if part in self._known.written["inner"][kind]:
                self._element(inner, self._known.written["inner"][kind][part])
                continue
            entity = entity_of(part)
            if entity is None or any(inner.element.elements):
                raise self._refused(inner, f"is not part of its data type ({kind})")
            rule = longest(inner.plain, self._known.paths)
            if rule and rule.rule:
                self._ruled(inner, "string", rule.rule, rule.entity or entity)
                continue
            self._attributes(inner)
            self._content(inner, "text" if entity == "text" else "mask", entity)
            if inner.path in self.fields:
                words = self.fields[inner.path].text.text
                written.append((part, words))
                if kind == "address" and entity in _SOUGHT and len(words) >= _SHORTEST_NUMBER and not inner.entry:
                    self.known.append(Known(entity, words))
        return written
