"""Secrets stay out of Spark. Its configuration is in the event log and in the web UI, where everyone can read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from incognote.errors import SettingError

_FROM_WORKER = (
    "Put it into a file that only the workers' user can read, and set INCOGNOTE_{file} in the environment of each "
    "worker (conf/spark-env.sh), or pass {argument}=."
)
_ARGUMENTS = {
    "key": _FROM_WORKER.format(file="KEY_FILE", argument="key_file"),
    "key_fd": _FROM_WORKER.format(file="KEY_FILE", argument="key_file"),
    "key_command": "Set INCOGNOTE_KEY_COMMAND in the environment of each worker (conf/spark-env.sh).",
    "index_password": _FROM_WORKER.format(file="INDEX_PASSWORD_FILE", argument="index_password_file"),
    "api_key": "Set the variable of the model's vendor in the environment of each worker (conf/spark-env.sh).",
}
_ONE_PROCESS = {
    "processes": "Spark itself starts one process per core. Set the cores of the executors.",
    "budget_tokens": "Each worker would have the whole budget. Limit the records of the job instead.",
    "budget_usd": "Each worker would have the whole budget. Limit the records of the job instead.",
    "recording": "A recording belongs to one process. Use `incognote deid` for a run to replay.",
    "recorded_run": "A recording belongs to one process. Use `incognote deid` for a run to replay.",
    "replay": "A recording belongs to one process. Use `incognote deid` for a run to replay.",
    "batch": "A batch is sent by one process. Use `incognote deid`.",
}
_PASSWORD = re.compile(r"[\w+.-]+://[^/@]*:[^/@]*@")
_NAME = re.compile(r"INCOGNOTE_(?:.*_)?(?:KEY|KEY_FD|KEY_COMMAND|PASSWORD|API_KEY)\Z")
_WITHIN = re.compile(r"INCOGNOTE[_.](?:\w*_)?(?:KEY|PASSWORD|API_KEY)\s*=", re.IGNORECASE)


def check_arguments(words: Mapping[str, Any]) -> None:
    """Refuse settings that may not travel with a job.

    Raises:
        SettingError: one of them is a secret, or belongs to a single process. The message names it, not its value.
    """
    for name, remedy in _ARGUMENTS.items():
        if words.get(name) is not None:
            raise SettingError(
                f"{name}: Spark sends the arguments of a job to all workers and can write them to its log, so a secret "
                f"must not be one. {remedy}"
            )
    for name, remedy in _ONE_PROCESS.items():
        if words.get(name):
            raise SettingError(f"{name} cannot be used on Spark. {remedy}")
    service = words.get("service") or {}
    given = service if isinstance(service, Mapping) else vars(service)
    check_addresses({**{name: words.get(name) for name in ("index", "api_base")},
                     **{f"service.{name}": given.get(name) for name in ("database", "otel_endpoint")}})  # fmt: skip
    for own in (words.get("models") or {}).values():
        if (own.get("api_key") if isinstance(own, Mapping) else own.api_key) is not None:
            raise SettingError(f"models: api_key must not be sent through Spark. {_ARGUMENTS['api_key']}")
    for name in ("detectors", "model"):
        value = words.get(name)
        named = (value,) if value is None or isinstance(value, str) else tuple(value)
        if not all(one is None or isinstance(one, str) for one in named):
            raise SettingError(f"{name}: an object cannot be sent to the workers. Pass its name.")


def check_addresses(addresses: Mapping[str, Any]) -> None:
    """Refuse a password within an address that travels with a job.

    Raises:
        SettingError: there is one. The message names the argument, not its value.
    """
    for name, address in addresses.items():
        if isinstance(address, str) and _PASSWORD.match(address):
            raise SettingError(
                f"{name}: Spark sends the arguments of a job to all workers and can write them to its log, so an "
                "address must not have a password. Leave it out, and store it on each worker: for PostgreSQL in the "
                "file of PGPASSFILE, for an index in that of INCOGNOTE_INDEX_PASSWORD_FILE, or else in a settings file."
            )


def check_configuration(pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse a secret of incognote in Spark's configuration, such as `spark.executorEnv.INCOGNOTE_KEY`.

    Raises:
        SettingError: there is one. The message names the property, not its value.
    """
    for name, value in pairs:
        last = name.upper().replace("-", "_")
        last = last[last.rfind("INCOGNOTE") :].replace(".", "_") if "INCOGNOTE" in last else ""
        if _NAME.match(last) or _WITHIN.search(str(value)):
            raise SettingError(
                f"{name}: Spark writes its configuration in clear to the event log and shows it in its UI, so a secret "
                f"must not be there. Remove it, and change the secret if a job has run with it. {_ARGUMENTS['key']}"
            )
