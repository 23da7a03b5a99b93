"""A CDA document: it is opened by the rules, and written back in place."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence

from incognote.errors import UnsupportedFormat
from incognote.formats.base import (
    Change,
    DecodedDocument,
    Document,
    Edit,
    FieldAction,
    account,
    joined_edits,
    of_child,
    splice,
)
from incognote.formats.cda.structure import V3, CdaField, Embedded, flavor_of
from incognote.formats.cda.walk import TIME, CdaWalk
from incognote.formats.encoding import Codec
from incognote.formats.records.fhir_values import Form, shaped
from incognote.formats.records.rawxml import Element, Xml, parse_xml
from incognote.nouns import Text
from incognote.schemas.cda import DATA_TYPE, CdaRules, cda_rules
from incognote.schemas.fhir import rules as fhir_rules
from incognote.schemas.registry import Registry

FHIR = "http://hl7.org/fhir"
_STYLESHEET = re.compile(r"\s*type=\"text/(?:xsl|xml|css)\"\s+href=\"([A-Za-z_\-.]{1,40})\"\s*")

_IN_URL = re.compile(r"[^\s<>\[\]{}|\\^`\"]+")


class CdaDocument(DecodedDocument):
    """One document.

    Args:
        content: the XML without its byte order mark. codec: its encoding.
        known: the rules.

    Raises:
        MalformedRecord: it is not well-formed. UnsupportedFormat: it is not CDA. SchemaViolation: no rule allows it.
    """

    def __init__(self, content: str, codec: Codec, known: CdaRules | None = None, xml: Xml | None = None) -> None:
        self.content, self.codec, self.head = content, codec, codec.mark
        self._xml = xml or parse_xml(content)
        root = self._xml.root
        if root.uri != V3 or root.name != "ClinicalDocument":
            raise not_cda(root)
        rules = known or cda_rules()
        walk = CdaWalk(content, codec.encoding, self._xml, rules, _nested)
        self.schema = rules.schema
        self.texts = tuple(Text(text.text, field) for field, text in walk.texts.items())
        self.actions, self.known = tuple(walk.actions), tuple(dict.fromkeys(walk.known))
        self.children = {path: each.document for path, each in walk.children.items()}
        self._texts, self._fields, self._embedded = walk.texts, walk.fields, walk.children
        self._fixed = [*walk.fixed, *_stylesheets(self._xml)]
        self.patient, self.id = _subject(root), _extension(root)

    def under(self, registry: Registry, data_type: str | None) -> Document:
        """Return the document opened with the rules as the site changes them, and its children with their schemas."""
        document = self
        if DATA_TYPE in registry:
            document = CdaDocument(self.content, self.codec, cda_rules().changed(registry.get(DATA_TYPE)), self._xml)
        document.registry = registry
        document.children = {name: child.under(registry, None) for name, child in document.children.items()}
        return document

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        account(self, changes, values)
        edits = list(self._fixed)
        for field, own in changes.items():
            if field in self._texts:
                edits += self._texts[field].edits(own)
        for action, value in values.items():
            if action.text.field in self._fields:
                edits += self._written(self._fields[action.text.field], action, value)
        given = joined_edits(changes, values)
        for path, embedded in self._embedded.items():
            edits += _embedded_edits(embedded, self.children[path], of_child(given, path))
        return splice(self.content, edits)

    def written(self, action: FieldAction, value: str) -> str | None:
        return _shaped(self._fields[action.text.field], action, value)

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        return self._texts[field].places(start, end) if field in self._texts else None

    def _written(self, field: CdaField, action: FieldAction, value: str) -> list[Change]:
        new = _shaped(field, action, value)
        if new is None and field.attribute is not None:
            return [(*field.attribute.whole, flavor_of(field.holder))]
        if field.shape == "time":
            return field.text.edits([(0, len(field.text.text), _undashed(str(new)))])
        return field.text.edits([(action.start, action.end, str(new))])


def _shaped(field: CdaField, action: FieldAction, value: str) -> str | None:
    """Return a new value in the form of its data type, or None if it is withheld."""
    old = action.text.content[action.start : action.end]
    if value == old:
        return value
    if field.shape == "root":
        form: Form = "uuid" if "-" in old else "oid" if "." in old else "id"
        return shaped(value, form)
    if field.shape == "time":
        return value if TIME.fullmatch(_undashed(value)) else None
    if field.shape == "url":
        value = "".join(value.split())
        return value if _IN_URL.fullmatch(value) else None
    return value


def _undashed(time: str) -> str:
    """Return a month in CDA's form, `202403` for `2024-03`. Any other time stays as it is."""
    return time.replace("-", "") if re.fullmatch(r"[0-9]{4}-[0-9]{2}", time) else time


def _nested(data: bytes, media_type: str, path: str) -> Document:
    from incognote.formats.registry import nested

    return nested(data, media_type, path)[1]


def _embedded_edits(embedded: Embedded, document: Document, edits: list[Edit]) -> list[Change]:
    if not edits:
        return []
    out = io.BytesIO()
    document.rebuild(edits, out)
    data = document.head + out.getvalue() + document.after
    content = embedded.text.text
    new = base64.b64encode(data).decode() if embedded.base64 else data.decode()
    return embedded.text.edits([(0, len(content), new)])


def _stylesheets(xml: Xml) -> list[Change]:
    """Name the standard stylesheet in place of one whose name could be that of a site."""
    return [
        (each.start, each.end, '<?xml-stylesheet type="text/xsl" href="CDA.xsl"?>')
        for each in xml.stylesheets
        if not (match := _STYLESHEET.fullmatch(each.data)) or not fhir_rules().is_worded(match[1].partition(".")[0])
    ]


def _subject(root: Element) -> str | None:
    """Return the first id of the patient, or None if there is none or more than one patient."""
    roles = [role for target in root.elements if target.name == "recordTarget" for role in target.elements
             if role.name == "patientRole"]  # fmt: skip
    ids = {_extension(role) for role in roles}
    return ids.pop() if len(ids) == 1 else None


def _extension(element: Element) -> str | None:
    own = next((child for child in element.elements if child.name == "id" and not child.value("nullFlavor")), None)
    return (own.value("extension") or own.value("root") or None) if own else None


def not_cda(root: Element) -> UnsupportedFormat:
    """Return the error for another kind of XML."""
    if root.uri == FHIR:
        return UnsupportedFormat("FHIR in XML has no reader. Send the resource in JSON")
    if root.uri == V3:
        return UnsupportedFormat("HL7 v3 XML other than a ClinicalDocument has no reader")
    return UnsupportedFormat("XML other than CDA (ClinicalDocument) has no reader")
