"""What becomes of each type: a table of invented examples.

python -m incognote.relex.generate.examples
"""

from __future__ import annotations

import sys
import tomllib
from importlib.resources import files

from incognote.keys import Keyring
from incognote.relex.cluster import cluster
from incognote.relex.generate import Generators, Keyed, Taken
from incognote.relex.nouns import Hints, Variant

_KEY = Keyring(bytes(32))


def table() -> str:
    """Markdown: type, what stands, what becomes of it under a key of zeros."""
    written = tomllib.loads(files("incognote.relex.generate").joinpath("examples.toml").read_text(encoding="utf-8"))
    mentions = [_mention(at, *row) for at, row in enumerate(written["rows"])]
    identities = cluster(mentions)
    generators = Generators()
    surrogates = generators.generate_all(identities, Keyed(_KEY), Taken())
    home = {variant: identity for identity in identities for variant in identity.variants}
    lines = ["| type | stands | becomes |", "| --- | --- | --- |"]
    for mention in mentions:
        rendered = generators.render(mention, home[mention], surrogates[home[mention].id])
        becomes = rendered.text if rendered else f"[{mention.type}]"
        lines.append(f"| {mention.type} | {mention.words} | {becomes} |")
    return "\n".join(lines) + "\n"


def _mention(at: int, type: str, words: str, title: str = "") -> Variant:
    hints = Hints(title=title)
    return Variant(type, words, "example", "example", "example", "", at * 100, at * 100 + len(words), hints)


if __name__ == "__main__":
    sys.stdout.write(table())
