"""Secrets that would travel through Spark are refused, by the name of the argument or the property alone."""

from __future__ import annotations

import pytest

from incognote.errors import SettingError
from incognote.settings import ModelSettings
from incognote.spark.secrets import check_arguments, check_configuration

SECRET = "c2VjcmV0LWtleS1vZi10aGUtaG9zcGl0YWw"


@pytest.mark.parametrize(
    "name",
    [
        "spark.executorEnv.INCOGNOTE_KEY",
        "spark.executorEnv.INCOGNOTE_KEY_COMMAND",
        "spark.executorEnv.INCOGNOTE_KEY_FD",
        "spark.executorEnv.INCOGNOTE_API_KEY",
        "spark.executorEnv.INCOGNOTE_INDEX_PASSWORD",
        "spark.yarn.appMasterEnv.INCOGNOTE_KEY",
        "spark.kubernetes.driverEnv.INCOGNOTE_KEY",
        "spark.incognote.key",
        "spark.hadoop.incognote.key",
    ],
)
def test_a_property_that_holds_a_secret_is_refused_with_its_name_and_the_reason(name: str) -> None:
    with pytest.raises(SettingError, match="event log") as refused:
        check_configuration([("spark.app.name", "notes"), (name, SECRET)])
    assert name in str(refused.value)
    assert "INCOGNOTE_KEY_FILE" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_secret_within_the_options_of_java_is_refused() -> None:
    with pytest.raises(SettingError, match=r"spark\.executor\.extraJavaOptions"):
        check_configuration([("spark.executor.extraJavaOptions", f"-Xmx1g -Dincognote.key={SECRET}")])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.executorEnv.INCOGNOTE_KEY_FILE", "/run/secrets/key"),
        ("spark.executorEnv.INCOGNOTE_INDEX_PASSWORD_FILE", "/run/secrets/password"),
        ("spark.app.name", "incognote"),
        ("spark.executorEnv.INCOGNOTE_POLICY", "strict"),
    ],
)
def test_paths_and_other_settings_may_be_in_the_configuration(name: str, value: str) -> None:
    check_configuration([(name, value)])


@pytest.mark.parametrize("name", ["key", "key_fd", "key_command", "index_password", "api_key"])
def test_a_secret_cannot_be_an_argument(name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name}: ") as refused:
        check_arguments({name: SECRET})
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("own", [{"api_key": SECRET}, ModelSettings.model_validate({"api_key": SECRET})])
def test_a_secret_in_the_settings_of_a_model_is_refused(own: object) -> None:
    with pytest.raises(SettingError, match="models: api_key") as refused:
        check_arguments({"models": {"openai/gpt": own}})
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("name", ["processes", "budget_tokens", "recording", "batch"])
def test_what_belongs_to_one_process_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} cannot be used on Spark"):
        check_arguments({name: 2})


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"index": f"opensearch://hospital:{SECRET}@host:9200/index"}, "index"),
        ({"service": {"database": f"postgresql://hospital:{SECRET}@db/incognote"}}, "service.database"),
    ],
)
def test_a_password_within_an_address_is_refused(words: dict[str, object], name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name}: ") as refused:
        check_arguments(words)
    assert SECRET not in str(refused.value)
    check_arguments({"index": "opensearch://host:9200/i", "service": {"database": "postgresql://hospital@db/i"}})


def test_an_object_cannot_be_sent_to_the_workers() -> None:
    with pytest.raises(SettingError, match=r"^detectors: an object"):
        check_arguments({"detectors": [object()]})
    check_arguments({"detectors": ("rules",), "model": "openai/gpt", "key_file": "/run/secrets/key"})
