"""Finder of dates without a year that only the other dates of the note show: "last 4/5", "on the morning of the 7th".

Month and day as two numbers are a date if they lie near a full date of the note, and if the words around them do not
make them a score, a ratio, a fraction, or a strength. Numbers that are often a score (4/5, 3/10, 12/20) also need a
word that leads to a date, or a date beside them in a list.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.detectors.rules.view import Candidate, View
from incognote_en.dates import cues, parse

_NEAR, _NEAR_AFTER_WORD = 45, 120
# the farthest that a date without a year may lie from a full date, in days; the second if a word leads to it
_SCORE = 0.8  # the encoder cannot deny it: it does not read the other dates of the note
_RECENT = 400  # days before the latest full date of the note; older ones belong to the history
_TOTALS = frozenset((*range(1, 11), 12, 15, 20, 21, 24, 27, 28, 30))  # what scores, ratios and fractions are out of
_REACH = 36  # characters before a date that are read
_PAIR = re.compile(r"(?<![\w/.,$£€+<>=~:-])(\d{1,2})/(\d{1,2})(?![\w%/+]|[.,:]\d|-\d|['’]\d)")
_NOT_NEAR = re.compile(
    r"(?i)(?:\b(?:strength|motor|power|pain|scor(?:e|ed|es)|scale|index|murmurs?|grade|stage|apgars?|b/?p|vision|acuity|"
    r"visual|va|snellen|ratio|reflex(?:es)?|dtrs?|pulses|severity|intensity|oriented|criteria|percocet|norco|vicodin|"
    r"suboxone|zubsolv|insulin|bi-?pap|cpap|peep|psv?|ac/vc|vent|settings|gtt|gcs|nihss|mmse|moca|phq|gad|epds|mrs|ecog|"
    r"asa|morse|braden|barthel|[dr]hit|tricep\w*|bicep\w*|delt\w*|quads?|hamstrings?|dorsi\w*|plantar|grip|flex\w*|"
    r"ext(?:ension|ensors?)?|abduction|rom|[ou][dsu]|[rl]|items?|page|pg|nodes?|cores?|quadrants?|phrases|words|trials|recall|"
    r"reps|sets|kick|chance|odds|titers?|[lru]{1,2}e|levels?|rated?|rates)|\bx|[Gg]\d{1,2}|\d ?(?:to|of|-))\W{0,3}\Z"
)
_NOT_LINE = re.compile(
    r"(?i)\b(?:strength|motor|power|pain|murmur|apgars?|acuity|snellen|reflexes|dtrs|bipap|peep|mmse|moca|phq|gad|gleason)\b"
)
_NOT_AFTER = (
    r"[ ]?(?:{unit}|out of|of(?![^\W_])|(?:in )?(?:strength|power|pain|severity|intensity|murmur)|in (?:all|both|the)|"
    r"ago|pregnant|positive|negative|correct|points?|times|systolic|diastolic|sem(?![^\W_])|ns(?![^\W_])|tabs?|"
    r"(?!(?:was|is|has|labs|does|plans|needs|meds|results|shows|gets|goes|reports|states|denies|says|vs|vitals)\b)"
    r"[a-z]{{3,}}s(?![^\W_]))"
)
_LEADS = re.compile(
    r"(?i)(?:\b(?:last|on|since|until|till?|thru|through|dated?|from|by|before|after|next|first|start(?:s|ed|ing)?|"
    r"began|begun|stop(?:ped|s)?|end(?:ed|s)?|completed?|finish(?:ed)?|done|remov(?:ed|al)|placed|given|received|drawn|"
    r"confirmed|seen|reviewed|reduced|increased|lowered|raised|decreased|changed|held|resumed|restarted|admit(?:ted)?|"
    r"adm|discharged?|dc|d/c'?d?|visit|appt|clinic|f/?u|note(?: of)?|letter(?: of)?|report(?: of)?|call(?:ed)?|phone|"
    r"due|surgery|procedure|biopsy|bx|echo|ct|mri|cxr|us|ekg|eeg|egd|mbss|vfss|labs?|cultures?|cx|swab|nadir|peak|repeat|"
    r"transfused|dose|shot|vaccin\w+|immuniz\w+|extubated|intubated|transfer(?:red)?|fell|fall|arrived?|exp|"
    r"off|missed|available|aim(?:ing)?(?: for)?|(?:morning|night|evening|afternoon|day|week) of|room air|ra|"
    r"[a-z]{3,}(?:ectomy|otomy|ostomy|plasty|scopy|gram|ization|ation))|#\d{1,2}|\w \(|"
    r"\b(?:confirmed|cleared|seen|reviewed|done|given|placed|removed) (?:by |with |per )?[\w.-]{2,20}|"
    r"\b(?:tx|txp|transplant\w*|graft|cabg|implant\w*)|"
    r"\b(?:des|bms|pci|stent(?:s|ed|ing)?)(?: (?:to |in )?(?:the )?[\w-]{2,9}){1,2}|(?:\A|\n)[ \t>*•-]{0,8})[ :]{0,2}\Z"
)
_NEWBORN = re.compile(r"(?i)\b(?:newborn|neonat\w+|nicu|scn|baby|infant|apgars?)\b")
_IN_LIST = re.compile(r"(?:,|;| and| &| then|/)\s{1,2}\Z|,\Z")
_FRACTION = re.compile(r"(?<![#\w/.])\d{1,3}[ -]{1,3}\Z")  # 33 6/7, 1 1/2
_LASTING = re.compile(r"(?i)\b(?:for|in|over|every|q|x)[ ]?\Z")  # for 10/7: for ten days
_NTH = re.compile(
    r"(?i)\b(?:(?:morning|night|evening|afternoon|day|week|weekend) of|on|starts?|begins?|ends?|due|since|until|till|"
    r"by|from) (the \d{1,2}(?:st|nd|rd|th))(?=[ ]?(?:[.,;)]|\r?\n|\Z)|[ ](?:an?|the|at|and|she|he|they|we|i|pt|patient|"
    r"with|for|by|to|after|but|when|in the|was|showed|of this|of last)(?![^\W_]))"
)

_SEASON = re.compile(  # last winter …, home by Feb 3: the season must move with the month
    r"(?i)\b(?:last|this past|past|this|next) (spring|summer|autumn|fall|winter)(?![^\W_]|['’])(?=[^.;\n]{1,70}?"
    r"\b(?-i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}(?![\d/]| ?(?:mg|ml)))"
)


def find(view: View) -> Iterator[Candidate]:
    """Candidates for dates without a year. None if the note has no full date."""
    text = view.text
    pairs = list(_PAIR.finditer(text)) if "/" in text else []
    days = list(_NTH.finditer(text))
    yield from (Candidate(*match.span(1), "DATE", _SCORE, "neighbors.season") for match in _SEASON.finditer(text))
    if not pairs and not days:
        return
    anchors, day_first = _anchors(text, pairs)
    if not anchors:
        return
    yield from (Candidate(*match.span(1), "DATE", _SCORE, "neighbors.nth") for match in days if _is_day(match[1]))
    end, totals = 0, _totals(view, pairs)
    for match in pairs:
        low = max(0, match.start() - _REACH)
        listed = bool(end) and _IN_LIST.fullmatch(text[end : match.start()]) is not None
        led = listed or _LEADS.search(text, low, match.start()) is not None
        if not _is_near(match, anchors, day_first, _NEAR_AFTER_WORD if led else _NEAR) or _is_number(text, match):
            continue
        likely = int(match[1]) > int(match[2]) or int(match[2]) not in _TOTALS
        if likely or listed or (led and totals[match] == 1):
            end = match.end()
            yield Candidate(match.start(), end, "DATE", _SCORE, "neighbors.month-day")


def _totals(view: View, pairs: list[re.Match[str]]) -> dict[re.Match[str], int]:
    """For each pair, how many different numbers its line has with the same second number: 4/5 here, 3/5 there."""
    lines = [(view.line_of(pair.start()), pair[2]) for pair in pairs]
    parts = {line: {pair[1] for pair, own in zip(pairs, lines, strict=True) if own == line} for line in lines}
    return {pair: len(parts[line]) for pair, line in zip(pairs, lines, strict=True)}


def _is_number(text: str, match: re.Match[str]) -> bool:
    """Whether the words around a pair of numbers show that it is no date."""
    before = text[max(0, match.start() - _REACH) : match.start()]
    line = before.rpartition("\n")[2]
    if _NOT_NEAR.search(before) or _NOT_LINE.search(line) or _after().match(text, match.end()):
        return True
    return (_FRACTION.search(before) is not None and int(match[2]) <= 8) or (
        int(match[2]) in (7, 12) and _LASTING.search(before) is not None
    )


def _is_day(words: str) -> bool:
    return 1 <= int("".join(filter(str.isdecimal, words))) <= 31


def _is_near(match: re.Match[str], anchors: list[dt.date], day_first: bool, farthest: int) -> bool:
    month, day = (int(match[2]), int(match[1])) if day_first else (int(match[1]), int(match[2]))
    for anchor in anchors:
        for year in (anchor.year - 1, anchor.year, anchor.year + 1):
            try:
                if abs((dt.date(year, month, day) - anchor).days) <= farthest:
                    return True
            except ValueError:
                continue
    return False


def _anchors(text: str, pairs: list[re.Match[str]]) -> tuple[list[dt.date], bool]:
    """The full dates of a note that are not births or old history, and whether the note writes the day first.

    In the chart of a newborn, its birth counts.
    """
    found = list(_full().finditer(text))
    numeric = [(match["first"], match["second"]) for match in found if match["first"]]
    numbers = [(int(first), int(second)) for first, second in (*numeric, *(match.groups() for match in pairs))]
    day_first = any(first > 12 for first, _ in numbers) or any(match["day"] for match in found)
    day_first = day_first and not any(second > 12 for _, second in numbers)
    births = [match for match in found if "birth" in cues(text[max(0, match.start() - 40) : match.start()], "")]
    own = [match for match in found if match not in births] or (births if _NEWBORN.search(text) else [])
    read = (parse(match[0], day_first=day_first) for match in own)
    days = [one.date for one in read if one is not None and one.date is not None]
    return [day for day in days if (max(days) - day).days <= _RECENT], day_first


@cache
def _full() -> re.Pattern[str]:
    month, year = f"(?:{shipped_macros()['month']})", r"(?:19|20)\d\d"
    return re.compile(
        rf"(?i)(?<![\w/.-])(?:(?P<first>\d{{1,2}})[/.-](?P<second>\d{{1,2}})[/.-](?:20|19)?\d\d(?![\w/])|"
        rf"{year}-\d\d-\d\d(?!\d)|{month}\.? \d{{1,2}}(?:st|nd|rd|th)?,? {year}(?!\d)|"
        rf"(?P<day>\d{{1,2}})[ -]{month}[ ,-]{{1,2}}{year}(?!\d))"
    )


@cache
def _after() -> re.Pattern[str]:
    return re.compile(_NOT_AFTER.format(unit=shipped_macros()["unit"]), re.IGNORECASE)
