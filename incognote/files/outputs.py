"""Outputs for released records: one per source, in the same format, written completely or not at all."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType, TracebackType

from incognote.errors import UsageError
from incognote.files.atomic import LOCK, AtomicFile, exclusive, is_stream, require_writable, sweep, unwritable
from incognote.files.inputs import Input
from incognote.files.sources import STDIN, Source, Sources
from incognote.files.writing import OutputFile
from incognote.formats.registry import OTHER, name_of, suffix_of
from incognote.keys import Keyring
from incognote.nouns import DerivedKind, Result

MANIFEST = "manifest.json"
DERIVED: Mapping[DerivedKind, str] = MappingProxyType({
    "text": ".txt", "hocr": ".hocr", "pdf": ".pdf", "srt": ".srt", "vtt": ".vtt", "json": ".json",
})  # fmt: skip
"""The suffix of each kind of file that is derived from redacted pages and muted recordings."""
_IN_ARCHIVE = ".incognote-member"  # never appears, since a file in an archive is written under a temporary name
_NUMBERED = re.compile(r"(?<=^[0-9a-f]{24})\.[0-9a-f]{24}(?=\.|$)")
_RETRIED = re.compile(r"\.retry-([0-9]{1,9})(?=\.|$)")


@dataclass(frozen=True, slots=True)
class Place:
    """The paths that a run writes to.

    Attributes:
        target: the file or folder that was named.
        folder: the folder that is written into.
        manifest: the run's manifest, beside the outputs.
        is_file: whether `target` is one output file.
        retry: the number of this retry into the folder, from 1; 0 for a run of its own.
    """

    target: Path
    folder: Path
    manifest: Path
    is_file: bool
    retry: int = 0

    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the exclusive lock for this target. Runs that write different files into one folder do not conflict.

        Raises:
            IncognoteError: another run is writing there.
        """
        mine = f".incognote-{sha256(os.fsencode(self.target.name)).hexdigest()[:16]}.lock" if self.is_file else LOCK
        return exclusive(self.folder, mine)

    @property
    def quarantine(self) -> Path:
        """The default quarantine folder: beside the target, never inside."""
        target = self.target if self.target.name not in ("", "..") else Path(os.path.abspath(self.target))
        return target.with_name(f"{target.name}-quarantine")


def place(out: str, sources: Sources) -> Place:
    """Interpret `--out` for these sources: a file for one file in the same format, or else a folder.

    Raises:
        UsageError: a file name for several inputs or in another format. Or the path is an input, is in an input folder,
            or is the folder that contains an input file.
    """
    target = Path(out)
    if is_stream(target):
        raise UsageError("--out must be a folder or a file, not a device or a pipe.")
    suffix = suffix_of(target.name)
    is_file = bool(suffix) and not target.is_dir()
    if is_file and (len(sources.files) > 1 or sources.folders):
        raise UsageError(f"--out: {target} looks like a file, but there are several inputs. Name a folder.")
    only = sources.files[0]
    if is_file and name_of(suffix) != only.kind != OTHER and only.path is not None:
        raise UsageError(
            f"--out: {target} has another format than the input. incognote does not convert formats: use the suffix "
            "of the input."
        )
    if not is_file and target.exists() and not target.is_dir():
        raise UsageError(f"--out must be a folder: {target} is a file of an unknown format. Choose another path.")
    folder = target.parent if is_file else target
    manifest = folder / (f"{target.name}.{MANIFEST}" if is_file else MANIFEST)
    found = Place(target, folder, manifest, is_file)
    _keep_apart(found, sources)
    return found


def beside(folder: str | Path) -> Place:
    """Return a folder to write into without changing existing files. All names contain the number of a new retry.

    Raises:
        UsageError: the path is not a folder.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise UsageError(f"--out must be a folder: {target} is a file. Choose another path.")
    there = [int(n) for path in target.rglob("*.retry-*") for n in _RETRIED.findall(path.name)]
    retry = 1 + max(there, default=0)
    return Place(target, target, target / f"manifest.retry-{retry}.json", is_file=False, retry=retry)


def _keep_apart(found: Place, sources: Sources) -> None:
    """Make sure that released records never mix with originals."""
    real = Path(os.path.realpath(found.target))
    for folder in sources.folders:
        if real.is_relative_to(os.path.realpath(folder)):
            raise UsageError(
                f"--out: {found.target} is inside an input folder. Choose a folder outside, so that a later run does "
                "not read outputs as inputs."
            )
    for source in sources.files:
        if source.path is None:
            continue
        original = Path(os.path.realpath(source.path))
        if original == real:
            raise UsageError(f"--out: {found.target} is an input. Choose another path.")
        if not found.is_file and original.parent == real:
            raise UsageError(f"--out: {found.target} is the folder of an input file. Choose another folder.")


class Outputs:
    """Writes released records. Use it as a context manager, so that an interrupted file leaves nothing behind.

    Args:
        where: from `place`.
        sources: all sources of the run, so that duplicate names are found before the run starts.
        keyring: names outputs by keyed hash of the input's name, since file names can name patients.
        keep_names: outputs keep the names and folders of the inputs.
        overwrite: replace outputs that exist.
        complete: the names of the outputs that stay unchanged, and the numbers of their records, by source.
        also: what is derived from the redacted pages of a record, and written beside its output.

    Attributes:
        written: output name → number of its records, in the order of the sources.
        derived: the name of each derived file, and that of its output. Files within an archive are left out.
        without_pages: the number of released records from which nothing can be derived.
        images: output name → the number under which the vault keeps what was removed from the image.

    Raises:
        UsageError: two inputs have the same name, or outputs exist.
    """

    def __init__(
        self,
        where: Place,
        sources: Sequence[Source],
        keyring: Keyring,
        *,
        keep_names: bool = False,
        overwrite: bool = False,
        complete: Mapping[Source, tuple[str, int]] = MappingProxyType({}),
        also: Sequence[DerivedKind] = (),
    ) -> None:
        self.where = where
        self.written: dict[str, int] = {}
        self.derived: dict[str, str] = {}
        self.without_pages = 0
        self._keyring, self._keep, self._also = keyring, keep_names, also
        self.images: dict[str, str] = {}
        self._images: dict[Source, str] = {}
        self._open: list[OutputFile] = []  # the current output; then, if it is an archive, the current file in it
        names = [self.name_of(source) for source in sources if not source.unread]
        if len(set(names)) < len(names):
            raise UsageError("Two inputs have the same name. Name the folder above them, or process them separately.")
        if self._keep and MANIFEST in names:
            raise UsageError(
                f"An input is named {MANIFEST}, like the manifest of the run. Rename it, or remove --keep-names."
            )
        self._names = names
        self._stems = Counter(map(_stem, names))
        beside = [self._beside(name, kind) for name in names for kind in also]
        if self._keep and len({*names, *beside}) < len(names) + len(beside):
            raise UsageError("--also: two outputs would have the same name. Remove --keep-names, or rename an input.")
        self._order = {source.name: number for number, source in enumerate(sources)}
        self._number = {name: self._order[source.name] for source, (name, _) in complete.items()}
        self.written.update(complete.values())
        self.derived |= {
            each: name for name in self.written for kind in also
            if (each := self._beside(name, kind)) not in self.written and (where.folder / each).exists()
        }  # fmt: skip
        new = [each for each in (*names, *beside) if each not in self.written and each not in self.derived]
        places = [*(where.folder / each for each in dict.fromkeys(new)), where.manifest]
        for place in places:
            require_writable(place, overwrite=overwrite, option=f"--out: {place}")
        self._former = [*places, *self._with_other_suffixes()] if overwrite else []

    def _beside(self, name: str, kind: DerivedKind, *, inner: bool = False) -> str:
        """Return the name of what is derived from an output.

        It has another suffix than the output, or an additional one if another file may have its name.
        """
        stem = _stem(name)
        alone = not inner and self._stems[stem] < 2 and stem + DERIVED[kind] != name
        return (stem if alone or not self._keep else name) + DERIVED[kind]

    def _with_other_suffixes(self) -> Iterator[Path]:
        """Yield the outputs of an earlier run whose suffix came from the content of the source."""
        if not (self._keep or self.where.is_file) and self.where.folder.is_dir():
            stems = set(map(_stem, self._names))
            kept = self.written.keys() | self.derived.keys()
            there = (each for each in self.where.folder.iterdir() if each.name not in kept)
            yield from (each for each in there if _unnumbered(_stem(each.name.removesuffix(DERIVED["hocr"]))) in stems)

    def name_of(self, source: Source) -> str:
        """Return the output's path below the folder. Without `keep_names` it reveals nothing about the input's name."""
        if self.where.is_file:
            return self.where.target.name
        name = self._name_within(source)
        if not self.where.retry:
            return name
        stem = _stem(name)
        return f"{stem}.retry-{self.where.retry}{name[len(stem) :]}"

    def _name_within(self, source: Source) -> str:
        """Return the path of a source below the output folder, or within its archive."""
        if not self._keep:
            name = hashed_name(source, self._keyring)
            return f"{_stem(name)}.{self._images[source]}{source.suffix}" if source in self._images else name
        return source.inner_name if source.name != STDIN else f"stdin{source.suffix}"

    def in_order(self) -> dict[str, int]:
        """Return `written`, in the order of the sources."""
        return dict(sorted(self.written.items(), key=lambda each: self._number[each[0]]))

    def others(self) -> int:
        """Return how many files in the output folder are not of this run. Hidden files do not count."""
        if self.where.is_file:
            return 0
        own = {self.where.folder / name for name in (*self.written, *self.derived)} | {self.where.manifest}
        there = (Path(folder, name) for folder, _, names in os.walk(self.where.folder) for name in names)
        return sum(not path.name.startswith(".") and path not in own for path in there)

    def write(self, of: Input, output: str | bytes) -> None:
        """Append the output of an input. The inputs of one source must come one after the other.

        Args:
            output: new characters, or all new bytes of a binary document.

        Raises:
            UnicodeEncodeError: the content holds a lone surrogate code point, and nothing was written.
            IncognoteError: the target cannot be written.
        """
        head, after = (of.document.head, of.document.after) if of.document is not None else (b"", b"")
        data = output.removeprefix(head) if isinstance(output, bytes) else of.codec.encode(output) + after
        try:
            chain = of.source.chain
            pairs = zip(self._open, chain, strict=False)
            self._close(sum(1 for _ in takewhile(lambda pair: pair[0].source == pair[1], pairs)))
            for source in chain[len(self._open) :]:
                self._begin(source, of if source is of.source else None)
            self._open[-1].add(of, data, output)
        except OSError as error:
            raise unwritable(error) from None
        self.written[self._open[0].name] += 1

    def release(self, of: Input, result: Result) -> None:
        """Write the output of a released record, and what is derived from it.

        A line {"id", "patient", "text"} becomes {"id", "text"}. The hashed name of an image is followed by the number
        under which the vault keeps what was removed from it.

        Raises:
            MissingExtra: a library for what is derived is not installed, and nothing was written.
        """
        derived = self._derived_of(result)
        if result.image is not None and all(each.source != of.source for each in self._open):
            self._images[of.source] = result.image
        self.write(of, output_of(of, result, self._keyring))
        self._open[-1].derived = derived
        if of.source in self._images and len(self._open) == 1:
            self.images[self._open[0].name] = self._images[of.source]

    def _derived_of(self, result: Result) -> dict[DerivedKind, bytes]:
        """Return what is derived from a record, without what equals its output."""
        if not self._also:
            return {}
        if not result.derivable:
            self.without_pages += 1
            return {}
        made = {kind: result.derived(kind) for kind in self._also if kind in result.kinds}
        files = {kind: data if isinstance(data, bytes) else data.encode() for kind, data in made.items()}
        return {kind: data for kind, data in files.items() if data != result.data}

    def finish(self) -> None:
        """Move the current file to its target."""
        try:
            self._close(0)
        except OSError as error:
            raise unwritable(error) from None

    def _close(self, left: int) -> None:
        """Complete the files in an archive, the innermost first, and then the output, until so many are open."""
        while len(self._open) > left:
            done = self._open[-1]
            done.close()
            if len(self._open) > 1:
                beside = {self._beside(done.name, kind, inner=True): data for kind, data in done.derived.items()}
                self._open[-2].pack(done, beside)
                done.file.abandon()
            else:
                self._commit(done)
            self._open.pop()

    def _commit(self, done: OutputFile) -> None:
        """Move an output to its target, and then what is derived from it."""
        with ExitStack() as stack:
            for kind, data in done.derived.items():
                name = self._beside(done.name, kind)
                stack.enter_context(AtomicFile(self.where.folder / name)).write(data)
                self.derived[name] = done.name
            done.file.commit()

    def _begin(self, source: Source, first: Input | None) -> None:
        """Open the output of a source, or a file of the archive that is open.

        Args:
            first: the first record of the source; None for an archive.
        """
        if self._open:
            name, target = self._name_within(source), _IN_ARCHIVE
        else:
            name = target = self.name_of(source)  # its kind may come from its content
            self._number[name] = self._order[source.name]
            self.written[name] = 0
        self._open.append(OutputFile(source, name, AtomicFile(self.where.folder / target), first))

    def __enter__(self) -> Outputs:
        """Remove the outputs that are to be replaced. This run may hold what a former run released."""
        try:
            for folder in {self.where.folder, *((self.where.folder / name).parent for name in self._names)}:
                if folder.is_dir():
                    sweep(folder)
            for former in self._former:
                former.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            for each in reversed(self._open):
                each.abandon()


def _stem(name: str) -> str:
    """Return a name without the suffixes that give its format."""
    return name[: len(name) - len(suffix_of(name))]


def _unnumbered(stem: str) -> str:
    """Return a stem without the number of an image."""
    return _NUMBERED.sub("", stem)


def hashed_name(source: Source, keyring: Keyring) -> str:
    """Return the keyed name of a source. It is stable under one key, and reveals nothing."""
    return keyring.name(source.name) + source.suffix


def output_of(of: Input, result: Result, keyring: Keyring) -> str | bytes:
    """Return the output of a record. The id of a line {"id", "patient", "text"} becomes a keyed hash."""
    note = None if result.is_record else of.note
    if note is None:
        return result.content
    name = {"id": keyring.mac("names", str(note["id"])).hex()[:16]} if note.get("id") is not None else {}
    return json.dumps({**name, "text": result.output()}, ensure_ascii=False)
