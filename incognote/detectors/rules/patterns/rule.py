"""One contextual rule: an identifier's pattern, where to try it, and what must or must not be around it.

The design follows the contextual parser of Kocaman et al. (papers/001 §4.1.3): a pattern, prefix and suffix matching,
and a window. Rules are data, and `patterns/__init__.py` runs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from incognote.detectors.rules.patterns.context import Prefix, adjacent_pattern, boundary, expand, prefix, words_of
from incognote.errors import UsageError
from incognote.languages import language
from incognote.plugins import installed

_KEYS = frozenset(
    "id type pattern labels words digits then code chunk before near after not_before not_near not_after"
    " window score boosted validators case more wrap glued".split()
)
_PLACES = ("labels", "words", "digits", "code", "chunk")
_NO_RULES = ("macros", "tables", "hl7")  # data files with another structure
_SPANS = ("v", "v2", "v3")
_FORMS = frozenset(("calendar", "phone"))  # validators that check a form and no digit
_BLANKS = r"[ \t\u00a0]{0,2}"  # a suffix is on the same line
_T = TypeVar("_T")
_labeled: dict[str, frozenset[str]] = {}  # by language
Validator = Callable[[str], bool | None]
"""Whether an identifier has valid check digits or a valid date. None: the check does not apply."""


@dataclass(frozen=True, slots=True)
class PatternRule:
    """A pattern with its contexts. Build it with `from_dict`.

    Attributes:
        id: `file.rule`, as in a candidate's `rule`.
        type: the entity type of the matches.
        pattern: the groups `v`, `v2`, `v3` are the spans if the pattern has them, else the whole match.
        groups: the names of those groups that the pattern has.
        labels: tried directly after one of these labels (tokens in lower case), past colons, dots and table bars.
        words: tried at a token that is one of these in lower case.
        digits: tried at a run of digits with one of these lengths that does not continue a word or a longer number.
            `then` restricts it to runs followed by one of these tokens ("0-9": by any run of digits). `glued`
            restricts it to runs followed directly by a letter, hyphen, slash or dot ("any"), or by a letter ("letter").
        code: tried at the start of a chunk in which a digit follows letters (`S24-118`).
        chunk: searched in the unspaced stretch around one of these tokens (`@` for an e-mail address).
        before, near, after: a prefix directly before, a prefix anywhere in the `window` characters before, a suffix
            directly after. Any of them raises the score from `score` to `boosted`.
        not_before, not_near, not_after: any of these discards the match.
        validators: names in `validators()`; they change the score and never discard a labeled match.
        more: after a labeled value, also find further values of the same shape in a list.
        wrap: the value may be on the line below its label.
    """

    id: str
    type: str
    pattern: re.Pattern[str]
    score: float
    boosted: float
    groups: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    words: frozenset[str] = frozenset()
    digits: frozenset[int] = frozenset()
    then: frozenset[str] = frozenset()
    glued: str = ""
    code: bool = False
    chunk: frozenset[str] = frozenset()
    before: Prefix | None = None
    near: Prefix | None = None
    after: re.Pattern[str] | None = None
    not_before: Prefix | None = None
    not_near: Prefix | None = None
    not_after: re.Pattern[str] | None = None
    window: int = 48
    validators: tuple[str, ...] = ()
    more: bool = False
    wrap: bool = True

    @classmethod
    def from_dict(
        cls, raw: Mapping[str, Any], *, file: str = "pack", macros: Mapping[str, str] | None = None
    ) -> PatternRule:
        """Build a rule from one table of a rule file.

        The keys are the attributes. Contexts are lists of words or regular expressions. `{name}` in a pattern or
        context is replaced by the macro of that name (by default, a shipped macro). A plain phrase matches at word
        boundaries and with any white space. Anything else is a regular expression. `digits` is a list of lengths or a
        range such as "7-10". `case = true` makes the pattern case-sensitive.

        Raises:
            UsageError: a key is missing or unknown, there is not exactly one place to try the pattern, or a regular
                expression does not compile.
        """
        name = f"{file}.{raw.get('id', '?')}"
        known = shipped_macros() if macros is None else macros
        _checked(name, raw)
        score = float(raw.get("score", 0.97 if raw.get("labels") else 0.0))
        boosted = float(raw.get("boosted", score))
        if not (0 <= score <= 1 and 0 <= boosted <= 1):
            raise UsageError(f"rule {name}: score and boosted lie between 0 and 1")

        def before(key: str, *, adjacent: bool) -> Prefix | None:
            return _built(name, key, lambda: prefix(raw.get(key, ()), known, adjacent=adjacent))

        def after(key: str) -> re.Pattern[str] | None:
            joined = "|".join(boundary(_built(name, key, expand, part, known)) for part in raw.get(key, ()))
            return _built(name, key, re.compile, f"{_BLANKS}(?:{joined})", re.IGNORECASE) if joined else None

        def tokens(key: str) -> frozenset[str]:
            return frozenset(w for word in raw.get(key, ()) for w in _built(name, key, words_of, word, known) or [word])

        expanded = _built(name, "pattern", expand, raw["pattern"], known)
        pattern = _built(name, "pattern", re.compile, expanded, 0 if raw.get("case") else re.IGNORECASE)
        return cls(
            id=name,
            type=raw["type"],
            pattern=pattern,
            groups=tuple(group for group in _SPANS if group in pattern.groupindex),
            score=score,
            boosted=boosted,
            labels=tuple({key: None for label in raw.get("labels", ()) for key in _label(label)}),
            words=tokens("words"),
            digits=_lengths(raw.get("digits", ())),
            then=tokens("then"),
            glued=_glued(raw.get("glued")),
            code=bool(raw.get("code", False)),
            chunk=tokens("chunk"),
            before=before("before", adjacent=True),
            near=before("near", adjacent=False),
            after=after("after"),
            not_before=before("not_before", adjacent=True),
            not_near=before("not_near", adjacent=False),
            not_after=after("not_after"),
            window=int(raw.get("window", 48)),
            validators=tuple(raw.get("validators", ())),
            more=bool(raw.get("more", False)),
            wrap=bool(raw.get("wrap", True)),
        )


@dataclass(frozen=True, slots=True)
class Retype:
    """A type that a context makes more precise: a date after `DOB` is a date of birth."""

    of: str
    to: str
    before: re.Pattern[str]
    score: float

    @classmethod
    def from_dict(
        cls, raw: Mapping[str, Any], *, file: str = "pack", macros: Mapping[str, str] | None = None
    ) -> Retype:
        """Build from a `[[retype]]` table: `of`, `to`, `before` (a list as in rules), `score` (a minimum)."""
        known = shipped_macros() if macros is None else macros
        name = f"{file}.{raw['of']}-{raw['to']}"
        pattern = _built(name, "before", adjacent_pattern, raw["before"], known)
        return cls(raw["of"], raw["to"], pattern, float(raw.get("score", 0.0)))


def _checked(name: str, raw: Mapping[str, Any]) -> None:
    """Reject a table whose keys do not form a rule."""
    missing = [key for key in ("id", "type", "pattern") if not isinstance(raw.get(key), str)]
    unknown = sorted(set(raw) - _KEYS)
    places = [place for place in _PLACES if raw.get(place)]
    if missing or unknown or len(places) != 1:
        raise UsageError(
            f"rule {name}: needs id, type, pattern and exactly one of {', '.join(_PLACES)}"
            f" (missing: {missing}, unknown: {unknown}, places: {places})"
        )
    if bad := sorted(check for check in raw.get("validators", ()) if validator(check) is None):
        raise UsageError(f"rule {name}: unknown validators {bad}; there are: {sorted(validators())}")


def _built(name: str, key: str, build: Callable[..., _T], *args: Any) -> _T:
    """Return the result of `build`. An invalid regular expression or unknown macro is reported with rule and key."""
    try:
        return build(*args)
    except re.error as error:
        raise UsageError(f"rule {name}: {key} is not a regular expression ({error.msg})") from None
    except KeyError as error:
        raise UsageError(f"rule {name}: {key} names the macro {error.args[0]!r}, which does not exist") from None


def _label(label: str) -> Iterable[tuple[str, ...]]:
    """Yield the tokens of a label in lower case, once per kind of apostrophe. Dots and hyphens may separate them."""
    for apostrophe in "'’" if "'" in label else "'":
        yield tuple(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\s\w.\-]", label.lower().replace("'", apostrophe)))


def _glued(value: str | bool | None) -> str:
    """Convert a rule file's value: `true` means "any"."""
    return "letter" if value == "letter" else "any" if value else ""


def _lengths(value: str | Sequence[int]) -> frozenset[int]:
    if isinstance(value, str):
        low, _, high = value.partition("-")
        return frozenset(range(int(low), int(high or low) + 1))
    return frozenset(value)


@cache
def validators() -> Mapping[str, Validator]:
    """Return the checks of all languages by name. A rule lists them under `validators`."""
    known: dict[str, Validator] = {}
    for code in sorted(installed("incognote.languages")):
        known.update(getattr(language(code).part("rules"), "VALIDATORS", {}))
    return known


def validator(name: str) -> Validator | None:
    """Return a check by name. Packages of other languages are imported only for a check that English does not have."""
    own: Mapping[str, Validator] = getattr(language().part("rules"), "VALIDATORS", {})
    return own.get(name) or validators().get(name)


def labeled_rules() -> frozenset[str]:
    """Return the rules of the languages read so far that have a label or a check digit, as written in `sources`."""
    shipped_rules()
    return _joined(tuple(_labeled.values()))


@cache
def _joined(sets: tuple[frozenset[str], ...]) -> frozenset[str]:
    return frozenset().union(*sets)


def source_of(rule: str, code: str = "en") -> str:
    """Return how the `sources` of a span name a rule: `rules:names.title`, or `rules:de/names.title` for German."""
    return f"rules:{rule}" if code == "en" else f"rules:{code}/{rule}"


@cache
def shipped_macros(code: str = "en") -> Mapping[str, str]:
    """Return the macros of a language, from rules/macros.toml."""
    return language(code).table("rules", "macros.toml")


@cache
def shipped_rules(code: str = "en") -> tuple[tuple[PatternRule, ...], tuple[Retype, ...]]:
    """Return every rule and retyping in a language's rules/*.toml, in the order of the file names."""
    macros = shipped_macros(code)
    rules: list[PatternRule] = []
    retypes: list[Retype] = []
    for stem, written in language(code).tables("rules"):
        if stem not in _NO_RULES:
            rules += [PatternRule.from_dict(raw, file=stem, macros=macros) for raw in written.get("rule", ())]
            retypes += [Retype.from_dict(raw, file=stem, macros=macros) for raw in written.get("retype", ())]
    _labeled[code] = frozenset(
        source_of(rule.id, code) for rule in rules if rule.labels or not _FORMS.issuperset(rule.validators)
    )
    return tuple(rules), tuple(retypes)
