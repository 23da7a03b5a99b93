"""A span and the words around it, as a variant: title before, degrees behind, kin words, names of birth."""

from __future__ import annotations

import re
from functools import cache

from incognote.nouns import Span
from incognote.relex.cluster.scope import group_of
from incognote.relex.names.words import data, key, words
from incognote.relex.nouns import Hints, Variant

_TITLE = re.compile(r"([^\W\d_]+)\.?\s+\Z")
_DEGREES = re.compile(r"(?:,?\s+|,)([A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)*)\.?(?![^\W_])")
_BEFORE, _BEHIND = 48, 64
_WORD = re.compile(r"[^\W\d_]+(?:-(?:in-law))*")
_BRACKET = re.compile(
    r"\W{0,2}\s?\(\s*(?:his|her|the|pt'?s)?\s*([\w-]+)\s*[),;]|,\s+(?:his|her|the patient's)\s+([\w-]+)"
)
_FEW = 3  # words between a kin word and the name it announces


def variant(span: Span, *, record: str, patient: str = "", domain: str = "") -> Variant:
    """One mention with what stands around it; hints are read for persons only."""
    hints = _hints(span) if group_of(span.type) == "PERSON" else Hints()
    return Variant(span.type, span.text, domain, patient, record, span.field, span.start, span.end, hints)


def _hints(span: Span) -> Hints:
    content = span.source.content
    before, behind = content[max(0, span.start - _BEFORE) : span.start], content[span.end : span.end + _BEHIND]
    title = ""
    head = before
    while (match := _TITLE.search(head)) and key(match.group(1)) in words().titles:
        title = title or key(match.group(1))
        head = head[: match.start()]
    return Hints(title, _degrees(behind), _kin(head, behind), _maiden(before, behind))


def _degrees(behind: str) -> tuple[str, ...]:
    found: set[str] = set()
    at = 0
    while (match := _DEGREES.match(behind, at)) and key(match.group(1)) in words().degrees:
        found.add(key(match.group(1)))
        at = match.end()
    return tuple(sorted(found))


def _kin(before: str, behind: str) -> str:
    """The kin word right before, at most a few small words away, else in brackets or apposition right behind."""
    clause = re.split(r"[.;!?\n]", before)[-1]
    near = list(_WORD.finditer(clause))[-_FEW:]
    for said in reversed(near):
        if key(said.group()) in _kin_words():
            return key(said.group())
        if said.group()[0].isupper():
            break
    if (match := _BRACKET.match(behind)) and (word := key(match.group(1) or match.group(2))) in _kin_words():
        return word
    return ""


def _maiden(before: str, behind: str) -> bool:
    after = behind.split("\n")[0].lower()
    return bool(_marked().search(before)) or any(
        sign in after[: 8 + len(sign) + _BEFORE] for sign in data("words.toml")["maiden_after"]
    )


@cache
def _marked() -> re.Pattern[str]:
    signs = "|".join(re.escape(sign) for sign in data("words.toml")["maiden_before"])
    return re.compile(rf"(?<!\w)(?:{signs})\.?[\s(:\"“]*(?:(?:Mr|Mrs|Ms|Miss|Dr)\.?\s+)?\Z", re.IGNORECASE)


@cache
def _kin_words() -> frozenset[str]:
    kin = data("words.toml")["kin"]
    return frozenset(key(word) for field in ("female", "male", "neutral") for word in kin[field].split())


@cache
def kin_gender(word: str) -> str:
    """`female`, `male` or "" for a kin word, folded."""
    kin = data("words.toml")["kin"]
    return next((sex for sex in ("female", "male") if word in {key(w) for w in kin[sex].split()}), "")
