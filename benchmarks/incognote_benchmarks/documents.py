"""Score the handling of documents on `tests/data/documents`: `python -m incognote_benchmarks.documents --out FILE`.

Each folder holds the files of one format, and `gold.jsonl` with the identifiers of each file. Two runs:

    given     all gold identifiers are given as spans. No identifier may be left anywhere in the output: in its bytes,
              in what is packed or encoded in them (`unpacked`), in what the second reader sees, and in what other
              programs extract (`programs`). Office files and PDFs must be the same outside of the edits (`fidelity`).
    detected  our detection. Left identifiers are compared with those of the same words as plain text (`note`), and so
              are the mentions found. A mention of the plain text is the same if the document has a span with the same
              words, if its words are part of a structured field, or, in a workbook, if they are gone from the output:
              a date in a cell is a number. True mentions are those of gold identifiers, without false alarms.

A text in another language than English is read again with that language in the settings, as the verdict advises, if
there is a package for it.

All texts are synthetic. A file with `held` in its gold must not be released. Files whose format has no reader are
listed as `skipped`. `--formats docx pdf` scores only these folders.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incognote import Deidentifier, Result
from incognote.agents.item import Item
from incognote.errors import IncognoteError, UnsupportedFormat
from incognote.evaluation.intervals import share
from incognote.formats.base import actions_of, texts_of
from incognote.formats.registry import of_media_type
from incognote.plugins import installed as installed_packages
from incognote.schemas.registry import Registry
from incognote.text.language import NAMES
from incognote_benchmarks import fidelity
from incognote_benchmarks.programs import extracted, installed
from incognote_benchmarks.searching import left_in, loose_pattern, pattern
from incognote_benchmarks.unpacked import Unpacked, unpacked, variants

__all__ = ["CORPUS", "GoldFile", "corpus", "given", "given_output", "left_in", "measured", "pattern", "views"]
CORPUS = Path("tests/data/documents")
_COMPARED: dict[str, Callable[[bytes, bytes, Iterable[str]], tuple[Counter[str], Counter[str]]]] = {
    "docx": fidelity.docx,
    "xlsx": fidelity.xlsx,
    "pdf": fidelity.pdf,
}


_FIDELITY = {
    "pixels_outside": ("pixels_outside", "pixels"),
    "pixels_outside_lines": ("pixels_outside_lines", "pixels"),
    "pixels_in_boxes": ("pixels_boxes", "pixels"),
    "image_pages": ("image_pages", "pages"),
    "parts_identical": ("parts_identical", "parts"),
    "skeletons_equal": ("parts_same_skeleton", "parts_changed"),
    "elements_lost": ("elements_lost", "elements"),
    "cells_other_style": ("cells_other_style", "cells"),
    "cells_changed_outside": ("cells_changed_outside", "cells"),
    "opens_in_libreoffice": ("opens", "must_open"),
    "same_pages_in_libreoffice": ("same_pages", "must_open"),
}
"""Shares: the count and what it is a share of."""


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


def corpus(folder: Path = CORPUS, formats: Collection[str] = ()) -> Iterator[GoldFile]:
    """Yield the files of all formats, or of the folders with these names."""
    for gold in sorted(folder.glob("*/gold.jsonl")):
        if formats and gold.parent.name not in formats:
            continue
        for line in gold.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("pixels"):  # it is read by OCR, which `pages` measures
                continue
            words = (each["text"] if isinstance(each, dict) else each for each in row["identifiers"])
            yield GoldFile(
                gold.parent / row["file"], row["media_type"], row["kind"], row["made_by"], bool(row.get("held")),
                row.get("note"), tuple(dict.fromkeys(words)), tuple(row.get("keeps", ())),
            )  # fmt: skip


def given(deid: Deidentifier, file: GoldFile) -> Result:
    """De-identify a file with its gold identifiers as spans."""
    item = Item(file.path.read_bytes(), media_type=file.media_type)
    _, document = item.open(lambda: deid.engine.registry, None)
    assert document is not None  # bytes always open as a document
    spans = {}
    for text in texts_of(document):
        taken: list[tuple[int, int]] = []
        for words in sorted(file.identifiers, key=len, reverse=True):
            for match in loose_pattern(words).finditer(text.content):
                if all(match.end() <= start or end <= match.start() for start, end in taken):
                    taken.append(match.span())
        spans[text.field] = tuple((start, end, "GUID") for start, end in sorted(taken))
    return deid.deidentify(Item(item.content, media_type=file.media_type, spans=spans))


def given_output(deid: Deidentifier, file: GoldFile) -> bytes | None:
    """Return the output of a file with its gold identifiers as spans, also if it is not released. None: refused."""
    try:
        return _output(given(deid, file))
    except IncognoteError:
        return None


def views(data: bytes, media_type: str, others: Iterable[str] = ()) -> list[str]:
    """Return what can be read in the bytes of an output: raw, unpacked, by the second reader, and by other programs."""
    return [*unpacked(data).strings, *_read_by_others(data, media_type, others)]


def _read_by_others(data: bytes, media_type: str, others: Iterable[str]) -> Iterator[str]:
    second = of_media_type(media_type).second
    for text in (*others, *(second(data) if second is not None else ())):
        yield from variants(text)


def mentions(result: Result) -> Counter[str]:
    """Return the words of the spans that were replaced in a result."""
    return Counter(" ".join(replacement.span.text.split()) for replacement in result.replacements)


def measured(folder: Path, *, programs: bool = True, formats: Collection[str] = ()) -> dict[str, Any]:
    """Return the figures of all formats and of each."""
    files = list(corpus(folder, formats))
    skipped = [file for file in files if not _has_reader(file.media_type)]
    with Deidentifier("strict") as deid:
        rows = [_row(deid, file) for file in files if file not in skipped]
    for i, row in enumerate(rows):
        if added := _languages(row["reasons"]):
            with Deidentifier("strict", languages=("en", *added)) as deid:
                rows[i] = _row(deid, row["file"])
    opened = {str(i): row for i, row in enumerate(rows) if row["output"] is not None}
    with tempfile.TemporaryDirectory() as temporary:
        outputs = {name: (of_media_type(row["file"].media_type).name, row["output"]) for name, row in opened.items()}
        others = extracted(Path(temporary), outputs) if programs else None
        refused = _refused(Path(temporary) / "originals", opened, others.refused) if others is not None else {}
        pages = _printed(Path(temporary), opened) if programs else {}
    for name, row in opened.items():
        texts = others.texts.get(name, ()) if others is not None else ()
        found: Unpacked = unpacked(row["output"])
        shown = [*found.strings, *_read_by_others(row["output"], row["file"].media_type, texts)]
        row["left"] = left_in(shown, row["file"].sought)
        row["lost"] = [words for words in row["file"].keeps if not left_in(shown, [words])]
        row["unread"] = [*found.unread, *refused.get(name, ())]
        row["pages"] = pages.get(name)
        row["fidelity"], row["kinds"] = _compared(row)
    by_form: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_form.setdefault(row["file"].path.parent.name, []).append(row)
    return {
        "corpus": "tests/data/documents: synthetic, made by hand and by other programs",
        "programs": installed() if programs else [],
        "skipped": sorted(f"{file.path.parent.name}/{file.path.name}: no reader" for file in skipped),
        "all": _figures(rows),
        "formats": {form: _with_fidelity(each) for form, each in sorted(by_form.items())},
        "faults": [line for row in rows for line in _faults(row)],
    }


def _languages(reasons: Iterable[str]) -> list[str]:
    """Return the codes of the languages that have a package and for which a record was held."""
    held = " ".join(reason for reason in reasons if reason.startswith("unsupported-language"))
    return [code for code, name in NAMES.items() if name in held and code in installed_packages("incognote.languages")]


def _has_reader(media_type: str) -> bool:
    try:
        of_media_type(media_type)
    except UnsupportedFormat:
        return False
    return True


def _refused(
    folder: Path, opened: dict[str, dict[str, Any]], refused: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Return the programs that open an original, but not its output, by name."""
    folder.mkdir()
    files: dict[str, GoldFile] = {name: opened[name]["file"] for name in refused}
    forms = {name: of_media_type(file.media_type).name for name, file in files.items()}
    originals = extracted(folder, {name: (forms[name], file.path.read_bytes()) for name, file in files.items()})
    return {name: sorted(set(each) - set(originals.refused.get(name, ()))) for name, each in refused.items()}


def _printed(folder: Path, opened: dict[str, dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return the pages that LibreOffice prints of office files and of their outputs."""
    office = {
        name: (row["file"].path.suffix, row["file"].path.read_bytes(), row["output"])
        for name, row in opened.items() if row["file"].path.suffix in (".docx", ".xlsx")
    }  # fmt: skip
    return fidelity.printed(folder, office) if office else {}


def _compared(row: dict[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """Return how an office file or PDF differs from its original outside of the edits."""
    file: GoldFile = row["file"]
    compare = _COMPARED.get(of_media_type(file.media_type).name)
    if compare is None:
        return Counter(), Counter()
    try:
        counts, kinds = compare(file.path.read_bytes(), row["output"], file.identifiers)
    except Exception as problem:  # whatever stops the comparison is a fault of the output
        row["unread"].append(f"not compared: {type(problem).__name__}")
        return Counter(), Counter()
    counts["compared"] = 1
    if row["pages"] is not None:
        before, after = row["pages"]
        counts += Counter(opens=bool(after), must_open=bool(before), same_pages=before > 0 and before == after)
    return counts, kinds


def _row(deid: Deidentifier, file: GoldFile) -> dict[str, Any]:
    row: dict[str, Any] = {"file": file, "output": None, "left": set(), "lost": [], "refused": "", "unread": []}
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
    row["plain_left"] = set()
    if file.note is not None and own is not None:
        plain = deid.deidentify(file.note)
        row["plain_verdict"] = plain.verdict.outcome
        row["noted"] = left_in([file.note], file.sought)
        row["plain_left"] = left_in([plain.output(even_if_unreleased=True)], row["noted"])
        expected, found = mentions(plain), mentions(result)
        row["missed"] = Counter(_missed(file, expected - found, own))
        for name, each in (("mentions", expected), ("missed_mentions", row["missed"])):
            row[name] = each.total()
            row[f"true_{name}"] = sum(count for words, count in each.items() if _true(words, row["noted"]))
    return row


def _missed(file: GoldFile, mentions: Counter[str], output: bytes) -> Iterator[str]:
    """Yield the mentions that are not in a structured field of a document. A workbook must show them."""
    if not mentions:
        return
    document = Item(file.path.read_bytes(), media_type=file.media_type).open(lambda: Registry(), None)[1]
    fields = [" ".join(action.text.content.split()) for action in actions_of(document)] if document else []
    workbook = bool(fields) and of_media_type(file.media_type).name == "xlsx"
    shown = views(output, file.media_type) if workbook else []
    for words in mentions.elements():
        gone = workbook and sum(map(str.isalnum, words)) > 2 and not left_in(shown, [words])
        if not gone and not any(words in value for value in fields):
            yield words


def _true(words: str, identifiers: Iterable[str]) -> bool:
    """Whether a mention is an identifier, a part of one, or has one in it."""
    return any(words in each or each in words for each in identifiers)


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    opened = [row for row in rows if row["output"] is not None]
    benign = [row for row in rows if not row["file"].held]
    compared = [row for row in opened if "noted" in row]
    noted = sum(len(row["noted"]) for row in compared)
    left_document = sum(len(row["detected_left"] & row["noted"]) for row in compared)
    left_plain = sum(len(row["plain_left"]) for row in compared)
    held = sum(row["verdict"] != "release" for row in benign)
    more = sum(row["verdict"] != "release" and row.get("plain_verdict", "release") == "release" for row in benign)
    released = [row for row in benign if row["verdict"] == "release"]
    return {
        "files": len(rows),
        "produced": sum(row["file"].kind == "produced" for row in rows),
        "hostile": sum(row["file"].kind == "hostile" for row in rows),
        "opened": len(opened),
        "given_identifiers": sum(len(row["file"].sought) for row in opened),
        "given_left": sum(len(row["left"]) for row in opened),
        "kept_words_lost": sum(len(row["lost"]) for row in opened if not row["file"].held),
        "must_hold": len(rows) - len(benign),
        "must_hold_released": sum(row["verdict"] == "release" for row in rows if row["file"].held),
        "benign": len(benign),
        "benign_not_opened": sum(row["output"] is None for row in benign),
        "benign_held": _share(held, len(benign)),
        "benign_held_and_plain_text_released": _share(more, len(benign)),
        "left_in_released": _share(
            sum(len(row["detected_left"]) for row in released), sum(len(row["file"].sought) for row in released)
        ),
        "detected_identifiers": noted,
        "left_in_documents": _share(left_document, noted),
        "left_in_plain_text": _share(left_plain, noted),
        "same_mentions": _same(compared, ""),
        "same_true_mentions": _same(compared, "true_"),
    }


def _same(rows: Iterable[dict[str, Any]], kind: str) -> dict[str, Any]:
    counts = [(row[f"{kind}mentions"], row[f"{kind}missed_mentions"]) for row in rows]
    return _share(sum(total - missed for total, missed in counts), sum(total for total, _ in counts))


def _with_fidelity(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of one format, for office files and PDFs with those of the comparison with the original."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for row in rows:
        counts.update(row.get("fidelity", {}))
        kinds.update(row.get("kinds", {}))
    if not counts:
        return _figures(rows)
    compared: dict[str, Any] = {
        name: _share(counts[part], counts[whole]) for name, (part, whole) in _FIDELITY.items() if counts[whole]
    }
    compared |= {"counts": dict(sorted(counts.items()))}
    different = {kind: count for kind, count in kinds.most_common() if fidelity.LOST not in kind}
    if different:
        compared["elements_that_differ"] = dict(list(different.items())[:40])
    return {**_figures(rows), "fidelity": compared}


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
    if row["unread"]:
        yield f"{name}: not read by the search: {row['unread']}"
    for fault in ("page_count_differs", "page_sizes_differ", "cells_changed_outside", "sheet_count_differs"):
        if row.get("fidelity", {}).get(fault):
            yield f"{name}: {fault}: {row['fidelity'][fault]}"
    if words := [kind for kind in row.get("kinds", ()) if fidelity.LOST in kind]:
        yield f"{name}: words outside of identifiers that are gone: {words[:8]}"
    if row.get("fidelity", {}).get("pixels_outside_lines", 0) > 0.001 * row.get("fidelity", {}).get("pixels", 0):
        yield f"{name}: pixels outside of the lines with an edit: {row['fidelity']['pixels_outside_lines']}"
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
    parser.add_argument("--no-programs", action="store_true", help="do not run pandoc, LibreOffice, and pdftotext")
    parser.add_argument("--formats", nargs="+", default=(), help="score only these folders of the corpus")
    asked = parser.parse_args()
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about damaged originals
    figures = measured(asked.corpus, programs=not asked.no_programs, formats=asked.formats)
    for note in figures["skipped"]:
        print(note)  # noqa: T201 -- a program that prints
    for fault in figures["faults"]:
        print(fault)  # noqa: T201 -- a program that prints
    for name, figure in {**figures["formats"], "all": figures["all"]}.items():
        print(name, json.dumps(figure))  # noqa: T201 -- as above
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
