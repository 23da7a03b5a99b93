"""A description of how a result was produced. It contains hashes and counts, but no PHI or record IDs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from incognote.agents.stages import NO_IDENTIFIER, Audited, FieldValues, Merged, Opened, Replaced
from incognote.nouns import Verdict

if TYPE_CHECKING:
    from incognote.agents.engine import Engine


@cache
def incognote_version() -> str:
    """Return the installed version, or "unknown" if run from an uninstalled tree."""
    try:
        return version("incognote")
    except PackageNotFoundError:
        return "unknown"


def manifest_of(
    engine: Engine, opened: Opened, fields: FieldValues, merged: Merged, replaced: Replaced, audited: Audited,
    models: Mapping[str, Any] | None, verdict: Verdict, image: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the manifest, ready for JSON.

    It has versions, hashes, key id, check value, counts by type and operator, and the verdict with its reasons.

    Args:
        models: from `NoteReader.work`; None if no language model was used.
        image: the number under which the vault keeps what was removed; None if it keeps nothing.
    """
    policy, keyring = engine.policy, engine.keyring
    # a hash is derived from the individual, and 45 CFR 164.514(c)(1) forbids that in a Safe Harbor output
    hashed = any(action.action in ("hash", "integer") for action in fields.values)
    label = None if hashed and policy.label == "safe-harbor" else policy.label
    schema = opened.record.schema if opened.record else None
    withheld = Counter(replaced.withheld.values())
    return {
        "incognote": incognote_version(),
        "policy": {"name": policy.name, "version": policy.version, "label": label},
        "schema": {"data_type": schema.data_type, "version": schema.version} if schema else None,
        "versions": engine.versions,
        "models": models,
        "key": {"id": keyring.id, "check": keyring.check, "persistent": keyring.persistent},
        "counts": {
            "texts": len(opened.texts),
            "fields": len(fields.values),
            "replaced": len(replaced.replacements),
            "kept_by_policy": len(replaced.kept) + len(merged.unserved),
            "dropped": dict(sorted(Counter(s.type for s in (*merged.dropped, *audited.dropped)).items())),
            "flagged": len(merged.doubts) + len(audited.leftovers),
            "unsought": dict(sorted(audited.unsought.items())),
            "by_type": dict(sorted(Counter(r.span.type for r in replaced.replacements).items())),
            "by_operator": dict(sorted(Counter(r.operator for r in replaced.replacements).items())),
            "labeled": dict(sorted((code, n) for code, n in withheld.items() if code != NO_IDENTIFIER)),
            "mended": merged.mended,
            "widened": merged.widened,
        },
        **({} if image is None else {"image": image}),
        "verdict": verdict.outcome,
        "reasons": [{"code": r.code, "field": r.field, "detail": r.detail} for r in verdict.reasons],
    }
