"""Recordings within messages, records, letters, and PDF files are heard and muted, or removed, or the whole is held."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import numpy as np
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part

from incognote.errors import RecordProblem
from incognote.formats.audio.document import BODY, AudioDocument
from incognote.formats.base import Document, FieldAction, actions_of
from incognote.formats.output import rebuilt
from incognote.formats.registry import open_one
from incognote.schemas.registry import Registry
from incognote.speech.files import SoundFile

from .audio import made

WAV, MP3 = made.file(), made.file(kind="MP3")
AIFF, W64 = made.file(kind="AIFF"), made.file(kind="W64")
RAW = made.sound().astype("<i2").tobytes()
"""Sound without a header, as `audio/L16`."""
MULAW = np.random.default_rng(0).integers(0, 256, 9_000, dtype=np.uint8).tobytes()
"""As `audio/basic`."""
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
EXAMPLES = Path(__file__).parents[2] / "examples"
Container = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def _heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard())


def message(data: bytes) -> bytes:
    made_of = EmailMessage()
    made_of["Subject"] = "Voicemail"
    made_of.set_content("The call:\n")
    made_of.add_attachment(data, "audio", "basic", filename="call.wav")
    return bytes(made_of)


def _attachment(data: bytes) -> dict[str, str]:
    return {"contentType": "audio/basic", "data": base64.b64encode(data).decode()}


def resource(data: bytes) -> bytes:
    content = [{"attachment": _attachment(data)}]
    return json.dumps({"resourceType": "DocumentReference", "status": "current", "content": content}).encode()


def media(data: bytes) -> bytes:
    return json.dumps({"resourceType": "Media", "status": "completed", "content": _attachment(data)}).encode()


def hl7(data: bytes) -> bytes:
    head = "MSH|^~\\&|A|B|C|D|20250309101112||ORU^R01|1|P|2.5.1\rPID|1\rOBR|1|||X^Call^L\r"
    return f"{head}OBX|1|ED|X^Call^L||A^audio^basic^Base64^{_attachment(data)['data']}||||||F\r".encode()


def summary(data: bytes) -> bytes:
    whole = (EXAMPLES / "summary.xml").read_text(encoding="utf-8")
    start = whole.rindex("<component", 0, whole.index("<structuredBody"))
    end = whole.index("</component>", whole.index("</structuredBody>"))
    text = f'<text mediaType="audio/basic" representation="B64">{_attachment(data)["data"]}</text>'
    return f"{whole[:start]}<component><nonXMLBody>{text}</nonXMLBody>{whole[end:]}".encode()


def _letter(data: bytes, name: str, content_type: str, relation: str) -> bytes:
    made_of, out = docx.Document(), io.BytesIO()
    made_of.add_paragraph("The call:")
    part = Part(PackURI(name), content_type, data, made_of.part.package)
    made_of.part.relate_to(part, f"{RELATIONS}/{relation}")
    made_of.save(out)
    return out.getvalue()


def letter(data: bytes) -> bytes:
    return _letter(data, "/word/embeddings/call.wav", "audio/wav", "package")


def document(data: bytes) -> bytes:
    import pikepdf

    made_of, out = pikepdf.new(), io.BytesIO()
    made_of.add_blank_page()
    made_of.attachments["call.wav"] = data
    made_of.save(out)
    return out.getvalue()


MEDIA_TYPES = {message: "message/rfc822", resource: None, media: None, hl7: None, summary: None, letter: DOCX,
               document: "application/pdf"}  # fmt: skip
each_container = pytest.mark.parametrize("container", MEDIA_TYPES, ids=lambda each: each.__name__)


def _opened(data: bytes, media_type: str | None) -> tuple[Any, Document]:
    form, opened = open_one(data, media_type)
    return form, opened.under(Registry(), None)


def _recordings(opened: Document, within: str = "") -> dict[str, AudioDocument]:
    """Return the recordings in a document by the beginning of their fields."""
    found: dict[str, AudioDocument] = {}
    for name, child in opened.children.items():
        inner = f"{within}{name}/"
        found |= {inner: child} if isinstance(child, AudioDocument) else _recordings(child, inner)
    return found


def _output(form: Any, opened: Document, changes: Any) -> bytes:
    values: dict[FieldAction, str] = {a: a.text.content[a.start : a.end] for a in actions_of(opened)}
    return rebuilt(form, opened, changes, values)


def _samples(data: bytes) -> Any:
    return np.concatenate(list(SoundFile(data).samples()))


@each_container
def test_a_recording_is_muted_where_a_name_is_said_and_the_rest_of_it_stays(container: Container) -> None:
    form, opened = _opened(container(WAV), MEDIA_TYPES[container])
    [(name, recording)] = _recordings(opened).items()
    start = recording.texts[0].content.casefold().index("thompson")
    change = [(start, start + len("thompson"), "[PERSON]")]
    output = _output(form, opened, {f"{name}{BODY}": change})
    [muted] = _recordings(_opened(output, MEDIA_TYPES[container])[1]).values()
    before, after = _samples(WAV), _samples(muted.data)
    [time] = recording.muted({BODY: change})
    begin, end = round(time.start * made.RATE), round(time.end * made.RATE)
    assert not after[begin:end].any()
    assert np.array_equal(after[: begin - 100], before[: begin - 100])
    assert np.array_equal(after[end + 100 :], before[end + 100 :])


@each_container
def test_a_recording_is_known_by_its_content_not_by_its_type(container: Container) -> None:
    assert len(_recordings(_opened(container(MP3), MEDIA_TYPES[container])[1])) == 1


@pytest.mark.parametrize(
    "sound", [AIFF, W64, RAW, MULAW, b"#!AMR\n" + bytes(200)], ids=["AIFF", "W64", "raw", "mu-law", "AMR"]
)
@pytest.mark.parametrize(
    "container", [message, resource, media, hl7, summary, document], ids=lambda each: each.__name__
)
def test_a_recording_without_a_reader_holds_the_whole(container: Container, sound: bytes) -> None:
    with pytest.raises(RecordProblem):
        _output(*_opened(container(sound), MEDIA_TYPES[container]), {})


@pytest.mark.parametrize("sound", [WAV, W64, RAW], ids=["WAV", "W64", "raw"])
@pytest.mark.parametrize(
    ("name", "content_type", "relation"),
    [("/word/media/media1.wav", "audio/wav", "audio"), ("/word/media/media1.wav", "audio/x-wav", "image"),
     ("/word/media/media1.bin", "application/octet-stream", "video")],
)  # fmt: skip
def test_a_sound_that_a_letter_plays_is_removed(sound: bytes, name: str, content_type: str, relation: str) -> None:
    form, opened = _opened(_letter(sound, name, content_type, relation), DOCX)
    assert not _recordings(opened)
    assert _left(_output(form, opened, {}), sound) == 0


@pytest.mark.parametrize("sound", [W64, RAW], ids=["W64", "raw"])
def test_an_object_of_sound_without_a_reader_is_removed_from_a_letter(sound: bytes) -> None:
    form, opened = _opened(letter(sound), DOCX)
    assert _left(_output(form, opened, {}), sound) == 0


def _left(output: bytes, sound: bytes) -> int:
    """Return the number of parts of a letter that hold the sound."""
    import zipfile

    with zipfile.ZipFile(io.BytesIO(output)) as parts:
        return sum(sound[2_000:2_400] in parts.read(name) for name in parts.namelist())


def test_sounds_that_a_pdf_file_plays_are_removed() -> None:
    import pikepdf

    made_of, out = pikepdf.new(), io.BytesIO()
    made_of.add_blank_page()
    name = pikepdf.Name
    sound = made_of.make_stream(RAW, Type=name.Sound, R=16_000, B=16, E=name.Signed)
    plays = pikepdf.Dictionary(S=name.Sound, Sound=sound)
    mark = pikepdf.Dictionary(Type=name.Annot, Subtype=name.Sound, Rect=[0, 0, 10, 10], Sound=sound)
    made_of.pages[0].Annots = pikepdf.Array([made_of.make_indirect(mark)])
    made_of.pages[0].AA = pikepdf.Dictionary(O=plays)
    made_of.Root.OpenAction = plays
    made_of.save(out)
    output = _output(*_opened(out.getvalue(), "application/pdf"), {})
    with pikepdf.open(io.BytesIO(output)) as again:
        streams = [each.read_bytes() for each in again.objects if isinstance(each, pikepdf.Stream)]
    assert not any(RAW[2_000:2_400] in each for each in streams)


def test_a_recording_in_an_extension_of_a_resource_is_removed() -> None:
    extension = [{"url": "https://example.org/call", "valueAttachment": _attachment(WAV)}]
    observation = {"resourceType": "Observation", "status": "final", "code": {"text": "x"}, "extension": extension}
    output = _output(*_opened(json.dumps(observation).encode(), None), {})
    assert "valueAttachment" not in output.decode()


@pytest.mark.parametrize("page", ['<audio src="{}"></audio>', '<a href="{}">call</a>', '<object data="{}"></object>'])
def test_a_recording_in_an_address_of_a_page_is_removed(page: str) -> None:
    link = "data:audio/wav;base64," + _attachment(WAV)["data"]
    whole = f"<html><body><p>The call</p>{page.format(link)}</body></html>"
    output = _output(*_opened(whole.encode(), "text/html"), {})
    assert "base64" not in output.decode()
