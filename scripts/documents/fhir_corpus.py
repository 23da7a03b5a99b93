"""Write the produced files of `tests/data/documents/fhir`: notes in FHIR resources, encoded by HAPI and fhir.resources.

    python scripts/documents/fhir_corpus.py jars

`jars` is a folder with HAPI 6.10 and all that it needs: hapi-fhir-structures-r4, hapi-fhir-validation,
hapi-fhir-validation-resources-r4, hapi-fhir-caching-caffeine, and slf4j-nop. pandoc writes the RTF and HTML
attachments. `fhir_corpus.json` has the resources, with `$NAME` for what each file gets. The hostile files were written
by hand. The script keeps their lines in `gold.jsonl`.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import subprocess
from pathlib import Path
from typing import Any

from fhir.resources.R4B import get_fhir_model_class

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "tests/data"
FOLDER = DATA / "documents/fhir"
PEOPLE = (
    ("Quillfeather", "Irene", "48213977"), ("Oyelaran-Voss", "Temitope", "90317745"),
    ("Brzezicka", "Halina", "55120093"), ("Featherstonhaugh", "Basil", "77640218"),
    ("Nakagawa-Reyes", "Yuriko", "31885502"), ("Ostrowiec", "Casimir", "66200917"),
)
KEEPS = ("Penicillin", "Urticaria", "Influenza", "Appendectomy", "36643-5", "Acme Pacing", "119297000", "72705000")
TYPES = {"$FAMILY": "PERSON", "$GIVEN": "PERSON", "$MRN": "MEDICAL_RECORD_NUMBER", "$PHONE": "TELEPHONE_NUMBER",
         "$STREET": "STREET", "$BORN": "BIRTH_DATE_TIME"}


def planted(number: int, note: str) -> dict[str, str]:
    """Return what the placeholders of one file stand for."""
    family, given, mrn = PEOPLE[number % len(PEOPLE)]
    paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in note.split("\n") if line.strip())
    return {
        "$FAMILY": family, "$GIVEN": given, "$MRN": mrn, "$PHONE": f"617-555-0{100 + number}",
        "$STREET": f"{40 + number} Harbormaster Row", "$BORN": f"19{50 + number}-03-1{number % 9}", "$NOTE": note,
        "$DIV": f'<div xmlns="http://www.w3.org/1999/xhtml">{paragraphs}</div>', "$PLAIN": encoded(note.encode()),
        "$RTF": encoded(converted(note, "rtf")), "$HTML": encoded(converted(note, "html")),
    }


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def converted(note: str, form: str) -> bytes:
    """Return a note as a page that pandoc writes."""
    words = "\n\n".join(line.replace("*", "\\*") for line in note.split("\n"))
    command = ["pandoc", "-f", "markdown-smart", "-s", "-M", "title=Letter", "-t", form]
    return subprocess.run(  # noqa: S603  # a program of this machine, on our own text
        command, input=words.encode(), capture_output=True, check=True).stdout


def filled(template: Any, values: dict[str, str]) -> Any:
    """Return a JSON value with all placeholders replaced."""
    if isinstance(template, dict):
        return {name: filled(inner, values) for name, inner in template.items()}
    if isinstance(template, list):
        return [filled(inner, values) for inner in template]
    if isinstance(template, str):
        for name, value in values.items():
            template = template.replace(name, value)
    return template


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("jars", type=Path)
    jars = parser.parse_args().jars
    lines = (DATA / "notes.jsonl").read_text(encoding="utf-8").splitlines()
    notes = [note for note in map(json.loads, lines) if "MSH|" not in note["text"]]
    templates = json.loads((HERE / "fhir_corpus.json").read_text(encoding="utf-8"))
    gold = FOLDER / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()] if gold.exists() else []
    rows = [row for row in rows if row["kind"] == "hostile"]
    command = ["java", "-cp", f"{jars}/*", str(HERE / "Fhir.java"), "encode"]
    for number, (name, template) in enumerate(templates.items()):
        note = notes[40 + 3 * number]
        values = planted(number, note["text"])
        resource = filled(template, values)
        path = FOLDER / f"{name}.json"
        if number % 2:
            model = get_fhir_model_class(resource["resourceType"])
            path.write_text(model.model_validate(resource).model_dump_json() + "\n", encoding="utf-8")
        else:
            path.write_text(json.dumps(resource), encoding="utf-8")
            command.append(str(path))
        identifiers = [{"text": values[key], "type": kind} for key, kind in TYPES.items() if key in str(template)]
        identifiers += [{"text": note["text"][s["start"] : s["end"]], "type": s["type"]} for s in note["spans"]]
        rows.append({
            "file": path.name, "made_by": "fhir.resources" if number % 2 else "HAPI FHIR 6.10.5", "kind": "produced",
            "media_type": "application/fhir+json", "note": note["text"], "identifiers": identifiers,
            "keeps": [words for words in KEEPS if words in str(template)],
        })
    subprocess.run(command, check=True)  # noqa: S603  # a program of this repository
    gold.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
