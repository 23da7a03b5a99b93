"""One contextual rule: what an identifier looks like, where to try it, and what must or must not stand around it.

The shape follows the contextual parser of Kocaman et al. (papers/001 §4.1.3): a pattern, prefix and suffix matching,
a window. Rules are data; `patterns.py` runs them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from incognote.detectors.rules.validators import VALIDATORS
from incognote.errors import UsageError

_MACRO = re.compile(r"\{([a-z_]+)\}")
_PLAIN = re.compile(r"[\w' ]*\w")
_KEYS = frozenset(
    "id type pattern labels words digits then code chunk before near after not_before not_near not_after"
    " window score boosted validators case more wrap".split()
)
_PLACES = ("labels", "words", "digits", "code", "chunk")

# What may stand between the end of an adjacent prefix and the match, and how far back prefixes are sought.
_JOIN = r"""[\s.:=,(#~"'\[–—-]{0,6}\Z"""
BEFORE_WINDOW = 48
_EDGE = r"(?:(?<![^\W_])|(?![^\W_]))"  # a context begins at a word's edge or with something that is no word
_BLANKS = r"[ \t\u00a0]{0,2}"  # a suffix stands on the same line


@dataclass(frozen=True, slots=True)
class PatternRule:
    """A pattern with its contexts; build it with `from_dict`.

    Attributes:
        id: `file.rule`, stands in a candidate's `rule`.
        type: the entity type of what is found.
        pattern: groups `v`, `v2`, `v3` are the spans where they are named, else the whole match.
        labels: tried directly behind one of these labels (tokens in lower case), over colons, dots, table bars.
        words: tried at a token that is one of these in lower case.
        digits: tried at a run of digits of one of these lengths that continues no word and no longer number;
            `then` narrows it to runs followed by one of these tokens.
        code: tried at the start of a chunk in which a digit follows letters (`S24-118`).
        chunk: searched in the unspaced stretch around one of these tokens (`@` for an e-mail address).
        before, near, after: prefix directly before, prefix anywhere in `window` characters before, suffix directly
            behind. Any of them lifts the score from `score` to `boosted`.
        not_before, not_near, not_after: any of these discards the match.
        validators: names in `validators.VALIDATORS`; they move the score and never discard a labelled match.
        more: behind a labelled value, further values of the same shape in a list are found too.
        wrap: the value may stand on the line below its label.
    """

    id: str
    type: str
    pattern: re.Pattern[str]
    score: float
    boosted: float
    labels: tuple[tuple[str, ...], ...] = ()
    words: frozenset[str] = frozenset()
    digits: frozenset[int] = frozenset()
    then: frozenset[str] = frozenset()
    code: bool = False
    chunk: frozenset[str] = frozenset()
    before: re.Pattern[str] | None = None
    near: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    not_before: re.Pattern[str] | None = None
    not_near: re.Pattern[str] | None = None
    not_after: re.Pattern[str] | None = None
    window: int = 48
    validators: tuple[str, ...] = ()
    more: bool = False
    wrap: bool = True

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any], *, file: str = "pack", macros: Mapping[str, str] | None = None) -> PatternRule:
        """A rule from one table of a rule file; the keys are the attributes, contexts are lists of words or regexes.

        `{name}` in a pattern or context stands for the macro of that name (the shipped macros unless others are given).
        A plain phrase is taken at word boundaries and with any white space; anything else is a regular expression.
        `digits` is a list of lengths or a range such as "7-10"; `case = true` makes the pattern heed case.

        Raises:
            UsageError: a missing or unknown key, no or several places to try it, a regex that does not compile.
        """
        name = f"{file}.{raw.get('id', '?')}"
        known = shipped_macros() if macros is None else macros
        missing = [key for key in ("id", "type", "pattern") if not isinstance(raw.get(key), str)]
        unknown = sorted(set(raw) - _KEYS)
        places = [place for place in _PLACES if raw.get(place)]
        if missing or unknown or len(places) != 1:
            raise UsageError(
                f"rule {name}: needs id, type, pattern and exactly one of {', '.join(_PLACES)}"
                f" (missing: {missing}, unknown: {unknown}, places: {places})"
            )
        bad = sorted(set(raw.get("validators", ())) - set(VALIDATORS))
        if bad:
            raise UsageError(f"rule {name}: unknown validators {bad}; there are: {sorted(VALIDATORS)}")
        score = float(raw.get("score", 0.97 if raw.get("labels") else 0.0))
        boosted = float(raw.get("boosted", score))
        if not (0 <= score <= 1 and 0 <= boosted <= 1):
            raise UsageError(f"rule {name}: score and boosted lie between 0 and 1")

        def context(key: str, head: str, tail: str) -> re.Pattern[str] | None:
            parts = [_phrase(expand(part, known)) for part in raw.get(key, ())]
            return _compile(name, key, f"{head}(?:{'|'.join(parts)}){tail}") if parts else None

        flags = re.RegexFlag(0) if raw.get("case") else re.IGNORECASE
        return cls(
            id=name,
            type=raw["type"],
            pattern=_compile(name, "pattern", expand(raw["pattern"], known), flags),
            score=score,
            boosted=boosted,
            labels=tuple(sorted({key for label in raw.get("labels", ()) for key in _label(label)}, key=len, reverse=True)),
            words=_tokens(raw.get("words", ()), known),
            digits=_lengths(raw.get("digits", ())),
            then=_tokens(raw.get("then", ()), known),
            code=bool(raw.get("code", False)),
            chunk=_tokens(raw.get("chunk", ()), known),
            before=context("before", _EDGE, _JOIN),
            near=context("near", _EDGE, ""),
            after=context("after", _BLANKS, ""),
            not_before=context("not_before", _EDGE, _JOIN),
            not_near=context("not_near", _EDGE, ""),
            not_after=context("not_after", _BLANKS, ""),
            window=int(raw.get("window", 48)),
            validators=tuple(raw.get("validators", ())),
            more=bool(raw.get("more", False)),
            wrap=bool(raw.get("wrap", True)),
        )


@dataclass(frozen=True, slots=True)
class Retype:
    """A type that a context makes more precise: a date behind `DOB` is a date of birth."""

    of: str
    to: str
    before: re.Pattern[str]
    score: float

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any], *, file: str = "pack", macros: Mapping[str, str] | None = None) -> Retype:
        """From a `[[retype]]` table: `of`, `to`, `before` (a list as in rules), `score` (at least this)."""
        known = shipped_macros() if macros is None else macros
        parts = "|".join(_phrase(expand(part, known)) for part in raw["before"])
        name = f"{file}.{raw['of']}-{raw['to']}"
        return cls(raw["of"], raw["to"], _compile(name, "before", f"{_EDGE}(?:{parts}){_JOIN}"), float(raw.get("score", 0.0)))


def expand(pattern: str, macros: Mapping[str, str]) -> str:
    """`{name}` replaced by its macro, in macros too; a name that no macro bears is refused with a UsageError."""
    for _ in range(8):
        if not _MACRO.search(pattern):
            return pattern
        try:
            pattern = _MACRO.sub(lambda m: f"(?:{macros[m[1]]})", pattern)
        except KeyError as error:
            raise UsageError(f"a rule names the macro {error.args[0]!r}, which does not exist") from None
    raise UsageError("a rule's macros contain each other")


def _compile(name: str, key: str, pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise UsageError(f"rule {name}: {key} is not a regular expression ({error.msg})") from None


def _phrase(part: str) -> str:
    if not _PLAIN.fullmatch(part):
        return part
    return re.sub(r" +", lambda _: r"\s{1,3}", part.replace("'", "['’]")) + r"(?![^\W_])"


def _label(label: str) -> Iterable[tuple[str, ...]]:
    """The tokens of a label in lower case, once per apostrophe in use; dots and hyphens may stand between them."""
    for apostrophe in "'’" if "'" in label else "'":
        yield tuple(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\s\w.\-]", label.lower().replace("'", apostrophe)))


def _tokens(words: Sequence[str], macros: Mapping[str, str]) -> frozenset[str]:
    """Trigger tokens; `{name}` stands for the alternatives of a macro that is a list of words, `words?` for both forms."""
    found: set[str] = set()
    for word in words:
        for token in expand(word, macros).removeprefix("(?:").removesuffix(")").split("|") if word.startswith("{") else [word]:
            found.update({token[:-2], token[:-1]} if token.endswith("?") else {token})
    return frozenset(found)


def _lengths(value: str | Sequence[int]) -> frozenset[int]:
    if isinstance(value, str):
        low, _, high = value.partition("-")
        return frozenset(range(int(low), int(high or low) + 1))
    return frozenset(value)


@cache
def shipped_macros() -> Mapping[str, str]:
    """The macros of data/macros.toml."""
    text = (files(__package__) / "data" / "macros.toml").read_text(encoding="utf-8")
    macros: dict[str, str] = tomllib.loads(text)
    return macros


@cache
def shipped_rules() -> tuple[tuple[PatternRule, ...], tuple[Retype, ...]]:
    """Every rule and retyping of data/*.toml, in the order of the file names."""
    rules: list[PatternRule] = []
    retypes: list[Retype] = []
    for entry in sorted((files(__package__) / "data").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml") and entry.name != "macros.toml":
            written = tomllib.loads(entry.read_text(encoding="utf-8"))
            stem = entry.name.removesuffix(".toml")
            rules += [PatternRule.from_dict(raw, file=stem) for raw in written.get("rule", ())]
            retypes += [Retype.from_dict(raw, file=stem) for raw in written.get("retype", ())]
    return tuple(rules), tuple(retypes)
