"""presidio-analyzer, default English configuration: `presidio` with a spaCy model, `presidio-patterns` without one."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any

_MODELS = ("en_core_web_lg", "en_core_web_trf", "en_core_web_md", "en_core_web_sm")


class Presidio:
    """All predefined English recognizers, without a threshold."""

    def __init__(self, model: str | None, patterns: bool) -> None:
        package: Any = importlib.import_module("presidio_analyzer")
        engines: Any = importlib.import_module("presidio_analyzer.nlp_engine")
        _offline()
        self.version = importlib.metadata.version("presidio-analyzer")
        if patterns:
            engine = engines.NoOpNlpEngine(models=[{"lang_code": "en", "model_name": "no_op"}])
            engine.load()
            self.about = (
                "predefined English recognizers, without an NLP model, so it does not detect names or use context words"
            )
        else:
            model, shown = _model(model)
            settings = {
                **engines.NlpEngineProvider().nlp_configuration,
                "models": [{"lang_code": "en", "model_name": model}],
            }
            engine = engines.NlpEngineProvider(nlp_configuration=settings).create_engine()
            self.about = (
                f"predefined English recognizers, spaCy {shown} (its default is en_core_web_lg), score_threshold 0, "
                "organizations excluded, as in its default configuration"
            )
        self._analyzer = package.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def detect(self, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        """Return spans per text."""
        return [
            [(r.start, r.end, r.entity_type) for r in self._analyzer.analyze(text=text, language="en")]
            for text in texts
        ]


def _model(asked: str | None) -> tuple[str, str]:
    """The model to load and its description. Nothing is downloaded."""
    spacy: Any = importlib.import_module("spacy")
    for name in [asked] if asked else _MODELS:
        try:
            meta = spacy.load(name).meta
        except OSError:
            continue
        return name, f"{meta['lang']}_{meta['name']} {meta['version']}"
    raise LookupError("no English spaCy model is installed (en_core_web_lg, _md or _sm)")


def _offline() -> None:
    """Use the list of public suffixes in tldextract, which would otherwise request a newer one from the network."""
    extract: Any = importlib.import_module("tldextract.tldextract")
    extract.TLD_EXTRACTOR = extract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def load(settings: dict[str, str]) -> Presidio:
    """See `serve.py`."""
    return Presidio(settings.get("model"), settings["peer"] == "presidio-patterns")
