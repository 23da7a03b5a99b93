"""What is burned into the pixels of an instance: read once for all frames, and covered in all of them.

Burned-in text usually stands still. So the pictures that are read are the first frame, and the least and the greatest
value of each pixel over all frames, in which moving parts fade. Then each frame is searched for lines of ink elsewhere.
What goes in one frame is covered in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra, UnsupportedFormat
from incognote.formats.base import Change
from incognote.formats.dicom.burned import HeaderWords, PictureLine, lines_of_words, page_of
from incognote.formats.dicom.frames import PixelFrames, pixels_of
from incognote.formats.dicom.inklines import InkLine, quick_lines, written_lines
from incognote.formats.dicom.masks import masks_of
from incognote.formats.dicom.sheet import read_lines
from incognote.formats.dicom.stream import DicomFile
from incognote.formats.dicom.views import FrameViews, counted
from incognote.formats.images.page import ReadPage, shared
from incognote.nouns import Known
from incognote.pages.nouns import Box, Word

if TYPE_CHECKING:
    from incognote.formats.dicom.frames import Frame
    from incognote.pages.nouns import Pixels

FIELD = "PixelData"
LEAST_SIDE = 8  # pixels; no letter can be read in fewer
_STILL, _CHANGED = 60, 0.03  # gray levels, and the share of a word that may change by more in the frames if it stays
_SAME = 0.5  # the share of a line that another one covers
_LARGER, _MOST_SIDE = 2.0, 4_000
_CERTAIN, _LETTERS = 0.7, 3  # the confidence and letters of words that no line has


class PixelText:
    """The pixels of an instance, the text in them, and new pixels without it.

    Args:
        known: the identifiers of the header.

    Attributes:
        frames: None for an instance without pixels in which anything can be read.

    Raises:
        MalformedRecord, UnsupportedFormat: as in `PixelFrames`.
        MissingExtra: the libraries that read pictures are not installed.
    """

    def __init__(self, file: DicomFile, known: Sequence[Known]) -> None:
        self._file, self._known = file, known
        frames = pixels_of(file)
        small = frames is not None and min(frames.kind.rows, frames.kind.columns) < LEAST_SIDE
        self.frames: PixelFrames | None = None if small else frames
        if frames is not None and not small:
            if find_spec("cv2") is None or find_spec("numpy") is None:
                raise MissingExtra("images", "reading the pixels of DICOM")
            self._views = FrameViews(file, frames.kind)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of a frame."""
        assert self.frames is not None
        return self.frames.kind.columns, self.frames.kind.rows

    @cached_property
    def _composite(self) -> _Composite:
        assert self.frames is not None
        return _Composite(self.frames, self._views)

    @cached_property
    def page(self) -> ReadPage:
        """What was read on all frames.

        Raises:
            MissingExtra, SettingError: no OCR engine is installed. RecordProblem: the pixels cannot be read.
        """
        assert self.frames is not None
        made = self._composite
        masked = masks_of(self._file, self.size)
        found: list[tuple[Pixels, InkLine]] = []
        for picture in made.pictures:
            found += [(picture, line) for line in written_lines(picture) if not _is_in(line.box, found)]
        for picture in made.composites:
            found += [(picture, line) for line in quick_lines(picture) if not _is_in(line.box, found)]
        read = [(line, words) for (_, line), words in zip(found, read_lines(found), strict=True)]
        for picture in made.pictures[:1]:
            more = (*lines_of_words(_words(picture)), *lines_of_words(_others(picture)))
            read += [(line, words) for line, words in more if not _is_in(line.box, found)]
        lines = [PictureLine(line, [word for word in words if made.is_still(word.box)]) for line, words in read]
        if made.moves:
            lines += self._elsewhere([each.line for each in lines])
        return page_of(lines, masked, HeaderWords.of(self._known), self.size)

    def _elsewhere(self, lines: Sequence[InkLine]) -> list[PictureLine]:
        """Return the lines of ink of single frames where the composites have none."""
        assert self.frames is not None
        found: list[PictureLine] = []
        for frame in _distinct(self.frames):
            for line in quick_lines(self._views.pictures(self._views.values(frame))[0]):
                if not _is_in(line.box, [(None, each) for each in (*lines, *(other.line for other in found))]):
                    found.append(PictureLine(line, [], may_stay=False))
        return found

    def covers(self, changes: Sequence[Change]) -> list[Box]:
        """Return the parts of all frames that changes of the text cover."""
        return [cover.box for cover in self.page.covers(changes)] if changes else []

    def black(self) -> Any:
        """Return the value of a covered pixel."""
        return self._views.black(self._composite.least, self._composite.most)

    def picture(self) -> Pixels:
        """Return the picture of all frames that a person sees."""
        return self._composite.shown

    def must_be_written(self, covers: Sequence[Box]) -> bool:
        """Whether the output has new pixels: parts are covered, or there is something besides values that count.

        That is: other bits, or comments of compressed frames.
        """
        return self.frames is not None and (bool(covers) or self._has_more)

    @cached_property
    def _has_more(self) -> bool:
        assert self.frames is not None
        return self._composite.has_more or (self.frames.kind.compressed and not self.frames.is_bare())

    def covered(self, covers: Sequence[Box]) -> Iterator[Frame]:
        """Yield all frames with parts covered, without bits that do not count.

        Raises:
            UnsupportedFormat: pixels of one bit have to be covered.
        """
        assert self.frames is not None
        kind = self.frames.kind
        if kind.bits == 1 and covers:
            raise UnsupportedFormat("text in pixels of one bit. Leave the instance out", field=FIELD)
        black = self.black()
        for frame in self.frames:
            made = (counted(frame, kind) if kind.samples == 1 else frame).copy()
            for left, top, right, bottom in covers:
                made[top:bottom, left:right] = black
            yield made


class _Composite:
    """What all frames show together.

    Attributes:
        pictures: of the first frame, in which text is read; none if all pixels are the same. shown: for a person.
        composites: of all frames, if they differ.
        moves: whether frames differ. least, most: of the values. has_more: whether bits that do not count are set.
    """

    def __init__(self, frames: PixelFrames, views: FrameViews) -> None:
        import numpy

        kind = frames.kind
        self.least, self.most, self.has_more, self.moves = float("inf"), float("-inf"), False, False
        low: Any = None
        high: Any = None
        first: Any = None
        for frame in _distinct(frames):
            shown = views.values(frame)
            if kind.samples == 1:
                self.has_more = self.has_more or (shown.ndim == 2 and bool((shown != frame).any()))
                values = frame if shown.ndim == 3 else shown
                self.least, self.most = min(self.least, _end(values.min())), max(self.most, _end(values.max()))
            if low is None:
                low, high, first = shown.copy(), shown.copy(), shown
            else:
                self.moves = self.moves or not numpy.array_equal(shown, first)
                numpy.minimum(low, shown, out=low)
                numpy.maximum(high, shown, out=high)
        assert low is not None and high is not None and first is not None  # noqa: PT018 -- there is a frame
        flat = bool((low == low.reshape(-1, *low.shape[2:])[0]).all()) and not self.moves
        pictures = views.pictures(first)
        self.pictures: list[Pixels] = [] if flat else pictures
        self.shown = pictures[0]
        self.composites: list[Pixels] = []
        self._range = None
        if self.moves:
            ends = [views.pictures(end) for end in (low, high)]
            self.composites = [picture for each in ends for picture in each]
            both = views.pictures(numpy.stack((low, high)).reshape(-1, *low.shape[1:]))[0].astype(numpy.int16)
            self._range = both[len(low) :] - both[: len(low)]

    def is_still(self, box: Box) -> bool:
        """Whether pixels are nearly the same in all frames."""
        if self._range is None:
            return True
        left, top, right, bottom = box
        return float((self._range[top:bottom, left:right] > _STILL).mean()) <= _CHANGED


def _end(value: Any) -> float:
    import math

    number = float(value)
    return number if math.isfinite(number) else 0.0


def _distinct(frames: PixelFrames) -> Iterator[Frame]:
    """Yield the frames that differ from the one before."""
    import numpy

    before: Any = None
    for frame in frames:
        if before is None or not numpy.array_equal(frame, before):
            yield frame
        before = frame


def _is_in(box: Box, lines: Sequence[tuple[Any, InkLine]]) -> bool:
    size = (box[2] - box[0]) * (box[3] - box[1])
    return any(shared(box, line.box) > _SAME * size for _, line in lines)


def _others(gray: Pixels) -> list[Word]:
    """Return the words that another engine reads, if one is installed."""
    from incognote.pages.ocr.passes import light_copy
    from incognote.pages.ocr.registry import engine_of, other_engine

    engine = other_engine(engine_of(), ["en"])
    words = [] if engine is None else engine.read(light_copy(gray), ["en"], "page")
    return [word for word in words if word.confidence >= _CERTAIN and any(map(str.isalnum, word.text))]


def _words(gray: Pixels) -> list[Word]:
    """Return the words that OCR is certain of on an enlarged picture."""
    import cv2
    import numpy

    from incognote.pages.ocr.registry import engine_of

    if float(gray.mean()) < 100:
        gray = 255 - gray
    larger = min(_LARGER, max(1.0, _MOST_SIDE / max(gray.shape)))
    enlarged = numpy.asarray(cv2.resize(gray, None, fx=larger, fy=larger, interpolation=cv2.INTER_CUBIC), numpy.uint8)
    found = []
    for word in engine_of().read(enlarged, ["en"], "sparse"):
        left, top, right, bottom = (round(side / larger) for side in word.box)
        if word.confidence >= _CERTAIN and sum(map(str.isalnum, word.text)) >= _LETTERS:
            box = left, top, max(left + 1, right), max(top + 1, bottom)
            found.append(Word(word.text, box, word.confidence, word.line, word.turn, "whole"))
    return found
