"""The manifest of one result: what decided it, in hashes and counts; no PHI, no id of the record."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from incognote.agents.case import Case
from incognote.nouns import Verdict


@cache
def incognote_version() -> str:
    """The installed version, "unknown" when run from an uninstalled tree."""
    try:
        return version("incognote")
    except PackageNotFoundError:
        return "unknown"


def manifest_of(case: Case, verdict: Verdict) -> dict[str, Any]:
    """JSON-able: versions and hashes, key id and check value, counts by type and operator, verdict with reasons."""
    tools = case.tools
    # a hash is derived from the individual: 45 CFR 164.514(c)(1) lets no Safe Harbor output carry one
    hashed = any(action.action == "hash" for action in case.field_values)
    label = None if hashed and tools.policy.label == "safe-harbor" else tools.policy.label
    return {
        "incognote": incognote_version(),
        "policy": {"name": tools.policy.name, "version": tools.policy.version, "label": label},
        "schema": {"data_type": case.record.schema.data_type, "version": case.record.schema.version}
        if case.record
        else None,
        "versions": tools.versions,
        "models": case.reading(),
        "key": {"id": tools.keyring.id, "check": tools.keyring.check, "persistent": tools.keyring.persistent},
        "counts": {**case.facts(), "mended": case.mended, "widened": case.widened},
        "verdict": verdict.outcome,
        "reasons": [{"code": r.code, "field": r.field, "detail": r.detail} for r in verdict.reasons],
    }
