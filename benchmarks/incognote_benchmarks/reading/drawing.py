"""Hard mentions, made: lines drawn into notes, hint words drawn blind to uniqueness, and a careless model's noise.

Written notes are too tidy to be hard: in few of them do an identifier's words stand twice. So lines are drawn into them
that repeat the words, as a dose, a grade, an eponym, or as the same person named again.
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
"""Where an identifier stands, in code points, end exclusive, and its type."""

Outcome = Literal["right", "wrong", "ragged", "other", "nowhere"]

SHARE = 0.21
"""Of the identifiers, those whose words a drawn line repeats: enough that nearly a third stand twice."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that repeat an identifier's words as something else, or (`again`) as what they are."""

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
        hints: how many words of hint it was to have; at a text's edge there are fewer.
        twice: whether the identifier's bare words also stand elsewhere in the text.
    """

    mention: Mention
    gold: Gold
    hints: int
    twice: bool


def elsewhere(text: str, start: int, end: int) -> bool:
    """Whether the words of a stretch stand, as whole words, at another place of the text, too."""
    words = re.escape(text[start:end])
    return any(m.start() != start for m in re.finditer(rf"(?<![^\W_]){words}(?![^\W_])", text))


def with_more_lines(note: Note, rng: random.Random, lines: Lines, share: float = SHARE) -> Note:
    """A note into which lines were drawn that repeat the words of some of its identifiers."""
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
    """One mention for every identifier, whether or not its hint tells it from others.

    Args:
        hints: words of hint; None draws 0 to 4, on either side.
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
    """The mention as a careless model writes it: typos, another case, other white space, curly quotes."""
    marked = [(c, mention.start <= i < mention.end) for i, c in enumerate(mention.phrase)]
    for _ in range(rng.randint(0, len(marked) // 8)):
        at = rng.randrange(len(marked))
        c, inside = marked[at]
        if c.isspace():
            continue
        other = rng.choice("0123456789" if c.isdigit() else "abcdefghijklmnopqrstuvwxyz")
        deed = rng.choice(("other", "gone", "more", "turned"))
        if deed == "other":
            marked[at] = (other, inside)
        elif deed == "gone" and sum(i for _, i in marked) > 1:
            del marked[at]
        elif deed == "more":
            marked.insert(at, (other, inside))
        elif deed == "turned" and at + 1 < len(marked) and marked[at + 1][1] == inside:
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
    """What became of a mention of `own`.

    Returns:
        `right`: its own characters exactly, and whatever else is gold, too; `wrong`: some stretch touches no gold;
        `nowhere`: no stretch; `ragged`: its own place, but not exactly; `other`: only other identifiers.
    """
    start, end, _ = own
    if not stretches:
        return "nowhere"
    if not all(any(s < b and a < e for s, e, _ in gold) for a, b in stretches):
        return "wrong"
    if (start, end) in stretches and all(any(s <= a and b <= e for s, e, _ in gold) for a, b in stretches):
        return "right"
    return "ragged" if any(a < end and start < b for a, b in stretches) else "other"
