"""The worker: `PYTHON -IB redactor.py NAME SETTINGS`, run by a redactor's interpreter, which need not have incognote.

In, on stdin:   {"path", "language"} of a PNG file, one per line, to the end.
Out, on stdout: {"version", "about", "ready_seconds"}; then for each page {"boxes": [[left, top, right, bottom], ...],
                "outcome", "seconds", "cpu_seconds"}, with the processor time of the programs that it started.

It runs on one core. A page is read from its bytes, and redacted as far as the bytes of a new file.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any


class Ours:
    """incognote with its defaults, in English and the language of the page."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.version = importlib.metadata.version("incognote")
        self.about = "default settings, and the language of the page besides English; no language model"
        self._opened: dict[str, Any] = {}
        self._of("en")

    def redact(self, data: bytes, language: str) -> tuple[list[tuple[int, int, int, int]], str]:
        """Return the boxes that are removed, and the verdict."""
        done = self._of(language).deidentify(data, media_type="image/png")
        return [(each.x0, each.y0, each.x1, each.y1) for each in done.boxes], done.verdict.outcome

    def _of(self, language: str) -> Any:
        if language not in self._opened:
            package: Any = importlib.import_module("incognote")
            self._opened[language] = package.Deidentifier(languages=tuple(dict.fromkeys(("en", language))))
        return self._opened[language]


class Presidio:
    """presidio-image-redactor with its defaults, which are English, and the spaCy model of the settings."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        redactors: Any = importlib.import_module("presidio_image_redactor")
        analyzers: Any = importlib.import_module("presidio_analyzer")
        engines: Any = importlib.import_module("presidio_analyzer.nlp_engine")
        spacy: Any = importlib.import_module("spacy")
        extract: Any = importlib.import_module("tldextract.tldextract")
        extract.TLD_EXTRACTOR = extract.TLDExtract(suffix_list_urls=(), cache_dir=None)  # it would ask the network
        meta = spacy.load(settings["model"]).meta
        models = [{"lang_code": "en", "model_name": settings["model"]}]
        written = {**engines.NlpEngineProvider().nlp_configuration, "models": models}
        engine = engines.NlpEngineProvider(nlp_configuration=written).create_engine()
        analyzer = analyzers.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
        self._redactor = redactors.ImageRedactorEngine(redactors.ImageAnalyzerEngine(analyzer))
        self.version = importlib.metadata.version("presidio-image-redactor")
        self.about = (
            f"default settings with the spaCy model {meta['lang']}_{meta['name']} {meta['version']}; its default is "
            "en_core_web_lg, which could not be installed. It reads English only"
        )

    def redact(self, data: bytes, language: str) -> tuple[list[tuple[int, int, int, int]], str]:
        """Return the boxes that are removed. Every page is released."""
        image: Any = importlib.import_module("PIL.Image")
        page = image.open(io.BytesIO(data))
        made, boxes = self._redactor.redact_and_return_bbox(page, fill=0 if page.mode == "L" else (0, 0, 0))
        made.save(io.BytesIO(), "PNG")
        return [(b.left, b.top, b.left + b.width, b.top + b.height) for b in boxes], "release"


REDACTORS: dict[str, type[Ours] | type[Presidio]] = {"incognote": Ours, "presidio": Presidio}


def main() -> None:
    """Answer the requests on stdin, each at once."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the redactor's own output must not mix with the answers
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def say(**row: Any) -> None:
        out.write(json.dumps(row) + "\n")
        out.flush()

    begun = perf_counter()
    redactor = REDACTORS[sys.argv[1]](json.loads(sys.argv[2]))
    say(version=redactor.version, about=redactor.about, ready_seconds=perf_counter() - begun)
    for line in sys.stdin:
        asked = json.loads(line)
        data = Path(asked["path"]).read_bytes()
        begun, used = perf_counter(), _cpu_seconds()
        boxes, outcome = redactor.redact(data, asked["language"])
        say(boxes=boxes, outcome=outcome, seconds=perf_counter() - begun, cpu_seconds=_cpu_seconds() - used)


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
