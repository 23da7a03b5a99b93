#!/usr/bin/env python3
"""Write and check the facts of DICOM PS3.15 Annex E that `incognote/formats/dicom` uses.

    python scripts/dicom_table.py write SOURCES    write profile.json from the files in a folder
    python scripts/dicom_table.py check            check profile.json; exit code 1 and a list if something is wrong

The facts are those of the standard: tags, keywords, action codes, and types of attributes. No sentence is copied.
SOURCES holds copies of its tables that others publish in a form for programs:

    profile.json     Table E.1-1 (rows with `tag`, `basicProfile` and a key for each option), in the form of
                     innolitics/dicom-standard, standard/confidentiality_profile_attributes.json
    private.csv      Table E.3.10-1: the columns group, element, creator, VR
    module_attribute_map.json, iod_module_map.json, sop_class_iod_map.json
                     PS3.3 and PS3.4: the modules of each IOD and the types of attributes, in the form of highdicom 0.28
    edition.json     the edition of each of them, as {"basic": "2026c", ...}

The type of an attribute decides between the codes of X/Z, X/D, Z/D and X/Z/D. `types` has it for the attributes with
such codes at the top level of an instance: the strictest in any module of the IOD, where 1C counts as 1 and 2C as 2.
"""

# ruff: noqa: T201 -- a script prints
from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from pathlib import Path

from pydicom.datadict import DicomDictionary, keyword_for_tag

OUT = Path(__file__).resolve().parents[1] / "incognote" / "formats" / "dicom" / "profile.json"
OPTIONS = {
    "rtnUIDsOpt": "uids", "rtnDevIdOpt": "device", "rtnInstIdOpt": "institution", "rtnPatCharsOpt": "patient",
    "rtnLongFullDatesOpt": "full", "rtnLongModifDatesOpt": "modified", "cleanDescOpt": "descriptors",
    "cleanStructContOpt": "structured", "cleanGraphOpt": "graphics", "rtnSafePrivOpt": "private",
}  # fmt: skip
CODES = {"D", "Z", "X", "K", "C", "U", "Z/D", "X/Z", "X/D", "X/Z/D", "X/Z/U*"}
REPEATING = {"50xxxxxx": "CurveData", "60xx3000": "OverlayData", "60xx4000": "OverlayComments"}
LEAST_ROWS = 600
KNOWN = {  # rows that a reader of the standard can look up
    "00100010": "Z", "00100020": "Z/D", "00080018": "U uids:K", "00080050": "Z", "00080022": "X/Z modified:C full:K",
    "00181000": "X/Z/D device:K", "00081030": "X descriptors:C", "0040a730": "D structured:C",
    "50xxxxxx": "X graphics:C",
    "00101010": "X patient:K", "00200052": "U uids:K", "00080080": "X/Z/D institution:K",
}  # fmt: skip


def rows_of(folder: Path) -> dict[str, str]:
    """Return the codes by tag: `X/Z full:K modified:C`."""
    rows = {}
    for row in json.loads((folder / "profile.json").read_text()):
        tag = row["tag"].strip("()").replace(",", "").lower()
        if "ggggeeee" in tag:  # the row of private attributes
            continue
        options = [f"{name}:{row[key]}" for key, name in OPTIONS.items() if row.get(key)]
        rows[tag] = " ".join([row["basicProfile"], *options])
    return dict(sorted(rows.items()))


def types_of(folder: Path, rows: dict[str, str]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the types of conditional attributes by IOD, with "" for the most frequent one, and IODs by SOP class."""
    modules = json.loads((folder / "module_attribute_map.json").read_text())
    iods = json.loads((folder / "iod_module_map.json").read_text())
    classes = json.loads((folder / "sop_class_iod_map.json").read_text())
    conditional = (tag for tag, codes in rows.items() if "x" not in tag and "/" in codes.split()[0])
    wanted = {keyword_for_tag(int(tag, 16)) for tag in conditional}
    found: dict[str, dict[str, str]] = {keyword: {} for keyword in wanted}
    for iod in sorted(set(classes.values())):
        for module in iods[iod]:
            for each in modules.get(module["key"], ()):
                keyword, kind = each["keyword"], each["type"][:1]
                if not each["path"] and keyword in found and kind in "123":
                    found[keyword][iod] = min(found[keyword].get(iod, "3"), kind)
    types = {}
    for keyword, by_iod in sorted(found.items()):
        if by_iod:
            usual = Counter(by_iod.values()).most_common(1)[0][0]
            types[keyword] = {"": usual, **{iod: kind for iod, kind in by_iod.items() if kind != usual}}
    used = {iod for each in types.values() for iod in each}
    return types, {uid: iod for uid, iod in classes.items() if iod in used}


def private_of(folder: Path) -> list[str]:
    """Return the safe private attributes: `0019xx0c IS SIEMENS MR HEADER`."""
    with (folder / "private.csv").open(newline="") as lines:
        rows = {f"{r['group']}{r['element']} {r['vr']} {r['creator']}".strip() for r in csv.DictReader(lines)}
    return sorted(rows)


def write(folder: Path) -> None:
    rows = rows_of(folder)
    types, classes = types_of(folder, rows)
    content = {
        "about": "Facts of DICOM PS3.15 Tables E.1-1 and E.3.10-1 and of PS3.3, written by scripts/dicom_table.py",
        "edition": json.loads((folder / "edition.json").read_text()),
        "rows": {tag: f"{codes} {keyword_of(tag)}" for tag, codes in rows.items()},
        "private": private_of(folder),
        "types": types,
        "iods": classes,
    }
    OUT.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n")
    print(f"{len(rows)} rows, {len(content['private'])} safe private attributes, {len(types)} types")


def keyword_of(tag: str) -> str:
    """Return the keyword of a tag, or "" if the installed pydicom does not know it."""
    return REPEATING[tag] if tag in REPEATING else keyword_for_tag(int(tag, 16))


def check() -> list[str]:
    """Return what is wrong with the shipped file."""
    content = json.loads(OUT.read_text())
    rows: dict[str, str] = content["rows"]
    wrong = [f"only {len(rows)} rows"] if len(rows) < LEAST_ROWS else []
    for tag, row in rows.items():
        codes, _, keyword = row.rpartition(" ")
        basic, *options = codes.split()
        parts = [each.partition(":") for each in options]
        if basic not in CODES or any(name not in OPTIONS.values() or code not in "KCU" for name, _, code in parts):
            wrong.append(f"{tag}: {row}")
        if tag not in REPEATING and keyword != keyword_of(tag):
            wrong.append(f"{tag}: the keyword is {keyword_of(tag)}")
    for tag, codes in KNOWN.items():
        found = rows.get(tag, "").rpartition(" ")[0]
        if set(found.split()) != set(codes.split()):
            wrong.append(f"{tag}: {found!r}, not {codes!r}")
    known = {entry[4] for entry in DicomDictionary.values()}
    wrong += [f"{keyword}: no attribute" for keyword in content["types"] if keyword not in known]
    wrong += [each for each in content["private"] if len(each.split(maxsplit=2)) != 3 or each[4:6] != "xx"]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument("sources", type=Path)
    commands.add_parser("check")
    args = parser.parse_args()
    if args.command == "write":
        write(args.sources)
    wrong = check()
    print("\n".join(wrong) or "no fault found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
