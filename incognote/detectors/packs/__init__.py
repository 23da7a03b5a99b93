"""Site packs: folders of patterns, lists and examples with which a site adds its own identifiers.

    pack.toml        name and version; the only required file
    patterns.toml    rules in the format of the shipped ones (rules/patterns/rule.py)
    allow.txt        words that the rules find but should not, one entry per line
    deny.csv         type,value: always searched for
    staff.csv        name[,role]: always searched for, as clinicians
    examples.jsonl   {"text", "spans"}: checked by `incognote pack test`

In all of them, a line that begins with `#` is a comment. The lists may hold PHI, so no message and no repr shows them.
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
_FOUND = 0.5  # a span with at least this score is found; below it, doubtful
_TOLD = 10  # maximum number of faults in one message


@dataclass(frozen=True)
class Pack:
    """The patterns and lists of one site. RulesDetector uses `finders` and `allow`, and KnownDetector uses `known`.

    Attributes:
        name: the name in pack.toml; the prefix of the rule ids.
        label: the version that the site wrote in pack.toml.
        version: the SHA-256 (16 hexadecimal digits) of the names and contents of its files.
        rules: the number of rules that its finders run.
        allowed: the entries of allow.txt in lower case.
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
        """Whether a text, given in lower case, is an entry of allow.txt."""
        return plain(text_lower) in self.allowed


@dataclass(frozen=True, slots=True)
class Failure:
    """A difference between an example and the detectors' spans. `words` may be PHI and is not in `str` or `repr`."""

    line: int
    start: int
    end: int
    problem: str
    words: str = field(repr=False)

    def __str__(self) -> str:
        return f"examples.jsonl line {self.line}: characters {self.start} to {self.end}: {self.problem}"


def new_pack(folder: Path) -> None:
    """Write a skeleton pack. Every line is a comment, except for the name, the version and the column headers.

    Raises:
        UsageError: a file of a pack already exists (then nothing is written), or the folder is not writable.
    """
    skeleton = files(__package__) / "skeleton"
    present = [name for name in FILES if (folder / name).exists()]
    if present:
        raise UsageError(f"The folder already has {', '.join(present)}. Choose another folder.")
    named = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")[:64] or "my-site"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            text = (skeleton / name).read_text(encoding="utf-8")
            with (folder / name).open("x", encoding="utf-8", newline="\n") as target:
                target.write(text.replace('"my-site"', f'"{named}"') if name == "pack.toml" else text)
    except OSError as error:
        raise UsageError(f"The pack cannot be written: {error.strerror}.") from None


def load_pack(folder: Path | str) -> Pack:
    """Load a pack from its folder.

    Raises:
        SettingError: there is no such folder or no pack.toml, a file is not part of a pack, or a file has faults. The
            message names the file and the line, never the content.
    """
    pack, faults = _load(Path(folder).expanduser())
    if pack is None or faults:
        more = f"; and {len(faults) - _TOLD} more" if len(faults) > _TOLD else ""
        raise SettingError("pack: " + "; ".join(faults[:_TOLD]) + more)
    return pack


def check_pack(pack: Pack | Path | str) -> list[str]:
    """Return the problems of a pack: its faults if the folder cannot be loaded, else its failures as text."""
    if isinstance(pack, Pack):
        return [str(failure) for failure in failures(pack)]
    loaded, faults = _load(Path(pack).expanduser())
    return faults if loaded is None or faults else check_pack(loaded)


def failures(pack: Pack) -> list[Failure]:
    """Return the differences between the pack's examples and the spans found by the rules and the pack's lists.

    Every character of an expected span must be found, and one of the found spans must have its type, a more specific
    type, or a more general one. Letters and digits found outside the expected spans are extra.
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
    """Yield runs of offsets that contain a letter or a digit."""
    for start in sorted(n for n in offsets if n - 1 not in offsets):
        end = start
        while end in offsets:
            end += 1
        if any(c.isalnum() for c in text[start:end]):
            yield start, end


def _load(folder: Path) -> tuple[Pack | None, list[str]]:
    """Return the pack, as far as its files can be read, and the faults of the files."""
    try:
        contents = _contents(folder)
    except OSError as error:
        return None, [f"the folder {folder} cannot be read: {error.strerror}. Check the path (--pack, INCOGNOTE_PACKS)"]
    if "pack.toml" not in contents:
        return None, ["the folder has no pack.toml. To create one, run: incognote pack new"]
    faults = _strangers(folder)
    digest = hashlib.sha256()
    texts: dict[str, str] = {}
    for name, content in sorted(contents.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
        try:
            texts[name] = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            faults.append(f"{name} line {line}: is not UTF-8 text. Save it as UTF-8")

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
        fault("allow.txt")(allowed[value], "is also in deny.csv or staff.csv, which take precedence")
    examples = tuple(read_examples(texts.get("examples.jsonl", ""), fault("examples.jsonl")))
    finders = (PatternFinder(rules, retypes).find,) if rules else ()
    version = digest.hexdigest()[:16]
    return Pack(name, label, version, finders, len(rules), frozenset(allowed), known, examples), faults


def _contents(folder: Path) -> dict[str, bytes]:
    present = {entry.name for entry in folder.iterdir()}
    return {name: (folder / name).read_bytes() for name in FILES if name in present}


def _strangers(folder: Path) -> list[str]:
    """Report files that look like part of a pack but would not be read: an unread list protects no one."""
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
    return [f"the folder has {len(strange)} other file(s), which are not read. A pack has {', '.join(FILES)}"]
