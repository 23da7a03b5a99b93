"""DICOM instances."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any

from pydicom import Dataset, dcmwrite
from pydicom.dataset import FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian

from incognote.formats.base import FieldEdit
from incognote.formats.dicom.document import DicomDocument
from incognote.formats.registry import named

from . import Sample

BASIC_TEXT_SR = UID("1.2.840.10008.5.1.4.1.1.88.11")
CT = UID("1.2.840.10008.5.1.4.1.1.2")
ROOT = "1.2.276.0.7230010.3.1.4"


def dataset(sop_class: UID = BASIC_TEXT_SR, **attributes: Any) -> Dataset:
    """Return the data set of an instance with these attributes and those that every instance needs."""
    made = Dataset()
    made.SpecificCharacterSet = "ISO_IR 192"
    made.SOPClassUID, made.SOPInstanceUID = sop_class, UID(f"{ROOT}.8323329.1")
    made.StudyInstanceUID, made.SeriesInstanceUID = UID(f"{ROOT}.8323329.2"), UID(f"{ROOT}.8323329.3")
    made.Modality = "SR" if sop_class == BASIC_TEXT_SR else "CT"
    for keyword, value in attributes.items():
        setattr(made, keyword, value)
    return made


def packed(made: Dataset, syntax: str = ExplicitVRLittleEndian) -> bytes:
    """Return the file of a data set."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = made.SOPClassUID, made.SOPInstanceUID
    meta.TransferSyntaxUID = UID(syntax)
    meta.ImplementationClassUID = UID("1.2.276.0.7230010.3.0.3.6.7")
    made.file_meta, made.preamble = meta, bytes(128)
    out = io.BytesIO()
    dcmwrite(out, made, enforce_file_format=True)
    return out.getvalue()


def instance(sop_class: UID = BASIC_TEXT_SR, **attributes: Any) -> bytes:
    """Return the file of an instance with these attributes."""
    return packed(dataset(sop_class, **attributes))


def item(**attributes: Any) -> Dataset:
    """Return an item of a sequence."""
    made = Dataset()
    for keyword, value in attributes.items():
        setattr(made, keyword, value)
    return made


def element(tag: int, vr: str, value: bytes, length: int | None = None) -> bytes:
    """Return an element in explicit little endian, with any length."""
    head = struct.pack("<HH2s", tag >> 16, tag & 0xFFFF, vr.encode())
    size = len(value) if length is None else length
    return head + (struct.pack("<HI", 0, size) if vr in ("OB", "SQ", "UN", "UT") else struct.pack("<H", size)) + value


def _make(texts: Sequence[str]) -> bytes:
    content = [item(ValueType="TEXT", TextValue="\n".join(texts))]
    document, out = DicomDocument(instance(ContentSequence=content)), io.BytesIO()
    document.rebuild([FieldEdit(action, action.text.content) for action in document.actions], out)
    return out.getvalue()


_PLAIN = instance()
SAMPLES = (
    Sample(
        named("dicom"),
        _make,
        [
            (b"Seen by Dr. Carter.", "malformed"),
            (b"%PDF-1.4\n", "unsupported-format"),
            (_PLAIN[:-5], "malformed"),
            (_PLAIN + element(0x00204000, "LT", b"Carter", 4000), "malformed"),
            (_PLAIN + element(0x00204000, "LT", b"Carter") * 2, "malformed"),
            (_PLAIN + element(0x00204000, "??", b"Carter"), "malformed"),
            (_PLAIN + element(0x0040A730, "SQ", b"Carter"), "malformed"),
            (_PLAIN + element(0x00204000, "LT", b"Jos\xe9 "), "malformed"),
            (instance(ImageComments="a").replace(b"ISO_IR 192", b"ISO_IR 666"), "malformed"),
            (instance(UID("1.2.840.10008.1.3.10")), "unsupported-format"),
            (instance(EncapsulatedDocument=b"MSCF" + bytes(60)), "unsupported-format"),
            (packed(dataset(), "1.2.840.10008.1.2.1.99")[:-9], "malformed"),
        ],
    ),
)
