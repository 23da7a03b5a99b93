"""DICOM: headers by the confidentiality profile, texts, private and unknown elements, and what an output says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydicom import Dataset, dcmread
from pydicom.uid import ExplicitVRBigEndian, ImplicitVRLittleEndian

from incognote import Deidentifier, Result
from incognote.errors import BadSchema, RecordProblem, UnapprovedSchema, UnsupportedFormat
from incognote.formats.base import FieldEdit
from incognote.formats.dicom.document import DicomDocument
from incognote.formats.dicom.profile import profile_with
from incognote.formats.dicom.second import second
from incognote.formats.registry import named, of_content
from incognote.keys import Keyring
from incognote.nouns import Known, Text
from incognote.schemas.registry import Registry, approve

from .samples.dicom import CT, ROOT, dataset, element, instance, item, packed

SHIFT = """
name = "shift"
extends = "strict"
label = "none"
[types.DATE]
operator = "date-shift"
[types.AGE]
operator = "generalize"
mode = "safe-harbor"
"""


CHEST = item(CodeValue="51185008", CodingSchemeDesignator="SCT", CodeMeaning="Chest")


@pytest.fixture(scope="module")
def deid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deidentifier]:
    path = tmp_path_factory.mktemp("policy") / "shift.toml"
    path.write_text(SHIFT)
    Keyring.write_new(path.with_suffix(".key"))
    with Deidentifier(str(path), key_file=path.with_suffix(".key")) as made:
        yield made


@pytest.fixture(scope="module")
def strict() -> Iterator[Deidentifier]:
    with Deidentifier("strict") as made:
        yield made


def served(deid: Deidentifier, data: bytes) -> Result:
    return deid.deidentify(data, media_type="application/dicom")


def keywords(made: Dataset) -> set[str]:
    return {each.keyword for each in made}


def output(deid: Deidentifier, data: bytes) -> Dataset:
    result = served(deid, data)
    assert result.verdict.released, result.verdict
    return dcmread(io.BytesIO(result.data or b""))


def same(data: bytes, document: DicomDocument | None = None) -> Dataset:
    """Return the output of a document whose texts and fields keep their values."""
    document, out = document or DicomDocument(data), io.BytesIO()
    document.rebuild([FieldEdit(action, action.text.content) for action in document.actions], out)
    return dcmread(io.BytesIO(out.getvalue()))


def test_a_dicom_file_is_recognized_by_its_content_and_suffix_even_with_the_header_of_a_tiff() -> None:
    data = instance()
    for each in (data, b"II*\0" + data[4:]):
        assert of_content(each).name == "dicom"
    assert named("dicom").suffixes[0] == ".dcm"


def test_a_person_is_replaced_in_the_header_and_in_the_texts(deid: Deidentifier) -> None:
    data = instance(
        PatientName="Okonkwo^Nia^Adaeze", PatientID="00412873", PatientBirthDate="19580314", PatientSex="F",
        OtherPatientIDs="H-4711-22", ReferringPhysicianName="Whitfield^Gordon", InstitutionName="Harbor General",
        StudyDescription="CT CHEST OKONKWO", ImageComments="Nia Okonkwo moved. Called Dr. Whitfield, MRN 00412873.",
    )
    made = output(deid, data)
    assert (made.PatientName, made.PatientBirthDate, made.PatientSex) == ("[PATIENT]", "", "F")
    assert made.ReferringPhysicianName == "[CLINICIAN]"
    assert len(made.PatientID) == 16
    assert made.PatientID != "00412873"
    assert not {"OtherPatientIDs", "InstitutionName"} & keywords(made)
    assert made.StudyDescription == "CT CHEST [PERSON]"
    assert made.ImageComments == "[PERSON] moved. Called Dr. [PERSON], MRN [MEDICAL_RECORD_NUMBER]."


def test_an_output_says_how_it_was_de_identified_and_by_which_options(deid: Deidentifier) -> None:
    made = output(deid, instance(PatientID="4711", StudyDate="20240309"))
    assert made.PatientIdentityRemoved == "YES"
    assert "PS3.15 2026c" in made.DeidentificationMethod
    codes = [code.CodeValue for code in made.DeidentificationMethodCodeSequence]
    assert codes == ["113100", "113105", "113104", "113103", "113107", "113108", "113111"]
    assert made.LongitudinalTemporalInformationModified == "MODIFIED"
    assert same(instance(StudyDate="20240309")).LongitudinalTemporalInformationModified == "UNMODIFIED"
    assert same(instance()).LongitudinalTemporalInformationModified == "REMOVED"


def test_dates_move_by_one_offset_and_times_stay(deid: Deidentifier) -> None:
    data = instance(CT, PatientID="4711", StudyDate="20240309", StudyTime="101112", ContentDate="20240310",
                    AcquisitionDateTime="20240309101112.5+0100")  # fmt: skip
    made = output(deid, data)
    assert made.StudyDate not in ("", "20240309")
    assert date.fromisoformat(made.ContentDate) - date.fromisoformat(made.StudyDate) == timedelta(1)
    assert made.AcquisitionDateTime == f"{made.StudyDate}101112.5+0100"
    assert made.StudyTime == "101112"


def test_without_dates_the_profile_decides_by_the_type_of_an_attribute(strict: Deidentifier) -> None:
    data = instance(CT, StudyDate="20240309", StudyTime="101112", SeriesDate="20240309", AcquisitionTime="101112",
                    AcquisitionDateTime="20240309")  # fmt: skip
    made = output(strict, data)
    assert (made.StudyDate, made.StudyTime) == ("", "")  # type 2
    assert not {"SeriesDate", "AcquisitionTime"} & keywords(made)  # type 3
    sr = output(strict, instance(ContentDate="20240309", ContentTime="101112", ObservationDateTime="20240309"))
    assert (sr.ContentDate, sr.ContentTime) == ("19000101", "000000")  # type 1


def test_ages_over_89_follow_the_policy(deid: Deidentifier) -> None:
    assert output(deid, instance(PatientID="1", PatientAge="093Y")).PatientAge == "090Y"
    assert output(deid, instance(PatientID="1", PatientAge="045Y")).PatientAge == "045Y"
    assert output(deid, instance(PatientID="1", PatientAge="003M")).PatientAge == "003M"


def test_identifiers_of_instances_stay_linked_and_those_of_the_standard_stay(deid: Deidentifier) -> None:
    reference = item(ReferencedSOPClassUID=CT, ReferencedSOPInstanceUID=f"{ROOT}.8323329.1")
    one = output(deid, instance(PatientID="1", ReferencedImageSequence=[reference]))
    two = output(deid, instance(CT, PatientID="1", FrameOfReferenceUID="1.2.840.10008.1.4.1.1"))
    assert one.SOPInstanceUID.is_valid
    assert one.SOPInstanceUID.startswith("2.25.")
    assert one.SOPInstanceUID == one.file_meta.MediaStorageSOPInstanceUID == two.SOPInstanceUID
    assert one.ReferencedImageSequence[0].ReferencedSOPInstanceUID == one.SOPInstanceUID
    assert one.ReferencedImageSequence[0].ReferencedSOPClassUID == CT
    assert two.FrameOfReferenceUID == "1.2.840.10008.1.4.1.1"


def test_file_meta_information_and_preamble_show_no_station() -> None:
    made = dataset()
    made.RetrieveAETitle = "HARBORPACS"
    data = packed(made).replace(bytes(128), b"Harbor scanner 3".ljust(128, b"\0"), 1)
    head = element(0x00020016, "AE", b"HARBORCT") + element(0x00020102, "OB", b"Carter")
    at = data.index(b"\x02\x00\x12\x00")
    made = same(data[:at] + data[at : data.index(b"\x08\x00\x05\x00")] + head + data[data.index(b"\x08\x00\x05\x00") :])
    assert made.preamble == bytes(128)
    assert {each.keyword for each in made.file_meta} == {
        "FileMetaInformationGroupLength", "FileMetaInformationVersion", "MediaStorageSOPClassUID",
        "MediaStorageSOPInstanceUID", "TransferSyntaxUID", "ImplementationClassUID", "ImplementationVersionName",
    }  # fmt: skip
    assert "RetrieveAETitle" not in made


def test_private_elements_go_but_for_safe_ones_of_a_known_creator() -> None:
    made = dataset(CT)
    safe = made.private_block(0x0019, "SIEMENS MR HEADER", create=True)
    safe.add_new(0x0C, "IS", "1000")
    safe.add_new(0x0D, "CS", "OKONKWO")
    made.PatientName = "Okonkwo^Nia"
    safe.add_new(0x77, "LO", "Okonkwo")
    made.private_block(0x0009, "Harbor PACS", create=True).add_new(1, "LO", "Okonkwo")
    for syntax in ("1.2.840.10008.1.2.1", ImplicitVRLittleEndian, ExplicitVRBigEndian):
        again = same(packed(made, syntax))
        assert [each.tag for each in again if each.tag.is_private] == [0x00190010, 0x0019100C]


def test_unknown_obsolete_and_wrong_elements_go() -> None:
    wrong = element(0x00101010, "LO", b"Okonkwo ") + element(0x00180060, "DS", b"Okonkwo ")
    data = instance(CT) + wrong + element(0x00181111, "UN", b"Okonkwo ") + element(0x00200000, "UL", b"\4\0\0\0")
    data += element(0x50000030, "LO", b"Okonkwo ") + element(0x60004000, "LT", b"Okonkwo ")
    data += element(0xFFFCFFFC, "OB", b"Okonkwo ")
    made = same(data)
    assert {each.keyword for each in made} == {each.keyword for each in same(instance(CT))}


def test_an_identifier_in_a_code_string_or_a_number_goes() -> None:
    data = instance(CT, PatientName="Okonkwo^Nia", PatientID="412873", BodyPartExamined="OKONKWO",
                    SeriesNumber="412873", ImageType=["ORIGINAL", "NIA"], AcquisitionNumber="7")  # fmt: skip
    made = same(data)
    assert not {"BodyPartExamined", "SeriesNumber", "ImageType"} & keywords(made)
    assert made.AcquisitionNumber == 7


def test_a_name_with_the_wrong_representation_is_replaced_with_the_right_one(strict: Deidentifier) -> None:
    for vr in ("LO", "UN"):
        made = output(strict, instance(PatientID="1") + element(0x00100010, vr, b"Okonkwo^Nia "))
        assert (made["PatientName"].VR, made.PatientName) == ("PN", "[PATIENT]")


def test_settings_of_a_scanner_stay_and_are_not_read() -> None:
    made = dataset(CT, Manufacturer="SIEMENS", SeriesDescription="Thorax 1.0 B31f", ConvolutionKernel="B31f",
                   AnatomicRegionSequence=[CHEST])
    assert DicomDocument(packed(made)).texts == ()
    made.SeriesDescription = "Thorax 1.0 Whitfield"
    assert DicomDocument(packed(made)).texts[0].content == "Thorax 1.0 Whitfield"
    made.PatientName, made.SeriesDescription = "Whitfield^Ann", "Thorax 1.0 Whitfield B31f"
    assert DicomDocument(packed(made)).texts == (Text("Whitfield", "SeriesDescription"),)


def test_a_new_text_fits_its_representation(strict: Deidentifier) -> None:
    comment = "Call (212) 555-0147, (212) 555-0148, (212) 555-0149, Carter"
    made = output(strict, instance(PatientID="1", StudyDescription=comment))
    assert len(made.StudyDescription) <= 64
    assert made.StudyDescription == "Call [TELEPHONE_NUMBER], [TELEPHONE_NUMBER], [TELEPHONE_NUMBER],"


@pytest.mark.parametrize(
    ("charset", "name"),
    [("ISO_IR 100", "Müller^Zoë"), ("ISO_IR 192", "حداد^ليلى"), ("ISO_IR 144", "Иванова^Ольга"), ("GB18030", "王^小东"),
     (["", "ISO 2022 IR 87"], "Yamada^Tarou=山田^太郎=やまだ^たろう"),
     (["", "ISO 2022 IR 149"], "Hong^Gildong=洪^吉洞=홍^길동")],
)  # fmt: skip
def test_names_in_every_character_set_are_known(charset: Any, name: str) -> None:
    document = DicomDocument(packed(dataset(SpecificCharacterSet=charset, PatientName=name, ImageComments="Scanned.")))
    known = {each.value for each in document.known}
    assert {part for group in name.split("=") for part in group.split("^")} <= known
    assert str(same(b"", document).PatientName) == name


def test_the_identifiers_of_a_header_are_known_wherever_they_are() -> None:
    request = item(RequestingPhysician="Carter^Emily", AccessionNumber="A4711001")
    data = instance(PatientName="Okonkwo^Nia", InstitutionName="Harbor General", RequestAttributesSequence=[request])
    expected = {Known("PATIENT", "Nia Okonkwo"), Known("PATIENT", "Okonkwo"), Known("CLINICIAN", "Carter"),
                Known("FIN", "A4711001"), Known("HOSPITAL", "Harbor General")}  # fmt: skip
    assert expected <= set(DicomDocument(data).known)


def test_a_structured_report_is_cleaned_by_its_concepts(strict: Deidentifier) -> None:
    def content(code: str, kind: str, **value: Any) -> Dataset:
        concept = item(CodeValue=code, CodingSchemeDesignator="DCM", CodeMeaning="Finding")
        return item(ValueType=kind, ConceptNameCodeSequence=[concept], **value)

    rows = [
        content("121071", "TEXT", TextValue="Seen by Dr. Emily Carter. No effusion."),
        content("121030", "TEXT", TextValue="X77"), content("121008", "PNAME", PersonName="Carter^Emily"),
        content("121031", "DATE", Date="19580314"),
    ]  # fmt: skip
    made = output(strict, instance(PatientID="1", ContentSequence=rows))
    text, number, name, born = made.ContentSequence
    assert text.TextValue == "Seen by Dr. [PERSON]. No effusion."
    assert number.TextValue == "[MEDICAL_RECORD_NUMBER]"
    assert name.PersonName == "[CLINICIAN]"
    assert born.Date == "19000101"


def test_an_encapsulated_document_is_read_by_its_own_reader(strict: Deidentifier) -> None:
    letter = rb"{\rtf1 Seen by Dr. Emily Carter.}"
    data = instance(MIMETypeOfEncapsulatedDocument="text/rtf", EncapsulatedDocument=letter,
                    EncapsulatedDocumentLength=33, PatientID="1")  # fmt: skip
    made = output(strict, data)
    assert made.EncapsulatedDocument.rstrip(b"\0") == rb"{\rtf1 Seen by Dr. [PERSON].}"
    assert made.EncapsulatedDocumentLength == len(made.EncapsulatedDocument.rstrip(b"\0"))
    broken = instance(MIMETypeOfEncapsulatedDocument="text/xml", EncapsulatedDocument=b"<ClinicalDocument>")
    with pytest.raises(RecordProblem) as problem:
        DicomDocument(broken)
    assert problem.value.field == "EncapsulatedDocument"


def test_pixels_without_text_keep_their_bytes(strict: Deidentifier) -> None:
    small: dict[str, Any] = {"Rows": 4, "Columns": 4, "BitsAllocated": 8, "PixelData": bytes(range(16))}
    for syntax in ("1.2.840.10008.1.2.1", ImplicitVRLittleEndian):
        assert output(strict, packed(dataset(CT, PatientID="1", **small), syntax)).PixelData == bytes(range(16))
    blank = dataset(CT, **{**small, "Rows": 64, "Columns": 64, "PixelData": bytes(4096)})
    assert same(packed(blank)).PixelData == bytes(4096)
    blank.PixelData = bytes(range(256)) * 16
    assert same(packed(blank)).PixelData == blank.PixelData


def test_a_volume_that_may_show_a_face_is_held_if_the_hospital_asks_for_it(tmp_path: Path) -> None:
    approve(_site(tmp_path, CleanRecognizableVisualFeatures="passThrough"), "Ada Example")
    document = DicomDocument(instance(CT, BodyPartExamined="HEAD"))
    with pytest.raises(UnsupportedFormat, match="face"):
        document.under(Registry([tmp_path]), None)


def test_the_second_reader_shows_what_the_rules_do_not_keep() -> None:
    data = instance(CT, PatientName="Okonkwo^Nia", StudyDate="20240309", ContentDate="20240101", StudyTime="101112",
                    SeriesDescription="Thorax 1.0 Carter", SliceThickness="1.25", StationName="HARBOR7")  # fmt: skip
    shown = list(second(data + element(0x00091001, "UN", b"Harbor")))
    assert sorted(each for each in shown if not each.startswith(ROOT[:15])) == [
        "2024", "2024-03-09", "HARBOR7", "Harbor", "Nia Okonkwo", "PYDICOM 3.0.2", "Thorax 1.0 Carter",
    ]  # fmt: skip


def _site(folder: Path, **properties: str) -> Path:
    more = {"passThrough": {"passReason": "the study needs it"}, "shouldMask": {"entity_type": "GUID"}}
    rules = {name: {"type": "string", flag: True, **more[flag]} for name, flag in properties.items()}
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "dataType": "dicom.site", "type": "object",
              "properties": rules}  # fmt: skip
    path = folder / "dicom.site.json"
    path.write_text(json.dumps(schema))
    return path


def test_a_hospital_chooses_options_and_attributes_in_an_approved_schema(tmp_path: Path) -> None:
    path = _site(tmp_path, RetainUIDs="passThrough", InstitutionName="passThrough", CleanDescriptors="shouldMask")
    with pytest.raises(UnapprovedSchema):
        profile_with(Registry([tmp_path]))
    approve(path, "Ada Example")
    rules = profile_with(Registry([tmp_path]))
    assert {"uids", "descriptors"} & rules.options == {"uids"}
    data = instance(CT, InstitutionName="Harbor General", StudyDescription="CT CHEST")
    made = same(b"", DicomDocument(data, rules))
    assert (made.SOPInstanceUID, made.InstitutionName) == (f"{ROOT}.8323329.1", "Harbor General")
    assert "StudyDescription" not in made


def test_an_unknown_name_in_a_hospitals_schema_is_refused(tmp_path: Path) -> None:
    approve(_site(tmp_path, NoSuchAttribute="passThrough"), "Ada Example")
    with pytest.raises(BadSchema, match="NoSuchAttribute"):
        profile_with(Registry([tmp_path]))
