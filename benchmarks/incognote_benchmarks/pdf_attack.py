"""Attack redacted PDFs: `python -m incognote_benchmarks.pdf_attack --out FILE`.

Each attack tries to get identifiers of the original back from the output. `found` must be 0 for all of them:

    copy and paste, raw, layout    what pdftotext extracts
    pdfium, pypdf   what these libraries extract
    boxes           PDFium's text in the boxes in which the identifiers were
    objects         all objects, object streams, unused objects, and attachments, decoded (`unpacked`)
    revisions       the file as it was at each earlier end-of-file mark
    metadata        XMP, the information dictionary, bookmarks, labels
    annotations     annotations and form fields, with their appearances
    covered         the picture of the words, also after shapes and images on top of them are taken away
    thumbnails      pages with a thumbnail
    fonts           letters of the identifiers that only the embedded subsets of fonts still contain
    gaps            what the widths of the gaps reveal about names (`pdf_gaps`)
    layouts         what our own outputs reveal about names by their layout (`pdf_layouts`), without --pair

Without options, the attacked outputs are those of the corpus with its gold identifiers as spans. Use `--pair ORIGINAL
OUTPUT --names FILE` for outputs of another program. The file has one identifier per line.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import string
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.evaluation.intervals import share
from incognote_benchmarks.pdf_gaps import Gap, gaps, revealed
from incognote_benchmarks.pdf_layouts import by_layout
from incognote_benchmarks.pdf_strings import cmap_codes, glyph_characters, revisions
from incognote_benchmarks.pdfium import Box, Word, changes, covers, is_image, opened, overlap, picture, pixels, words
from incognote_benchmarks.programs import by_pdfium, by_pypdf, installed, pdftotext
from incognote_benchmarks.searching import left_in
from incognote_benchmarks.unpacked import unpacked, variants

_ALPHABET = frozenset(string.ascii_letters)
"""A font with all of these does not show which letters a document needs."""
_ALIKE = 0.8
"""Pictures whose correlation is higher show the same words. Shorter words and smaller pictures are alike by chance."""
_LONG, _HIGH = 4, 8
_METADATA = "/Metadata /Outlines /PageLabels /Names /Dests /PieceInfo /StructTreeRoot /Collection".split()


@dataclass(frozen=True, slots=True)
class Pair:
    """An original, its redacted output, and the identifiers that must be gone."""

    name: str
    original: bytes = field(repr=False)
    output: bytes = field(repr=False)
    identifiers: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attacked:
    """The identifiers that each attack found in one output, those that it finds in the original, and other figures."""

    pair: Pair
    found: dict[str, set[str]] = field(repr=False)
    sought: dict[str, set[str]] = field(repr=False)
    counts: Counter[str]
    gaps: list[Gap] = field(repr=False)
    unread: list[str]


def attacked(pair: Pair) -> Attacked:
    """Run all attacks on one output.

    Raises:
        pypdfium2.PdfiumError: one of the files is no PDF, or it has a password.
    """
    found: dict[str, set[str]] = {}
    sought: dict[str, set[str]] = {}
    unread: list[str] = []
    for attack, read in _TEXTS.items():
        found[attack] = left_in(_all(attack, read, pair.output, unread), pair.identifiers)
        sought[attack] = left_in(_all(attack, read, pair.original, []), pair.identifiers)
    all_ = unpacked(pair.output)
    found["objects"] = left_in(all_.strings, pair.identifiers)
    sought["objects"] = left_in(unpacked(pair.original).strings, pair.identifiers)
    counts: Counter[str] = Counter()
    found["boxes"], found["covered"] = _on_pages(pair, counts)
    sought["boxes"] = sought["covered"] = sought["copy and paste"]
    _count_structure(pair, counts)
    measured = list(gaps(pair.original, pair.output, pair.identifiers))
    return Attacked(pair, found, sought, counts, measured, [*all_.unread, *unread])


def _all(attack: str, read: Callable[[bytes], Iterator[str]], data: bytes, unread: list[str]) -> Iterator[str]:
    """Yield what an attack reads, with its variants. An error of the library that it uses is added to `unread`."""
    try:
        for text in read(data):
            yield from variants(text)
    except Exception as problem:  # a damaged original, which only some libraries can open
        unread.append(f"{attack}: {type(problem).__name__}")


def _by_program(*options: str) -> Callable[[bytes], Iterator[str]]:
    def read(data: bytes) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as folder:
            yield pdftotext(data, Path(folder), *options) or ""

    return read


def _earlier(data: bytes) -> Iterator[str]:
    for cut in revisions(data)[1:]:
        yield from unpacked(cut).strings


def _metadata(data: bytes) -> Iterator[str]:
    import pikepdf

    with pikepdf.open(io.BytesIO(data), suppress_warnings=True) as pdf:
        parts = [pdf.trailer.get("/Info"), *(pdf.Root.get(key) for key in _METADATA)]
        parts += [each for each in pdf.objects if isinstance(each, pikepdf.Stream) and each.get("/Type") == "/Metadata"]
        yield from _within(parts)


def _annotations(data: bytes) -> Iterator[str]:
    import pikepdf

    with pikepdf.open(io.BytesIO(data), suppress_warnings=True) as pdf:
        yield from _within([*(page.get("/Annots") for page in pdf.pages), pdf.Root.get("/AcroForm")])


def _within(parts: Sequence[Any]) -> Iterator[str]:
    """Yield the strings and streams of objects and of all objects that they refer to, but not of whole pages."""
    import pikepdf

    waiting, seen = [part for part in parts if part is not None], set[tuple[int, int]]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, pikepdf.Object) and each.is_indirect:
            if each.objgen in seen:
                continue
            seen.add(each.objgen)
        if isinstance(each, pikepdf.String):
            yield str(each)
        elif isinstance(each, pikepdf.Array):
            waiting += each.as_list()
        elif isinstance(each, (pikepdf.Dictionary, pikepdf.Stream)):
            if each.get("/Type") in ("/Page", "/Pages", "/Catalog"):
                continue
            keys = list(each.keys())  # a stream is no mapping
            waiting += [value for key in keys if (value := each.get(key)) is not None]
            if isinstance(each, pikepdf.Stream):
                try:
                    yield from unpacked(each.read_bytes()).strings
                except pikepdf.PdfError:
                    yield from unpacked(each.read_raw_bytes()).strings


_TEXTS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "copy and paste": _by_program(),
    "raw": _by_program("-raw"),
    "layout": _by_program("-layout"),
    "pdfium": by_pdfium,
    "pypdf": by_pypdf,
    "revisions": _earlier,
    "metadata": _metadata,
    "annotations": _annotations,
}


def _on_pages(pair: Pair, counts: Counter[str]) -> tuple[set[str], set[str]]:
    """Return the identifiers that are still in their boxes as text, and those that are still there under a cover."""
    in_boxes, covered = set[str](), set[str]()
    with opened(_as_shown(pair.original)) as first, opened(pair.output) as second:
        counts["pages"] += len(first)
        for i in range(min(len(first), len(second))):
            old = words(first[i])
            text = second[i].get_textpage()
            before = picture(first[i], notes=False)
            for box, name in _boxes(old, pair.identifiers):
                shown = text.get_text_bounded(*(side + grow for side, grow in zip(box, (-1, -1, 1, 1), strict=True)))
                in_boxes |= left_in(variants(shown), [name])
            removed = list(_removed(old, words(second[i]), pair.identifiers))
            if not removed:
                continue
            counts["removed_words"] += len(removed)
            for after in _uncovered(second[i], [word.box for word, _ in removed]):
                for word, names in removed:
                    part = pixels(first[i], word.box)
                    if _alike(before[part], after[part]):
                        covered.update(names)
    return in_boxes, covered


def _as_shown(data: bytes) -> bytes:
    """Return a document whose words are those that it shows, and not other ones that it gives for them."""
    import pikepdf

    out, is_changed = io.BytesIO(), False
    with contextlib.suppress(pikepdf.PdfError), pikepdf.open(io.BytesIO(data), suppress_warnings=True) as pdf:
        for page in pdf.pages:
            found = pikepdf.parse_content_stream(page)
            for at, each in enumerate(found):
                if str(each.operator) == "BDC" and "/ActualText" in each.operands[-1].unparse().decode("latin-1"):
                    found[at] = pikepdf.ContentStreamInstruction([each.operands[0]], pikepdf.Operator("BMC"))
                    is_changed = True
            page.obj["/Contents"] = pdf.make_stream(pikepdf.unparse_content_stream(found))
        pdf.save(out)
    return out.getvalue() if is_changed else data


def _removed(old: Sequence[Word], new: Sequence[Word], identifiers: Iterable[str]) -> Iterator[tuple[Word, list[str]]]:
    """Yield the words of identifiers that the output does not show, with the identifiers. Short words are left out."""
    for change in changes(old, new):
        phrase = " ".join(word.text for word in change.old)
        names = [name for name in identifiers if name in phrase]
        for word in change.old:
            core = word.text.strip(".,;:()[]'\"")
            if len(core) >= _LONG and (here := [name for name in names if core in name]):
                yield word, here


def _uncovered(page: Any, boxes: Sequence[Box]) -> Iterator[NDArray[np.int16]]:
    """Yield the picture of a page without annotations, then without shapes over boxes, then without images there."""
    yield picture(page, notes=False)
    over = [(each, place) for each, place in covers(page) if any(overlap(box, place) > 0.5 for box in boxes)]
    for images in (False, True):
        taken = [each for each, _ in over if is_image(each) == images]
        for each in taken:
            page.remove_obj(each)
        if taken:
            yield picture(page, notes=False)


def _boxes(found: Sequence[Any], identifiers: Iterable[str]) -> Iterator[tuple[Box, str]]:
    """Yield the boxes of identifiers in words of a page. One over two lines has none."""
    texts = [word.text for word in found]
    whole = " ".join(texts)
    for name in identifiers:
        parts = name.split()
        if name not in whole:
            continue
        for i in range(len(texts) - len(parts) + 1):
            run = found[i : i + len(parts)]
            if name in " ".join(texts[i : i + len(parts)]) and abs(run[0].base - run[-1].base) < run[0].size / 4:
                left, bottom, right, top = zip(*(word.box for word in run), strict=True)
                yield (min(left), min(bottom), max(right), max(top)), name


def _alike(before: Any, after: Any) -> bool:
    """Whether two pictures of a box show the same: their darkness correlates."""
    if before.shape != after.shape or min(before.shape[:2]) < _HIGH:
        return False
    one, other = before.mean(axis=-1).ravel(), after.mean(axis=-1).ravel()
    if one.std() < 1 or other.std() < 1:
        return False
    return float(np.corrcoef(one, other)[0, 1]) > _ALIKE


def _count_structure(pair: Pair, counts: Counter[str]) -> None:
    """Count thumbnails, revisions, images, and the letters that only the subsets of fonts still contain."""
    import pikepdf

    counts["earlier_revisions"] += len(revisions(pair.output)) - 1
    with opened(pair.output) as document:
        shown = {character for page in document for character in page.get_textpage().get_text_range()}
    letters = {character for name in pair.identifiers for character in name if character.isalnum()}
    with pikepdf.open(io.BytesIO(pair.output), suppress_warnings=True) as pdf:
        counts["thumbnails"] += sum("/Thumb" in page for page in pdf.pages)
        for each in pdf.objects:
            if isinstance(each, pikepdf.Stream) and each.get("/Subtype") == "/Image":
                counts["images"] += 1
            if not isinstance(each, pikepdf.Dictionary) or each.get("/Type") != "/Font" or "/BaseFont" not in each:
                continue
            name = str(each.get("/BaseFont"))
            if name[7:8] != "+":
                continue
            counts["font_subsets"] += 1
            characters = _characters(each)
            unshown = {each for each in characters if not shown.issuperset(unicodedata.normalize("NFKC", each))}
            left = set() if characters >= _ALPHABET else unshown - shown
            counts["font_subsets_with_unused_letters"] += bool(left)
            counts["letters_of_identifiers_only_in_fonts"] += len(left & letters)


def _characters(font: Any) -> set[str]:
    found = set(glyph_characters(font).values())
    if "/ToUnicode" in font:
        found |= set(cmap_codes(font["/ToUnicode"].read_bytes().decode("latin-1")).values())
    return {character for text in found for character in text if character.isalnum()}


def figures(results: Sequence[Attacked]) -> dict[str, Any]:
    """Return the figures of all attacks."""
    attacks = {}
    for attack in sorted({name for result in results for name in result.found}):
        count = sum(len(result.found[attack]) for result in results)
        whole = sum(len(result.sought["copy and paste"] | result.sought[attack]) for result in results)
        attacks[attack] = {"found": count, "n": whole, **(share(min(count, whole), whole).as_dict() if whole else {})}
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.counts)
    return {
        "files": len(results), "programs": installed(), "attacks": attacks, "counts": dict(counts),
        "gaps": revealed([gap for result in results for gap in result.gaps]),
        "faults": [line for result in results for line in _faults(result)],
    }  # fmt: skip


def _faults(result: Attacked) -> Iterator[str]:
    for attack, found in result.found.items():
        if found:
            yield f"{result.pair.name}: {attack}: {sorted(found)}"
    for name in ("thumbnails", "letters_of_identifiers_only_in_fonts"):
        if result.counts[name]:
            yield f"{result.pair.name}: {name}: {result.counts[name]}"
    for each in result.unread:
        yield f"{result.pair.name}: not read: {each}"


def corpus_pairs(folder: Path) -> Iterator[Pair]:
    """Yield the PDFs of a corpus with their outputs under gold spans. Files that are refused are left out."""
    from incognote import Deidentifier
    from incognote_benchmarks.documents import corpus, given_output

    with Deidentifier("strict") as deid:
        for file in corpus(folder):
            output = given_output(deid, file) if file.media_type == "application/pdf" else None
            if output is not None:
                yield Pair(file.path.name, file.path.read_bytes(), output, tuple(file.sought))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("tests/data/documents"))
    parser.add_argument("--pair", type=Path, nargs=2, action="append", metavar=("ORIGINAL", "OUTPUT"), default=[])
    parser.add_argument("--names", type=Path, help="a file with one identifier per line, for --pair")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    asked = parser.parse_args()
    pairs: Iterable[Pair] = corpus_pairs(asked.corpus)
    if asked.pair:
        if asked.names is None:
            parser.error("--pair needs --names FILE")
        names = tuple(filter(None, map(str.strip, asked.names.read_text(encoding="utf-8").splitlines())))
        pairs = [Pair(new.name, old.read_bytes(), new.read_bytes(), names) for old, new in asked.pair]
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # damaged originals are expected
    result = figures([attacked(pair) for pair in pairs])
    if not asked.pair:
        result["layouts"] = by_layout()
    for fault in result["faults"]:
        print(fault)  # noqa: T201 -- a program that prints
    print(json.dumps({**result, "faults": len(result["faults"])}, indent=1))  # noqa: T201 -- as above
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
