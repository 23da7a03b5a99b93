"""Kinship words: the one that belongs to a name, and what two of them say about each other."""

from __future__ import annotations

import re
from functools import cache

from incognote.relex.cluster.grouping import cluster_data
from incognote.relex.cluster.strangers import kin_word
from incognote.relex.names.parsed import data, key
from incognote.text.lexicon import fold

WORD = re.compile(r"(?:ex-)?[^\W\d_]+(?:[- ]in[- ]law)?")
_BRACKET = re.compile(
    r"\W{0,2}\s?\(\s*(?:his|her|the|pt'?s)?\s*([\w-]+)\s*[),;]|,\s+(?:his|her|the patient's)\s+([\w-]+)\b(?!,?\s+[A-Z])"
    r"|,?\s+(?:is|was)\s+(?:also\s+)?(?:his|her|the\s+(?:patient|pt)['’]s|(?:patient|pt)['’]s)\s+([\w-]+)\b(?!['’])"
    r"|[\"”)]*,?\s*(?:\d{1,3},?\s*)?(?:i\.?e\.?,?|that is,?|meaning|=)\s+(?:his|her|the)\s+([\w-]+)\b"
)
_OF = re.compile(r"\b([SDWsdw])/[Oo]\b\W*(?:late\b\W*)?(?:\w+\.\s*)?\Z")
_OF_WHOM = {
    **dict.fromkeys(("s", "d"), "father"),
    **dict.fromkeys(("w", "widow"), "husband"),
    "widower": "wife",
    **dict.fromkeys(("mother", "father", "parent", "mom", "dad"), "child"),
    **dict.fromkeys(("son", "daughter", "child"), "parent"),
    **dict.fromkeys(("wife", "husband", "spouse", "partner"), "spouse"),
    **dict.fromkeys(("brother", "sister", "sibling"), "sibling"),
}
"""What a person is to the patient, who is said to be a relative of the person: Pt is the mother of Dr. Garza."""
_RELATED = re.compile(r"['’]s\s(?:[a-z]+\s)?([a-z-]+)")
_PATIENT_IS = re.compile(r"(?i)\b(?:pt|patient|s?he)(?:['’]s|\s(?:is|was))\s(?:also\s)?(?:the\s)?(?:\w+\s)?\Z")
_OWNER = re.compile(r"([^\W\d_]+)['’]s\s+(?:\w+\s+)?\Z")
_ANOTHERS = re.compile(r"([^\W\d_]+)\s[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)?,?\s(?:and\s)?(?:his|her)\s+\Z")
_MINE = re.compile(r"\b[Mm]y\s+\Z")
_SAID_BEFORE = re.compile(r"[A-Z][\w'’.-]*\s*,\s*(?:his|her|their|the patient's|pt's)\s+(?:\w+\s+)?\Z")
_FORMER = frozenset("former first second ex estranged".split())
_FEW = 4  # words between a kinship word and the name that it introduces


def kin_beside(before: str, behind: str, adjacent: bool = False) -> tuple[str, str, bool]:
    """Find the kinship word directly before a name (a few short words may intervene), or else directly after it.

    With `adjacent`, only words like "named" may intervene, since in "wife drove Ray in" the name is not the wife's.

    After the name it is in parentheses or in apposition. Also return the person it refers to if that is not the patient
    (Anna's son), and whether the name is a different person from the one named before it (Lupe Ruiz is the sister of
    Dr. Ruiz; Kevin, her son, and Linh).
    """
    if match := _OF.search(before):
        return _OF_WHOM[match.group(1).lower()], "", False
    clause = re.split(r"[.;!?\n]", before)[-1]
    near = list(WORD.finditer(clause))[-_FEW:]
    for at, said in reversed(list(enumerate(near))):
        if adjacent and _several(clause[said.start() :]):
            break
        if word := kin_word(said.group()):
            if near[-1].group().lower() == "of" and at < len(near) - 1:
                other = _OF_WHOM.get(word, "") if _PATIENT_IS.search(clause[: said.start()]) or "widow" in word else ""
                return other, "", not other
            if clause[said.end() :].startswith(",") and _SAID_BEFORE.search(clause[: said.start()]):
                break
            previous = key(near[at - 1].group()) if at else ""
            if previous == "twin" or (previous in _FORMER and word in ("wife", "husband")):
                word = "twin" if previous == "twin" else f"ex{word}"
            if adjacent and _MINE.search(clause[: said.start()]):
                return "", "", False  # in a message, the speaker's mother may be the patient
            if (match := _ANOTHERS.search(clause[: said.start()])) and kin_word(match.group(1)):
                return "", "", False  # son Suresh, his wife Divya
            owner = _OWNER.search(clause[: said.start()])
            whose = owner.group(1) if owner and key(owner.group(1)) not in ("pt", "patient") else ""
            return word, whose, False
        if said.group()[0].isupper() or (adjacent and key(said.group()) not in _naming() | {"of"}):
            break
    if word := _listed_kin(clause):
        return word, "", False
    if _PATIENT_IS.search(before) and (match := _RELATED.match(behind)) and (word := kin_word(match.group(1))):
        return _OF_WHOM.get(word, word), "", False
    if (match := _BRACKET.match(behind)) and (word := kin_word(next(filter(None, match.groups())))):
        return word, "", False
    return "", "", False


_LISTED = re.compile(r"[,:]?\s(?:[^\W\d_][\w'’.-]*\s?){1,3}(?:\([^()]{1,24}\)\s?)?(?:,\s|\s?(?:and|&)\s){1,2}\Z")


def _listed_kin(clause: str) -> str:
    """The kinship word of a list in which another name comes first: her sons Arjan and Jaspal; "" for none."""
    for said in reversed(list(WORD.finditer(clause))):
        word = kin_word(said.group())
        if word and (word != key(said.group()) or word in _PLURAL):
            return word if _LISTED.match(clause, said.end()) else ""
    return ""


_PLURAL = frozenset(("children", "kids"))


def _several(said: str) -> bool:
    """Return True for a label that may name the patient, such as "Child:"."""
    return said.rstrip().endswith(":") and fold(said.rstrip(" :\t")) in cluster_data("roles.toml")["several"]


@cache
def _naming() -> frozenset[str]:
    return frozenset(cluster_data("roles.toml")["naming"].split())


@cache
def kin_gender(word: str) -> str:
    """`female`, `male` or "" for a folded kinship word."""
    kin = data("words.toml")["kin"]
    return next((sex for sex in ("female", "male") if word in {key(w) for w in kin[sex].split()}), "")


SIDES = ("above", "child", "grandchild")
"""The generations in `words.toml`."""


@cache
def kin_side(word: str) -> str:
    """The generation of a folded kinship word: `above`, `child`, `grandchild`; "" if it implies none."""
    kin = data("words.toml")["kin"]
    return next((side for side in SIDES if word in {key(w) for w in kin[side].split()}), "")


@cache
def kin_form(word: str) -> str:
    """The usual word for the same relative (mother for a folded mom), or the word itself."""
    lines = [[key(one) for one in line.split()] for line in data("words.toml")["kin"]["same"]]
    own = [line for line in lines if word in line]
    return own[0][0] if len(own) == 1 else word


@cache
def kin_alike(a: str, b: str) -> bool:
    """Return True if two folded kinship words mean the same relative: mom and mother, wife and spouse.

    False if one is empty.
    """
    lines = [{key(word) for word in line.split()} for line in data("words.toml")["kin"]["same"]]
    return bool(a) and (a == b or any(a in line and b in line for line in lines))


_CLOSE = frozenset("guardian partner parent child fiance fiancee boyfriend girlfriend".split())


@cache
def kin_against(a: str, b: str) -> bool:
    """Return True if two folded kinship words exclude each other, such as father and cousin.

    Words of two generations do not count here (`mentions.apart`), nor do a sister and a child: a mother calls the
    patient's sister her child. False if one is empty.
    """
    a, b = (word.removeprefix("ex") for word in (a, b))
    if not a or not b or kin_alike(a, b) or {a, b} & _CLOSE:
        return False
    sides = {kin_side(a), kin_side(b)}
    if "" not in sides:
        return False
    beside = a if not kin_side(a) else b
    return not (sides == {"", "child"} and any(kin_alike(beside, word) for word in ("brother", "sister")))
