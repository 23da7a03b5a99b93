"""Institutions of one domain: BMH is Brookline Memorial Hospital, St. Brigid's is Saint Brigid's Medical Center."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from incognote.detectors.rules.lexicon import fold, is_common
from incognote.relex.cluster.grouping import attached, by_key, cluster_data
from incognote.relex.names.likeness import mistyped
from incognote.relex.nouns import MentionVariant

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’ʼ`]s\b", re.IGNORECASE)
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_CUT = 4  # letters a word that is cut short shows at least
_SITED = 3  # letters that an acronym within a name shows at least (SBMC Eastgate)
_OCR = str.maketrans("015", "ols")

Form = tuple[str, ...]


def institutions(variants: Iterable[MentionVariant]) -> list[tuple[Form, list[MentionVariant]]]:
    """(normal form, variants) of every institution; a function of the set of variants."""
    forms = by_key(sorted(set(variants)), lambda v: form_of(v.words))
    letters = _letters(forms)
    whole = {form: _spelt_out(form, letters) for form in forms}
    spelt = _spelt_alike(sorted(set(whole.values())))
    united: dict[Form, list[MentionVariant]] = defaultdict(list)
    for form, found in sorted(forms.items()):
        united[spelt[whole[form]]].extend(found)
    table = _table(united, letters)
    hospitals = {form for form, found in united.items() if any(v.type == "HOSPITAL" for v in found)}
    return [(form, sorted(found)) for form, found in attached(united, lambda form: _fuller(form, table, hospitals))]


@lru_cache(maxsize=1 << 12)
def form_of(words: str) -> Form:
    """The words of an institution's name in full, without those that say nothing; an acronym is one word with a sign.

    "St. Brigid's Med Ctr" → ("saint", "brigid", "medical", "center"); "BMH" → ("=bmh",).
    """
    plain = words.strip()
    letters = fold("".join(c for c in plain if c.isalpha()))
    if _ACRONYM.match(plain) and letters not in _kinds():
        return ("=" + letters,)
    table: dict[str, str] = cluster_data("institutions.toml")["short"]
    low = [_unread(fold(word)) for word in _WORD.findall(_POSSESSIVE.sub("s", plain))]
    if len(low) > 1 and (kind := cluster_data("institutions.toml")["first"].get(low[0])):
        low = [*low[1:], kind]
    spoken = [part for word in low for part in table.get(word, _unplural(word)).split() if part not in listed("silent")]
    return tuple(spoken) or tuple(low) or (plain,)


def _unread(word: str) -> str:
    """A word whose letters were read as digits (Va11ey); numbers stay."""
    return word.translate(_OCR) if sum(c.isalpha() for c in word) > 1 else word


def _letters(forms: Mapping[Form, Sequence[MentionVariant]]) -> dict[str, Form]:
    """Initials of the names written out, and of their beginnings, → the words they are of; none that are of two.

    Words in other tongues count by their own letters too (BAK is Boldog Apor Kórház).
    """
    found: dict[str, set[Form]] = defaultdict(set)
    for form, variants in forms.items():
        if form[0].startswith("="):
            continue
        for end in range(_SITED, len(form) + 1):
            found["".join(word[0] for word in form[:end])].add(form[:end])
        for words in {v.words for v in variants}:
            raw = [fold(word) for word in _WORD.findall(_POSSESSIVE.sub("s", words))]
            for kept in (raw, [word for word in raw if word not in listed("silent")]):
                if len(kept) >= _SITED:
                    found["".join(word[0] for word in kept)].add(form)
    return {letters: min(of) for letters, of in found.items() if len({_bare(form) for form in of}) == 1}


def _spelt_out(form: Form, letters: Mapping[str, Form]) -> Form:
    """A name whose first word is another's initials, with the words they are of: SBMC Eastgate."""
    if len(form) < 2 or len(form[0]) < _SITED or form[0] in _kinds():
        return form
    return (*letters[form[0]], *form[1:]) if form[0] in letters else form


def _unplural(word: str) -> str:
    """Brigids (of Brigid's) → brigid; Children's and Childrens are one."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of institutions' names that are `silent`, `nick`, `site` or `kind`, as the language lists them."""
    return frozenset(cluster_data("institutions.toml")["words"][kind].split())


@cache
def _kinds() -> frozenset[str]:
    return frozenset(map(_unplural, listed("kind")))


@lru_cache(maxsize=1 << 12)
def _bare(form: Form) -> Form:
    """Without the words that say its kind, that it is a saint's or a site's: what tells it from others."""
    return tuple(w for w in form if w not in _kinds() and w not in listed("site") and not w.startswith("saint")) or form


@lru_cache(maxsize=1 << 12)
def _said(form: Form) -> frozenset[str]:
    """The words that say its kind."""
    return frozenset(form) & _kinds()


def _table(forms: Iterable[Form], letters: Mapping[str, Form]) -> dict[str, list[Form]]:
    """What may stand for an institution, and the institutions it may stand for."""
    found: dict[str, set[Form]] = defaultdict(set)
    for form in forms:
        if form[0].startswith("="):
            continue
        found["=" + "".join(word[0] for word in form)].add(form)
        found["~" + form[0][:_CUT]].add(form)
        for word in {*_bare(form), *(set(form) & listed("nick"))}:
            found[word].add(form)
        if form[0].startswith("saint") and len(form) > 1:
            found["saint " + form[1][0]].add(form)
    for initials, form in letters.items():
        found["=" + initials] |= {other for other in found.get(_bare(form)[0], ()) if _bare(other) == _bare(form)}
    return {words: sorted(names) for words, names in found.items()}


def _fuller(form: Form, table: dict[str, list[Form]], hospitals: set[Form]) -> list[Form]:
    """The longer names that a name may stand for, by the surest of the ways in which names are cut short.

    In initials; without words of its kind; words cut short; a nickname; the site alone, or with the house's first word.
    """
    if form[0].startswith("="):
        return sorted(table.get(form[0], ()))
    if len(form) == 2 and form[0] == "saint" and len(form[1]) == 1:
        return [other for other in table.get(f"saint {form[1]}", ()) if len(other[1]) > 1]
    bare = _bare(form)
    near = {other for word in bare for other in table.get(word, ()) if other != form and _may_stand(form, other)}
    short = {other for other in table.get("~" + form[0][:_CUT], ()) if other != form and _cut_short(form, other)}
    nick = {o for o in table.get(form[0], ()) if len(form) == 1 and form[0] in listed("nick") and o != form}
    named = {other for other in near if _bare(other) == bare and len(other) > len(form)} | short | nick
    if named:
        return sorted(named)
    return sorted(other for other in near if _part(bare, _bare(other), bool(hospitals & {form, other}), form))


def _may_stand(form: Form, other: Form) -> bool:
    """Nothing of its kind that the other is not; a saint is a saint."""
    return _said(form) <= _said(other) | _LOOSE and (len(_bare(other)), len(other), other) > (
        len(_bare(form)),
        len(form),
        form,
    )


_LOOSE = frozenset(("hospital", "clinic", "center", "medical", "health", "infirmary"))


def _part(bare: Form, other: Form, hospital: bool, form: Form) -> bool:
    """Words of a longer name that may stand for it: its last (the site), one of its inner words, its first where no
    hospital is meant (whose first words are the main house's), the first and last with some between."""
    if len(bare) >= len(other):
        return False
    if len(bare) > 1 and bare[0] == other[0] and bare[-1] == other[-1]:
        rest = iter(other)
        return all(word in rest for word in bare)
    if _said(form) - {"hospital"}:
        return False
    if other[-len(bare) :] == bare or (len(bare) == 1 and bare[0] in other[1:]):
        return not all(word.isdigit() for word in bare)
    return not hospital and other[: len(bare)] == bare and (len(bare) > 1 or not is_common(bare[0]))


def _cut_short(form: Form, other: Form) -> bool:
    """Mass General for Massachusetts General Hospital: each word begins the other's, what is left out is its kind."""
    return (
        len(form) <= len(other)
        and any(mine != theirs for mine, theirs in zip(form, other, strict=False))
        and all(word in _kinds() for word in other[len(form) :])
        and all(
            mine == theirs or (len(mine) >= _CUT and theirs.startswith(mine))
            for mine, theirs in zip(form, other, strict=False)
        )
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
