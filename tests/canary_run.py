"""Run by test_canary.py in a process of its own: the SDK on every kind of input, with logging at DEBUG."""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from pathlib import Path

LOG, INPUTS = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
logging.basicConfig(filename=LOG, level=logging.DEBUG, format="%(name)s %(levelname)s %(message)s %(exc_info)s")
logging.captureWarnings(True)
warnings.simplefilter("always")

from incognote import Deidentifier, IncognoteError, Known  # noqa: E402 -- logging must be loud before the first import

for policy in ("strict", "intelligent", "limited-data-set"):
    deid = Deidentifier(policy=policy)
    for given, words in INPUTS:
        words = {**words, "known": [Known(*k) for k in words.get("known", [])]}
        try:
            result = deid.deidentify(given, **words)
        except IncognoteError:
            traceback.print_exc()
            continue
        print(
            repr(result), str(result), json.dumps(dict(result.manifest)), repr(result.replacements), repr(result.kept)
        )
        print(*map(str, result.verdict.reasons), repr(deid.tools), repr(deid))
        try:
            _ = result.text
        except IncognoteError:
            traceback.print_exc()
        for broken in (lambda r=result: r.project([(10**9, 10**9 + 1)]), lambda r=result: r.record):
            try:
                broken()
            except IncognoteError:
                traceback.print_exc()
