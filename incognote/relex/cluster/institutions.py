"""Institutions of one domain: BMH is Brookline Memorial Hospital, St. Brigid's is Saint Brigid's Medical Center."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from incognote.detectors.rules.lexicon import fold, is_common
from incognote.relex.cluster.scope import data
from incognote.relex.cluster.united import attached, by_key
from incognote.relex.names.likeness import mistyped
from incognote.relex.nouns import Variant

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’ʼ`]s\b", re.IGNORECASE)
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_CUT = 4  # letters a word that is cut short shows at least

Form = tuple[str, ...]


def institutions(variants: Iterable[Variant]) -> list[tuple[Form, list[Variant]]]:
    """(normal form, variants) of every institution; a function of the set of variants."""
    forms = by_key(sorted(set(variants)), lambda v: form_of(v.words))
    spelt = _spelt_alike(sorted(forms))
    united: dict[Form, list[Variant]] = defaultdict(list)
    for form, found in sorted(forms.items()):
        united[spelt[form]].extend(found)
    table = _table(united)
    return [(form, sorted(found)) for form, found in attached(united, lambda form: _fuller(form, table))]


@lru_cache(maxsize=1 << 12)
def form_of(words: str) -> Form:
    """The words of an institution's name in full, without those that say nothing; an acronym is one word with a sign.

    "St. Brigid's Med Ctr" → ("saint", "brigid", "medical", "center"); "BMH" → ("=bmh",).
    """
    plain = words.strip()
    letters = fold("".join(c for c in plain if c.isalpha()))
    if _ACRONYM.match(plain) and letters not in _kinds():
        return ("=" + letters,)
    table: dict[str, str] = data("institutions.toml")["short"]
    low = [fold(word) for word in _WORD.findall(_POSSESSIVE.sub("s", plain))]
    if len(low) > 1 and (kind := data("institutions.toml")["first"].get(low[0])):
        low = [*low[1:], kind]
    spoken = [part for word in low for part in table.get(word, _unplural(word)).split() if part not in _silent()]
    return tuple(spoken) or tuple(low) or (plain,)


def _unplural(word: str) -> str:
    """Brigids (of Brigid's) → brigid; Children's and Childrens are one."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@cache
def _silent() -> frozenset[str]:
    return frozenset(data("institutions.toml")["words"]["silent"].split())


@cache
def _kinds() -> frozenset[str]:
    return frozenset(_unplural(word) for word in data("institutions.toml")["words"]["kind"].split())


@cache
def _nicks() -> frozenset[str]:
    return frozenset(data("institutions.toml")["words"]["nick"].split())


def _core(form: Form) -> Form:
    """Without the words of its kind at the end: what tells it from others of its kind."""
    end = len(form)
    while end > 1 and form[end - 1] in _kinds():
        end -= 1
    return form[:end]


def _table(forms: Iterable[Form]) -> dict[str, list[Form]]:
    """What may stand for an institution, and the institutions it may stand for."""
    found: dict[str, set[Form]] = defaultdict(set)
    for form in forms:
        if form[0].startswith("="):
            continue
        found["=" + "".join(word[0] for word in form)].add(form)
        found["~" + form[0][:_CUT]].add(form)
        for end in range(len(_core(form)), len(form)):
            found[" ".join(form[:end])].add(form)
        for word in set(form) & _nicks():
            found[word].add(form)
    return {words: sorted(names) for words, names in found.items()}


def _fuller(form: Form, table: dict[str, list[Form]]) -> list[Form]:
    """The longer names that a name may stand for: without its kind, in initials, a nickname, words cut short."""
    found = {other for other in table.get(" ".join(form), ()) if len(other) > len(form) or form[0].startswith("=")}
    found |= {other for other in table.get("~" + form[0][:_CUT], ()) if other != form and _cut_short(form, other)}
    return sorted(found)


def _cut_short(form: Form, other: Form) -> bool:
    """Mass General for Massachusetts General Hospital: each word begins the other's, what is left out is its kind."""
    return len(_core(other)) <= len(form) <= len(other) and all(
        mine == theirs or (len(mine) >= _CUT and theirs.startswith(mine))
        for mine, theirs in zip(form, other, strict=False)
    )


def _spelt_alike(forms: Sequence[Form]) -> dict[Form, Form]:
    """Each form → the form that stands for it and its other spellings (Harbor View, Harborview; Karunya Mision).

    Names are one when they are the same letters, or differ in one word that is misspelt (by the rule for surnames, and
    not where both are English words); where a spelling has several neighbours, that does not count.
    """
    joined: dict[str, Form] = {}
    for form in forms:
        joined.setdefault("".join(form), form)
    first = {form: joined["".join(form)] for form in forms}
    gaps: dict[tuple[Form, Form], set[Form]] = defaultdict(set)
    for form in joined.values():
        for at in range(len(form) if len(form) > 1 else 0):
            gaps[form[:at], form[at + 1 :]].add(form)
    near: dict[Form, set[Form]] = defaultdict(set)
    for (head, _), group in gaps.items():
        for a in group:
            near[a] |= {b for b in group if b != a and _misspelt(a[len(head)], b[len(head)])}
    for form, others in near.items():
        other = min(others, default=form)
        if len(others) == 1 and near[other] == {form} and other < form:
            first.update({one: other for one, stands in first.items() if stands == form})
    return first


def _misspelt(a: str, b: str) -> bool:
    return not a.isdigit() and mistyped(a, b, "strict") and not (is_common(a) and is_common(b))
