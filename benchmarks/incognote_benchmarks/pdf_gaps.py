"""What the width of a gap in a redacted PDF reveals about the name that was there.

An attacker measures the distance of the words at both sides of a redaction, and compares it with the width that each
candidate name has in the font of the line. The fewer candidates have that width, the more the gap reveals. The attack
is strong on purpose: it knows all characters of the font, the usual space of the line, and the width that the box adds.
"""

from __future__ import annotations

import math
import random
import re
import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from incognote_benchmarks.pdfium import PageChange, Word, changes, opened, space, standard_widths, words

CANDIDATES = 1000
TOLERANCE = 0.2
"""Widths that differ by less, in points, are equal for the attack."""
_NAME = re.compile(r"[^\W\d_][^\W\d_.'’-]*(?:[ .'’-]+[^\W\d_]+)*\.?")
_FEW = 8
_NEAR = 1.5
"""A neighbor is at most this far away, in ems. Further away, it is in another column."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A redacted name and the widths that an attacker estimates for it.

    Args:
        name: what was there. text: the redacted words of the line with the name in them.
        width: the true width of those words in points.
        old, new: the estimate from the words at both sides in the original, and in the output; None if there is none.
        line_end: the estimate from the end of the line in the output, if the text is justified.
        size: the font size in points.
        others: the widths of the other candidates in points.
    """

    name: str = field(repr=False)
    text: str = field(repr=False)
    width: float
    old: float | None
    new: float | None
    line_end: float | None
    size: float
    others: tuple[float, ...] = field(repr=False)


@cache
def candidates(words: int, count: int = CANDIDATES) -> tuple[str, ...]:
    """Return names of the package's lists: of one word, of two (given name and surname), or of three."""
    lists = tomllib.loads((files("incognote_en") / "names" / "people.toml").read_text(encoding="utf-8"))["en"]
    given = [name.capitalize() for name in f"{lists['male']} {lists['female']}".split()]
    surnames = [name.capitalize() for name in lists["surname"].split()]
    draw = random.Random(words)  # noqa: S311 -- a fixed sample of public names
    if words == 1:
        return tuple(draw.sample(sorted({*given, *surnames}), count))
    middle = [f" {letter}." for letter in "ABCDEFGHJKLMNPRSTW"] if words > 2 else [""]
    pairs = (f"{draw.choice(given)}{draw.choice(middle)} {draw.choice(surnames)}" for _ in range(4 * count))
    return tuple(dict.fromkeys(pairs))[:count]


def gaps(original: bytes, output: bytes, names: Iterable[str]) -> Iterator[Gap]:
    """Yield the redacted names of a PDF with the estimates of their widths. Others than names are left out."""
    wanted = sorted({name for name in names if _NAME.fullmatch(name)}, key=len, reverse=True)
    with opened(original) as first, opened(output) as second:
        if len(first) != len(second):
            return
        pages = [(words(first[i]), words(second[i])) for i in range(len(first))]
    widths = _Widths(word for old, _ in pages for word in old)
    for old, new in pages:
        margin = right_margin(old)
        for change in changes(old, new):
            gap = _gap(change, wanted, widths, margin)
            if gap is not None:
                yield gap


def right_margin(found: Sequence[Word]) -> float | None:
    """Return where the lines of justified text end, or None if fewer than three and a third of the lines end there."""
    from incognote_benchmarks.pdfium import lines

    ends = [line[-1].end for line in lines(found)]
    best = max(ends, key=lambda end: sum(abs(end - other) < 0.3 for other in ends), default=0.0)
    count = sum(abs(best - other) < 0.3 for other in ends)
    return best if count >= max(3, len(ends) / 3) else None


def _gap(change: PageChange, names: Sequence[str], widths: _Widths, margin: float | None) -> Gap | None:
    text = " ".join(word.text for word in change.old)
    name = next((name for name in names if name in text), None)
    if name is None or sum(map(str.isalnum, text.replace(name, "", 1))) > 0 or change.old[0].size <= 0:
        return None
    word, line = change.old[0], change.line
    width = change.old[-1].end - word.start
    most = _NEAR * word.size
    near = [pair for pair in (change.before,) if pair and word.start - pair[0].end <= most]
    before = near[0] if near else None
    after = change.after if change.after and change.after[0].start - change.old[-1].end <= most else None
    old = new = line_end = None
    if after is not None:
        begin = (word.start, word.start) if before is None else (before[0].end, before[1].end)
        spaces = 1 if before is None else 2
        old = after[0].start - begin[0] - spaces * space(line)
        new = after[1].start - begin[1] - spaces * space(change.new_line)
        end = change.new_line[-1].end
        if margin is not None and abs(line[-1].end - margin) < 0.3:
            line_end = new + margin - end
    gap = space(line)
    loose = (width - widths.of(text, word, gap)) / len(text)  # the space that the file adds to each character
    names_ = (text.replace(name, other, 1) for other in candidates(min(3, len(name.split()))) if other != name)
    others = tuple(widths.of(other, word, gap) + loose * len(other) for other in names_)
    return Gap(name, text, width, old, new, line_end, word.size, others)


class _Widths:
    """The widths of characters per em, by font: as the file has them, otherwise those of the closest standard font."""

    def __init__(self, found: Iterable[Word]) -> None:
        seen: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for word in found:
            for character, advance in zip(word.text, word.advances, strict=True):
                if word.size > 0 and advance > 0:
                    seen[word.font][character].append(advance / word.size)
        self._fonts = {
            font: {each: statistics.median(ems) for each, ems in table.items()} for font, table in seen.items()
        }
        self._closest: dict[str, Mapping[str, float]] = {}

    def of(self, text: str, like: Word, gap: float | None = None) -> float:
        """Return the width of a text in the font and size of a word, in points. `gap`: the width of each space."""
        known = self._fonts.get(like.font, {})
        other = self._closest.get(like.font)
        if other is None:
            other = self._closest[like.font] = _closest(known)
        ems = sum(known.get(each, other.get(each, 0.5)) for each in text if each != " ")
        return ems * like.size + text.count(" ") * (gap or 0.0)


def _closest(known: Mapping[str, float]) -> Mapping[str, float]:
    """Return the standard font whose widths differ least from those that are known, in proportion."""
    best: tuple[float, Mapping[str, float]] = (math.inf, {})
    for table in standard_widths():
        shared = [(known[each], table[each]) for each in known if table.get(each)]
        if not shared:
            return table
        scale = sum(a for a, _ in shared) / sum(b for _, b in shared)
        error = sum(abs(a - b * scale) for a, b in shared)
        if error < best[0]:
            best = error, {each: width * scale for each, width in table.items()}
    return best[1]


def revealed(found: Sequence[Gap]) -> dict[str, Any]:
    """Return what the gaps reveal: before (words stay where they were), after, and at the end of justified lines."""
    return {
        "names": len(found), "candidates": CANDIDATES, "tolerance_points": TOLERANCE,
        "before": _revealed([(gap, gap.old) for gap in found]),
        "after": _revealed([(gap, gap.new) for gap in found]),
        "after_line_end": _revealed([(gap, gap.line_end) for gap in found]),
    }  # fmt: skip


def _revealed(measured: Sequence[tuple[Gap, float | None]]) -> dict[str, Any]:
    pairs = [(gap, estimate) for gap, estimate in measured if estimate is not None]
    if not pairs:
        return {"gaps": 0}
    plain = _bits(pairs, [0.0] * len(pairs))
    offsets = [(estimate - gap.width) / gap.size for gap, estimate in pairs]
    middle = statistics.median(offsets)
    padded = _bits(pairs, [middle * gap.size for gap, _ in pairs])
    best = max(plain, padded, key=lambda each: each["bits"] - each["bits_by_chance"])
    figures = {"gaps": len(pairs), **best, "added_ems": round(middle, 3) if best is padded else 0.0}
    ems = np.array([(gap.width / gap.size, estimate / gap.size) for gap, estimate in pairs])
    if len(pairs) >= _FEW and ems.std(axis=0).min() > 1e-3:
        correlation = float(np.corrcoef(ems.T)[0, 1])
        figures |= {
            "correlation": round(correlation, 4),
            "bits_if_linear": round(-0.5 * math.log2(max(1 - correlation**2, 2.0**-20)), 2),
        }
    elif len(pairs) >= _FEW:
        figures |= {"correlation": 0.0, "bits_if_linear": 0.0}
    return figures


def _bits(pairs: Sequence[tuple[Gap, float]], added: Sequence[float]) -> dict[str, Any]:
    """Return how many candidates have the width of the gap, how often the true name does, and the bits that gives."""
    fits, left, bits, chance = 0, [], 0.0, 0.0
    for (gap, estimate), extra in zip(pairs, added, strict=True):
        width = estimate - extra
        others = sum(abs(other - width) <= TOLERANCE for other in gap.others)
        total = len(gap.others) + 1
        fit = abs(gap.width - width) <= TOLERANCE
        equal = others + fit
        fits += fit
        left.append(equal if fit else total)
        if equal:
            gained = math.log2(total / equal)
            bits += gained * fit
            chance += gained * equal / total
    count = len(pairs)
    return {
        "true_name_fits": fits, "candidates_left_median": statistics.median(left),
        "bits": round(bits / count, 2), "bits_by_chance": round(chance / count, 2),
        "bits_of_all": round(math.log2(len(pairs[0][0].others) + 1), 2),
    }  # fmt: skip
