"""The culture of a name: from the lists of the pools, the shape of a surname, and the guess from the whole name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import chain

from incognote.relex.names import key, locale, parse
from incognote.relex.names.guess import bearers
from incognote.relex.names.parsed import unparticled
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools
from incognote.relex.pools.people import Culture
from incognote.text.lexicon import fold, lexicon, surname
from incognote.text.lexicon import given as weight

HOME = "en"
"""The culture of the country of the notes. Names of unknown culture become common names there."""
_SURE = 0.45  # the confidence from which a guessed locale counts
_SURER, _LONG = 0.9, 5  # the same, for a surname of so many letters that is common in the country of the notes
_ALIKE = (
    "gb ie aa en",
    "ar pk bd af ir so ha",
    "in si kl pa np",
    "ru ua bg",
    "sv no da fi is",
    "zh hk tw",
    "ig yo ha gh",
    "cs sk pl",
)
"""Cultures between which a given name passes, so that it fits its surname."""
_ARABIC = re.compile(r"[\u0621-\u064a]")
_COMMON = 4  # the weight in the lexicon from which a surname is common in the country of the notes
_WRITTEN = {letter: name for name, letters in {
    "es": "ñ", "pt": "ãõ", "pl": "łńśźżąę", "cs": "řěů", "hu": "őű", "ro": "țșăţ", "tr": "ğş", "no": "øå",
    "de": "ß", "is": "þð", "vi": "ươđạảấầẩẫậắằẳẵặẹẻẽếềểễệịọốồổỗộớờởỡợụủứừửữựỳỵỷỹ", "lt": "ėųįž",
}.items() for letter in letters}  # fmt: skip
"""Letters that show a culture."""
_SHARED = 6  # names that two cultures must share to draw from both


def culture(name: str) -> Culture:
    """A culture by name; that of the notes if there is none."""
    return pools().people.get(name) or pools().people[HOME]


def spoken_in(identity: Identity) -> str:
    """The culture of the language in which an identity's mentions are written; "" for English, Arabic, or several.

    Arabic notes write the names of Arabs in Arabic letters, which show the culture, and those of others in Latin ones.
    """
    codes = {variant.hints.language for variant in identity.variants}
    code = codes.pop() if len(codes) == 1 else ""
    return code if code in pools().people and code != "ar" else ""


def neighbors(name: str) -> tuple[str, ...]:
    """The cultures between which a given name passes, with the culture itself."""
    return next((tuple(group.split()) for group in _ALIKE if name in group.split()), (name,))


@cache
def _first() -> Mapping[str, str]:
    """Locale → the culture that is meant if only the locale is known."""
    found: dict[str, str] = {}
    for name, one in pools().people.items():
        found.setdefault(one.of, name)
    return found


@cache
def _listed() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """Normal form of a surname, and of a given name → the cultures that list it."""
    surnames: dict[str, dict[str, None]] = {}
    given: dict[str, dict[str, None]] = {}
    for name, one in pools().people.items():
        for word in (*one.surname, *one.also["surname"], *chain(*one.after.values()), *one.more):
            for form in {word, one.feminine(word)} if one.endings else {word}:
                surnames.setdefault(key(form), {})[name] = None
        for kinds in (*one.given.values(), one.also["given"]):
            for word in kinds:
                given.setdefault(key(word), {})[name] = None
    return {k: tuple(v) for k, v in surnames.items()}, {k: tuple(v) for k, v in given.items()}


@cache
def homes_of_given(word: str) -> tuple[str, ...]:
    """The cultures of a given name, in its normal form: those that list it, or else those of its locales."""
    listed = _listed()[1].get(word)
    if listed:
        return listed
    places = [place for place, kinds in bearers(word).items() if kinds & {"male", "female"}]
    return tuple(_first()[place] for place in places if place in _first())


@cache
def is_full(word: str, family: str) -> bool:
    """Return True if a given name, in its normal form, is a full name: a listed one, or one of the family's locale."""
    foreign = family not in ("", *_ALIKE[0].split())
    kinds = bearers(word).get(culture(family).of, frozenset()) if foreign else frozenset()
    return is_listed(word) or bool(kinds & {"male", "female"})


def is_listed(word: str) -> bool:
    """Return True if a culture lists the given name, in its normal form."""
    return word in _listed()[1]


def listed_homes(word: str) -> tuple[str, ...]:
    """The cultures that list a given name, in its normal form."""
    return _listed()[1].get(word, ())


def is_surname(word: str) -> bool:
    """Return True if a word, in its normal form, is a common surname of a culture or more often one than given."""
    entry = lexicon().get(word, 0)
    return word in common_surnames() or surname(entry) >= _COMMON > weight(entry)


@cache
def common_surnames() -> frozenset[str]:
    lists = (chain(one.surname, *one.after.values()) for one in pools().people.values())
    return frozenset(key(name) for name in chain.from_iterable(lists))


def gender_of(word: str, locales: int = 1) -> str:
    """The gender of a given name in all cultures that list it, or else in all locales; "" if they differ.

    Args:
        locales: how many locales must know the name if no culture lists it. If more than one must, the ending of an
            Arabic name does not count.
    """
    kinds = {
        kind.split("_")[0]
        for name in _listed()[1].get(word, ())
        for kind, names in culture(name).given.items()
        if any(key(n) == word for n in names)
    }
    found = [known - {"surname"} for known in bearers(word).values() if known - {"surname"}]
    if not kinds and not found and locales == 1 and _ARABIC.match(word):
        return "female" if word.endswith(("ه", "اء")) else "male"  # in their normal form, ta marbuta is ه
    if not kinds and len(found) >= locales:
        kinds = {kind for known in found for kind in known}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"male", "female"} else ""


@cache
def home_of_surname(written: str, given: tuple[str, ...] = (), hint: str = "") -> str:
    """The culture of a surname; "" if nothing shows it.

    Args:
        written: the surname, with its particles.
        given: normal forms of given names, which decide between the cultures that have the surname.
        hint: the locale of the whole name, "" if unknown. It decides first.
    """
    word, low = key(unparticled(written)), fold(written)
    listed = _listed()[0].get(word) or _listed()[0].get(key(written), ())
    if not listed and "ar" in _listed()[0].get(word.removeprefix("al"), ()):
        return "ar"
    fitting = [name for name in listed if any(is_listed(one) and name in homes_of_given(one) for one in given)]
    if fitting:
        return min(fitting, key=lambda name: culture(name).of != hint)
    if hint in _first() and "surname" in bearers(word).get(hint, ()):
        return _first()[hint]  # Marin is Romanian, but Rosa Marin and Luis Marin are Spanish
    marked = next((name for name, one in pools().people.items() if one.marks and re.search(one.marks, low)), "")
    marked = next((_WRITTEN[letter] for letter in written.lower() if letter in _WRITTEN), marked)
    if listed:
        return marked if marked in listed else listed[0]
    if marked:
        return marked
    theirs = dict.fromkeys(name for one in given for name in homes_of_given(one))
    if surname(lexicon().get(word, 0)) <= _COMMON and theirs and not theirs.keys() & {*_ALIKE[0].split()}:
        return next(iter(theirs))  # Domingo Pascua
    guess = locale(parse(f"X. {written}"))
    if surname(lexicon().get(word, 0)) >= _COMMON and (guess.confidence < _SURER or len(word) < _LONG):
        return HOME
    return _first().get(guess.value, "") if guess.confidence >= _SURE else ""


def home_of_given(word: str, family: str, hint: str = "") -> tuple[str, str]:
    """The culture of a given name beside a surname, and a second one that should also have the surrogate ("" for none).

    Args:
        word: the given name, in its normal form.
        family: the culture of the surname, "" if unknown.
        hint: the locale of the whole name, "" if unknown.
    """
    homes = homes_of_given(word)
    family = family or (_first().get(hint, "") if not homes else "")
    if not homes:
        return family, ""
    if family in homes:
        both = HOME in homes and family not in _ALIKE[0].split()
        return family, HOME if both and _enough(family) else ""
    if family in _ALIKE[1].split() and set(homes) & set(_ALIKE[1].split()):
        return family, ""  # Mohammed is common in English too
    if HOME in homes:
        return HOME, ""
    if not is_listed(word) and (len(homes) > 1 or family == HOME):
        return family, ""
    if any(family in group.split() and set(homes) & set(group.split()) for group in _ALIKE[1:]):
        return family, ""
    of_hint = [name for name in homes if culture(name).of == hint]
    return (of_hint or homes)[0], ""


@cache
def _enough(name: str) -> bool:
    return all(len(shared(name, HOME, gender)) >= _SHARED for gender in ("male", "female"))


@cache
def shared(name: str, other: str, gender: str, age: str = "") -> tuple[str, ...]:
    """The given names of a culture, or those that it shares with another one, in its spelling."""
    names = culture(name).names(gender, age)
    if not other:
        return names
    theirs = {key(word) for kinds in culture(other).given.values() for word in kinds}
    return tuple(word for word in names if key(word) in theirs)


def age_of(word: str) -> str:
    """The generation of which a given name is typical: "older", "younger" or ""."""
    for kind, names in culture(HOME).given.items():
        if "_" in kind and any(key(name) == word for name in names):
            return kind.split("_")[1]
    return ""
