"""The rendered Helm chart: its objects agree with one another, with the image, and with incognote's options."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from incognote.settings import Settings

from .chart import Unknown, rendered
from .commands import problems

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
CHART = ROOT / "docker" / "chart"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
ABOUT: dict[str, Any] = yaml.safe_load((CHART / "Chart.yaml").read_text())
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())


def objects(values: dict[str, Any] = VALUES) -> dict[tuple[str, str], dict[str, Any]]:
    """The objects that the chart renders from values, by kind and name."""
    scope = {"Values": values, "Release": {"Name": "night"}, "Chart": {"AppVersion": ABOUT["appVersion"]}}
    made = [
        one
        for path in sorted((CHART / "templates").glob("*.yaml"))
        for one in yaml.safe_load_all(rendered(path.read_text(), scope))
        if one is not None
    ]
    return {(one["kind"], one["metadata"]["name"]): one for one in made}


OBJECTS = objects()
PODS = {name: one["spec"]["template"]["spec"] for (kind, name), one in OBJECTS.items() if kind == "StatefulSet"}


def test_the_chart_makes_what_it_should() -> None:
    assert set(OBJECTS) == {
        ("ConfigMap", "night-settings"),
        ("ServiceAccount", "night"),
        ("StatefulSet", "night-worker"),
        ("StatefulSet", "night-api"),
        ("Service", "night-api"),
        ("Service", "night-worker"),
        ("NetworkPolicy", "night"),
        ("PodDisruptionBudget", "night-worker"),
    }
    scope = {"Values": VALUES, "Release": {"Name": "night"}, "Chart": {"AppVersion": "1"}}
    assert rendered((CHART / "templates" / "NOTES.txt").read_text(), scope).startswith("incognote 1: 2 workers")


def test_the_values_are_what_their_schema_says() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.Draft7Validator(SCHEMA).validate(VALUES)


def test_the_ingress_is_off_and_takes_a_host_and_a_certificate_where_it_is_on() -> None:
    (recipe,) = re.findall(r"^```yaml\n(ingress:.*?)^```", (ROOT / "docs" / "docker.md").read_text(), re.S | re.M)
    shown = yaml.safe_load(recipe)
    on = shown["ingress"]
    values = {**VALUES, "ingress": on, "network": {**VALUES["network"], **shown["network"]}}
    jsonschema.Draft7Validator(SCHEMA).validate(values)
    ingress = objects(values)["Ingress", "night-api"]
    assert ingress["metadata"]["annotations"] == on["annotations"]
    assert ingress["spec"]["tls"] == [{"hosts": [on["host"]], "secretName": on["tlsSecret"]}]
    (rule,) = ingress["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert rule["host"] == on["host"]
    assert backend["port"]["name"] in {port["name"] for port in OBJECTS["Service", backend["name"]]["spec"]["ports"]}
    for name in ("host", "tlsSecret"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(SCHEMA).validate({**values, "ingress": {**on, name: ""}})


def scaled(**changed: Any) -> dict[str, Any]:
    """The values with autoscaling turned on."""
    values: dict[str, Any] = json.loads(json.dumps(VALUES))
    values["worker"]["autoscaling"] |= {"enabled": True, **changed}
    return values


def test_autoscaling_is_off_and_scales_the_worker_by_the_ledgers_queue_where_it_is_on() -> None:
    assert not {kind for kind, _ in OBJECTS} & {"ScaledObject", "TriggerAuthentication"}
    jsonschema.Draft7Validator(SCHEMA).validate(scaled())
    made = objects(scaled(maxReplicas=12))
    spec = made["ScaledObject", "night-worker"]["spec"]
    assert (spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"]) in made
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 12)
    (trigger,) = spec["triggers"]
    assert ("TriggerAuthentication", trigger["authenticationRef"]["name"]) in made
    assert trigger["type"] == "postgresql"
    assert all(isinstance(value, str) for value in trigger["metadata"].values())  # KEDA takes strings alone
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate(scaled(minReplicas=0))  # nobody would look for new files


def test_the_query_of_the_autoscaling_counts_the_parts_that_are_not_done(database: str, tmp_path: Path) -> None:
    from sqlalchemy import text

    from incognote.keys import Keyring
    from incognote.ledger import FoundFile, Ledger
    from incognote.ledger.database import Database

    (trigger,) = objects(scaled())["ScaledObject", "night-worker"]["spec"]["triggers"]
    ledger = Ledger(database, Keyring(bytes(32)))
    base = Database(database)
    try:
        for name in ("r1", "other"):
            release = ledger.freeze(name, {})
            ledger.found(release.id, [FoundFile(name, name, name, 10, ((0, 5), (5, None)))])
            worker = ledger.join(30)
            (part,) = ledger.claim_parts(worker, release.id, most=1, bytes=1)
            if name == "other":
                ledger.close_part(worker, part, "unreadable")
        waiting = base.run(lambda db: db.scalar(text(trigger["metadata"]["query"])))
    finally:
        ledger.close()
        base.close()
    assert waiting == 2  # of r1 alone: one that waits, and one that a worker has


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("image", "tag"), "latest"),
        (("locations", "ledger"), "postgresql://incognote:secret@postgres/incognote"),
        (("locations", "release"), "../r1"),
        (("config",), 'policy = "strict"\nkey = "AAAA"\n'),
        (("config",), '[service]\n  index_password = "x"\n'),
        (("env",), {"AWS_SECRET_TOKEN": "x"}),
        (("env",), {"INCOGNOTE_KEY": "x"}),
        (("network", "clients"), []),
        (("worker", "surprise"), 1),
    ],
)
def test_values_that_would_be_unsafe_are_refused(path: tuple[str, ...], value: Any) -> None:
    values = json.loads(json.dumps(VALUES))
    place = values
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate(values)


def test_the_chart_is_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert ABOUT["appVersion"] == VALUES["image"]["tag"] == version


def test_the_settings_are_ones_that_incognote_takes(tmp_path: Path) -> None:
    data = OBJECTS["ConfigMap", "night-settings"]["data"]["incognote.toml"]
    (tmp_path / "incognote.toml").write_text(data)
    settings = Settings.load(tmp_path / "incognote.toml")
    secrets = [str(path) for path in (settings.key_file, settings.index_password_file)]
    secrets += re.findall(r"ca=([^\"&]+)", settings.index or "")
    assert {Path(path).parent.as_posix() for path in secrets} == {"/run/secrets"}
    mentioned = re.findall(r"must hold (.*?)\.\n", (CHART / "templates" / "NOTES.txt").read_text())[0]
    assert all(Path(path).name in mentioned for path in secrets)
    assert str(settings.service.audit).startswith("/var/lib/incognote/")


@pytest.mark.parametrize("name", PODS)
def test_a_pod_runs_a_command_that_there_is_as_nobody_on_a_root_it_cannot_write(name: str) -> None:
    pod = PODS[name]
    (container,) = pod["containers"]
    assert problems(container["args"]) == []
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert ("ServiceAccount", pod["serviceAccountName"]) in OBJECTS


@pytest.mark.parametrize("name", PODS)
def test_a_pods_volumes_ports_and_labels_agree(name: str) -> None:
    whole, pod = OBJECTS["StatefulSet", name], PODS[name]
    (container,) = pod["containers"]
    claims = {one["metadata"]["name"] for one in whole["spec"]["volumeClaimTemplates"]}
    volumes = {one["name"] for one in pod["volumes"]} | claims
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if probe in container:
            assert container[probe]["httpGet"]["port"] in ports
    labels = whole["spec"]["template"]["metadata"]["labels"]
    assert whole["spec"]["selector"]["matchLabels"] == labels
    service = OBJECTS["Service", whole["spec"]["serviceName"]]["spec"]
    assert service["selector"] == labels
    assert {port["targetPort"] for port in service["ports"]} == set(ports)
    assert all(ports[port["targetPort"]] == port["port"] for port in service["ports"])
    (config,) = [one for one in pod["volumes"] if one["name"] == "settings"]
    assert ("ConfigMap", config["configMap"]["name"]) in OBJECTS
    (secret,) = [one for one in pod["volumes"] if one["name"] == "secrets"]
    assert secret["secret"]["secretName"] == VALUES["secrets"]["name"]


def test_the_worker_serves_its_metrics_where_they_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(VALUES["config"])
    metrics = Settings.load(tmp_path / "c.toml").service.metrics or ""
    (container,) = PODS["night-worker"]["containers"]
    assert container["ports"] == [{"name": "metrics", "containerPort": int(metrics.rpartition(":")[2])}]


def test_only_listed_peers_can_connect_or_be_reached() -> None:
    spec = OBJECTS["NetworkPolicy", "night"]["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert all(rule["from"] for rule in spec["ingress"])
    assert all(rule["to"] for rule in spec["egress"])
    assert spec["egress"][-1]["to"] == VALUES["network"]["stores"]
    labels = PODS and OBJECTS["StatefulSet", "night-worker"]["spec"]["template"]["metadata"]["labels"]
    assert spec["podSelector"]["matchLabels"].items() <= labels.items()


def test_replicas_resources_and_variables_are_the_values() -> None:
    changed = json.loads(json.dumps(VALUES))
    changed["worker"]["replicas"] = 7
    changed["worker"]["resources"] = {"limits": {"memory": "9Gi"}}
    changed["env"]["AWS_ENDPOINT_URL"] = 'http://store/"x"'
    changed["storage"]["className"] = "fast"
    worker = objects(changed)["StatefulSet", "night-worker"]["spec"]
    (container,) = worker["template"]["spec"]["containers"]
    assert (worker["replicas"], container["resources"]) == (7, {"limits": {"memory": "9Gi"}})
    assert {"name": "AWS_ENDPOINT_URL", "value": 'http://store/"x"'} in container["env"]
    assert worker["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "fast"


def test_a_word_that_is_not_known_is_not_passed_over() -> None:
    for template in ("{{ .Values.nothing }}", "{{ .Values.config | upper }}", "{{ if .Values.config }}"):
        with pytest.raises(Unknown):
            rendered(template, {"Values": VALUES})
