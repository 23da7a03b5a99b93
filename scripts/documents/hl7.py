"""Write the HL7 files of the corpus of documents that HAPI makes: `python scripts/documents/hl7.py LIB`.

LIB holds the jars of HAPI (`ca.uhn.hapi:hapi-structures-v25:2.5.1` with its dependencies). The texts are notes of
`tests/data`. The other files of the folder were written by hand. All people are fictional.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OUT = ROOT / "tests/data/documents/hl7"
PEOPLE = (
    ("Quillfeather", "Marisol", "19580314", "00412873", "12 Harbor St", "Tillman Falls", "(330)555-0142", "Abara",
     "Chidi"),
    ("Brackwater", "Jonas", "19710902", "7700193", "9 Larch Ave", "Pinedale", "(208)555-0177", "Oyelaran", "Temitope"),
    ("Szymanska", "Halina", "194412", "A-30921", "401 Mill Rd", "Corbin", "(606)555-0110", "Wachter", "Ilse"),
)
PLACES = {
    "ORU_R01": "/PATIENT_RESULT/ORDER_OBSERVATION/OBSERVATION({})/OBX", "MDM_T02": "/OBXNTE({})/OBX",
    "VXU_V04": "/ORDER/OBSERVATION({})/OBX", "ORM_O01": "/ORDER/ORDER_DETAIL/OBSERVATION({})/OBX",
    "SIU_S12": "/PATIENT/OBX({})", "DFT_P03": "/COMMON_ORDER/OBSERVATION({})/OBX",
}
FORMS = ("ORU_R01", "MDM_T02", "ORU_R01", "FT", "ORU_R01", "MDM_T02", "ADT_A01", "SIU_S12", "VXU_V04", "ORM_O01",
         "DFT_P03", "ORU_R01", "MDM_T02", "FT")


def notes() -> list[dict[str, Any]]:
    """Return short English notes with many identifiers."""
    rows = [json.loads(line) for name in ("notes", "dev_f", "dev_g")
            for line in (ROOT / f"tests/data/{name}.jsonl").read_text("utf-8").splitlines()]
    fit = [row for row in rows if 250 < len(row["text"]) < 1500 and len(row["spans"]) > 3
           and row.get("lang", "en") == "en" and "|" not in row["text"]]
    return fit[:: max(len(fit) // 14, 1)][:14]


def kept(row: dict[str, Any]) -> list[str]:
    """Return clinical words that no span touches."""
    words = re.finditer(r"\b[a-z]{8,}\b", row["text"])
    free = [w[0] for w in words if all(w.end() <= s["start"] or s["end"] <= w.start() for s in row["spans"])]
    return list(dict.fromkeys(free))[:4]


def produced(at: int, form: str, row: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the lines for HAPI, and the gold."""
    family, given, born, number, street, city, phone, doctor, first = PEOPLE[at % len(PEOPLE)]
    name = "ORU_R01" if form == "FT" else form
    lines = [f"{name} {name.replace('_', ' ')}", "MSH-3\tMEDSYS", "MSH-4\tTILLMANGEN", "MSH-7\t202503091430",
             "MSH-10\tCTRL990" + str(at), "MSH-18\tUNICODE UTF-8"]
    lines += [f"/.PID-{path}\t{value}" for path, value in (
        ("1", "1"), ("3-1", number), ("3-4", "TILLMANGEN"), ("3-5", "MR"), ("5-1", family), ("5-2", given), ("7", born),
        ("8", "F"), ("11-1", street), ("11-3", city), ("13-1", phone), ("18-1", "V5590217"))]
    lines += [f"/.PV1-{path}\t{value}" for path, value in (
        ("2", "I"), ("3-1", "4WEST"), ("3-2", "412"), ("7-1", "1234567893"), ("7-2", doctor), ("7-3", first))]
    place = PLACES.get(name, "/OBX({})")
    lines += {
        "ORU_R01": ["/.OBR-4-1\t11506-3", "/.OBR-4-3\tLN"],
        "MDM_T02": ["/.TXA-1\t1", "/.TXA-2\tPN", "/.TXA-4\t202503091430", f"/.TXA-5-2\t{doctor}",
                    "/.TXA-12-1\tDOC55120"],
        "SIU_S12": ["/.SCH-1-1\tAPPT77120", "/.SCH-6-2\tFollow-up", f"/.SCH-16-2\t{doctor}"],
        "VXU_V04": ["/.ORC-1\tRE", "/.RXA-1\t0", "/.RXA-2\t1", "/.RXA-3\t20250309", "/.RXA-5-1\t140",
                    "/.RXA-5-2\tInfluenza", "/.RXA-5-3\tCVX", "/.RXA-6\t0.5"],
        "ORM_O01": ["/.ORC-1\tNW", "/.ORC-2-1\tORD5521", "/.OBR-4-2\tChest radiograph"],
        "DFT_P03": ["/.FT1-4\t20250309", "/.FT1-6\tCG", "/.FT1-7-1\t99213", "/.FT1-7-3\tC4"],
    }.get(name, [])
    text = row["text"]
    for i, value in enumerate([text] if form == "FT" else text.split("\n")):
        lines += [f"{place.format(i)}-{path}\t{v}" for path, v in (
            ("1", str(i + 1)), ("2", "FT" if form == "FT" else "TX"), ("3-1", "11506-3"), ("3-3", "LN"),
            ("5", value.replace("\n", "\\n")), ("11", "F")) if v]
    identifiers = [{"text": text[s["start"]:s["end"]], "type": s["type"]} for s in row["spans"]]
    identifiers += [{"text": value, "type": kind} for value, kind in (
        (family, "PATIENT"), (given, "PATIENT"), (born, "BIRTH_DATE_TIME"), (number, "MEDICAL_RECORD_NUMBER"),
        (street, "STREET"), (city, "CITY"), (phone, "TELEPHONE_NUMBER"), ("V5590217", "FIN"),
        ("TILLMANGEN", "HOSPITAL"), ("4WEST", "DEPARTMENT"),
        (doctor, "CLINICIAN"), (first, "CLINICIAN"), ("1234567893", "LICENSE_NUMBER"),
        ("202503091430", "DATE_TIME"), (f"CTRL990{at}", "GUID"))]
    if name == "SIU_S12":
        identifiers.append({"text": "APPT77120", "type": "GUID"})
    about = {"kind": "produced", "made_by": "HAPI 2.5.1", "note": text}
    return lines, {**about, "identifiers": identifiers, "keeps": kept(row)}


def main(lib: str) -> None:
    gold: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for at, (form, row) in enumerate(zip(FORMS, notes(), strict=True)):
            lines, known = produced(at, form, row)
            name = f"hapi_{at:02}_{form.lower()}"
            (Path(folder) / f"{name}.terser").write_text("\n".join(lines), "utf-8")
            gold.append({"file": f"{name}.hl7", "media_type": "application/hl7-v2", **known})
        source = str(Path(__file__).with_name("Hl7.java"))
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", f"{lib}/*", source, folder]
        subprocess.run(command, check=True)  # noqa: S603 -- our own program, on our own files
        for path in Path(folder).glob("*.hl7"):
            (OUT / path.name).write_bytes(path.read_bytes())
    by_hand = [line for line in (OUT / "gold.jsonl").read_text("utf-8").splitlines() if '"kind": "hostile"' in line]
    produced_lines = [json.dumps(row, ensure_ascii=False) for row in gold]
    (OUT / "gold.jsonl").write_text("\n".join([*produced_lines, *by_hand, ""]), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
