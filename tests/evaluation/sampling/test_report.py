"""What a review proves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.evaluation.sampling.agreement import recapture, together
from incognote.evaluation.sampling.bounds import hypergeometric
from incognote.evaluation.sampling.key import Key, LeakMark
from incognote.evaluation.sampling.report import report as weigh
from incognote.evaluation.sampling.report import sentence

Drawn = Callable[..., tuple[Path, Key]]
Decide = Callable[..., list[Path]]
NAME = (0, 4, "PERSON")


def on(cases: list[str]) -> dict[str, list[Any]]:
    """The same mark on each of some cases."""
    return {case: [NAME] for case in cases}


def report(folder: Path, decisions: list[Path], adjudicated: Path | None = None) -> Any:
    return weigh(folder, decisions, folder.with_name("review.key.json"), adjudicated)


def test_a_clean_review_proves_the_bound(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    told = report(folder, decide(key, {}, {}))
    assert told.proven
    assert (told.all.leaking, told.all.population, told.leaks) == (0, 120, 0)
    assert told.all.upper == hypergeometric(0, len(key.drawn), 120, 0.95) / 120 <= 0.05
    assert told.unmoved is True
    assert "95% confidence at most 5.00% of the 120 documents" in sentence(told)
    assert "not known" in sentence(told)
    assert told.agreed[0].kappa.value is None


def test_a_leak_that_one_reviewer_saw_counts_until_it_is_adjudicated(
    drawn: Drawn, decide: Decide, tmp_path: Path
) -> None:
    folder, key = drawn()
    case = key.drawn[4]
    decisions = decide(key, {case.case: [NAME]}, {})
    told = report(folder, decisions)
    assert (told.proven, told.all.leaking, told.open) == (False, 1, 1)
    [one] = told.disagreements
    assert (one.case, one.items, one.marks, one.adjudicated) == (case.case, case.items, (1, 0), None)
    ruled = tmp_path / "adjudicated.json"
    ruled.write_text(json.dumps({case.case: "none"}))
    told = report(folder, decisions, ruled)
    assert (told.proven, told.all.leaking, told.open, told.leaks) == (True, 0, 0, 0)


def test_agreement_is_that_of_the_four_fold_table(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    names = [case.case for case in key.drawn]
    both, first, second = names[:10], names[10:13], names[13:15]
    decisions = decide(key, on(both + first), on(both + second))
    [one] = report(folder, decisions).agreed
    n = len(names)
    assert (one.both, one.first, one.second, one.neither) == (10, 3, 2, n - 15)
    observed, chance = (n - 5) / n, (13 * 12 + (n - 13) * (n - 12)) / n**2
    assert one.kappa.value == pytest.approx((observed - chance) / (1 - chance))
    assert one.positive.value == pytest.approx(20 / 25)
    assert one.tokens.value is not None


def test_the_order_of_the_files_does_not_matter(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    decisions = decide(key, {key.drawn[0].case: [NAME]}, {})
    assert report(folder, decisions[::-1]).as_dict() == report(folder, decisions).as_dict()


def test_planted_leaks_tell_the_reviewers_sensitivity_and_never_count(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn(plants=20)
    marks = {case.case: [tuple(case.plant)] for case in key.planted if case.plant}
    some = dict(list(marks.items())[:15])
    told = report(folder, decide(key, marks, some))
    assert told.all.leaking == told.leaks == told.beyond == 0
    assert [told.seen[who].found for who in ("reviewer 1", "reviewer 2", "together")] == [20, 15, 20]
    assert told.seen["together"].least == pytest.approx(0.05 ** (1 / 20))
    assert "of 20 planted leaks they found 20" in sentence(told)
    assert "with 90% confidence" in sentence(told)


def test_a_real_leak_beside_a_plant_is_told_but_is_not_in_the_rate(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn(plants=3)
    case = key.planted[0]
    assert case.plant is not None
    at = case.characters - 5 if case.plant.end < case.characters - 5 else 0
    told = report(folder, decide(key, {case.case: [(at, at + 4, "PERSON")]}, {}))
    assert (told.beyond, told.all.leaking) == (1, 0)


def test_kinds_have_bounds_of_their_own(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn(strata="dataType")
    case = next(case for case in key.drawn if case.stratum == "Radiology")
    told = report(folder, decide(key, {case.case: [NAME]}, {case.case: [NAME]}))
    assert told.strata["Radiology"].leaking == 1
    assert told.strata["Progress"].leaking == 0
    assert told.all.upper > told.all.rate > 0


def test_marks_that_overlap_are_one_leak() -> None:
    one, other = [LeakMark(0, 5, "ID"), LeakMark(9, 12, "ID")], [LeakMark(4, 10, "DATE"), LeakMark(20, 21, "ID")]
    assert together((one, other)) == [[one[0], other[0]], [None, other[1]]]
    assert together((one, [])) == [[one[0], None], [one[1], None]]


def test_chapman_gives_the_estimate_of_the_books() -> None:
    made = recapture(50, 40, 20)  # (51 × 41 / 21) − 1; Seber's variance 51·41·30·20 / (21²·22)
    assert made is not None
    assert made.estimate == pytest.approx(98.571, abs=1e-3)
    assert made.high - made.estimate == pytest.approx(1.95996 * (51 * 41 * 30 * 20 / (21**2 * 22)) ** 0.5, abs=1e-3)
    assert made.sensitivity[0] == pytest.approx(70 / 98.571, abs=1e-4)
    assert recapture(50, 40, 6) is None


def test_without_plants_many_leaks_tell_the_sensitivity(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    names = [case.case for case in key.drawn]
    told = report(folder, decide(key, on(names[:12]), on(names[2:12])))
    assert "capture-recapture" in sentence(told)


def test_no_text_is_in_the_report(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn(plants=2)
    told = report(folder, decide(key, {key.drawn[0].case: [NAME]}, {}))
    assert "visit" not in json.dumps(told.as_dict()) + repr(told)


@pytest.mark.parametrize("name", ["items.jsonl", "review.html"])
def test_a_changed_set_is_noticed(name: str, drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    path = folder / "reviewer-2" / name
    path.write_bytes(path.read_bytes().replace(b"visit", b"Visit"))
    with pytest.raises(UsageError, match=f"reviewer 2: {name} has changed"):
        report(folder, decide(key, {}, {}))


def test_a_release_that_changed_since_the_draw_is_noticed(release: Path, drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    (release / "3f2a.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="The release has changed"):
        report(folder, decide(key, {}, {}))


def test_a_release_that_is_gone_is_said(release: Path, drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    (release / "3f2a.jsonl").unlink()
    assert report(folder, decide(key, {}, {})).unmoved is None


def _without_an_item(told: list[dict[str, Any]]) -> None:
    told[0]["decisions"].popitem()


def _of_another_draw(told: list[dict[str, Any]]) -> None:
    told[1]["set"] = "0" * 16


def _twice_the_same(told: list[dict[str, Any]]) -> None:
    told[1].update(told[0])


def _no_decisions(told: list[dict[str, Any]]) -> None:
    del told[0]["decisions"]


def _beyond_the_text(told: list[dict[str, Any]]) -> None:
    told[0]["decisions"][next(iter(told[0]["decisions"]))] = [[0, 10**6, "PERSON"]]


def _of_no_type(told: list[dict[str, Any]]) -> None:
    told[0]["decisions"][next(iter(told[0]["decisions"]))] = [[0, 4, "NOBODY"]]


def _of_no_form(told: list[dict[str, Any]]) -> None:
    told[0]["decisions"][next(iter(told[0]["decisions"]))] = [[0, 4]]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_without_an_item, "reviewer 1: item"),
        (_of_another_draw, "File 2 of the decisions belongs to another draw"),
        (_twice_the_same, "same reviewer"),
        (_no_decisions, "File 1 of the decisions was not saved"),
        (_beyond_the_text, "outside the text"),
        (_of_no_type, "unknown type"),
        (_of_no_form, r"\[start, end, type\]"),
    ],
)
def test_decisions_that_do_not_fit_the_draw_are_refused(
    spoil: Callable[[list[dict[str, Any]]], None], said: str, drawn: Drawn, decide: Decide
) -> None:
    folder, key = drawn()
    paths = decide(key, {}, {})
    told = [json.loads(path.read_text()) for path in paths]
    spoil(told)
    for path, one in zip(paths, told, strict=True):
        path.write_text(json.dumps(one))
    with pytest.raises(UsageError, match=said):
        report(folder, paths)


def test_one_review_is_no_double_review(drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    with pytest.raises(UsageError, match="reviewer 2 are missing"):
        report(folder, decide(key, {}, {})[:1])


@pytest.mark.parametrize("content", ['{"nobody": "none"}', '{"x": "maybe"}', "[]", "{"])
def test_an_adjudication_that_does_not_fit_is_refused(
    content: str, drawn: Drawn, decide: Decide, tmp_path: Path
) -> None:
    folder, key = drawn()
    ruled = tmp_path / "adjudicated.json"
    ruled.write_text(content)
    with pytest.raises(UsageError, match="--adjudicated"):
        report(folder, decide(key, {}, {}), ruled)


def test_adjudication_makes_no_leak_that_nobody_marked(drawn: Drawn, decide: Decide, tmp_path: Path) -> None:
    folder, key = drawn()
    ruled = tmp_path / "adjudicated.json"
    ruled.write_text(json.dumps({key.drawn[0].case: "leak"}))
    with pytest.raises(UsageError, match="no reviewer marked"):
        report(folder, decide(key, {}, {}), ruled)


def test_adjudication_overrules_no_leak_that_every_reviewer_marked(
    drawn: Drawn, decide: Decide, tmp_path: Path
) -> None:
    folder, key = drawn()
    case = key.drawn[0].case
    ruled = tmp_path / "adjudicated.json"
    ruled.write_text(json.dumps({case: "none"}))
    with pytest.raises(UsageError, match="every reviewer marked"):
        report(folder, decide(key, on([case]), on([case])), ruled)


@pytest.mark.parametrize("content", ["{}", "[", '{"cases": [1]}'])
def test_what_is_no_key_is_said_to_be_none(content: str, drawn: Drawn, decide: Decide) -> None:
    folder, key = drawn()
    folder.with_name("review.key.json").write_text(content)
    with pytest.raises(UsageError, match="--key"):
        report(folder, decide(key, {}, {}))
