"""Make the RTF files of `tests/data/documents/rtf` that LibreOffice and pandoc produce, and their lines in gold.jsonl.

    python scripts/documents/rtf.py

The notes are synthetic. The files that were written by hand, and their gold, stay as they are.
"""

from __future__ import annotations

import html
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "tests" / "data"
OUT = DATA / "documents" / "rtf"
HEAD = "Willowbend Clinic, chart of Marguerite Oduya, MRN 80412377"
FOOT = "Printed for Dr. Stellan Vance on 14 March 2024"
REMARK = "Please call her daughter Imogen Oduya at 330-555-0186."
REVIEWER = "Tobias Renwick"
EXTRA = [
    ("Willowbend Clinic", "HOSPITAL"), ("Marguerite Oduya", "PATIENT"), ("80412377", "MEDICAL_RECORD_NUMBER"),
    ("Stellan Vance", "CLINICIAN"), ("14 March 2024", "DATE"), ("Imogen Oduya", "RELATIVE"),
    ("330-555-0186", "TELEPHONE_NUMBER"), (REVIEWER, "PERSON"),
]  # fmt: skip
WORDS = '''<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
<office:meta><dc:title>Letter about Marguerite Oduya</dc:title><dc:creator>{reviewer}</dc:creator>
<meta:user-defined meta:name="MRN">80412377</meta:user-defined></office:meta>
<office:automatic-styles>
<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:page-layout style:name="L"><style:header-style/><style:footer-style/></style:page-layout>
</office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L">
<style:header><text:p>{head}</text:p></style:header><style:footer><text:p>{foot}</text:p></style:footer>
</style:master-page></office:master-styles>
<office:body><office:text>
<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>
<office:change-info><dc:creator>{reviewer}</dc:creator>
<dc:date>2024-03-14T10:00:00</dc:date></office:change-info><text:p>Marguerite Oduya</text:p></text:deletion>
</text:changed-region></text:tracked-changes>
<text:p><office:annotation><dc:creator>{reviewer}</dc:creator><dc:date>2024-03-14T10:00:00</dc:date>
<text:p>{remark}</text:p></office:annotation><text:change text:change-id="c1"/>
<text:span text:style-name="H">80412377</text:span></text:p>
{body}
<text:p>Signed<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>
<text:p>{foot}</text:p></text:note-body></text:note></text:p>
<text:p><draw:frame text:anchor-type="paragraph" svg:width="5cm" svg:height="2cm"><draw:text-box><text:p>{head}</text:p>
</draw:text-box></draw:frame></text:p>
</office:text></office:body></office:document>
'''


def notes() -> dict[str, dict[str, Any]]:
    """Return the notes by id, with one space between words, and their identifiers as (words, type)."""
    by_id = {}
    for name in ("notes", "dev_e", "dev_f", "dev_g", "dev_h"):
        for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            note = json.loads(line)
            words = [(note["text"][s["start"] : s["end"]], s["type"]) for s in note["spans"]]
            plain = "\n".join(" ".join(each.split()) for each in note["text"].splitlines())
            by_id[note["id"]] = {"text": plain, "identifiers": [(" ".join(each.split()), kind) for each, kind in words]}
    return by_id


def as_html(text: str) -> str:
    """Return a note with a table of its `Name: value` lines, and every third word in two tags."""
    body = []
    for line in text.splitlines():
        name, colon, value = line.partition(": ")
        if colon and len(name) < 30:
            body.append(f"<table><tr><td>{html.escape(name)}:</td><td>{html.escape(value)}</td></tr></table>")
            continue
        words = line.split(" ")
        shown = (f"{html.escape(w[:2])}<b>{html.escape(w[2:])}</b>" if i % 3 == 0 else html.escape(w)
                 for i, w in enumerate(words))  # fmt: skip
        body.append(f"<p>{' '.join(shown)}</p>")
    return f"<html><head><meta charset='utf-8'><title>Note</title></head><body>{''.join(body)}</body></html>"


def as_markdown(text: str) -> str:
    """Return a note for pandoc, with a comment, an insertion, a deletion, and a footnote."""
    lines = "\n\n".join("".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>~^$@\"'" else c for c in line)
                        for line in text.splitlines() if line)  # fmt: skip
    mark = f'author="{REVIEWER}" date="2024-03-14T10:00:00Z"'
    return (
        f"---\ntitle: Note\nauthor: {REVIEWER}\n---\n\n{lines}\n\n"
        f'[{REMARK}]{{.comment-start id="1" {mark}}}Signed[]{{.comment-end id="1"}}'
        f" [by Dr. Stellan Vance]{{.insertion {mark}}} [for Marguerite Oduya]{{.deletion {mark}}}[^1]\n\n[^1]: {HEAD}\n"
    )


def sources(folder: Path) -> Iterator[tuple[str, Path, str, str, list[tuple[str, str]], list[str]]]:
    """Yield the name, the source, the producer, the note, other identifiers, and the words that stay, of each file."""
    known = notes()

    def source(name: str, content: str) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    for i, name in enumerate(("dev-a-02", "dev-b-09", "dev-c-06", "dev-a-free-04", "dev-b-free-08")):
        yield f"lo-text-{i}", source(f"{name}.txt", known[name]["text"]), "LibreOffice", name, [], []
    for i, name in enumerate(("dev-a-10", "dev-b-04", "dev-a-free-06")):
        yield f"lo-html-{i}", source(f"{name}.html", as_html(known[name]["text"])), "LibreOffice", name, [], []
    for i, name in enumerate(("dev-a-14", "dev-b-20", "dev-d-12")):
        body = "".join(f"<text:p>{html.escape(line)}</text:p>" for line in known[name]["text"].splitlines())
        parts = WORDS.format(head=HEAD, foot=FOOT, remark=REMARK, reviewer=REVIEWER, body=body)
        yield f"lo-parts-{i}", source(f"{name}.fodt", parts), "LibreOffice", name, EXTRA, ["Signed"]
    for i, name in enumerate(("dev-a-05", "dev-d-08")):
        path = folder / f"{name}.docx"
        text = source(f"{name}.docx.md", as_markdown(known[name]["text"]))
        subprocess.run(["pandoc", text, "-f", "markdown-smart", "-o", path], check=True)  # noqa: S603, S607 -- our files
        yield f"lo-docx-{i}", path, "pandoc and LibreOffice", name, EXTRA, ["Signed"]
    for i, name in enumerate(("dev-a-13", "dev-b-17", "dev-d-14", "dev-d-free-04")):
        extra = EXTRA if i < 3 else []
        text = as_markdown(known[name]["text"]) if extra else known[name]["text"]
        yield f"pandoc-{i}", source(f"{name}.md", text), "pandoc", name, extra, []


def main() -> None:
    known, lines = notes(), []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, source, producer, note, extra, keeps in sources(folder):
            target = OUT / f"{name}.rtf"
            if producer == "pandoc":
                command = ["pandoc", "-s", "-f", "markdown-smart", str(source), "-o", str(target)]
            else:
                reading = ["--infilter=Text (encoded):UTF8,LF,,,"] if source.suffix == ".txt" else []
                into = ["--convert-to", "rtf:Rich Text Format", "--outdir", str(folder)]
                command = ["soffice", "--headless", *reading, *into, str(source)]
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own files
            if producer != "pandoc":
                source.with_suffix(".rtf").replace(target)
            text = known[note]["text"]
            if not name.startswith(("lo-text", "lo-parts")):  # HTML and Markdown have no empty paragraphs
                text = "\n".join(line for line in text.splitlines() if line)
            if source.suffix == ".docx":
                text = f"Note\n{REVIEWER}\n{text}\nSigned by Dr. Stellan Vance"
            elif extra and producer == "pandoc":
                text = f"Note\n{REVIEWER}\n\n{text}\n{REMARK}Signed by Dr. Stellan Vance for Marguerite Oduya"
            identifiers = dict([*known[note]["identifiers"], *extra])
            row = {"file": target.name, "made_by": producer, "kind": "produced", "media_type": "application/rtf",
                   "note": text, "keeps": keeps,
                   "identifiers": [{"text": words, "type": kind} for words, kind in identifiers.items()]}  # fmt: skip
            lines.append(json.dumps(row, ensure_ascii=False))
    gold = OUT / "gold.jsonl"
    by_hand = [line for line in gold.read_text(encoding="utf-8").splitlines() if '"kind": "produced"' not in line]
    gold.write_text("\n".join([*lines, *by_hand]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
