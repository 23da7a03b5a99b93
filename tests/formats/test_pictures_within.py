"""Pictures within letters, workbooks, messages, and records are read, covered, and checked like image files."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path
from typing import Any, BinaryIO

import docx
import numpy as np
import openpyxl
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image

from incognote.errors import RecordProblem, SettingError
from incognote.formats.base import Document, Edit, FieldAction, SeenLine, actions_of, texts_of
from incognote.formats.images.document import BODY, ImageDocument
from incognote.formats.images.second import texts
from incognote.formats.office.pictures import pictures
from incognote.formats.output import rebuilt, second_of
from incognote.formats.pictures import has_boxes, has_pixels, pictures_are_read
from incognote.formats.registry import FormatMismatch, open_one
from incognote.pages.ocr.passes import default_engine
from incognote.schemas.registry import Registry
from incognote.sdk import Deidentifier

from .images import made

PNG, JPEG = made.saved(made.page(), "PNG"), made.saved(made.page(), "JPEG", quality=85)
DOT = made.saved(Image.new("RGB", (600, 2), "navy"), "PNG")
ANIMATION = made.saved(made.page(), "GIF", save_all=True, append_images=[Image.new("RGB", made.SIZE, "red")])
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())


def letter(*data: bytes) -> bytes:
    made_of, out = docx.Document(), io.BytesIO()
    made_of.add_paragraph("The referral:")
    for each in data:
        made_of.add_picture(io.BytesIO(each))
    made_of.save(out)
    return out.getvalue()


def workbook(data: bytes) -> bytes:
    made_of, out = openpyxl.Workbook(), io.BytesIO()
    made_of.active.append(["See the photograph"])
    made_of.active.add_image(SheetImage(io.BytesIO(data)), "C3")
    made_of.save(out)
    return out.getvalue()


def message(data: bytes, kind: str = "jpeg") -> bytes:
    made_of = EmailMessage()
    made_of["Subject"] = "Referral"
    made_of.set_content("The referral:\n")
    made_of.add_attachment(data, "image", kind, filename=f"letter.{kind}")
    return bytes(made_of)


def resource(data: bytes) -> bytes:
    attachment = {"contentType": "image/jpeg", "data": base64.b64encode(data).decode()}
    content = {"resourceType": "DocumentReference", "status": "current", "content": [{"attachment": attachment}]}
    return json.dumps(content).encode()


def hl7(data: bytes) -> bytes:
    encoded = base64.b64encode(data).decode()
    head = "MSH|^~\\&|A|B|C|D|20250309101112||ORU^R01|1|P|2.5.1\rPID|1\rOBR|1|||X^Scan^L\r"
    return f"{head}OBX|1|ED|X^Scan^L||A^image^jpeg^Base64^{encoded}||||||F\r".encode()


def summary(data: bytes) -> bytes:
    whole = (EXAMPLES / "summary.xml").read_text(encoding="utf-8")
    start = whole.rindex("<component", 0, whole.index("<structuredBody"))
    end = whole.index("</component>", whole.index("</structuredBody>"))
    encoded = base64.b64encode(data).decode()
    text = f'<component><nonXMLBody><text mediaType="image/jpeg" representation="B64">{encoded}</text></nonXMLBody>'
    return f"{whole[:start]}{text}{whole[end:]}".encode()


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MEDIA_TYPES = {letter: None, workbook: XLSX, message: "message/rfc822", resource: None, hl7: None, summary: None}
BY_CHOICE = (letter, workbook, message)
each_container = pytest.mark.parametrize("container", MEDIA_TYPES, ids=lambda each: each.__name__)
Container = Callable[[bytes], bytes]


def opened(container: Container, data: bytes, *, read: bool = True) -> tuple[Any, Document]:
    with pictures_are_read(read=read):
        form, document = open_one(container(data), MEDIA_TYPES[container])
        return form, document.under(Registry(), None)


def pictures_in(document: Document, within: str = "") -> dict[str, ImageDocument]:
    """Return the pictures in a document by the beginning of their fields."""
    found = {f"{within}{name}/": each for name, each in document.children.items() if isinstance(each, ImageDocument)}
    return found | {
        name: each for inner, child in document.children.items()
        for name, each in pictures_in(child, f"{within}{inner}/").items()
    }  # fmt: skip


def changed(document: Document) -> dict[str, list[tuple[int, int, str]]]:
    """Return changes that cover the name on each picture of a document."""
    labels = ((made.NAME, "[PERSON]"), (made.SURNAME, "[PERSON]"))
    return {f"{name}{BODY}": made.changes_of(each, *labels)[BODY] for name, each in pictures_in(document).items()}


def same_values(document: Document) -> dict[FieldAction, str]:
    return {action: action.text.content[action.start : action.end] for action in actions_of(document)}


def output_of(form: Any, document: Document, changes: Any) -> bytes:
    return rebuilt(form, document, changes, same_values(document))


@each_container
def test_a_picture_is_covered_and_the_rest_of_it_stays(container: Container) -> None:
    form, document = opened(container, JPEG)
    assert has_pixels(document)
    assert not has_boxes(document)
    [(name, picture)] = pictures_in(document).items()
    assert made.NAME in next(text.content for text in texts_of(document) if text.field == f"{name}{BODY}")
    changes = changed(document)
    output = output_of(form, document, changes)
    with pictures_are_read():
        again = open_one(output, MEDIA_TYPES[container])[1].under(Registry(), None)
    [redacted] = pictures_in(again).values()
    boxes = [cover.box for cover in picture._covers({BODY: changes[f"{name}{BODY}"]})[0]]
    hidden, old, new = made.inside(boxes), made.pixels_of(JPEG), made.pixels_of(redacted.data)
    assert len(boxes) == 2
    assert np.abs(old.astype(int) - new)[~hidden].mean() < 3
    assert np.abs(old.astype(int) - new)[hidden].mean() > 50


def test_a_picture_without_words_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of({}))
    plain = made.saved(Image.new("RGB", (40, 40), "navy"), "PNG")
    with pictures_are_read():
        form, document = open_one(message(plain, "png"), "message/rfc822")
    parts = list(message_from_bytes(output_of(form, document, {})).walk())
    assert (made.pixels_of(parts[2].get_payload(decode=True)) == made.pixels_of(plain)).all()


@each_container
def test_an_output_whose_picture_is_not_covered_is_refused(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unchanged(self: ImageDocument, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(self.data)

    form, document = opened(container, JPEG)
    changes = changed(document)
    monkeypatch.setattr(ImageDocument, "rebuild", unchanged)
    with pytest.raises(FormatMismatch):
        output_of(form, document, changes)


@pytest.mark.parametrize("container", BY_CHOICE, ids=lambda each: each.__name__)
def test_pictures_are_removed_unless_the_user_chooses_to_read_them(container: Container) -> None:
    form, document = opened(container, JPEG, read=False)
    assert not has_pixels(document)
    output = output_of(form, document, {})
    if container is message:
        assert [part.get_payload() for part in message_from_bytes(output).walk()][2] == "[picture]"
        return
    with zipfile.ZipFile(io.BytesIO(output)) as file:
        found = [file.read(name) for name in file.namelist() if "/media/" in name]
    assert found == [pictures()["image/jpeg"]]


@pytest.mark.parametrize("container", BY_CHOICE, ids=lambda each: each.__name__)
def test_a_picture_that_is_too_small_for_words_is_replaced(container: Container) -> None:
    data = container(DOT) if container is not message else message(DOT, "png")
    with pictures_are_read():
        form, document = open_one(data, MEDIA_TYPES[container])
    assert not has_pixels(document)
    assert base64.b64encode(DOT) not in output_of(form, document, {})


def test_each_picture_of_a_letter_is_read_once_and_in_order() -> None:
    with pictures_are_read():
        _, document = open_one(letter(PNG, JPEG, PNG), None)
    assert list(document.children) == ["picture", "picture 2"]
    assert [child.data for child in document.children.values()] == [PNG, JPEG]


@pytest.mark.parametrize(("data", "why"), [
    (JPEG[: len(JPEG) // 2], "picture: word/media/image1.jpg: a damaged JPEG file"),
    (ANIMATION, "picture: word/media/image1.gif: an animation"),
])  # fmt: skip
def test_a_letter_with_a_picture_that_cannot_be_read_is_refused_with_its_part(data: bytes, why: str) -> None:
    whole = letter(JPEG if data[:2] == JPEG[:2] else data)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if "/media/" in name else old.read(name))
    with pictures_are_read(), pytest.raises(RecordProblem) as refused:
        open_one(out.getvalue(), None)
    assert f"{refused.value.field}: {refused.value}".startswith(why)


def test_a_message_with_a_picture_that_cannot_be_read_is_refused_with_its_part() -> None:
    with pictures_are_read(), pytest.raises(RecordProblem, match="part 2: image/jpeg: a damaged JPEG file") as refused:
        open_one(message(JPEG[: len(JPEG) // 2]), "message/rfc822")
    assert refused.value.field == "part[2]"


def test_a_missing_program_names_the_part_whose_pixels_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise SettingError("install Tesseract 5")

    _, document = opened(message, JPEG)
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", missing)
    with pytest.raises(RecordProblem, match="install Tesseract 5") as refused:
        texts_of(document)
    assert (refused.value.code, refused.value.field) == ("unsupported-format", "part[2]")


@each_container
def test_the_second_reading_of_a_picture_knows_its_covers_and_its_fields(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = SeenLine.of("Quackenbush here", [(0, 11, (BODY, 3, 14)), (12, 16, None)])
    asked: list[bytes] = []

    def second(self: ImageDocument, output: bytes, changes: object) -> list[str]:
        asked.append(output)
        return [seen]

    form, document = opened(container, JPEG)
    changes = changed(document)
    output = output_of(form, document, changes)
    monkeypatch.setattr(ImageDocument, "second", second)
    monkeypatch.setattr("incognote.formats.images.second.texts", lambda data: pytest.fail("read without its original"))
    values = same_values(document)
    lines = second_of(form, document, output, changes, values)
    [line] = [each for each in lines if isinstance(each, SeenLine)]
    [field] = changes
    assert line == seen
    assert line.parts == [(0, 11, (field, 3, 14)), (12, 16, None)]
    assert len(asked) == 1
    monkeypatch.setattr("incognote.formats.images.second.texts", lambda data: [])
    with pytest.raises(LookupError):
        second_of(form, document, container(PNG), changes, values)


def test_a_letter_is_released_with_the_picture_covered_and_the_words_beside_it_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try:
        default_engine().read(np.full((40, 40), 255, np.uint8), ["en"], "line")
    except SettingError as missing:
        pytest.skip(str(missing))
    monkeypatch.undo()
    result = Deidentifier("strict", detectors=["rules"], pictures="read").deidentify(letter(PNG))
    assert (result.verdict.outcome, result.verdict.reasons) == ("release", ())
    with zipfile.ZipFile(io.BytesIO(result.data)) as file:
        [name] = [name for name in file.namelist() if "/media/" in name]
        seen = " ".join(texts(file.read(name)))
    assert "stable" in seen
    assert made.SURNAME not in seen
