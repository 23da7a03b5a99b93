"""The inputs of a run that are complete, so that a killed run can be resumed.

The journal is a hidden file in the output folder. Its first line holds what decides an output. Every other line is one
input whose output and held records are all on the disk. It holds keyed names, keyed digests and counts, and no PHI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedWriter
from itertools import groupby
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.files.atomic import unwritable, write_atomic
from incognote.files.digests import InputDigests, sha256_of
from incognote.files.inputs import Input
from incognote.files.outputs import Outputs
from incognote.files.sources import Source
from incognote.nouns import Result, Verdict
from incognote.runs.tally import Tally

JOURNAL = ".incognote.journal"
Told = Mapping[str, Any]
Release = Callable[[Input, Result], None]
Hold = Callable[[Input, Verdict, Result | None], None]


@dataclass(frozen=True, slots=True)
class FinishedInput:
    """An input that is complete.

    Args:
        source: its keyed name.
        digest: the keyed digest of its bytes.
        output: the name of its output; None if nothing of it was released.
        sha256: the hash of the output.
        counts: its tally, as returned by `Tally.as_dict`.
        block: the keyed digest of the names of all inputs of its block.
        image: the number under which the vault keeps what was removed from an image.
    """

    source: str
    digest: str
    output: str | None
    sha256: str
    counts: dict[str, Any]
    block: str
    image: str | None = None

    @property
    def released(self) -> int:
        """The number of records in its output."""
        return int(self.counts["outcomes"].get("release", 0))


class Journal:
    """Records each completed input, and knows those that an earlier run completed.

    Args:
        folder: the output folder.
        decides: what decides an output: names and hashes, ready for JSON.
        keyed: returns a keyed short name of a value that may be PHI.
        sources: all inputs of the run.
        shares: records of different inputs of a block may share requests, so only whole blocks are complete.

    Raises:
        UsageError: `resume` cannot continue the earlier run, since its settings or inputs differ. Or the folder holds
            an earlier run, and neither `resume` nor `overwrite` is set.
    """

    def __init__(
        self, folder: Path, decides: Told, keyed: Callable[[str], str], sources: Sequence[Source], *, resume: bool,
        overwrite: bool, shares: bool = False,
    ) -> None:  # fmt: skip
        self._folder, self._decides, self._keyed = folder, json.loads(json.dumps(decides)), keyed
        self.digests = InputDigests(sources, keyed)
        """The digests of all inputs."""
        blocks = groupby(sources, key=lambda source: source.block if shares else id(source))
        self._blocks = {source: block for block in (tuple(each) for _, each in blocks) for source in block}
        self._tallies: dict[Source, Tally] = {}
        self._unread: set[Source] = set()
        self._labels: dict[str, Any] = {}
        self._current: Source | None = None
        self._file: BufferedWriter | None = None
        self.finished: dict[Source, FinishedInput] = {}
        if resume:
            self._resume(sources)
        elif not overwrite and self._read()[1]:
            raise UsageError(
                f"--out: {folder} holds the outputs of an earlier run. Add --resume to continue it, or --overwrite to "
                "process all inputs again."
            )

    @property
    def earlier(self) -> Tally:
        """What the earlier run did with the completed inputs."""
        total = Tally()
        for one in self.finished.values():
            total.merge(Tally.of(one.counts))
        total.labels = self._labels
        return total

    def open(self) -> None:
        """Write the head and the inputs that are already complete, then keep the file open."""
        labels = [{"labels": self._labels}] if self._labels else []
        lines = [self._decides, *labels, *map(_line, self.finished.values())]
        write_atomic(self._folder / JOURNAL, "".join(json.dumps(line) + "\n" for line in lines).encode())
        self._file = (self._folder / JOURNAL).open("ab")

    def noting(self, outputs: Outputs, hold: Hold) -> tuple[Release, Hold]:
        """Wrap the two actions of a run, so that each is recorded afterwards."""

        def release(one: Input, result: Result) -> None:
            self._turn(one, outputs)
            outputs.release(one, result)
            self._count(one, result.verdict, result)

        def held(one: Input, verdict: Verdict, result: Result | None) -> None:
            if result is not None:  # else it was refused while it was read, ahead of the inputs before it
                self._turn(one, outputs)
            hold(one, verdict, result)
            self._count(one, verdict, result)

        return release, held

    def _turn(self, one: Input, outputs: Outputs) -> None:
        """Start the next input. Inputs are settled one after the other, so the previous one is complete."""
        if self._current is not None and one.source.file != self._current:
            outputs.finish()
            self._note(self._current, outputs)
        self._current = one.source.file

    def _count(self, one: Input, verdict: Verdict, result: Result | None) -> None:
        tally = self._tallies.setdefault(one.source.file, Tally())
        tally.read += 1
        tally.add(verdict, result.manifest if result is not None else {})

    def watched(self, inputs: Iterable[Input]) -> Iterator[Input]:
        """Yield the inputs as they come. An input that cannot be read to its end is tried again by a later run."""
        for one in inputs:
            if one.not_read:
                self._unread.add(one.source.file)
            yield one

    def close(self, outputs: Outputs) -> None:
        """Record the remaining inputs, once their outputs are at their targets."""
        for source in list(self._tallies):
            self._note(source, outputs)
        self.shut()

    def shut(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _note(self, source: Source, outputs: Outputs) -> None:
        tally = self._tallies.pop(source, None)
        if tally is None or source in self._unread or self._file is None:
            return
        digest = self.digests.of(source)
        if digest is None:  # it was modified meanwhile: the next run reads it again
            return
        name = outputs.name_of(source)
        output = name if name in outputs.written else None
        sha256 = sha256_of(self._folder / name) if output else ""
        told, image = tally.as_dict(), outputs.images.get(name)
        done = FinishedInput(self._name(source), digest, output, sha256, told, self._block(source), image)
        try:
            if tally.labels and not self._labels:
                self._labels = tally.labels
                self._file.write(json.dumps({"labels": self._labels}).encode() + b"\n")
            self._file.write(json.dumps(_line(done)).encode() + b"\n")
            self._file.flush()  # no fsync: a line lost in a power failure costs one input, done again
        except OSError as error:
            raise unwritable(error) from None

    def _resume(self, sources: Sequence[Source]) -> None:
        was, noted = self._read()
        if was is None:
            return
        if other := sorted(name for name in {*was, *self._decides} if was.get(name) != self._decides.get(name)):
            raise UsageError(
                f"--resume: the earlier run had other settings ({', '.join(other)}). Use the same options, or use "
                "--overwrite instead to process all inputs again."
            )
        for source in sources:
            before = noted.pop(self._name(source), None)
            if before is not None and before.digest == self.digests.of(source) and self._stands(before, source):
                self.finished[source] = before
        if noted:
            raise UsageError(
                f"--resume: some inputs of the earlier run ({len(noted):,}) were not given or are gone. Give the same "
                "inputs, or use --overwrite instead to process all inputs again."
            )
        whole = {source for source in self.finished if self.finished.keys() >= set(self._blocks[source])}
        self.finished = {source: before for source, before in self.finished.items() if source in whole}

    def _read(self) -> tuple[Told | None, dict[str, FinishedInput]]:
        """Return what decided the earlier run (None if there was none), and the inputs that it completed."""
        try:
            head, *lines = (self._folder / JOURNAL).read_bytes().splitlines()
            was: Told = json.loads(head)
            was["run"]
        except FileNotFoundError:
            return None, {}
        except OSError as error:
            raise UsageError(
                f"--out: {self._folder / JOURNAL} cannot be read: {error.strerror}. Make it readable, or choose "
                "another folder."
            ) from None
        except (ValueError, TypeError, KeyError):
            raise UsageError(
                f"--out: the journal {self._folder / JOURNAL} is damaged. Use --overwrite to process all inputs again."
            ) from None
        noted = dict[str, FinishedInput]()
        for line in lines:
            try:
                told = json.loads(line)
                if "labels" in told:
                    self._labels = told["labels"]
                else:
                    noted[told["source"]] = FinishedInput(**told)
            except (ValueError, TypeError, KeyError):  # cut off by a kill
                continue
        return was, noted

    def _stands(self, one: FinishedInput, source: Source) -> bool:
        intact = one.output is None or sha256_of(self._folder / one.output) == one.sha256
        return intact and one.block == self._block(source)

    def _block(self, source: Source) -> str:
        return self._keyed("block " + "\n".join(each.name for each in self._blocks[source]))

    def _name(self, source: Source) -> str:
        return self._keyed(f"source {source.name}")


def run_of(folder: Path) -> str | None:
    """Return the name under which the index keeps the answers of the run in a folder; None if there is none."""
    try:
        with (folder / JOURNAL).open("rb") as stream:
            return str(json.loads(stream.readline()).get("run"))
    except (OSError, ValueError, AttributeError):
        return None


def _line(one: FinishedInput) -> dict[str, Any]:
    return {name: getattr(one, name) for name in FinishedInput.__slots__}
