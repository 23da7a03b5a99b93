"""The walk through the elements of an instance: what is kept, removed, and replaced, and which texts are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from incognote.errors import MalformedRecord
from incognote.formats.base import Action, Document, FieldAction
from incognote.formats.dicom.fields import ElementValues, Facts, Value
from incognote.formats.dicom.known import Known, identifiers, words_for
from incognote.formats.dicom.profile import (
    Code,
    Profile,
    has_word_of,
    iod_of,
    is_setting,
    is_standard_meaning,
    is_technical,
    lists,
    safe_private,
    stretch_of,
)
from incognote.formats.dicom.stream import PIXELS, DataElement, DicomFile, SequenceItem
from incognote.formats.dicom.values import (
    DUMMIES,
    NUMBERS,
    REMOVED,
    TEXTS,
    WHOLE,
    age_of,
    charsets,
    decoded,
    guessed,
    is_legal,
    is_well_known,
    iso_of,
    natural,
)
from incognote.formats.registry import nested
from incognote.nouns import Text

OURS = frozenset((0x00120062, 0x00120063, 0x00120064, 0x00280303))
"""What an output says about its de-identification. It is written anew, whatever an input says."""
DOCUMENT, DOCUMENT_LENGTH = 0x00420011, 0x00420015
SOP_CLASS, INSTANCE, PATIENT_ID = 0x00080016, 0x00080018, 0x00100020
_CHARSET, _CODE_MEANING, _MIME = 0x00080005, 0x00080104, 0x00420012
_CODES, _SCHEME, _URN = (0x00080100, 0x00080119), 0x00080102, 0x00080120
_CONCEPT, _TEXT_VALUE, _CONTENT_DATES = 0x0040A043, 0x0040A160, (0x0040A120, 0x0040A121)
_CODE_FORM = re.compile(r"[A-Za-z0-9.\-_:^/\[\]{}()%*'+]{1,64}")
_SCHEME_FORM = re.compile(r"99[A-Z0-9_]{1,14}")
_ASCII = frozenset("AE AS CS DA DS DT IS TM UI UR".split())
STRINGS = TEXTS | _ASCII


@dataclass(frozen=True)
class _Around:
    """What surrounds an element."""

    path: str
    codecs: Sequence[str]
    iod: str
    scheme: str = ""
    code: str = ""
    concept: str | None = None


class DicomWalk:
    """The walk through an instance.

    Attributes:
        places: the elements with texts or structured fields. removed: the elements that are left out.
        fixed: the elements with another value, whatever the policy is. times: the times of day, which follow the dates.
        vrs: the elements whose value representation was wrong, with the right one.
        actions, known, children, patient, id: as in a Document.

    Raises:
        MalformedRecord: a text does not have its character set. RecordProblem: an encapsulated document has no reader.
    """

    def __init__(self, file: DicomFile, profile: Profile, facts: Facts | None = None) -> None:
        self._file, self._profile, self._facts = file, profile, facts
        self.places: dict[DataElement, ElementValues] = {}
        self.removed: set[DataElement] = set()
        self.fixed: dict[DataElement, bytes] = {}
        self.times: dict[DataElement, Code] = {}
        self.vrs: dict[DataElement, str] = {}
        self.actions: list[FieldAction] = []
        self.children: dict[str, Document] = {}
        self.known: tuple[Known, ...] = tuple(dict.fromkeys(identifiers(file)))
        self._words = frozenset() if facts else words_for(self.known)
        root = file.root.elements
        self.patient = self._ascii(root.get(PATIENT_ID)) or None
        self.id = self._ascii(root.get(INSTANCE)) or None
        self._item(file.root, _Around("", (), iod_of(self._ascii(root.get(SOP_CLASS)))))
        self._meta()

    def bytes_of(self, element: DataElement) -> bytes:
        """Return the value of an element, with its padding."""
        return self._file.body[slice(*element.value)]

    def _ascii(self, element: DataElement | None) -> str:
        return self.bytes_of(element).decode("latin-1").strip(" \0") if element and element.items is None else ""

    def _meta(self) -> None:
        """Let the file meta information follow the data set."""
        element = self._file.meta.elements.get(0x00020003) if self._file.meta else None
        if element and "uids" not in self._profile.options:
            uid = self._file.head[slice(*element.value)].decode("latin-1").strip(" \0")
            self._fields(element, "UI", [uid], "MediaStorageSOPInstanceUID", (), "uid")

    def _item(self, item: SequenceItem, around: _Around) -> None:
        elements = item.elements
        codecs = around.codecs
        if _CHARSET in elements:
            codecs = charsets(self._ascii(elements[_CHARSET]), f"{around.path}SpecificCharacterSet")
        code = next((self._ascii(elements[tag]) for tag in _CODES if tag in elements), "")
        scheme, concept = self._ascii(elements.get(_SCHEME)), self._concept(elements)
        inner = _Around(around.path, codecs, around.iod, scheme, code, concept)
        blocks = (tag for tag in elements if tag >> 16 & 1 and 0x10 <= tag & 0xFFFF < 0x100)
        creators = {tag: self._ascii(elements[tag]) for tag in blocks}
        used: set[int] = set()
        for tag, element in elements.items():
            if tag in creators:
                continue
            if tag >> 16 & 1:
                block = (tag & 0xFFFF0000) | (tag >> 8 & 0xFF)
                if self._private(element, creators.get(block, ""), inner):
                    used.add(block)
            else:
                self._public(element, inner)
        self.removed.update(elements[tag] for tag in creators if tag not in used)

    def _concept(self, elements: Mapping[int, DataElement]) -> str | None:
        """Return the type of identifier that a content item of a structured report names, if it does."""
        names = elements.get(_CONCEPT)
        for item in names.items or () if names else ():
            code, scheme = (self._ascii(item.elements.get(tag)) for tag in (_CODES[0], _SCHEME))
            if scheme == "DCM" and code in lists().concepts:
                return lists().concepts[code]
        return None

    def _private(self, element: DataElement, creator: str, around: _Around) -> bool:
        """Keep a safe private element, and return whether it stays."""
        vr = safe_private().get((element.tag >> 16, element.tag & 0xFF, creator))
        fits = vr in (element.vr, None) or not self._file.syntax.explicit
        if vr is None or vr == "SQ" or element.items is not None or not fits or "private" not in self._profile.options:
            self.removed.add(element)
            return False
        path = f"{around.path}({element.tag >> 16:04x},{element.tag & 0xFFFF:04x})"
        if vr in TEXTS:
            self._text(element, vr, "", path, around)
        else:
            self._keep(element, vr, "", path, around)
        return element not in self.removed

    def _public(self, element: DataElement, around: _Around) -> None:
        from pydicom.datadict import dictionary_VR, keyword_for_tag, tag_for_keyword

        tag, group = element.tag, element.tag >> 16
        keyword = keyword_for_tag(tag)
        is_single = bool(keyword) and tag_for_keyword(keyword) == tag  # a repeating group has one keyword for many tags
        path = around.path + (keyword if is_single else f"({group:04x},{tag & 0xFFFF:04x})")
        if tag in OURS and not around.path:
            return
        at_root = not around.path
        if not keyword or tag & 0xFFFF == 0 or group < 8 or group & 0xFF00 in (0x5000, 0x6000) or (
                tag in PIXELS and not at_root):
            self.removed.add(element)
            return
        code = self._profile.code(tag, keyword, around.iod if at_root else "")
        legal = dictionary_VR(tag).split(" or ")
        vr = element.vr
        if vr not in legal:
            if code in (None, "keep", "clean", "remove") or element.items is not None or vr not in STRINGS | {"UN"}:
                self.removed.add(element)
                return
            vr = self.vrs[element] = legal[0]
        if tag == DOCUMENT:
            self._document(element, path)
        elif around.concept and tag in (_TEXT_VALUE, *_CONTENT_DATES):
            self._identifier(element, vr, path, around)
        else:
            self._act(code or self._default(vr, keyword), element, vr, keyword, path, around)

    def _identifier(self, element: DataElement, vr: str, path: str, around: _Around) -> None:
        """Replace the value of a content item whose concept says that it is an identifier."""
        if vr in DUMMIES:
            self.fixed[element] = DUMMIES[vr].encode()
        else:
            self._fields(element, vr, [self._read(element, path, around)], path, around.codecs, "mask", around.concept)

    def _default(self, vr: str, keyword: str) -> Code:
        """Return what happens to an attribute that is not in the table."""
        if vr in TEXTS - {"PN"} | {"SQ", "DA", "DT", "TM", "AS"}:
            return "clean"
        if vr in ("CS", "DS", "IS") or vr in NUMBERS or keyword in lists().binary or keyword in lists().classes:
            return "keep"
        return {"PN": "dummy", "UI": "uid"}.get(vr, "remove")  # type: ignore[return-value]  # a Code each

    def _act(self, code: Code, element: DataElement, vr: str, keyword: str, path: str, around: _Around) -> None:
        """Do what a code says."""
        otherwise = self._profile.fallback(element.tag, keyword, "" if around.path else around.iod)
        if vr == "SQ":
            self._sequence(code, element, path, around)
        elif not self.bytes_of(element).strip(b" \0"):
            if code == "remove":
                self.removed.add(element)
        elif code == "clean" or (code == "keep" and vr == "AS"):  # the policy limits ages
            self._clean(element, vr, keyword, path, around, otherwise)
        elif code == "keep":
            self._keep(element, vr, keyword, path, around)
        elif code == "remove":
            self.removed.add(element)
        elif vr == "PN":
            self._fields(element, vr, self._values(element, vr, around), path, around.codecs, "mask",
                         lists().names.get(keyword, "CLINICIAN"))  # fmt: skip
        elif keyword in lists().hash or (code == "hash" and vr in TEXTS):
            entity = lists().hash.get(keyword, "GUID")
            self._fields(element, vr, self._values(element, vr, around), path, around.codecs, "hash", entity)
        elif code == "uid" or (vr == "UI" and code == "dummy"):
            self._fields(element, vr, self._values(element, vr, around), path, (), "uid")
        elif code == "dummy":
            self._dummy(element, vr)
        elif vr in TEXTS and code == "mask":
            self._fields(element, vr, self._values(element, vr, around), path, around.codecs, "mask", "GUID")
        else:
            self.fixed[element] = b""

    def _dummy(self, element: DataElement, vr: str) -> None:
        if vr in DUMMIES or vr in TEXTS or vr in ("CS", "AE"):
            self.fixed[element] = DUMMIES.get(vr, REMOVED).encode()
        else:
            self.removed.add(element)

    def _sequence(self, code: Code, element: DataElement, path: str, around: _Around) -> None:
        if code == "remove" or element.items is None:
            self.removed.add(element)
        elif code in ("empty", "mask", "hash"):
            self.fixed[element] = b""
        else:
            for at, item in enumerate(element.items, 1):
                self._item(item, _Around(f"{path}[{at}].", around.codecs, around.iod))

    def _clean(
        self, element: DataElement, vr: str, keyword: str, path: str, around: _Around, otherwise: Code
    ) -> None:
        """Keep what is no identifier in a value, by its representation."""
        if vr in ("DA", "DT", "AS"):
            written = self._values(element, vr, around)
            if all(is_legal(vr, each) and each for each in written):
                self._fields(element, vr, written, path, (), "date", "AGE" if vr == "AS" else "DATE", otherwise)
            else:
                self._instead(element, vr, otherwise)
        elif vr == "TM":
            if is_legal(vr, self._ascii(element)):
                self.times[element] = otherwise
            else:
                self._instead(element, vr, otherwise)
        elif vr in TEXTS - {"PN"}:
            self._text(element, vr, keyword, path, around)
        elif vr in ("CS", "DS", "IS") or vr in NUMBERS:
            self._keep(element, vr, keyword, path, around)
        elif vr == "UI":
            self._fields(element, vr, self._values(element, vr, around), path, (), "uid")
        else:
            self._instead(element, vr, otherwise)

    def _instead(self, element: DataElement, vr: str, otherwise: Code) -> None:
        """Do what the profile says without an option."""
        if otherwise == "dummy":
            self._dummy(element, vr)
        elif otherwise == "empty":
            self.fixed[element] = b""
        else:
            self.removed.add(element)

    def _keep(self, element: DataElement, vr: str, keyword: str, path: str, around: _Around) -> None:
        """Keep a value if it is legal and shows no known identifier."""
        if keyword == "SpecificCharacterSet" or vr in NUMBERS or keyword in lists().binary:
            return
        if vr in TEXTS - {"PN"}:
            self._text(element, vr, keyword, path, around, kept=True)
        elif vr == "PN":
            return
        elif vr == "UI":
            if keyword in lists().classes and not all(map(is_well_known, self._values(element, vr, around))):
                self._fields(element, vr, self._values(element, vr, around), path, (), "uid")
        elif vr not in _ASCII or vr == "UR" or has_word_of(self._ascii(element), self._words) or not all(
                is_legal(vr, each) or (vr == "CS" and is_setting(each)) for each in self._values(element, vr, around)):
            self.removed.add(element)

    def _text(
        self, element: DataElement, vr: str, keyword: str, path: str, around: _Around, *, kept: bool = False
    ) -> None:
        """Let the detectors read a text, unless it is a code or a setting of a scanner."""
        whole = self._read(element, path, around)
        written = [whole] if vr in WHOLE else whole.split("\\")
        values = []
        for at, each in enumerate(written):
            name = path if at == 0 else f"{path}[{at + 1}]"
            if self._facts is not None:
                fixed = self._facts.texts.get(name)
            elif not each.strip() or (
                    not has_word_of(each, self._words) and (kept or self._is_safe(element.tag, keyword, each, around))):
                fixed = None
            else:
                start, end = stretch_of(keyword, each, self._words) or (0, len(each))
                fixed = each[:start], each[end:]
            values.append(Value(each, name, None, True, *fixed) if fixed else Value(each, name))
        if any(value.is_text for value in values):
            self.places[element] = ElementValues(vr, values, around.codecs)

    def _is_safe(self, tag: int, keyword: str, value: str, around: _Around) -> bool:
        """Whether nobody needs to read a text."""
        value = value.strip()
        if tag in _CODES or tag == _URN:
            return around.scheme in lists().systems and _CODE_FORM.fullmatch(value) is not None
        if tag == _SCHEME:
            return value in lists().systems or _SCHEME_FORM.fullmatch(value) is not None
        if tag == _CODE_MEANING and is_standard_meaning(around.scheme, around.code, value):
            return True
        return is_technical(keyword, value)

    def _document(self, element: DataElement, path: str) -> None:
        """Open an encapsulated document."""
        root = self._file.root.elements
        data, size = self.bytes_of(element), root.get(DOCUMENT_LENGTH)
        length = self._file.syntax.number(self.bytes_of(size)) if size else len(data)
        data = data[:length] if len(data) - 1 <= length <= len(data) else data
        if size is None:
            data = data.removesuffix(b"\0")
        self.children[path] = nested(data, self._ascii(root.get(_MIME)) or None, path)[1]

    def _read(self, element: DataElement, path: str, around: _Around) -> str:
        """Return the characters of an element without its padding.

        Raises:
            MalformedRecord: its bytes do not have the character set.
        """
        try:
            return decoded(self.bytes_of(element).rstrip(b" \0"), around.codecs)
        except UnicodeDecodeError:
            remedy = "the bytes do not have the Specific Character Set. Correct it"
            raise MalformedRecord(remedy, field=path) from None

    def _values(self, element: DataElement, vr: str, around: _Around) -> list[str]:
        """Return the values of an element that is replaced, however its bytes are encoded."""
        whole = guessed(self.bytes_of(element).rstrip(b" \0"), around.codecs if vr in TEXTS else ())
        return [whole] if vr in WHOLE else [each.strip(" \0") for each in whole.split("\\")]

    def _fields(
        self, element: DataElement, vr: str, written: Sequence[str], path: str, codecs: Sequence[str], kind: str,
        entity: str | None = "GUID", otherwise: Code = "remove",
    ) -> None:  # fmt: skip
        """Make the values of an element structured fields."""
        action: Action = "hash" if kind == "uid" else kind  # type: ignore[assignment]  # the other kinds are Actions
        shown = _SHOWN.get(vr, str)
        values = []
        for at, each in enumerate(written):
            name = path if at == 0 else f"{path}[{at + 1}]"
            content = shown(each)
            if not content or each == DUMMIES.get(vr) or (vr == "UI" and is_well_known(each)):
                values.append(Value(each, name))
                continue
            field = FieldAction(Text(content, name), 0, len(content), action, entity)
            self.actions.append(field)
            values.append(Value(each, name, field))
        if any(value.action for value in values):
            self.places[element] = ElementValues(vr, values, codecs, otherwise)


_SHOWN: Mapping[str, Callable[[str], str]] = {
    "PN": lambda written: natural(written) or natural(written.replace("=", "")),
    "DA": lambda written: iso_of(written) or "", "DT": lambda written: iso_of(written) or "", "AS": age_of,
}  # fmt: skip
