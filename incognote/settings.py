"""One typed settings object.

A value is taken from the first of: keyword argument, `INCOGNOTE_*` variable, the TOML file named by `config=`,
`--config` or `INCOGNOTE_CONFIG`, default. A file that merely lies in the working folder is never read.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from incognote.errors import KeyMissing, SettingError
from incognote.keys import Keyring


class Settings(BaseSettings):
    """Everything that can be set. Use `Settings.load`, which turns complaints into SettingError."""

    model_config = SettingsConfigDict(
        env_prefix="INCOGNOTE_", extra="forbid", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    policy: str = Field("strict", description="a shipped policy's name, or the path of a policy file")
    domain: str = Field("default", description="who shares hashes, date shifts and surrogates")
    data_type: str | None = Field(None, description="the schema for records that carry no dataType")
    schemas: tuple[Path, ...] = Field((), description="folders with record schemas of your own")
    packs: tuple[Path, ...] = Field((), description="site packs: folders with patterns, lists and staff names")
    roster: Path | None = Field(None, description="a CSV or JSONL file of identifiers known beforehand")
    detectors: tuple[str, ...] = Field(("rules",), description="which detectors run")
    max_characters: int = Field(20_000_000, gt=0, description="a longer text is quarantined, not processed")
    concurrency: int = Field(16, gt=0, description="records in flight at once")
    key: SecretStr | None = Field(None, description="the master key, base64 or hexadecimal")
    key_file: Path | None = Field(None, description="a file that holds the master key")
    key_command: str | None = Field(None, description="a command that prints the master key")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Keyword, variable, named file; no .env and no secrets folder."""
        named = getattr(init_settings, "init_kwargs", {}).pop("config", None)
        return (
            init_settings,
            env_settings,
            InitSettingsSource(settings_cls, _read(named or os.environ.get("INCOGNOTE_CONFIG"))),
        )

    @classmethod
    def load(cls, config: str | Path | None = None, **given: Any) -> Settings:
        """Settings from all sources; a keyword that is None counts as not given.

        Raises:
            SettingError: an unknown name or a malformed value; the message names the setting, never its value.
        """
        try:
            words: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
            if config is not None:
                words["config"] = config
            return cls(**words)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors(include_input=False)
            )
            raise SettingError(f"{faults} (set by keyword, INCOGNOTE_* variable or the named config file)") from None
        except ValueError as error:  # pydantic-settings wraps JSON faults of list-valued variables
            raise SettingError(
                f'{type(error).__name__}: a list-valued INCOGNOTE_* variable must be JSON, e.g. \'["a", "b"]\''
            ) from None

    def keyring(self, *, persistent: bool = False) -> Keyring:
        """The configured master key, else an ephemeral one.

        Args:
            persistent: refuse to go on with an ephemeral key.

        Raises:
            KeyMissing: no key is configured and one is required, or its source does not answer.
        """
        if self.key is not None:
            return Keyring.decode(self.key.get_secret_value())
        if self.key_file is not None:
            return Keyring.read(self.key_file)
        if self.key_command is not None:
            return Keyring.decode(_printed_by(self.key_command))
        if persistent:
            raise KeyMissing(
                "a persistent key is needed: set key_file (INCOGNOTE_KEY_FILE); make one with `incognote key new`"
            )
        return Keyring.ephemeral()


def _read(path: str | Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError:
        raise SettingError("the named config file cannot be read (--config, INCOGNOTE_CONFIG)") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise SettingError("the named config file is not valid TOML") from None


def _printed_by(command: str) -> str:
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 -- named by the operator, no shell
    except (OSError, ValueError, subprocess.SubprocessError):
        raise KeyMissing("key_command failed or did not answer in 30 s") from None
    return done.stdout
