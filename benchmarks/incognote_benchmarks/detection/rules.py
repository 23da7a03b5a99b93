"""Measure the rules path on one core, in a separate process: `python rules.py MEMORY`, where MEMORY is `memory.py`.

In, on stdin: `{"texts", "rounds"}`. Out, on stdout: the figures as JSON.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections import Counter
from itertools import pairwise
from statistics import median
from time import perf_counter, process_time

_WORD = re.compile(r"\w+")
_WHAT = {
    "yardstick": "yardstick: count the words",
    "detect": "detect: all rules",
    "settle": "settle: policy, merge, sweep",
    "path": "the rules path: detect and settle",
}


def main() -> None:
    """Run the measurement that stdin requests."""
    asked = json.load(sys.stdin)
    peak_mb = runpy.run_path(sys.argv[1])["peak_mb"]  # an import would load all of the evaluation
    before = peak_mb()
    begun = perf_counter()
    from incognote.agents.engine import Engine
    from incognote.nouns import Text
    from incognote.settings import Settings

    tools = Engine(Settings.load(policy="strict", detectors=("rules",)))
    tools.detection.detect([Text("ready")])
    ready = perf_counter() - begun
    texts = [Text(text) for text in asked["texts"]]
    taken: dict[str, list[float]] = {name: [] for name in ("yardstick", "detect", "settle")}

    found = 0
    for _ in range(asked["rounds"]):  # alternating, so that a busy moment of the machine affects all of them
        clock = [process_time()]
        for text in texts:
            Counter(_WORD.findall(text.content))
        clock.append(process_time())
        raw = tools.detection.detect(texts)
        clock.append(process_time())
        settled = [tools.detection.settle(*each, tools.policy) for each in zip(texts, raw, strict=True)]
        found = sum(len(each.spans) for each in settled)
        clock.append(process_time())
        for name, (started, ended) in zip(taken, pairwise(clock), strict=True):
            taken[name].append(ended - started)
    seconds = {name: max(median(each), 1e-9) for name, each in taken.items()}
    seconds["path"] = seconds["detect"] + seconds["settle"]
    characters = sum(map(len, texts))
    figures = {
        name: {
            "what": _WHAT[name],
            "characters_per_second": characters / seconds[name],
            "of_yardstick": seconds["yardstick"] / seconds[name],
        }
        for name in _WHAT
    }
    memory = {"before_mb": before, "peak_mb": peak_mb()}
    json.dump({**figures, **memory, "ready_seconds": ready, "spans": found, "rounds": asked["rounds"]}, sys.stdout)


if __name__ == "__main__":
    main()
