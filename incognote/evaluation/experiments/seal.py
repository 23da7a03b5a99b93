"""The sealed log of a test split: who opened it, when, and why, in a hash chain that shows changes.

The log is `NAME.openings.jsonl` next to the corpus, with one line per opening. Each line holds the SHA-256 of the line
before it. So a line that is altered, removed, or inserted breaks the chain. Lines removed from the end do not break it,
but cells record the last line that they saw, which reveals such removals. The log keeps honest people honest: anyone
with write access to the disk can forge all of it.
"""

from __future__ import annotations

import getpass
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from incognote.errors import IncognoteError
from incognote.files.atomic import exclusive, unwritable

_START = "0" * 64


@dataclass(frozen=True, slots=True)
class Opening:
    """One line: `number` from 1, `time` in UTC (ISO 8601), `previous` the hash of the line before."""

    number: int
    time: str
    who: str
    spec: str
    purpose: str
    previous: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


class Seal:
    """The log of one corpus.

    Args:
        corpus: the annotated file or folder.
    """

    def __init__(self, corpus: Path) -> None:
        corpus = corpus.resolve()  # the log is next to the corpus itself, even if reached by a link
        self.path = corpus.with_name(f"{corpus.name}.openings.jsonl")

    @property
    def sealed(self) -> bool:
        """Whether there is a log, because the corpus was opened as a test split before."""
        return self.path.exists()

    def openings(self) -> list[Opening]:
        """All openings, oldest first; empty if it was never opened.

        Raises:
            IncognoteError: the log was altered, or cannot be read.
        """
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError):
            raise IncognoteError("The log of openings of a test split cannot be read. Check its permissions.") from None
        found: list[Opening] = []
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                claimed = row.pop("hash")
                opening = Opening(**row)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise _altered(number) from None
            before = found[-1].hash if found else _START
            if claimed != opening.hash or opening.previous != before or opening.number != number:
                raise _altered(number)
            found.append(opening)
        return found

    def open(self, spec: str, purpose: str, who: str | None = None) -> Opening:
        """Log an opening, before the split is read.

        Args:
            spec: the hash of the experiment; "" outside an experiment.
            purpose: why it is opened.
            who: by default, the user of this process.

        Raises:
            IncognoteError: the log was altered or cannot be written. The split must not be read then.
        """
        with exclusive(self.path.parent, f".{self.path.name}.lock"):
            before = self.openings()
            time = datetime.now(UTC).isoformat(timespec="seconds")
            last = before[-1].hash if before else _START
            made = Opening(len(before) + 1, time, who or _user(), spec, purpose, last)
            line = json.dumps({**asdict(made), "hash": made.hash})
            try:
                with self.path.open("a", encoding="utf-8") as out:
                    out.write(line + "\n")
            except OSError as error:
                raise unwritable(error) from None
        return made

    def remembers(self, number: int, hash_: str) -> None:
        """Check that the log still has a line that was seen in it.

        Raises:
            IncognoteError: the line is missing.
        """
        found = self.openings()
        if len(found) < number or found[number - 1].hash != hash_:
            raise _altered(number)


def log_opening(corpus: str | Path, purpose: str) -> None:
    """Log an opening outside an experiment, before a corpus is read. Does nothing if the corpus is not sealed.

    Raises:
        IncognoteError: as for `Seal.open`.
    """
    seal = Seal(Path(corpus))
    if seal.sealed:
        seal.open("", purpose)


def opened(tests: Mapping[str, Path]) -> dict[str, int]:
    """How often test splits were opened, by the given names."""
    return {name: len(Seal(path).openings()) for name, path in tests.items()}


def _altered(number: int) -> IncognoteError:
    return IncognoteError(
        f"The log of openings of a test split was changed at line {number}. Restore it before you use the split again."
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in this container
        return "unknown"
