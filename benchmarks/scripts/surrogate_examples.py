"""Print a table of invented examples for surrogates of each type.

python benchmarks/scripts/surrogate_examples.py
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from incognote.keys import Keyring
from incognote.relex.cluster import cluster
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.nouns import Hints, MentionVariant

_KEY = Keyring(bytes(32))


def table() -> str:
    """Markdown: type, original, and surrogate, with a key of zeros."""
    written = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    mentions = [_mention(at, *row) for at, row in enumerate(written["rows"])]
    identities = cluster(mentions)
    generators = Generators()
    surrogates = generators.generate_all(identities, KeyedDraw(_KEY), UsedSurrogates())
    home = {variant: identity for identity in identities for variant in identity.variants}
    lines = ["| type | original | surrogate |", "| --- | --- | --- |"]
    for mention in mentions:
        rendered = generators.render(mention, home[mention], surrogates[home[mention].id])
        becomes = rendered.text if rendered else f"[{mention.type}]"
        lines.append(f"| {mention.type} | {mention.words} | {becomes} |")
    return "\n".join(lines) + "\n"


def _mention(at: int, type: str, words: str, title: str = "") -> MentionVariant:
    hints = Hints(title=title)
    return MentionVariant(type, words, "example", "example", "example", "", at * 100, at * 100 + len(words), hints)


if __name__ == "__main__":
    sys.stdout.write(table())
