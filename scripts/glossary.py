#!/usr/bin/env python3
"""Write docs/glossary.md from docstrings.

    python scripts/glossary.py

An entry is the first paragraph of the docstring of a class, or of a module if the term has no class. Nothing is
imported.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
TERMS = {
    "Chunk": "incognote.extraction.chunks:Chunk",
    "Deidentifier": "incognote.sdk:Deidentifier",
    "Destination": "incognote.runs:Destination",
    "Detector": "incognote.detectors:Detector",
    "Document": "incognote.formats.base:Document",
    "Embedder": "incognote.embedding:Embedder",
    "Engine": "incognote.agents:Engine",
    "Entity type": "incognote.schemas:EntityType",
    "Format": "incognote.formats.base:Format",
    "Identity": "incognote.relex:Identity",
    "Index": "incognote.relex:SurrogateIndex",
    "Item": "incognote.agents:Item",
    "Keyring": "incognote.keys:Keyring",
    "Known": "incognote.nouns:Known",
    "Language": "incognote.languages",
    "Language model": "incognote.llm:LanguageModel",
    "Ledger": "incognote.ledger:Ledger",
    "Manifest": "incognote.agents.manifest",
    "Mention": "incognote.nouns:Mention",
    "Operator": "incognote.operators:Operator",
    "Pack": "incognote.detectors.packs:Pack",
    "Policy": "incognote.schemas:Policy",
    "Quarantine": "incognote.files:Quarantine",
    "Reason": "incognote.nouns:Reason",
    "Recording": "incognote.llm:Recording",
    "Release": "incognote.ledger:Release",
    "Replacement": "incognote.nouns:Replacement",
    "Result": "incognote.nouns:Result",
    "Run": "incognote.runs",
    "Schema": "incognote.schemas:Schema",
    "Shard": "incognote.ledger:Shard",
    "Source": "incognote.files:Source",
    "Span": "incognote.nouns:Span",
    "Surrogate": "incognote.relex:Surrogate",
    "Text": "incognote.nouns:Text",
    "Variant": "incognote.relex:MentionVariant",
    "Verdict": "incognote.nouns:Verdict",
}
"""Each term and the place of its docstring: a module, or a class that is unique in a folder or module."""


def places(where: str) -> list[tuple[str, ast.AST]]:
    """Return the module, or each class of that name in the folder or module, with its dotted name."""
    folder, _, name = where.partition(":")
    path = ROOT.joinpath(*folder.split("."))
    if not name:
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        return [(where, ast.parse(path.read_text("utf-8")))] if path.is_file() else []
    found: list[tuple[str, ast.AST]] = []
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text("utf-8")) if file.is_file() else ast.Module([], [])
        found += [(f"{module}.{name}", n) for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == name]
    return found


def entry(where: str) -> tuple[str, str]:
    """Return the place of a term, and the first paragraph of its docstring on one line.

    Raises:
        LookupError: no class or module matches, more than one matches, or it has no docstring.
    """
    found = places(where)
    if len(found) != 1:
        raise LookupError(f"{where}: {len(found)} matches. Correct the entry in scripts/glossary.py.")
    (place, node) = found[0]
    text = ast.get_docstring(node) if isinstance(node, ast.ClassDef | ast.Module) else None
    if not text:
        raise LookupError(f"{place} has no docstring")
    return place, " ".join(text.partition("\n\n")[0].split())


def glossary() -> str:
    """Return the text of the glossary page."""
    lines = [
        "# Glossary",
        "",
        "`scripts/glossary.py` generates this page from the docstrings of the classes and modules in the last column.",
        "",
        "| Term | Meaning | Class or module |",
        "|---|---|---|",
    ]
    for term, where in TERMS.items():
        place, text = entry(where)
        lines.append(f"| **{term}** | {text} | `{place}` |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GLOSSARY.write_text(glossary(), encoding="utf-8")
