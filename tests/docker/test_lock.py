"""The image's dependencies: hashes for all packages, one source of pins, no base image without a digest."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
LOCKS = ("requirements.lock", "build.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = re.findall(r'^extras="(.*)"$', (ROOT / "scripts" / "lock.sh").read_text(), re.M)[0].split()


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """The packages of a lock file with their hashes."""
    lines = (ROOT / "docker" / name).read_text().replace("\\\n", " ").splitlines()
    found = {}
    for line in lines:
        if line and not line.startswith("#"):
            one, *hashes = re.split(r"\s+--hash=", line.strip())
            asked = Requirement(one)
            found[canonicalize_name(asked.name)] = asked, hashes
    return found


def pins() -> dict[str, str]:
    """The versions in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    asked = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(one.name): str(one.specifier) for one in asked}


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_one_version_and_hashes_and_names_no_index(name: str) -> None:
    for asked, hashes in locked(name).values():
        assert re.fullmatch(r"==[^,*]+", str(asked.specifier))
        assert asked.url is None
        assert hashes
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes)
    text = (ROOT / "docker" / name).read_text()
    assert "://" not in text
    assert "--index" not in text


@pytest.mark.parametrize("name", LOCKS)
def test_the_pins_of_the_locks_are_those_of_the_constraints(name: str) -> None:
    known = pins()
    assert locked(name)
    for package, (asked, _) in locked(name).items():
        assert str(asked.specifier) == known.get(package, str(asked.specifier)), package
        away = asked.marker is not None and not asked.marker.evaluate({"sys_platform": "linux", "os_name": "posix"})
        assert name == "build.lock" or package in known or away, f"{package}: constraints.txt does not pin it"


def test_the_lock_holds_all_that_the_images_extras_need() -> None:
    assert set(EXTRAS) <= PROJECT["optional-dependencies"].keys()
    assert {"documents", "parquet", "sql"} <= set(EXTRAS)  # or it would hold documents, and refuse tables
    wanted = [Requirement(line) for line in PROJECT["dependencies"]]
    wanted += [Requirement(line) for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra]]
    there, seen = locked("requirements.lock"), set()
    while wanted:
        one = wanted.pop()
        name = canonicalize_name(one.name)
        if name == "incognote":
            wanted += [Requirement(line) for extra in one.extras for line in PROJECT["optional-dependencies"][extra]]
            continue
        for extra in one.extras or {""}:
            if one.marker is not None and not one.marker.evaluate({"extra": extra}):
                continue
            assert name in there, f"{name}: run `make lock`"
            assert one.specifier.contains(str(there[name][0].specifier)[2:], prereleases=True), (
                f"{name}: run `make lock`"
            )
            if (name, extra) not in seen:
                seen.add((name, extra))
                inner = [Requirement(line) for line in requires(name) or ()]
                wanted += [each for each in inner if each.marker is None or each.marker.evaluate({"extra": extra})]
    assert len(seen) > 50


def test_the_image_installs_only_hashed_wheels() -> None:
    installs = re.findall(r"pip (?:install|wheel) [^&\n]*", re.sub(r"\\\n", " ", DOCKERFILE))
    assert len(installs) == 4
    for line in installs:
        hashed = "--require-hashes" in line and "--only-binary :all:" in line
        assert hashed or ("--no-index" in line and "--no-deps" in line), line


@pytest.mark.parametrize(
    ("release", "digest", "built"),
    [
        ("", "", True),
        ("", "sha256:" + "a" * 64, True),
        ("1", "sha256:" + "0a" * 32, True),
        ("1", "", False),
        ("1", "sha256:" + "a" * 63, False),
        ("1", "latest", False),
    ],
)
def test_a_release_build_requires_the_digest_of_the_base_image(release: str, digest: str, built: bool) -> None:
    (check,) = re.findall(r"^RUN (test -z \"\$RELEASE\".*?exit 1; \})$", DOCKERFILE, re.M | re.S)
    done = subprocess.run(
        ["sh", "-c", check.replace("\\\n", " ")], env={"RELEASE": release, "DIGEST": digest, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is built
    assert built or "DIGEST=sha256" in done.stderr


def test_both_stages_begin_at_that_digest() -> None:
    stages = re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    assert stages == ["python:${PYTHON}-slim-bookworm${DIGEST:+@${DIGEST}}"] * 2
    assert DOCKERFILE.index("ARG DIGEST=") < DOCKERFILE.index("FROM")
