"""Scripts of recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote_benchmarks.speech.script import parsed, sayable

HEAD = "# kind: call\n# speakers: D=clinician, P=patient\n"
DEV = Path(__file__).parents[1] / "data" / "speech" / "dev"


def test_words_of_an_identifier_share_a_phrase_and_have_its_type() -> None:
    script = parsed(HEAD + "D: mister [[PERSON|john harper]] and [[PERSON|h a]]\nP: on [[DATE|march third]]\n")
    marked = [(word.text, word.phrase, word.type) for word in script.words if word.phrase is not None]
    assert marked == [
        ("john", 0, "PERSON"), ("harper", 0, "PERSON"), ("h", 1, "PERSON"), ("a", 1, "PERSON"),
        ("march", 2, "DATE"), ("third", 2, "DATE"),
    ]  # fmt: skip
    assert script.speakers == {"D": "clinician", "P": "patient"}


def test_clinical_facts_noises_and_overlaps_are_marked() -> None:
    script = parsed(HEAD + "D: any {{chest pain}} [noise] so |or not\nP:| no\n")
    first, second = script.utterances
    assert [word.text for word in first.words if word.fact] == ["chest", "pain"]
    assert [word.text for word in first.words if word.noisy] == ["so"]
    assert [word.text for word in first.words if word.crossed] == ["or"]
    assert (first.interrupts, second.interrupts) == (False, True)


@pytest.mark.parametrize(
    "line", ["D: [[PERSON|john", "D: {{pain", "X: hello", "no speaker", "D: [[NOBODY|john]]", "D: stray ]] mark"]
)
def test_a_line_that_does_not_fit_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 3|speaker X"):
        parsed(f"{HEAD}{line}\n")


def test_a_script_without_a_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind"):
        parsed("# speakers: D=clinician\nD: hello\n")


def test_the_letter_a_of_a_spelled_word_is_no_article() -> None:
    words = parsed(HEAD + "D: h a r p e r is a name and i a\n").words
    assert sayable(words) == ["h", "ay", "r", "p", "e", "r", "is", "a", "name", "and", "i", "a"]


@pytest.mark.parametrize("path", sorted(DEV.glob("*.txt")), ids=lambda path: path.stem)
def test_each_script_for_development_can_be_read(path: Path) -> None:
    assert len(parsed(path.read_text(encoding="utf-8")).words) > 50
