"""Learn which words of a language end in a period that does not end a sentence, and print words/sentences.toml.

    python benchmarks/scripts/abbreviations.py --language de > languages/de/incognote_de/words/sentences.toml

The texts are the handwritten training texts. As in Punkt (Kiss and Strunk, Computational Linguistics 32, 2006), a word
is an abbreviation if it nearly always has a period, which is tested with Dunning's log-likelihood ratio. Unlike Punkt,
the word must also be followed, within its line, by something that rarely begins a sentence: a lowercase word, a number,
a sign, or an identifier.
"""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections import Counter

from incognote_training.corpus.document import Document
from incognote_training.corpus.variants import CODES, handwritten

LEAST, RATIO, WITHIN = 5, 7.88, 0.4
"""The minimum count of a word with a period, the minimum log-likelihood ratio (p < 0.005), and the minimum share that
is followed by something that rarely begins a sentence."""
LONGEST = 7  # letters
_TOKEN = re.compile(r"(?<![\w.])([^\W\d_](?:[^\W\d_]|\.(?=[^\W\d_]))*)(\.?)([ \t]*)(\S?)")
HEAD = """# Where sentences do not end: words with a period, learned from {texts:,} handwritten training texts.
# Printed by benchmarks/scripts/abbreviations.py.

abbreviations = [
"""


def learned(documents: list[Document]) -> list[str]:
    """Return the abbreviations of texts, in lower case with their period, sorted."""
    with_period, without, within = Counter[str](), Counter[str](), Counter[str]()
    for document in documents:
        inside = [(start, end) for start, end, _ in document.spans]
        for found in _TOKEN.finditer(document.text):
            word, period, _, after = found.groups()
            if len(word.replace(".", "")) > LONGEST or any(a <= found.start() < b for a, b in inside):
                continue
            key = word.lower()
            (with_period if period else without)[key] += 1
            starts = {start for start, _ in inside}
            if period and after and (found.start(4) in starts or (not after.isupper() and after not in '"»«“”')):
                within[key] += 1
    periods, words = with_period.total(), with_period.total() + without.total()
    return sorted(
        f"{key}."
        for key, count in with_period.items()
        if count >= LEAST
        and within[key] >= WITHIN * count
        and count > 2 * without[key]
        and _ratio(count, count + without[key], periods, words) >= RATIO
    )


def _ratio(k: int, n: int, periods: int, words: int) -> float:
    """Return Dunning's log-likelihood ratio of k periods after n words, against the rate of all words."""
    p, q = k / n, periods / words

    def likelihood(rate: float) -> float:
        return sum(times * math.log(chance) for times, chance in ((k, rate), (n - k, 1 - rate)) if times)

    return 2 * (likelihood(p) - likelihood(q))


def written(code: str) -> str:
    """Return the TOML of a language."""
    documents = list(handwritten([code]).training)
    words = ", ".join(f'"{word}"' for word in learned(documents))
    lines = textwrap.wrap(words, 116, break_long_words=False, break_on_hyphens=False)
    return HEAD.format(texts=len(documents)) + "".join(f"  {line}\n" for line in lines) + "]\n"


def main() -> None:
    """Print the table of one language."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--language", choices=CODES, required=True)
    print(written(parser.parse_args().language), end="")  # noqa: T201 -- this is a program that prints


if __name__ == "__main__":
    main()
