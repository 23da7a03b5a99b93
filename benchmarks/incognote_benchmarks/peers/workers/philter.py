"""philter-ucsf with the one configuration its package has, philter_delta.

It reads a folder of files, so the texts lie in a temporary one, for its owner only, while it runs. It tags parts of
speech by NLTK's perceptron, whose weights its package does not carry; where they are not installed and a spaCy model is
named, that model's Penn tags stand in, once per text, and the configuration says so. Its patterns have global flags in
the middle, which Python has refused since 3.11: it runs on 3.10 and older.
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
    """What philter_delta does not let stand, as its asterisks would show it; the kind where it names one."""

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
                    "no averaged_perceptron_tagger_eng of NLTK is installed, no spaCy model named"
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
            f"parts of speech by spaCy {meta['lang']}_{meta['name']} {meta['version']}, for the weights of NLTK's "
            "perceptron are not installed: neither its scores nor its speed are quite Philter's own"
        )

    def detect(self, texts: list[str]) -> list[Spans]:
        """Spans per text."""
        with tempfile.TemporaryDirectory() as name, _within(self._home):
            names = [os.path.join(name, f"{number}.txt") for number in range(len(texts))]
            for path, text in zip(names, texts, strict=True):
                # a carriage return would be read as a line end, and offsets would move
                Path(path).write_bytes(text.replace("\r", " ").encode("utf-8", "replace"))
            philter = self._module.Philter(
                {"verbose": False, "run_eval": False, "finpath": name, "foutpath": name,
                 "filters": "configs/philter_delta.json"}
            )  # fmt: skip
            philter.detect_encoding = lambda path: {"encoding": "utf-8"}  # it would guess, and guess otherwise
            left = philter.map_coordinates()
            kinds = {path: philter.data_all_files[path]["phi"] for path in names}
        return [_spans(left[path], kinds[path]) for path in names]


def _spans(left: dict[int, int], kinds: list[dict[str, Any]]) -> Spans:
    """What is left over, under the first kind that touches it."""
    return [
        (start, end, next((k["phi_type"] for k in kinds if k["start"] < end and start < k["stop"]), "OTHER"))
        for start, end in sorted(left.items())
    ]


@contextlib.contextmanager
def _within(folder: Path) -> Any:
    """Its configuration names its filters as seen from its own folder."""
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
        raise LookupError("its patterns are refused by Python 3.11 and newer: give it 3.10 or older") from None
    return philter
