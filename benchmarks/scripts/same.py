"""Check whether two checkouts give the same spans and the same outputs, byte for byte.

    python benchmarks/scripts/same.py --before CHECKOUT [--detectors rules,encoder] [--save LINES] [--out JSON]

CHECKOUT is a copy of the project at the commit to compare with, or a file that an earlier run saved for it. The
development corpora and the records of `examples` are run with every shipped policy and one key. Five notes make one
patient. Differences are listed by corpus, policy, and number, with exit code 1.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPORA = ("notes", "dev_e", "dev_f", "dev_g", "dev_h")
KEY = "6b" * 32
RECORDS = ("redactor_record.json", "bundle.json", "records.jsonl")


def child(detectors: list[str]) -> None:
    """Print one line per text and policy: its name, the outcome, and a hash of spans, reasons, and output."""
    from incognote import Deidentifier
    from incognote.schemas.policy import shipped_policies

    records = [record for name in RECORDS for record in _records(ROOT / "examples" / name)]
    folder = tempfile.TemporaryDirectory()
    index = f"sqlite:///{folder.name}/index"
    asyncio.run(_made(index))
    for policy in sorted(shipped_policies()):
        more = {"index": index} if policy == "surrogate" else {}
        with Deidentifier(policy, detectors=tuple(detectors), key=KEY, **more) as deid:
            for corpus in CORPORA:
                lines = (ROOT / "tests" / "data" / f"{corpus}.jsonl").read_text(encoding="utf-8").splitlines()
                for number, line in enumerate(lines):
                    result = deid.deidentify(json.loads(line)["text"], patient=f"{corpus}-{number // 5}")
                    _say(f"{policy} {corpus} {number}", result)
            for number, (record, kind) in enumerate(records):
                _say(f"{policy} record {number}", deid.deidentify(record, data_type=kind, patient="p"))


async def _made(index: str) -> None:
    from incognote.keys import Keyring
    from incognote.relex.index.opening import open_index

    async with await open_index(index, Keyring(bytes.fromhex(KEY)), create=True):
        pass


def _records(path: Path) -> list[tuple[dict[str, object], str | None]]:
    raw = path.read_text(encoding="utf-8")
    found = [json.loads(line) for line in raw.splitlines()] if path.suffix == ".jsonl" else [json.loads(raw)]
    return [(one, None if "dataType" in one or "resourceType" in one else "clinicalRecord") for one in found]


def _say(name: str, result: object) -> None:
    from incognote.nouns import Result

    assert isinstance(result, Result)
    spans = [(r.span.field, r.span.start, r.span.end, r.span.type) for r in result.replacements]
    reasons = sorted((reason.code, reason.field) for reason in result.verdict.reasons)
    shown = result.output() if result.verdict.released else ""
    digest = hashlib.sha256(f"{shown}\0{spans}\0{reasons}".encode()).hexdigest()
    print(json.dumps([name, result.verdict.outcome, digest]), flush=True)  # noqa: T201 -- to the parent process


def main() -> int:
    """Run both checkouts, compare, and print the differences."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--before", type=Path, required=True)
    asked.add_argument("--detectors", default="rules")
    asked.add_argument("--save", type=Path, help="save the checkout's lines here, for a later --before")
    asked.add_argument("--out", type=Path)
    given = asked.parse_args()
    command = [sys.executable, "-P", "-W", "ignore", __file__, "--child", given.detectors]
    before: Path = given.before.absolute()
    saved = before.read_text(encoding="utf-8") if before.is_file() else None
    sides = []
    for home in (ROOT,) if saved is not None else (ROOT, before):
        env = {**os.environ, "PYTHONPATH": f"{home}:{home}/languages/en", "PYTHONHASHSEED": "0"}
        sides.append(subprocess.Popen(command, cwd=home, env=env, stdout=subprocess.PIPE, text=True))  # noqa: S603 -- ours
    lines = [side.communicate()[0] for side in sides]
    if any(side.returncode for side in sides):
        raise SystemExit("a checkout could not be run")
    if saved is not None:
        lines.append(saved)
    if given.save:
        given.save.write_text(lines[1], encoding="utf-8")
    said = [{row[0]: row[1:] for row in map(json.loads, text.splitlines())} for text in lines]
    names = sorted(said[0].keys() | said[1].keys())
    differ = [name for name in names if said[0].get(name) != said[1].get(name)]
    made = {"detectors": given.detectors, "compared": len(names), "differ": differ}
    sys.stdout.write(json.dumps({**made, "differ": len(differ)}) + "\n" + "".join(f"{name}\n" for name in differ[:50]))
    if given.out:
        given.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return bool(differ)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2].split(","))
    else:
        sys.exit(main())
