"""Describe what decides an output, in names and hashes without PHI, for releases of a worker and for resumed runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from incognote.files.inputs import RecordDefaults
from incognote.formats.tables import Layout, Layouts

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

_SETTINGS = ("domain", "data_type", "max_characters", "encoder_point", "encoder_fast", "detectors", "pictures")


def deciding(made: Deidentifier, *, layout: Layout | Layouts | None, words: RecordDefaults) -> dict[str, Any]:
    """Return code, policy, schemas, detectors, models, key and settings.

    Two runs with equal values give equal outputs.
    """
    from incognote.agents.manifest import incognote_version

    tools = made.engine
    return {
        "incognote": incognote_version(),
        "code": code(),
        "policy": {"name": tools.policy.name, "version": tools.policy.version},
        "schemas": {schema.data_type: schema.version for schema in tools.registry.all()},
        "detectors": dict(tools.versions),
        "models": tools.reader.facts() if tools.reader is not None else None,
        "key": {"id": tools.keyring.id, "check": tools.keyring.check},
        "settings": {
            **{name: getattr(tools.settings, name) for name in _SETTINGS},
            "known": tools.mac_id("|".join(f"{known.type} {known.value}" for known in words.known)),
        },
        "tables": layout.words() if layout else None,
    }


@cache
def code() -> str:
    """Return a hash of this package's installed files, code and data."""
    total = hashlib.sha256()
    for path, file in sorted(_files(files("incognote"), "")):
        total.update(path.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def _files(folder: Traversable, under: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _files(entry, f"{under}{entry.name}/")
        else:
            yield under + entry.name, entry
