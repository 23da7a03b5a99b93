"""The documents of a release, as `incognote deid` writes them in any of its formats, and the reviewer's page.

The page shows one set to one reviewer. It is one file that loads nothing from outside, and it keeps decisions in the
browser.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from hashlib import file_digest, sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord, RecordProblem, UsageError
from incognote.files.inputs import UNREADABLE, opened, read
from incognote.files.sources import STDIN, Source, find
from incognote.formats.encoding import codec_of
from incognote.formats.records.csvtext import columns, read_table
from incognote.formats.records.narrative import decode
from incognote.schemas.catalogue import catalogue

NO_STRATUM = "(none)"
_LONGEST = 64
_MANIFEST = re.compile(r"(.*\.)?manifest(\.retry-[0-9]+)?\.json\Z")


@dataclass(frozen=True, slots=True)
class OutputDocument:
    """One released text, record or row.

    Args:
        file: the index of its output file, from 0.
        position: its position there, from 1.
        stratum: the stratum that it is drawn from.
        text: everything that a reader of the release can read of it. A record has one line per value, `path: value`.
    """

    file: int
    position: int
    stratum: str
    text: str = field(repr=False)


class ReleasedOutputs:
    """The outputs of one or more runs.

    Args:
        paths: files and folders; manifests among them are recognized.
        strata: the field of a record (`dataType`, `meta.kind`) or column of a table that gives its kind; None for one
            stratum.

    Attributes:
        unvouched: the number of files that no manifest next to them names. Nothing shows that a run released them.

    Raises:
        UsageError: there is nothing to read, a file cannot be read, or an output differs from its manifest.
    """

    def __init__(self, paths: Sequence[str], strata: str | None = None) -> None:
        if STDIN in paths:
            raise UsageError("OUTPUTS must be files: they are read twice.")
        sources = find(paths).files
        if unread := [source for source in sources if source.unread]:
            raise UsageError(f"{unread[0].shown}: {unread[0].unread}. A sample needs every output of the folder.")
        manifests = [source for source in sources if _is_manifest(source)]
        self.sources = [one for one in sources if one not in manifests and one.kind != "other"]
        if not self.sources:
            raise UsageError("There is no output to draw from. Name the files or the folder that `deid --out` wrote.")
        self._strata = strata
        self.digests = [digest(source.path) for source in self.sources if source.path is not None]
        self._hold_against(manifests)

    def documents(self) -> Iterator[OutputDocument]:
        """All documents, file by file, in order.

        Raises:
            UsageError: one cannot be read. The message counts files and quotes nothing.
        """
        for number, source in enumerate(self.sources):
            try:
                yield from self._documents(number, source)
            except (RecordProblem, *UNREADABLE):
                raise UsageError(
                    f"Output {number + 1} of {len(self.sources)} cannot be read as {source.kind}."
                ) from None

    def _documents(self, number: int, source: Source) -> Iterator[OutputDocument]:
        for position, content in enumerate(_contents(source), 1):
            if isinstance(content, str):
                yield OutputDocument(number, position, NO_STRATUM, content)
            else:
                yield OutputDocument(number, position, self._stratum(content), "\n".join(lines(content)))

    def _stratum(self, record: Any) -> str:
        if self._strata is None:
            return NO_STRATUM
        for step in self._strata.split("."):
            record = record.get(step) if isinstance(record, dict) else None
        return str(record)[:_LONGEST] if isinstance(record, str) else NO_STRATUM

    def _hold_against(self, manifests: Sequence[Source]) -> None:
        """Check that every output that a manifest names has the same bytes as when it was written."""
        places = {source.path.resolve(): n for n, source in enumerate(self.sources) if source.path is not None}
        named: set[int] = set()
        for source in manifests:
            assert source.path is not None  # it is a file from a folder or the command line
            for output in json.loads(source.path.read_text(encoding="utf-8"))["outputs"]:
                number = places.get((source.path.parent / output["name"]).resolve())
                if number is None:
                    continue
                named.add(number)
                if self.digests[number] != output["sha256"]:
                    raise UsageError(
                        f"Output {number + 1} was changed after its run: its hash differs from the manifest. Run "
                        "`incognote deid` again."
                    )
        self.unvouched = len(self.sources) - len(named)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def lines(value: Any, path: str = "") -> Iterator[str]:
    """The readable content of a JSON value, one line per leaf. Texts of attachments are decoded."""
    if isinstance(value, dict):
        attached = _attached(value)
        for name, inner in value.items():
            shown = attached if name == "data" and attached is not None else inner
            yield from lines(shown, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from lines(inner, f"{path}[{number}]")
    elif value is not None and value != "":
        yield f"{path}: {value if isinstance(value, str) else json.dumps(value)}"


def _attached(holder: dict[str, Any]) -> str | None:
    """The text of a FHIR Attachment (base64); None if it is not text."""
    data, kind = holder.get("data"), holder.get("contentType")
    if not isinstance(data, str) or not isinstance(kind, str):
        return None
    try:
        return decode(data, kind, "data").content
    except RecordProblem:
        return None


def _contents(source: Source) -> Iterator[Any]:
    """Yield a text as a string, and a record or a row as a JSON value."""
    if source.kind in ("csv", "tsv"):
        with ExitStack() as held:
            _, stream = opened(source, held)
            codec = codec_of(stream)
            if codec is None:
                raise MalformedRecord("not text")
            text = codec.decode(stream.read()).removeprefix("\ufeff")
        _, header, rows = read_table(io.StringIO(text, newline=""), (), "\t" if source.kind == "tsv" else None)
        names = columns(header)
        for row in rows:
            if row.fault or len(row.values) != len(names):
                raise MalformedRecord("a row that does not fit its header")
            yield dict(zip(names, row.values, strict=True))
        return
    for one in read(source):
        if one.error is not None or one.content is None:
            raise MalformedRecord("an output that cannot be read")
        yield _parsed(one.content) if one.is_record else one.content


def _parsed(content: str) -> Any:
    try:
        record = json.loads(content, parse_float=str, parse_int=str)  # 1.10 stays 1.10
    except ValueError:
        raise MalformedRecord("not JSON") from None
    return record if isinstance(record, dict | list) else {"value": record}


def _is_manifest(source: Source) -> bool:
    """Return True if a file is a manifest written by `deid`."""
    if source.path is None or not _MANIFEST.match(source.path.name):
        return False
    try:
        manifest = json.loads(source.path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "outputs" in manifest and "records" in manifest and "incognote" in manifest


KIND = "incognote-review"


def review_page(items: Sequence[dict[str, Any]], name: str, reviewer: int) -> str:
    """The page of one set.

    Its content security policy allows only its own script and style, by their hashes, and no requests.

    Args:
        items: `{"id", "text"}`, in the order in which they are shown.
        name: of the set; it is saved with the decisions.
        reviewer: from 1.
    """
    shown = {"kind": KIND, "set": name, "reviewer": reviewer, "types": types(), "items": list(items)}
    data = json.dumps(shown, ensure_ascii=False).replace("<", "\\u003c")  # so that a note cannot close the element
    style, script = _part("review.css"), _part("review.js")
    page = _part("review.html")
    allowed = f"script-src {_source(script)}; style-src {_source(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    for mark, content in (("@policy@", policy), ("@style@", style), ("@script@", script), ("@data@", data)):
        head, tail = page.split(mark)  # each mark occurs once; data comes last, so it is never searched for marks
        page = head + content + tail
    return page


def types() -> list[str]:
    """The types that a leak can be marked with: the evaluation groups."""
    return list(dict.fromkeys(kind.group for kind in catalogue().values()))


@cache
def _part(name: str) -> str:
    return files("incognote.evaluation.sampling").joinpath(name).read_text(encoding="utf-8")


def _source(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
