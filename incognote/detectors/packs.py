"""Site packs: a folder of patterns, lists and examples by which a site teaches its own identifiers, without Python.

    pack.toml        name, version
    patterns.toml    [[rule]] tables, the format of the shipped rules (rules/pattern_rule.py)
    allow.txt        words and phrases that are never identifiers here, one a line
    deny.csv         type,value: always identifiers here
    staff.csv        name (or first_name,last_name): clinicians
    examples.jsonl   {"text", "spans": [{"start", "end", "type"} or {"text", "type"}], "keep": [words never to be found]}

Every file but pack.toml may be absent.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.detectors.known import KnownDetector, known_from
from incognote.detectors.known_tokens import tokens
from incognote.detectors.rules.view import Candidate, View
from incognote.errors import IncognoteError, SettingError, UsageError
from incognote.nouns import Known, Span, Text
from incognote.schemas.catalogue import catalogue

FILES = ("pack.toml", "patterns.toml", "allow.txt", "deny.csv", "staff.csv", "examples.jsonl")
_FOUND = 0.5

Finder = Callable[[View], Iterable[Candidate]]


@dataclass(frozen=True)
class Pack:
    """A loaded site pack.

    Attributes:
        version: a content hash over all its files, 16 hexadecimal digits.
        finders: what RulesDetector runs beside its own.
        known: the deny list and the staff, for KnownDetector.
        examples: the lines of examples.jsonl, checked for their shape.
    """

    name: str
    version: str
    finders: tuple[Finder, ...] = field(default=(), repr=False)
    known: tuple[Known, ...] = field(default=(), repr=False)
    allowed: frozenset[str] = field(default=frozenset(), repr=False)
    examples: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def allow(self, text_lower: str) -> bool:
        """A finding with exactly these words (lower case) is no identifier here."""
        return " ".join(text_lower.split()) in self.allowed


def new_pack(folder: str | Path) -> Path:
    """Write a small pack to edit, one that passes its own test.

    Raises:
        SettingError: the folder exists and is not empty, or cannot be written.
    """
    target = Path(folder).expanduser()
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise SettingError("the folder for a new pack must be empty or not exist")
        for name in FILES:
            target.joinpath(name).write_bytes(files("incognote.detectors").joinpath("pack_template", name).read_bytes())
    except OSError:
        raise SettingError("the folder for the new pack cannot be written") from None
    return target


def load_pack(folder: str | Path) -> Pack:
    """A pack from its folder.

    Raises:
        SettingError: a file is missing or malformed; the message names file and line, never a listed value.
    """
    root = Path(folder).expanduser()
    written = {name: text for name in FILES if (text := _text(root / name)) is not None}
    if "pack.toml" not in written:
        raise SettingError("a site pack is a folder with a pack.toml; make one with `incognote pack new`")
    about = _toml(written, "pack.toml")
    name = about.get("name")
    if not isinstance(name, str) or not name.strip():
        raise SettingError("pack.toml: name is missing")
    deny = tuple(_deny(written.get("deny.csv", "")))
    finders: list[Finder] = []
    if rules := _toml(written, "patterns.toml").get("rule", []):
        finders.append(_patterns(name, rules))
    if deny:
        finders.append(_denied(name, deny))
    digest = hashlib.sha256("".join(f"{key}\0{text}\0" for key, text in sorted(written.items())).encode())
    return Pack(
        name=name,
        version=digest.hexdigest()[:16],
        finders=tuple(finders),
        known=(*deny, *_staff(written.get("staff.csv", ""))),
        allowed=frozenset(" ".join(line.lower().split()) for line in written.get("allow.txt", "").splitlines() if line.strip() and line[0] != "#"),
        examples=tuple(_examples(written.get("examples.jsonl", ""))),
    )


def check_pack(pack: Pack | str | Path) -> list[str]:
    """What is wrong with a pack: that it cannot be loaded, or where its examples fail; empty if it is sound.

    An example passes if every span it names is found with its type (or one beneath it), if the pack's own rules and
    lists find nothing else, and if nothing at all finds one of its `keep` words. Messages hold offsets, no words.
    """
    if not isinstance(pack, Pack):
        try:
            pack = load_pack(pack)
        except IncognoteError as error:
            return [str(error)]
    from incognote.detectors.rules import RulesDetector

    rules, lists = RulesDetector((pack,)), KnownDetector(pack.known)
    failures: list[str] = []
    for number, example in enumerate(pack.examples, 1):
        text = Text(example["text"])
        found = [span for detector in (rules, lists) for span in detector.detect([text])[0] if span.score >= _FOUND]
        found = [span for span in found if not pack.allow(span.text.lower())]
        failures += [f"example {number}: {fault}" for fault in _faults(pack, text, example, found)]
    return failures


def _faults(pack: Pack, text: Text, example: Mapping[str, Any], found: list[Span]) -> Iterator[str]:
    wanted = [(start, end, one["type"]) for one in example.get("spans", ()) for start, end in [_place(text, one)]]
    types = catalogue()
    for start, end, kind in wanted:
        covered = {k for s in found if kind in types.lineage(s.type) for k in range(s.start, s.end)}
        if not all(k in covered for k in range(start, end) if text.content[k].isalnum()):
            yield f"{kind} at {start}..{end} is not found"
    own = [s for s in found if s.sources[0].startswith((f"rules:{pack.name}.", "known:"))]
    for span in own:
        if not any(start < span.end and span.start < end for start, end, _ in wanted):
            yield f"{span.type} at {span.start}..{span.end} is found and not expected"
    for words in example.get("keep", ()):
        start = text.content.find(words)
        if any(span.start < start + len(words) and start < span.end for span in found):
            yield f"the words to keep at {start}..{start + len(words)} are found"


def _place(text: Text, span: Mapping[str, Any]) -> tuple[int, int]:
    if "text" in span:
        start = text.content.index(span["text"])
        return start, start + len(span["text"])
    return span["start"], span["end"]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"{path.name} of a site pack cannot be read as UTF-8") from None


def _toml(written: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(written.get(name, ""))
    except tomllib.TOMLDecodeError:
        raise SettingError(f"{name} of a site pack is not valid TOML") from None


def _patterns(name: str, rules: list[dict[str, Any]]) -> Finder:
    from incognote.detectors.rules.pattern_rule import PatternRule
    from incognote.detectors.rules.patterns import PatternFinder

    try:
        built = [PatternRule.from_dict(rule, file=name) for rule in rules]
    except UsageError as error:
        raise SettingError(f"patterns.toml: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise SettingError("patterns.toml: a rule's value has the wrong type; see the shipped template") from None
    for rule in built:
        _known_type(rule.type, f"patterns.toml, rule {rule.id}")
    return PatternFinder(built).find


def _denied(name: str, deny: tuple[Known, ...]) -> Finder:
    """Exactly the listed words, in any case, as whole words."""
    index: dict[str, list[tuple[list[str], str]]] = {}
    for one in deny:
        lows = tokens(one.value).lows
        if lows:
            index.setdefault(lows[0], []).append((lows, one.type))

    def find(view: View) -> Iterator[Candidate]:
        seen = tokens(view.text)
        for i, low in enumerate(seen.lows):
            for lows, kind in index.get(low, ()):
                end = i + len(lows)
                if seen.lows[i:end] == lows and not any(len(seen.gap(k)) > 4 for k in range(i + 1, end)):
                    yield Candidate(seen.starts[i], seen.ends[end - 1], kind, 0.95, f"{name}.deny")

    return find


def _rows(text: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text), strict=True), 2):
            if None in row or None in row.values():
                raise SettingError(f"{name}, line {number}: the number of fields differs from the header's")
            yield number, {key.strip().lower(): value.strip() for key, value in row.items()}
    except csv.Error:
        raise SettingError(f"{name} of a site pack is not valid CSV") from None


def _deny(text: str) -> Iterator[Known]:
    for number, row in _rows(text, "deny.csv"):
        if not row.get("type") or not row.get("value"):
            raise SettingError(f"deny.csv, line {number}: the columns are type,value and neither may be empty")
        _known_type(row["type"], f"deny.csv, line {number}")
        yield Known(row["type"], row["value"])


def _staff(text: str) -> Iterator[Known]:
    for number, row in _rows(text, "staff.csv"):
        if not {"name", "last_name"} & row.keys():
            raise SettingError(f"staff.csv, line {number}: the header is name, or first_name,last_name")
        yield from (Known("CLINICIAN", known.value) for known in known_from({k: v for k, v in row.items() if "name" in k}))


def _examples(text: str) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            example = json.loads(line)
            content = Text(example["text"])
            for span in example.get("spans", ()):
                start, end = _place(content, span)
                Span(content, start, end, span["type"])
                _known_type(span["type"], f"examples.jsonl, line {number}")
            if not all(words in content.content for words in example.get("keep", ())):
                raise ValueError
        except SettingError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, UsageError):
            shape = '{"text", "spans": [{"start", "end", "type"}], "keep": []}'
            raise SettingError(f"examples.jsonl, line {number}: not {shape}, or a span that does not fit the text") from None
        yield example


def _known_type(kind: str, place: str) -> None:
    if kind not in catalogue():
        raise SettingError(f"{place}: there is no entity type {kind!r}; see `incognote policy explain`")
