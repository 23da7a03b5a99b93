"""Ages in every format: `72-year-old`, `34F`, `61 y`, `nineteen`, `80s`, `11 d`."""

from __future__ import annotations

from random import Random

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: E501 - one list on one line
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_OLD = (
    "{n}-year-old;{n}-year-old;{n}-year-old;{n} year old;{n} yo;{n}yo;{n} y/o;{n}y/o;{n}-yr-old;{n} yr old;{n} y.o.;"
    "{n}-year old;{w}-year-old;{w} year old;{n} years old;{n}YO"
).split(";")
_LONE = "{n} y;{n} years;{n} yrs;{n}y;{n} Y;{n} yo;{n}yo;{n} Years;{n};{n} y.o.;{n}yrs;{n} years old;{n} YRS".split(";")


def words(number: int) -> str:
    """A number below one hundred in words."""
    if number < 20:
        return _ONES[number]
    ten, one = divmod(number, 10)
    return _TENS[ten] + (f"-{_ONES[one]}" if one else "")


def old(years: int, months: int, random: Random) -> str:
    """An age before a noun: "72-year-old"."""
    if years < 2:
        return _small(months, random, adjective=True)
    return random.choice(_OLD).format(n=years, w=words(years) if years < 100 else years)


def lone(years: int, months: int, random: Random) -> str:
    """An age in a field: "72 y"."""
    return _small(months, random, adjective=False) if years < 2 else random.choice(_LONE).format(n=years)


def bare(years: int, random: Random) -> str:
    """A number, sometimes in words."""
    return words(years) if years < 100 and random.random() < 0.06 else str(years)


def decade(years: int, random: Random) -> str:
    """An approximate age: "80s", "seventies"."""
    tens = max(2, years // 10)
    plain = {
        2: "twenties",
        3: "thirties",
        4: "forties",
        5: "fifties",
        6: "sixties",
        7: "seventies",
        8: "eighties",
        9: "nineties",
    }
    return random.choice((f"{tens}0s", f"{tens}0s", f"{tens}0's", plain.get(tens, f"{tens}0s")))


def _small(months: int, random: Random, *, adjective: bool) -> str:
    weeks = max(1, months * 4 + random.randrange(3))
    days = random.randint(1, 27)
    unit = random.choice("mwd" if months < 3 else "m")
    number = {"m": max(1, months), "w": weeks, "d": days}[unit]
    word = {"m": "month", "w": "week", "d": "day"}[unit]
    if adjective:
        brief = word[:2] if unit != "d" else "d"
        forms = (f"{number}-{word}-old", f"{number} {word} old", f"{words(min(99, number))}-{word}-old",
                 f"{number} {brief} old")  # fmt: skip
        return random.choice((forms[0], *forms))
    short = {"m": "mo", "w": "wk", "d": "d"}[unit]
    return random.choice(
        (f"{number} {short}", f"{number}{short}", f"{number} {word}{'s' if number > 1 else ''}", f"{number} {unit}")
    )
