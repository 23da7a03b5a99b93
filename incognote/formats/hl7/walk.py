"""The walk through one HL7 v2 message with the rules: its texts, structured fields, documents and known identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from incognote.errors import SchemaViolation
from incognote.formats.base import Action, Document, FieldAction
from incognote.formats.hl7.er7 import Delimiters, FieldPart, FieldPiece, Hl7Segment, PiecedText, segments_of
from incognote.formats.hl7.values import decoded_data, is_time, iso_of, revealed
from incognote.formats.registry import nested
from incognote.nouns import Known, Text
from incognote.schemas.fhir import rules as fhir_rules
from incognote.schemas.hl7 import Hl7Rules, Rule, is_unit
from incognote.schemas.hl7.numbers import allows_long, digits_of, is_long, is_number, is_range
from incognote.schemas.registry import Registry

LABELS = "labels"
_DELETE = '""'
_NAMED = ("XPN", "XCN", "PPN", "CNN")
_CODED = ("CWE", "CWEM")
_NUMERIC = ("nm", "range")
_WITH_UNIT, _IN_PARTS = "unit", "parts"
_PHRASE = re.compile(r"[^\W\d_]{3,}[ ,/]+(?:.*[ ,/])?[^\W\d_]{3,}")
_MOST_DIGITS = 4  # of words in place of a code; more may be an identifier
_SHORT = 40  # a longer text under a label such as "phone" is not a telephone number
_SHOWN = 5
_LINE_BREAK = FieldPiece("\n", 0, 0)
_TEXTS = ("FT", "ST", "TX", "")
_AFTER = {1: 3, 4: 6, 10: 12}  # the component with the code system of a coded component


class ValuePlace(NamedTuple):
    """The place of a structured field, and its value as it is written there."""

    start: int
    end: int
    written: str


@dataclass(frozen=True)
class Attachment:
    """An encapsulated document. `data` is what its field holds, in the encoding of ED-4."""

    document: Document
    data: bytes
    start: int
    end: int
    encoding: str


class Hl7Walk:
    """The walk through a message.

    Attributes:
        texts: the texts by field, in the order of the message: the lines of a report together, the short texts last.
        actions, known: as in a Document. places: the place of each structured field, by path.
        attachments: the encapsulated documents, by path.
        patient, id: PID-3 and MSH-10.

    Raises:
        SchemaViolation: a segment, field or component has no rule.
        MalformedRecord: the message is not ER7, or has an escape sequence that is not supported.
        RecordProblem: an encapsulated document cannot be opened.
    """

    def __init__(self, content: str, charset: str, rules: Hl7Rules, registry: Registry) -> None:
        self._rules, self._registry, self._charset = rules, registry, charset
        header = content.lstrip("\x0b")
        self.delimiters = Delimiters.of(header)
        self.texts: dict[str, PiecedText] = {}
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.places: dict[str, ValuePlace] = {}
        self.attachments: dict[str, Attachment] = {}
        self.patient: str | None = None
        self.id: str | None = None
        self._labels: list[FieldPiece] = []
        self._run: list[FieldPiece] = []
        self._run_path = ""
        self._faults: list[tuple[str, str]] = []
        for segment in segments_of(content, self.delimiters):
            self._segment(segment)
        self._end_run()
        if self._labels:
            self.texts[LABELS] = PiecedText(self._labels)
        if self._faults:
            shown = "; ".join(f"{path}: {fault}" for path, fault in self._faults[:_SHOWN])
            more = len(self._faults) - _SHOWN
            raise SchemaViolation(shown + (f"; and {more} more" if more > 0 else ""), field=self._faults[0][0])

    def _segment(self, segment: Hl7Segment) -> None:
        name = segment.name
        known, all_fields = self._rules.segments.get(name, ()), self._rules.site.get(name)
        if name not in ("OBX", "NTE"):
            self._end_run()
        for number, part in enumerate(segment.fields, 1):
            if not part.text or part.text == _DELETE:
                continue
            key, path = f"{name}-{number}", segment.path(number)
            rule = self._rules.site.get(key, all_fields) or (known[number - 1] if number <= len(known) else None)
            if rule is not None and rule.action == "value":
                self._observation(segment, part, path)
            elif rule is not None and rule.action == "lines":
                self._line(part, path)
            elif rule is None or rule.action != "skip":
                if rule is not None and rule.action == "range" and allows_long(self._text(segment, 6)):
                    rule = rule._replace(type=_WITH_UNIT)
                for at, repetition in enumerate(part.split(self.delimiters.repetition), 1):
                    self._value(rule, repetition, key, f"{path}[{at}]" if at > 1 else path)
        if self._run and self._is_empty_line(segment):
            self._run.append(_LINE_BREAK)
        if name == "PID" and self.patient is None:
            self.patient = self._text(segment, 3) or self._text(segment, 2) or None
        elif name == "MSH" and self.id is None:
            self.id = self._text(segment, 10) or None

    def _is_empty_line(self, segment: Hl7Segment) -> bool:
        """Whether a segment is an empty line of a report."""
        number = {"OBX": 5, "NTE": 3}.get(segment.name, 0)
        empty = len(segment.fields) < number or segment.fields[number - 1].text in ("", _DELETE)
        return number > 0 and empty and (number == 3 or self._text(segment, 2) in _TEXTS)

    def _text(self, segment: Hl7Segment, number: int) -> str:
        """Return the first part of a field."""
        if len(segment.fields) < number:
            return ""
        d = self.delimiters
        part = segment.fields[number - 1]
        for sign in (d.repetition, d.component, d.subcomponent):
            part = next(part.split(sign))
        return "" if part.text == _DELETE else d.decoded(part, self._charset, segment.path(number)).strip()

    def _observation(self, segment: Hl7Segment, part: FieldPart, path: str) -> None:
        """Handle OBX-5 by the data type in OBX-2, and by what OBX-3 says that it is."""
        kind = self._text(segment, 2).upper()
        rule = self._rules.values.get(kind) if kind else Rule("lines")
        if rule is None:
            self._faults.append((path, "has a data type in OBX-2 that is not supported. Send it as TX, FT or ED"))
            return
        entity = self._said(segment) if len(part.text) <= _SHORT else None
        with_unit = allows_long(self._text(segment, 6))
        if rule.action == "nm" and with_unit:
            rule = rule._replace(type=_WITH_UNIT)
        if rule.action == "data":
            self._end_run()
            self._data(part, path)
        elif rule.action == "lines" and entity is None:
            self._line(part, path)
        else:
            self._end_run()
            if entity is not None and rule.action != "date":
                rule = Rule("absent" if rule.action == "nm" or rule.type == "SN" else "mask", entity)
            elif entity is not None:
                rule = Rule("date", entity)
            for at, repetition in enumerate(part.split(self.delimiters.repetition), 1):
                each = self._structured(rule, repetition, path, with_unit) if rule.type == "SN" else rule
                self._value(each, repetition, "OBX-5", f"{path}[{at}]" if at > 1 else path)

    def _structured(self, rule: Rule, part: FieldPart, path: str, with_unit: bool) -> Rule:
        """Return the rule of a structured number (SN), whose parts are kept only if they are a number together."""
        d = self.delimiters
        joined = "".join(self._decoded(inner, path).strip() for each in part.split(d.component)
                         for inner in each.split(d.subcomponent))  # fmt: skip
        kept = is_range(joined, with_unit=with_unit)
        kind = _WITH_UNIT if kept and with_unit else "" if kept else _IN_PARTS
        return rule._replace(parts=tuple(each._replace(type=kind) for each in rule.parts))

    def _said(self, segment: Hl7Segment) -> str | None:
        """Return the entity type of an observation whose code or label says that it is an identifier, age or date."""
        if len(segment.fields) < 3:
            return None
        d, fhir = self.delimiters, fhir_rules()
        parts = [d.decoded(part, self._charset, segment.path(3)) for part in segment.fields[2].split(d.component)]
        system = self._rules.systems.get(parts[2] if len(parts) > 2 else "", "")
        if kind := fhir.vocabulary["telling_codes"].get(f"{system}|{parts[0]}"):
            return str(kind)
        labels = [parts[i] for i in (1, 4) if i < len(parts)] + ([] if system else [parts[0]])
        return next(filter(None, map(fhir.told_by, labels)), None)

    def _line(self, part: FieldPart, path: str) -> None:
        """Add a line to the text of a report. Its repetitions are lines, too."""
        if self._run:
            self._run.append(_LINE_BREAK)
        else:
            self._run_path = path
        for at, repetition in enumerate(part.split(self.delimiters.repetition)):
            if at:
                self._run.append(FieldPiece("\n", repetition.start - 1, repetition.start))
            self._run += self.delimiters.pieces(repetition, self._charset, path)

    def _end_run(self) -> None:
        if any(piece.start < piece.end for piece in self._run):
            self.texts[self._run_path] = PiecedText(self._run)
        self._run = []

    def _value(self, rule: Rule | None, part: FieldPart, key: str, path: str, depth: int = 0) -> None:
        """Apply a rule to a field, component or subcomponent (depth 0 to 2), or to each of its parts."""
        if not part.text or part.text == _DELETE:
            return
        rule = self._rules.site.get(key, rule)
        if depth == 2:
            while rule is not None and rule.parts:
                rule = rule.parts[0]
            self._leaf(rule, part, path)
            return
        inner = list(part.split((self.delimiters.component, self.delimiters.subcomponent)[depth]))
        if rule is not None and not rule.parts and len(inner) == 1:
            if depth == 0 and self.delimiters.subcomponent in part.text:
                self._value(rule, part, key, path, 1)
            else:
                self._leaf(rule, part, path)
            return
        if rule is not None and rule.parts:
            rule = self._refined(rule, inner, path)
        elif rule is not None and rule.action in _NUMERIC and is_long(part.text):
            rule = rule._replace(type=_IN_PARTS)  # a number has no parts, so they may be those of an identifier
        for at, each in enumerate(inner, 1):
            below = rule if rule is None or not rule.parts else rule.parts[at - 1] if at <= len(rule.parts) else None
            if rule is not None and rule.type in _CODED and at in _AFTER and below is not None:
                system = inner[_AFTER[at] - 1].text if len(inner) >= _AFTER[at] else ""
                below = below._replace(type=system)
                words = _PHRASE.search(each.text) and digits_of(each.text) <= _MOST_DIGITS
                if rule.type == "CWE" and words and not self._rules.is_code(each.text, system):
                    below = Rule("text")  # many systems send only words, such as the reason of a visit
            elif depth == 1 and at > 1 and below is not None and below.action == "code":
                below = below._replace(type="")  # the code is the first part, and the system says nothing about others
            self._value(below, each, f"{key}.{at}", f"{path}.{at}", depth + 1)

    def _refined(self, rule: Rule, inner: Sequence[FieldPart], path: str) -> Rule:
        """Return the rule of an identifier with the entity type that CX-5 names. Note the full name of a person."""
        if rule.type == "CX" and len(inner) > 4:
            named = fhir_rules().vocabulary["identifier_types"].get(inner[4].text)
            if named:
                return rule._replace(parts=(rule.parts[0]._replace(entity=named), *rule.parts[1:]))
        if rule.type in _NAMED and rule.entity:
            first = 0 if rule.type == "XPN" else 1
            names = [self._decoded(part, path) for part in (*inner[first + 1 : first + 3], *inner[first : first + 1])]
            sign = self.delimiters.subcomponent
            full = " ".join(filter(None, (name.replace(_DELETE, "").replace(sign, " ").strip() for name in names)))
            if len(full) > 1:
                self.known.append(Known(rule.entity, full))
        return rule

    def _decoded(self, part: FieldPart, path: str) -> str:
        return self.delimiters.decoded(part, self._charset, path)

    def _leaf(self, rule: Rule | None, part: FieldPart, path: str) -> None:
        if rule is None:
            remedy = "Add it to your schema hl7v2.site, or remove it"
            self._faults.append((path, f"is not in the HL7 rules. {remedy}"))
            return
        value = self._decoded(part, path)
        if not value.strip():
            return
        match rule.action:
            case "text":
                self._label(part, path)
            case "nm" | "range" if self._is_kept_number(rule, value.strip()):
                pass
            case "nm" | "range" if any(c.isalpha() for c in value):
                self._label(part, path)
            case "nm" | "range":
                self._act(part, path, value, "absent", "GUID")
            case "tm" if not is_time(value.strip()):
                self._act(part, path, value, "absent", "GUID")
            case "unit" if is_unit(value.strip()):
                pass
            case "code" | "unit" if not self._rules.is_code(value.strip(), rule.type):
                self._act(part, path, value, "hash", "GUID")
            case "mask" | "hash":
                self._act(part, path, value, rule.action, rule.entity or "GUID")
                self._reveal(rule, value.strip())
            case "absent":
                self._act(part, path, value, "absent", rule.entity or "GUID")
            case "date":
                entity = rule.entity or "DATE"
                iso = iso_of(value.strip())
                self._act(part, path, iso or value, "date" if iso else "absent", entity)
                if iso and (shown := revealed(entity, iso)):
                    self.known.append(shown)
            case "pass":
                self._check(rule, value, path)

    def _is_kept_number(self, rule: Rule, value: str) -> bool:
        kept = is_range if rule.action == "range" else is_number
        own = is_long(value) and any(value == known.value for known in self.known)
        return rule.type != _IN_PARTS and not own and kept(value, with_unit=rule.type == _WITH_UNIT)

    def _check(self, rule: Rule, value: str, path: str) -> None:
        """Check a value that a hospital's rule lets through."""
        limits = rule.limits
        if limits is None:
            return
        if limits.values is not None and value not in limits.values:
            self._faults.append((path, "is not one of the values in the schema"))
        if limits.pattern is not None and not limits.pattern.fullmatch(value):
            self._faults.append((path, "does not match the schema's pattern"))
        if limits.max_length is not None and len(value) > limits.max_length:
            self._faults.append((path, f"is longer than {limits.max_length} characters"))

    def _reveal(self, rule: Rule, value: str) -> None:
        entity = rule.known_as if rule.limits is not None else rule.entity
        if entity is None or (rule.limits is None and entity in ("HOSPITAL", "ORGANIZATION") and
                              self._rules.is_code(value)):
            return
        if rule.limits is None and entity in ("PATIENT", "CLINICIAN", "RELATIVE", "PERSON"):
            return  # the full name is known, and a single part such as "Will" would match other words
        if shown := revealed(entity, value):
            self.known.append(shown)

    def _label(self, part: FieldPart, path: str) -> None:
        pieces = list(self.delimiters.pieces(part, self._charset, path))
        if self._labels and pieces:
            self._labels.append(_LINE_BREAK)
        self._labels += pieces

    def _act(self, part: FieldPart, path: str, value: str, action: Action, entity: str) -> None:
        self.actions.append(FieldAction(Text(value, path), 0, len(value), action, entity))
        self.places[path] = ValuePlace(part.start, part.start + len(part.text), part.text)

    def _data(self, part: FieldPart, path: str) -> None:
        """Open encapsulated data: ED is the source application, the type, the subtype, the encoding, and the data."""
        d = self.delimiters
        if d.repetition in part.text:
            self._faults.append((path, "has several documents. Send each in its own OBX"))
            return
        parts = list(part.split(d.component))
        if len(parts) != 5 or not parts[4].text:
            self._faults.append((path, "is not encapsulated data (ED) with five components"))
            return
        head = Rule("hash", parts=self._head_rules(), type="ED")
        self._value(head, FieldPart(d.component.join(p.text for p in parts[:4]), part.start), "OBX-5", path)
        encoding = self._decoded(parts[3], path)
        data = decoded_data(self._decoded(parts[4], path), encoding, f"{path}.5")
        _, document = nested(data, None, f"{path}.5")
        start = parts[4].start
        opened = document.under(self._registry, None)
        self.attachments[f"{path}.5"] = Attachment(opened, data, start, start + len(parts[4].text), encoding)

    def _head_rules(self) -> tuple[Rule, ...]:
        return (self._rules.values["HD"], Rule("code"), Rule("code"), Rule("pass"))
