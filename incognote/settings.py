"""One typed settings object.

A value is taken from the first of: keyword argument, `INCOGNOTE_*` variable, the TOML file named by `config=`,
`--config` or `INCOGNOTE_CONFIG`, default. A file that merely lies in the working folder is never read.
Of the four sources of the master key (key, key_file, key_fd, key_command) one may be set, wherever it is set.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from incognote.errors import KeyMissing, SettingError
from incognote.keys import Keyring
from incognote.text.language import NAMES

Agent = Literal["cluster", "query", "decision", "replacement", "all"]
AGENTS: tuple[Agent, ...] = ("cluster", "query", "decision", "replacement")
KEY_SOURCES = ("key", "key_file", "key_fd", "key_command")


def home() -> Path:
    """Where incognote keeps what is its own: INCOGNOTE_HOME, else `incognote` in the XDG configuration folder."""
    named = os.environ.get("INCOGNOTE_HOME")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "incognote"


def _codes(named: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := set(named) - NAMES.keys():
        raise ValueError(f"{len(unknown)} codes name no language that is recognized; there are: {', '.join(NAMES)}")
    return named


class ModelSettings(BaseModel):
    """How a language model is asked; a table `[models."vendor/name"]` of the settings file changes it for one model."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    api_base: str | None = Field(None, description="the model's address; the vendor's own when not given")
    api_key: SecretStr | None = Field(None, description="its key; the vendor's usual variable when not given")
    fallbacks: tuple[str, ...] = Field((), description="models asked where this one does not serve: NAME or NAME@URL")
    prompt: str = Field("extract/v2", description="a shipped prompt's name, or the path of a prompt file")
    passes: int = Field(2, ge=1, le=8, description="the most passes over a chunk (p of RedactOR)")
    chunk_words: int = Field(256, ge=16, description="the most words of a chunk (omega of RedactOR)")
    chunk_overlap: int | None = Field(None, ge=0, description="the least words neighbours share; an eighth by default")
    votes: int = Field(1, ge=1, le=32, description="how often the model is asked about each chunk")
    vote_rule: Literal["union", "majority"] = Field("union", description="what several answers amount to")
    reads: tuple[str, ...] | None = Field(None, description="languages (ISO 639-1) it reads; by default the prompt's")
    temperature: float = Field(0.0, ge=0, le=2, description="of a single vote")
    spread: float = Field(0.7, gt=0, le=2, description="the temperature where there are several votes")
    composite: bool = Field(True, description="ask about several light texts of one record in one request")
    context_tokens: int = Field(8192, ge=1024, description="how much the model reads and writes at once")
    max_tokens: int = Field(4096, ge=64, description="the longest reply that is waited for")
    model_timeout: float = Field(120.0, gt=0, description="seconds until an answer counts as missing")
    model_attempts: int = Field(5, ge=1, description="how often a model that does not answer is asked in all")
    model_slots: int = Field(16, gt=0, description="requests to the model at once")

    @field_validator("reads")
    @classmethod
    def _known_reads(cls, named: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if named is None else _codes(named)

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> Self:
        if self.chunk_overlap is not None and self.chunk_overlap >= self.chunk_words:
            raise ValueError("chunk_overlap is smaller than chunk_words")
        return self


class ServiceSettings(BaseModel):
    """How the service runs; the table `[service]` of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    batch_records: int = Field(64, ge=1, description="records that a worker claims and holds in memory at once")
    batch_bytes: int = Field(8 * 2**20, ge=1, description="bytes of them; one longer record is a batch of its own")
    part_bytes: int = Field(2 * 2**20, ge=1, description="how large a range of one huge file a worker claims")
    shard_records: int = Field(1000, ge=1, description="records in one output shard")
    shard_bytes: int = Field(64 * 2**20, ge=1, description="bytes of one output shard, before compression")
    shard_seconds: float = Field(60.0, gt=0, description="a shard is written after so long, full or not")
    lease_seconds: float = Field(30.0, gt=0, description="a worker that is silent for longer is taken for dead")
    most_tries: int = Field(5, ge=1, description="workers that may die on a record before it is quarantined")
    poll_seconds: float = Field(10.0, gt=0, description="how often the source is looked at for new files")
    rest_seconds: float = Field(5.0, ge=0, description="a file that was changed more recently is left to its writer")
    longest_pause: float = Field(60.0, gt=0, description="seconds between two looks at what does not serve")
    review_ceiling: float = Field(0.25, gt=0, le=1, description="a larger share of records in review stops the run")
    review_least: int = Field(200, ge=1, description="records before the ceiling counts")
    database: str | None = Field(
        None, description="queue, jobs and API keys: sqlite:///FILE or postgresql://USER@HOST/NAME"
    )
    api_bytes: int = Field(16 * 2**20, ge=1024, description="the longest body of a request")
    api_rate: int = Field(600, gt=0, description="requests a minute from one key")
    api_refusals: int = Field(30, gt=0, description="refused requests a minute from one address")
    api_seconds: float = Field(60.0, gt=0, description="until a request's body must be here; a sixth for its headers")
    api_connections: int = Field(
        128, ge=1, description="connections of one address: so many idle ones, and so many requests served at once"
    )
    api_documents: int = Field(1000, ge=1, description="documents that one job may hold")
    api_lease: float = Field(600.0, gt=0, description="a document of a job that took longer is served anew")
    audit: Path | None = Field(None, description="the audit log's folder; `audit` in home when not given")
    log_level: Literal["debug", "info", "warning"] = Field("info", description="the least loud event that is a line")
    metrics: str | None = Field(None, description="HOST:PORT where a worker serves its metrics")
    otel_endpoint: str | None = Field(None, description="where traces go, by OTLP over HTTP; nowhere when not given")
    sentinels: int = Field(2, ge=0, description="sentinel notes that run with every settlement")
    sentinel_floor: float | None = Field(0.8, ge=0, le=1, description="a lower recall on them stops the worker")
    sentinel_least: int = Field(60, ge=1, description="identifiers planted before the floor counts")
    drift_least: int = Field(200, ge=2, description="records of a source, today and before, that an alarm needs")
    drift_z: float = Field(5.0, gt=0, description="standard errors between today's rate and the former that are one")
    drift_change: float = Field(0.5, gt=0, description="and the least difference, as a share of the former rate")


class Settings(ModelSettings, BaseSettings):
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
    detectors: tuple[str, ...] = Field(
        ("rules", "encoder"), description="which of rules, encoder and llm run; llm when a model is named"
    )
    languages: tuple[str, ...] = Field(
        (), description="languages (ISO 639-1) of notes to accept though no detector reads them: at your own risk"
    )
    encoder_point: Literal["recall", "balanced", "precision"] = Field(
        "balanced", description="the encoder's operating point: find more, or touch less"
    )
    encoder_fast: bool = Field(False, description="the encoder's early exit: more notes a second, less found")
    max_characters: int = Field(20_000_000, gt=0, description="a longer text is quarantined, not processed")
    processes: int = Field(0, ge=0, le=64, description="processes that serve records, a core each; 0: this one")
    concurrency: int = Field(16, gt=0, description="records in flight at once")
    model: str | None = Field(None, description="a language model, as vendor/name; several with commas vote together")
    models: dict[str, ModelSettings] = Field({}, description="what is set otherwise for one model, by its name")
    budget_tokens: int | None = Field(None, gt=0, description="tokens a run may take, in and out together")
    budget_usd: float | None = Field(None, gt=0, description="money a run may cost")
    prices: Path | None = Field(None, description="a price table (TOML) that goes before the shipped one")
    recording: Path | None = Field(None, description="a file that keeps, sealed, what models and index answer")
    recorded_run: str | None = Field(None, description="which run's answers of the index are kept or replayed")
    replay: bool = Field(False, description="answer from the recording only; no network")
    batch: bool = Field(False, description="ask through the provider's batch endpoint: half the price, hours of time")
    index: str | None = Field(None, description="where surrogates are kept: sqlite:///FILE or opensearch://...")
    agents: tuple[Agent, ...] = Field(
        (), description="agents of surrogates the model plays: cluster, query, decision, replacement, or all"
    )
    index_password: SecretStr | None = Field(None, description="the password of the index's user")
    index_password_file: Path | None = Field(None, description="a file that holds it")
    home: Path = Field(default_factory=home, description="where agreements and an own key lie")
    reveal_approvals: int = Field(1, ge=1, le=2, description="people who must agree before an original is revealed")
    reveal_minutes: float = Field(60.0, gt=0, le=1440, description="until a request to reveal ends, used or not")
    service: ServiceSettings = Field(ServiceSettings.model_validate({}), description="how worker and API run")
    key: SecretStr | None = Field(None, description="the master key, base64 or hexadecimal")
    key_file: Path | None = Field(None, description="a file that holds the master key")
    key_fd: int | None = Field(None, ge=3, description="an open file descriptor that gives the master key")
    key_command: str | None = Field(None, description="a command, run without a shell, that prints the master key")

    @field_validator("languages")
    @classmethod
    def _known_languages(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        return _codes(named)

    @field_validator("agents")
    @classmethod
    def _all_agents(cls, named: tuple[Agent, ...]) -> tuple[Agent, ...]:
        return AGENTS if "all" in named else tuple(agent for agent in AGENTS if agent in named)

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        named = self.key_sources
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} are both set: the master key has one source")
        return self

    @property
    def key_sources(self) -> tuple[str, ...]:
        """Which settings name a master key; at most one in settings that were loaded."""
        return tuple(name for name in KEY_SOURCES if getattr(self, name) is not None)

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
            faults = "; ".join(_fault(e["loc"], e["type"], e["msg"]) for e in error.errors(include_input=False))
            raise SettingError(f"{faults} (set by keyword, INCOGNOTE_* variable or the named config file)") from None
        except ValueError as error:  # pydantic-settings wraps JSON faults of list-valued variables
            raise SettingError(
                f'{type(error).__name__}: a list-valued INCOGNOTE_* variable must be JSON, e.g. \'["a", "b"]\''
            ) from None

    def for_model(self, name: str) -> Settings:
        """These settings with what the table of one model says otherwise."""
        own = self.models.get(name)
        return self if own is None else self.model_copy(update=own.model_dump(exclude_unset=True))

    def keyring(self, *, persistent: bool = False) -> Keyring:
        """The configured master key, else an ephemeral one.

        Args:
            persistent: refuse to go on with an ephemeral key.

        Raises:
            KeyMissing: no key is configured and one is required, or its source does not answer.
        """
        if self.key is not None:
            return Keyring.decode(self.key.get_secret_value(), "key (INCOGNOTE_KEY)")
        if self.key_file is not None:
            return Keyring.read(self.key_file)
        if self.key_fd is not None:
            return Keyring.from_descriptor(self.key_fd)
        if self.key_command is not None:
            return Keyring.from_command(self.key_command)
        if persistent:
            raise KeyMissing(
                "a persistent key is needed: set key_file, key_fd or key_command (INCOGNOTE_KEY_FILE, _FD, _COMMAND); "
                "make one with `incognote key new`"
            )
        return Keyring.ephemeral()


class SettingKeywords(TypedDict, total=False):
    """The fields of `Settings` as keyword arguments of `Deidentifier`, for editors and type checkers.

    None counts as not given. `policy`, `model` and `detectors` are parameters of their own. A test compares the names
    and types with `Settings`.
    """

    api_base: str | None
    api_key: SecretStr | str | None
    fallbacks: Sequence[str] | None
    prompt: str | None
    passes: int | None
    chunk_words: int | None
    chunk_overlap: int | None
    votes: int | None
    vote_rule: Literal["union", "majority"] | None
    reads: Sequence[str] | None
    temperature: float | None
    spread: float | None
    composite: bool | None
    context_tokens: int | None
    max_tokens: int | None
    model_timeout: float | None
    model_attempts: int | None
    model_slots: int | None
    domain: str | None
    data_type: str | None
    schemas: Sequence[Path | str] | None
    packs: Sequence[Path | str] | None
    roster: Path | str | None
    languages: Sequence[str] | None
    encoder_point: Literal["recall", "balanced", "precision"] | None
    encoder_fast: bool | None
    max_characters: int | None
    processes: int | None
    concurrency: int | None
    models: Mapping[str, ModelSettings | dict[str, Any]] | None
    budget_tokens: int | None
    budget_usd: float | None
    prices: Path | str | None
    recording: Path | str | None
    recorded_run: str | None
    replay: bool | None
    batch: bool | None
    index: str | None
    agents: Sequence[Agent] | None
    index_password: SecretStr | str | None
    index_password_file: Path | str | None
    home: Path | str | None
    reveal_approvals: int | None
    reveal_minutes: float | None
    service: ServiceSettings | dict[str, Any] | None
    key: SecretStr | str | None
    key_file: Path | str | None
    key_fd: int | None
    key_command: str | None


def _fault(place: tuple[int | str, ...], kind: str, message: str) -> str:
    """What is wrong with a setting, by its name; for an unknown name, the nearest names that exist."""
    name = ".".join(map(str, place))
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    table: dict[str, type[BaseModel]] = {"models": ModelSettings, "service": ServiceSettings}
    fields = table.get(str(place[0]), Settings).model_fields if len(place) > 1 else ["config", *Settings.model_fields]
    near = get_close_matches(str(place[-1]), fields, n=2)
    return f"{name}: there is no such setting" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _read(path: str | Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError:
        raise SettingError("the named config file cannot be read (--config, INCOGNOTE_CONFIG)") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise SettingError("the named config file is not valid TOML") from None
