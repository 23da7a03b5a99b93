"""Synthetic DICOM studies with planted identifiers and the actions that each element needs.

The same seed gives the same bytes. The actions follow those of the MIDI-B challenge (Medical Image De-Identification
Benchmark, 2024): a tag or text removed or kept, a date shifted, a UID changed consistently, pixels kept.
The people are invented: each name joins a given and a family name from lists of common ones.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydicom import Dataset
from pydicom import Sequence as Items
from pydicom.dataelem import DataElement
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    RLELossless,
)

from incognote_benchmarks.dicom_files import COLUMNS, ROWS, filed, pdf, with_pixels

Kind = Literal[
    "tag removed", "value replaced", "text removed", "text kept", "tag kept", "uid changed", "id changed",
    "date shifted", "age limited", "pixels kept",
]  # fmt: skip
ROOT = "1.2.826.0.1.3680043.10.9999"
MODALITIES = ("CT", "MR", "US", "DX", "MG", "XA", "PT", "SR", "DOC")
CLASSES = {
    "CT": "1.2.840.10008.5.1.4.1.1.2", "MR": "1.2.840.10008.5.1.4.1.1.4", "US": "1.2.840.10008.5.1.4.1.1.3.1",
    "DX": "1.2.840.10008.5.1.4.1.1.1.1", "MG": "1.2.840.10008.5.1.4.1.1.1.2", "XA": "1.2.840.10008.5.1.4.1.1.12.1",
    "PT": "1.2.840.10008.5.1.4.1.1.128", "SR": "1.2.840.10008.5.1.4.1.1.88.33", "DOC": "1.2.840.10008.5.1.4.1.1.104.1",
}  # fmt: skip
SYNTAXES = (
    ExplicitVRLittleEndian, ImplicitVRLittleEndian, DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian, RLELossless,
)  # fmt: skip
FOREIGN = {  # a character set, and the family and given name in it
    "ISO_IR 100": ("Müller", "Zoë"), "ISO_IR 144": ("Иванова", "Ольга"), "GB18030": ("王", "小东"),
    "ISO_IR 192": ("حداد", "ليلى"), "\\ISO 2022 IR 87": ("Yamada", "Tarou"),
}  # fmt: skip
WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GIVEN: list[str] = WORDS["given"]
FAMILY: list[str] = WORDS["family"]
FINDINGS: list[str] = WORDS["findings"]


class Action(NamedTuple):
    """What must happen to an element.

    Args:
        path: keywords or `(gggg,eeee)` with items in brackets, parted by dots; `meta:` begins one of the file meta
            information. "*" is every string of the output.
        value: the planted text, the text that stays, or the old value.
    """

    kind: Kind
    path: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A patient: the name in the form of a PN, and what else identifies the person."""

    family: str
    given: str
    written: str
    number: str
    charset: str
    born: date
    age: str
    phone: str


@dataclass(slots=True)
class Instance:
    """An instance with its gold actions."""

    name: str
    modality: str
    patient: str
    data: bytes = field(repr=False)
    actions: list[Action] = field(repr=False)


def instances(patients: int = 12, each: int = 3, seed: int = 23) -> Iterator[Instance]:
    """Yield instances: for each patient a study in each modality, with `each` instances."""
    for at in range(patients):
        rng = random.Random(f"{seed} {at}")  # noqa: S311 -- the same studies each time
        person = _person(rng, at)
        for modality in MODALITIES:
            study = _Study(rng, person, modality, f"{ROOT}.{at + 1}.{MODALITIES.index(modality) + 1}")
            for number in range(1, each + 1):
                yield study.instance(number)


def _person(rng: random.Random, at: int) -> Person:
    charset = [*FOREIGN, "", "ISO_IR 100", "ISO_IR 192"][at % (len(FOREIGN) + 3)]
    family, given = FAMILY[at % len(FAMILY)], GIVEN[(at * 7) % len(GIVEN)]
    if charset in FOREIGN and at < len(FOREIGN):
        family, given = FOREIGN[charset]
    written = f"{family}^{given}"
    if charset == "\\ISO 2022 IR 87":
        written = "Yamada^Tarou=山田^太郎"
    age = rng.randrange(20, 88) if at % 4 else 93
    born = date(2024 - age, rng.randrange(1, 13), rng.randrange(1, 28))
    phone = f"({rng.randrange(212, 989)}) 555-{rng.randrange(1000, 9999)}"
    return Person(family, given, written, f"{rng.randrange(10**7, 10**8)}", charset, born, f"{age:03d}Y", phone)


class _Study:
    """One study, whose instances share what belongs to it."""

    def __init__(self, rng: random.Random, person: Person, modality: str, root: str) -> None:
        self.rng, self.person, self.modality, self.root = rng, person, modality, root
        self.day = date(2024, 1, 1) + timedelta(rng.randrange(300))
        self.accession = f"A{rng.randrange(10**6, 10**7)}"
        self.doctor = (rng.choice(FAMILY), rng.choice(GIVEN))
        self.technician = (rng.choice(FAMILY), rng.choice(GIVEN))
        self.hospital = f"{rng.choice(FAMILY)} Memorial Hospital"
        self.serial = f"SN{rng.randrange(10**5, 10**6)}"
        self.other = rng.choice(GIVEN)
        self.study: str = WORDS["study"][modality][rng.randrange(len(WORDS["study"][modality]))]
        self.actions: list[Action] = []

    def instance(self, number: int) -> Instance:
        self.actions = []
        made = Dataset()
        if self.person.charset:
            made.SpecificCharacterSet = self.person.charset.split("\\")
        self._identity(made, number)
        self._technical(made)
        self._dates(made)
        self._descriptions(made, number)
        self._sequences(made, number)
        self._hidden(made, number)
        self._content(made, number)
        syntax = SYNTAXES[(number + MODALITIES.index(self.modality)) % len(SYNTAXES)]
        if syntax == RLELossless and "PixelData" not in made:
            syntax = ExplicitVRLittleEndian
        self._add("tag removed", "meta:SourceApplicationEntityTitle")
        self._add("uid changed", "meta:MediaStorageSOPInstanceUID", made.SOPInstanceUID)
        data = filed(made, syntax)
        return Instance(f"{self.root}.{number}.dcm", self.modality, self.person.number, data, self.actions)

    def _add(self, kind: Kind, path: str, value: str = "") -> None:
        self.actions.append(Action(kind, path, value))

    def _put(
        self, made: Dataset, keyword: str, value: Any, kind: Kind, gold: str | None = None, prefix: str = ""
    ) -> None:
        """Set an attribute that needs an action."""
        setattr(made, keyword, value)
        self._add(kind, prefix + keyword, str(value) if gold is None else gold)

    def _identity(self, made: Dataset, number: int) -> None:
        person, put = self.person, self._put
        made.SOPClassUID = UID(CLASSES[self.modality])
        self._add("tag kept", "SOPClassUID", made.SOPClassUID)
        put(made, "SOPInstanceUID", UID(f"{self.root}.{number}"), "uid changed")
        put(made, "StudyInstanceUID", UID(f"{self.root}.900"), "uid changed")
        put(made, "SeriesInstanceUID", UID(f"{self.root}.901"), "uid changed")
        put(made, "PatientName", person.written, "value replaced")
        put(made, "PatientID", person.number, "id changed")
        put(made, "IssuerOfPatientID", self.hospital, "tag removed")
        put(made, "PatientBirthDate", f"{person.born:%Y%m%d}", "value replaced")
        put(made, "PatientBirthTime", "081500", "tag removed")
        put(made, "PatientSex", self.rng.choice("FM"), "tag kept")
        put(made, "PatientAge", person.age, "age limited" if person.age > "089Y" else "tag kept")
        put(made, "PatientSize", "1.68", "tag kept")
        put(made, "PatientWeight", "71.5", "tag kept")
        put(made, "OtherPatientIDs", [f"X{person.number}", "H4711-22"], "tag removed", "")
        put(made, "PatientAddress", "14 Sycamore Lane, Millbrook", "tag removed")
        put(made, "PatientTelephoneNumbers", person.phone, "tag removed")
        put(made, "PatientMotherBirthName", f"{self.rng.choice(FAMILY)}^{self.rng.choice(GIVEN)}", "tag removed")
        put(made, "Occupation", "bus driver", "tag removed")
        put(made, "ReferringPhysicianName", "^".join(self.doctor), "value replaced")
        put(made, "PerformingPhysicianName", "^".join(self.doctor), "tag removed")
        put(made, "OperatorsName", "^".join(self.technician), "value replaced")
        put(made, "InstitutionName", self.hospital, "value replaced")
        put(made, "InstitutionAddress", "200 Harbor Street, Millbrook", "tag removed")
        put(made, "InstitutionalDepartmentName", "Radiology East", "tag removed")
        put(made, "StationName", f"MILLBROOK{self.modality}1", "value replaced")
        put(made, "DeviceSerialNumber", self.serial, "value replaced")
        put(made, "AccessionNumber", self.accession, "value replaced")
        put(made, "StudyID", f"S{self.accession[1:]}", "value replaced")
        put(made, "AdmissionID", f"V{person.number[::-1]}", "tag removed")
        put(made, "MedicalRecordLocator", f"L{person.number}", "tag removed")

    def _technical(self, made: Dataset) -> None:
        put, rng = self._put, self.rng
        modality = self.modality
        put(made, "Modality", modality, "tag kept")
        maker, model = WORDS["makers"][modality]
        put(made, "Manufacturer", maker, "tag kept")
        put(made, "ManufacturerModelName", model, "tag kept")
        put(made, "SoftwareVersions", "VA48A", "tag kept")
        made.SeriesNumber, made.InstanceNumber = 4, 1
        if modality in ("SR", "DOC"):
            return
        put(made, "BodyPartExamined", WORDS["parts"].get(modality, "ABDOMEN"), "tag kept")
        put(made, "ImageType", ["ORIGINAL", "PRIMARY", *(["AXIAL"] if modality == "CT" else [])], "tag kept")
        put(made, "LossyImageCompression", "00", "tag kept")
        values: dict[str, Any] = {"KVP": "120", "ExposureTime": "500", "PatientPosition": "HFS"}
        if modality in ("CT", "MR", "PT"):
            values |= {"SliceThickness": "1.25", "PixelSpacing": [0.66, 0.66], "SpacingBetweenSlices": "1.25",
                       "ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "ImagePositionPatient": [-158.1, -179.0, -75.7]}
            put(made, "FrameOfReferenceUID", UID(f"{self.root}.902"), "uid changed")
            made.PositionReferenceIndicator = "SN"
        values |= WORDS["settings"][modality]
        for keyword, value in values.items():
            put(made, keyword, value, "tag kept")
        frames = 3 if modality in ("US", "XA") else 1
        with_pixels(made, frames, 3 if modality == "US" else 1, 8 if frames > 1 else 16, rng.randrange(10**6))
        self._add("pixels kept", "PixelData")
        for keyword in ("Rows", "Columns", *(("NumberOfFrames", "FrameIncrementPointer") if frames > 1 else ())):
            self._add("tag kept", keyword)

    def _dates(self, made: Dataset) -> None:
        day = f"{self.day:%Y%m%d}"
        for keyword in ("StudyDate", "SeriesDate", "ContentDate", "InstanceCreationDate"):
            self._put(made, keyword, day, "date shifted")
        for keyword in ("StudyTime", "SeriesTime", "ContentTime"):
            self._put(made, keyword, "093015.25", "tag kept")
        if self.modality not in ("SR", "DOC"):
            self._put(made, "AcquisitionDate", day, "date shifted")
            self._put(made, "AcquisitionDateTime", f"{day}093015.250000", "date shifted")
        self._put(made, "DateOfSecondaryCapture", f"{self.day + timedelta(1):%Y%m%d}", "date shifted")

    def _descriptions(self, made: Dataset, number: int) -> None:
        person, rng = self.person, self.rng
        family = person.family if person.family.isascii() or person.charset else "Okonkwo"
        study = self.study
        self._put(made, "StudyDescription", study if number % 2 else f"{study} {family.upper()}", "text kept", study)
        if number % 2 == 0:
            self._add("text removed", "StudyDescription", family.upper())
        self._put(made, "SeriesDescription", rng.choice(WORDS["series"][self.modality]), "tag kept")
        values = {
            "doctor": self.doctor[0], "number": person.number, "phone": person.phone, "accession": self.accession,
            "given": person.given, "family": family, "other": self.other, "technician": " ".join(self.technician[::-1]),
            "hospital": self.hospital, "before": f"{self.day - timedelta(90):%m/%d/%Y}",
        }  # fmt: skip
        for keyword in ("ImageComments", "PatientComments", "AdditionalPatientHistory", "DerivationDescription"):
            text, removed, kept = (each.format(**values) for each in rng.choice(WORDS["comments"]))
            if person.charset == "\\ISO 2022 IR 87" and keyword == "ImageComments":
                removed, kept = "山田太郎", "moved during the acquisition"
                text = f"{removed} {kept}."
            setattr(made, keyword, text)
            self.actions += [Action("text removed", keyword, removed), Action("text kept", keyword, kept)]
        made.RequestedProcedureDescription = study
        self._add("text kept", "RequestedProcedureDescription", study)

    def _sequences(self, made: Dataset, number: int) -> None:
        put = self._put
        request = Dataset()
        where = "RequestAttributesSequence[1]."
        put(request, "RequestedProcedureID", f"RP{self.accession[1:]}", "tag removed", prefix=where)
        put(request, "ScheduledProcedureStepID", f"SP{self.accession[1:]}", "tag removed", prefix=where)
        step = f"{self.study} for {self.person.family}"
        put(request, "ScheduledProcedureStepDescription", step, "text kept", self.study, where)
        self._add("text removed", f"{where}ScheduledProcedureStepDescription", self.person.family)
        made.RequestAttributesSequence = Items([request])
        reference = Dataset()
        reference.ReferencedSOPClassUID = UID(CLASSES[self.modality])
        other = f"{self.root}.{number % 3 + 1}"
        put(reference, "ReferencedSOPInstanceUID", UID(other), "uid changed", prefix="ReferencedImageSequence[1].")
        made.ReferencedImageSequence = Items([reference])
        performer = Dataset()
        code = _code(self.technician[0][:16], "99LOCAL", " ".join(self.technician))
        performer.PersonIdentificationCodeSequence, performer.InstitutionName = Items([code]), self.hospital
        made.OperatorIdentificationSequence = Items([performer])
        self._add("text removed", "*", self.hospital)
        anatomy = _code("51185008", "SCT", "Chest")
        made.AnatomicRegionSequence = Items([anatomy])
        for keyword in ("CodeValue", "CodingSchemeDesignator", "CodeMeaning"):
            self._add("tag kept", f"AnatomicRegionSequence[1].{keyword}")
        signed = Dataset()
        signed.MACIDNumber, signed.DigitalSignatureUID = 1, UID(f"{self.root}.903")
        made.DigitalSignaturesSequence = Items([signed])
        self._add("tag removed", "DigitalSignaturesSequence")

    def _hidden(self, made: Dataset, number: int) -> None:
        """Plant identifiers in private, unknown, wrong and obsolete elements, and in values of all representations."""
        person, root = self.person, self.actions
        block = made.private_block(0x0019, "SIEMENS MR HEADER", create=True)
        block.add_new(0x0C, "IS", "1000")
        block.add_new(0x0E, "FD", [0.1, 0.2, 0.3])
        block.add_new(0x77, "LO", " ".join((person.number, person.phone)))
        root += [Action("tag kept", "(0019,100c)", "1000"), Action("tag kept", "(0019,100e)", "[0.1, 0.2, 0.3]"),
                 Action("tag removed", "(0019,1077)")]  # fmt: skip
        secret = made.private_block(0x0009, "MILLBROOK PACS 1.0", create=True)
        for at, (vr, value) in enumerate(_everything(person, self.root), 1):
            secret.add_new(at, vr, value)
            root.append(Action("tag removed", f"(0009,10{at:02x})"))
        made.add(DataElement(0x00091101, "UN", person.number.encode()))
        root.append(Action("tag removed", "(0009,1101)"))
        made.add(DataElement(0x60004000, "LT", f"Overlay for {person.number}"))
        made.add(DataElement(0x60003000, "OW", bytes(ROWS * COLUMNS // 8 + 2)))
        root += [Action("tag removed", "(6000,4000)"), Action("tag removed", "(6000,3000)")]
        made.add(DataElement(0x00184000, "LT", f"Technician {' '.join(self.technician)}"))
        root.append(Action("text removed", "*", f"Technician {' '.join(self.technician)}"))
        made.RetrieveURL = f"https://pacs.millbrook.example/wado?patient={person.number}"
        root += [Action("tag removed", "RetrieveURL"), Action("text removed", "*", person.number)]
        made.RetrieveAETitle = "MILLBROOKPACS"
        root.append(Action("tag removed", "RetrieveAETitle"))
        if number % 3 == 0:  # wrong representations, and identifiers in values that look safe
            made.add(DataElement(0x00102180, "SH", self.technician[0]))
            made.add(DataElement(0x00181020, "CS", "VA48A"))
            made.RequestingService = self.doctor[0]
            root += [Action("tag removed", "Occupation"), Action("text removed", "RequestingService", self.doctor[0])]
            root[:] = [each for each in root if each.path != "SoftwareVersions"]
        made.add(DataElement(0xFFFCFFFC, "OB", person.number.encode()))
        root.append(Action("tag removed", "(fffc,fffc)"))

    def _content(self, made: Dataset, number: int) -> None:
        person = self.person
        name = f"{person.given} {person.family}"
        if self.modality == "SR":
            made.CompletionFlag, made.VerificationFlag = "COMPLETE", "UNVERIFIED"
            made.ValueType, made.ContinuityOfContent = "CONTAINER", "SEPARATE"
            made.ConceptNameCodeSequence = Items([_code("18748-4", "LN", "Diagnostic Imaging Report")])
            finding = FINDINGS[number % len(FINDINGS)]
            doctor = " ".join(self.doctor[::-1])
            rows = [
                ("121071", "Finding", finding, "", finding),
                ("121077", "Conclusion", f"{name} should return in May.", person.family, "should return in"),
                ("121030", "Subject ID", person.number, person.number, ""),
                ("121060", "History", f"Referred by Dr. {doctor} for cough.", self.doctor[0], "for cough"),
            ]
            made.ContentSequence = Items()
            for at, (code, meaning, text, removed, kept) in enumerate(rows, 1):
                item = Dataset()
                item.RelationshipType, item.ValueType, item.TextValue = "CONTAINS", "TEXT", text
                item.ConceptNameCodeSequence = Items([_code(code, "DCM", meaning)])
                made.ContentSequence.append(item)
                path = f"ContentSequence[{at}].TextValue"
                self.actions += [Action("text removed", path, removed)] if removed else []
                self.actions += [Action("text kept", path, kept)] if kept else []
            who = Dataset()
            who.RelationshipType, who.ValueType, who.PersonName = "HAS OBS CONTEXT", "PNAME", "^".join(self.doctor)
            who.ConceptNameCodeSequence = Items([_code("121008", "DCM", "Person Observer Name")])
            made.ContentSequence.append(who)
            self._add("value replaced", "ContentSequence[5].PersonName", str(who.PersonName))
        elif self.modality == "DOC":
            made.MIMETypeOfEncapsulatedDocument, made.DocumentTitle = "application/pdf", "CT chest report"
            made.BurnedInAnnotation, made.ConversionType = "NO", "WSD"
            made.ConceptNameCodeSequence = Items([_code("18748-4", "LN", "Diagnostic Imaging Report")])
            patient = name if name.isascii() else person.number
            lines = (f"Patient: {patient}", f"MRN: {person.number}", "CT of the chest", FINDINGS[0])
            made.EncapsulatedDocument = pdf(*lines)
            made.EncapsulatedDocumentLength = len(made.EncapsulatedDocument)
            self._add("text removed", "EncapsulatedDocument", person.number)
            self._add("text kept", "EncapsulatedDocument", "No acute")


def _everything(person: Person, root: str) -> list[tuple[str, Any]]:
    """Return values of all representations that can hold an identifier, and of the numeric ones."""
    number = person.number
    words = [(vr, number) for vr in "DS IS LO LT SH ST UC UT".split()]
    numbers = [("FL", 1.5), ("FD", 2.5), ("SL", -5), ("SS", -3), ("SV", -7), ("UL", 5), ("US", 3), ("UV", 9)]
    data = [(vr, number.encode()) for vr in "OB OW UN OD OF OL OV".split()]
    return [
        *words, *numbers, *data, ("AE", f"AE{number}"), ("AS", "093Y"), ("AT", 0x00100010), ("CS", f"ID{number}"),
        ("DA", "19500101"), ("DT", "19500101120000"), ("PN", "Roe^Jane"), ("TM", "1201"), ("UI", f"{root}.77"),
        ("UR", f"http://x/{number}"),
    ]  # fmt: skip


def _code(value: str, scheme: str, meaning: str) -> Dataset:
    made = Dataset()
    made.CodeValue, made.CodingSchemeDesignator, made.CodeMeaning = value, scheme, meaning
    return made
