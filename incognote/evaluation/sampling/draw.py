"""Draw released documents for review: how many, which ones, and what each reviewer gets.

Planted leaks are documents with one made-up identifier in them. They measure what reviewers overlook. They are copies
of released documents that were not drawn, and never count in the rate.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from random import Random
from secrets import randbits
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.sampling import bounds
from incognote.evaluation.sampling.key import Key, LeakMark, ReviewerSet, SampledCase
from incognote.evaluation.sampling.outputs import OutputDocument, ReleasedOutputs, digest, review_page
from incognote.files.atomic import write_atomic

ITEMS, PAGE = "items.jsonl", "review.html"
_MOST_STRATA = 50


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What a draw should prove, and how.

    Args:
        bound: the share of leaking documents that must not be exceeded.
        confidence: of the one-sided bound.
        expect: the number of leaking documents that the draw may hold and still prove the bound.
        strata: the field with a document's kind; each kind is then drawn in proportion.
        seed: of the draw; None for an unpredictable one.
        reviewers: their number; each gets every drawn document.
        plants: the number of planted leaks in addition.
        size: the number of documents to draw; None for the fewest that suffice.
    """

    bound: float
    confidence: float = 0.95
    expect: int = 0
    strata: str | None = None
    seed: int | None = None
    reviewers: int = 2
    plants: int = 0
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """The counts of a draw.

    Attributes:
        strata: per kind, (population, drawn).
        unvouched: the number of files that no manifest names.
    """

    population: int
    documents: int
    plants: int
    reviewers: int
    strata: dict[str, tuple[int, int]]
    pages: tuple[str, ...]
    unvouched: int
    key: str = field(repr=False)


def draw(paths: Sequence[str], out: Path, key: Path, asked: SampleRequest) -> Drawn:
    """Draw a sample. Write a folder per reviewer and, apart from them, the key.

    Args:
        out: a folder that does not exist yet, or an empty one.
        key: the file that maps items back to outputs. It is private, and no reviewer may get it.

    Raises:
        UsageError: the outputs cannot be read or differ from their manifest; the draw cannot prove the bound (the
            message says how many documents could); or fewer than `plants` documents are left to plant in.
    """
    bounds.checked(asked.bound, asked.confidence, asked.expect)
    if key.exists() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UsageError(
            "--out or its key file already exists. A second draw next to the first would not be blind. Choose "
            "another path."
        )
    if key.resolve().is_relative_to(out.resolve()):
        raise UsageError("--key is inside the folder for the reviewers. Choose a path outside.")
    release = ReleasedOutputs(paths, asked.strata)
    kinds = [document.stratum for document in release.documents()]
    sizes = dict(sorted(Counter(kinds).items()))
    shares = allotted(asked, sizes)
    seed = randbits(63) if asked.seed is None else asked.seed
    chance = Random(seed)  # noqa: S311  # repeatable from its seed, which only the key holds
    chosen = {i for name, n in shares.items() for i in chance.sample([i for i, k in enumerate(kinds) if k == name], n)}
    rest = [i for i in range(len(kinds)) if i not in chosen]
    if len(rest) < asked.plants:
        raise UsageError(
            f"--plant needs documents that were not drawn: {asked.plants} are needed, {len(rest)} are left."
        )
    spare = set(chance.sample(rest, asked.plants))
    cases, texts = _cases(release, chosen, spare, asked.reviewers, chance)
    sets = [_write_set(out, number, cases, texts, chance) for number in range(asked.reviewers)]
    made = Key(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        bound=asked.bound,
        confidence=asked.confidence,
        expect=asked.expect,
        seed=seed,
        field=asked.strata,
        strata={name: (size, shares[name]) for name, size in sizes.items()},
        files=tuple(
            (str(s.path.resolve()), d) for s, d in zip(release.sources, release.digests, strict=True) if s.path
        ),
        cases=tuple(cases),
        sets=tuple(sets),
    )
    write_atomic(key, (json.dumps(asdict(made), indent=1) + "\n").encode(), private=True)
    pages = tuple(str(folder_of(out, number) / PAGE) for number in range(asked.reviewers))
    counts = (len(kinds), len(chosen), asked.plants, asked.reviewers)
    return Drawn(*counts, made.strata, pages, release.unvouched, str(key))


def allotted(asked: SampleRequest, sizes: dict[str, int]) -> dict[str, int]:
    """How many documents of each stratum are drawn.

    Raises:
        UsageError: there are no documents or too many strata, or so few documents cannot prove the bound.
    """
    population = sum(sizes.values())
    if not population:
        raise UsageError("The outputs hold no document.")
    if len(sizes) > _MOST_STRATA:
        raise UsageError(
            f"--strata gives {len(sizes)} kinds, more than {_MOST_STRATA}. Name a field with few different values."
        )
    simple = len(sizes) == 1
    if simple:
        need = bounds.needed(asked.bound, asked.confidence, asked.expect, population)
    else:
        need = bounds.needed_in_strata(asked.bound, asked.confidence, asked.expect, sizes)
    if need is None:
        raise UsageError(
            f"With {asked.expect} leaking documents, no sample of {population} can prove a bound of {asked.bound:g}. "
            "Lower --expect or raise --bound."
        )
    if asked.size is not None and not need <= asked.size <= population:
        raise UsageError(
            f"--size {asked.size} cannot prove a bound of {asked.bound:g} at {asked.confidence:g} with "
            f"{asked.expect} leaking documents. At least {need} of {population} are needed."
        )
    return bounds.shares(asked.size or need, sizes)


def folder_of(out: Path, number: int) -> Path:
    """The folder of a reviewer's set; `number` counts from 0."""
    return out / f"reviewer-{number + 1}"


def _cases(
    release: ReleasedOutputs, chosen: set[int], spare: set[int], reviewers: int, chance: Random
) -> tuple[list[SampledCase], dict[str, str]]:
    """The drawn and the planted documents under random names, and their texts by these names."""
    names = _names(chance, (len(chosen) + len(spare)) * (reviewers + 1))
    cases: list[SampledCase] = []
    texts: dict[str, str] = {}
    for number, document in enumerate(release.documents()):
        if number not in chosen and number not in spare:
            continue
        text, planted = document.text, None
        if number in spare:
            one = plant(text, chance)
            text, planted = one.text, LeakMark(one.start, one.end, one.type)
        case = _case(document, text, planted, [next(names) for _ in range(reviewers + 1)])
        cases.append(case)
        texts[case.case] = text
    return cases, texts


def _case(document: OutputDocument, text: str, planted: LeakMark | None, names: list[str]) -> SampledCase:
    return SampledCase(
        case=names[0],
        items=tuple(names[1:]),
        file=document.file,
        position=document.position,
        stratum=document.stratum,
        characters=len(text),
        masks=masks(text),
        plant=planted,
    )


def _write_set(
    out: Path, number: int, cases: Sequence[SampledCase], texts: dict[str, str], chance: Random
) -> ReviewerSet:
    """Write one reviewer's folder: the items in an order of its own, and the page to review them on."""
    order = chance.sample(list(cases), len(cases))
    items = [{"id": case.items[number], "text": texts[case.case]} for case in order]
    data = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()
    name = sha256(data).hexdigest()[:16]
    folder = folder_of(out, number)
    write_atomic(folder / ITEMS, data, private=True)
    write_atomic(folder / PAGE, review_page(items, name, number + 1).encode(), private=True)
    return ReviewerSet(number + 1, name, digest(folder / ITEMS), digest(folder / PAGE))


def _names(chance: Random, count: int) -> Iterator[str]:
    """Random names without duplicates."""
    return iter(f"{n:08x}" for n in chance.sample(range(16**8), count))


_LABEL = re.compile(r"\[([A-Z][A-Z0-9_]*)\]")
_TRIES = 50


@dataclass(frozen=True, slots=True)
class Planted:
    """A document's text with the identifier in it, and the identifier's place (code points, `end` exclusive)."""

    text: str = field(repr=False)
    start: int
    end: int
    type: str


def plant(text: str, chance: Random) -> Planted:
    """Insert one identifier that is not in the text, in place of a mask of its kind or as a sentence.

    In place of a mask, its context is like that of a real miss. A text without masks gets a short sentence at the end
    of one of its lines.
    """
    kinds = _kinds()
    masks = [(m, group) for m in _LABEL.finditer(text) for group, kind in kinds.items() if m[1] in kind["masks"]]
    mask, group = chance.choice(masks) if masks else (None, chance.choice(sorted(kinds)))
    value = _value(kinds[group], text, chance)
    if mask is not None:
        start, end = mask.span()
        return Planted(text[:start] + value + text[end:], start, start + len(value), group)
    ends = [m.start() for m in re.finditer(r"(?<=\S)[ \t]*(?=\r?\n|\Z)", text)] or [len(text)]
    at = chance.choice(ends)
    before, after = kinds[group]["carrier"].split("{value}")
    head = text[:at] + (" " if at and not text[at - 1].isspace() else "") + before
    return Planted(head + value + after + text[at:], len(head), len(head) + len(value), group)


def masks(text: str) -> int:
    """The number of labels such as `[PERSON]` in a text."""
    return len(_LABEL.findall(text))


def _value(kind: dict[str, Any], text: str, chance: Random) -> str:
    value = ""
    for _ in range(_TRIES):
        digits = {f"d{n}": f"{chance.randrange(10 ** (n - 1), 10**n)}" for n in (2, 3)}
        value = chance.choice(kind["forms"]).format(
            first=chance.choice(_kinds()["PERSON"]["first"]),
            last=chance.choice(_kinds()["PERSON"]["last"]),
            place=chance.choice(_kinds()["LOCATION"]["places"]),
            month=f"{chance.randint(1, 12):02}",
            day=f"{chance.randint(1, 28):02}",
            year=chance.randint(1935, 2024),
            **digits,
        )
        if value not in text:
            break
    return value


@cache
def _kinds() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("incognote.evaluation.sampling").joinpath("plants.toml").read_text(encoding="utf-8"))
