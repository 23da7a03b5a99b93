"""Turn a span and its context into a variant: title before, degrees after, kinship words, birth names, work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache

from incognote.detectors.rules import packaged
from incognote.languages import language
from incognote.nouns import Span
from incognote.operators.base import is_birth
from incognote.operators.readers import dates
from incognote.operators.timeline import clause, context
from incognote.relex.cluster.evidence import GIVEN, role_beside
from incognote.relex.cluster.grouping import cluster_data, group_of
from incognote.relex.cluster.kinship import WORD, kin_beside, kin_side
from incognote.relex.cluster.strangers import facts_beside, is_another, is_stranger, kin_word, kin_words
from incognote.relex.names.parsed import data, key, words
from incognote.relex.names.reading import parse
from incognote.relex.nouns import Hints, MentionVariant
from incognote.text.lexicon import fold

_FIELD_BEHIND = re.compile(
    r"(?:['’]s)?\s*(?:[,(/–-]|\s(?:of|from|in|for)\s)\s*(?:the\s+|our\s+)?([^\W\d_]+)", re.IGNORECASE
)
_DEGREE = re.compile(r",?\s+([A-Z][A-Za-z.]*[A-Za-z])\.?(?=\s*[,(])")


def work_beside(before: str, behind: str) -> str:
    """The field of work directly after a name (and its degrees), or else directly before it; "" for none."""
    while (match := _DEGREE.match(behind)) and key(match.group(1)) in words().degrees:
        behind = behind[match.end() :]
    if (match := _FIELD_BEHIND.match(behind)) and (said := _field(match.group(1))):
        return said
    head = before.rstrip("\"“„'( ") + " "
    while (match := re.search(r"([^\W\d_]+)\.?\s+\Z", head)) and key(match.group(1)) in words().titles:
        head = head[: match.start()].rstrip("( ") + " "
    if (match := re.search(r"([^\W\d_]+)\s+\Z", head)) and fold(match.group(1)) in _between():
        head = head[: match.start()] + " "
    match = re.search(r"([^\W\d_]+)\s*[:,–-]?\s*\Z", head)
    return _field(match.group(1)) if match else ""


@cache
def _fields() -> dict[str, str]:
    return {fold(word): line.split()[0] for line in cluster_data("work.toml")["fields"] for word in line.split()}


@cache
def _between() -> frozenset[str]:
    return frozenset(cluster_data("work.toml")["between"].split())


def _field(word: str) -> str:
    """The field of a word. Forms of up to three letters count only in capitals: ED, not Ed."""
    found = _fields().get(fold(word), "")
    return found if len(word) > 3 or word.isupper() else ""


_LEADING = re.compile(r"([^\W\d_]+)\.?[ \t]+(?=[^\W\d_])")
_TITLE = re.compile(r"([^\W\d_]+)\.?\s+\Z")
_DEGREES = re.compile(r"(?:,?\s+|,)([A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)*)\.?(?![^\W_])")
_BEFORE, _BEHIND, _SECTION = 48, 64, 400
_OWNED = re.compile(r"['’]s\s\w")
_SAID = re.compile(r"\s?\((he|she|his|her)\b", re.IGNORECASE)
_AGED = re.compile(r"(?<![-\w])(?<!years )(?<!year )(?:([Oo]ld|[Ee]lder)|[Yy]oung|[Yy]ounger|[Ll]ittle)\s+\Z")


def variant(span: Span, *, record: str, patient: str = "", domain: str = "") -> MentionVariant:
    """Make a variant of a span, with hints from its context. Hints are read for persons, places, dates and ages."""
    readers = {"PERSON": _hints, "PLACE": _place_hints, "DATE": _date_hints, "AGE": _age_hints}
    read = readers.get(group_of(span.type))
    hints = read(span) if read else Hints()
    if len(codes := packaged(span.source)) == 1:
        code = next(iter(codes))
        hints = replace(hints, language=code, pronoun=hints.pronoun or _said_before(span, code))
    return MentionVariant(span.type, span.words, domain, patient, record, span.field, span.start, span.end, hints)


def _said_before(span: Span, code: str) -> str:
    """The gender that the word directly before a name says in another language: "Frau", "su hija", "زوجته"."""
    if group_of(span.type) != "PERSON":
        return ""
    found = _WORD_BEFORE.search(span.source.content[max(0, span.start - _BEFORE) : span.start])
    word = fold(found[1]) if found else ""
    said = _genders(code)
    return said.get(word) or (said.get(word[1:], "") if word[:1] in _ATTACHED else "")


@cache
def _genders(code: str) -> Mapping[str, str]:
    """Word → "female" or "male", from the package of a language."""
    table = language(code).table("words", "gender.toml")
    return {fold(word): gender for gender, words in table.items() for word in words.split()}


_ATTACHED = "\u0628\u0641\u0643\u0644\u0648"  # letters that Arabic writes before a word
_WORD_BEFORE = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)?)\.?[\s:/(,،]{1,3}\Z")
_BEFORE_PLACE = 60
_GLUE = re.compile(
    r"(?:[\s,;:=|·•/()<>{}\[\]\"'\\–-]"
    r"|\b(?:city|town|state|st|zip(?: ?code)?|postal ?code|postcode|country|county|province|in)\b)*\Z",
    re.IGNORECASE,
)


def _reach(span: Span) -> int:
    """How many characters before the span only separate the parts of an address."""
    match = _GLUE.search(span.source.content[max(0, span.start - _BEFORE_PLACE) : span.start])
    return len(match.group()) if match else 0


def _hints(span: Span) -> Hints:
    content = span.source.content
    guessed = bool(span.sources) and GIVEN not in span.sources
    start = span.start + (led(span.text) if guessed else 0)
    before, behind = content[max(0, start - _BEFORE) : start], content[span.end : span.end + _BEHIND]
    title, head = _infant(before) if guessed else ("", before)
    titles = words().titles | (words().baby - kin_words())
    while (match := _TITLE.search(head)) and key(match.group(1)) in titles | words().generations:
        if key(match.group(1)) in kin_words() and _is_kin(span.type, match.group(1), guessed):
            break  # "father" before a relative is not a priest, "sister" not a nurse
        title = title or (key(match.group(1)) if key(match.group(1)) in titles else "")
        head = head[: match.start()]
    degrees, shown = _degrees(behind)
    rest = behind[shown:]
    kin, theirs, apart = kin_beside(head, rest, adjacent=guessed and span.type != "RELATIVE")
    role = ""
    if guessed:
        name = parse(span.words)
        above = content[max(0, start - _SECTION) : start - len(before)] + head
        own = kin_beside(head, rest, adjacent=True)[0]
        role = role_beside(above, title or key(name.title), (*degrees, *name.degrees), own, name.full)
    doubtful = guessed and not role and span.type != "CLINICIAN"
    side = "" if theirs else kin_side(kin) or _age(head)
    return Hints(
        title,
        degrees,
        kin,
        _maiden(before, behind),
        {"patient": "self", "relative": side or "kin"}.get(role, side),
        "" if _OWNED.match(behind) else _alias(before, head),
        is_another(head) or (doubtful and is_stranger(head, behind)),
        _pronoun(behind),
        work_beside(before, behind) if span.type != "RELATIVE" else "",
        apart or bool(_unrelated().search(head)),
        guessed,
        role,
        sex=sex_said(content),
        facts=facts_beside(behind) if guessed else "",
    )


_YEARS = r"(?:years?|yrs?|months?|mos?|y/?o|y\.o\.?|y|m/o)"
_SEXES = re.compile(
    r"(?:\b(?:sex|gender)\s*[:=]?\s*|\bage\s*/\s*sex\s*[:=]?\s*\d{1,3}\s?y?\s?/\s?)(male|female|m|f)\b"
    rf"|\b\d{{1,3}}[\s-]?{_YEARS}?[\s,/]{{0,2}}([mf])(?![\w/.+-])"
    rf"|\b\d{{1,3}}[\s-]?{_YEARS}[\s-]*(?:old)?[\s,]*(?:[a-z-]+\s){{0,3}}?(male|female|man|woman|boy|girl|gentleman|lady)\b"
    r"|(?<![\w.])([mf])\s{1,4}(?=\(?\d{1,2}[/-]\d{1,2}[/-]\d{2,4})",
    re.IGNORECASE,
)
_MALE = frozenset("m male man boy gentleman".split())
_PRONOUNS = re.compile(r"\b(?:(he|him|his|himself)|she|her|hers|herself)\b", re.IGNORECASE)
_FEWEST = 3  # pronouns that show the sex of the patient
_MOST = 0.75


@lru_cache(maxsize=1)
def sex_said(content: str) -> str:
    """The sex of the patient as a record says it: `female`, `male`, or "".

    The first marker beside an age or a birth date decides, or else three quarters of the pronouns.
    """
    first = _SEXES.search(content)
    if first is not None:
        return "male" if next(filter(None, first.groups())).lower() in _MALE else "female"
    marks = [bool(match[1]) for match in _PRONOUNS.finditer(content)]
    if len(marks) < _FEWEST:
        return ""
    share = sum(marks) / len(marks)
    return "male" if share >= _MOST else "female" if share <= 1 - _MOST else ""


def _infant(before: str) -> tuple[str, str]:
    """The title of an unnamed newborn before a surname, such as `babyboy` for Baby Boy, and the text before it."""
    match = _TWO_WORDS.search(before)
    if match is None or key(match[1]) not in words().baby or key(match[2]) not in words().newborn - words().baby:
        return "", before
    return f"baby{key(match[2])}", before[: match.start()]


_TWO_WORDS = re.compile(r"([^\W\d_]+)\s+([^\W\d_]+)\s+\Z")


def _is_kin(type: str, word: str, guessed: bool) -> bool:
    """Return True if a word that is a title and a kinship word (sister) is the latter."""
    return type == "RELATIVE" or (guessed and (word.islower() or type == "PATIENT"))


def led(words: str) -> int:
    """The number of characters at the start of a span that are not part of the name: Abuela Lucía, Old Nagy László."""
    at = 0
    while (match := _LEADING.match(words, at)) and _is_leading(match.group(1)):
        at = match.end()
    return at


def _is_leading(word: str) -> bool:
    return key(word) in kin_words() - words().baby or fold(word) in cluster_data("roles.toml")["leading"].split()
_CURRENT = re.compile(
    r"(?i)^\W*\d+\s?(?:[mf♀♂]\b|y(?:ea)?r?s?\b|y[./]?o)|\bold\b|(?:^|\s)(?:man|woman|male|female)\b"
)
_EVENT = re.compile(r"(?i)\b(?:at|since|from|until|when|aged?|age\s+of|turned)\s*(?:s?he\s+was\s*)?(?:about\s+)?\Z")
_LABEL = re.compile(r"(?i)\bage\s*(?:/\s*sex)?\s*[:=]?\s*\Z")
_SEXED = re.compile(r"(?i)\s*(?:[mf♀♂]\b|(?:-|\s)*(?:years?|y/?o|old|male|female|man|woman)\b)")
_KIN_REACH = 6  # words between a kinship word and a current age or a birth date
_OF_AGED = re.compile(r"(?i)\b(?:to|with|by|from|of|his|her|their|and|has)\s+(?:(?:an?|the|his|her|their)\s+)?\Z")
_AGED_KIN = re.compile(r"((?:[ -][\w/]{1,12}){1,3})(?![\w/]|\s+of\b)")  # to a 30-year-old G2P1 mother
_OWNWORDS = frozenset("widow widower girl boy".split())  # kinship words that describe the patient


def _place_hints(span: Span) -> Hints:
    return Hints(reach=_reach(span))


def _date_hints(span: Span) -> Hints:
    line, cues = context(dates(), span.source.content, span.start, span.end)
    birth = is_birth(span.type) or "birth" in cues
    return Hints(kin=_whose(span, line, _KIN_REACH) if birth else "", when=" ".join(sorted(cues)), clause=line)


def _age_hints(span: Span) -> Hints:
    content = span.source.content
    before, behind = content[max(0, span.start - _BEFORE) : span.start], content[span.end : span.end + _BEHIND]
    alone = not before.strip() and not behind.strip()  # a structured field
    current = alone or _CURRENT.search(span.words) or _LABEL.search(before) or _SEXED.match(behind)
    event = _EVENT.search(before) and not _LABEL.search(before)
    kin = _whose(span, clause(content, span.start), _KIN_REACH if current else None)
    after = _AGED_KIN.match(behind) if _OF_AGED.search(before) else None
    if after is not None and (said := next(filter(None, map(kin_word, after[1].split()[::-1])), "")) not in _OWNWORDS:
        kin = said or kin
    return Hints(kin=kin, when="event" if event else "current" if current else "")


def _whose(span: Span, line: int, reach: int | None = None) -> str:
    """The last kinship word of the sentence before an age or a birth date, at most `reach` words away; or ""."""
    before = list(WORD.finditer(span.source.content[line : span.start]))[-reach if reach else 0 :]
    found = (kin_word(said.group()) for said in reversed(before))
    return next((word for word in found if word and word not in _OWNWORDS), "")


def _degrees(behind: str) -> tuple[tuple[str, ...], int]:
    """The degrees directly after a name, and where they end."""
    found: set[str] = set()
    at = 0
    while (match := _DEGREES.match(behind, at)) and key(match.group(1)) in words().degrees:
        found.add(key(match.group(1)))
        at = match.end()
    return tuple(sorted(found)), at


def _alias(before: str, head: str) -> str:
    """The parenthesis, quotation mark or words that link a name to the previous one: Liu Xin ("Cindy").

    The words may be followed by a newborn's title: admitted as BB Kohl. `head` is the text before the titles.
    """
    titles = before[len(head) :]
    baby = bool(titles) and all(key(word) in words().baby for word in titles.split())
    match = _tied().search(head if baby else before)
    return match.group() + (titles if baby else "") if match else ""


def _age(before: str) -> str:
    """Return "above" after "old" and "young" after "young". They distinguish people with one name: Old Nagy László."""
    match = _AGED.search(before)
    return ("above" if match.group(1) else "young") if match else ""


def _pronoun(behind: str) -> str:
    match = _SAID.match(behind)
    return ("male" if match.group(1).lower() in ("he", "his") else "female") if match else ""


_CHANGED = re.compile(r"(?<=changed) (?:on )?[\d/.-]+ (?=from\b)")


def _maiden(before: str, behind: str) -> bool:
    after = behind.split("\n")[0].lower()
    return bool(_marked().search(_CHANGED.sub(" ", before))) or any(
        sign in after[: 8 + len(sign) + _BEFORE] for sign in data("words.toml")["maiden_after"]
    )


@cache
def _marked() -> re.Pattern[str]:
    signs = "|".join(re.escape(sign) for sign in data("words.toml")["maiden_before"])
    return re.compile(rf"(?<!\w)(?:{signs})\.?[\s(:\"“]*(?:(?:Mr|Mrs|Ms|Miss|Dr)\.?\s+)?\Z", re.IGNORECASE)


@cache
def _tied() -> re.Pattern[str]:
    said = "|".join(re.escape(words) for words in data("words.toml")["alias_between"])
    quote = '["“‘„«]'
    marks = rf"[\"”’»]?\s(?:\(?{quote}|\()"
    return re.compile(rf"(?:{marks}|(?:,|\s[(–-]+)?\s?(?<!\w)(?:{said})\s{quote}?)\Z", re.IGNORECASE)


@cache
def _unrelated() -> re.Pattern[str]:
    said = "|".join(map(re.escape, data("words.toml")["apart_before"]))
    return re.compile(rf"(?<!\w)(?:{said}),?\s(?:our\s)?\Z", re.IGNORECASE)


_NO_DOCTORS = frozenset("rn np pa pac cnm cnp aprn fnp lpn cna bsn msn nnp acnp pt ot lcsw licsw lmsw msw rd".split())


def at_odds(a: Iterable[frozenset[str]], b: frozenset[str]) -> bool:
    """Return True for degrees that one person does not have together: NP and MD, or a nurse addressed as Dr."""
    known = frozenset(grade for grades in a for grade in grades) - {"dr"}
    if not known or not b:
        return False
    if b == {"dr"}:
        return known <= _NO_DOCTORS
    return not known & b and (
        ("physician" in known and bool(b & _NO_DOCTORS)) or ("physician" in b and known <= _NO_DOCTORS)
    )
