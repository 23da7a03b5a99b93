"""Load policies: the shipped ones, and those in files that a privacy officer writes.

A policy file is TOML:

    name = "our-clinic"
    about = "strict, but dates are shifted"
    extends = "strict"             # a shipped policy, which the following keys change
    label = "none"                 # a label in labels.toml, or "none"; inherited if not given
    doubt = 0.45
    audit_threshold = 0.5
    on_review = "hold"             # or "widen"
    over_masked = 0.6              # a text of 40 words or more is held for review if this share of it is replaced
    without = ["OCCUPATION"]       # listed types of the extended policy to leave unchanged
    priority = ["STUDY_ARM"]       # types that win where spans overlap, the strongest first; the others follow ours

    [models]                       # what a language model may do, if the settings name one
    route = "all"                  # every chunk; or only "doubtful" ones; or "embedded": none
    share = 0.2                    # with "doubtful": the share of the tokens to expect, compared with "all"
    on_failure = "review"          # or "embedded": use the embedded detectors' spans for an unanswered chunk
    veto = "single"                # or "none": keep also what one detector found where the model named nothing;
                                   # or "minority": drop also what fewer than half of several votes named
    allow_provider_storage = false # true: batches may be stored at the provider until they are collected

    [relex]                        # for surrogates: may holders of the key map them back?
    reveal = true
    withheld = "label"             # or "review": a finding that is probably clinical keeps its words, and is reviewed

    [pages]                        # pages that are pictures: images, scans, DICOM files
    vault = false                  # true: the index keeps, sealed, the words of what is removed; "pixels": also pixels

    [recordings]
    voice = "keep"                 # or "disguise", or "remove": only the transcript is left; default: by the label
    unknown = "mute"               # or "embedded": of speech without words that a model cannot explain

    [entities.STUDY_ARM]           # your own type: models search for it, and patterns of a pack may have it
    about = "the arm of a trial a person is in"
    parent = "ORGANIZATION"        # optional; without a parent, give a group (AGE, CONTACT, ID ...); default: OTHER

    [types.STUDY_ARM]              # its operator
    operator = "label"

    [types.DATE]                   # replaces the whole table of the extended policy
    operator = "date-shift"
    days = 3000
    threshold = 0.5

A type that is not listed is treated like its nearest listed ancestor. Without one, the policy does not touch it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from incognote.errors import PolicyProblem, UnknownName
from incognote.schemas.catalogue import EntityType, catalogue
from incognote.schemas.choices import (
    OVER_MASKED,
    Choice,
    ModelTerms,
    OnFailure,
    OnReview,
    PageTerms,
    Policy,
    RecordingTerms,
    RelexTerms,
    Route,
    Vetoes,
    Voice,
)
from incognote.schemas.lint import claimable, lint
from incognote.schemas.operatorfacts import operator_facts

__all__ = [
    "Choice",
    "OnReview",
    "Policy",
    "claimable",
    "everything",
    "lint",
    "load_policy",
    "read_policy",
    "shipped_policies",
]

# Policies are checked here and not with pydantic models, which were tried: they took as many lines (240) without naming
# the remedy, 1 ms more to import, and 3.1 ms instead of 1.2 ms for the first policy.
_SHAPE: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "about": (str,),
    "extends": (str,),
    "label": (str,),
    "doubt": (float, int),
    "audit_threshold": (float, int),
    "on_review": (str,),
    "without": (list,),
    "types": (dict,),
    "over_masked": (float, int),
    "models": (dict,),
    "relex": (dict,),
    "pages": (dict,),
    "recordings": (dict,),
    "entities": (dict,),
    "priority": (list,),
}
_THRESHOLD = 0.5
_DEFAULTS: dict[str, Any] = {"about": "", "label": "none", "doubt": 0.45, "audit_threshold": 0.5, "on_review": "hold"}
_WORDS = {
    str: "text in quotes", float: "a number", list: "a list of types", dict: "a table", bool: "true or false",
}  # fmt: skip


def shipped_policies() -> tuple[str, ...]:
    """Return the names of the shipped policies, `strict` first."""
    return _shipped_names()


def load_policy(name_or_path: str | Path) -> Policy:
    """Load a shipped policy by its name, or a policy from a file (a path, or a name that ends in `.toml`).

    Raises:
        UnknownName: there is no shipped policy of that name.
        PolicyProblem: the file cannot be read, or the lint finds faults. The message lists all of them.
    """
    policy = read_policy(name_or_path)
    faults = lint(policy)
    if faults:
        raise PolicyProblem(f"policy {policy.name}: " + "; ".join(fault.message for fault in faults))
    return policy


def read_policy(name_or_path: str | Path) -> Policy:
    """Like `load_policy`, but without the lint, to show the faults of a file one by one.

    Raises:
        UnknownName: as in `load_policy`.
        PolicyProblem: the file cannot be read, is not TOML, or does not have the structure of a policy.
    """
    if isinstance(name_or_path, Path) or name_or_path.endswith(".toml") or "/" in name_or_path or "\\" in name_or_path:
        return _resolved(_parsed(_bytes(Path(name_or_path))))
    if name_or_path not in _shipped_names():
        raise UnknownName("policy", name_or_path, _shipped_names())
    return _resolved(_shipped(name_or_path))


def everything(policy: Policy) -> Policy:
    """Return the policy widened to every type: kept or untouched types become labels. It claims no legal label."""
    types: dict[str, Choice] = {}
    for name in catalogue():
        choice = policy.choice(name)
        if choice is None or choice.operator == "keep":
            threshold = choice.threshold if choice else _THRESHOLD
            choice = Choice("label", operator_facts()["label"].complete({}), threshold)
        types[name] = choice
    return replace(policy, types=types, label=None, without=())


@cache
def _shipped_names() -> tuple[str, ...]:
    folder = files("incognote.schemas").joinpath("policies")
    names = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(names, key=lambda name: name != "strict"))


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    """Return the content of a shipped policy, with that of the shipped policy that it extends."""
    written = dict(_parsed(files("incognote.schemas").joinpath("policies", f"{name}.toml").read_bytes()))
    base = _shipped(written.pop("extends")) if "extends" in written else {}
    return {**base, **written, "types": {**base.get("types", {}), **written.get("types", {})}}


def _bytes(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise PolicyProblem(
            f"The policy file {path} cannot be read: {error.strerror}. Check `policy` (--policy)."
        ) from None


def _parsed(raw: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise PolicyProblem("The policy file is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyProblem(f"The policy file is not valid TOML: {error}.") from None


def _resolved(written: Mapping[str, Any]) -> Policy:
    _check_shape(written)
    catalogue().extend(_entity(name, table) for name, table in written.get("entities", {}).items())
    base: Mapping[str, Any] = {}
    if "extends" in written:
        if written["extends"] not in _shipped_names():
            names = ", ".join(_shipped_names())
            raise PolicyProblem(f'extends: there is no shipped policy "{written["extends"]}". Known: {names}.')
        base = _shipped(written["extends"])
    merged = {**_DEFAULTS, **base, **written}
    without = tuple(written.get("without", ()))
    tables = {**base.get("types", {}), **written.get("types", {})}
    for name in without:
        if name in written.get("types", {}):
            raise PolicyProblem(f"without: {name} is also listed in this file. Remove one of the two.")
        tables.pop(name, None)
    return Policy(
        name=merged["name"],
        about=merged["about"],
        label=None if merged["label"] == "none" else merged["label"],
        doubt=float(merged["doubt"]),
        audit_threshold=float(merged["audit_threshold"]),
        on_review=merged["on_review"],
        types={name: _choice(name, table) for name, table in tables.items()},
        without=without,
        models=_models({**base.get("models", {}), **written.get("models", {})}),
        relex=_relex({**base.get("relex", {}), **written.get("relex", {})}),
        pages=_pages({**base.get("pages", {}), **written.get("pages", {})}),
        recordings=_recordings({**base.get("recordings", {}), **written.get("recordings", {})}),
        over_masked=float(merged.get("over_masked", OVER_MASKED)),
        priority=tuple(merged.get("priority", ())),
    )


def _entity(name: str, table: object) -> EntityType:
    if not isinstance(table, dict) or not isinstance(table.get("about"), str) or not table["about"].strip():
        raise PolicyProblem(f'entities.{name} needs a description: about = "...".')
    if not set(table) <= {"about", "parent", "group"} or not all(isinstance(value, str) for value in table.values()):
        raise PolicyProblem(f"entities.{name} needs about, and parent or group, each a string.")
    parent = table.get("parent")
    inherited = catalogue()[parent].group if parent is not None and parent in catalogue() else "OTHER"
    return EntityType(name, table.get("group", inherited), " ".join(table["about"].split()), parent)


def _models(table: Mapping[str, Any]) -> ModelTerms:
    shapes: dict[str, tuple[type, ...]] = {
        "route": (str,), "share": (float, int), "on_failure": (str,), "veto": (str,),
        "allow_provider_storage": (bool,),
    }  # fmt: skip
    for key, value in table.items():
        if key not in shapes:
            raise PolicyProblem(f'models has no key "{key}". Known: {", ".join(shapes)}.')
        if not isinstance(value, shapes[key]) or (isinstance(value, bool) and bool not in shapes[key]):
            raise PolicyProblem(f"models.{key} must be {_WORDS[shapes[key][0]]}.")
    terms = ModelTerms(**table)
    written = (("route", terms.route, Route), ("on_failure", terms.on_failure, OnFailure), ("veto", terms.veto, Vetoes))
    for key, value, values in written:
        if value not in get_args(values):
            raise PolicyProblem(f"models.{key} must be one of {', '.join(get_args(values))}.")
    if not 0 < terms.share <= 1:
        raise PolicyProblem("models.share must be a number above 0 and at most 1, such as 0.2.")
    return terms


def _relex(table: Mapping[str, Any]) -> RelexTerms:
    for key, value in table.items():
        if key not in ("reveal", "withheld"):
            raise PolicyProblem(f'relex has no key "{key}". Known: reveal, withheld.')
        if key == "reveal" and not isinstance(value, bool):
            raise PolicyProblem("relex.reveal must be true or false.")
        if key == "withheld" and value not in ("label", "review"):
            raise PolicyProblem('relex.withheld must be "label" or "review".')
    return RelexTerms(**table)


def _pages(table: Mapping[str, Any]) -> PageTerms:
    for key, value in table.items():
        if key != "vault":
            raise PolicyProblem(f'pages has no key "{key}". Known: vault.')
        if not isinstance(value, bool) and value != "pixels":
            raise PolicyProblem('pages.vault must be true, false, or "pixels".')
    return PageTerms(**table)


def _recordings(table: Mapping[str, Any]) -> RecordingTerms:
    for key, value in table.items():
        known = {"voice": get_args(Voice), "unknown": ("mute", "embedded")}
        if key not in known:
            raise PolicyProblem(f'recordings has no key "{key}". Known: {", ".join(known)}.')
        if value not in known[key]:
            raise PolicyProblem(f"recordings.{key} must be one of {', '.join(known[key])}.")
    return RecordingTerms(**table)


def _check_shape(written: Mapping[str, Any]) -> None:
    for key, value in written.items():
        if key not in _SHAPE:
            raise PolicyProblem(f'A policy has no key "{key}". Known: {", ".join(_SHAPE)}.')
        if isinstance(value, bool) or not isinstance(value, _SHAPE[key]):
            raise PolicyProblem(f"{key} must be {_WORDS[_SHAPE[key][0]]}.")
    if not written.get("name"):
        raise PolicyProblem('A policy needs a name: name = "...".')
    if written.get("on_review", "hold") not in ("hold", "widen"):
        raise PolicyProblem('on_review must be "hold" or "widen".')
    for key in ("without", "priority"):
        if not all(isinstance(name, str) for name in written.get(key, ())):
            raise PolicyProblem(f"{key} must be a list of types.")
    if "extends" not in written and not written.get("types"):
        raise PolicyProblem(
            "A policy must list at least one type ([types.PERSON] operator = ...) or extend another policy."
        )


def _choice(name: str, table: object) -> Choice:
    if not isinstance(table, dict) or not isinstance(table.get("operator"), str):
        raise PolicyProblem(f'types.{name} needs an operator: operator = "label".')
    given = dict(table)
    operator, threshold = given.pop("operator"), given.pop("threshold", _THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise PolicyProblem(f"types.{name}: threshold must be a number.")
    facts = operator_facts().get(operator)
    return Choice(operator, facts.complete(given) if facts else given, float(threshold))
