"""Score relexicalization on annotated notes, from gold spans and from detection, side by side.

    python benchmarks/scripts/relex_figures.py [GOLD.jsonl ...] [--keep FOLDER] [--out docs/measured/relex.json]
                                               [--page docs/relex-metrics.md]
    python benchmarks/scripts/relex_figures.py --record GOLD OUT FOLDER --out tests/data/replies/relex-readers-v2.jsonl

Without GOLD, it runs on the development corpora. It runs `incognote relex` with the rules, the encoder, and the
embedded agents, scores both outputs as `incognote evaluate-relex` does, and writes the figures. `--page` replaces the
tables in the page. `--keep` keeps the outputs. `--record` keeps requests and replies of language models (see
`incognote evaluate-relex --requests`) as one file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from incognote.evaluation.relex.pairs import read_pairs
from incognote.evaluation.relex.reading import read_replies
from incognote.evaluation.relex.scoring import evaluate_relex
from incognote.jsonlines import read_rows

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "tests" / "data" / "longitudinal"
CORPORA = tuple(NOTES / f"{name}.jsonl" for name in ("notes", "blind", "blind2"))
START, END = "<!-- relex.json -->\n", "<!-- end of relex.json -->\n"
SHOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("mentions missed", ("found", "missed")),
    ("mentions with other borders", ("found", "partial")),
    ("labeled instead of replaced", ("labeled", "all")),
    ("B-cubed F1, names", ("consistency", "names", "f1")),
    ("… precision (merges)", ("consistency", "names", "precision")),
    ("… recall (splits)", ("consistency", "names", "recall")),
    ("B-cubed F1, all types", ("consistency", "all", "f1")),
    ("identities that join people", ("consistency", "joined")),
    ("patients joined with somebody", ("consistency", "patients_joined")),
    ("agreement of words", ("consistency", "agreement")),
    ("collisions", ("consistency", "collisions")),
    ("surrogates that match an original", ("consistency", "originals")),
    ("entity preservation: role", ("preservation", "role")),
    ("… gender", ("preservation", "gender")),
    ("… name locale", ("preservation", "name locale")),
    ("contextual coherence", ("coherence", "score")),
    ("intervals, full dates", ("time", "intervals, full")),
    ("intervals, dates without year", ("time", "intervals, without year")),
    ("intervals, partial and named dates", ("time", "intervals, partial")),
    ("intervals to a birth date", ("time", "intervals, birth date")),
    ("ages that agree with dates", ("time", "ages")),
    ("dates labeled", ("time", "dates labeled")),
    ("town and state", ("places", "town and state")),
    ("ZIP and state", ("places", "ZIP and state")),
    ("town and ZIP", ("places", "town and ZIP")),
    ("area code and state", ("places", "area code and state")),
    ("conditions read as before", ("conditions",)),
    ("downstream: balanced accuracy before", ("model", "everybody", "everybody", "before")),
    ("… shift", ("model", "everybody", "everybody", "shift")),
    *(
        (f"hiding, {attack}, by {by}", ("hiding", f"{attack}, by {by}", "factor"))
        for attack in ("outsider", "insider", "contradictions")
        for by in ("mention", "identity")
    ),
)


def relex(gold: Path, spans: bool, folder: Path) -> Path:
    """Run `incognote relex` on the notes with their gold spans or without, and return the output."""
    way = "gold" if spans else "detected"
    source, out = folder / f"{gold.stem}.{way}.in.jsonl", folder / f"{gold.stem}.{way}.jsonl"
    with source.open("w", encoding="utf-8") as target:
        for _, row in read_rows(gold, gold.name):
            kept = ("id", "patient", "text", "spans") if spans else ("id", "patient", "text")
            target.write(json.dumps({name: row[name] for name in kept}, ensure_ascii=False) + "\n")
    key = folder / "key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_text("ab" * 32)
    settings = {**os.environ, "INCOGNOTE_HOME": str(folder / "home"), "INCOGNOTE_KEY_FILE": str(key)}
    database = folder / f"{gold.stem}.{way}.db"
    database.unlink(missing_ok=True)
    index = f"sqlite:///{database}"
    own = [str(Path(sys.executable).parent / "incognote")]
    for command in (["index", "create"], ["relex", str(source), "--out", str(out), "--overwrite"]):
        done = subprocess.run([*own, *command, "--index", index], env=settings, capture_output=True, check=False)  # noqa: S603 -- our own command
        if done.returncode and not out.exists():
            sys.exit(f"incognote {command[0]} failed with exit code {done.returncode}.")
    return out


def figures(gold: Path, folder: Path) -> dict[str, Any]:
    """The scores of a corpus from gold spans and from detection."""
    return {
        way: evaluate_relex(gold, relex(gold, way == "gold", folder)).as_dict() for way in ("gold", "detected")
    }


def tables(corpora: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as tables of a page, one for each corpus."""
    return "\n".join(_table(name, runs["gold"], runs["detected"]) for name, runs in corpora.items())


def _table(name: str, *runs: Mapping[str, Any]) -> str:
    rows = [
        f"| {name} | from gold spans | from detection |", "| --- | --- | --- |",
        "| notes scored, held | " + " | ".join(f"{run['notes']}, {run['held']}" for run in runs) + " |",
    ]  # fmt: skip
    rows += [f"| {row} | " + " | ".join(_cell(run, path) for run in runs) + " |" for row, path in SHOWN]
    return "\n".join(rows) + "\n"


def _cell(run: Any, path: tuple[str, ...]) -> str:
    for key in path:
        run = run.get(key, {})
    if isinstance(run, float):
        return f"{run:.3f}"
    if run.get("value") is None:
        return "–"
    between = f" [{run['low']:.3f}, {run['high']:.3f}]" if run["low"] is not None else ""
    return f"{run['value']:.3f}{between} (n = {run['of']:,})".replace("-", "−")


def write_tables(page: Path, corpora: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the tables between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{START}\n{tables(corpora)}\n{END}{after}", encoding="utf-8")


def record(gold: Path, out: Path, folder: Path, target: Path) -> None:
    """Keep the requests to language models and their replies in one file."""
    with target.open("w", encoding="utf-8") as lines:
        for request, reply in read_replies(read_pairs(gold, out)[0], folder):
            lines.write(json.dumps({"request": asdict(request), "reply": reply}, ensure_ascii=False) + "\n")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("gold", nargs="*", type=Path, default=CORPORA)
    asked.add_argument("--keep", type=Path)
    asked.add_argument("--out", type=Path)
    asked.add_argument("--page", type=Path)
    asked.add_argument("--record", action="store_true")
    given = asked.parse_args()
    if given.record:
        record(*given.gold, given.out)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = given.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        corpora = {gold.stem: figures(gold, folder.absolute()) for gold in given.gold}
    what = "synthetic notes; rules and encoder, embedded agents, policy surrogate; 95% intervals over patients"
    if given.out:
        given.out.write_text(json.dumps({"what": what, "corpora": corpora}, indent=1) + "\n", encoding="utf-8")
    if given.page:
        write_tables(given.page, corpora)
    sys.stdout.write(tables(corpora))


if __name__ == "__main__":
    main()
