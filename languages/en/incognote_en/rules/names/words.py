"""The words of one text with their weights as names, and the word classes and cues of name_cues.toml."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from incognote.detectors.rules.view import TOKEN, View, capitals, cases, cut
from incognote.languages import language
from incognote.text.lexicon import (
    BRAND,
    EPONYM,
    EPONYM_NOUN,
    MEDICAL,
    ORGANIZATION,
    PLACE,
    commonness,
    eponym_pairs,
    fold,
    given,
    lexicon,
    surname,
)

# Like view.TOKEN, for texts with combining marks: a mark belongs to its letter.
_MARKS = re.compile("[\u0300-\u036f]")
_ACCENTS = "\u0300\u0301"
_LETTER = "[^\\W\\d_][\u0300-\u036f]*"
_MARKED = re.compile(rf"((?:{_LETTER})+(?:['’\u02bc\-‐](?:{_LETTER})+)*|\d+|[^\s\w]|_)")
_POSSESSIVE = re.compile(r"['’\u02bc]s$", re.I)
_CONTRACTION = re.compile(
    r"(?:['’](?:m|ll|ve|d|re|t)|^(?:i|he|she|it|that|there|here|what|who|where|how|let|when|why|everybody|everything)['’]s)$",
    re.I,
)
_PREFIX = re.compile(
    r"(?:non|anti|pre|post|mid|sub|semi|multi|self|re|un|over|under|intra|inter|peri|para|hyper|hypo|micro|macro|ex|x|t)[-‐]",
    re.I,
)
_CAMEL = re.compile(
    r"(?!Mc|Mac|De|Di|Du|La|Le|Lo|Van|Von|Fitz|San|St|Mo|Ma|Ja|Da|Ra|Ke|Sha|Ta|Vander|Ab|O)[A-Z]+[a-z]+[A-Z]"
)
_LONG_WORD = re.compile(r"[^\W\d_]{2,}")
_PREFIXED = re.compile(r"[^\W\d_]{1,3}['’\u02bc-][^\W\d_]")
_HYPHEN = re.compile(r"[-‐]")
_VOWEL = re.compile("[aeiouy]")

# Endings and beginnings that make an unlisted word look like a surname or given name of some language.
_NAMELIKE = re.compile(
    r"(?:sk[iya]|cka|cki|wicz|vich|vych|enko|chuk|czyk|czak|[oe]v[a]?|yan|ian|shvili|adze|oglu|poulos|poulou|akis|idis|iadis|ides|"
    r"sson|sdottir|sen|mann|berg|stein|quist|qvist|strom|gren|lund|escu|eanu|[aeiou]nen|[eo]z|eiro|elli|etti|ucci|"
    r"swamy|samy|nathan|murthy|appa|amma|reddy|wala|preet|jit|inder|ullah|uddin|allah|zai|zadeh|pour|nejad|ratne|singhe|wardene|"
    r"leigh|ette|etta|lynn|shawn|quan|isha|iqua|elle|wyn|akshi|esh|endra|vathi|tha)\Z"
    r"|(?:mc|mac|fitz|olu|ade|ayo|oye|chukwu|nwa|oko|ogun|abdul|abdel|van|vander|nomv|thand|sib|mkh|mtsh|nkos|ndl|kip|chep|jep|tj)[a-z]{3}"
)
_MEDICAL = re.compile(
    r"(?:itis|osis|oses|emia|aemia|uria|[a-z]{5}omas?|pathy|plasty|scopy|scope|ectomy|ostomy|otomy|graphy|gram|algia|"
    r"rrhea|rrhoea|plegia|paresis|penia|philia|trophy|lysis|genic|cyte|cytes|blast|statin|olol|pril|sartan|azole|"
    r"mycin|cillin|cycline|floxacin|"
    r"mab|nib|vir|parin|gliptin|gliflozin|glutide|setron|tidine|prazole|caine|azepam|zepam|barbital|oxetine|amine|"
    r"idine|iazide|semide|terol|sone|solone|onide|ic|ous|ing|tion|sion|ment|ness|ity|ive|able|ible|ance|ence|"
    r"coccus|bacter|bacillus|virus|monas|aceae|oid|oids|icus|alis|eus|eal|eum|ulum|culus)\Z"
)


def _base(word: str) -> str:
    return fold(_POSSESSIVE.sub("", word))


class _Entries(dict[str, int]):
    """Word → lexicon entry, for the words of one text; looked up on first use."""

    def __init__(self) -> None:
        self._get = lexicon().get

    def __missing__(self, word: str) -> int:
        base = word.lower() if word.isascii() and word.isalpha() else _base(word)
        entry = self._get(base)
        if entry is None:
            entry = _of_parts(base)
        self[word] = entry
        return entry


class _Nameness(dict[str, int]):
    """Word → nameness, for the words of one text; computed on first use."""

    def __init__(self, weigh: Callable[[str], int]) -> None:
        self._weigh = weigh

    def __missing__(self, word: str) -> int:
        score = self[word] = _nameness(word, self._weigh)
        return score


def _of_parts(base: str) -> int:
    """The entry of a folded word that is not in the lexicon: from its singular, or from its hyphenated parts."""
    get = lexicon().get
    parts = [base] if base.isalpha() else [part for part in _HYPHEN.split(base) if part]
    if len(parts) < 2:
        return get(base[:-1], 0) & (3 << 6) if base.endswith("s") else 0
    entries = [get(part, 0) for part in parts]
    names = [e for e, part in zip(entries, parts, strict=True) if e & 63 or len(part) > 2]
    if not names:
        return 0
    flags = entries[0] & (EPONYM | MEDICAL | BRAND)
    if all(entry & PLACE for entry in entries):
        flags |= PLACE
    for entry in entries:
        flags |= entry & (MEDICAL | BRAND | ORGANIZATION | EPONYM_NOUN)
    common = min(commonness(e) for e in names)
    if min(max(given(e), surname(e)) for e in names) == 0 and any(commonness(e) for e in names):
        common = max(common, max(commonness(e) for e in names))  # "Dose-Smith": one part is an ordinary word
    return max(map(given, names)) | max(map(surname, names)) << 3 | common << 6 | flags


def _nameness(word: str, weigh: Callable[[str], int]) -> int:
    plain = word.isascii() and word.isalpha()
    if not plain and (_CONTRACTION.search(word) or _PREFIX.match(word)):
        return -7
    if not (word.istitle() or word.islower()) and _CAMEL.match(word):
        return -3  # "PaCO", "IgM", "HeartMate"
    if not plain:
        *before, tail = _HYPHEN.split(word)
        if "ª" in word or "º" in word:
            return -4  # an abbreviation
        if before and len(tail) > 3 and tail.islower() and commonness(weigh(tail)) > 1:
            return -4  # "Rose-colored"
    entry = weigh(word)
    return _of_entry(entry) if entry else _likeness(_base(word).split("-")[-1])


@cache
def _of_entry(entry: int) -> int:
    """The nameness of a listed word."""
    common = commonness(entry)
    best = max(given(entry), surname(entry))
    score = best + 2 if best and not common else best - (0, 1, 2, 4)[common]
    if entry >= MEDICAL:  # the smallest of the flags
        if entry & (MEDICAL | BRAND):
            score -= 4
        if entry & ORGANIZATION:
            score -= 3
        if entry & EPONYM_NOUN:
            score -= 2
        if entry & PLACE:
            score -= 1
    return score


def _likeness(base: str) -> int:
    """The nameness of a folded unlisted word, by its letters."""
    if len(base) < 3 or not _VOWEL.search(base):
        return 0
    if _NAMELIKE.search(base):
        return 4
    return -1 if _MEDICAL.search(base) else 2


class WeighedWords:
    """Parallel lists over the words of one text, as in View, with the properties that a name finder needs.

    Weights are kept with their text and never for the process, so the words of a note are freed with it.

    Attributes:
        weigh: the lexicon entry of a word as written, including a possessive; for a hyphenated word, of all its parts.
        nameness: how much a word by itself looks like a name, from about -7 (an ordinary word) to 9 (only a name).
    """

    def __init__(self, view: View) -> None:
        self.weigh: Callable[[str], int] = _Entries().__getitem__
        self.nameness: Callable[[str], int] = _Nameness(self.weigh).__getitem__
        self.view = view
        self.text = view.text
        if _MARKS.search(view.text):
            self.starts, self.ends, self.words, self.gaps = cut(_MARKED, view.text)
            self.lowers = list(map(str.lower, self.words))
            self.capitals = capitals(self.words)
        else:
            self.starts, self.ends, self.words, self.gaps = view.starts, view.ends, view.words, view.gaps
            self.lowers, self.capitals = view.lowers, view.capitals
        self.count = len(self.words)
        self._styles: dict[int, str] = {}
        self.document = self._document_style()

    def at(self, offset: int) -> int:
        """The index of the first word that begins at or after an offset."""
        return bisect_left(self.starts, offset)

    def word(self, i: int) -> str:
        """The i-th word, "" outside the text."""
        return self.words[i] if 0 <= i < self.count else ""

    def low(self, i: int) -> str:
        """The i-th word in lower case, "" outside the text."""
        return self.lowers[i] if 0 <= i < self.count else ""

    def gap(self, i: int) -> str:
        """The characters between words i-1 and i; a line break at either end of the text."""
        if i <= 0 or i >= self.count:
            return "\n"
        return self.gaps[i]

    def end(self, i: int) -> int:
        """The end of the i-th word as a name, before a possessive."""
        word = self.words[i]
        if "'" in word or "’" in word or "\u02bc" in word:
            match = _POSSESSIVE.search(word)
            if match:
                return self.ends[i] - len(match.group())
        return self.ends[i]

    def possessive(self, i: int) -> bool:
        """Whether the i-th word has a possessive ending."""
        return self.end(i) != self.ends[i]

    def is_word(self, i: int) -> bool:
        return 0 <= i < self.count and self.words[i][0].isalpha()

    def is_capital(self, i: int) -> bool:
        """Whether the word begins with a capital, or has one after a short prefix: "d'Angelo", "el-Khoury"."""
        word = self.word(i)
        if not word or not word[0].isalpha():
            return False
        return word[0].isupper() or (_PREFIXED.match(word) is not None and not word.islower())

    def is_initial(self, i: int) -> bool:
        word = self.word(i)
        if len(word) != 1 and word[1:2] not in _ACCENTS:
            return False
        return word[:1].isalpha() and word[:1].isupper() and len(word.rstrip(_ACCENTS)) == 1

    def style(self, i: int) -> str:
        """The case of the line with word i: "mixed", "caps" (no lower case) or "lower" (no capitals)."""
        line = self.view.line_of(self.starts[i])
        style = self._styles.get(line)
        if style is None:
            style = self._styles[line] = self._line_style(line)
        return style

    def _bounds(self, line: int) -> tuple[int, int]:
        starts = self.view.line_starts
        return starts[line], starts[line + 1] if line + 1 < len(starts) else len(self.text)

    def _line_style(self, line: int) -> str:
        begin, end = self._bounds(line)
        stretch = self.text[begin:end]
        upper, lower = cases(stretch)
        if upper > 4 * lower and upper > 3:
            return "caps"
        if self.document == "lower" and upper <= 2 + lower // 40:
            return "lower"
        words = _LONG_WORD.findall(stretch)
        small = [w.islower() for w in words]
        if sum(small) < 3 or any(w.istitle() for w in words) or len(words) - sum(small) > 1 + len(words) // 10:
            return "mixed"
        before = self.text[max(0, begin - 80) : begin].rstrip(" \t")
        ends = before.rstrip()
        if not ends or ends[-1] in ".:!?>" or before.endswith(("\n\n", "\n\r\n")):
            return "lower"
        return "lower" if upper and small.count(False) else "mixed"

    def _document_style(self) -> str:
        capitals = sum(len(self.words[i]) > 1 for i in self.capitals)
        if capitals >= self.count * 0.04:
            return "mixed"
        alphabetic = sum(len(word) > 1 and word[0].isalpha() for word in self.words)
        return "lower" if alphabetic > 8 and capitals < alphabetic * 0.04 else "mixed"


class Cue(NamedTuple):
    """One phrase: the words after its first, its possible kinds with the type of their name, and the phrase itself."""

    rest: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    phrase: str


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return language("en").table("lexicon", "name_cues.toml")


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, frozenset[str]]:
    """The closed word classes of name_cues.toml by name, read once. The file explains each."""
    words = {name: frozenset(words) for name, words in _file()["words"].items()}
    return {**words, "never": words["never"] | eponym_pairs()}


@lru_cache(maxsize=1)
def acronyms() -> frozenset[str]:
    """Clinical abbreviations of three letters and more, in lower case."""
    return frozenset(language("en").table("words", "clinical.toml")["words"]["acronyms"].split())


@lru_cache(maxsize=1)
def name_heads() -> dict[str, str]:
    """A column header in lower case → the type of the names below it."""
    return {head: type_ for type_, heads in _file()["columns"].items() for head in heads}


@lru_cache(maxsize=1)
def kinship() -> frozenset[str]:
    """The kinship phrases."""
    return frozenset(phrase for entry in _file()["cue"] if entry["kind"] == "kin" for phrase in entry["words"])


@lru_cache(maxsize=1)
def cues() -> dict[str, tuple[Cue, ...]]:
    """First word of a phrase → the cues that begin with it, longest first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for entry in _file()["cue"]:
        for phrase in entry["words"]:
            kinds.setdefault(phrase, []).append((entry["kind"], entry["type"]))
    table: dict[str, list[Cue]] = {}
    for phrase, found in kinds.items():
        first, *rest = TOKEN.findall(phrase)
        table.setdefault(first, []).append(Cue(tuple(rest), tuple(found), phrase))
    return {first: tuple(sorted(found, key=lambda c: -len(c.rest))) for first, found in table.items()}


@lru_cache(maxsize=1)
def lone_cues() -> frozenset[str]:
    """The cues that are a single word."""
    return frozenset(first for first, found in cues().items() for cue in found if not cue.rest)


@lru_cache(maxsize=1)
def lone_titles() -> frozenset[str]:
    """The titles that are a single word."""
    kinds = ((first, kind) for first, found in cues().items() for cue in found if not cue.rest for kind, _ in cue.kinds)
    return frozenset(first for first, kind in kinds if kind == "title")


def is_credential(words: WeighedWords, i: int) -> int:
    """The number of words from i on that form one credential ("MD" 1, "M.D." 4, "PA-C" 1), 0 for none."""
    known = vocabulary()["credentials"]
    word = words.word(i)
    if not word or not word[0].isalpha():
        return 0
    if word in known and len(word) > 1:
        if (
            not word.startswith("PGY")
            and words.word(i + 1) in ("-", "/")
            and not words.gap(i + 1)
            and words.word(i + 2).isdigit()
        ):
            return 0  # the beginning of a number
        return 2 if words.word(i + 1) == "." and not words.gap(i + 1) else 1
    if len(word) > 2:
        return 0
    joined, count = "", 0
    while (
        count < 12 and words.is_word(i + count) and len(words.word(i + count)) <= 2 and words.word(i + count + 1) == "."
    ):
        if count and words.gap(i + count).strip(" -"):
            break
        joined += words.word(i + count)
        count += 2
        if joined in known and words.gap(i + count) not in ("", "-"):
            return count
    if joined in known:
        return count
    if joined and words.is_word(i + count) and not words.gap(i + count) and joined + words.word(i + count) in known:
        return count + 1
    return 0
