"""philter-ucsf with the only configuration in its package, philter_delta.

It reads a folder of files, so the texts are in a temporary folder, readable by its owner only, while it runs. It tags
parts of speech with NLTK's perceptron, whose weights are not in its package. If they are not installed and a spaCy
model is named, that model's Penn tags are used instead, once per text, and the configuration says so. Its patterns have
global flags in the middle, which Python has refused since 3.11. So it runs on Python 3.10 and older.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import re
import tempfile
from pathlib import Path
from typing import Any

Spans = list[tuple[int, int, str]]


class Philter:
    """The text that philter_delta replaces by asterisks, with the kind if it names one."""

    def __init__(self, model: str | None) -> None:
        self._module: Any = importlib.import_module("philter_ucsf.philter")
        self.version = importlib.metadata.version("philter-ucsf")
        self.about = "philter_delta, " + self._tagger(model)
        self._home = Path(str(self._module.__file__)).parent

    def _tagger(self, model: str | None) -> str:
        nltk: Any = importlib.import_module("nltk")
        try:
            nltk.pos_tag(["Ready"])
        except LookupError:
            if model is None:
                raise LookupError(
                    "neither NLTK's averaged_perceptron_tagger_eng nor a spaCy model is available"
                ) from None
        else:
            return "parts of speech by NLTK's perceptron"
        spacy: Any = importlib.import_module("spacy")
        tokens: Any = importlib.import_module("spacy.tokens")
        nlp = spacy.load(model, exclude=["parser", "ner", "lemmatizer", "senter"])
        last: tuple[list[str], list[tuple[str, str]]] = ([], [])

        def tag(words: list[str]) -> list[tuple[str, str]]:
            nonlocal last
            if last[0] != words:
                doc = nlp(tokens.Doc(nlp.vocab, words=words, spaces=[False] * len(words)))
                last = words, [(token.text, token.tag_) for token in doc]
            return last[1]

        nltk.pos_tag = tag
        meta = nlp.meta
        return (
            f"with parts of speech from spaCy {meta['lang']}_{meta['name']} {meta['version']}, because the weights of "
            "NLTK's perceptron tagger are not installed. Its scores and speed may differ from those of standard Philter"
        )

    def detect(self, texts: list[str]) -> list[Spans]:
        """Return spans per text."""
        with tempfile.TemporaryDirectory() as name, _within(self._home):
            names = [os.path.join(name, f"{number}.txt") for number in range(len(texts))]
            for path, text in zip(names, texts, strict=True):
                # a carriage return would be read as a line break and shift the offsets
                Path(path).write_bytes(text.replace("\r", " ").encode("utf-8", "replace"))
            philter = self._module.Philter(
                {"verbose": False, "run_eval": False, "finpath": name, "foutpath": name,
                 "filters": "configs/philter_delta.json"}
            )  # fmt: skip
            philter.detect_encoding = lambda path: {"encoding": "utf-8"}  # it would guess, possibly wrong
            left = philter.map_coordinates()
            kinds = {path: philter.data_all_files[path]["phi"] for path in names}
        return [_spans(left[path], kinds[path]) for path in names]


def _spans(left: dict[int, int], kinds: list[dict[str, Any]]) -> Spans:
    """The spans that are left, under the first kind that overlaps them."""
    return [
        (start, end, next((k["phi_type"] for k in kinds if k["start"] < end and start < k["stop"]), "OTHER"))
        for start, end in sorted(left.items())
    ]


@contextlib.contextmanager
def _within(folder: Path) -> Any:
    """Change to a folder, because the configuration names its filters relative to its own folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def load(settings: dict[str, str]) -> Philter:
    """See `serve.py`."""
    philter = Philter(settings.get("model"))
    try:
        philter.detect(["Ready"])
    except re.error:
        raise LookupError("Python 3.11 and newer refuse its patterns: use 3.10 or older") from None
    return philter
