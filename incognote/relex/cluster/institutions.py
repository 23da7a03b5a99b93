"""Institutions of one domain: BMH is Brookline Memorial Hospital, St. Brigid's is Saint Brigid's Medical Center."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from incognote.relex.cluster.grouping import attached, by_key, cluster_data
from incognote.relex.names.likeness import mistyped
from incognote.relex.nouns import MentionVariant
from incognote.text.lexicon import fold, is_common

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’ʼ`]s\b", re.IGNORECASE)
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_CUT = 4  # the fewest letters of an abbreviated word
_SITED = 3  # the fewest letters of an acronym within a name (SBMC Eastgate)
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
    """The words of an institution's name in full, without those that carry no meaning.

    An acronym is one word with a sign.

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
    """Correct letters that OCR read as digits (Va11ey). Numbers are unchanged."""
    return word.translate(_OCR) if sum(c.isalpha() for c in word) > 1 else word


def _letters(forms: Mapping[Form, Sequence[MentionVariant]]) -> dict[str, Form]:
    """Initials of names written out, and of their beginnings → their words.

    Initials of two different names are left out.

    For words in other languages, their own initials count too (BAK is Boldog Apor Kórház).
    """
    forms_by_initials: dict[str, set[Form]] = defaultdict(set)
    for form, variants in forms.items():
        if form[0].startswith("="):
            continue
        for end in range(_SITED, len(form) + 1):
            forms_by_initials["".join(word[0] for word in form[:end])].add(form[:end])
        for words in {v.words for v in variants}:
            raw = [fold(word) for word in _WORD.findall(_POSSESSIVE.sub("s", words))]
            for kept in (raw, [word for word in raw if word not in listed("silent")]):
                if len(kept) >= _SITED:
                    forms_by_initials["".join(word[0] for word in kept)].add(form)
    return {letters: min(of) for letters, of in forms_by_initials.items() if len({_bare(form) for form in of}) == 1}


def _spelt_out(form: Form, letters: Mapping[str, Form]) -> Form:
    """A name whose first word is another name's initials, with these written out: SBMC Eastgate."""
    if len(form) < 2 or len(form[0]) < _SITED or form[0] in _kinds():
        return form
    return (*letters[form[0]], *form[1:]) if form[0] in letters else form


def _unplural(word: str) -> str:
    """Brigids (from Brigid's) → brigid. So Children's and Childrens are equal."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of institutions' names that the language lists as `silent`, `nick`, `site` or `kind`."""
    return frozenset(cluster_data("institutions.toml")["words"][kind].split())


@cache
def _kinds() -> frozenset[str]:
    return frozenset(map(_unplural, listed("kind")))


@lru_cache(maxsize=1 << 12)
def _bare(form: Form) -> Form:
    """The distinctive words, without those for the kind, a site or a saint."""
    return tuple(w for w in form if w not in _kinds() and w not in listed("site") and not w.startswith("saint")) or form


@lru_cache(maxsize=1 << 12)
def _said(form: Form) -> frozenset[str]:
    """The words for its kind."""
    return frozenset(form) & _kinds()


def _table(forms: Iterable[Form], letters: Mapping[str, Form]) -> dict[str, list[Form]]:
    """What may stand for an institution → the institutions it may stand for."""
    table: dict[str, set[Form]] = defaultdict(set)
    for form in forms:
        if form[0].startswith("="):
            continue
        table["=" + "".join(word[0] for word in form)].add(form)
        table["~" + form[0][:_CUT]].add(form)
        for word in {*_bare(form), *(set(form) & listed("nick"))}:
            table[word].add(form)
        if form[0].startswith("saint") and len(form) > 1:
            table["saint " + form[1][0]].add(form)
    for initials, form in letters.items():
        table["=" + initials] |= {other for other in table.get(_bare(form)[0], ()) if _bare(other) == _bare(form)}
    return {words: sorted(names) for words, names in table.items()}


def _fuller(form: Form, table: dict[str, list[Form]], hospitals: set[Form]) -> list[Form]:
    """The longer names that a name may stand for, by the most reliable way of abbreviation that applies.

    The ways are: initials, words for the kind left out, abbreviated words, a nickname, the site alone or with the first
    word.
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
    """Return True if the other form is longer and has all kind words of this one, except ones like "hospital"."""
    return _said(form) <= _said(other) | _LOOSE and (len(_bare(other)), len(other), other) > (
        len(_bare(form)),
        len(form),
        form,
    )


_LOOSE = frozenset(("hospital", "clinic", "center", "medical", "health", "infirmary"))


def _part(bare: Form, other: Form, hospital: bool, form: Form) -> bool:
    """Return True if these words of a longer name may stand for it.

    They are its last ones (the site), one inner word, or the first and last with some between. Its first words may
    stand for it only if no hospital is meant, because they belong to the main building.
    """
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
    """Return True for Mass General and Massachusetts General Hospital.

    Each word begins the other's word, and only words for the kind are left out.
    """
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
    """Map each form to one common form of its spellings (Harbor View, Harborview; Karunya Mision).

    Names are equal if they have the same letters, or differ in one misspelled word. The rule for surnames applies, and
    not both words may be English words. A spelling with several neighbors does not count.
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
