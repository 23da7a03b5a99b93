"""CIPHER's 14 note features (its table 1).

The paper counts unique tokens with tiktoken's cl100k_base. We count the unique words and punctuation marks of
`incognote_training.tokens`, so that no vocabulary has to be fetched; the measure only ranks notes. TF-IDF is
ln((1 + n) / (1 + df)) + 1 over lower-case words. The mean cosine to all other notes is computed from the sum of the
unit vectors.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incognote_training.tokens import tokenize

Floats = npt.NDArray[np.float64]
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_WAYS = "street|st|avenue|ave|road|rd|drive|dr|lane|ln|court|ct|boulevard|blvd|way|place|pl"
_COUNTED = {
    "date": r"\b\d{1,2}[/-]\d{1,2}[/-](?:\d{4}|\d{2})\b|\b\d{4}[-/]\d{1,2}[-/]\d{1,2}\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})\b"
    rf"|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b|\b\d{{1,2}} {_MONTH} \d{{4}}\b",
    "phone": r"(?<!\d)(?:\+?1[-. ]?)?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\d)",
    "ssn": r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",
    "email": r"[\w.+-]+@[\w-]+\.[\w.-]*\w",
    "mrn": r"\bmrn\b\W{0,3}(?:no\.?|#)?\W{0,2}\d{4,}|\bmedical record (?:number|no\.?)\W{0,3}\d{4,}",
    "address": rf"\b\d{{1,5}} (?:\w+\.? ){{1,4}}(?:{_WAYS})\b",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _COUNTED.items()}
FEATURES = (
    "text_length", "unique_tokens", "type_token_ratio", "compression_ratio", "digit_share", "longest_numeric_run",
    "non_letter_symbol_pct", "mean_corpus_similarity", *(f"regex_counts__{name}" for name in _PATTERNS),
)  # fmt: skip
"""The names, in the order of the columns."""


def features(texts: Sequence[str]) -> Floats:
    """The features of each note: notes × 14. An empty note has zeros, and a compression ratio of 1."""
    similar = _similarity([Counter(_WORD.findall(text.lower())) for text in texts])
    rows = [[*_own(text)[:7], near, *_own(text)[7:]] for text, near in zip(texts, similar, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(texts), len(FEATURES))


def _own(text: str) -> list[float]:
    """The features of one note alone: all except its similarity to others."""
    words = _WORD.findall(text.lower())
    raw = text.encode()
    length = len(text)
    return [
        length,
        len({text[start:end] for start, end in tokenize(text)}),
        len(set(words)) / len(words) if words else 0.0,
        len(gzip.compress(raw, mtime=0)) / len(raw) if raw else 1.0,
        sum(sign.isdigit() for sign in text) / length if length else 0.0,
        max(map(len, _DIGITS.findall(text)), default=0),
        100 * sum(not sign.isalpha() for sign in text) / length if length else 0.0,
        *(len(pattern.findall(text)) for pattern in _PATTERNS.values()),
    ]


def _similarity(notes: Sequence[Counter[str]]) -> list[float]:
    """The mean cosine of each note's TF-IDF vector to those of all others; 0 if there is no other note."""
    n = len(notes)
    if n < 2:
        return [0.0] * n
    held = Counter(word for note in notes for word in note)
    weight = {word: math.log((1 + n) / (1 + count)) + 1 for word, count in held.items()}
    whole: Counter[str] = Counter()
    vectors: list[dict[str, float]] = []
    for note in notes:
        vector = {word: count * weight[word] for word, count in note.items()}
        norm = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        vectors.append({word: value / norm for word, value in vector.items()})
        whole.update(vectors[-1])
    made = []
    for vector in vectors:
        own = sum(value * value for value in vector.values())
        made.append((sum(value * whole[word] for word, value in vector.items()) - own) / (n - 1))
    return made
