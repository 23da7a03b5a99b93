"""Outputs of image files: what is covered, what stays, and that a wrong output is refused."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from incognote.errors import AccountingError
from incognote.formats.base import Edit
from incognote.formats.images.document import ImageDocument
from incognote.formats.images.files import ImageFile
from incognote.formats.images.painting import Cover, painted
from incognote.formats.output import rebuilt
from incognote.formats.registry import FormatMismatch, named, open_one

from . import made

LABELS = ((made.NAME, "[PERSON]"), (made.SURNAME, "[PERSON]"))
FILES = {
    "png": made.saved(made.page(), "PNG", dpi=(200, 200)), "gray png": made.saved(made.page("L"), "PNG"),
    "1 bit png": made.saved(made.page("1"), "PNG"), "palette png": made.saved(made.page("P"), "PNG"),
    "jpeg": made.saved(made.page(), "JPEG", quality=80), "gray jpeg": made.saved(made.page("L"), "JPEG", quality=60),
    "poor jpeg": made.saved(made.page(), "JPEG", quality=25), "cmyk jpeg": made.saved(made.page("CMYK"), "JPEG"),
    "tiff": made.tiff((made.page("1"), {"compression": "group4", "dpi": (200, 200)}), (made.page("RGB"), {})),
    "tiff of jpeg": made.saved(made.page(), "TIFF", compression="jpeg"), "bmp": made.saved(made.page(), "BMP"),
    "gif": made.saved(made.page(), "GIF"), "webp": made.saved(made.page(), "WEBP"),
}  # fmt: skip
LOSSY = {"jpeg", "gray jpeg", "poor jpeg", "cmyk jpeg", "tiff of jpeg"}
each_file = pytest.mark.parametrize("name", FILES)


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())


def _opened(data: bytes) -> tuple[Any, ImageDocument]:
    form, document = open_one(data, None)
    assert isinstance(document, ImageDocument)
    return form, document


def test_opening_reads_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(*_: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr("incognote.formats.images.reading.reading_of", reading)
    for data in FILES.values():
        _opened(data)


@each_file
@pytest.mark.parametrize("new", ["[PERSON]", "Ida Moss"])
def test_covers_hold_only_fill_and_words_and_all_else_stays(name: str, new: str) -> None:
    form, document = _opened(FILES[name])
    changes = made.changes_of(document, (made.NAME, new), (made.SURNAME, new))
    output = rebuilt(form, document, changes, {})
    again = ImageFile(output)
    before, after = Image.open(io.BytesIO(FILES[name])), Image.open(io.BytesIO(output))
    assert (again.format, len(again), after.size) == (ImageFile(FILES[name]).format, len(document.file), before.size)
    for number in range(1, len(again) + 1):
        old, page = document.file.page(number), again.page(number)
        covers = document._covers(changes)[number - 1]
        assert len(covers) == 2
        assert (page.mode, page.pixels.shape) == (old.mode, old.pixels.shape)
        assert page.dpi == pytest.approx(old.dpi, abs=0.02)
        where = made.inside([cover.box for cover in covers])
        blank = np.zeros_like(old.pixels)  # what the words on a cover look like depends on no letter below it
        off = np.abs(page.pixels.astype(np.int16) - old.pixels)
        if name in LOSSY:
            assert off[~where].mean() < 6
            left, top, _, bottom = covers[0].box
            around = made.inside([(left - 16, top - 16, made.WORDS[made.SURNAME][2] + 16, bottom + 16)])
            assert off[~around].mean() < 4
        else:
            assert not off[~where].any()
        if new.startswith("[") and name not in LOSSY:
            assert np.array_equal(page.pixels[where], painted(blank, covers, old.mode)[where])


@each_file
def test_a_file_that_nobody_edits_keeps_its_pixels(name: str) -> None:
    form, document = _opened(FILES[name])
    output = ImageFile(rebuilt(form, document, {}, {}))
    numbers = range(1, len(document.file) + 1)
    pairs = [(output.page(number).pixels.astype(np.int16), document.file.page(number).pixels) for number in numbers]
    off = [float(np.abs(new - old).mean()) for new, old in pairs]
    assert max(off) < 2 if name == "tiff of jpeg" else off == [0.0] * len(output)


def _uncovered(output: bytes, document: ImageDocument) -> Image.Image:
    return Image.fromarray(document.file.page(1).pixels)


def _moved(output: bytes, document: ImageDocument) -> Image.Image:
    image = Image.fromarray(document.file.page(1).pixels)
    covers = document._covers(made.changes_of(document, *LABELS))[0]
    moved = [Cover((c.box[0], c.box[1] + 50, c.box[2], c.box[3] + 50), c.words) for c in covers]
    return Image.fromarray(painted(np.asarray(image), moved))


def _blurred(output: bytes, document: ImageDocument) -> Image.Image:
    image = Image.fromarray(document.file.page(1).pixels)
    for cover in document._covers(made.changes_of(document, *LABELS))[0]:
        image.paste(image.crop(cover.box).filter(ImageFilter.GaussianBlur(3)), cover.box)
    return image


def _narrow(output: bytes, document: ImageDocument) -> Image.Image:
    image = Image.fromarray(ImageFile(output).page(1).pixels)
    cover = document._covers(made.changes_of(document, *LABELS))[0][0]
    box = (cover.box[0], cover.box[1], cover.box[0] + 5, cover.box[3])
    image.paste(Image.fromarray(document.file.page(1).pixels).crop(box), box)
    return image


def _changed_elsewhere(output: bytes, document: ImageDocument) -> Image.Image:
    image = Image.fromarray(ImageFile(output).page(1).pixels)
    image.paste(image.crop((95, 70, 140, 90)), (20, 95))
    return image


def _smaller(output: bytes, document: ImageDocument) -> Image.Image:
    return Image.fromarray(ImageFile(output).page(1).pixels).crop((0, 0, 319, 200))


WRONG: tuple[Callable[[bytes, ImageDocument], Image.Image], ...] = (
    _uncovered, _moved, _blurred, _narrow, _changed_elsewhere, _smaller,
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=[each.__name__ for each in WRONG])
@pytest.mark.parametrize("name", ["png", "gray jpeg", "jpeg", "poor jpeg", "1 bit png", "gif", "tiff of jpeg"])
def test_a_wrong_output_is_refused(
    name: str, wrong: Callable[[bytes, ImageDocument], Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    form, document = _opened(FILES[name])
    changes = made.changes_of(document, *LABELS)
    right = rebuilt(form, document, changes, {})
    page = wrong(right, document)
    if name == "1 bit png":
        page = page.convert("1", dither=Image.Dither.NONE)
    file = ImageFile(FILES[name])
    options: dict[str, Any] = file._tables if file.format == "JPEG" else {}
    options |= {"compression": "jpeg", "quality": 90} if name == "tiff of jpeg" else {}
    bad = made.saved(page, file.format, **options)

    def rebuild(self: ImageDocument, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(bad)

    monkeypatch.setattr(ImageDocument, "rebuild", rebuild)
    with pytest.raises(FormatMismatch):
        rebuilt(form, document, changes, {})


@pytest.mark.parametrize(
    "bad",
    [b"", FILES["png"][:100], FILES["bmp"], FILES["tiff"], made.saved(made.page("1"), "TIFF", compression="group4")],
    ids=["empty", "cut", "another format", "no covers", "a page less"],
)
def test_an_output_with_another_format_or_other_pages_is_refused(bad: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    form, document = _opened(FILES["tiff"])
    changes = made.changes_of(document, *LABELS)
    monkeypatch.setattr(ImageDocument, "rebuild", lambda self, edits, out: out.write(bad))
    with pytest.raises(FormatMismatch):
        rebuilt(form, document, changes, {})


def test_edits_of_other_texts_are_refused() -> None:
    form, document = _opened(FILES["png"])
    with pytest.raises(AccountingError):
        rebuilt(form, document, {"no such text": [(0, 1, "x")]}, {})


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1), wide=st.integers(8, 40), high=st.integers(8, 40),
    form=st.sampled_from(["PNG", "TIFF", "BMP", "WEBP", "GIF"]), mode=st.sampled_from(["L", "RGB", "1", "P"]),
    covers=st.lists(st.tuples(*[st.integers(0, 40)] * 4), max_size=3),
)  # fmt: skip
def test_any_pixels_outside_of_covers_are_written_as_they_are(
    seed: int, wide: int, high: int, form: str, mode: str, covers: list[tuple[int, int, int, int]]
) -> None:
    noise = np.random.default_rng(seed).integers(0, 256, (high, wide, 3), dtype=np.uint8)
    data = made.saved(Image.fromarray(noise).convert("L" if mode == "L" else "RGB").convert(mode), form)
    file = ImageFile(data)
    page = file.page(1)
    boxes = [
        (min(a, c, wide - 1), min(b, d, high - 1), min(max(a, c) + 1, wide), min(max(b, d) + 1, high))
        for a, b, c, d in covers
    ]
    made_pixels = painted(page.pixels, [Cover(box, "[ID]") for box in boxes], page.mode)
    again = file.again(file.written([(replace(page, pixels=made_pixels), bool(boxes))])).page(1)
    where = made.inside(boxes, (wide, high))
    assert np.array_equal(again.pixels[~where], page.pixels[~where])
    assert np.array_equal(again.pixels, made_pixels)
    assert again.mode in (page.mode, "L")  # a page in gray may have a palette


def test_pages_are_decoded_one_at_a_time() -> None:
    size = (1000, 800)
    one = made.saved(made.page("1", size), "TIFF", compression="group4")
    most = []
    for count in (4, 4, 24):  # the first one also loads a font
        data = made.tiff(*[(Image.open(io.BytesIO(one)), {"compression": "group4"})] * count)
        form, document = _opened(data)
        changes = made.changes_of(document, *LABELS)
        tracemalloc.start()
        rebuilt(form, document, changes, {})
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[2] - most[1] < size[0] * size[1]  # bytes of one page of 24


def test_the_picture_of_a_page_has_the_place_of_each_character() -> None:
    _, document = _opened(FILES["png"])
    [text] = document.texts
    drawn = document.picture(1)
    at = text.content.index(made.SURNAME)
    first = drawn.boxes[at]
    assert (drawn.width, drawn.height) == made.SIZE
    assert first is not None
    assert first[0] == made.WORDS[made.SURNAME][0]
    assert len(drawn.boxes) == len(text.content)


@pytest.mark.parametrize("form", ["png", "jpeg", "tiff", "bmp", "gif", "webp"])
def test_each_kind_of_file_has_a_format_with_a_second_reader(form: str) -> None:
    assert named(form).second is not None
    assert named(form).packed


@pytest.mark.parametrize("start", range(0, 100, 7))
@pytest.mark.parametrize("size", [1, 9, 60])
def test_the_boxes_of_a_stretch_are_the_covers_of_its_pages(start: int, size: int) -> None:
    _, document = _opened(made.tiff(*[(made.page("1"), {})] * 3))
    [text] = document.texts
    end = min(start + size, len(text.content))
    covers = document._covers({"body": [(start, end, "")]})
    assert document.boxes_of("body", start, end) == [
        (number, cover.box) for number, each in enumerate(covers, 1) for cover in each
    ]
