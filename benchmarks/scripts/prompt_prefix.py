"""Estimate the tokens of the beginning that all requests of a run share, by prompt and policy.

    python benchmarks/scripts/prompt_prefix.py --out docs/measured/prompt_prefix.json

Anthropic caches a prompt in the order tools, system, messages, up to a mark. incognote puts the mark behind the system
message, so the JSON schema (a tool) and the system message count. Tokens are characters / 4.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.prompts.loader import asked, load
from incognote.schemas.policy import load_policy

PROMPTS = ("extract/v1", "extract/v2", "extract/v3")
MINIMUM = {
    "Sonnet 3.7 to 4.5, Opus 4 and 4.1": 1024,
    "Haiku 3 and 3.5, Sonnet 4.6": 2048,
    "Haiku 4.5, Opus 4.5 and 4.6": 4096,
}
"""The fewest tokens that Anthropic caches, by model, as gateways to it documented them in 2026."""


def prefix(prompt: str, policy: str, *, generic: bool = False) -> dict[str, int]:
    """Return the estimated tokens of the schema, the system message, and both."""
    rendered = replace(load(prompt), generic=generic).render(["x"], asked(load_policy(policy)))
    schema = len(json.dumps(rendered.schema, separators=(",", ":"))) if rendered.schema else 0
    return {"schema": schema // 4, "system": len(rendered.system) // 4, "all": (schema + len(rendered.system)) // 4}


def measured() -> dict[str, Any]:
    """Return the estimates for all shipped prompts and policies, and for the generic schema."""
    folder = files("incognote.schemas") / "policies"
    policies = sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))
    return {
        "tokens": "characters / 4",
        "minimum": MINIMUM,
        "prefix": {p: {policy: prefix(p, policy) for policy in policies} for p in PROMPTS},
        "generic_schema": {p: {policy: prefix(p, policy, generic=True) for policy in policies} for p in PROMPTS},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the estimates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    given.out.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
