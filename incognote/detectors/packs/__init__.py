"""Site packs: a folder of patterns, lists and examples by which a site teaches incognote what only it knows.

    pack.toml        name and version; the only file that must be there
    patterns.toml    rules in the format of the shipped ones (rules/patterns/rule.py)
    allow.txt        stretches the rules find and should not, one a line
    deny.csv         type,value: always sought
    staff.csv        name[,role]: always sought, as clinicians
    examples.jsonl   {"text", "spans"}: what `incognote pack test` checks

A line that begins with `#` is a comment in all of them. The lists may hold PHI: no message and no repr shows them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from incognote.detectors.known import KnownDetector
from incognote.detectors.packs.reading import (
    Fault,
    PackExample,
    plain,
    read_allowed,
    read_denied,
    read_examples,
    read_head,
    read_rules,
    read_staff,
)
from incognote.detectors.rules import RulesDetector
from incognote.detectors.rules.patterns import PatternFinder
from incognote.detectors.rules.view import Candidate, View
from incognote.errors import SettingError, UsageError
from incognote.nouns import Known, Span, Text
from incognote.schemas.catalogue import catalogue

FILES = ("pack.toml", "patterns.toml", "allow.txt", "deny.csv", "staff.csv", "examples.jsonl")
_FOUND = 0.5  # from here on a span is found, below it doubtful
_TOLD = 10  # faults in one message


@dataclass(frozen=True)
class Pack:
    """The patterns and lists of one site. RulesDetector uses `finders` and `allow`, KnownDetector uses `known`.

    Attributes:
        name: as pack.toml has it; stands before the ids of its rules.
        label: the version the site gives it.
        version: SHA-256 (16 hexadecimal digits) over its files, names and contents.
        rules: how many rules its finders run.
        allowed: stretches in lower case.
        examples: for `check_pack`.
    """

    name: str
    label: str
    version: str
    finders: tuple[Callable[[View], Iterable[Candidate]], ...] = field(default=(), repr=False)
    rules: int = 0
    allowed: frozenset[str] = field(default=frozenset(), repr=False)
    known: tuple[Known, ...] = field(default=(), repr=False)
    examples: tuple[PackExample, ...] = field(default=(), repr=False)

    def allow(self, text_lower: str) -> bool:
        """Whether a stretch, given in lower case, is one of allow.txt."""
        return plain(text_lower) in self.allowed


@dataclass(frozen=True, slots=True)
class Failure:
    """Where an example and the detectors differ. `words` may be PHI and is not in `str` or `repr`."""

    line: int
    start: int
    end: int
    problem: str
    words: str = field(repr=False)

    def __str__(self) -> str:
        return f"examples.jsonl line {self.line}: characters {self.start} to {self.end}: {self.problem}"


def new_pack(folder: Path) -> None:
    """Write a skeleton whose every line is a comment, but for the name and version.

    Raises:
        UsageError: a file of a pack is there already (nothing is written then), or the folder cannot be written.
    """
    skeleton = files(__package__) / "skeleton"
    present = [name for name in FILES if (folder / name).exists()]
    if present:
        raise UsageError(f"the folder has {', '.join(present)} already: name another, so that nothing is lost")
    named = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")[:64] or "my-site"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            text = (skeleton / name).read_text(encoding="utf-8")
            with (folder / name).open("x", encoding="utf-8", newline="\n") as target:
                target.write(text.replace('"my-site"', f'"{named}"') if name == "pack.toml" else text)
    except OSError as error:
        raise UsageError(f"the pack cannot be written: {error.strerror}") from None


def load_pack(folder: Path | str) -> Pack:
    """A pack from its folder.

    Raises:
        SettingError: no such folder, no pack.toml, a file that is no part of a pack, or faults in its files; the
            message names file and line, never what stands there.
    """
    pack, faults = _load(Path(folder).expanduser())
    if pack is None or faults:
        more = f"; and {len(faults) - _TOLD} more" if len(faults) > _TOLD else ""
        raise SettingError("pack: " + "; ".join(faults[:_TOLD]) + more)
    return pack


def check_pack(pack: Pack | Path | str) -> list[str]:
    """What is wrong with a pack: its faults if it is a folder that cannot be loaded, else its failures as text."""
    if isinstance(pack, Pack):
        return [str(failure) for failure in failures(pack)]
    loaded, faults = _load(Path(pack).expanduser())
    return faults if loaded is None or faults else check_pack(loaded)


def failures(pack: Pack) -> list[Failure]:
    """Where the rules and the pack's lists together miss what its examples expect, or find more.

    Every character of an expected span must be found, by spans of which one has its type, a finer or a more general
    one. Stretches of letters and digits found beyond the expected spans are extra.
    """
    texts = [Text(example.text) for example in pack.examples]
    rules, known = RulesDetector([pack]).detect(texts), KnownDetector(pack.known).detect(texts)
    return [
        failure
        for example, by_rule, by_list in zip(pack.examples, rules, known, strict=True)
        for failure in _compare(example, [s for s in (*by_rule, *by_list) if s.score >= _FOUND])
    ]


def _compare(example: PackExample, found: Sequence[Span]) -> Iterator[Failure]:
    text = example.text
    covered = {n for span in found for n in range(span.start, span.end)}
    expected = {n for start, end, _ in example.spans for n in range(start, end)}
    for start, end, kind in example.spans:
        types = sorted({s.type for s in found if s.start < end and start < s.end})
        if not types:
            yield Failure(example.line, start, end, f"{kind} was missed", text[start:end])
            continue
        for low, high in _stretches(text, set(range(start, end)) - covered):
            yield Failure(example.line, low, high, f"part of the {kind} was missed", text[low:high])
        if not any(_akin(kind, other) for other in types):
            yield Failure(example.line, start, end, f"{kind} was found as {', '.join(types)}", text[start:end])
    for low, high in _stretches(text, covered - expected):
        sources = sorted({f"{s.type} by {s.sources[0]}" for s in found if s.start < high and low < s.end})
        yield Failure(example.line, low, high, f"extra ({', '.join(sources)})", text[low:high])


def _akin(one: str, other: str) -> bool:
    return one in catalogue().lineage(other) or other in catalogue().lineage(one)


def _stretches(text: str, offsets: set[int]) -> Iterator[tuple[int, int]]:
    """Runs of offsets that hold a letter or a digit."""
    for start in sorted(n for n in offsets if n - 1 not in offsets):
        end = start
        while end in offsets:
            end += 1
        if any(c.isalnum() for c in text[start:end]):
            yield start, end


def _load(folder: Path) -> tuple[Pack | None, list[str]]:
    """The pack, as far as its files can be read, and their faults."""
    try:
        contents = _contents(folder)
    except OSError as error:
        return None, [f"the folder cannot be read ({error.strerror}); check `packs` (--pack, INCOGNOTE_PACKS)"]
    if "pack.toml" not in contents:
        return None, ["the folder has no pack.toml; `incognote pack new` writes one"]
    faults = _strangers(folder)
    digest = hashlib.sha256()
    texts: dict[str, str] = {}
    for name, content in sorted(contents.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
        try:
            texts[name] = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            faults.append(f"{name} line {line}: is not UTF-8 text; save it as UTF-8")

    def fault(name: str) -> Fault:
        return lambda line, problem: faults.append(name + (f" line {line}" if line else "") + f": {problem}")

    name, label = read_head(texts["pack.toml"], fault("pack.toml")) if "pack.toml" in texts else ("", "")
    rules, retypes = read_rules(texts.get("patterns.toml", ""), name or "pack", fault("patterns.toml"))
    allowed = read_allowed(texts.get("allow.txt", ""))
    known = (
        *read_denied(texts.get("deny.csv", ""), fault("deny.csv")),
        *read_staff(texts.get("staff.csv", ""), fault("staff.csv")),
    )
    for value in {plain(one.value.lower()) for one in known} & set(allowed):
        fault("allow.txt")(allowed[value], "stands in deny.csv or staff.csv too, which are stronger")
    examples = tuple(read_examples(texts.get("examples.jsonl", ""), fault("examples.jsonl")))
    finders = (PatternFinder(rules, retypes).find,) if rules else ()
    version = digest.hexdigest()[:16]
    return Pack(name, label, version, finders, len(rules), frozenset(allowed), known, examples), faults


def _contents(folder: Path) -> dict[str, bytes]:
    present = {entry.name for entry in folder.iterdir()}
    return {name: (folder / name).read_bytes() for name in FILES if name in present}


def _strangers(folder: Path) -> list[str]:
    """Files that look like a part of a pack and would be left unread: a list nobody reads protects nobody."""
    stems, endings = {Path(name).stem for name in FILES}, {Path(name).suffix for name in FILES}
    strange = [
        entry
        for entry in folder.iterdir()
        if entry.name not in FILES
        and not entry.name.startswith(".")
        and not entry.name.endswith("~")
        and entry.stem.lower() != "readme"
        and (entry.stem.lower() in stems or entry.suffix.lower() in endings)
    ]
    if not strange:
        return []
    return [f"{len(strange)} file(s) of the folder would not be read; the files of a pack are {', '.join(FILES)}"]
