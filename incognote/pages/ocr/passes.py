"""Read a page in several passes and unite their words."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.errors import RecordProblem
from incognote.pages import lines
from incognote.pages.noise import without_noise
from incognote.pages.nouns import Turn, Word
from incognote.pages.ocr import prepare
from incognote.pages.ocr.base import Mode, OcrEngine
from incognote.pages.ocr.combs import joined
from incognote.pages.ocr.order import ordered
from incognote.pages.ocr.registry import engine_of, other_engine
from incognote.pages.ocr.unite import Grid, is_tall, plausibilities, plausibility, united, with_turns

if TYPE_CHECKING:
    from incognote.pages.ocr.base import Image
    from incognote.pages.ocr.prepare import Gray

GOOD = 0.75
"""Words with this plausibility are not read again in quarter turns."""
QUARTERS: tuple[Turn, ...] = (90, 270)


@dataclass(frozen=True, slots=True)
class ReadWords:
    """The words of a page.

    Args:
        words: no two for the same ink, in reading order, with lines numbered from 0.
        seen: all words of all passes, however poor: all ink that any pass took for text.
        turn: how the page as a whole is turned.
        skew: by how many degrees its lines fall to the right, after it is turned upright.
        quality: the mean confidence of its words, by their length, from 0 to 1; words that only one pass read so count
            half. 1.0 for a page without words.
    """

    words: tuple[Word, ...] = field(repr=False)
    seen: tuple[Word, ...] = field(repr=False)
    turn: Turn
    skew: float
    quality: float


def default_engine() -> OcrEngine:
    """Return the engine that reads pages if no other is named."""
    return engine_of()


def read_page(
    image: Image, dpi: float | None, languages: Sequence[str], engine: OcrEngine | None = None
) -> ReadWords:
    """Return the words of a page.

    Args:
        image: the page, 8-bit gray of shape (height, width) or RGB of shape (height, width, 3).
        dpi: its resolution, if it is known.
        languages: ISO 639-1 codes of its languages, such as `en`; the likeliest first.
        engine: Tesseract if it is not given, and another installed one that reads the languages.

    Raises:
        MissingExtra, SettingError, RecordProblem: as in `OcrEngine.read`.
    """
    chosen, engine = engine, engine or default_engine()
    whole = prepare.view_of(image)
    whole = page = replace(whole, gray=without_noise(whole.gray))
    letter = prepare.letter_height(page.gray) or (dpi or 200) * 0.075
    page = prepare.scaled(page, prepare.factor_for(page.size[0] * page.size[1], letter))
    reader = _Reader(engine, languages)

    upright, plain = reader.upright(page)
    degrees = lines.skew(lines.ink(upright.gray))
    straight = prepare.deskewed(upright, degrees)
    cleaned = prepare.clean(straight, prepare.LETTER)
    views: list[_Pass] = [(reader, cleaned, "page", "clean"), (reader, cleaned, "sparse", "sparse")]
    if chosen is None and (other := other_engine(engine, languages)) is not None:
        as_scanned = prepare.deskewed(prepare.turned(whole, upright.turn), degrees)
        views.append((_Reader(other, languages), as_scanned, "page", other.name))
    passes = [plain, *_several(views)]
    words = united(passes)
    rest = prepare.letters_only(prepare.erased(cleaned, [word.box for word in _good(passes)]), prepare.LETTER)
    if prepare.has_letters(rest.gray):
        passes += _several([(reader, prepare.turned(rest, by), "sparse", f"turn-{by}") for by in QUARTERS])
        words = united(passes)
    quality = _quality(words, passes)
    seen = tuple(word for each in passes for word in each)
    return ReadWords(tuple(joined(ordered(words, page.size, degrees))), seen, upright.turn, degrees, quality)


def light_copy(gray: Gray) -> Gray:
    """Return a gray page of shape (height, width) whose dark areas are inverted, so that all letters are dark."""
    letter = prepare.letter_height(gray) or max(gray.shape) / 160
    return prepare.light(prepare.view_of(gray), letter)[0].gray


class _Reader:
    """An engine that reads pictures of a page and returns words on the page."""

    def __init__(self, engine: OcrEngine, languages: Sequence[str]) -> None:
        self._engine, self._languages = engine, languages

    def read(self, view: prepare.PictureView, mode: Mode, source: str) -> list[Word]:
        words = []
        for word in with_turns(self._engine.read(view.gray, self._languages, mode)):
            if (box := view.back(word.box)) is not None:
                turn: Turn = (word.turn + view.turn) % 360  # type: ignore[assignment]  # a multiple of 90 below 360
                words.append(replace(word, box=box, turn=turn, source=source))
        return words

    def more(self, view: prepare.PictureView, mode: Mode, source: str) -> list[Word]:
        """Return the words of a pass beside the first one. A pass that fails reads nothing: nothing agrees with it."""
        try:
            return self.read(view, mode, source)
        except RecordProblem:
            return []

    def upright(self, page: prepare.PictureView) -> tuple[prepare.PictureView, list[Word]]:
        """Return the page turned upright and its words.

        Other turns are tried only if the page is poorly read as it is.
        """
        words = self.read(page, "page", "plain")
        best, score = (page, words), _score(words, page.turn)
        turns: tuple[Turn, ...] = (*QUARTERS, 180)
        for turn in turns:
            if best[1] and score > 0.55 * sum(len(word.text) for word in best[1]):
                break
            view = prepare.turned(page, turn)
            words = self.more(view, "page", "plain")
            if (value := _score(words, view.turn)) > 1.3 * score + 3:
                best, score = (view, words), value
        return best


_Pass = tuple[_Reader, prepare.PictureView, Mode, str]


def _several(passes: Sequence[_Pass]) -> list[list[Word]]:
    """Return the words of some passes as `_Reader.more` does, read at the same time."""
    with ThreadPoolExecutor(len(passes)) as threads:
        return list(threads.map(lambda each: each[0].more(*each[1:]), passes))


def _good(passes: Sequence[Sequence[Word]]) -> list[Word]:
    """Return the words that need no other turn: plausible ones in plausible lines that are not higher than wide."""
    return [
        word
        for each in passes
        for word, value in zip(each, plausibilities(each), strict=True)
        if value >= GOOD and not is_tall(word)
    ]


def _score(words: Sequence[Word], turn: Turn) -> float:
    """Return the number of letters in plausible words with a turn, by their plausibility."""
    values = ((plausibility(word), len(word.text)) for word in words if word.turn == turn)
    return sum(value * length for value, length in values if value > 0.4)


def _quality(words: Sequence[Word], passes: Sequence[Sequence[Word]]) -> float:
    grid = Grid(word for each in passes for word in each)
    total = good = 0.0
    for word in words:
        others = (other for other in grid.near(word.box) if other.source != word.source)
        agreed = any(other.text == word.text for other in others)
        total += len(word.text)
        good += len(word.text) * word.confidence * (1.0 if agreed else 0.5)
    return good / total if total else 1.0
