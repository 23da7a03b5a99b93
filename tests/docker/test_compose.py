"""compose.yaml and the image: everything they name exists, and everything that must be closed is closed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.llm.egress import Egress
from incognote.relex.index.opening import _cluster, _options
from incognote.settings import Settings

from .commands import problems
from .dockerfile import ROOT, instructions

yaml = pytest.importorskip("yaml")
DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("worker", "api")
# The service keys of the compose specification that this file uses.
KNOWN = set(
    "build cap_drop command configs depends_on deploy entrypoint environment healthcheck image logging networks ports "
    "profiles read_only restart secrets security_opt shm_size stop_grace_period tmpfs ulimits user volumes".split()
)


def named(entries: list[Any]) -> set[str]:
    """Names of secrets or configs, in the short or the long form."""
    return {one if isinstance(one, str) else one["source"] for one in entries}


def test_the_services_are_those_that_were_promised() -> None:
    assert set(SERVICES) == {"worker", "api", "postgres", "opensearch", "minio", "buckets", "llm"}
    assert SERVICES["worker"]["deploy"]["replicas"] == 2
    assert SERVICES["llm"]["profiles"] == ["llm"]
    assert [name for name in SERVICES if "profiles" in SERVICES[name]] == ["llm"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_uses_known_words_and_names_only_what_there_is(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= KNOWN
    assert set(service["networks"]) <= COMPOSE["networks"].keys()
    assert named(service.get("secrets", [])) <= COMPOSE["secrets"].keys()
    assert named(service.get("configs", [])) <= COMPOSE["configs"].keys()
    assert set(service.get("depends_on", {})) <= SERVICES.keys()
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        assert source in COMPOSE["volumes"] or source.startswith("./")
    for other, how in service.get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]


def test_everything_declared_is_used() -> None:
    assert {s for one in SERVICES.values() for s in named(one.get("secrets", []))} == set(COMPOSE["secrets"])
    assert {s for one in SERVICES.values() for s in named(one.get("configs", []))} == set(COMPOSE["configs"])
    used = {volume.split(":")[0] for one in SERVICES.values() for volume in one.get("volumes", [])}
    assert set(COMPOSE["volumes"]) <= used


def test_every_service_that_stays_has_a_health_check_and_bounded_logs() -> None:
    assert SERVICES
    for name, service in SERVICES.items():
        assert service["logging"]["options"]["max-size"], name
        assert "healthcheck" in service or service["restart"] == "on-failure", name
        assert service["security_opt"] == ["no-new-privileges:true"], name


@pytest.mark.parametrize("name", OURS)
def test_ours_run_as_nobody_on_a_root_they_cannot_write(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"], service["user"]) == (True, ["ALL"], "10001:10001")
    assert "noexec" in service["tmpfs"][0]
    assert problems([re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in service["command"]]) == []


def test_nothing_is_published_but_on_the_loopback_and_the_inside_has_no_way_out() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(ports) == {"api", "minio"}
    assert all(port.startswith("127.0.0.1:") for published in ports.values() for port in published)
    assert all("published" not in service["networks"] for name, service in SERVICES.items() if name not in ports)


def test_ports_of_health_checks_commands_and_settings_agree(tmp_path: Path) -> None:
    settings = Settings.load(DOCKER / "incognote.toml")
    port = str(settings.service.metrics).rpartition(":")[2]
    assert f"127.0.0.1:{port}/metrics" in SERVICES["worker"]["healthcheck"]["test"][-1]
    assert "--port=8000" in SERVICES["api"]["command"]
    assert ":8000/livez" in SERVICES["api"]["healthcheck"]["test"][-1]
    assert SERVICES["api"]["ports"] == ["127.0.0.1:8000:8000"]


def test_no_secret_stands_in_a_file_that_is_committed() -> None:
    assert all(set(one) == {"file"} and one["file"].startswith("./secrets/") for one in COMPOSE["secrets"].values())
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert not re.search("PASSWORD|SECRET|KEY$", name) or name.endswith("_FILE") or value == "none", name
    ignored = subprocess.run(
        ["git", "check-ignore", "docker/secrets/master.key"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ignored.returncode in (0, 128)  # 128: a source archive without the git history


def test_settings_name_secrets_stores_and_folders_that_the_services_have(tmp_path: Path) -> None:
    settings = Settings.load(DOCKER / "incognote.toml")
    assert str(settings.key_file) == "/run/secrets/master_key"
    assert "master_key" in named(SERVICES["worker"]["secrets"])
    assert settings.index is not None
    assert "?ca=/run/secrets/ca" in settings.index
    (tmp_path / "ca").touch()
    url = settings.index.replace("/run/secrets", str(tmp_path))
    cluster = _cluster(url, _options(url), "secret")  # the options that open it: TLS, and no password in the URL
    assert (cluster.host, cluster.port, cluster.user, cluster.tls) == ("opensearch", 9200, "incognote", True)
    assert str(settings.index_password_file) == "/run/secrets/index_password"
    assert {"ca", "index_password"} <= named(SERVICES["worker"]["secrets"])
    assert settings.service.database is not None
    assert "@postgres/" in settings.service.database
    mounted = [volume.split(":")[1] for volume in SERVICES["worker"]["volumes"]]
    assert str(settings.service.audit).startswith(mounted[0])
    targets = {one["target"] for one in SERVICES["worker"]["configs"]}
    assert SERVICES["worker"]["environment"]["INCOGNOTE_CONFIG"] in targets


def test_the_login_proxy_of_the_page_leaves_the_api_key_alone() -> None:
    (recipe,) = re.findall(r"^```ini\n(.*?)^```", (ROOT / "docs" / "docker.md").read_text(), re.S | re.M)
    settings = tomllib.loads(recipe)
    assert {value for name, value in settings.items() if name.startswith("pass_")} == {False}
    assert settings["upstreams"] == [f"http://{SERVICES['api']['ports'][0].rpartition(':')[0]}/"]


def test_the_secrets_script_makes_every_secret_once(tmp_path: Path) -> None:
    for _ in range(2):
        subprocess.run(["sh", DOCKER / "secrets.sh", tmp_path / "secrets"], check=True, timeout=60)
        made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
        if _ == 0:
            first = made
    assert made == first
    assert {Path(one["file"]).name for one in COMPOSE["secrets"].values()} == made.keys() - {"ca.key", "ca.srl"}
    assert Keyring.read(tmp_path / "secrets" / "master.key").persistent
    assert made["pgpass"] == f"postgres:5432:incognote:incognote:{made['postgres_password']}\n"
    assert made["minio_worker_password"] in made["s3_credentials"]
    assert len({made["postgres_password"], made["minio_root_password"], made["minio_worker_password"]}) == 3
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_the_model_that_runs_here_is_reached_as_its_service_is_set_up(tmp_path: Path) -> None:
    text = (DOCKER / "incognote.toml").read_text().replace("# model =", "model =").replace("# api_base =", "api_base =")
    (tmp_path / "with-model.toml").write_text(text)
    settings = Settings.load(tmp_path / "with-model.toml")
    (address,) = Egress([str(settings.api_base)]).addresses
    command = SERVICES["llm"]["command"]
    assert (address.scheme, address.host) == ("https", "llm")
    assert f"--port={address.port}" in command
    assert f"--served-model-name={str(settings.model).removeprefix('openai/')}" in command
    assert named(SERVICES["llm"]["secrets"]) == {word.rpartition("/")[2] for word in command if "/run/secrets/" in word}


def test_certificates_are_of_the_services_they_are_for(tmp_path: Path) -> None:
    subprocess.run(["sh", DOCKER / "secrets.sh", tmp_path], check=True, timeout=60)
    for host in ("opensearch", "llm"):
        checked = [
            "openssl",
            "verify",
            "-CAfile",
            tmp_path / "ca.crt",
            "-verify_hostname",
            host,
            tmp_path / f"{host}.crt",
        ]
        assert subprocess.run(checked, capture_output=True, timeout=60, check=False).returncode == 0
    node = yaml.safe_load((DOCKER / "opensearch" / "opensearch.yml").read_text())
    targets = {one["target"] for one in SERVICES["opensearch"]["secrets"] if isinstance(one, dict)}
    named_there = {f"/usr/share/opensearch/config/{value}" for key, value in node.items() if key.endswith("_filepath")}
    assert named_there == targets
    roles = yaml.safe_load((DOCKER / "opensearch" / "roles.yml").read_text())
    assert "opensearch_security_roles: [incognote]" in (DOCKER / "opensearch" / "start.sh").read_text()
    assert roles["incognote"]["index_permissions"][0]["index_patterns"] == ["incognote*"]


def test_the_stores_users_policy_is_one_way() -> None:
    policy = json.loads((DOCKER / "minio" / "one-way.json").read_text())
    allowed: dict[str, set[str]] = {}
    for statement in policy["Statement"]:
        assert statement["Effect"] == "Allow"
        for resource in statement["Resource"]:
            allowed.setdefault(resource.removeprefix("arn:aws:s3:::"), set()).update(statement["Action"])
    assert "s3:GetObject" in allowed["sink/*"]
    assert not {"s3:PutObject", "s3:DeleteObject"} & allowed["sink/*"]
    assert "s3:PutObject" in allowed["lab/*"]
    assert not {"s3:GetObject", "s3:ListBucket", "s3:DeleteObject"} & (allowed["lab/*"] | allowed["lab"])
    buckets = re.search(r"mc mb .*", (DOCKER / "minio" / "setup.sh").read_text())
    assert buckets is not None
    assert {name.split("/")[0] for name in allowed} == {one.removeprefix("store/") for one in buckets[0].split()[3:]}
    command = " ".join(SERVICES["worker"]["command"])
    assert all(f"s3://{name}" in command for name in ("sink", "lab", "staging"))


@pytest.mark.parametrize(
    "script",
    [
        DOCKER / "entrypoint.sh",
        DOCKER / "secrets.sh",
        DOCKER / "minio" / "setup.sh",
        DOCKER / "opensearch" / "start.sh",
    ],
)
def test_scripts_are_ones_that_a_shell_reads(script: Path) -> None:
    subprocess.run(["sh", "-n", script], check=True, timeout=60)
    assert "set -eu" in script.read_text()


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    copied = [
        word
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for word in [w for w in shlex.split(rest) if not w.startswith("--")][:-1]
    ]
    assert copied
    for path in copied:
        assert (ROOT / path).exists(), path
        assert path in allowed, path


def test_the_image_runs_as_nobody() -> None:
    steps = instructions()
    assert [rest for name, rest in steps if name == "USER"] == ["10001:10001"]
    assert ("ENTRYPOINT", '["entrypoint.sh"]') in steps
    assert all("slim" in rest for name, rest in steps if name == "FROM")
    copied = next(rest for name, rest in steps if name == "COPY" and "entrypoint.sh" in rest)
    path = [rest for name, rest in steps if name == "ENV"][-1]
    assert copied.split()[-1].rstrip("/") in path


def test_the_entrypoint_copies_the_password_file_where_only_its_owner_reads_it(tmp_path: Path) -> None:
    """Run the script with its paths moved into a test folder."""
    (tmp_path / "run" / "secrets").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "run" / "secrets" / "pgpass").write_text("postgres:5432:a:b:c\n")
    fake = tmp_path / "incognote"
    fake.write_text('#!/bin/sh\necho "$PGPASSFILE" "$@"\n')
    fake.chmod(0o755)
    script = (DOCKER / "entrypoint.sh").read_text()
    moved = script.replace("/run/", f"{tmp_path}/run/").replace("/tmp/pgpass", f"{tmp_path}/tmp/pgpass")
    done = subprocess.run(
        ["sh", "-c", moved, "entrypoint.sh", "worker", "a b"],
        capture_output=True, text=True, check=True, timeout=60, env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout == f"{tmp_path}/tmp/pgpass worker a b\n"
    copied = tmp_path / "tmp" / "pgpass"
    assert (copied.read_text(), copied.stat().st_mode & 0o777) == ("postgres:5432:a:b:c\n", 0o600)


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/livez" else 503)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def test_the_health_check_tells_an_answer_from_none() -> None:
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    codes = []
    for path in ("livez", "readyz"):
        url = f"http://127.0.0.1:{server.server_port}/{path}"
        asked = [sys.executable, str(DOCKER / "healthy.py"), url]
        codes.append(subprocess.run(asked, capture_output=True, timeout=60, check=False).returncode)
    server.shutdown()
    server.server_close()
    assert codes[0] == 0
    assert codes[1] != 0
