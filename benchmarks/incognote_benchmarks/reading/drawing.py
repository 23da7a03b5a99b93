"""Make hard mentions: lines drawn into notes, hint words drawn without regard to uniqueness, and a careless model's
noise.

Written notes are too tidy to be hard: an identifier's words rarely occur twice in them. So lines are added that repeat
the words, as a dose, a grade, or an eponym, or as another mention of the same person.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

from incognote.nouns import Mention

Gold = tuple[int, int, str]
"""The place of an identifier, in code points with an exclusive end, and its type."""

Outcome = Literal["right", "wrong", "ragged", "other", "nowhere"]

SHARE = 0.21
"""The share of identifiers whose words a drawn line repeats, so that nearly a third occur twice."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that repeat an identifier's words with another meaning, or (`again`) with the same meaning."""

    counts: tuple[str, ...]
    grades: tuple[str, ...]
    eponyms: tuple[str, ...]
    again: tuple[str, ...]


@cache
def lines(name: str) -> Lines:
    """A set of lines: `seen` while the aligner's word lists were written, or `unseen`."""
    written = tomllib.loads(files(__package__).joinpath("drawing.toml").read_text(encoding="utf-8"))
    return Lines(**{kind: tuple(each) for kind, each in written[name].items()})


@dataclass(frozen=True, slots=True)
class Note:
    """A text and its identifiers."""

    text: str = field(repr=False)
    gold: tuple[Gold, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A mention of one identifier.

    Args:
        hints: the intended number of hint words; there are fewer at the edge of a text.
        twice: whether the identifier's bare words also occur elsewhere in the text.
    """

    mention: Mention
    gold: Gold
    hints: int
    twice: bool


def elsewhere(text: str, start: int, end: int) -> bool:
    """Return True if the words of a stretch also occur, as whole words, elsewhere in the text."""
    words = re.escape(text[start:end])
    return any(m.start() != start for m in re.finditer(rf"(?<![^\W_]){words}(?![^\W_])", text))


def with_more_lines(note: Note, rng: random.Random, lines: Lines, share: float = SHARE) -> Note:
    """Add lines to a note that repeat the words of some of its identifiers."""
    text, gold = note.text, list(note.gold)
    for start, end, kind in [g for g in note.gold if rng.random() < share]:
        words = note.text[start:end]
        digits = sum(c.isdigit() for c in words)
        again = False
        if re.fullmatch(r"\d{1,4}", words):
            line = rng.choice(lines.counts)
        elif re.fullmatch(r"\d{1,2}/\d{1,2}", words):
            line = rng.choice(lines.grades)
        elif not digits and re.fullmatch(r"[A-Z][a-z]+", words) and rng.random() < 0.25:
            line = rng.choice(lines.eponyms)
        else:
            line, again = rng.choice(lines.again), True
        breaks = [m.start() for m in re.finditer(r"\n|\Z", text) if not any(s < m.start() < e for s, e, _ in gold)]
        at = rng.choice(breaks)
        added = "\n" + line.format(words)
        gold = [(s + len(added) * (s >= at), e + len(added) * (e > at), t) for s, e, t in gold]
        if again:
            begin = at + 1 + line.index("{}")
            gold.append((begin, begin + len(words), kind))
        text = text[:at] + added + text[at:]
    return Note(text, tuple(sorted(gold)))


def drawn(note: Note, rng: random.Random, hints: int | None = None) -> list[Drawn]:
    """Make one mention per identifier, whether or not its hint distinguishes it from others.

    Args:
        hints: the number of hint words; None draws 0 to 4, on either side.
    """
    made = []
    for start, end, kind in note.gold:
        n = rng.randint(0, 4) if hints is None else hints
        left = rng.randint(0, n)
        before = [m.start() for m in re.finditer(r"\S+", note.text[:start])]
        after = re.match(rf"(?:\s*\S+){{0,{n - left}}}", note.text[end:])
        low = before[-min(left, len(before))] if left and before else start
        phrase = note.text[low : end + (after.end() if after else 0)]
        mention = Mention(kind, phrase, start - low, end - low)
        made.append(Drawn(mention, (start, end, kind), n, elsewhere(note.text, start, end)))
    return made


def noisy(mention: Mention, rng: random.Random) -> Mention:
    """The mention as a careless model would write it: typos, other case, other white space, curly quotes."""
    marked = [(c, mention.start <= i < mention.end) for i, c in enumerate(mention.phrase)]
    for _ in range(rng.randint(0, len(marked) // 8)):
        at = rng.randrange(len(marked))
        c, inside = marked[at]
        if c.isspace():
            continue
        other = rng.choice("0123456789" if c.isdigit() else "abcdefghijklmnopqrstuvwxyz")
        edit = rng.choice(("other", "gone", "more", "turned"))
        if edit == "other":
            marked[at] = (other, inside)
        elif edit == "gone" and sum(i for _, i in marked) > 1:
            del marked[at]
        elif edit == "more":
            marked.insert(at, (other, inside))
        elif edit == "turned" and at + 1 < len(marked) and marked[at + 1][1] == inside:
            marked[at], marked[at + 1] = marked[at + 1], marked[at]
    case = rng.choice((str, str, str, str.upper, str.lower, str.title))
    space = rng.choice((" ", " ", "  ", "\n", "\t"))
    quotes = str.maketrans({"'": "’", '"': "”"})
    phrase, start, end = "", -1, 0
    for c, inside in marked:
        piece = (space if c.isspace() else case(c)).translate(quotes)
        if inside:
            start = len(phrase) if start < 0 else start
            end = len(phrase) + len(piece)
        phrase += piece
    return Mention(mention.type, phrase, start, end)


def outcome(own: Gold, gold: Sequence[Gold], stretches: Sequence[tuple[int, int]]) -> Outcome:
    """The outcome of a mention of `own`.

    Returns:
        `right`: exactly its own characters, possibly with other gold; `wrong`: a stretch touches no gold; `nowhere`: no
        stretch; `ragged`: its own place, but not exactly; `other`: only other identifiers.
    """
    start, end, _ = own
    if not stretches:
        return "nowhere"
    if not all(any(s < b and a < e for s, e, _ in gold) for a, b in stretches):
        return "wrong"
    if (start, end) in stretches and all(any(s <= a and b <= e for s, e, _ in gold) for a, b in stretches):
        return "right"
    return "ragged" if any(a < end and start < b for a, b in stretches) else "other"
