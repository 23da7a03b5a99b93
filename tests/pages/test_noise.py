"""Noise is removed from scans and faxes; pages without noise stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.pages.noise import is_bilevel, without_noise

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")


def page() -> Any:
    made = np.full((200, 400), 255, np.uint8)
    cv2.putText(made, "Okafor 447102", (20, 100), cv2.FONT_HERSHEY_SIMPLEX, 1.2, 0, 2)
    return made


def test_a_page_without_noise_stays_as_it_is() -> None:
    made = cv2.GaussianBlur(page(), (0, 0), 0.6)
    assert (without_noise(made) == made).all()


def test_specks_of_a_black_and_white_page_go_and_letters_stay() -> None:
    clean = np.where(page() > 127, np.uint8(255), np.uint8(0))
    made = clean.copy()
    made[10:12, 30] = 0
    made[180, 390] = 0
    assert (without_noise(made) == clean).all()


def test_gray_noise_becomes_less_and_letters_stay_dark() -> None:
    noise = np.random.default_rng(1).normal(0, 4, (200, 400))
    clean = cv2.GaussianBlur(page(), (0, 0), 0.6)
    made = without_noise(np.clip(clean.astype(float) - 20 + noise, 0, 255).astype(np.uint8))
    assert float(made[150:, :].std()) < float(noise[150:, :].std()) / 2
    assert int(made[clean < 60].max()) < 130


def test_a_fax_has_only_black_and_white() -> None:
    fax = np.where(page() > 127, np.uint8(255), np.uint8(0))
    assert is_bilevel(fax)
    fax[5, 5] = 254
    assert not is_bilevel(fax)
