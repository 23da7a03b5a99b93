"""The image, built from Debian's packages by the Dockerfile's own steps, and the minimal services running in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from incognote.pages.ocr.tesseract import DATA

from .chroot import Image, built, container, debian, unable
from .dockerfile import DOCKERFILE, ROOT

yaml = pytest.importorskip("yaml")
REASON = unable()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(REASON), reason=REASON)]
DOCKER = ROOT / "docker"
SERVICES: dict[str, Any] = yaml.safe_load((DOCKER / "compose.minimal.yaml").read_text())["services"]


@pytest.fixture(scope="module")
def image() -> Image:
    """Built once; its layers are kept for the next run."""
    return built()


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, Path]:
    """The secrets that `docker/secrets.sh` creates."""
    subprocess.run(["sh", DOCKER / "secrets.sh", tmp_path / "secrets"], check=True, timeout=60)
    return {"master_key": tmp_path / "secrets" / "master.key"}


@pytest.fixture
def worker(image: Image, secrets: dict[str, Path], tmp_path: Path) -> Iterator[list[str]]:
    """A container of the service `worker`, with its folders under `tmp_path`."""
    source, destination = tmp_path / "data" / "source", tmp_path / "data" / "destination"
    for folder in (source, destination):
        folder.mkdir(parents=True)
        shutil.chown(folder, 10001, 10001)
    for name in ("discharge_summary.txt", "letter.rtf"):
        shutil.copy(ROOT / "examples" / name, source)
    scan().save(source / "scan.png", dpi=(200, 200))
    with container(image, SERVICES["worker"], tmp_path, secrets) as begun:
        yield begun


def scan() -> Picture.Image:
    """A page of three lines."""
    page = Picture.new("L", (900, 400), "white")
    draw = ImageDraw.Draw(page)
    for at, line in enumerate(("Patient: Ottoline Quackenbush", "Date of birth: 04/17/1961", "Asthma, stable.")):
        draw.text((60, 60 + 100 * at), line, font=ImageFont.load_default(36), fill="black")
    return page


def output(begun: list[str], *words: str) -> str:
    """The output of a command in a container."""
    done = subprocess.run([*begun, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_debians_python_is_the_one_that_the_dockerfile_asks_for(image: Image) -> None:
    asked = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.M)
    python = ["chroot", str(image.layers[-1]), "python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    assert subprocess.run(python, capture_output=True, text=True, check=True).stdout.split() == asked


def test_a_container_has_no_root_user_no_capability_and_no_file_to_write_but_its_own(worker: list[str]) -> None:
    assert output(worker, "id", "-u").strip() == "10001"
    status = output(worker, "cat", "/proc/self/status")
    assert [int(sets, 16) for sets in re.findall(r"^Cap\w+:\s+(\w+)$", status, re.M)] == [0] * 5
    assert "NoNewPrivs:\t1" in status
    tried = "for d in / /etc /opt/incognote /run/secrets /data/source; do touch $d/x 2>/dev/null && echo $d; done; true"
    assert output(worker, "sh", "-c", tried) == ""
    assert output(worker, "sh", "-c", "touch /tmp/x /var/lib/incognote/x && echo written") == "written\n"


def test_the_bill_of_materials_is_that_of_the_installation(worker: list[str]) -> None:
    parts = {part["name"] for part in json.loads(output(worker, "cat", "/opt/incognote/sbom.json"))["components"]}
    assert {"incognote-en", "fastapi", "onnxruntime"} <= parts


def test_the_worker_of_the_minimal_service_deidentifies_a_note_a_letter_in_rtf_and_a_scan(
    image: Image, worker: list[str], tmp_path: Path
) -> None:
    command = [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in SERVICES["worker"]["command"]]
    output(worker, *image.entrypoint, *command, "--once")
    (letter,) = (tmp_path / "data" / "destination").rglob("*.rtf")  # held if the image had no second reader
    assert b"[PERSON]" in letter.read_bytes()
    (shard,) = (tmp_path / "data" / "destination").rglob("*.jsonl")
    text = json.loads(shard.read_text())["text"]
    assert "[PERSON]" in text
    assert not [name for name in ("okonkwo", "raghunathan", "wieczorek", "00482913") if name in text.lower()]
    (picture,) = (tmp_path / "data" / "destination").rglob("*.png")
    with Picture.open(picture) as covered:
        assert covered.crop((230, 50, 700, 120)).tobytes() != scan().crop((230, 50, 700, 120)).tobytes()
        assert covered.crop((0, 250, 900, 400)).tobytes() == scan().crop((0, 250, 900, 400)).tobytes()


def test_the_image_reads_pages_in_the_languages_that_are_installed(worker: list[str]) -> None:
    read = set(output(worker, "tesseract", "--list-langs").split())
    assert {DATA[folder.name] for folder in (ROOT / "languages").iterdir() if folder.name in DATA} <= read
    assert "osd" in read


def test_the_api_of_the_minimal_service_becomes_healthy(image: Image, secrets: dict[str, Path], tmp_path: Path) -> None:
    service = SERVICES["api"]
    with container(image, service, tmp_path, secrets) as api:
        output(api, *image.entrypoint, "key", "api", "new", "ada", "--role", "review")
        check = " ".join(service["healthcheck"]["test"][1:])
        script = f"""entrypoint.sh "$@" 2>/tmp/log & server=$!
            for try in $(seq 150); do {check} 2>/dev/null && break; sleep 0.2; done
            {check} && kill -TERM $server && wait $server && echo ended"""
        assert output(api, "sh", "-c", script, "sh", *service["command"]) == "ended\n"


@pytest.mark.parametrize("name", ["compose.yaml", "compose.minimal.yaml"])
def test_composes_own_reader_takes_the_file(name: str, tmp_path: Path) -> None:
    image = debian()
    with image.mounted(tmp_path / "root", tmp_path / "upper") as root:
        shutil.copytree(DOCKER, root / "docker", ignore=shutil.ignore_patterns("secrets", "data", "models"))
        asked = ["chroot", root, "docker-compose", "--file", f"/docker/{name}", "config", "--format", "json"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["services"]) >= {"worker", "api"}
