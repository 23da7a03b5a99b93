"""Judge what a recognizer heard with doubt, without a language model: gaps, doubted words, spelled words, known names.

No answer means mute: a gap stays only if it is short and nothing announces an identifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from incognote.formats.audio.cues import Cue, Cued, announcing, cued, is_letter, words_of
from incognote.formats.audio.doubt import doubts, stretches
from incognote.formats.audio.transcript import TimedPiece, Transcript, pauses_of
from incognote.languages import identifiers
from incognote.nouns import Known
from incognote.speech.nouns import HeardWord, Interval
from incognote.speech.phones import Phones, SoundingNames, distance

Judged = tuple[int, int, str, float, str]
"""Start and end in code points of the transcript, entity type, score from 0 to 1, and source."""
_USUAL = "PERSON"
_CODE = "GUID"
_SHORT_GAP = 0.2  # seconds
_NEAR = 3  # words between a cue and a gap
_AGO = 1.5  # seconds between a cue and a gap
_MOST_NAMES = 2000  # known names that are listened for
_LEAST_PHONES = 4
_ALIKE, _SAME = 0.33, 0.2  # the largest distance per phone from a known name, and from a name heard before
_LEAST_FIGURES = 4
_BETWEEN, _INTERRUPTED = 2, 2.5  # words, and seconds, between two figures of a number


def findings(transcript: Transcript, known: Sequence[Known], language: str) -> Iterator[Judged]:
    """Yield what may be an identifier, although detectors of texts find none there.

    Args:
        known: the identifiers that are known of the record.
        language: ISO 639-1.
    """
    words = transcript.heard.words
    cues = cued(words, language)
    plain = [
        *_announced_words(transcript, language),
        *_gaps(transcript, announcing(words, language)),
        *_spelled(transcript, cues),
        *_strings(transcript, cues, language),
    ]
    yield from plain
    runs = list(_runs(_doubted(transcript, plain, language)))
    for run in runs:
        yield from _found(transcript, run, _type(cues, run), 0.6, "doubt")
    yield from _sounds(transcript, known, [run for run in runs if _announced(cues, run)])


def _announced_words(transcript: Transcript, code: str) -> Iterator[Judged]:
    """Yield what the words around say is an identifier."""
    words = transcript.heard.words
    for first, last, kind in identifiers([word.text for word in words], pauses_of(words), code):
        yield from _found(transcript, range(first, last), kind, 0.6, "speech")


def _gaps(transcript: Transcript, cues: Mapping[int, Cue]) -> Iterator[Judged]:
    """Yield the gaps, except for short ones that nothing announces."""
    words = transcript.heard.words
    last = -1
    for piece in transcript.pieces:
        if piece.words:
            last = piece.words.stop - 1
            continue
        cue = _before(words, cues, last, piece.time)
        if cue is not None or piece.time.end - piece.time.start > _SHORT_GAP:
            yield piece.start, piece.end, cue.type if cue is not None else _USUAL, 0.6, "gap"


def _before(words: Sequence[HeardWord], cues: Mapping[int, Cue], last: int, time: Interval) -> Cue | None:
    """Return the cue that announces a gap after a word: one of at most `_NEAR` words before it."""
    for number in range(last, max(-1, last - _NEAR), -1):
        if number in cues and time.start - words[number].end <= _AGO:
            return cues[number]
    return None


def _spelled(transcript: Transcript, cues: Sequence[Cued | None]) -> Iterator[Judged]:
    """Yield what was said letter by letter or figure by figure."""
    for piece in transcript.pieces:
        text = transcript.text[piece.start : piece.end]
        figures = sum(map(str.isdigit, text))
        if piece.spelled and (any(map(str.isalpha, text)) or figures >= _LEAST_FIGURES):
            cue = cues[piece.words.start]
            usual = _CODE if figures else _USUAL
            yield piece.start, piece.end, cue.cue.type if cue is not None else usual, 0.7, "spelled"


def _strings(transcript: Transcript, cues: Sequence[Cued | None], language: str) -> Iterator[Judged]:
    """Yield runs of figures and letters that are said one by one, over pauses and a few other words."""
    words = transcript.heard.words
    values = set(_values(transcript, language))
    run: list[int] = []
    for number, word in enumerate(words):
        if number in values or not _is_single(word.text, language):
            continue
        if run and (number - run[-1] > _BETWEEN + 1 or word.start - words[run[-1]].end > _INTERRUPTED):
            yield from _string(transcript, cues, run)
            run = []
        run.append(number)
    yield from _string(transcript, cues, run)


def _values(transcript: Transcript, language: str) -> Iterator[int]:
    """Yield the words of amounts and abbreviations, such as "six point one" and "t s h"."""
    words = transcript.heard.words
    for piece in transcript.pieces:
        text = transcript.text[piece.start : piece.end]
        if len(piece.words) > 1 and not piece.spelled:
            single = all(_is_single(words[number].text, language) for number in piece.words)
            if not single or any(map(str.isalpha, text)):
                yield from piece.words


def _string(transcript: Transcript, cues: Sequence[Cued | None], run: Sequence[int]) -> Iterator[Judged]:
    if len(run) >= _LEAST_FIGURES:
        whole = range(run[0], run[-1] + 1)
        cue = next((cues[number] for number in whole if cues[number] is not None), None)
        yield from _found(transcript, whole, cue.cue.type if cue is not None else _CODE, 0.6, "spelled")


def _is_single(word: str, language: str) -> bool:
    return word.lower().rstrip(".") in words_of(language, "figures") or is_letter(word, language)


def _sounds(transcript: Transcript, known: Sequence[Known], announced: Sequence[range]) -> Iterator[Judged]:
    """Yield where a name sounds like a known one, a spelled one, or one that was announced elsewhere.

    Args:
        announced: the words of announced names.
    """
    words = transcript.heard.words
    types = {each.value: each.type for each in known[:_MOST_NAMES] if any(map(str.isalpha, each.value))}
    for piece in transcript.pieces:
        text = transcript.text[piece.start : piece.end]
        if piece.spelled and text.isalpha() and len(text) >= _LEAST_PHONES:
            types.setdefault(text, _USUAL)
    names = SoundingNames(name for name in types)
    for line in _utterances(transcript):
        phones, owners = _phones(words, line)
        for match in names.within(phones, _ALIKE):
            if match.end - match.first >= _LEAST_PHONES:
                run = range(owners[match.first], owners[match.end - 1] + 1)
                yield from _found(transcript, run, types[match.name], 0.7, "sound")
    for run in announced:
        said, _ = _phones(words, run)
        if len(said) >= _LEAST_PHONES:
            yield from _again(transcript, said, len(run))


def _again(transcript: Transcript, said: Phones, length: int) -> Iterator[Judged]:
    """Yield where as many words sound like a name that was announced elsewhere."""
    words = transcript.heard.words
    for first in range(len(words) - length + 1):
        run = range(first, first + length)
        phones, _ = _phones(words, run)
        if len(phones) >= _LEAST_PHONES and distance(phones, said) <= _SAME * len(said):
            yield from _found(transcript, run, _USUAL, 0.6, "sound")


def _phones(words: Sequence[HeardWord], run: range) -> tuple[Phones, list[int]]:
    """Return the phones of words, and the word of each phone."""
    return (
        tuple(chain.from_iterable(words[number].phones for number in run)),
        [number for number in run for _ in words[number].phones],
    )


def _utterances(transcript: Transcript) -> Iterator[range]:
    """Yield the words of each line."""
    at = 0
    line: list[TimedPiece] = []
    for piece in transcript.pieces:
        if "\n" in transcript.text[at : piece.start] and line:
            yield range(line[0].words.start, line[-1].words.stop)
            line = []
        at = piece.end
        if piece.words:
            line.append(piece)
    if line:
        yield range(line[0].words.start, line[-1].words.stop)


def _doubted(transcript: Transcript, found: Iterable[Judged], language: str) -> list[bool]:
    """Return for each word whether it is doubted.

    Args:
        found: what is muted in any case.
    """
    muted = {number for start, end, *_ in found for each in transcript.touched(start, end) for number in each.words}
    return stretches(transcript.heard.words, doubts(transcript, language), muted)


def _runs(flags: Sequence[bool]) -> Iterator[range]:
    """Yield the runs of flags that are set."""
    for is_set, group in groupby(range(len(flags)), flags.__getitem__):
        if is_set:
            run = list(group)
            yield range(run[0], run[-1] + 1)


def _announced(cues: Sequence[Cued | None], run: range) -> bool:
    """Whether a sure cue for a person announces a run of words."""
    cue = cues[run.start]
    return cue is not None and cue.cue.sure and cue.cue.type == _USUAL and not cue.away


def _type(cues: Sequence[Cued | None], run: range) -> str:
    return next((cue.cue.type for cue in cues[run.start : run.stop] if cue is not None), _USUAL)


def _found(transcript: Transcript, run: range, kind: str, score: float, source: str) -> Iterator[Judged]:
    stretch = transcript.stretch(run)
    if stretch is not None:
        yield *stretch, kind, score, source
