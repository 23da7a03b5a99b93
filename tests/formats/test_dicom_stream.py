"""The elements of DICOM files: encodings, lengths, damage, and bytes that stay as they are."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydicom import dcmread
from pydicom.encaps import encapsulate
from pydicom.uid import DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian, ImplicitVRLittleEndian, RLELossless

from incognote.errors import MalformedRecord, RecordProblem
from incognote.formats.base import FieldEdit, actions_of
from incognote.formats.dicom.document import DicomDocument
from incognote.formats.dicom.stream import MOST_DEPTH, every, read_file
from incognote.formats.dicom.values import charsets, decoded, encoded, is_legal

from .samples.dicom import CT, dataset, element, instance, item, packed

PLAIN = instance()
MOST = 2**20
ITEM, END_OF_ITEM, END = b"\xfe\xff\x00\xe0", b"\xfe\xff\x0d\xe0\0\0\0\0", b"\xfe\xff\xdd\xe0\0\0\0\0"
UNDEFINED = b"\xff\xff\xff\xff"


def rebuilt(data: bytes) -> bytes:
    document, out = DicomDocument(data), io.BytesIO()
    document.rebuild([FieldEdit(action, action.text.content) for action in actions_of(document)], out)
    return out.getvalue()


def sequence(content: bytes, length: int = 0xFFFFFFFF) -> bytes:
    return element(0x0040A730, "SQ", content, length)


@pytest.mark.parametrize(
    "syntax", ["1.2.840.10008.1.2.1", ImplicitVRLittleEndian, ExplicitVRBigEndian, DeflatedExplicitVRLittleEndian])
def test_every_transfer_syntax_is_read_and_written_as_pydicom_reads_it(syntax: str) -> None:
    made = dataset(CT, Rows=4, ImagePositionPatient=[1.5, -2, 3], PatientSex="F",
                   ReferencedImageSequence=[item(ReferencedFrameNumber=[1, 2])])
    data = packed(made, syntax)
    before, after = dcmread(io.BytesIO(data)), dcmread(io.BytesIO(rebuilt(data)))
    assert after.file_meta.TransferSyntaxUID == syntax
    assert {tag: after[tag].value for tag in before.keys() - {0x00080018}} == {
        tag: before[tag].value for tag in before.keys() - {0x00080018}}
    assert rebuilt(rebuilt(data)) == rebuilt(data)


def test_a_file_without_preamble_or_file_meta_information_is_read() -> None:
    for data in (PLAIN[132:], PLAIN[PLAIN.index(b"\x08\x00\x05\x00CS") :]):
        assert DicomDocument(data).id == DicomDocument(PLAIN).id
    implicit = packed(dataset(), ImplicitVRLittleEndian)
    assert DicomDocument(implicit[implicit.index(b"\x08\x00\x05\x00\x0a\x00\x00\x00") :]).id == DicomDocument(PLAIN).id


def test_lengths_that_are_undefined_stay_so() -> None:
    text = element(0x0040A160, "UT", b"ab")
    data = PLAIN + sequence(ITEM + UNDEFINED + text + END_OF_ITEM + ITEM + struct.pack("<I", len(text)) + text + END)
    assert rebuilt(data).endswith(data[len(PLAIN) :])


def test_fragments_of_compressed_pixels_keep_their_bytes() -> None:
    made: Any = dataset(CT, Rows=4, Columns=4, BitsAllocated=8, SamplesPerPixel=1)
    made.PixelData = encapsulate([b"ab" * 9, b"cd" * 7])
    made["PixelData"].VR, made["PixelData"].is_undefined_length = "OB", True
    data = packed(made, RLELossless)
    at = data.index(b"\xe0\x7f\x10\x00")
    assert rebuilt(data).endswith(data[at:])
    for cut in (data[:-3], data[:-9], data[: at + 30]):
        with pytest.raises(MalformedRecord):
            DicomDocument(cut)


def test_group_lengths_and_zeros_at_the_end_are_left_out() -> None:
    at = PLAIN.index(b"\x08\x00\x05\x00CS")
    data = PLAIN[:at] + element(0x00080000, "UL", b"\x08\0\0\0") + PLAIN[at:] + bytes(64)
    assert rebuilt(data) == rebuilt(PLAIN)


def test_elements_out_of_order_are_sorted() -> None:
    late = element(0x00080060, "CS", b"SR")
    at = PLAIN.index(b"\x08\x00\x60\x00CS")
    assert rebuilt(PLAIN[:at] + PLAIN[at + len(late) :] + late) == rebuilt(PLAIN)


def test_an_element_that_occurs_twice_is_refused_even_inside_a_sequence() -> None:
    text = element(0x0040A160, "UT", b"ab")
    for data in (PLAIN + text * 2, PLAIN + sequence(ITEM + UNDEFINED + text * 2 + END_OF_ITEM + END)):
        with pytest.raises(MalformedRecord, match="twice"):
            DicomDocument(data)


@pytest.mark.parametrize(
    "damage",
    [
        sequence(ITEM + UNDEFINED + element(0x0040A160, "UT", b"ab", 900) + END_OF_ITEM + END),
        sequence(ITEM + struct.pack("<I", 900) + END), sequence(ITEM + UNDEFINED), sequence(b"ab" * 8),
        sequence(element(0x0040A160, "UT", b"ab")), element(0x0040A160, "UT", b"ab", 0xFFFFFFFF), END, ITEM, b"\0\1\2",
        element(0x0040A730, "SQ", ITEM + struct.pack("<I", 99), 8), element(0x00204000, "OO", b""),
    ],
)  # fmt: skip
def test_lengths_and_delimiters_that_lie_are_refused(damage: bytes) -> None:
    with pytest.raises(MalformedRecord):
        DicomDocument(PLAIN + damage)


def test_sequences_that_are_too_deep_are_refused() -> None:
    def nested(depth: int) -> bytes:
        return PLAIN + sequence(ITEM + UNDEFINED) * depth + (END_OF_ITEM + END) * depth

    assert len(list(every(read_file(nested(MOST_DEPTH), MOST).root))) > MOST_DEPTH
    with pytest.raises(MalformedRecord, match="inside each other"):
        read_file(nested(MOST_DEPTH + 1), MOST)


def test_a_deflated_data_set_is_limited_and_must_be_whole() -> None:
    data = packed(dataset(ImageComments="a" * 5000), DeflatedExplicitVRLittleEndian)
    assert read_file(data, MOST).deflated
    with pytest.raises(MalformedRecord, match="more than 4000"):
        read_file(data, 4000)
    body = read_file(data, MOST).body
    trailer = struct.pack("<II", zlib.crc32(body), len(body))
    assert read_file(data + trailer, MOST).body == body
    for damaged in (data[:-8], data + b"Carter", data[:-20] + b"Carter" + data[-14:]):
        with pytest.raises(MalformedRecord):
            read_file(damaged, MOST)


def test_text_that_does_not_have_its_character_set_is_refused() -> None:
    for charset, text in (("ISO_IR 192", b"Jos\xe9 "), ("ISO_IR 6", b"Jos\xe9 "), ("ISO_IR 100", "José ".encode())):
        data = instance(SpecificCharacterSet=charset)
        with pytest.raises(MalformedRecord, match="Character Set"):
            DicomDocument(data + element(0x00204000, "LT", text + b" " * (len(text) % 2)))


@pytest.mark.parametrize(
    ("terms", "text"),
    [("\\ISO 2022 IR 87", "Yamada 山田"), ("ISO 2022 IR 13\\ISO 2022 IR 87", "ﾔﾏﾀﾞ 山田"),
     ("\\ISO 2022 IR 149", "김 Kim"), ("ISO 2022 IR 100\\ISO 2022 IR 144", "Zoë Ольга"), ("ISO_IR 192", "王 é"),
     ("GB18030", "王小东"), ("", "Roe")],
)  # fmt: skip
def test_characters_survive_every_kind_of_character_set(terms: str, text: str) -> None:
    codecs = charsets(terms, "SpecificCharacterSet")
    assert decoded(encoded(text, codecs), codecs) == text


def test_a_character_outside_the_character_sets_is_an_error() -> None:
    for terms in ("", "ISO_IR 100", "\\ISO 2022 IR 87"):
        with pytest.raises(UnicodeEncodeError):
            encoded("حداد", charsets(terms, "SpecificCharacterSet"))


def test_only_numbers_and_codes_of_the_standards_form_are_legal() -> None:
    legal = {"DS": ("1.5", "-158.135803222656", "1E-5"), "IS": ("512", "500.0"), "CS": ("HFS", "A_1 B"),
             "AS": ("045Y",), "TM": ("101112.25", "10:11:12", "10"), "DA": ("20240309", "2024.03.09"),
             "DT": ("20240309101112.5+0100",)}
    for vr, values in legal.items():
        assert all(is_legal(vr, value) for value in values)
        assert not is_legal(vr, "Okonkwo")
    for vr, value in (("DA", "20241309"), ("DS", "1" * 30), ("TM", "2510"), ("CS", "A" * 17)):
        assert not is_legal(vr, value)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_bytes_raise_only_our_errors(data: st.DataObject) -> None:
    made = bytearray(packed(dataset(CT, ContentSequence=[item(TextValue="Seen.")], PatientName="Roe^Jane")))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(132, len(made) - 1))
        new = data.draw(st.sampled_from([b"\0", UNDEFINED, ITEM, END, b"SQ", b"UN"]))
        made[at : at + data.draw(st.integers(0, 4))] = new
    try:
        rebuilt(bytes(made))
    except RecordProblem:
        return
