"""Read the files of a site pack. Every fault names the file and the line, never the content of a list."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from incognote.detectors.known import KnownDetector
from incognote.detectors.rules.patterns.context import expand
from incognote.detectors.rules.patterns.rule import PatternRule, Retype, shipped_macros
from incognote.detectors.rules.view import TOKEN
from incognote.errors import UsageError
from incognote.nouns import Known, Text
from incognote.schemas.catalogue import catalogue

MOST_WAYS = 1_000_000  # at worst about 20 ms per attempt
_QUANTIFIER = re.compile(r"(?:([*+])|(\?)|\{(?=[\d,])(\d*)(?:(,)(\d*))?\})([+?]?)")
_HEAD = re.compile(
    r"\(\?(?:(?P<flags>[a-zA-Z-]+\))|(?P<once>[=!>]|<[=!])|P=\w+(?=\))|P<\w+>|\(\w+\)|[a-zA-Z]*(?:-[a-zA-Z]+)?:)|\("
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_COMMENT = re.compile(r"\(\?#[^)]*\)")
Fault = Callable[[int | None, str], None]
"""Takes the line number (None: the whole file) and a description of the problem."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_AT_LINE = re.compile(r"\(at line (\d+)")
_LISTS = frozenset("labels words then chunk before near after not_before not_near not_after validators".split())
_CONTEXTS = ("before", "near", "after", "not_before", "not_near", "not_after")
_TRIGGERS = ("words", "then", "chunk")
_SWITCHES = ("code", "case", "more", "wrap")
_LEAST = 0.3  # candidates below this score are dropped (detectors/__init__.py)
_WIDEST = 512


def check_ways(pattern: str) -> None:
    """Reject a valid pattern that may be slow. The message says what to write instead.

    Raises:
        UsageError: an unbounded quantifier (`*`, `+`, `{2,}`), or more than MOST_WAYS ways to match.
    """
    ways, _ = _alternatives(pattern, 0)
    _bounded(ways)


def _bounded(ways: int) -> int:
    if ways > MOST_WAYS:
        raise UsageError(
            "can match in too many ways. Bound its quantifiers, make inner ones possessive ({1,9}+ or ?+), or write "
            "[ab] for (a|b)"
        )
    return ways


def _alternatives(pattern: str, at: int) -> tuple[int, int]:
    """Return the number of ways to match from `at` to the end of the group (or of the pattern), and that end."""
    total, ways = 0, 1
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            total, ways, at = total + ways, 1, at + 1
            continue
        atom, at = _atom(pattern, at)
        if quantifier := _QUANTIFIER.match(pattern, at):
            atom, at = _repeated(atom, quantifier), quantifier.end()
        ways = _bounded(ways * atom)
    return _bounded(total + ways), at


def _atom(pattern: str, at: int) -> tuple[int, int]:
    if pattern[at] == "\\":
        return 1, at + 2
    if whole := (_CLASS if pattern[at] == "[" else _COMMENT).match(pattern, at):
        return 1, whole.end()
    head = _HEAD.match(pattern, at)
    if head is None:
        return 1, at + 1
    if head["flags"]:
        return 1, head.end()
    ways, end = _alternatives(pattern, head.end())
    return 1 if head["once"] else ways, end + 1


def _repeated(ways: int, quantifier: re.Match[str]) -> int:
    star, question, low, comma, high, mode = quantifier.groups()
    if star or (comma and not high):
        raise UsageError("has an unbounded quantifier. Write a bound: {0,40} for *, {1,40} for +")
    least = 0 if question else int(low or 0)
    most = 1 if question else int(high) if comma else least
    if ways > 1 and most > MOST_WAYS.bit_length():
        return _bounded(MOST_WAYS + 1)
    repeated = (most - least + 1) * ways**most if most else 1
    return 1 if mode == "+" and _bounded(repeated) else repeated


@dataclass(frozen=True, slots=True)
class PackExample:
    """One line of examples.jsonl: a text and all spans expected in it, as (start, end, type)."""

    line: int
    text: str = field(repr=False)
    spans: tuple[tuple[int, int, str], ...]


def read_head(text: str, fault: Fault) -> tuple[str, str]:
    """Return the name and version from pack.toml. A missing or invalid value is ""."""
    written = _toml(text, fault)
    if written is None:
        return "", ""
    name, version = written.get("name"), written.get("version")
    if not isinstance(name, str) or not _NAME.match(name):
        fault(None, "needs name: letters, digits, - and _ in quotes")
        name = ""
    if not isinstance(version, str) or not version:
        fault(None, 'needs version, in quotes, such as "1"')
        version = ""
    if set(written) - {"name", "version"}:
        fault(None, "has keys other than name and version. Put rules in patterns.toml")
    return name, version


def read_rules(text: str, pack: str, fault: Fault) -> tuple[tuple[PatternRule, ...], tuple[Retype, ...]]:
    """Return the `[[rule]]` and `[[retype]]` tables of patterns.toml as objects of the engine."""
    written = _toml(text, fault) or {}
    rules: list[PatternRule] = []
    retypes: list[Retype] = []
    if set(written) - {"rule", "retype"}:
        fault(None, "has keys outside [[rule]] and [[retype]]")
    for kind, build in (("rule", _rule), ("retype", _retype)):
        tables = written.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            fault(None, f"write [[{kind}]], in two brackets, before each {kind}")
            continue
        lines = [n for n, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[\[\s*{kind}\s*\]\]", line)]
        for number, table in enumerate(tables):
            line = lines[number] if len(lines) == len(tables) else None
            try:
                made = build(table, pack)
            except (UsageError, TypeError, ValueError, OverflowError, RecursionError) as error:
                fault(line, str(error) if isinstance(error, UsageError) else f"{kind} {number + 1} cannot be read")
                continue
            if isinstance(made, Retype):
                retypes.append(made)
            elif made.id in {rule.id for rule in rules}:
                fault(line, f"rule {made.id}: another rule has this id")
            else:
                rules.append(made)
    return tuple(rules), tuple(retypes)


def _rule(table: Mapping[str, Any], pack: str) -> PatternRule:
    if not isinstance(table.get("id"), str) or not _NAME.match(table["id"]):
        raise UsageError("a rule needs an id of letters, digits, - and _, in quotes")
    name = f"rule {pack}.{table['id']}"
    for key in sorted(_LISTS & set(table)):
        if not isinstance(table[key], list) or not all(isinstance(word, str) and word for word in table[key]):
            raise UsageError(f"{name}: {key} must be a list of words in quotes")
    for key in _SWITCHES:
        if not isinstance(table.get(key, False), bool):
            raise UsageError(f"{name}: {key} must be true or false")
    for key in ("score", "boosted"):
        if isinstance(table.get(key, 0.0), bool) or not isinstance(table.get(key, 0.0), (int, float)):
            raise UsageError(f"{name}: {key} must be a number between 0 and 1")
    window = table.get("window", 48)
    if isinstance(window, bool) or not isinstance(window, int) or not 0 < window <= _WIDEST:
        raise UsageError(f"{name}: window must be a number of characters up to {_WIDEST}")
    _check_digits(table.get("digits", []), name)
    rule = PatternRule.from_dict(table, file=pack)
    _check_type(rule.type, name)
    if max(rule.score, rule.boosted) < _LEAST:
        raise UsageError(f"{name}: score must be at least {_LEAST}. Lower scores are ignored")
    for key in _TRIGGERS:
        for word in table.get(key, ()):
            plain = word if len(word) == 1 else word.removesuffix("?")
            if not word.startswith("{") and (plain != plain.lower() or not TOKEN.fullmatch(plain)):
                raise UsageError(f"{name}: {key} must contain only single lowercase words or symbols")
    if any(not label for label in rule.labels):
        raise UsageError(f"{name}: a label must have a letter or a digit")
    _check_speed([table["pattern"], *(part for key in _CONTEXTS for part in table.get(key, ()))], name)
    return rule


def _retype(table: Mapping[str, Any], pack: str) -> Retype:
    name = "a retype"
    if set(table) - {"of", "to", "before", "score"} or not {"of", "to", "before"} <= set(table):
        raise UsageError(f"{name}: needs of, to, and before. score is optional")
    if not isinstance(table["before"], list) or not all(isinstance(part, str) and part for part in table["before"]):
        raise UsageError(f"{name}: before must be a list of words in quotes")
    made = Retype.from_dict(table, file=pack)
    if not 0 <= made.score <= 1:
        raise UsageError(f"{name}: score must be a number between 0 and 1")
    _check_type(made.of, name)
    _check_type(made.to, name)
    _check_speed(table["before"], name)
    return made


def _check_digits(value: Any, name: str) -> None:
    lengths = value.split("-") if isinstance(value, str) else value
    if not isinstance(lengths, list) or not all(_is_length(one) for one in lengths) or len(lengths) > 24:
        raise UsageError(f'{name}: digits must be a list of lengths such as [6, 7], or a range such as "6-8", up to 24')
    if isinstance(value, str) and not (len(lengths) < 3 and int(lengths[0]) <= int(lengths[-1])):
        raise UsageError(f'{name}: digits must be a range from short to long, such as "6-8"')


def _is_length(one: Any) -> bool:
    if isinstance(one, str):
        return one.isascii() and one.isdigit() and 0 < int(one) <= 24
    return isinstance(one, int) and not isinstance(one, bool) and 0 < one <= 24


def _check_type(type: str, name: str) -> None:
    if type not in catalogue():
        raise UsageError(
            f"{name}: unknown type. Use one such as MEDICAL_RECORD_NUMBER, or name the policy that defines it in "
            "[entities] (--policy)"
        )


def _check_speed(patterns: list[str], name: str) -> None:
    """Check only the pack's own patterns: the shipped macros are known to be fast."""
    for pattern in patterns:
        try:
            check_ways(expand(pattern, dict.fromkeys(shipped_macros(), "x")))
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None


def _toml(text: str, fault: Fault) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        if at:
            fault(int(at[1]), "is not valid TOML here")
        else:  # tomllib noticed the error only at the end of the document
            fault(len(text.splitlines()), "is not valid TOML: a string or bracket is not closed, here or above")
        return None


def read_allowed(text: str) -> dict[str, int]:
    """Return the entries of allow.txt, normalized by `plain`, with their line numbers."""
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    return {plain(line.lower()): n for n, line in lines if line and not line.startswith("#")}


def plain(text: str) -> str:
    """Normalize white space to single spaces, and apostrophes to one kind, so that entries match across line breaks."""
    return " ".join(text.replace("’", "'").split())


def read_denied(text: str, fault: Fault) -> list[Known]:
    """Return the rows type,value of deny.csv."""
    found: list[tuple[int, Known]] = []
    for line, cells in _rows(text, ("type", "value"), fault):
        if len(cells) != 2 or not all(cells):
            fault(line, "needs type,value. Put a value with a comma in double quotes")
        elif cells[0] not in catalogue():
            fault(line, "its first column is not an entity type, such as HOSPITAL")
        else:
            found.append((line, Known(cells[0], cells[1])))
    return _findable(found, fault)


def read_staff(text: str, fault: Fault) -> list[Known]:
    """Return the rows name[,role] of staff.csv, as clinicians."""
    found: list[tuple[int, Known]] = []
    for line, cells in _rows(text, ("name", "role"), fault):
        if len(cells) > 2 or not cells[0]:
            fault(line, "needs name or name,role. Put a name with a comma in double quotes")
        elif ";" in cells[0]:
            fault(line, "its columns are separated by semicolons. Use commas")
        else:
            found.append((line, Known("CLINICIAN", cells[0])))
    return _findable(found, fault)


def _findable(rows: list[tuple[int, Known]], fault: Fault) -> list[Known]:
    """Return the values. One that would not be found in a text of its own is a fault: a site must not rely on it."""
    known = [one for _, one in rows]
    detector = KnownDetector(known)
    as_written = detector.detect([Text(one.value) for one in known])
    capitalised = detector.detect([Text(one.value.title()) for one in known])
    for (line, _), one, other in zip(rows, as_written, capitalised, strict=True):
        if not one and not other:
            fault(line, "would never be found. It is too short, or lists do not support its type")
    return known


def _rows(text: str, head: tuple[str, ...], fault: Fault) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their line numbers, without comments, blank lines and the header (which is optional)."""
    lines = ("\n" if line.lstrip().startswith("#") else line + "\n" for line in text.splitlines())
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    first = True
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            heading, first = first and [c.lower() for c in cells] in (list(head), list(head[:1])), False
            if not heading:
                yield reader.line_num, cells
    except csv.Error:
        fault(reader.line_num, "is not valid CSV here (a quote is not closed, or text follows a closing quote)")


def read_examples(text: str, fault: Fault) -> Iterator[PackExample]:
    """Yield the lines of examples.jsonl. A span is offsets and type, or words and type (everywhere they occur)."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield _example(line, number)
        except UsageError as error:
            fault(number, str(error))


def _example(line: str, number: int) -> PackExample:
    try:
        written = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError("is not JSON. Write one example per line") from None
    if not isinstance(written, dict) or not isinstance(written.get("text"), str) or not written["text"]:
        raise UsageError('needs "text"')
    if not isinstance(written.get("spans"), list):
        raise UsageError('needs "spans", a list ([] if nothing should be found)')
    text = written["text"]
    spans = {span for n, raw in enumerate(written["spans"], 1) for span in _spans(raw, text, f"span {n}")}
    return PackExample(number, text, tuple(sorted(spans)))


def _spans(raw: Any, text: str, name: str) -> list[tuple[int, int, str]]:
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str) or raw["type"] not in catalogue():
        raise UsageError(f'{name} needs "type", an uppercase entity type such as HOSPITAL')
    words, start, end = raw.get("text"), raw.get("start"), raw.get("end")
    if words is not None and not (isinstance(words, str) and words):
        raise UsageError(f'{name}: "text" must be a string that is not empty')
    if start is None and end is None and words:
        places = [(m.start(), m.end(), raw["type"]) for m in re.finditer(re.escape(words), text)]
        if not places:
            raise UsageError(f"{name}: its \"text\" does not occur in the example")
        return places
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise UsageError(f'{name} needs "start" and "end" within the text, or "text"')
    if words is not None and text[start:end] != words:
        raise UsageError(f"{name}: its \"text\" is not at its offsets")
    return [(start, end, raw["type"])]
