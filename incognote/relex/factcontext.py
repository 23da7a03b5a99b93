"""The words beside a finding that show what it is: a thing, a device in use, a job of the staff."""

from __future__ import annotations

import re

from incognote.nouns import Span
from incognote.relex.factwords import entry_of, handling, lists, names_a_thing, patterns, things_named
from incognote.text.lexicon import EPONYM_NOUN, MEDICAL, fold, given, surname

NEXT = re.compile(r"(?:-[A-Z][^\W\d_]+)*(?:['’]s)?[ -]([a-z]+)")
"""The word in lower case after a name, its possessive, or the rest of a double name."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+)[. ]{0,2}\Z")
_DISEASE = re.compile(r"(?:itis|osis|oma|a?emia|opathy|ectomy|otomy)$")
_SCORED = re.compile(r"[ ]?(?:score[ ]|of[ ]|[:=][ ]?)?\d{1,3}(?:\.\d)?(?![\w/-]|\.\d)")
_AUTHORS = re.compile(r",?[ ]et[ ]?\.? al\b")
_NEAR = 48  # characters of context on each side of a name
USUAL, _FREQUENT = 4, 6
"""The lexicon's weight of a usual given name; the weight of a frequent surname."""
_NUMBERED = re.compile(r",?[ ]\(?(?:ID|id|no|#|[A-Z][a-z]+|[A-Z]\.)\b")


def last_word(text: str, end: int) -> str:
    """Return the word before an offset in lower case; "" if there is none on the line."""
    found = _LAST.search(text, max(0, end - 30), end)
    return found[1].lower() if found else ""


def in_use(span: Span) -> bool:
    """Whether a single word is a scale with its score, or a device or drug that is used: "Barthel 45", "with Foley"."""
    words, text = _WORD.findall(span.words), span.source.content
    if len(words) != 1 or not names_a_thing(words[0], entry := entry_of(words[0])):
        return False
    if _SCORED.match(text, span.end):
        return True
    return last_word(text, span.start) in handling() and given(entry) < USUAL and surname(entry) < _FREQUENT


def of_discovery(span: Span) -> bool:
    """Whether a name is that of a discoverer or an author: "Inoue technique", "Rowland et al"."""
    text = span.source.content
    following = NEXT.match(text, span.end)
    entries = [entry_of(word) for word in _WORD.findall(span.words)]
    noun = following is not None and following[1] in lists()["discovery"]
    named = len(entries) > 1 or all(given(entry) < USUAL for entry in entries)
    return (noun and named) or _AUTHORS.match(text, span.end) is not None


def like_a_storm(span: Span) -> bool:
    """Whether the words beside a name suggest a hurricane: "had to leave after Maria"."""
    start, end = max(0, span.start - _NEAR), span.end + _NEAR
    near = span.source.content[start:end]
    return any(match.end() == span.end - start for pattern in patterns("storm") for match in pattern.finditer(near))


def names_thing(span: Span) -> bool:
    """Whether the next word shows that the span belongs to the name of a thing: "Cameron lesions"."""
    following = NEXT.match(span.source.content, span.end)
    word = following[1] if following is not None else ""
    named = bool(entry_of(word) & (MEDICAL | EPONYM_NOUN)) or _DISEASE.search(word) is not None
    return named or word in things_named()


def at_work(span: Span) -> bool:
    """Whether a job is that of the staff, or a verb: "our social worker", "interpreter ID", "to cook"."""
    text = span.source.content
    word = last_word(text, span.start)
    if word == "to" and span.text.islower():
        return True
    staff = fold(span.words).split()[-1] in lists()["staff"]
    return staff and (word in lists()["ours"] or _NUMBERED.match(text, span.end) is not None)


def all_lower(span: Span) -> bool:
    """Whether the text around the span is written without capitals, as in a chat."""
    around = _WORD.findall(span.source.content[max(0, span.start - 400) : span.end + 400])
    return bool(sum(word[0].isupper() for word in around) < 0.04 * len(around))
