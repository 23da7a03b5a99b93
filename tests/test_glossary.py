"""The glossary matches the docstrings, and its entries are short."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glossary", ROOT / "scripts" / "glossary.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_glossary_is_that_of_the_docstrings(script: ModuleType) -> None:
    assert script.GLOSSARY.read_text("utf-8") == script.glossary(), "run scripts/glossary.py"


def test_an_entry_is_a_sentence_or_two_and_points_nowhere_else(script: ModuleType) -> None:
    assert list(script.TERMS) == sorted(script.TERMS, key=str.casefold)
    for where in script.TERMS.values():
        _, text = script.entry(where)
        assert len(text) <= 200, where
        assert text.rstrip(".").count(". ") <= 1, where
        assert not text.startswith("See "), where


def test_a_noun_that_is_gone_is_named(script: ModuleType) -> None:
    for where in ("incognote.nouns:Unheard", "incognote.unheard", "incognote.unheard:Text"):
        with pytest.raises(LookupError, match="Correct the entry"):
            script.entry(where)
