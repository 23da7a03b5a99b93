"""The lint refuses a policy that contradicts itself or its label, and gives the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import PolicyProblem
from incognote.schemas.catalogue import catalogue
from incognote.schemas.lint import labels, voice_of
from incognote.schemas.policy import lint, load_policy, read_policy

HARBOR, LIMITED, PLAIN = "safe-harbor", "limited-data-set", "strict"
EUROPE, ARABIA = "gdpr-pseudonymised", "ksa-pdpl"


def serve(kind: str, operator: str, **params: object) -> str:
    lines = [f"[types.{kind}]", f'operator = "{operator}"', *(f"{key} = {value}" for key, value in params.items())]
    return "\n" + "\n".join(lines) + "\n"


def extended(folder: Path, base: str, more: str) -> Path:
    path = folder / "ours.toml"
    path.write_text(f'name = "ours"\nextends = "{base}"\n{more}', encoding="utf-8")
    return path


# the base policy, the file's additions, the code, the type, a phrase from the reason
BAD = [
    (EUROPE, serve("PERSON", "keep"), "kept", "PATIENT", "GDPR, Article 4(5) covers it"),
    (EUROPE, 'without = ["ETHNICITY"]\n', "missing", "ETHNICITY", "GDPR"),
    (EUROPE, serve("AGE", "keep"), "kept", "AGE", "as AGE"),
    (EUROPE, "doubt = 0.9\n", "audit-off", "", "at most 0.5"),
    (ARABIA, 'without = ["RACE"]\n', "missing", "RACE", "PDPL Implementing Regulation"),
    (ARABIA, serve("CITY", "keep"), "kept", "CITY", "PDPL"),
    (HARBOR, 'priority = ["STATE"]\n', "kept-first", "STATE", "not replaced"),
    (EUROPE, 'priority = ["LOCATION"]\n', "kept-first", "LOCATION", "COUNTRY is not replaced"),
    (PLAIN, 'priority = ["POSTBOX"]\n', "unknown-type", "POSTBOX", "priority"),
    (HARBOR, serve("MEDICAL_RECORD_NUMBER", "hash"), "derived", "MEDICAL_RECORD_NUMBER", "164.514(c)"),
    (HARBOR, serve("PERSON", "hash"), "derived", "PERSON", "does not allow"),
    (HARBOR, serve("OCCUPATION", "hash"), "derived", "OCCUPATION", "derives a value"),
    (HARBOR, serve("DATE", "date-shift"), "derived", "DATE", "does not allow"),
    (HARBOR, serve("BIRTH_DATE_TIME", "date-shift"), "derived", "BIRTH_DATE_TIME", "does not allow"),
    (HARBOR, serve("DATE", "keep"), "kept", "DATE", "(C)"),
    (HARBOR, serve("DATE", "keep"), "kept", "DEATH_DATE_TIME", "as DATE"),
    (
        HARBOR,
        serve("DATE", "intelligent"),
        "too-fine",
        "DATE_TIME",
        "Use one of: label, same-length, fixed-length, generalize",
    ),
    (HARBOR, serve("AGE", "keep"), "kept", "AGE", "(C)"),
    (HARBOR, serve("ZIP", "keep"), "kept", "ZIP", "(B)"),
    (HARBOR, serve("CITY", "keep"), "kept", "CITY", "(B)"),
    (HARBOR, serve("ADDRESS", "keep"), "kept", "STREET", "as ADDRESS"),
    (HARBOR, serve("ROOM", "keep"), "kept", "ROOM", "(B)"),
    (HARBOR, serve("RELATIVE", "keep"), "kept", "RELATIVE", "(A)"),
    (HARBOR, serve("ORGANIZATION", "keep"), "kept", "ORGANIZATION", "164.514(b)(2)(i) lists it"),
    (HARBOR, serve("URL", "keep"), "kept", "URL", "(N)"),
    (HARBOR, serve("GUID", "keep"), "kept", "PASSPORT_NUMBER_US", "(R)"),
    (HARBOR, serve("BIOMETRIC_ID", "keep"), "kept", "BIOMETRIC_ID", "(P)"),
    (HARBOR, 'without = ["TELEPHONE_NUMBER"]\n', "missing", "TELEPHONE_NUMBER", "(D)"),
    (HARBOR, 'without = ["FAX_NUMBER"]\n', "missing", "FAX_NUMBER", "(E)"),
    (HARBOR, 'without = ["DATE"]\n', "missing", "BIRTH_DATE_TIME", "(C)"),
    (HARBOR, 'without = ["AGE"]\n', "missing", "AGE", "(C)"),
    (HARBOR, 'without = ["PERSON"]\n', "missing", "PATIENT", "(A)"),
    (HARBOR, 'without = ["LOCATION", "ADDRESS"]\n', "missing", "CITY", "Add the type"),
    (HARBOR, serve("PERSON", "generalize"), "unsuited", "PERSON", "supports only AGE, DATE, LOCATION"),
    (HARBOR, serve("PERSON", "generalize"), "too-fine", "PATIENT", "leaves more detail than"),
    (HARBOR, serve("EMAIL", "label", threshold=0.8), "high-threshold", "EMAIL", "at most 0.5"),
    (LIMITED, serve("PERSON", "keep"), "kept", "PATIENT", "(A)"),
    (LIMITED, serve("MEDICAL_RECORD_NUMBER", "keep"), "kept", "MEDICAL_RECORD_NUMBER", "(H)"),
    (LIMITED, serve("GUID", "keep") + "operator_ = 1\n", "unknown-param", "GUID", 'no parameter "operator_"'),
    (LIMITED, serve("DEVICE_ID", "keep"), "kept", "DEVICE_ID", "(M)"),
    (LIMITED, serve("EMAIL", "keep"), "kept", "EMAIL", "164.514(e)(2)"),
    (LIMITED, serve("STREET", "keep"), "kept", "STREET", "(B)"),
    (LIMITED, serve("ADDRESS", "keep"), "kept", "ADDRESS", "Replace it"),
    (LIMITED, serve("ORGANIZATION", "keep"), "kept", "ORGANIZATION", "Replace it"),
    (LIMITED, 'without = ["IP_ADDRESS"]\n', "missing", "IP_ADDRESS", "(O)"),
    (LIMITED, serve("PERSON", "label", threshold=0.9), "high-threshold", "RELATIVE", "with a lower score"),
    (PLAIN, serve("SHOE_SIZE", "label"), "unknown-type", "SHOE_SIZE", "not an entity type"),
    (PLAIN, serve("PERSON", "shred"), "unknown-operator", "PERSON", "Use one of: label, same-length"),
    (PLAIN, serve("PERSON", "label", colour='"red"'), "unknown-param", "PERSON", "Known: name"),
    (PLAIN, serve("PERSON", "keep", colour='"red"'), "unknown-param", "PERSON", "Known: none"),
    (PLAIN, serve("PERSON", "label", name='"person"'), "bad-param", "PERSON", "uppercase letters"),
    (PLAIN, serve("GUID", "hash", length=8), "bad-param", "GUID", "from 16 to 64"),
    (PLAIN, serve("GUID", "hash", length=16.0), "bad-param", "GUID", "a whole number"),
    (PLAIN, serve("PERSON", "fixed-length", length="true"), "bad-param", "PERSON", "from 1 to 64"),
    (PLAIN, serve("PERSON", "same-length", character='"**"'), "bad-param", "PERSON", "one visible character"),
    (PLAIN, serve("PERSON", "same-length", character='" "'), "bad-param", "PERSON", "one visible character"),
    (PLAIN, serve("DATE", "date-shift", days=0), "bad-param", "DATE", "from 2190 to 3650"),
    (PLAIN, serve("DATE", "date-shift", day_first='"yes"'), "bad-param", "DATE", "true or false"),
    (PLAIN, serve("AGE", "generalize", mode='"vague"'), "bad-param", "AGE", 'one of "bands", "safe-harbor"'),
    (PLAIN, serve("AGE", "generalize", width=1), "bad-param", "AGE", "from 2 to 45"),
    (PLAIN, serve("PERSON", "date-shift"), "unsuited", "PERSON", "supports only DATE"),
    (PLAIN, serve("AGE", "date-shift"), "unsuited", "AGE", "such as label"),
    (PLAIN, serve("EMAIL", "generalize"), "unsuited", "EMAIL", "supports only AGE"),
    (PLAIN, serve("OCCUPATION", "intelligent"), "unsuited", "OCCUPATION", "supports only PERSON"),
    (PLAIN, serve("PERSON", "label", threshold=1.5), "out-of-range", "PERSON", "between 0 and 1"),
    (PLAIN, serve("PERSON", "label", threshold=-0.1), "out-of-range", "PERSON", "between 0 and 1"),
    (PLAIN, serve("PERSON", "label", threshold="nan"), "out-of-range", "PERSON", "between 0 and 1"),
    (PLAIN, "doubt = 1.2\n", "out-of-range", "", "doubt is 1.2"),
    (PLAIN, "audit_threshold = -1\n", "out-of-range", "", "audit_threshold is -1"),
    (PLAIN, 'label = "hipaa"\n', "unknown-label", "", '"gdpr-pseudonymised", "ksa-pdpl", "none"'),
    (PLAIN, 'without = ["CITY"]\n', "unreachable", "CITY", "still replaced, as LOCATION"),
    (PLAIN, 'without = ["SHOE_SIZE"]\n', "unknown-type", "SHOE_SIZE", "not an entity type"),
]


@pytest.mark.parametrize(("base", "more", "code", "kind", "why"), BAD)
def test_a_policy_known_to_be_bad_is_refused_for_the_right_reason(
    tmp_path: Path, base: str, more: str, code: str, kind: str, why: str
) -> None:
    path = extended(tmp_path, base, more)
    findings = lint(read_policy(path))
    assert any((f.code, f.type) == (code, kind) and why in f.message for f in findings), findings
    with pytest.raises(PolicyProblem, match="policy ours: "):
        load_policy(path)


@pytest.mark.parametrize(
    ("base", "more"),
    [
        (HARBOR, serve("PERSON", "same-length")),
        (HARBOR, serve("PERSON", "intelligent")),
        (HARBOR, serve("CITY", "generalize")),
        (HARBOR, serve("AGE", "generalize", width=5)),
        (HARBOR, serve("COUNTRY", "label")),
        (HARBOR, serve("CLINICIAN", "keep")),
        (HARBOR, serve("RACE", "label", threshold=0.9)),
        (HARBOR, serve("LOCATION", "intelligent", geography='"region"')),
        (LIMITED, serve("MEDICAL_RECORD_NUMBER", "hash", length=32)),
        (LIMITED, serve("DATE", "date-shift")),
        (LIMITED, serve("ZIP", "generalize")),
        (LIMITED, serve("ROOM", "keep")),
        (PLAIN, serve("PERSON", "keep")),
        (EUROPE, serve("DATE", "date-shift")),
        (EUROPE, serve("COUNTRY", "label")),
        (ARABIA, serve("PERSON", "hash")),
        (PLAIN, 'without = ["OCCUPATION"]\n'),
        (PLAIN, 'without = ["HEALTH_PLAN_ID", "GUID"]\n'),
        (PLAIN, 'label = "safe-harbor"\n'),
    ],
)
def test_a_policy_that_keeps_its_label_is_accepted(tmp_path: Path, base: str, more: str) -> None:
    path = extended(tmp_path, base, more)
    assert lint(read_policy(path)) == []
    assert load_policy(path).name == "ours"


def test_safe_harbor_covers_every_lettered_type_and_employers() -> None:
    rule = labels()["safe-harbor"]
    covered = {name for name in catalogue() if rule.covered(name)}
    assert covered == {name for name, entity_type in catalogue().items() if entity_type.hipaa} | {
        "ORGANIZATION",
        "HOSPITAL",
        "PHARMACY",
        "DIAGNOSTIC_LABS",
        "LOGO",
    }


def test_a_limited_data_set_covers_neither_dates_nor_ages_nor_coarse_places() -> None:
    rule = labels()["limited-data-set"]
    left = {name for name, entity_type in catalogue().items() if entity_type.hipaa and not rule.covered(name)}
    assert {"DATE", "AGE", "CITY", "ZIP", "BIRTH_DATE_TIME", "GUID"} <= left
    assert not left & {"PERSON", "ADDRESS", "STREET", "EMAIL", "MEDICAL_RECORD_NUMBER", "IP_ADDRESS", "BIOMETRIC_ID"}


@pytest.mark.parametrize("base", [HARBOR, LIMITED, EUROPE, ARABIA])
def test_a_label_does_not_let_voices_stay_since_they_are_biometric_identifiers(base: str, tmp_path: Path) -> None:
    policy = read_policy(extended(tmp_path, base, '[recordings]\nvoice = "keep"\n'))
    [fault] = [fault for fault in lint(policy) if fault.code == "voice"]
    assert "biometric" in fault.message


@pytest.mark.parametrize(("base", "allowed"), [(HARBOR, False), (LIMITED, True), (EUROPE, True), (ARABIA, True)])
def test_a_disguised_voice_is_derived_from_that_of_the_individual(base: str, allowed: bool, tmp_path: Path) -> None:
    policy = read_policy(extended(tmp_path, base, '[recordings]\nvoice = "disguise"\n'))
    assert ("voice" in {fault.code for fault in lint(policy)}) is not allowed


@pytest.mark.parametrize(
    ("name", "voice"), [(HARBOR, "remove"), (LIMITED, "disguise"), (EUROPE, "disguise"), (PLAIN, "keep")]
)
def test_without_a_word_on_voices_a_policy_does_what_its_label_requires(name: str, voice: str) -> None:
    assert voice_of(load_policy(name)) == voice
