"""All settings in one typed object.

The first place that has a value wins: keyword argument, `INCOGNOTE_*` variable, the TOML file named by `config=`,
`--config` or `INCOGNOTE_CONFIG`, default. A settings file in the working folder is not read unless it is named.
Set at most one source of the master key: key, key_file, key_fd or key_command.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypedDict

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from incognote.errors import KeyMissing, SettingError
from incognote.keys import Keyring
from incognote.text.language import NAMES

Agent = Literal["cluster", "query", "decision", "replacement", "all"]
AGENTS: tuple[Agent, ...] = ("cluster", "query", "decision", "replacement")
KEY_SOURCES = ("key", "key_file", "key_fd", "key_command")
PROMPT = "extract/v3"
CHUNK_WORDS = 600
"""The default chunk size, chosen on recorded replies (docs/measured/chunk_sizes.md)."""


def read_passes(value: object) -> Any:
    """Return the value of the setting `passes`.

    Raises:
        ValueError: it is neither `need` nor a number from 1 to 8.
    """
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if value != "need" and (type(number) is not int or not 1 <= number <= 8):
        raise ValueError("use need, or a number from 1 to 8")
    return number


Passes = Annotated[Literal["need"] | int, BeforeValidator(read_passes)]
"""How often a model reads a chunk: a fixed number, or a second time only where the first reply shows a need."""


def home() -> Path:
    """The folder of incognote's own files: INCOGNOTE_HOME, else `incognote` in the XDG configuration folder."""
    named = os.environ.get("INCOGNOTE_HOME")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "incognote"


def _codes(named: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := set(named) - NAMES.keys():
        raise ValueError(f"{len(unknown)} codes are not languages that incognote recognizes; use: {', '.join(NAMES)}")
    return named


class ModelSettings(BaseModel):
    """Language model settings. The table `[models."vendor/name"]` in the settings file changes them for a model."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    api_base: str | None = Field(None, description="Base URL of the model's API. Default: the vendor's own.")
    api_key: SecretStr | None = Field(
        None, description="API key of the model. Default: the vendor's usual environment variable."
    )
    fallbacks: tuple[str, ...] = Field(
        (), description="Models to use when this model does not answer. Write `NAME` or `NAME@URL`."
    )
    prompt: str = Field(PROMPT, description="Name of a shipped prompt, or the path of a prompt file.")
    reply_schema: Literal["types", "generic"] = Field(
        "types", description="JSON schema of replies: with the types, or `generic`, which costs fewer tokens."
    )
    passes: Passes = Field(
        "need",
        description="Passes over a chunk: `need` for a second pass only where the first reply missed something, or the "
        "maximum number (1 to 8, `p` in RedactOR).",
    )
    chunk_words: int = Field(
        CHUNK_WORDS,
        ge=16,
        description="Number of words in a chunk (`omega` in RedactOR). Longer texts are split into equal parts.",
    )
    chunk_overlap: int | None = Field(
        None,
        ge=0,
        description="Minimum number of words that adjacent chunks share. Default: a sixteenth of `chunk_words`, and at "
        "least 8.",
    )
    votes: int = Field(1, ge=1, le=32, description="How many times the model is asked about each chunk.")
    vote_rule: Literal["union", "majority"] = Field(
        "union", description="How votes are combined: spans of any vote, or spans of most votes."
    )
    reads: tuple[str, ...] | None = Field(
        None, description="Languages (ISO 639-1) that the model reads. Default: those of the prompt."
    )
    temperature: float = Field(0.0, ge=0, le=2, description="Sampling temperature when `votes` is 1.")
    spread: float = Field(0.7, gt=0, le=2, description="Sampling temperature when `votes` is greater than 1.")
    composite: bool = Field(True, description="Combine short texts of one patient in one request.")
    context_tokens: int = Field(
        8192, ge=1024, description="Context window: tokens of the request and the reply together. Ollama reserves them."
    )
    max_tokens: int = Field(4096, ge=64, description="Maximum tokens of a reply.")
    model_timeout: float = Field(120.0, gt=0, description="Seconds to wait for a reply.")
    model_attempts: int = Field(5, ge=1, description="Total attempts for a request that gets no reply.")
    model_slots: int = Field(16, gt=0, description="Maximum concurrent requests to the model.")

    @field_validator("reads")
    @classmethod
    def _known_reads(cls, named: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if named is None else _codes(named)

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> Self:
        if self.chunk_overlap is not None and self.chunk_overlap >= self.chunk_words:
            raise ValueError("chunk_overlap must be smaller than chunk_words")
        return self


class ServiceSettings(BaseModel):
    """Settings of the worker and the REST service: the table `[service]` of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    batch_records: int = Field(
        64, ge=1, description="Maximum records that a worker claims and holds in memory at once."
    )
    batch_bytes: int = Field(
        8 * 2**20, ge=1, description="Maximum bytes in a batch. A longer record is a batch of its own."
    )
    part_bytes: int = Field(2 * 2**20, ge=1, description="Bytes of a large file that a worker claims at once.")
    shard_records: int = Field(1000, ge=1, description="Maximum records in one output shard.")
    shard_bytes: int = Field(64 * 2**20, ge=1, description="Maximum bytes in one output shard, before compression.")
    shard_seconds: float = Field(
        60.0, gt=0, description="Seconds after which a shard is written even if it is not full."
    )
    lease_seconds: float = Field(
        30.0, gt=0, description="Seconds without a heartbeat after which other workers take over a worker's records."
    )
    most_tries: int = Field(
        5, ge=1, description="Workers that may stop while they process a record before the record is quarantined."
    )
    poll_seconds: float = Field(10.0, gt=0, description="Seconds between two checks of the source for new files.")
    rest_seconds: float = Field(
        5.0, ge=0, description="Seconds since its last change before a file is read, so that its writer can finish."
    )
    longest_pause: float = Field(
        60.0, gt=0, description="Maximum seconds between two attempts to reach a service that does not answer."
    )
    review_ceiling: float = Field(0.25, gt=0, le=1, description="Share of records in review above which the run stops.")
    review_least: int = Field(200, ge=1, description="Number of records before `review_ceiling` applies.")
    database: str | None = Field(
        None, description="Database of queue, jobs, and API keys: `sqlite:///FILE` or `postgresql://USER@HOST/NAME`."
    )
    api_bytes: int = Field(16 * 2**20, ge=1024, description="Maximum bytes in a request body.")
    api_rate: int = Field(600, gt=0, description="Maximum requests per minute with one API key.")
    api_refusals: int = Field(30, gt=0, description="Maximum refused requests per minute from one address.")
    api_seconds: float = Field(
        60.0, gt=0, description="Seconds to receive a request body. The headers get a sixth of this time."
    )
    api_connections: int = Field(
        128, ge=1, description="Maximum idle connections of one address, and maximum concurrent requests from it."
    )
    api_documents: int = Field(1000, ge=1, description="Maximum documents in one job.")
    api_lease: float = Field(600.0, gt=0, description="Seconds after which a document of a job is processed again.")
    audit: Path | None = Field(None, description="Folder of the audit log. Default: `audit` in `home`.")
    log_level: Literal["debug", "info", "warning"] = Field("info", description="Minimum level of events in the log.")
    metrics: str | None = Field(None, description="`HOST:PORT` where a worker serves its metrics. Default: no metrics.")
    otel_endpoint: str | None = Field(
        None, description="URL that receives traces by OTLP over HTTP. Default: no traces."
    )
    sentinels: int = Field(2, ge=0, description="Number of sentinel notes that run with every settlement.")
    sentinel_floor: float | None = Field(
        0.8, ge=0, le=1, description="Recall on sentinel notes below which the worker stops."
    )
    sentinel_least: int = Field(60, ge=1, description="Number of planted identifiers before `sentinel_floor` applies.")
    drift_least: int = Field(
        200, ge=2, description="Minimum records of a source, both today and before, for a drift alarm."
    )
    drift_z: float = Field(
        5.0, gt=0, description="Standard errors between today's rate and the earlier rate that raise a drift alarm."
    )
    drift_change: float = Field(
        0.5, gt=0, description="Minimum change for a drift alarm, as a share of the earlier rate."
    )


class Settings(ModelSettings, BaseSettings):
    """All settings. Use `Settings.load`, which turns validation errors into SettingError."""

    model_config = SettingsConfigDict(
        env_prefix="INCOGNOTE_", extra="forbid", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    policy: str = Field("strict", description="Name of a shipped policy, or the path of a policy file.")
    domain: str = Field(
        "default", description="Name of the domain. Records in one domain share hashes, date shifts, and surrogates."
    )
    data_type: str | None = Field(None, description="Schema for records that have no `dataType`.")
    schemas: tuple[Path, ...] = Field((), description="Folders with your own record schemas.")
    packs: tuple[Path, ...] = Field((), description="Site packs: folders with patterns, lists, and staff names.")
    roster: Path | None = Field(None, description="CSV or JSONL file of identifiers that are known in advance.")
    detectors: tuple[str, ...] = Field(
        ("rules", "encoder"), description="Detectors to run: `rules`, `encoder`, `llm`. A named model adds `llm`."
    )
    languages: tuple[str, ...] = Field(
        (), description="Languages (ISO 639-1) to accept although no detector supports them, at your own risk."
    )
    pictures: Literal["remove", "read"] = Field(
        "remove", description="Pictures in letters, workbooks, and messages: remove them, or read and redact them."
    )
    recognizer: str = Field(
        "sphinx", description="Speech recognizer: `sphinx`, `whisper:FOLDER`, `openai/NAME`, or `whispercpp/NAME`."
    )
    audio_margin: float = Field(
        0.3, ge=0.1, le=2, description="Seconds that are muted before and after an identifier in a recording."
    )
    voice: Literal["keep", "disguise", "remove"] = Field(
        "keep",
        description="Voices in recordings: keep or disguise them, or remove all sound, so that only the transcript "
        "is left. A policy may ask for more.",
    )
    encoder_point: Literal["recall", "balanced", "precision"] = Field(
        "balanced", description="The encoder's operating point: higher recall, or higher precision."
    )
    encoder_fast: bool = Field(False, description="Stop the encoder early: faster, with lower recall.")
    max_characters: int = Field(
        20_000_000, gt=0, description="Maximum characters in a text. A longer text is quarantined."
    )
    processes: int = Field(
        0, ge=0, le=64, description="Number of processes, one core each. 0 uses the current process."
    )
    concurrency: int = Field(16, gt=0, description="Maximum records processed at once.")
    model: str | None = Field(
        None, description="Language model, as `vendor/name`. Several models, separated by commas, vote together."
    )
    models: dict[str, ModelSettings] = Field({}, description="Settings for a single model, by its name.")
    budget_tokens: int | None = Field(None, gt=0, description="Maximum tokens of a run, requests and replies together.")
    budget_usd: float | None = Field(None, gt=0, description="Maximum cost of a run in US dollars.")
    prices: Path | None = Field(None, description="Price table (TOML) that is read before the shipped one.")
    recording: Path | None = Field(None, description="Encrypted file that keeps the answers of models and index.")
    recorded_run: str | None = Field(None, description="Name of the run whose index answers are recorded or replayed.")
    replay: bool = Field(False, description="Take answers only from the recording, without network access.")
    batch: bool = Field(False, description="Use the provider's batch endpoint: half the price, but hours of waiting.")
    index: str | None = Field(None, description="Where surrogates are stored: `sqlite:///FILE` or `opensearch://...`.")
    agents: tuple[Agent, ...] = Field(
        (), description="Surrogate agents that use the model: `cluster`, `query`, `decision`, `replacement`, or `all`."
    )
    agents_for: Literal["all", "doubtful"] = Field(
        "all", description="Identities for which `agents` use the model: all, or only those the embedded agents doubt."
    )
    index_password: SecretStr | None = Field(None, description="Password of the index user.")
    index_password_file: Path | None = Field(None, description="File that contains the password of the index user.")
    home: Path = Field(
        default_factory=home, description="Folder for agreements, the audit log, and a key that incognote created."
    )
    reveal_approvals: int = Field(
        1, ge=1, le=2, description="Number of people who must approve before an original is revealed."
    )
    reveal_minutes: float = Field(60.0, gt=0, le=1440, description="Minutes until a request to reveal expires.")
    service: ServiceSettings = Field(
        ServiceSettings.model_validate({}), description="Settings of the worker and the REST service."
    )
    key: SecretStr | None = Field(None, description="Master key, in Base64 or hexadecimal. Prefer `key_file`.")
    key_file: Path | None = Field(None, description="File that contains the master key.")
    key_fd: int | None = Field(None, ge=3, description="Open file descriptor from which to read the master key.")
    key_command: str | None = Field(None, description="Command that prints the master key. It runs without a shell.")

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
            raise ValueError(f"{' and '.join(named)} are both set: set only one source of the master key")
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
        """Load settings from all sources. A keyword that is None counts as not given.

        Raises:
            SettingError: A name is unknown or a value is not valid. The message names the setting, never its value.
        """
        try:
            words: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
            if config is not None:
                words["config"] = config
            return cls(**words)
        except ValidationError as error:
            faults = "; ".join(_fault(e["loc"], e["type"], e["msg"]) for e in error.errors(include_input=False))
            raise SettingError(f"{faults} (from a keyword, an INCOGNOTE_* variable, or the settings file)") from None
        except ValueError as error:  # pydantic-settings wraps JSON faults of list-valued variables
            raise SettingError(
                f'{type(error).__name__}: an INCOGNOTE_* variable with a list must be JSON, for example \'["a", "b"]\''
            ) from None

    @property
    def model_names(self) -> list[str]:
        """The names of the language models, as vendor/name."""
        return [name.strip() for name in (self.model or "").split(",") if name.strip()]

    def for_model(self, name: str) -> Settings:
        """These settings, with the changes in one model's table."""
        own = self.models.get(name)
        return self if own is None else self.model_copy(update=own.model_dump(exclude_unset=True))

    def keyring(self, *, persistent: bool = False) -> Keyring:
        """The configured master key, or a temporary one.

        Args:
            persistent: Raise an error instead of using a temporary key.

        Raises:
            KeyMissing: No key is configured and one is required, or its source cannot be read.
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
                "A persistent key is needed. Set key_file, key_fd, or key_command (INCOGNOTE_KEY_FILE, _FD, _COMMAND). "
                "If you have no key yet, create one with `incognote key new`."
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
    reply_schema: Literal["types", "generic"] | None
    passes: Passes | None
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
    pictures: Literal["remove", "read"] | None
    recognizer: str | None
    audio_margin: float | None
    voice: Literal["keep", "disguise", "remove"] | None
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
    agents_for: Literal["all", "doubtful"] | None
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
    except OSError as error:
        raise SettingError(
            f"The settings file {path} cannot be read: {error.strerror}. Check --config or INCOGNOTE_CONFIG."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise SettingError(f"The settings file {path} is not valid TOML. Check --config or INCOGNOTE_CONFIG.") from None
