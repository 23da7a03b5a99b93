"""The people of one document, and the ways in which it names them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from incognote.text.lexicon import fold
from incognote_training.corpus import names
from incognote_training.corpus.grammar import Piece

_CREDENTIALS = {
    "dr": "MD MD MD MD M.D. M.D. DO D.O. MBBS MBChB FRCP FACS MD,_PhD MD,_FACC MD,_MPH MRCP FRCS FACOG DPM DDS PharmD "
    "PA-C NP FNP-BC",
    "rn": "RN RN RN RN R.N. LPN LVN CNA BSN,_RN RN,_BSN CCRN RN-BC MA CMA EMT-P NRP PT PT,_DPT OTR/L RT(R) RRT LCSW "
    "MSW CCC-SLP RDN PharmD CNM APRN",
}
_TITLES = {"dr": ("Dr. ", "Dr. ", "Dr. ", "Dr ", "DR. ", "Doctor ", "Prof. "), "rn": ("Nurse ", "RN ", "", "", "Sr ")}
_SUFFIXES = ("Jr.", "Jr", "Sr.", "III", "II", "IV")


@dataclass(slots=True)
class Person:
    """One person with fixed names.

    Attributes:
        kind: the entity type of the names.
        sex: "F" or "M".
        of: "dr" or "rn" for staff, otherwise "".
        relation: a relative's relation to the patient, in words.
    """

    kind: str
    sex: str
    first: str
    middle: str
    last: str
    suffix: str
    nick: str
    inverted: bool
    of: str = ""
    relation: str = ""
    credential: str = ""

    def title(self, random: Random) -> str:
        """A title such as "Mr. ", with the space after it."""
        if self.of:
            return random.choice(_TITLES[self.of])
        stop = "." if random.random() < 0.75 else ""
        return ("Mr" if self.sex == "M" else random.choice(("Mrs", "Ms", "Ms"))) + stop + " "

    def mention(self, how: str, random: Random) -> tuple[Piece, ...]:
        """One way to name the person: a form of `_FORMS`, or a mixture of them (`_MIXED`)."""
        if how in _MIXED:
            forms, weights = _MIXED[how if not (how == "any" and self.of) else "staff"]
            how = random.choices(forms, cum_weights=weights)[0]
        if how == "mr":
            return Piece(self.title(random)), Piece(self.last, self.kind)
        if how == "sig":
            return Piece(self._form("fml", random), self.kind), Piece(
                f"{random.choice((', ', ', ', ' '))}{self.credential}"
            )
        if how == "dr":
            return Piece(_TITLES["dr"][int(random.random() * 5)]), Piece(self.last, self.kind)
        if how == "drfl":
            return Piece(_TITLES["dr"][int(random.random() * 5)]), Piece(f"{self.first} {self.last}", self.kind)
        if how == "mrfl":
            return Piece(self.title(random)), Piece(f"{self.first} {self.last}", self.kind)
        return (Piece(self._form(how, random), self.kind),)

    def _form(self, how: str, random: Random) -> str:
        first, middle, last = self.first, self.middle, self.last
        tail = f" {self.suffix}" if self.suffix else ""
        if how == "first":
            return first
        if how == "last":
            return last
        if how == "nick":
            return self.nick
        if how == "init":
            return random.choice(("{0}{2}", "{0}.{2}.", "{0}{1}{2}", "{0}. {2}.", "{0}{2}")).format(
                first[0], middle[:1], last[0]
            )
        if how == "il":
            return random.choice(
                (f"{first[0]}. {last}", f"{first[0]} {last}", f"{first[0]}. {last}", f"{last} {first[0]}")
            )
        if how == "fi":
            return f"{first} {last[0]}" + random.choice((".", ""))
        if how == "inv":
            comma = ", " if random.random() < 0.85 else ","
            made = f"{last}{comma}{first}" + random.choice(("", "", f" {middle}" if middle else "", f" {middle[:1]}"))
            return made.rstrip() + (tail if random.random() < 0.5 else "")
        if how == "INV":
            return self._form("inv", random).upper()
        if how == "FL":
            return f"{first} {last}".upper()
        if how == "slug":
            return self.slug(random)
        given = f"{first} {middle}" if middle else first
        if how == "fml":
            given = random.choice((first, given, f"{first} {middle[:1]}." if middle else first))
            return f"{last} {given}" if self.inverted and random.random() < 0.4 else f"{given} {last}{tail}"
        if self.inverted and random.random() < 0.3:
            return f"{last} {first}"
        return f"{first} {last}"

    def slug(self, random: Random) -> str:
        """A part of an e-mail address, user name, or file name, in lower case."""
        first, last = _plain(self.first), _plain(self.last)
        digits = random.choice(("", "", "", str(random.randint(1, 99)), str(random.randint(1950, 2008))))
        form = random.choice(
            ("{f}.{l}", "{f}{l}", "{i}{l}", "{f}_{l}", "{l}{i}", "{l}.{f}", "{i}.{l}", "{f}{k}", "{l}")
        )
        return form.format(f=first, l=last, i=first[:1], k=last[:1]) + digits


_FORMS = ("fl fml first last nick init il fi inv INV FL mr dr drfl mrfl sig slug").split()
_MIXED = {
    "": (("fl", "fml"), (0.6, 1.0)),
    "any": (("mr", "first", "last", "fl", "nick", "init", "il"), (0.42, 0.64, 0.8, 0.9, 0.94, 0.97, 1.0)),
    "staff": (("dr", "last", "sig", "fl", "il", "first", "drfl", "init"), (0.5, 0.6, 0.7, 0.78, 0.84, 0.88, 0.96, 1.0)),
    "head": (("fml", "inv", "INV", "FL", "fl"), (0.3, 0.62, 0.8, 0.88, 1.0)),
}
HOWS = frozenset(_FORMS) | frozenset(_MIXED)
"""Every way in which a person can be named."""


def _plain(word: str) -> str:
    return "".join(c for c in fold(word) if c.isalnum() and c.isascii()) or "x"


def someone(kind: str, random: Random, *, sex: str = "", of: str = "", family: Person | None = None,
            relation: str = "") -> Person:  # fmt: skip
    """Make a person.

    Args:
        kind: the entity type.
        family: a person whose surname may be shared.
    """
    sex = sex or random.choice("FM")
    home = names.culture(random)
    first, last = random.choice(home.first(sex)), random.choice(home.last)
    chance = random.random()
    if chance < 0.12:
        given, surnames = names.rare()
        last = random.choice(surnames)
        first = random.choice(given) if chance < 0.06 else first
    elif chance < 0.26:
        given, surnames = names.wordlike()
        last = random.choice(surnames) if chance < 0.22 else last
        first = random.choice(given) if chance > 0.2 else first
    if random.random() < home.double:
        last += random.choice((" ", "-", " y ", " ")) + random.choice(home.last)
    elif home.particles and random.random() < 0.16:
        particle = random.choice(home.particles)
        last = particle + ("" if particle.endswith("'") else " ") + last
    elif random.random() < 0.04:
        last += "-" + random.choice(names.culture(random).last)
    if family is not None and random.random() < 0.55:
        last = family.last
        first = random.choice(names.culture(random).first(sex)) if random.random() < 0.3 else first
    middle = random.choice(home.first(sex)) if random.random() < home.middle + 0.15 else ""
    pairs, loose = names.nicknames()
    short = pairs.get(first)
    nick = (
        random.choice(short)
        if short
        else random.choice(loose)
        if random.random() < 0.5
        else first[: random.randint(2, 4)]
    )
    suffix = (
        random.choice(_SUFFIXES)
        if sex == "M" and home.name in ("american", "hispanic") and random.random() < 0.05
        else ""
    )
    credential = random.choice(_CREDENTIALS[of].split()).replace("_", " ") if of else ""
    return Person(kind, sex, first, middle, last, suffix, nick, home.inverted, of, relation, credential)


def misspelt(name: str, random: Random) -> str:
    """A name with one typing error. Short names stay unchanged."""
    if len(name) < 5:
        return name
    at = random.randrange(1, len(name) - 2)
    slip = random.randrange(3)
    if slip == 0:
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    if slip == 1:
        return name[:at] + name[at + 1 :]
    return name[:at] + name[at] + name[at:]
