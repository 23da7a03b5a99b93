"""Precedence of settings: keyword, variable, named file, default."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import KeyMissing, SettingError
from incognote.settings import ModelSettings, SettingKeywords, Settings


def test_sources_are_asked_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tmp_path / "named.toml"
    config.write_text('policy = "paper"\ndomain = "file"\nconcurrency = 3\n')
    assert Settings.load().policy == "strict"
    assert Settings.load(config).policy == "paper"
    monkeypatch.setenv("INCOGNOTE_CONFIG", str(config))
    assert Settings.load().domain == "file"
    monkeypatch.setenv("INCOGNOTE_DOMAIN", "variable")
    assert Settings.load().domain == "variable"
    assert Settings.load(domain="keyword").domain == "keyword"
    assert Settings.load(domain="keyword").concurrency == 3


def test_a_file_merely_found_in_the_working_folder_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("incognote.toml", ".incognote.toml", ".env", "pyproject.toml", "config.toml"):
        (tmp_path / name).write_text('policy = "paper"\nINCOGNOTE_POLICY=paper\n')
    monkeypatch.chdir(tmp_path)
    assert Settings.load().policy == "strict"


def test_an_unknown_setting_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("polcy = 'paper'\n")
    with pytest.raises(SettingError, match="polcy"):
        Settings.load(config)
    with pytest.raises(SettingError, match="detector_s"):
        Settings.load(detector_s=1)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"encodr_point": "recall"}, "encodr_point: there is no such setting; did you mean encoder_point"),
        ({"confg": "a.toml"}, "did you mean config"),
        ({"service": {"lease_second": 3.0}}, r"service\.lease_second: .*did you mean lease_seconds"),
        ({"models": {"a/b": {"chunk_word": 20}}}, "did you mean chunk_words"),
        ({"zzz": 1}, r"zzz: there is no such setting \("),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_that_exists(given: dict[str, Any], meant: str) -> None:
    with pytest.raises(SettingError, match=meant):
        Deidentifier(**given)


@pytest.mark.parametrize(("given", "read"), [("need", "need"), (1, 1), ("8", 8)])
def test_passes_are_by_need_or_a_number(given: Any, read: str | int) -> None:
    assert Settings.load(passes=given).passes == read


@pytest.mark.parametrize("given", ["seven", "9", 0, True, 1.5])
def test_other_passes_are_refused_without_the_value(given: Any) -> None:
    with pytest.raises(SettingError, match=r"^passes: Value error, use need, or a number from 1 to 8 \("):
        Settings.load(passes=given)


WIDER = {"SecretStr": "SecretStr | str", "Path": "Path | str", "ServiceSettings": "ServiceSettings | dict[str, Any]",
         "dict[str, ModelSettings]": "Mapping[str, ModelSettings | dict[str, Any]]"}  # fmt: skip
"""What a keyword accepts beside the type of the field."""


def accepted(written: str) -> str:
    """The type of a keyword, derived from the annotation of its field in the class."""
    several = re.fullmatch(r"tuple\[(\w+), \.\.\.\]", written)
    if several:
        return f"Sequence[{WIDER.get(several[1], several[1])}]"
    return WIDER.get(written, written)


def test_the_keywords_of_the_sdk_are_the_settings_with_their_types() -> None:
    fields = {
        name: written
        for owner in (ModelSettings, Settings)
        for name, written in owner.__annotations__.items()
        if name in Settings.model_fields
    }
    own = {"policy", "model", "detectors"}  # parameters with their own types
    keywords = {name: kind.__forward_arg__ for name, kind in SettingKeywords.__annotations__.items()}
    assert keywords == {
        name: accepted(written.removesuffix(" | None")) + " | None"
        for name, written in fields.items()
        if name not in own
    }
    parameters = inspect.signature(Deidentifier).parameters
    assert set(parameters) == {"config", *Settings.model_fields}
    assert all(parameters[name].default is None for name in parameters)


def test_a_notebook_completes_the_names_of_settings() -> None:
    jedi = pytest.importorskip("jedi", reason="needs ipython")
    names = [each.name for each in jedi.Interpreter("Deidentifier(enc", [{"Deidentifier": Deidentifier}]).complete()]
    assert names[:2] == ["encoder_fast=", "encoder_point="]


def test_a_malformed_value_is_named_and_never_quoted() -> None:
    with pytest.raises(SettingError, match="concurrency") as caught:
        Settings.load(concurrency="sixteen-secret")
    assert "secret" not in str(caught.value)


def test_a_malformed_list_variable_says_how_to_write_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCOGNOTE_PACKS", "secret-folder")
    with pytest.raises(SettingError, match="JSON") as caught:
        Settings.load()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", [b"policy = ", b"\xff\xfe"])
def test_a_broken_config_file_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    config = tmp_path / "c.toml"
    config.write_bytes(content)
    with pytest.raises(SettingError, match="TOML"):
        Settings.load(config)
    with pytest.raises(SettingError, match="cannot be read"):
        Settings.load(tmp_path / "absent.toml")


def test_the_key_comes_from_value_file_or_command(tmp_path: Path) -> None:
    written = "6b" * 32
    path = tmp_path / "key"
    path.write_text(written)
    ids = {
        s.keyring().id
        for s in (Settings.load(key=written), Settings.load(key_file=path), Settings.load(key_command=f"cat {path}"))
    }
    assert len(ids) == 1
    assert written not in repr(Settings.load(key=written))


def test_a_persistent_key_may_be_required() -> None:
    assert not Settings.load().keyring().persistent
    with pytest.raises(KeyMissing, match="incognote key new"):
        Settings.load().keyring(persistent=True)
    with pytest.raises(KeyMissing, match="key_command"):
        Settings.load(key_command="false").keyring()


def test_the_master_key_has_one_source_wherever_it_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('key_file = "/etc/key"\n')
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", "/other/key")
    assert str(Settings.load(tmp_path / "c.toml").key_file) == "/other/key"  # same setting: the variable wins
    with pytest.raises(SettingError, match="key_file and key_command are both set"):
        Settings.load(tmp_path / "c.toml", key_command="secret-command")
    monkeypatch.setenv("INCOGNOTE_KEY_FD", "3")
    with pytest.raises(SettingError, match="key_file and key_fd are both set") as caught:
        Settings.load(key="c2VjcmV0" * 8)
    assert "c2VjcmV0" not in str(caught.value)


def test_the_key_is_not_read_from_a_standard_stream() -> None:
    with pytest.raises(SettingError, match="key_fd"):
        Settings.load(key_fd=0)
