"""The pages follow the style of CONTRIBUTING.md: short sentences and no retired phrases."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("prose", ROOT / "scripts" / "prose.py")
assert spec is not None
assert spec.loader is not None
prose = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prose)

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RETIRED = [
    r"model-marks-all",
    r"whoever sits between",
    r"beyond this machine the API needs keys",
    r"incognote serves on\b",
    r"told by a look",
    r"or say --format",
    r"there is nothing to read in",
    r"files in a format without a reader",
    r"\bforet(ell|old)",
    r"nobody buries",
    r"being picked for that flatters",
    r"is no folder\b",
    r"bytes came in, so bytes",
    r"that is an object lives in this process",
    r"holds something JSON cannot",
    r"asked to be sly",
    r"nothing follows for notes",
    r"\bthe embedder door\b",
    r"whoever is called at night",
    r"the bad day\b",
    r"an alarm is told once",
    r"no span mends",
    r"stand nowhere",
    r"stretches are replaced",
    r"for who tunes",
    r"what stands there afterwards",
    r"too much is noticed",
    r"nobody is shown",
    r"of no use without",
    r"what was done stands",
    r"take one of the two out",
    r"has no words for",
    r"none we can check",
    r"forfeits the label",
    r"take the label off",
    r"what scores lower",
    r"nothing is said of its",
    r"would lead astray",
    r"nobody de-identified",
    r"gone or was never made",
    r"until it serves again",
    r"to be made anew",
    r"seal(ed|ing) anew",
    r"opens nothing of it",
    r"line of the patient bears",
    r"holds nothing of a record",
    r"are mended and asked for",
]


def test_the_meter_counts_the_words_of_sentences_and_leaves_out_code_and_tables() -> None:
    prose_ = "# Head\n\nOne two three. Four five\nsix seven!\n\n"
    page = prose_ + "```sh\na b c d\n```\n\n| a b c | d |\n\n- See `a b.c` [a link](x.md).\n"
    assert [len(words) for words in prose.sentences(page)] == [3, 4, 4]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_sentences_of_a_page_are_short(page: Path) -> None:
    count, median, long = prose.measure([page])
    if count >= 8:
        assert median <= 16
        assert long <= 0.15
    assert all(len(words) <= 45 for words in prose.sentences(page.read_text(encoding="utf-8")))


def test_the_sentences_of_all_pages_together_are_short() -> None:
    count, median, long = prose.measure(PAGES)
    assert count > 200
    assert median <= 15
    assert long <= 0.12


def test_no_retired_phrase_is_left_in_anything_that_a_person_reads() -> None:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = [
        ROOT / name
        for name in listing.splitlines()
        if name.endswith((".py", ".md", ".html", ".js", ".toml", ".yaml", ".sh"))
        and not name.startswith(("tests/", "docs/measured/", "CONTRIBUTING.md", "languages/", "CHANGELOG.md"))
    ]
    assert len(texts) > 400
    retired = re.compile("|".join(RETIRED), re.I)
    left = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in texts
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := retired.search(line))
    ]
    assert left == []
