"""Judge what a recognizer heard with doubt, without a language model: gaps, doubted words, spelled words, known names.

No answer means mute: a gap stays only if it is short and nothing announces an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from incognote.formats.audio.cues import Cued, cued
from incognote.formats.audio.doubt import doubts
from incognote.formats.audio.transcript import Piece, Transcript
from incognote.nouns import Known
from incognote.speech.nouns import HeardWord, Interval
from incognote.speech.phones import Names, Phones, distance

Judged = tuple[int, int, str, float, str]
"""Start and end in code points of the transcript, entity type, score from 0 to 1, and source."""
DOUBT = 0.3
"""The least likelihood of a doubted word."""
_USUAL = "PERSON"
_CODE = "GUID"
_SHORT_GAP = 0.2  # seconds
_NEAR = 3  # words between a cue and a gap
_AGO = 1.5  # seconds between a cue and a gap
_MOST_NAMES = 2000  # known names that are listened for
_LEAST_PHONES = 4
_ALIKE, _SAME = 0.33, 0.2  # the largest distance per phone from a known name, and from a name heard before
_LEAST_FIGURES = 4


def findings(transcript: Transcript, known: Sequence[Known], language: str) -> Iterator[Judged]:
    """Yield what may be an identifier, although detectors of texts find none there.

    Args:
        known: the identifiers that are known of the record.
        language: ISO 639-1.
    """
    words = transcript.heard.words
    cues = cued(words, language)
    yield from _gaps(transcript, cues)
    yield from _spelled(transcript, cues)
    runs = list(_runs([likely >= DOUBT for likely in doubts(words, language)]))
    for run in runs:
        yield from _found(transcript, run, _type(cues, run), 0.6, "doubt")
    yield from _sounds(transcript, known, [run for run in runs if _announced(cues, run)])


def _gaps(transcript: Transcript, cues: Sequence[Cued | None]) -> Iterator[Judged]:
    """Yield the gaps, except for short ones that nothing announces."""
    words = transcript.heard.words
    last = -1
    for piece in transcript.pieces:
        if piece.words:
            last = piece.words.stop - 1
            continue
        cue = _before(words, cues, last, piece.time)
        if cue is not None or piece.time.end - piece.time.start > _SHORT_GAP:
            yield piece.start, piece.end, cue.cue.type if cue is not None else _USUAL, 0.6, "gap"


def _before(
    words: Sequence[HeardWord], cues: Sequence[Cued | None], last: int, time: Interval
) -> Cued | None:
    """Return the cue that announces a gap after a word: the one of the words after it, or that of the next word."""
    if last < 0 or time.start - words[last].end > _AGO:
        return None
    after = last + 1
    if after < len(words) and (cue := cues[after]) is not None and cue.away < _NEAR:
        return cue
    return cues[last]


def _spelled(transcript: Transcript, cues: Sequence[Cued | None]) -> Iterator[Judged]:
    """Yield what was said letter by letter or figure by figure."""
    for piece in transcript.pieces:
        text = transcript.text[piece.start : piece.end]
        figures = sum(map(str.isdigit, text))
        if piece.spelled and (any(map(str.isalpha, text)) or figures >= _LEAST_FIGURES):
            cue = cues[piece.words.start]
            usual = _CODE if figures else _USUAL
            yield piece.start, piece.end, cue.cue.type if cue is not None else usual, 0.7, "spelled"


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
    names = Names(name for name in types)
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
    line: list[Piece] = []
    for piece in transcript.pieces:
        if "\n" in transcript.text[at : piece.start] and line:
            yield range(line[0].words.start, line[-1].words.stop)
            line = []
        at = piece.end
        if piece.words:
            line.append(piece)
    if line:
        yield range(line[0].words.start, line[-1].words.stop)


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
