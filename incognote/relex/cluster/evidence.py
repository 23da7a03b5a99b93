"""What the text beside a name says about the person's role, whatever type a detector gave the name.

A detector's type is evidence that can be wrong. A field label, a profession, a doctor's title, or a kinship word beside
the name is stronger.
"""

from __future__ import annotations

import re
from functools import cache

from incognote.languages import language
from incognote.relex.cluster.grouping import cluster_data
from incognote.relex.names.parsed import key, words
from incognote.text.lexicon import fold

GIVEN = "given"
"""The source of spans that a person annotated. Their types are facts."""
_LABEL = re.compile(
    r"(?:^|[\n\t|;.,(]|\s{2,})\s*([^\W\d_][^\n\t|;:.,(]{0,40}?)\s*[:#=]\s*(?:\w{1,4}\.?\s)?[\s\"“*_]*\Z"
)
_SIGNED = re.compile(r"(?:^|[\n\t|;.,(]|\s{2,})\s*((?:[^\W\d_]+[\s-]+){1,3}by)[\s:]+(?:\w{2,3}\.\s)?\Z")
_SECTION = re.compile(r"\n[ \t]*\n")
_JOB = re.compile(r"([^\W\d_]+)\s+[\"“]?\Z")


def role_beside(before: str, title: str, degrees: tuple[str, ...], kin: str, full: bool = False) -> str:
    """Return "patient", "relative", or "staff" if the text says which one the person is, or else "".

    Args:
        before: the text before the name, without the titles directly before it.
        title, degrees, kin: as in `Hints`. The kinship word must belong to the name itself.
        full: the name has a given name and a surname.
    """
    label = _LABEL.search(before)
    if label and _labeled(_spoken(label), before[: label.start()]) == "patient" and _spoken(label) != "name":
        return "patient"  # Pt: Dr. Hany Boutros
    if title in _listed("staff_titles") or set(degrees) & words().degrees - _listed("common_degrees"):
        listed = before.rstrip().endswith(",") and not (full and _possessed().search(before))
        return "relative" if kin and not listed else "staff"  # wife, Dr. Chen, and son: three people
    if (match := _JOB.search(before)) and key(match.group(1)) in _listed("jobs") | _listed("staff_titles"):
        return "staff"
    if kin:
        return "relative"
    if not title and _called().search(before):
        return "patient"
    if (match := _SIGNED.search(before)) and not title:
        return "staff" if fold(match.group(1)) in _labels()["CLINICIAN"] else ""
    return _labeled(_spoken(label), before[: label.start()]) if label else ""


def _spoken(label: re.Match[str]) -> str:
    return " ".join(fold(label.group(1)).split())


def _labeled(label: str, above: str) -> str:
    """The role that a field label gives. A plain "Name:" below "Emergency contact" is not the patient's."""
    if label in cluster_data("roles.toml")["several"]:
        return ""
    for kind, role in (("CLINICIAN", "staff"), ("RELATIVE", "relative")):
        if label in _labels()[kind]:
            return role
    if label not in _labels()["PATIENT"]:
        return ""
    section = _SECTION.split(above)[-1]
    heads = {" ".join(fold(line.split(":")[0]).split()) for line in section.split("\n")}
    return "" if heads & (_labels()["RELATIVE"] | _labels()["CLINICIAN"]) else "patient"


@cache
def _possessed() -> re.Pattern[str]:
    """Words that make a kinship word and a comma belong to the name: her husband, Dr. Kofi Osei."""
    said = "|".join(cluster_data("roles.toml")["whose"])
    return re.compile(rf"(?i)\b(?:{said})\s(?:\w+\s)?[\w-]+,\s*\Z")


@cache
def _called() -> re.Pattern[str]:
    """Words that give a name to the patient: 66M goes by Trey."""
    said = "|".join(cluster_data("roles.toml")["called"])
    return re.compile(rf"(?:[.;\n]\s*|\b(?:pt|patient)\s|\d\s?[mf],?\s)(?:{said})[\s:]+[\"“]?\Z", re.IGNORECASE)


@cache
def _labels() -> dict[str, frozenset[str]]:
    """Type → the labels of its fields, folded. Labels that may name someone other than the patient are left out."""
    cues = language().table("lexicon", "name_cues.toml")["cue"]
    doubtful = set(cluster_data("roles.toml")["not_the_patient"])
    labels: dict[str, set[str]] = {"PATIENT": set(), "CLINICIAN": set(), "RELATIVE": set()}
    for cue in cues:
        if cue["kind"] == "label" and cue["type"] in labels:
            labels[cue["type"]] |= {fold(word) for word in cue["words"]}
    labels["PATIENT"] |= set(cluster_data("roles.toml")["patient"])
    labels["PATIENT"] -= doubtful | labels["CLINICIAN"]
    return {kind: frozenset(found) for kind, found in labels.items()}


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(cluster_data("roles.toml")[name].split())
