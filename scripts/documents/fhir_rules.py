"""Derive the FHIR rules from the structure definitions of the specification.

    mvn -q dependency:copy -Dartifact=ca.uhn.hapi.fhir:hapi-fhir-validation-resources-r4:6.10.5 -DoutputDirectory=jars
    mvn -q dependency:copy -Dartifact=ca.uhn.hapi.fhir:hapi-fhir-validation-resources-r5:6.10.5 -DoutputDirectory=jars
    python scripts/documents/fhir_rules.py jars

Both jars have a license that permits this (Apache-2.0; the definitions themselves are CC0). The rule of an element
follows from its type and its required binding. The rules in `fhir_rules.toml` take precedence. The script writes
`r4.json` and `r5.json` in `incognote/schemas/fhir`, and `docs/fhir-types.md`. Read the differences, then approve them:

    python scripts/documents/fhir_rules.py --approve "YOUR NAME"
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from incognote.schemas.record_schema import content_hash

RULES = Path(__file__).resolve().parents[2] / "incognote/schemas/fhir"
R4, R5 = "hapi-fhir-validation-resources-r4-*.jar", "hapi-fhir-validation-resources-r5-*.jar"
LISTS = {"element", "type", "targetProfile", "profile", "concept", "include", "exclude", "valueSet", "context"}
EXTENSION = "http://hl7.org/fhir/StructureDefinition/"
BASES = ("Element", "BackboneElement", "Resource", "DomainResource")
MOST = 400  # the codes of a value set that are listed; larger sets are languages, media types and currencies
PATTERNS = {"mimetypes": "mime", "languages": "language", "all-languages": "language", "currencies": "currency"}
NAMES_OF_TYPES = ("all-types", "defined-types", "resource-types", "fhir-types", "concrete-fhir-types",
                  "all-resource-types", "version-independent-all-resource-types", "node-type")
COLUMNS = {
    **dict.fromkeys(("mask", "absent", "id", "drop", "attachment", "HumanName", "Address", "ContactPoint", "Identifier",
                     "Attachment", "Age", "AgeRange", "ContactDetail", "base64Binary", "Signature"), "replaced"),
    **dict.fromkeys(("date", "dateTime", "instant", "Period", "Timing"), "date"),
    **dict.fromkeys(("text", "string", "markdown", "Annotation", "Narrative", "*"), "text"),
}
PAGE = """# FHIR resource types

This page lists what incognote replaces in each resource type of FHIR R4. Codes, numbers, and references are not listed.
[FHIR](fhir.md) describes what happens to them. `incognote schema show fhir.Patient` shows every element of a type. This
page is written by `scripts/documents/fhir_rules.py`.

| Type | Masked, hashed, withheld, or removed | Dates | Scanned text |
|---|---|---|---|
"""
Definitions = dict[str, dict[str, Any]]
"""Structure definitions, code systems and value sets by URL."""


def from_xml(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the resources of a Bundle in XML in the form that they have in JSON, without narratives."""
    for _, node in ElementTree.iterparse(io.BytesIO(data)):  # noqa: S314  # a file of a released jar
        if node.tag.endswith("}resource"):
            for resource in node:
                yield {**_members(resource), "resourceType": resource.tag.rpartition("}")[2]}
            node.clear()


def _members(node: ElementTree.Element) -> Any:
    made: dict[str, Any] = {}
    for inner in node:
        name = inner.tag.rpartition("}")[2]
        if name in ("text", "div", "extension"):
            continue
        value = inner.get("value") or _members(inner)
        is_single = name in ("type", "valueSet") and node.tag.endswith(("}StructureDefinition", "}binding"))
        if name in LISTS and not is_single:
            made.setdefault(name, []).append(value)
        else:
            made[name] = value
    return made


def r4(jar: Path) -> Definitions:
    """Return the definitions of R4."""
    wanted = re.compile(r"/(profiles-(resources|types)|extension-definitions|valuesets|v3-codesystems)\.xml$")
    with zipfile.ZipFile(jar) as archive:
        files = [name for name in archive.namelist() if wanted.search(name)]
        return {one["url"]: one for name in sorted(files) for one in from_xml(archive.read(name)) if "url" in one}


def r5(jar: Path) -> Definitions:
    """Return the definitions of R5."""
    with zipfile.ZipFile(jar) as archive:
        name = next(name for name in archive.namelist() if "r5.core" in name)
        packed = archive.read(name)
    found = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as package:
        for member in package:
            if re.match(r"package/(StructureDefinition|ValueSet|CodeSystem)-[^/]+\.json", member.name):
                one = json.loads(package.extractfile(member).read())  # type: ignore[union-attr]  # a regular file
                found[one["url"]] = one
    return found


class Deriver:
    """The rules of one version of FHIR.

    Args:
        known: the definitions.
        overrides: the rules of `fhir_rules.toml` by path.
    """

    def __init__(self, known: Definitions, overrides: dict[str, str]) -> None:
        self._known, self._overrides = known, overrides
        self.used: set[str] = set()
        structures = [one for one in known.values() if one["resourceType"] == "StructureDefinition"
                      and one.get("derivation") != "constraint" and "snapshot" in one]
        self._structures = {one["type"]: one for one in structures if one["kind"] in ("resource", "complex-type")}
        self._primitives = {one["type"] for one in structures if one["kind"] == "primitive-type"}

    def written(self) -> dict[str, Any]:
        """Return the types and the resource types, each with its base and its own elements."""
        types: dict[str, Any] = {}
        resources: dict[str, Any] = {}
        for name, one in self._structures.items():
            if name in BASES or one.get("abstract") not in (True, "true"):
                above = [base for base in self._above(name) if base in BASES and base != name]
                made: dict[str, Any] = {"base": above[0]} if above else {}
                made["elements"] = self._elements(one, above)
                is_type = one["kind"] == "complex-type" or name in BASES
                if name != "Extension":
                    (types if is_type else resources)[name] = made
        types["AgeRange"] = {"base": "Element", "elements": {"low": "Age", "high": "Age"}}
        first = {name: types.pop(name) for name in BASES}
        return {"types": first | dict(sorted(types.items())), "resources": dict(sorted(resources.items()))}

    def _above(self, name: str) -> Iterator[str]:
        while name in self._structures:
            yield name
            name = self._structures[name].get("baseDefinition", "").rpartition("/")[2]

    def _elements(self, one: dict[str, Any], above: list[str]) -> dict[str, Any]:
        root: dict[str, Any] = {}
        inside = {one["type"]: root}
        inherited = {e["path"].partition(".")[2] for base in above
                     for e in self._structures[base]["snapshot"]["element"]}
        for element in one["snapshot"]["element"][1:]:
            path = element["path"]
            owner, _, name = path.rpartition(".")
            if owner not in inside or element.get("max") == "0" or (owner == one["type"] and name in inherited):
                continue
            if name in ("id", "extension", "modifierExtension") and owner != one["type"]:
                continue
            many = "[]" if element.get("max") not in ("1", None) else ""
            if "contentReference" in element:
                root_path = element["contentReference"].partition("#")[2].partition(".")[2]
                inside[owner][name] = f"@{root_path}{many}"
                continue
            kinds = element.get("type", [])
            if name.endswith("[x]"):
                if len(kinds) > 40:
                    inside[owner][name] = f"*{many}"
                    continue
                for kind in kinds:
                    code = _code(kind)
                    own = name.removesuffix("[x]") + code[0].upper() + code[1:]
                    inside[owner][own] = self._one(f"{owner}.{own}", path, element, kind, many)
            elif kinds and _code(kinds[0]) in ("BackboneElement", "Element"):
                inside[path] = {}
                inside[owner][name] = {"type": _code(kinds[0]) + many, "elements": inside[path]}
            else:
                inside[owner][name] = self._one(path, path, element, kinds[0], many)
        return root

    def _one(self, path: str, general: str, element: dict[str, Any], kind: dict[str, Any], many: str) -> str:
        """Return the rule of one element with one type, in the short form that `schemas/fhir` reads."""
        code = _code(kind)
        limits = ""
        rule = ""
        if code in ("Reference", "CodeableReference"):
            named = [target.rpartition("/")[2] for target in kind.get("targetProfile", ())]
            limits = f"({'|'.join(named)})" if named else ""
        elif code == "code":
            limits, rule = self._code_limits(element)
        name = path.rpartition(".")[2]
        for key in (path, general, f"*.{name}", f"*.{name} {code}"):
            written = self._overrides.get(key, "")
            if written and (code in self._primitives or written.startswith(("type ", "drop", "refuse"))):
                self.used.add(key)
                rule = written
                break
        if rule.startswith("type "):
            return rule.removeprefix("type ") + many
        if rule.startswith(("(", "~")):
            limits, _, rule = rule.partition(" ")
        return f"{code}{limits}{many} {rule}".rstrip()

    def _code_limits(self, element: dict[str, Any]) -> tuple[str, str]:
        binding = element.get("binding", {})
        url = str(binding.get("valueSet", "")).partition("|")[0]
        name = url.rpartition("/")[2]
        if name in PATTERNS and binding.get("strength") in ("required", "preferred"):
            return f"~{PATTERNS[name]}", ""
        if name in NAMES_OF_TYPES:
            return "", "type"
        codes = self._codes(url) if binding.get("strength") == "required" else None
        return (f"({'|'.join(sorted(codes))})", "") if codes and len(codes) <= MOST else ("", "")

    def _codes(self, url: str, above: tuple[str, ...] = ()) -> set[str] | None:
        """Return the codes of a value set, or None if the definitions do not list them all."""
        one = self._known.get(url)
        if one is None or url in above:
            return None
        if one["resourceType"] == "CodeSystem":
            return set(_concepts(one.get("concept", ()))) or None
        codes: set[str] = set()
        for part in one.get("compose", {}).get("include", ()):
            if "filter" in part:
                return None
            inner = [self._codes(each.partition("|")[0], (*above, url)) for each in part.get("valueSet", ())]
            if "concept" in part:
                inner.append({each["code"] for each in part["concept"]})
            elif "system" in part:
                inner.append(self._codes(part["system"]))
            for each in inner:
                if each is None:
                    return None
                codes |= each
        return codes or None

    def open_types(self) -> list[str]:
        """Return the types that the value of an extension may have."""
        value = next(e for e in self._structures["Extension"]["snapshot"]["element"] if e["path"].endswith("[x]"))
        return [_code(kind) for kind in value["type"]]

    def extensions(self) -> dict[str, Any]:
        """Return the extensions that the specification defines, by URL, without the common beginning of their URLs."""
        made = {}
        for url, one in sorted(self._known.items()):
            if one["resourceType"] != "StructureDefinition" or one.get("type") != "Extension" or "snapshot" not in one:
                continue
            if url == EXTENSION + "Extension" or not url.startswith(EXTENSION):
                continue
            if one["snapshot"]["element"][0].get("isModifier") in (True, "true"):
                continue
            made[url.rpartition("/")[2]] = self._extension(one)
        return made

    def _extension(self, one: dict[str, Any]) -> Any:
        name = one["url"].rpartition("/")[2]
        inner: dict[str, dict[str, str]] = {}
        own: dict[str, str] = {}
        current: str | None = None
        for element in one["snapshot"]["element"]:
            depth = element["path"].count(".extension")
            if depth == 1 and element["path"].endswith(".extension") and "sliceName" in element:
                current = element["sliceName"]
                inner[current] = {}
            elif element["path"].endswith(".value[x]") and element.get("max") != "0" and depth <= 1:
                key = f"{name}.{current}" if depth else name
                for kind in element.get("type", ()):
                    code = _code(kind)
                    written = self._one(f"{key}.value{code[0].upper()}{code[1:]}", key, element, kind, "")
                    (inner[current] if depth and current else own)[f"value{code[0].upper()}{code[1:]}"] = written
        return {"extension": inner} if inner else own


def _code(kind: dict[str, Any]) -> str:
    code = str(kind.get("code", "string")).rpartition("/")[2].rpartition(".")[2]
    return {"String": "string", "Date": "date", "DateTime": "dateTime", "Time": "time", "Boolean": "boolean",
            "SimpleQuantity": "Quantity", "MoneyQuantity": "Quantity"}.get(code, code)


def _concepts(concepts: Iterable[dict[str, Any]]) -> Iterator[str]:
    for concept in concepts:
        yield concept["code"]
        yield from _concepts(concept.get("concept", ()))


def text(written: Any, depth: int = 0) -> str:
    """Return JSON with one element per line."""
    if not isinstance(written, dict) or (depth > 1 and len(str(written)) < 100 and "{" not in str(written)[1:]):
        return json.dumps(written, ensure_ascii=False)
    pad = " " * (depth + 1)
    lines = ",\n".join(f"{pad}{json.dumps(k)}: {text(v, depth + 1)}" for k, v in written.items())
    return f"{{\n{lines}\n{' ' * depth}}}" if lines else "{}"


def table(written: dict[str, Any]) -> str:
    """Return the page with the elements of each resource type that are replaced, scanned, or dates."""
    rows = []
    for name, one in written["resources"].items():
        columns: dict[str, list[str]] = {"replaced": [], "date": [], "text": []}
        for path, rule in _leaves(one["elements"], ""):
            type_, _, own = rule.replace("[]", "").partition(" ")
            type_ = re.split(r"[(~]", type_)[0] or type_
            own = own.partition(" ")[0] or ("pass" if re.match(r"\w+[(~]", rule) else "")
            columns.get(COLUMNS.get(own or type_, ""), []).append(f"`{path}`")
        rows.append(f"| {name} | {' | '.join(' '.join(each) or '–' for each in columns.values())} |")
    return PAGE + "\n".join(rows) + "\n"


def _leaves(elements: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, rule in elements.items():
        if isinstance(rule, dict):
            yield from _leaves(rule["elements"], f"{path}{name}.")
        else:
            yield path + name, rule


def overrides() -> dict[str, str]:
    """Return the rules of `fhir_rules.toml` by path."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {path: group["rule"] for group in table["override"] for path in group["elements"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("jars", type=Path, nargs="?")
    parser.add_argument("--approve", metavar="NAME")
    given = parser.parse_args()
    if given.jars:
        rules = overrides()
        used: set[str] = set()
        for version, name, read, pattern in (("4.0.1", "r4", r4, R4), ("5.0.0", "r5", r5, R5)):
            derived = Deriver(read(next(given.jars.glob(pattern))), rules)
            made = {"fhir": version, "open_types": derived.open_types(), **derived.written()}
            made["extensions"] = derived.extensions()
            if name == "r4":
                (RULES.parents[2] / "docs/fhir-types.md").write_text(table(made), encoding="utf-8")
            (RULES / f"{name}.json").write_text(text(made) + "\n", encoding="utf-8")
            used |= derived.used
        if never := sorted(rules.keys() - used):
            parser.error(f"fhir_rules.toml has rules for elements that do not exist: {', '.join(never)}")
    if given.approve:
        book = RULES / "approvals.json"
        approvals = json.loads(book.read_text(encoding="utf-8"))
        for path in sorted(RULES.glob("*.json")):
            digest = content_hash(json.loads(path.read_text(encoding="utf-8")))
            if path != book and approvals.get(path.name, {}).get("sha256") != digest:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                approvals[path.name] = {"by": given.approve, "at": at, "sha256": digest}
        kept = {name: approvals[name] for name in sorted(approvals) if (RULES / name).exists()}
        book.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
