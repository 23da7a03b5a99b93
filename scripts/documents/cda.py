"""Make the C-CDA files of the document corpus: `python scripts/documents/cda.py FOLDER [MDHT]`.

Each file holds one synthetic note of tests/data. The producers are lxml, ElementTree, minidom, pandoc, LibreOffice, and
MDHT (`CdaByMdht.java`). For MDHT, name the folder with the jars of Maven's ipf-oht-mdht-uml-cda-consol 1.2.0 and what
it needs. The lines of `gold.jsonl` for files made by hand are kept.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from lxml import etree

HERE, DATA = Path(__file__).parent, Path(__file__).parents[2] / "tests" / "data"
V3 = "urn:hl7-org:v3"
PEOPLE = (
    ("Odalys", "Brenneke", "E3847731", "88 Quill Hollow Road", "Marrowstone", "98358", "(360)555-0148", "Ashgrove"),
    ("Leontyne", "Fairbourne", "00718823", "4410 Tansy Creek", "Port Wexcombe", "44993", "330-555-0142", "Oyelaran"),
    ("Casimir", "Dunmorrow", "77-20-119", "9 Old Ferry Court", "Saltmarsh", "02633", "+1-508-555-0177", "Vantreight"),
)
HEADER = """<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc">
<realmCode code="US"/><typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>
<templateId root="2.16.840.1.113883.10.20.22.1.1" extension="2015-08-01"/>
<id root="2.16.840.1.113883.19.5.99999.1" extension="DOC-{id}"/>
<code code="{code}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC" displayName="{kind}"/>
<title>{kind} for {given} {family}</title><effectiveTime value="20240305114500-0500"/>
<confidentialityCode code="N" codeSystem="2.16.840.1.113883.5.25"/><languageCode code="en-US"/>
<setId root="2.16.840.1.113883.19.5.99999.19" extension="SET-{id}"/><versionNumber value="1"/>
<recordTarget><patientRole><id root="2.16.840.1.113883.19.5.99999.2" extension="{id}"/>
<addr use="HP"><streetAddressLine>{street}</streetAddressLine><city>{city}</city><state>WA</state>
<postalCode>{zip}</postalCode><country>US</country></addr><telecom value="tel:{phone}" use="HP"/>
<patient><name use="L"><given>{given}</given><family>{family}</family></name>
<administrativeGenderCode code="F" codeSystem="2.16.840.1.113883.5.1"/><birthTime value="19510719"/>
<languageCommunication><languageCode code="en"/></languageCommunication></patient></patientRole></recordTarget>
<author><time value="20240305"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="1659870234"/>
<assignedPerson><name>Dr. {doctor}</name></assignedPerson></assignedAuthor></author>
<custodian><assignedCustodian><representedCustodianOrganization><id root="2.16.840.1.113883.19.5"/>
<name>{city} General Hospital</name></representedCustodianOrganization></assignedCustodian></custodian>
<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.5.99999.3" extension="V-{id}"/>
<effectiveTime><low value="20240227"/><high value="20240305"/></effectiveTime></encompassingEncounter></componentOf>
"""
KINDS = {"34133-9": "Summarization of Episode Note", "11506-3": "Progress Note", "57133-1": "Referral Note",
         "18842-5": "Discharge Summary", "11488-4": "Consultation Note"}  # fmt: skip


def run(*command: str, given: str = "") -> str:
    """Run a program of this machine on our own text, and return its output."""
    done = subprocess.run(command, input=given, text=True, capture_output=True, check=True)  # noqa: S603 -- see above
    return done.stdout


def lines(note: str) -> str:
    """Return a note as the paragraphs of a narrative. Empty ones are its blank lines."""
    return "".join(f"<paragraph>{escape(line.strip())}</paragraph>" for line in note.splitlines())


def by_pandoc(note: str) -> str:
    """Return a note as narrative by way of pandoc's HTML."""
    markdown = "\n".join(re.sub(r"([\\`*_{}\[\]<>()#+.!|~$^-])", r"\\\1", line) + "\n" for line in note.splitlines())
    html = run("pandoc", "-f", "markdown-smart", "-t", "html", "--wrap=none", given=markdown)
    for pattern, tag in ((r"(</?)p>", r"\1paragraph>"), (r"</?(?:em|strong)>", "")):
        html = re.sub(pattern, tag, html)
    return html.replace("<br />", "<br/>").replace("&quot;", '"').strip()


def whole(person: tuple[str, ...], code: str, body: str) -> str:
    """Return a document with this body."""
    names = ("given", "family", "id", "street", "city", "zip", "phone", "doctor")
    header = HEADER.format(**dict(zip(names, person, strict=True)), code=code, kind=KINDS[code])
    return f"{header}<component>{body}</component></ClinicalDocument>"


def sections(narrative: str) -> str:
    section = f'<code code="8648-8" codeSystem="2.16.840.1.113883.6.1"/><title>Note</title><text>{narrative}</text>'
    return f"<structuredBody><component><section>{section}</section></component></structuredBody>"


def encoded(media_type: str, data: bytes) -> str:
    content = base64.encodebytes(data).decode()
    return f'<nonXMLBody><text mediaType="{media_type}" representation="B64">{content}</text></nonXMLBody>'


def prefixed(source: str) -> bytes:
    """Return a document in which every element has a prefix, as lxml writes it."""
    root = etree.fromstring(source)
    renamed = etree.Element(root.tag, nsmap={"cda": V3, "sdtc": "urn:hl7-org:sdtc"})
    renamed.extend(root)
    etree.cleanup_namespaces(renamed, keep_ns_prefixes=["cda"])
    return etree.tostring(renamed, xml_declaration=True, encoding="UTF-8", standalone=True)


def by_office(note: str) -> bytes:
    """Return a note as a PDF by LibreOffice."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "note.txt").write_text(note, encoding="utf-8")
        profile = f"-env:UserInstallation=file://{folder}/profile"
        run("soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", folder, f"{folder}/note.txt")
        return (Path(folder) / "note.pdf").read_bytes()


def by_mdht(jars: str, kind: str, note: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        text, out = Path(folder) / "text", Path(folder) / "out"
        text.write_text(lines(note), encoding="utf-8")
        run("java", "-cp", f"{jars}/*", str(HERE / "CdaByMdht.java"), kind, str(text), str(out))
        return out.read_bytes()


def main(folder: Path, jars: str | None) -> None:
    notes = {row["id"]: row for name in ("notes", "dev_e", "dev_h")
             for row in map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())}  # fmt: skip
    english = (row for row in notes.values() if row["lang"] == "en" and "MSH|" not in row["text"])
    long = [row for row in english if 500 < len(row["text"]) < 2500]
    pretty = etree.XMLParser(remove_blank_text=True)
    makers: list[tuple[str, str, bool, Callable[[tuple[str, ...], str], bytes]]] = [
        ("progress_prefixed", "lxml 6.1", False, lambda p, n: prefixed(whole(p, "11506-3", sections(lines(n))))),
        ("referral_utf16", "lxml 6.1", False, lambda p, n: etree.tostring(
            etree.fromstring(whole(p, "57133-1", sections(lines(n)))), xml_declaration=True, encoding="UTF-16")),
        ("consultation_latin1", "lxml 6.1", False, lambda p, n: etree.tostring(
            etree.fromstring(whole(p, "11488-4", sections(lines(n))), pretty), xml_declaration=True,
            encoding="ISO-8859-1", pretty_print=True)),
        ("discharge_minidom", "Python minidom", False, lambda p, n: minidom.parseString(  # noqa: S318 -- our own text
            whole(p, "18842-5", sections(lines(n)))).toxml(encoding="utf-8")),
        ("ccd_elementtree", "Python ElementTree", False, lambda p, n: ElementTree.tostring(
            ElementTree.fromstring(whole(p, "34133-9", sections(lines(n)))),  # noqa: S314 -- our own text
            encoding="us-ascii", xml_declaration=True)),
        ("progress_pandoc", "pandoc 2.17", False, lambda p, n: whole(p, "11506-3", sections(by_pandoc(n))).encode()),
        ("unstructured_text", "Python base64", False, lambda p, n: whole(
            p, "34133-9", encoded("text/plain", n.encode())).encode()),
        ("unstructured_pdf", "LibreOffice 7.4", False, lambda p, n: whole(
            p, "34133-9", encoded("application/pdf", by_office(n))).encode()),
    ]  # fmt: skip
    if jars:
        makers += [(f"{kind}_mdht", "MDHT 1.2.0", False, lambda p, n, kind=kind: by_mdht(jars, kind, n))
                   for kind in ("ccd", "discharge", "history")]  # fmt: skip
    kept = [json.loads(line) for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()] if (
        folder / "gold.jsonl").exists() else []  # fmt: skip
    rows: list[dict[str, Any]] = [row for row in kept if row["kind"] == "hostile"]
    for i, (name, made_by, held, make) in enumerate(makers):
        person, note = PEOPLE[0 if "mdht" in name else i % len(PEOPLE)], long[i * 7 % len(long)]
        (folder / f"{name}.xml").write_bytes(make(person, note["text"]))
        names = "PATIENT PATIENT MEDICAL_RECORD_NUMBER STREET CITY ZIP TELEPHONE_NUMBER CLINICIAN".split()
        identifiers = [{"text": text, "type": kind} for text, kind in zip(person, names, strict=True)]
        identifiers += [{"text": text, "type": "DATE"} for text in ("19510719", "20240305", "1659870234", "1497758544")]
        identifiers += [{"text": note["text"][span["start"] : span["end"]], "type": span["type"]}
                        for span in note["spans"]]  # fmt: skip
        rows.append({"file": f"{name}.xml", "made_by": made_by, "kind": "produced", "media_type": "application/cda+xml",
                     "note": note["text"], "identifiers": identifiers, "keeps": [], "held": held})  # fmt: skip
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "gold.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
