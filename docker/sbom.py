"""The software bill of materials of an installation, as CycloneDX JSON: hashes, licenses, our own weights.

    python docker/sbom.py LOCK SITE OUT

LOCK is a requirements file with hashes, SITE the `site-packages` that was installed from it, OUT a new file. Hashes
come from the lock, since an installation no longer has them; licenses come from the packages' metadata. A package that
is installed and not in the lock is an error. Needs cyclonedx-bom; run it from the project's root.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

OURS = "incognote"
_TOOLS = {OURS, "pip", "setuptools"}  # pip comes with the base image's Python, and is not of the lock


def normal(name: str) -> str:
    """A package's name as an index has it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def listed(lock: str, pyproject: str) -> dict[str, Any]:
    """What cyclonedx-bom makes of a lock."""
    asked = [sys.executable, "-m", "cyclonedx_py", "requirements", lock, "--pyproject", pyproject, "--of", "JSON"]
    done = subprocess.run([*asked, "--output-reproducible", "--short-PURLs"], capture_output=True, check=True)  # noqa: S603 -- our own words
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def completed(bom: dict[str, Any], site: Path) -> dict[str, Any]:
    """The same with the licenses of what is installed, without what is not, and with our weights.

    Args:
        bom: of `listed`.
        site: a `site-packages` folder.

    Raises:
        SystemExit: a package is installed that the lock does not have, or in another version.
    """
    there = {normal(one.name): one for one in distributions(path=[str(site)])}
    kept = [part for part in bom["components"] if normal(part["name"]) in there]
    locked = {normal(part["name"]): part["version"] for part in kept}
    languages = [name for name in there if name.startswith(f"{OURS}-")]
    free = {*_TOOLS, *languages}
    wrong = [name for name, one in there.items() if name not in free and locked.get(name) != one.version]
    if wrong:
        raise SystemExit(f"installed, and not so in the lock: {', '.join(sorted(wrong))}")
    for part in kept:
        part["licenses"] = licenses(there[normal(part["name"])])
        part.pop("description", None)  # the line of the lock
        for one in part.get("externalReferences", ()):  # where the builder's index was is nobody's business
            if one["type"] == "distribution":
                one["url"] = f"pkg:pypi/{normal(part['name'])}@{part['version']}"
    root = bom["metadata"]["component"]
    root["version"] = there[OURS].version
    root["licenses"] = licenses(there[OURS])
    ours = [language(name, there[name]) for name in sorted(languages)]
    ours += [weight(path, site, root["version"]) for path in sorted(site.glob(f"{OURS}*/**/*.onnx"))]
    about = {root["bom-ref"]} | {part["bom-ref"] for part in kept}
    chain = [one for one in bom.get("dependencies", ()) if one["ref"] in about]
    for one in chain:
        if "dependsOn" in one:
            one["dependsOn"] = [ref for ref in one["dependsOn"] if ref in about]
    return {**bom, "components": [*kept, *ours], "dependencies": chain}


def licenses(one: Distribution) -> list[dict[str, Any]]:
    """A package's license as its metadata has it: an SPDX expression, else a name; empty where it says nothing."""
    about = one.metadata
    if expression := about.get("License-Expression"):
        return [{"expression": expression}]
    trove = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    named = trove or [line.strip() for line in (about.get("License") or "").splitlines()[:1] if line.strip()]
    return [{"license": {"name": name}} for name in named]


def language(name: str, one: Distribution) -> dict[str, Any]:
    """A language's bundle, which is ours and in no lock."""
    about = {"type": "library", "bom-ref": f"{name}@{one.version}", "name": name, "version": one.version}
    return {**about, "licenses": licenses(one)}


def weight(path: Path, site: Path, version: str) -> dict[str, Any]:
    """A model file of ours."""
    name = path.relative_to(site).as_posix()
    return {
        "type": "machine-learning-model",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }


def main() -> None:
    """See the module's lines."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    lock, site, out = sys.argv[1:]
    told = json.dumps(completed(listed(lock, "pyproject.toml"), Path(site)), indent=1) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(told)
    if fault is not None:
        raise SystemExit(f"this is no CycloneDX 1.6: {fault}")
    Path(out).write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
