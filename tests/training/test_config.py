"""distill.toml: sections, defaults, and refused values."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import SettingError
from incognote_training.config import Config, Synth, overridden, read


def test_no_file_gives_the_defaults() -> None:
    assert read(None) == Config()


def test_a_section_overrides_its_own_settings_only(tmp_path: Path) -> None:
    path = tmp_path / "distill.toml"
    path.write_text("[synth]\nn = 9\nclean = 0\n[student]\nlayers = 3\n", encoding="utf-8")
    assert read(path).synth == Synth(n=9, clean=0)
    assert read(path).select == Config().select


def test_an_option_wins() -> None:
    assert overridden(Synth(n=9), n=3, seed=None) == Synth(n=3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[synth]\nm = 1", "no setting 'm'"),
        ("[synth]\nn = 'many'", "of type int"),
        ("synth = 3", "not a table"),
        ("[", "TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "distill.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=says):
        read(path)


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        read(tmp_path / "none.toml")
