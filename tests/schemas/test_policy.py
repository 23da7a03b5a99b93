"""Policies: the shipped ones, and a privacy officer's files."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from incognote.errors import PolicyProblem, UnknownName
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import claimable, everything, lint, load_policy, read_policy, shipped_policies

PAPER_33 = {name for name, entity_type in catalogue().items() if entity_type.paper}


def write(folder: Path, content: str) -> Path:
    path = folder / "ours.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_nine_policies_are_shipped_strict_first() -> None:
    first, *others = shipped_policies()
    assert first == "strict"
    assert others == [
        "gdpr-pseudonymised", "intelligent", "ksa-pdpl", "limited-data-set", "paper", "paper-image", "safe-harbor",
        "surrogate",
    ]  # fmt: skip


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_is_sound_and_bears_its_own_name(name: str) -> None:
    policy = load_policy(name)
    assert policy.name == name
    assert lint(policy) == []
    assert policy.about
    assert not policy.needs_subject


def test_a_policy_says_which_label_it_may_claim() -> None:
    assert {name: claimable(load_policy(name)) for name in shipped_policies()} == {
        "strict": ("safe-harbor", "limited-data-set"),
        "safe-harbor": ("safe-harbor", "limited-data-set"),
        "limited-data-set": ("limited-data-set",),
        "paper": ("limited-data-set",),
        "paper-image": ("safe-harbor", "limited-data-set"),
        "intelligent": ("limited-data-set",),
        "surrogate": ("limited-data-set",),
        "gdpr-pseudonymised": ("limited-data-set", "gdpr-pseudonymised", "ksa-pdpl"),
        "ksa-pdpl": ("limited-data-set", "gdpr-pseudonymised", "ksa-pdpl"),
    }


def test_strict_serves_all_but_the_four_that_point_to_nobody_and_whole_regions() -> None:
    policy = load_policy("strict")
    kept = ["RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD", "REGION"]
    assert [t for t in catalogue() if policy.serves(t) is None] == kept
    assert {policy.types[t].operator for t in policy.types} == {"label"}


@pytest.mark.parametrize(
    ("fine", "general"),
    [
        ("PATIENT", "PERSON"),
        ("CLINICIAN", "PERSON"),
        ("DATE_TIME", "DATE"),
        ("STREET", "ADDRESS"),
        ("CITY", "LOCATION"),
        ("ZIP", "LOCATION"),
        ("DRIVER_ID_US", "LICENSE_NUMBER"),
        ("BANK_SWIFT", "ACCOUNT_NUMBER"),
        ("HOSPITAL", "HOSPITAL"),
        ("OCCUPATION", "OCCUPATION"),
    ],
)
def test_a_type_that_is_not_listed_is_served_as_its_nearest_listed_ancestor(fine: str, general: str) -> None:
    assert load_policy("strict").serves(fine) == general


def test_paper_writes_the_33_types_of_redactor_and_no_others() -> None:
    policy = load_policy("paper")
    shown = {policy.types[t].params["name"] or t for t in policy.types}
    assert shown == PAPER_33
    assert len(shown) == 33
    assert {t for t in catalogue() if policy.serves(t) is None} == {"DATE", "DATE_TIME", "REGION"}


def test_paper_image_is_strict_with_whole_regions() -> None:
    one, two = load_policy("paper-image"), load_policy("strict")
    assert {name: one.types[name] for name in one.types if name != "REGION"} == two.types
    assert one.replaces("REGION")


def test_safe_harbor_serves_every_letter_of_the_rule() -> None:
    policy = load_policy("safe-harbor")
    assert policy.label == "safe-harbor"
    assert all(policy.choice(t) for t, entity_type in catalogue().items() if entity_type.hipaa)
    assert {t: policy.types[t].operator for t in ("DATE", "AGE", "ZIP", "STATE")} == {
        "DATE": "generalize",
        "AGE": "generalize",
        "ZIP": "generalize",
        "STATE": "keep",
    }


@pytest.mark.parametrize("name", shipped_policies())
def test_everything_serves_all_types_and_keeps_none(name: str) -> None:
    policy, wide = load_policy(name), everything(load_policy(name))
    assert all(wide.serves(t) == t for t in catalogue())
    assert not any(wide.types[t].operator == "keep" for t in catalogue())
    served = {t: policy.choice(t) for t in catalogue()}
    assert all(wide.choice(t) == c for t, c in served.items() if c is not None and c.operator != "keep")
    assert (wide.label, wide.doubt, lint(wide)) == (None, policy.doubt, [])


def test_an_unknown_type_is_no_part_of_a_policy() -> None:
    with pytest.raises(UnknownName, match="no entity type named 'SHOE_SIZE'"):
        load_policy("strict").choice("SHOE_SIZE")


def test_a_file_changes_the_policy_it_extends(tmp_path: Path) -> None:
    policy = load_policy(
        write(
            tmp_path,
            """
name = "ours"
extends = "strict"
doubt = 0.45
on_review = "widen"
without = ["OCCUPATION"]
priority = ["MEDICAL_RECORD_NUMBER", "PERSON"]

[types.DATE]
operator = "date-shift"
days = 3000

[types.RACE]
operator = "label"
threshold = 0.7
""",
        )
    )
    assert (policy.name, policy.doubt, policy.on_review, policy.label) == ("ours", 0.45, "widen", None)
    assert policy.needs_subject
    assert policy.choice("BIRTH_DATE_TIME") == policy.types["DATE"]
    assert dict(policy.types["DATE"].params) == {"days": 3000, "day_first": False}
    assert policy.types["RACE"].threshold == 0.7
    assert policy.serves("OCCUPATION") is None
    assert policy.serves("PATIENT") == "PERSON"
    assert policy.priority == ("MEDICAL_RECORD_NUMBER", "PERSON")
    assert policy.version != replace(policy, priority=()).version


def test_a_label_is_inherited_until_it_is_taken_off(tmp_path: Path) -> None:
    shifted = '\n[types.DATE]\noperator = "date-shift"\n'
    with pytest.raises(PolicyProblem, match=r"DATE: date-shift derives .* the label safe-harbor does not allow"):
        load_policy(write(tmp_path, f'name = "ours"\nextends = "safe-harbor"\n{shifted}'))
    assert (
        load_policy(write(tmp_path, f'name = "ours"\nextends = "safe-harbor"\nlabel = "none"\n{shifted}')).label is None
    )


def test_the_version_changes_with_what_decides_and_with_nothing_else(tmp_path: Path) -> None:
    base = 'name = "ours"\nextends = "strict"\n'
    versions = {
        read_policy(write(tmp_path, base + more)).version
        for more in (
            "",
            "doubt = 0.3\n",
            "audit_threshold = 0.6\n",
            'on_review = "widen"\n',
            '[types.AGE]\noperator = "keep"\n',
            '[types.AGE]\noperator = "label"\nthreshold = 0.6\n',
            '[types.AGE]\noperator = "label"\nname = "YEARS"\n',
        )
    }
    assert len(versions) == 7
    assert all(len(version) == 16 for version in versions)
    assert (
        read_policy(write(tmp_path, base)).version == read_policy(write(tmp_path, base + 'about = "x"  # y\n')).version
    )


def test_a_policy_can_be_sent_to_a_worker() -> None:
    policy = load_policy("safe-harbor")
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert len({policy, pickle.loads(pickle.dumps(policy)), load_policy("strict")}) == 2


def test_a_name_nobody_bears_is_told_with_the_names_there_are() -> None:
    names = ", ".join(sorted(shipped_policies()))
    with pytest.raises(UnknownName, match=f"Choose one of: {names}"):
        load_policy("lenient")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("name = 'x'", "must list at least one type"),
        ("about = 'x'\n[types.AGE]\noperator = 'label'", "needs a name"),
        ("name = 'x'\nextends = 'lenient'", 'there is no shipped policy "lenient"'),
        ("name = 'x'\nextends = 'strict'\nstrictness = 9", 'has no key "strictness"'),
        ("name = 'x'\nextends = 'strict'\ndoubt = 'high'", "doubt must be a number"),
        ("name = 'x'\nextends = 'strict'\ndoubt = true", "doubt must be a number"),
        ("name = 'x'\nextends = 'strict'\non_review = 'shrug'", 'on_review must be "hold" or "widen"'),
        ("name = 'x'\nextends = 'strict'\nwithout = 'AGE'", "without must be a list of types"),
        ("name = 'x'\nextends = 'strict'\nwithout = [1]", "without must be a list of types"),
        ("name = 'x'\nextends = 'strict'\npriority = 'AGE'", "priority must be a list of types"),
        (
            "name = 'x'\nextends = 'strict'\nwithout = ['AGE']\n[types.AGE]\noperator = 'keep'",
            "AGE is also listed in this file",
        ),
        ("name = 'x'\nextends = 'strict'\ntypes = 3", "types must be a table"),
        ("name = 'x'\n[types.AGE]\nthreshold = 0.5", "types.AGE needs an operator"),
        ("name = 'x'\n[types]\nAGE = 'label'", "types.AGE needs an operator"),
        ("name = 'x'\n[types.AGE]\noperator = 'label'\nthreshold = 'low'", "types.AGE: threshold must be a number"),
        ("name = ", "not valid TOML"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str, why: str) -> None:
    with pytest.raises(PolicyProblem, match=why):
        load_policy(write(tmp_path, content))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyProblem, match="cannot be read"):
        load_policy(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(PolicyProblem, match="not UTF-8"):
        load_policy(str(tmp_path / "latin.toml"))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "ours"\nextends = "strict"\n')
    assert load_policy(str(path)).name == "ours"


HARBOR = """
name = "ours"
extends = "safe-harbor"
[types.PERSON]
operator = "surrogate"
"""


def test_safe_harbor_allows_surrogates_that_are_never_revealed(tmp_path: Path) -> None:
    with pytest.raises(PolicyProblem, match="reveal links a surrogate"):
        load_policy(write(tmp_path, HARBOR))
    policy = load_policy(write(tmp_path, HARBOR + "[relex]\nreveal = false\n"))
    assert (policy.label, policy.surrogates, policy.relex.reveal) == ("safe-harbor", {"PERSON"}, False)


@pytest.mark.parametrize("kind", ["AGE", "DATE"])
def test_safe_harbor_allows_no_surrogate_near_the_truth(tmp_path: Path, kind: str) -> None:
    written = HARBOR.replace("PERSON", kind) + "[relex]\nreveal = false\n"
    with pytest.raises(PolicyProblem, match=f"{kind}: surrogate leaves more"):
        load_policy(write(tmp_path, written))


def test_policies_without_surrogates_keep_the_version_they_had() -> None:
    """It last changed with `models.share`, which decides what a model receives."""
    assert load_policy("strict").version == "98bba1ae2f413483"
