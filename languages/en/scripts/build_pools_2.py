"""Builds languages/en/incognote_en/pools/v2/people.toml from version 1 and the names of names/people.toml.

    python languages/en/scripts/build_pools_2.py

It adds names to locales of which version 1 has few, so that a surrogate's locale can be kept without mixing in English
names. A given name that is more common for the other gender elsewhere is left out. A released version is never built
again.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path

from incognote.detectors.rules.lexicon import fold
from incognote.relex.names.guess import bearers
from incognote_en.rules.gazetteer import ordinary

ROOT = Path(__file__).parents[1] / "incognote_en"
SOURCES, TARGET = ROOT / "names/people.toml", ROOT / "pools/v2/people.toml"
ROMANIZED = "ar et gh gr he hu jp ke ko pk pl ro ru so tr vi zh".split()
FEMININE = {
    "pl": re.compile(r"(?:sk|ck|dzk)a\Z"),
    "ru": re.compile(r"(?:ov|ev|in|yn|sk|skay|aya)a\Z"),
    "gr": re.compile(r"(?:opoulou|idou|akou)\Z"),
}
OTHER = {"male": "female", "female": "male"}
HEAD = """\
# Names for surrogates of persons, by locale: male, female, both, surnames. Version 2: its data never changes.
# Source: version 1 (Faker's person providers, MIT), and the romanized names of names/people.toml. No
# clinical words. Built by scripts/build_pools_2.py.
"""


def build() -> str:
    first = tomllib.loads((ROOT / "pools/v1/people.toml").read_text(encoding="utf-8"))
    table = tomllib.loads(SOURCES.read_text(encoding="utf-8"))
    lines = [HEAD]
    for locale in sorted(table):
        found = {kind: set(names.split()) for kind, names in first.get(locale, {}).items()}
        if locale in ROMANIZED:
            spelt = {plain(name) for names in found.values() for name in names}
            for kind, names in table[locale].items():
                fresh = (n for n in names.split() if len(n) > 1 and n not in ordinary() and n not in spelt)
                shape = FEMININE.get(locale) if kind == "surname" else None
                found.setdefault(kind, set()).update(
                    written(n, locale) for n in fresh if not shape or not shape.search(n)
                )
        male, female = found["male"], found["female"]
        both = male & female | found.get("both", set())
        kept = {"male": told(male - both, "male"), "female": told(female - both, "female"), "both": both}
        lines.append(f"\n[{locale}]\n")
        lines += [block(kind, names) for kind, names in (kept | {"surname": found["surname"]}).items()]
    return "".join(lines)


def plain(name: str) -> str:
    return re.sub(r"[\W_]", "", fold(name))


def told(names: set[str], gender: str) -> set[str]:
    """The names that are not known in more locales as the other gender's."""
    return {n for n in names if _known(n, OTHER[gender]) == 0 or _known(n, gender) > 2 * _known(n, OTHER[gender])}


def _known(name: str, gender: str) -> int:
    return sum(gender in kinds for kinds in bearers(plain(name)).values())


def written(name: str, locale: str) -> str:
    if locale == "ar" and name.startswith("al") and len(name) > 6:
        return f"Al-{name[2:].title()}"
    return name.title()


def block(kind: str, names: set[str]) -> str:
    body = textwrap.fill(" ".join(sorted(names)), 150, break_on_hyphens=False, break_long_words=False)
    return f'{kind} = """\n{body}"""\n'


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(build(), encoding="utf-8")
