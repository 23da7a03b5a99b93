"""Names as the shared finder finds them, and further names that only their surroundings show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.listed import finders, lists
from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_NAMES = finders("es")[0]
_CLOSE = re.compile(r"[ \t]{0,2}\Z")
_AGE = re.compile(
    r"[ ]?[,|(;–-]?[ ]{0,3}~?(?P<v>\d{1,2}[ ]?(?:meses|años|añitos|m|a)(?!\w)|[1-9]\d)"
    r"(?=[ ]?(?:[,|;)]|[ ]{2}|[ ](?:sin|con|y|que|en)[ ]|[ .][MFVH](?!\w)|\n))"
)
_INITIAL = re.compile(r",?[ ](?:[A-ZÁÉÍÓÚÑ](?![\w])\.?[ ]?){1,2}")
_MARIA = r"(?:M[aª]|MA)\.?[ ](?:(?:del|de|DEL|DE)[ ](?:(?:la|los|LA|LOS)[ ])?)?"
_LEFT = re.compile(rf"(?<![^\W_])(?:(?:[A-ZÁÉÍÓÚ]\.[ ]?){{1,3}}|{_MARIA})\Z")
_RIGHT = re.compile(
    rf"[ ][A-Z]\.[ ]|,[ ](?=[A-ZÁÉÍÓÚÑ][^\W\d_]{{2}})|[ ]{_MARIA}"
    r"|[ ](?:vda|viuda|Vda|VDA)\.?[ ](?:de|DE)[ ](?:la[ ])?|[ ]?[\"“][^\W\d_]{2,12}[\"”][ ]"
    r"|\n(?=[A-ZÁÉÍÓÚÑ]{3,20}[ ]{2})"
)
_ENDS = frozenset(",;)(/\n|:-–—.")
_MOST = 4


def find(view: View) -> Iterator[Candidate]:
    """Yield the names of a text."""
    found = [_wider(view, c) for c in _NAMES(view) if not _acronym(view, c)]
    yield from found
    taken = [(c.start, c.end) for c in found]
    more = [*_relatives(view), *_initials(view), *_at_start(view)]
    more = [c for c in more if not any(low < c.end and c.start < high for low, high in taken)]
    yield from more
    yield from _again(view, [*found, *more])
    for candidate in (*found, *more):
        if age := _AGE.match(view.text, candidate.end):
            yield Candidate(*age.span("v"), "AGE", 0.6, "names.age")


def _acronym(view: View, candidate: Candidate) -> bool:
    """Whether a name alone looks like an abbreviation in capitals ("ANA", "ELISA")."""
    word = view.text[candidate.start : candidate.end]
    return candidate.rule == "listed.alone" and word.isupper() and len(word) < 6


def _wider(view: View, candidate: Candidate) -> Candidate:
    """Take in initials, "Mª", further names, and the given name after a comma."""
    text, start, end = view.text, candidate.start, candidate.end
    if (left := _LEFT.search(text, max(0, start - 12), start)) and not left[0].startswith("D."):
        start = left.start()
    i = view.first_token_at(end)
    for _ in range(_MOST):
        if (right := _RIGHT.match(text, end)) and (m := view.first_token_at(right.end())) < len(view):
            several = " " in text[start:end] and not _entry(view, m)
            comma = right[0] == ", " and not given(_entry(view, m)) and not several
            if view.starts[m] == right.end() and _joins(view, m) and not comma:
                end, i = view.ends[m], m + 1
                continue
        if i < len(view) and _CLOSE.match(view.gap(i)) and view.gap(i) and _joins(view, i):
            end, i = view.ends[i], i + 1
            continue
        break
    if behind := _INITIAL.match(text, end):
        kept = behind[0].rstrip()
        if kept.endswith(".") or text[behind.end() : behind.end() + 1] in ("", "\n", "|", ")", ","):
            end += len(kept)
    return candidate._replace(start=start, end=end)


def _joins(view: View, i: int) -> bool:
    """Whether token i continues a name before it."""
    word, entry = view.words[i], _entry(view, i)
    if not word[0].isupper() or len(word) < 2 or fold(word) in lists("es").never:
        return False
    if given(entry) or surname(entry):
        return True
    return not entry and len(word) > 3


def _entry(view: View, i: int) -> int:
    return lexicon("es").get(fold(view.words[i]), 0)


def _proper(view: View, i: int, *, least: int) -> bool:
    """Whether token i has a capital and is a name of this weight, or unknown if `least` is 0."""
    word = view.words[i]
    if not word[0].isupper() or len(word) < 2 or fold(word) in lists("es").never:
        return False
    entry = _entry(view, i)
    weight = max(given(entry), surname(entry))
    if weight:
        return weight >= max(least, 1) and (commonness(entry) < 2 or weight >= 3)
    return least == 0 and not entry and not word.isupper() and len(word) > 2


def _small(view: View, i: int) -> bool:
    entry = _entry(view, i)
    return view.words[i].islower() and given(entry) >= 3 and not commonness(entry)


def _end(view: View, i: int) -> int:
    """Return the index after the name that begins at token i."""
    at = last = i + 1
    while at < len(view) and at - i < _MOST and _CLOSE.match(view.gap(at)):
        if fold(view.words[at]) in lists("es").particles:
            at += 1
            continue
        if not _proper(view, at, least=0):
            break
        at += 1
        last = at
    return last


def _relatives(view: View) -> Iterator[Candidate]:
    """Yield the name after a relative and a comma, colon or bracket: "su hijo, Soufian", "marido (Quim)"."""
    kin = lists("es").kin
    for i in range(len(view) - 2):
        if view.words[i + 1] in ",(:" and fold(view.words[i]) in kin and "\n" not in view.gap(i + 2):
            if _proper(view, i + 2, least=0):
                end = _end(view, i + 2)
                yield Candidate(view.starts[i + 2], view.ends[end - 1], "RELATIVE", 0.7, "names.relative")
        elif fold(view.words[i]) in kin and view.gap(i + 1) == " " and _small(view, i + 1):
            yield Candidate(view.starts[i + 1], view.ends[i + 1], "RELATIVE", 0.65, "names.small")
        elif fold(view.words[i]) in kin and _CLOSE.match(view.gap(i + 1)) and _proper(view, i + 1, least=0):
            end = _end(view, i + 1)
            yield Candidate(view.starts[i + 1], view.ends[end - 1], "RELATIVE", 0.65, "names.relative")


def _initials(view: View) -> Iterator[Candidate]:
    """Yield an initial with a surname: "E. Cònsul"."""
    for i in range(len(view) - 2):
        word = view.words[i]
        if len(word) == 1 and word.isupper() and view.words[i + 1] == "." and view.gap(i + 1) == "":
            begins = not i or (
                view.words[i - 1] not in "°º" and (not view.words[i - 1][0].isalnum() or view.gap(i) != "")
            )
            if begins and _CLOSE.match(view.gap(i + 2)) and _proper(view, i + 2, least=0):
                end = _end(view, i + 2)
                first = view.starts[i + 2] if word == "D" else view.starts[i]
                yield Candidate(first, view.ends[end - 1], "PERSON", 0.65, "names.initial")


def _at_start(view: View) -> Iterator[Candidate]:
    """Yield a usual given name at the start of a sentence, if a sign or a verb in small letters follows."""
    for i in range(len(view)):
        if i and "\n" not in view.gap(i) and view.words[i - 1] not in ".!?:":
            continue
        entry = _entry(view, i)
        if given(entry) < 4 or commonness(entry) or view.words[i].isupper() or not _proper(view, i, least=4):
            continue
        end = _end(view, i)
        if end >= len(view) or view.words[end] in _ENDS or "\n" in view.gap(end) or view.words[end][0].islower():
            yield Candidate(view.starts[i], view.ends[end - 1], "PERSON", 0.6, "names.start")


def _again(view: View, found: list[Candidate]) -> Iterator[Candidate]:
    """Yield words of names that occur again elsewhere."""
    known: dict[str, Candidate] = {}
    for candidate in found:
        if candidate.score >= 0.65:
            for word in re.findall(r"[^\W\d_]{3,}", view.text[candidate.start : candidate.end]):
                entry = lexicon("es").get(fold(word), 0)
                if word[0].isupper() and commonness(entry) < 2:
                    known.setdefault(fold(word), candidate)
    for i, word in enumerate(view.words):
        source = known.get(fold(word))
        if source and word[0].isupper() and not any(c.start <= view.starts[i] < c.end for c in found):
            if commonness(_entry(view, i)) and (not i or view.words[i - 1] in ".!?:" or "\n" in view.gap(i)):
                continue
            yield Candidate(view.starts[i], view.ends[i], source.type, 0.6, "names.again")
