"""Reviews without gold: the questions, what the answers show, and the gold that they produce."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan, read_gold
from incognote.evaluation.lab.growing import grow
from incognote.evaluation.lab.judged import FIXED, Judged, confirmed, figures, judged
from incognote.evaluation.lab.review import ReviewItem, ReviewPlan, UnitDecision, draw, read_decisions, read_plan
from incognote.evaluation.lab.units import ReviewNote, Unit, plain, units

Spans = Sequence[tuple[int, int]]
TEXT = "Dr. Ines Abara saw Zuleika on 3/1. The wound is dry. Call Bob Stone at 555-0142, or his sister Ann Stone."
WORDS = ("Ines Abara", "Abara", "Zuleika", "3/1", "wound", "Dr. Ines Abara")
PLACES = {word: (TEXT.index(word), TEXT.index(word) + len(word)) for word in WORDS}


def marked(*words: str) -> list[dict[str, Any]]:
    return [{"start": PLACES[w][0], "end": PLACES[w][1], "type": "DATE" if w == "3/1" else "PERSON"} for w in words]


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., ReviewPlan]:
    """Draw a review of variants of one text."""

    def made(*variants: Sequence[str], sample: int = 100) -> ReviewPlan:
        texts = written(tmp_path / "texts.jsonl", [{"id": "t", "text": TEXT}])
        files = [
            written(tmp_path / f"{'abc'[n]}.jsonl", [{"id": "t", "spans": marked(*words)}])
            for n, words in enumerate(variants)
        ]
        return draw(texts, files, tmp_path / "review", sample)

    return made


def from_gold(plan: ReviewPlan, notes: Sequence[ReviewNote], gold: Sequence[Spans]) -> dict[str, UnitDecision]:
    """A reviewer who knows the gold and accepts a unit if all its letters and digits are marked."""
    made = {}
    for item in plan.items:
        unit, text = item.unit, notes[item.unit.note].text
        inside = {at for start, end in gold[unit.note] for at in range(start, end)}
        signs = [at for at in range(unit.start, unit.end) if text[at].isalnum()]
        if unit.kind == "unmarked":
            spans = tuple((a, b, "PERSON") for a, b in gold[unit.note] if unit.start <= a and b <= unit.end)
            made[item.name] = UnitDecision(bool(spans), spans)
        else:
            made[item.name] = UnitDecision(all(at in inside for at in signs))
    return made


def test_only_differences_and_samples_are_asked_about(drawn: Callable[..., ReviewPlan]) -> None:
    plan = drawn(("Abara", "Zuleika", "3/1"), ("Dr. Ines Abara", "Zuleika"), sample=1)
    kinds = [item.unit.kind for item in plan.items]
    assert sorted(kinds) == ["agreed", "differs", "differs", "differs", "unmarked"]
    assert {TEXT[i.unit.start : i.unit.end] for i in plan.items if i.unit.kind != "unmarked"} == {
        "Abara", "Dr. Ines Abara", "3/1", "Zuleika",
    }  # fmt: skip
    assert read_plan(plan.folder) == plan


def test_what_is_shown_does_not_say_who_marked_it(drawn: Callable[..., ReviewPlan]) -> None:
    plan = drawn(("Abara",), ("Dr. Ines Abara", "Zuleika"))
    rows = [json.loads(line) for line in (plan.folder / "items.jsonl").read_text().splitlines()]
    keys = {"item", "marked", "types", "before", "words", "after", "start", "end", "decision"}
    assert {key for row in rows for key in row} == keys
    assert {type_ for row in rows for type_ in row["types"]} == {"PERSON"}
    assert "Zuleika" not in (plan.folder / "plan.json").read_text()


def test_the_page_holds_every_item_inert_and_refers_to_nothing_outside(drawn: Callable[..., ReviewPlan]) -> None:
    plan = drawn(("Abara",), ("Zuleika",))
    page = (plan.folder / "review.html").read_text()
    (items,) = re.findall(r"const items = (.*);", page)
    assert [row["item"] for row in json.loads(items)] == [item.name for item in plan.items]
    assert not re.findall(r"(?:src|href)\s*=|https?:|@import|url\(", page.replace("link.href =", ""))
    assert "PHI" in page


def test_a_note_cannot_end_the_pages_script() -> None:
    from incognote.evaluation.lab.review import page

    made = page([{"item": "i1", "words": "</script><script>alert(1)</script>\u2028"}])
    assert made.count("<script>") == 1
    assert made.count("</script>") == 1


def test_a_longer_confirmed_identifier_counts_once_and_a_part_of_it_is_no_find(
    drawn: Callable[..., ReviewPlan],
) -> None:
    plan = drawn(("Abara", "wound"), ("Ines Abara", "Zuleika"))
    notes = plan.notes()
    gold = [[PLACES["Ines Abara"], PLACES["Zuleika"], PLACES["3/1"]]]
    made = judged(plan, from_gold(plan, notes, gold), notes)
    a, b = made.variants
    assert (a.recall.value, b.recall.value, a.recall.of) == (0, 1, 2)
    assert (a.precision.value, b.precision.value) == (0.5, 1)
    assert made.unmarked.value is not None
    assert made.unmarked.value > 0


def test_an_identifier_marked_by_the_reviewer_counts_and_who_covers_it_found_it(
    drawn: Callable[..., ReviewPlan],
) -> None:
    plan = drawn(("Dr. Ines Abara",), ("Abara",))
    notes = plan.notes()
    says = {
        "Dr. Ines Abara": UnitDecision(False, ((*PLACES["Ines Abara"], "PERSON"),)),
        "Abara": UnitDecision(True),
    }
    decisions = {i.name: says.get(TEXT[i.unit.start : i.unit.end], UnitDecision(False)) for i in plan.items}
    a, b = judged(plan, decisions, notes).variants
    assert (a.recall.value, b.recall.value) == (1, 0)
    assert (a.precision.value, b.precision.value) == (0, 1)


@st.composite
def worlds(draw_: st.DrawFn) -> tuple[list[ReviewNote], list[Spans], list[list[list[LabeledSpan]]]]:
    """Texts of words, gold for some words, and three variants that mark whole gold spans or other words."""
    notes, gold, variants = [], [], [[], [], []]  # type: ignore[var-annotated]  # filled below
    for number in range(draw_(st.integers(1, 4))):
        words = draw_(st.lists(st.sampled_from(["Ana", "Bo", "wound", "12", "dry"]), min_size=1, max_size=12))
        text, places = "", []
        for word in words:
            places.append((len(text), len(text) + len(word)))
            text += word + " "
        notes.append(ReviewNote(f"t{number}", text))
        true = draw_(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
        gold.append([place for place, yes in zip(places, true, strict=True) if yes])
        for variant in variants:
            taken = draw_(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
            variant.append([LabeledSpan(*place, "PERSON") for place, yes in zip(places, taken, strict=True) if yes])
    return notes, gold, variants


@given(worlds())
def test_with_the_full_sample_relative_recall_and_precision_are_the_exact_values(
    world: tuple[list[ReviewNote], list[Spans], list[list[list[LabeledSpan]]]],
) -> None:
    notes, gold, variants = world
    all_units = units(notes, {f"v{n}": variant for n, variant in enumerate(variants)})
    items = tuple(ReviewItem(f"i{n}", unit) for n, unit in enumerate(all_units))
    plan = ReviewPlan(Path(), tuple((f"v{n}", "") for n in range(3)), ("", ""), 0, tuple(all_units), items)
    right = {(n, place) for n, places in enumerate(gold) for place in places}
    found = [{(n, (a, b)) for n, labels in enumerate(variant) for a, b, _ in labels} for variant in variants]
    pool = set().union(*found) & right
    if not pool:
        with pytest.raises(UsageError, match="No identifier"):
            judged(plan, from_gold(plan, notes, gold), notes)
        return
    made = judged(plan, from_gold(plan, notes, gold), notes)
    for one, own in zip(made.variants, found, strict=True):
        assert one.recall.value == pytest.approx(len(own & right) / len(pool))
        assert one.recall.of == len(pool)
        if own:
            assert one.precision.value == pytest.approx(len(own & right) / len(own))
        else:
            assert one.precision.value is None


@given(st.data())
def test_units_part_a_text_into_marks_and_what_nobody_marks(data: st.DataObject) -> None:
    text = data.draw(st.text("Ab1 .,\n", max_size=80))
    marks = st.lists(st.tuples(st.integers(0, 80), st.integers(1, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=4)
    variants = [
        [plain(text, [LabeledSpan(a, b, "PERSON") for a, b in data.draw(marks) if b <= len(text)])] for _ in range(2)
    ]
    made = units([ReviewNote("t", text)], dict(zip("ab", variants, strict=True)))
    marked_ = {at for (labels,) in variants for a, b, _ in labels for at in range(a, b)}
    unmarked = {at for unit in made if unit.kind == "unmarked" for at in range(unit.start, unit.end)}
    assert not marked_ & unmarked
    assert {at for at, sign in enumerate(text) if sign.isalnum()} <= marked_ | unmarked
    for unit in made:
        assert (unit.kind == "agreed") == (None not in unit.types)


def simulated(random: np.random.Generator, texts: int, sample: int) -> np.ndarray[Any, Any]:
    """A table of texts in which the finds and misses of two variants are correlated by text."""
    rows = np.zeros((texts, len(FIXED) + 6))
    agreed = []
    for row in rows:
        hard = random.beta(1, 6)
        true = random.random((random.poisson(6), 2)) >= np.array([hard, 2 * hard / 3])
        wrong = random.random((random.poisson(1), 2)) < 0.5
        for here, right in [(each, True) for each in true] + [(each, False) for each in wrong]:
            if here.all():
                row[1] += 1
                agreed.append((row, right))
            elif here.any():
                row[0] += right
                for v in range(2):
                    row[len(FIXED) + 3 * v] += here[v] and right
                    row[len(FIXED) + 3 * v + 1] += here[v]
                    row[len(FIXED) + 3 * v + 2] += here[v] and right
    for at in random.choice(len(agreed), size=min(sample, len(agreed)), replace=False):
        row, right = agreed[at]
        row[2] += 1
        row[3] += right
        row[4] += right
    return rows


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    truth = figures(simulated(np.random.default_rng(0), 40_000, 10**9), ["a", "b"], resamples=2)
    random = np.random.default_rng(7)
    trials, held = 120, np.zeros(5)
    for _ in range(trials):
        made = figures(simulated(random, 80, 60), ["a", "b"], resamples=200)
        bounds = [
            *((one.recall.low, one.recall.high) for one in made),
            *((one.precision.low, one.precision.high) for one in made),
            made[1].less[1:],
        ]
        values = [*(one.recall.value for one in truth), *(one.precision.value for one in truth), truth[1].less[0]]
        held += [low <= value <= high for (low, high), value in zip(bounds, values, strict=True)]  # type: ignore[operator]  # none is None here
    assert (held / trials >= 0.90).all(), held / trials
    assert 0.92 <= held.mean() / trials <= 0.98, held / trials


def decided(plan: ReviewPlan, decisions: Mapping[str, UnitDecision], path: Path) -> Path:
    rows = [
        {"item": name, "decision": "accept" if one.accept else "reject", "spans": one.spans}
        for name, one in decisions.items()
    ]
    return written(path, rows)


def test_decisions_are_read_back_and_an_unfinished_review_is_no_sample(
    drawn: Callable[..., ReviewPlan], tmp_path: Path
) -> None:
    plan = drawn(("Abara",), ("Ines Abara", "3/1"))
    notes = plan.notes()
    said = from_gold(plan, notes, [[PLACES["Ines Abara"]]])
    path = decided(plan, said, tmp_path / "decisions.jsonl")
    assert read_decisions(path, plan, notes)[0] == said
    with pytest.raises(UsageError, match=f"{len(plan.items)} of {len(plan.items)} items have no decision"):
        read_decisions(plan.folder / "items.jsonl", plan, notes)
    lines = path.read_text().splitlines()
    for bad, what in (
        ('{"item": "i99999", "decision": "accept"}', "line 1: the decision is not about an item"),
        (lines[0].replace("accept", "maybe").replace("reject", "maybe"), "line 1: decision must be accept or reject"),
        (lines[0].replace("[]", "[[0, 9999, 0]]"), "outside its text"),
    ):
        path.write_text("\n".join([bad, *lines[1:]]))
        with pytest.raises(UsageError, match=what):
            read_decisions(path, plan, notes)


def test_gold_grows_with_whose_word_it_is(drawn: Callable[..., ReviewPlan], tmp_path: Path) -> None:
    plan = drawn(("Abara", "3/1", "wound"), ("Ines Abara", "3/1"), sample=0)
    notes, place = plan.notes(), tmp_path / "gold.jsonl"
    said = from_gold(plan, notes, [[PLACES["Ines Abara"], PLACES["3/1"]]])
    assert grow(place, plan, said, notes, who="Ada", decided="0") == (1, 2)
    row = json.loads(place.read_text())
    assert [(TEXT[s["start"] : s["end"]], s["type"], s["by"]) for s in row["spans"]] == [
        ("Ines Abara", "PERSON", "review"),
        ("3/1", "DATE", "agreement"),
    ]
    (entry,) = row["provenance"]
    assert (entry["by"], entry["complete"], [v["name"] for v in entry["variants"]]) == ("Ada", False, ["a", "b"])
    assert entry["at"].startswith("20")
    (gold,) = read_gold(place)
    assert isinstance(gold, Gold)
    other = {name: UnitDecision(False, one.spans) for name, one in said.items()}
    assert grow(place, plan, other, notes, who="Bea", decided="1") == (1, 1)
    row = json.loads(place.read_text())
    assert [entry["by"] for entry in row["provenance"]] == ["Ada", "Bea"]


def test_a_review_is_of_texts_that_all_variants_read(tmp_path: Path) -> None:
    texts = written(tmp_path / "texts.jsonl", [{"id": "t", "text": TEXT}, {"id": "u", "text": "dry"}])
    a = written(tmp_path / "a.jsonl", [{"id": "t", "spans": []}, {"id": "u", "spans": []}])
    b = written(tmp_path / "b.jsonl", [{"id": "t", "spans": []}])
    with pytest.raises(UsageError, match=r"b\.jsonl: no spans"):
        draw(texts, [a, b], tmp_path / "r", 5)
    with pytest.raises(UsageError, match="two variants"):
        draw(texts, [a], tmp_path / "r", 5)
    draw(texts, [a, written(tmp_path / "c.jsonl", [json.loads(line) for line in a.read_text().splitlines()])],
         tmp_path / "r", 5)  # fmt: skip
    with pytest.raises(UsageError, match="already holds a review"):
        draw(texts, [a, b], tmp_path / "r", 5)
    texts.write_text("{}")
    with pytest.raises(UsageError, match="changed since"):
        read_plan(tmp_path / "r").notes()


def test_confirmed_identifiers_are_the_longest_of_those_that_hold_each_other() -> None:
    wide, inner = (
        Unit(0, *PLACES["Ines Abara"], "differs", ("X", None)),
        Unit(0, *PLACES["Abara"], "differs", (None, "X")),
    )
    yes = {id(wide): UnitDecision(True), id(inner): UnitDecision(True)}
    assert confirmed([wide, inner], yes, TEXT) == [PLACES["Ines Abara"]]
    assert confirmed([wide, inner], {**yes, id(wide): UnitDecision(False)}, TEXT) == [PLACES["Abara"]]


def test_a_judgement_can_be_told_as_json(drawn: Callable[..., ReviewPlan]) -> None:
    plan = drawn(("Abara",), ("Ines Abara",))
    notes = plan.notes()
    made: Judged = judged(plan, from_gold(plan, notes, [[PLACES["Ines Abara"]]]), notes)
    assert json.loads(json.dumps(made.as_dict()))["variants"][1]["recall"]["value"] == 1
