"""The paired test that a changed prompt must pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.lab.trial import Trial, trial
from incognote_benchmarks.prompt_trials import main

TEXT = "Abara saw Zorvaxin"
NAME, DRUG = LabeledSpan(0, 5, "PERSON"), LabeledSpan(10, 18, "PERSON")
Labels = tuple[LabeledSpan, ...]


def tried(pairs: list[tuple[Labels, Labels]], clean: int = 0, touched: int = 0, *, tries: int = 1, allow: float = 1.0,
          aim: str = "recall") -> Trial:  # fmt: skip
    """Run a trial over texts with one name each, and texts without PHI, some of which get false positives."""
    gold = [Gold(str(n), TEXT, (NAME,)) for n in range(len(pairs))]
    gold += [Gold(f"c{n}", TEXT, ()) for n in range(clean)]
    before = [one for one, _ in pairs] + [()] * clean
    after = [other for _, other in pairs] + [(DRUG,)] * touched + [()] * (clean - touched)
    return trial(gold, before, after, aim, tries=tries, allow=allow)  # type: ignore[arg-type]  # one of the two words


SAME, GAIN, LOSS = ((NAME,), (NAME,)), ((), (NAME,)), ((NAME,), ())


def test_the_p_of_a_few_gains_is_a_coins_and_not_the_bootstraps() -> None:
    made = tried([GAIN] * 4 + [SAME] * 40)
    assert made.p == pytest.approx(1 / 16)
    assert made.refused == ("no-gain",)
    assert tried([GAIN] * 5 + [SAME] * 40).p == pytest.approx(1 / 32)


def test_gains_that_are_as_many_as_losses_are_none() -> None:
    assert tried([GAIN] * 8 + [LOSS] * 8 + [SAME] * 40).refused == ("no-gain",)
    assert tried([GAIN] * 5 + [LOSS] * 8 + [SAME] * 40).p == 1


def test_more_tries_ask_for_more() -> None:
    assert tried([GAIN] * 6 + [SAME] * 40, tries=3).accepted
    made = tried([GAIN] * 6 + [SAME] * 40, tries=4)
    assert (made.adjusted, made.refused) == (pytest.approx(4 / 64), ("no-gain",))


def test_a_gain_that_costs_precision_is_refused() -> None:
    costly = ((), (NAME, DRUG))
    made = tried([costly] * 12 + [SAME] * 40)
    assert made.gain > 20
    assert made.refused == ("loses-precision",)


def test_a_loss_that_cannot_be_told_from_none_is_no_pass() -> None:
    made = tried([GAIN] * 12 + [((NAME,), (NAME, DRUG))] + [SAME] * 40)
    assert made.refused == ("cannot-tell-precision",)


def test_texts_without_identifiers_are_counted_on_their_own() -> None:
    assert tried([GAIN] * 12 + [SAME] * 400, clean=50).accepted
    made = tried([GAIN] * 12 + [SAME] * 400, clean=50, touched=1)
    assert (made.touched_before, made.touched_after, made.clean) == (0, 1, 50)
    assert "touches-clean-texts" in made.refused


def test_a_gain_in_precision_may_be_aimed_at_and_recall_is_then_held() -> None:
    better, worse = ((NAME, DRUG), (NAME,)), ((NAME, DRUG), ())
    assert tried([better] * 12 + [SAME] * 40, aim="precision").accepted
    assert tried([better] * 12 + [worse] * 4 + [SAME] * 40, aim="precision").refused == ("loses-recall",)


def test_changes_by_chance_alone_are_seldom_accepted() -> None:
    random = np.random.default_rng(3)
    accepted = 0
    for _ in range(40):
        turns = random.choice(3, size=40, p=[0.8, 0.1, 0.1])
        accepted += tried([(SAME, GAIN, LOSS)[turn] for turn in turns]).accepted
    assert accepted <= 5


def test_the_simulation_behind_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notes = Path(__file__).parents[2] / "data" / "notes.jsonl"
    main([str(notes), "--documents", "20", "--trials", "1"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["churn", "gained", "accepted", "refused", "for"]
    assert len(rows) == 5
