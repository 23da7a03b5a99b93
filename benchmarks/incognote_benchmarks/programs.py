"""Texts that other programs and libraries extract from documents. Programs that are missing are left out."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incognote.formats.registry import named

PROGRAMS = ("pandoc", "soffice", "pdftotext", "pdfinfo", "qpdf")
_PANDOC: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "rtf": (("-f", "rtf", "-t", "plain"),),
    "html": (("-f", "html", "-t", "plain"),),
    "markdown": (("-f", "markdown", "-t", "plain"),),
    "docx": tuple(("-f", "docx", "-t", to, f"--track-changes={which}")
                  for to, which in (("plain", "accept"), ("plain", "reject"), ("markdown", "all"))),
}  # fmt: skip
_TO_TEXT = {"rtf": "txt:Text", "html": "txt:Text", "docx": "txt:Text",
            "xlsx": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"}  # fmt: skip
_PDFTOTEXT = ((), ("-raw",), ("-layout",))
_PDFINFO = ((), ("-meta",), ("-dests",), ("-url",), ("-js",), ("-struct-text",))
_BATCH = 40


@dataclass(frozen=True, slots=True)
class Extracted:
    """Texts by name of the output, and the programs that could not open it."""

    texts: dict[str, list[str]] = field(repr=False)
    refused: dict[str, list[str]]


def installed() -> list[str]:
    """Return the programs that this machine has."""
    return [name for name in PROGRAMS if shutil.which(name)]


def extracted(folder: Path, outputs: Mapping[str, tuple[str, bytes]]) -> Extracted:
    """Return what other programs extract from outputs, by name. `outputs` has the format and the bytes of each."""
    found = Extracted(defaultdict(list), defaultdict(list))
    office: dict[str, list[Path]] = defaultdict(list)
    pages: dict[str, Path] = {}
    for name, (form, data) in outputs.items():
        path = folder / f"{name}{named(form).suffixes[0]}"
        path.write_bytes(data)
        for options in _PANDOC.get(form, ()):
            _add(found, name, ["pandoc", "--sandbox", *options, "--wrap=none", str(path)])
        if form in _TO_TEXT:
            office[form].append(path)
        if form == "pdf":
            pages[name] = path
        for program, read in _LIBRARIES.get(form, ()):
            try:
                found.texts[name].append("\n".join(read(data)))
            except Exception as problem:  # any error of a library means that it cannot open the file
                found.refused[name].append(f"{program}: {type(problem).__name__}")
    for form, paths in office.items():
        for stem, texts in converted(folder / "text", paths, _TO_TEXT[form]).items():
            found.texts[stem] += [path.read_text(encoding="utf-8", errors="replace") for path in texts]
        if form in ("docx", "xlsx"):
            printed = converted(folder / "pdf", paths, "pdf")
            if shutil.which("soffice"):
                for path in paths:
                    if path.stem not in printed:
                        found.refused[path.stem].append("soffice")
            for stem, [path] in printed.items():
                _add(found, stem, ["pdftotext", str(path), "-"])
    for name, path in pages.items():
        _read_pdf(found, name, path)
    return found


def converted(folder: Path, paths: Iterable[Path], target: str) -> dict[str, list[Path]]:
    """Convert files with LibreOffice, and return the new files by the stem of the old one."""
    suffix, every = target.partition(":")[0], list(paths)
    if shutil.which("soffice") is None:
        return {}
    for start in range(0, len(every), _BATCH):
        batch = [str(path) for path in every[start : start + _BATCH]]
        profile = f"-env:UserInstallation=file://{folder.parent.absolute()}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", target, "--outdir", str(folder), *batch]
        _run(command, 600)
    made: dict[str, list[Path]] = {}
    for path in every:
        new = [folder / f"{path.stem}.{suffix}", *folder.glob(f"{path.stem}-*.{suffix}")]
        if here := [each for each in new if each.exists()]:
            made[path.stem] = here
    return made


def _read_pdf(found: Extracted, name: str, path: Path) -> None:
    for options in _PDFTOTEXT:
        _add(found, name, ["pdftotext", *options, str(path), "-"])
    for options in _PDFINFO:
        _add(found, name, ["pdfinfo", *options, str(path)])
    flat = path.with_suffix(".flat.pdf")
    _run(["qpdf", "--flatten-annotations=all", "--generate-appearances", str(path), str(flat)], 120)
    if flat.exists():
        _add(found, name, ["pdftotext", str(flat), "-"])


def _add(found: Extracted, name: str, command: list[str]) -> None:
    done = _run(command, 120)
    if done is None:
        return
    found.texts[name].append(done.stdout.decode("utf-8", "replace"))
    if done.returncode:
        found.refused[name].append(command[0])


def _run(command: list[str], seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a program of this machine on our own file. None: it is missing, or it takes too long."""
    if shutil.which(command[0]) is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 -- a program of this machine, on our own file
            command, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, b"", b"")


def pdftotext(data: bytes, folder: Path, *options: str) -> str | None:
    """Return what pdftotext extracts from a PDF, or None if it is missing."""
    path = folder / "attacked.pdf"
    path.write_bytes(data)
    done = _run(["pdftotext", *options, str(path), "-"], 120)
    return None if done is None else done.stdout.decode("utf-8", "replace")


def by_pypdf(data: bytes) -> Iterator[str]:
    """Yield the text of each page, of annotations, and of the information of a PDF."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    for page in reader.pages:
        yield page.extract_text()
        for each in page.annotations or ():
            yield "\n".join(str(value) for value in each.get_object().values())
    yield "\n".join(map(str, (reader.metadata or {}).values()))
    yield "\n".join(map(str, _titles(reader.outline)))


def _titles(outline: Any) -> Iterator[str]:
    for each in outline:
        if isinstance(each, list):
            yield from _titles(each)
        else:
            yield str(each.title)


def by_pdfium(data: bytes) -> Iterator[str]:
    """Yield the text of each page of a PDF, and its bookmarks and attachments."""
    from incognote_benchmarks.pdfium import opened

    with opened(data) as document:
        for page in document:
            yield page.get_textpage().get_text_range()
        for bookmark in document.get_toc():
            yield bookmark.get_title()
        for i in range(document.count_attachments()):
            yield document.get_attachment(i).get_name()


def by_openpyxl(data: bytes) -> Iterator[str]:
    """Yield all values, formulas, comments, links, and names of a workbook."""
    import openpyxl  # type: ignore[import-untyped]  # ships no types

    for values in (False, True):
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=values)
        yield "\n".join(f"{name} {value.attr_text}" for name, value in book.defined_names.items())
        yield "\n".join(str(value) for value in vars(book.properties).values() if value is not None)
        for sheet in book.worksheets:
            yield sheet.title
            for row in sheet.iter_rows():
                yield "\t".join("" if cell.value is None else str(cell.value) for cell in row)
                for cell in row:
                    if cell.comment is not None:
                        yield f"{cell.comment.author}\n{cell.comment.text}"
                    if cell.hyperlink is not None:
                        yield f"{cell.hyperlink.target} {cell.hyperlink.display} {cell.hyperlink.tooltip}"


_LIBRARIES: Mapping[str, tuple[tuple[str, Callable[[bytes], Iterator[str]]], ...]] = {
    "pdf": (("pypdf", by_pypdf), ("pdfium", by_pdfium)),
    "xlsx": (("openpyxl", by_openpyxl),),
}
