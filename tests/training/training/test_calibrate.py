"""When a window may take the early exit, calibrated on windows read by both exits."""

from __future__ import annotations

import numpy as np

from incognote.detectors.encoder.bundle import Exit
from incognote_training.training.calibrate import MARGIN, leaving

WAY = Exit(np.zeros((1, 1), np.float32), np.ones(0, np.float32), {"recall": -1.0, "balanced": 0.0, "precision": 2.0})


def test_a_window_leaves_only_where_the_early_exit_is_surer_than_it_ever_wrongly_was() -> None:
    assert leaving([(3.0, 5.0), (0.5, -0.9), (-4.0, -1.1)], WAY) == 0.5 - MARGIN  # -0.9 passes the recall threshold


def test_windows_without_a_finding_give_no_leave_beyond_the_margin() -> None:
    assert leaving([(-9.0, -9.0)], WAY) == -MARGIN
