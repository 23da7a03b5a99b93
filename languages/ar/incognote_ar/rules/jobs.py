"""The finder of occupations: after a cue or between signs, from a list of occupations."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote_ar.rules.words import Words, table

_MOST = 4  # words of an occupation
_LABELS = frozenset(("المهنه", "الوظيفه", "الخطه", "الحرفه", "مهنته", "مهنتها", "وظيفته", "وظيفتها", "العمل", "المهنه"))


def jobs(view: View) -> Iterator[Candidate]:
    """Yield the occupations of a text."""
    words, at = Words(view), 0
    while at < len(words):
        begin = _labelled(words, at) or (at if _cued(words, at) else None)
        end = _end(words, begin) if begin is not None else at
        if begin is not None and end > begin:
            score = 0.9 if begin > at else 0.75
            yield Candidate(view.starts[begin], view.ends[end - 1], "OCCUPATION", score, "jobs.cue")
            at = end
        else:
            at += 1


def _job(words: Words, i: int) -> bool:
    key = words.keys[i]
    pair = f"{key} {words.keys[i + 1]}" if i + 1 < len(words) else key
    return key in table("jobs") or pair in table("jobs")


def _labelled(words: Words, at: int) -> int | None:
    """Return the index of the value after "المهنة:"."""
    if words.keys[at] not in _LABELS or at + 1 >= len(words):
        return None
    i = at + 1
    colon = False
    while i < len(words) and words.view.words[i] in ":/|.-–" and "\n" not in words.view.gap(i):
        colon, i = True, i + 1
    if (
        i < len(words)
        and words.linked(i)
        and words.kind(i).common < 3
        and ((colon and words.keys[at] != "الخطه") or _job(words, i))
    ):
        return i
    return None


def _cued(words: Words, at: int) -> bool:
    """Whether an occupation begins at token `at`: after a cue, a comma, a dash or a bracket."""
    if not _job(words, at):
        return False
    if not at or "\n" in words.view.gap(at) or words.view.words[at - 1] == ".":
        end = _end(words, at)
        return end - at >= 2 and end < len(words) and words.view.words[end] in "،,."
    if not words.linked(at):
        return False
    before = words.view.words[at - 1]
    if words.keys[at - 1] in table("job_cues"):
        return not (at + 1 < len(words) and words.kind(at + 1).weight >= 3 and words.kind(at + 1).common == 0)
    if before in "،,(–-":
        return (_end(words, at) < len(words) and words.view.words[_end(words, at)] in "،,).–-؛ب") or _follows(words, at)
    return at > 1 and words.kind(at - 1).weight >= 3 and words.kind(at - 1).common < 2 and _follows(words, at)


def _follows(words: Words, at: int) -> bool:
    end = _end(words, at)
    return end - at >= 2 or (end < len(words) and words.keys[end] in ("في", "متقاعد", "سابق", "سابقا", "بشركه", "لدي"))


def _end(words: Words, i: int) -> int:
    """Return the index after the occupation that begins at token i."""
    at = i + 1
    while at < len(words) and at - i < _MOST and words.joined(at) and words.view.words[at][0].isalpha():
        key, kind = words.keys[at], words.kind(at)
        if (
            key in table("job_stops")
            or (kind.weight >= 3 and kind.common < 2)
            or (key.startswith(("ب", "و", "ل")) and not (key.startswith(("بال", "لل")) and at == i + 1))
        ):
            break
        at += 1
    return at
