"""Score the handling of documents on `tests/data/documents`: `python -m incognote_benchmarks.documents --out FILE`.

Each folder holds the files of one format, and `gold.jsonl` with the identifiers of each file. Two runs:

    given     all gold identifiers are given as spans. No identifier may be left anywhere in the output: in its bytes,
              in decoded base64, and in what other programs extract from it (the second reader, pandoc, LibreOffice).
    detected  our detection. Left identifiers are compared with those of the same words as plain text (`note`), and so
              are the mentions found.

All texts are synthetic. A file with `held` in its gold must not be released.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from incognote import Deidentifier, Result
from incognote.agents.item import Item
from incognote.errors import IncognoteError
from incognote.evaluation.intervals import share
from incognote.formats.base import texts_of
from incognote.formats.registry import named, of_media_type

CORPUS = Path("tests/data/documents")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}(?:\s+[A-Za-z0-9+/]+)*={0,2}")
_PANDOC = {"rtf": "rtf", "html": "html", "markdown": "markdown"}
_OFFICE = ("rtf", "html")


@dataclass(frozen=True, slots=True)
class GoldFile:
    """One file of the corpus with its gold."""

    path: Path
    media_type: str
    kind: str
    made_by: str
    held: bool
    note: str | None = field(repr=False)
    identifiers: tuple[str, ...] = field(repr=False)
    keeps: tuple[str, ...] = field(repr=False)

    @property
    def sought(self) -> list[str]:
        """The identifiers that can be searched for: a number of two digits is everywhere."""
        return [words for words in self.identifiers if sum(map(str.isalnum, words)) > 2 and words not in self.keeps]


def corpus(folder: Path = CORPUS) -> Iterator[GoldFile]:
    """Yield the files of all formats."""
    for gold in sorted(folder.glob("*/gold.jsonl")):
        for line in gold.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            words = (each["text"] if isinstance(each, dict) else each for each in row["identifiers"])
            yield GoldFile(
                gold.parent / row["file"], row["media_type"], row["kind"], row["made_by"], bool(row.get("held")),
                row.get("note"), tuple(dict.fromkeys(words)), tuple(row.get("keeps", ())),
            )  # fmt: skip


def pattern(words: str) -> re.Pattern[str]:
    """Return the pattern of an identifier, with any white space between its words. A short one must stand alone."""
    body = r"\s+".join(map(re.escape, words.split()))
    return re.compile(body if sum(map(str.isalnum, words)) > 5 else rf"(?<![^\W_]){body}(?![^\W_])")


def left_in(texts: Iterable[str], identifiers: Iterable[str]) -> set[str]:
    """Return the identifiers that stand anywhere in texts."""
    whole = "\n".join(texts)
    return {words for words in identifiers if pattern(words).search(whole)}


def given(deid: Deidentifier, file: GoldFile) -> Result:
    """De-identify a file with its gold identifiers as spans."""
    item = Item(file.path.read_bytes(), media_type=file.media_type)
    _, document = item.open(lambda: deid.engine.registry, None)
    assert document is not None  # bytes always open as a document
    spans = {}
    for text in texts_of(document):
        taken: list[tuple[int, int]] = []
        for words in sorted(file.identifiers, key=len, reverse=True):
            for match in pattern(words).finditer(text.content):
                if all(match.end() <= start or end <= match.start() for start, end in taken):
                    taken.append(match.span())
        spans[text.field] = tuple((start, end, "GUID") for start, end in sorted(taken))
    return deid.deidentify(Item(item.content, media_type=file.media_type, spans=spans))


def views(data: bytes, media_type: str, others: Iterable[str] = ()) -> list[str]:
    """Return what can be read in the bytes of an output: raw, decoded, by the second reader, and by other programs."""
    form = of_media_type(media_type)
    raw = data.decode("latin-1")
    texts = [raw, unquote(raw), data.decode("utf-8", "replace"), *others]
    for block in _BASE64.findall(data):
        try:
            plain = base64.b64decode(b"".join(block.split()) + b"==")
        except binascii.Error:
            continue
        texts += [plain.decode("utf-8", "replace"), plain.decode("utf-16-le", "replace")]
    if form.second is not None:
        texts += form.second(data)
    return texts


def extracted(folder: Path, outputs: dict[str, tuple[str, bytes]]) -> dict[str, list[str]]:
    """Return what pandoc and LibreOffice extract from outputs, by name. `outputs` has the format and the bytes."""
    found: dict[str, list[str]] = defaultdict(list)
    office: list[str] = []
    for name, (form, data) in outputs.items():
        path = folder / f"{name}{named(form).suffixes[0]}"
        path.write_bytes(data)
        if form in _PANDOC and shutil.which("pandoc"):
            command = ["pandoc", "--sandbox", "-f", _PANDOC[form], "-t", "plain", "--wrap=none", str(path)]
            done = subprocess.run(  # noqa: S603 -- a program of this machine, on our own file
                command, capture_output=True, timeout=60, check=False
            )
            found[name].append(done.stdout.decode("utf-8", "replace"))
        if form in _OFFICE:
            office.append(str(path))
    if office and shutil.which("soffice"):
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", "txt:Text", "--outdir", str(folder / "o"), *office]
        subprocess.run(command, capture_output=True, timeout=600, check=False)  # noqa: S603 -- as above
        for path in (folder / "o").glob("*.txt"):
            found[path.stem].append(path.read_text(encoding="utf-8", errors="replace"))
    return found


def mentions(result: Result) -> Counter[str]:
    """Return the words of the spans that were replaced in a result."""
    return Counter(" ".join(replacement.span.text.split()) for replacement in result.replacements)


def measured(folder: Path, *, programs: bool = True) -> dict[str, Any]:
    """Return the figures of all formats and of each."""
    with Deidentifier("strict") as deid:
        rows = [_row(deid, file) for file in corpus(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        outputs = {str(i): (of_media_type(row["file"].media_type).name, row["output"])
                   for i, row in enumerate(rows) if row["output"] is not None}  # fmt: skip
        others = extracted(Path(temporary), outputs) if programs else {}
    for i, row in enumerate(rows):
        if row["output"] is not None:
            shown = views(row["output"], row["file"].media_type, others.get(str(i), ()))
            row["left"] = left_in(shown, row["file"].sought)
            row["lost"] = [words for words in row["file"].keeps if not left_in(shown, [words])]
    forms = sorted({row["file"].path.parent.name for row in rows})
    return {
        "corpus": "tests/data/documents: synthetic, made by hand and by other programs",
        "programs": [name for name in ("pandoc", "soffice") if programs and shutil.which(name)],
        "all": _figures(rows),
        "formats": {form: _figures([row for row in rows if row["file"].path.parent.name == form]) for form in forms},
        "faults": [line for row in rows for line in _faults(row)],
    }


def _row(deid: Deidentifier, file: GoldFile) -> dict[str, Any]:
    row: dict[str, Any] = {"file": file, "output": None, "left": set(), "lost": [], "refused": ""}
    result = deid.deidentify(Item(file.path.read_bytes(), media_type=file.media_type))
    row["verdict"], row["reasons"] = result.verdict.outcome, [str(reason) for reason in result.verdict.reasons]
    try:
        row["output"] = _output(given(deid, file))
    except IncognoteError as problem:
        row["refused"] = type(problem).__name__
    own = _output(result)
    row["detected_left"] = set()
    if own is not None:
        row["detected_left"] = left_in(views(own, file.media_type), file.sought)
    row["plain_left"], row["same"], row["plain_mentions"] = set(), 0, 0
    if file.note is not None and own is not None:
        plain = deid.deidentify(file.note)
        row["noted"] = left_in([file.note], file.sought)
        row["plain_left"] = left_in([plain.output(even_if_unreleased=True)], row["noted"])
        expected, found = mentions(plain), mentions(result)
        row["same"], row["plain_mentions"] = (expected & found).total(), expected.total()
        row["missed"] = expected - found
    return row


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    opened = [row for row in rows if row["output"] is not None]
    benign = [row for row in rows if not row["file"].held]
    compared = [row for row in opened if "noted" in row]
    noted = sum(len(row["noted"]) for row in compared)
    left_document = sum(len(row["detected_left"] & row["noted"]) for row in compared)
    left_plain = sum(len(row["plain_left"]) for row in compared)
    held = sum(row["verdict"] != "release" for row in benign)
    total = sum(row["plain_mentions"] for row in compared)
    same = sum(row["same"] for row in compared)
    released = [row for row in benign if row["verdict"] == "release"]
    return {
        "files": len(rows),
        "produced": sum(row["file"].kind == "produced" for row in rows),
        "hostile": sum(row["file"].kind == "hostile" for row in rows),
        "opened": len(opened),
        "given_identifiers": sum(len(row["file"].sought) for row in opened),
        "given_left": sum(len(row["left"]) for row in opened),
        "kept_words_lost": sum(len(row["lost"]) for row in opened),
        "must_hold": len(rows) - len(benign),
        "must_hold_released": sum(row["verdict"] == "release" for row in rows if row["file"].held),
        "benign": len(benign),
        "benign_not_opened": sum(row["output"] is None for row in benign),
        "benign_held": _share(held, len(benign)),
        "left_in_released": _share(
            sum(len(row["detected_left"]) for row in released), sum(len(row["file"].sought) for row in released)
        ),
        "detected_identifiers": noted,
        "left_in_documents": _share(left_document, noted),
        "left_in_plain_text": _share(left_plain, noted),
        "same_mentions": _share(same, total),
    }


def _share(part: int, whole: int) -> dict[str, Any]:
    return {"count": part, "n": whole, **(share(part, whole).as_dict() if whole else {})}


def _output(result: Result) -> bytes | None:
    """Return the new bytes, also of a record that is not released. Users cannot get them from a Result."""
    return result._output if isinstance(result._output, bytes) else None  # only this measurement looks at held bytes


def _faults(row: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a file. The corpus is synthetic, so words are shown."""
    file: GoldFile = row["file"]
    name = f"{file.path.parent.name}/{file.path.name}"
    if row["left"]:
        yield f"{name}: left with gold spans: {sorted(row['left'])}"
    if not file.held and row["refused"]:
        yield f"{name}: not opened with gold spans: {row['refused']}"
    if row["lost"]:
        yield f"{name}: clinical words lost: {row['lost']}"
    if file.held and row["verdict"] == "release":
        yield f"{name}: released, but must be held"
    if not file.held and row["verdict"] != "release":
        yield f"{name}: {row['verdict']}: {row['reasons'][:4]}"
    more = row["detected_left"] - row["plain_left"]
    if "noted" in row and more & row["noted"]:
        yield f"{name}: left by detection, but not in plain text: {sorted(more & row['noted'])}"
    if row.get("missed"):
        yield f"{name}: mentions of the plain text that were not found: {sorted(row['missed'])[:8]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--no-programs", action="store_true", help="do not run pandoc and LibreOffice")
    asked = parser.parse_args()
    figures = measured(asked.corpus, programs=not asked.no_programs)
    for fault in figures["faults"]:
        print(fault)  # noqa: T201 -- a program that prints
    for name, figure in {**figures["formats"], "all": figures["all"]}.items():
        print(name, json.dumps(figure))  # noqa: T201 -- as above
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
