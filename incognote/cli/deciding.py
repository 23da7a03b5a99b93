"""The settings that decide the output of a run, for its manifest and for a replay. No PHI."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incognote.agents.detection import LLM
from incognote.cli.engine import names_of
from incognote.settings import ModelSettings

if TYPE_CHECKING:
    from incognote.files.inputs import RecordDefaults
    from incognote.sdk import Deidentifier

# These settings change how a model is reached, not its answers. The manifest lists the prompt under `models`.
_REACHING = {"api_base", "api_key", "fallbacks", "model_timeout", "model_attempts", "model_slots", "prompt"}
_ASKED = sorted(ModelSettings.model_fields.keys() - _REACHING)
_TABLE = "table"  # the schema that is built from column options: a replay gets those options again
_PLAIN = ("domain", "data_type", "max_characters", "encoder_point", "encoder_fast", "pictures")


def decisive(made: Deidentifier, words: RecordDefaults, *, keep_names: bool) -> dict[str, Any]:
    """Return the settings that decide the output and that a manifest may contain.

    `told` lists which of patient, known identifiers, and roster were given, without their values. Columns are not
    listed, because a table cannot be read without them.
    """
    tools = made.engine
    settings = tools.settings
    embedded = [name for name in settings.detectors if name != LLM]
    facts = {
        "patient": words.patient is not None,
        "known": bool(words.known),
        "roster": settings.roster is not None,
    }
    found: dict[str, Any] = {
        **{name: getattr(settings, name) for name in _PLAIN},
        "detectors": [*embedded, LLM] if tools.reader else embedded,
        "agents": list(settings.agents) if tools.has_agents else [],
        "agents_for": settings.agents_for if tools.has_agents else "all",
        "recorded_run": settings.recorded_run if tools.policy.surrogates and tools.recording is not None else None,
        "keep_names": keep_names,
        "told": sorted(name for name, given in facts.items() if given),
        "model": None,
    }
    if tools.models is not None and settings.model is not None:
        first = settings.for_model(names_of(settings)[0])
        found |= {"model": settings.model, "asked": {name: getattr(first, name) for name in _ASKED}}
    return found


def decisive_of(made: Deidentifier, used: Collection[RecordDefaults], *, keep_names: bool) -> dict[str, Any] | None:
    """Return the settings that decide the output of a retry, for its manifest.

    Args:
        used: the different values that its records had.

    Returns:
        None if there are several, since the options of a replay hold for all records.
    """
    if len(used) != 1:
        return None
    (words,) = used
    named = {"domain": words.domain, "data_type": words.data_type}
    settings = decisive(made, words, keep_names=keep_names)
    return settings | {name: value for name, value in named.items() if value is not None}


def again(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a manifest, to repeat its run. Custom policies and prompts are not included."""
    from incognote.cli.options import split
    from incognote.prompts.loader import shipped
    from incognote.schemas.policy import shipped_policies

    settings = manifest["settings"]
    given: dict[str, Any] = {name: settings[name] for name in (*_PLAIN, "detectors", "model")}
    if manifest["policy"]["name"] in shipped_policies():
        given["policy"] = manifest["policy"]["name"]
    given |= {name: settings.get(name) for name in ("agents", "agents_for", "recorded_run")}
    if settings["model"] is not None:
        asked = dict(settings["asked"])
        prompt = (manifest["models"].get("prompt") or {}).get("name")
        if prompt in shipped():
            asked["prompt"] = prompt
        given["models"] = {split([settings["model"]])[0]: asked}
    return given


def differences(manifest: Mapping[str, Any], made: Deidentifier, here: Mapping[str, Any]) -> Iterator[str]:
    """Yield each difference between the run of a manifest and this run, with what to do.

    Args:
        here: the result of `decisive` for this run.
    """
    from incognote.agents.manifest import incognote_version

    tools = made.engine
    key, policy, settings = manifest["key"], manifest["policy"], manifest["settings"]
    if (tools.keyring.id, tools.keyring.check) != (key["id"], key["check"]):
        yield f"the key (the run had {key['id']}, here it is {tools.keyring.id}): name it with --key-file"
    if manifest["incognote"] != incognote_version():
        yield f"incognote's version (the run had {manifest['incognote']}, here it is {incognote_version()})"
    if tools.policy.version != policy["version"]:
        was, now = f"{policy['name']} {policy['version']}", f"{tools.policy.name} {tools.policy.version}"
        yield f"the policy (the run had {was}, here it is {now}): name it with --policy"
    if tools.reader is not None:
        yield from _of_models(manifest["models"], tools.reader.facts())
    for name in sorted(manifest["versions"].keys() | tools.versions.keys()):
        if manifest["versions"].get(name) != tools.versions.get(name):
            yield f"{name}: add the packs that the run had" if name.startswith("pack:") else f"the version of {name}"
    for data_type, version in manifest["schemas"].items():
        if data_type == _TABLE:
            continue
        here_is = _schema_version(data_type, made)
        if here_is is None:
            yield f"the schema {data_type}, which does not exist here: name its folder with --schemas"
        elif here_is != version:
            yield f"the schema {data_type} (the run had {version}, here it is {here_is})"
    yield from _of_settings(settings, here)


def _schema_version(data_type: str, made: Deidentifier) -> str | None:
    """Raises UnapprovedSchema: the schema was changed after its approval."""
    from incognote.schemas.cda import cda_rules
    from incognote.schemas.fhir import version_of
    from incognote.schemas.hl7 import hl7_rules

    registry = made.engine.registry
    if data_type in registry:
        return registry.get(data_type).version
    for schema in (hl7_rules().schema, cda_rules().schema):
        if data_type == schema.data_type:
            return schema.version
    return version_of(data_type)


def _of_models(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, value in now.items():
        if was.get(name) == value:
            continue
        if name == "prompt":
            yield f"the prompt (the run had {was[name]['name']} {was[name]['version']}): name it with --prompt"
        else:
            yield f"{name} (the run had {_spoken(was.get(name))}, here it is {_spoken(value)})"


def _of_settings(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_PLAIN, "detectors"):
        if was[name] != now[name]:
            yield f"{name} (the run had {_spoken(was[name])})"
    if was.get("agents", []) != now["agents"]:
        yield f"agents (the run had {_spoken(was.get('agents', []))})"
    if was.get("agents_for", "all") != now["agents_for"]:
        yield f"agents_for (the run had {_spoken(was.get('agents_for', 'all'))})"
    for name, value in now.get("asked", {}).items():
        if was.get("asked", {}).get(name) != value:
            yield f"{name} (the run had {_spoken(was.get('asked', {}).get(name))})"
    options = {"patient": "--patient-file", "known": "--known", "roster": "--roster"}
    for name in was["told"]:
        if name not in now["told"]:
            yield f"{options[name]}, which the run was given"
    for name in now["told"]:
        if name not in was["told"]:
            yield f"{options[name]}, which the run was not given"


def _spoken(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
