"""Disguised identifiers: how many are released, and which ordinary and foreign texts are held.

    python benchmarks/scripts/hidden.py --out docs/measured/hidden.json
    python benchmarks/scripts/hidden.py --tree CHECKOUT --as before --out docs/measured/hidden.json

All texts are synthetic (tests/data/hidden). A disguised identifier leaks if its text is released and one of its letters
or digits is outside every replacement. Markup and control sequences between its letters do not count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "tests" / "data" / "hidden"
_TYPES = {"SSN": "SSN_OR_TAXPAYER", "HEALTH_PLAN_NUMBER": "HEALTH_PLAN_ID"}
_MARKUP = re.compile(r"<[^<>]*>|</?\w+|\x1b\[[0-9;]*m|\[/?\w+(?:=\w+)?\]|\{color:?\w*\}")
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """The texts or records of one set."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def leaks(deid: Any, row: Row) -> tuple[str, bool]:
    """The outcome of one text or record, and whether it was released with an identifier left in it."""
    from incognote.agents.graph import run
    from incognote.agents.item import Item
    from incognote.nouns import Known

    if "record" in row:
        result = asyncio.run(run(Item(row["record"], is_record=True), deid.engine))
        return result.verdict.outcome, result.verdict.released and _told(result.output(), row["secrets"])
    known = tuple(Known(_TYPES.get(k["type"], k["type"]), k["value"]) for k in row.get("known", ()))
    result = deid.deidentify(row["text"], known=known)
    left = list(row["text"])
    for made in result.replacements:
        left[made.span.start : made.span.end] = ["\0"] * len(made.span)
    shown = any(c.isalnum() for a, b in row["spans"] for c in _MARKUP.sub("", "".join(left[a:b])))
    return result.verdict.outcome, result.verdict.released and shown


def _told(output: str, secrets: list[str]) -> bool:
    try:
        root = json.loads(output, object_pairs_hook=list, parse_int=str, parse_float=str)
    except ValueError:
        root = output
    words = "\n".join([*_leaves(root), output]).lower()
    return any(secret.lower() in words for secret in secrets)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield str(value)


def wilson(hits: int, n: int) -> list[float]:
    """A share with its 95% interval (Wilson)."""
    z, p = 1.96, hits / n
    middle, half = p + z * z / (2 * n), z * ((p * (1 - p) + z * z / (4 * n)) / n) ** 0.5
    return [round(p, 4), round((middle - half) / (1 + z * z / n), 4), round((middle + half) / (1 + z * z / n), 4)]


def battery(deid: Any, name: str) -> dict[str, Any]:
    """Per kind: the number, leaks under `release` (share with interval), and the number held; and which leak."""
    every, leaking, held = Counter[str](), Counter[str](), Counter[str]()
    ids = []
    for row in rows(name):
        outcome, leak = leaks(deid, row)
        every[row["kind"]] += 1
        held[row["kind"]] += outcome != "release"
        leaking[row["kind"]] += leak
        if leak:
            ids.append(row["id"])
    kinds = {
        kind: {"n": n, "leaks": leaking[kind], "share": wilson(leaking[kind], n), "held": held[kind]}
        for kind, n in every.items()
    }
    return {"kinds": kinds, "leaking": sorted(ids)}


def held(deid: Any, name: str) -> dict[str, Any]:
    """Per language: the number of texts, the number held, and the reasons."""
    every, kept, why = Counter[str](), Counter[str](), Counter[str]()
    for row in rows(name):
        verdict = deid.deidentify(row["text"]).verdict
        lang = row.get("lang", "en")
        every[lang] += 1
        kept[lang] += not verdict.released
        why.update({f"{lang}: {reason.code}" for reason in verdict.reasons})
    each = {lang: {"n": n, "held": kept[lang], "share": wilson(kept[lang], n)} for lang, n in every.items()}
    return {"languages": each, "reasons": dict(sorted(why.items()))}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--as", dest="name", default="after")
    asked.add_argument("--tree", type=Path, help="measure the code of another checkout")
    given = asked.parse_args()
    where = f"{given.tree}:{given.tree}/languages/en"
    if given.tree is not None and os.environ.get("PYTHONPATH") != where:
        command = [sys.executable, __file__, "--out", str(given.out.absolute()), "--as", given.name]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": where}, cwd=given.tree)  # noqa: S603 (our own script)
        return
    from incognote import Deidentifier

    made: dict[str, Any] = {}
    with Deidentifier(detectors=("rules", "encoder")) as deid:
        for name in ("battery_1", "battery_2", "battery_3", "battery_4", "battery_5", "battery_6"):
            made[name] = battery(deid, name)
        for name in ("benign", "languages", "languages_2"):
            made[name] = held(deid, name)
    said = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    said["what"] = "synthetic texts; rules and encoder, policy strict; shares with 95% Wilson intervals"
    said[given.name] = made
    given.out.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
