"""The bill of materials: installed packages with the lock's hashes and their licenses, and our weights."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sbom() -> ModuleType:
    """The module docker/sbom.py."""
    found = importlib.util.spec_from_file_location("sbom", ROOT / "docker" / "sbom.py")
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


def bom() -> dict[str, Any]:
    """What cyclonedx-bom writes for a lock of three packages, one of them for another system."""

    def part(line: int, name: str, version: str) -> dict[str, Any]:
        hashes = [{"alg": "SHA-256", "content": f"{line:064d}"}]
        where = {"type": "distribution", "url": "https://mirror.example/simple/x/", "hashes": hashes}
        return {"type": "library", "bom-ref": f"L{line}", "name": name, "version": version,
                "description": "requirements line", "externalReferences": [where]}  # fmt: skip

    parts = [part(1, "Some.Package", "1.2"), part(2, "other", "3"), part(3, "colorama", "0.4")]
    root = {"type": "application", "bom-ref": "root", "name": "incognote"}
    chain = [{"ref": "root", "dependsOn": ["L1", "L3"]}, *({"ref": f"L{n}"} for n in (1, 2, 3))]
    return {"metadata": {"component": root}, "components": parts, "dependencies": chain}


def installed(site: Path, name: str, version: str, *about: str) -> None:
    """Write a package's metadata into a site-packages folder."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *about, "", ""]
    (folder / "METADATA").write_text("\n".join(lines))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The packages installed from the lock."""
    installed(tmp_path, "some_package", "1.2", "License-Expression: MIT")
    installed(tmp_path, "other", "3", "Classifier: License :: OSI Approved :: BSD License")
    installed(tmp_path, "incognote", "0.1.0", "License-Expression: Apache-2.0")
    installed(tmp_path, "pip", "25")
    installed(tmp_path, "incognote-en", "0.1.0", "License-Expression: Apache-2.0")
    (tmp_path / "incognote_en" / "model").mkdir(parents=True)
    (tmp_path / "incognote_en" / "model" / "a.onnx").write_bytes(b"weights")
    return tmp_path


def test_it_holds_what_is_installed_with_hashes_licenses_and_our_weights(sbom: ModuleType, site: Path) -> None:
    made = sbom.completed(bom(), site)
    assert [(one["name"], one["licenses"]) for one in made["components"]] == [
        ("Some.Package", [{"expression": "MIT"}]),
        ("other", [{"license": {"name": "BSD License"}}]),
        ("incognote-en", [{"expression": "Apache-2.0"}]),
        ("incognote_en/model/a.onnx", [{"license": {"id": "Apache-2.0"}}]),
    ]
    assert made["components"][3]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"weights").hexdigest()}]
    assert made["components"][0]["externalReferences"][0]["hashes"][0]["content"].endswith("1")
    assert made["metadata"]["component"]["licenses"] == [{"expression": "Apache-2.0"}]
    assert made["dependencies"][0] == {"ref": "root", "dependsOn": ["L1"]}
    assert "mirror.example" not in str(made)


def test_an_installed_package_that_differs_from_the_lock_is_an_error(sbom: ModuleType, site: Path) -> None:
    installed(site, "stranger", "1")
    with pytest.raises(SystemExit, match="stranger"):
        sbom.completed(bom(), site)


def test_our_own_weights_are_found(sbom: ModuleType) -> None:
    found = [sbom.weight(path, ROOT, "1") for path in sorted((ROOT / "languages" / "en").rglob("*.onnx"))]
    assert len(found) >= 3
    assert len({one["hashes"][0]["content"] for one in found}) == len(found)
