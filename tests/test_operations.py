"""The commands of the operators' pages, run exactly as written on a service with released and held records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("/var/lib/incognote", "/etc/incognote", "/srv/backup", "/mnt/safe", "/srv/notes")


class Host:
    """A machine whose paths are in a test folder.

    Args:
        folder: an empty folder.
        database: for the ledger and the service.
    """

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database = folder, database
        for place in ("var/lib/incognote", "etc/incognote", "mnt/safe", "srv"):
            (folder / place).mkdir(parents=True, mode=0o700)
        shutil.copytree(ROOT / "examples" / "bad-day" / "source", folder / "srv" / "notes" / "source")
        (folder / "srv" / "notes" / "source" / "scan.ps").write_bytes(b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n")
        settings = f'key_file = "{self.home}/master.key"\ndetectors = ["rules"]\n[service]\ndatabase = "{database}"\n'
        settings += "sentinels = 0\nrest_seconds = 0\npoll_seconds = 0.05\n"
        (folder / "etc" / "incognote" / "incognote.toml").write_text(settings)
        self.bash("incognote key new /var/lib/incognote/master.key")

    @property
    def home(self) -> Path:
        """The folder with the service's own files."""
        return self.folder / "var" / "lib" / "incognote"

    def bash(self, script: str) -> str:
        """Return a script's output. Each command must succeed or hold a record (exit code 3)."""
        for place in PLACES:
            script = script.replace(place, f"{self.folder}{place}")
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "INCOGNOTE_HOME": str(self.home),
            "INCOGNOTE_CONFIG": str(self.folder / "etc" / "incognote" / "incognote.toml"),
            "INCOGNOTE_LEDGER": self.database,
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f'incognote() {{ command incognote "$@" || test $? = 3; }}\n{script}'],
            capture_output=True, text=True, cwd=self.folder, env=environment, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def work(self, release: str) -> None:
        """Run a worker until the source is empty. It holds the scan."""
        self.bash(
            "incognote worker /srv/notes/source --destination /srv/notes/destination --once "
            f"--quarantine /var/lib/incognote/quarantine --release {release}"
        )

    def outputs(self) -> list[str]:
        """The names of all released shards."""
        return sorted(path.name for path in (self.folder / "srv" / "notes" / "destination").rglob("*.jsonl"))


def commands(page: str, *, postgresql: bool = False) -> str:
    """The commands of a page, in order."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    title = '( title="PostgreSQL")?' if postgresql else "()"
    blocks = re.findall(rf"^( *)```bash{title}\n(.*?)^\1```", text, re.S | re.M)
    assert blocks
    return "".join(dedent(block) for *_, block in blocks)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with SQLite, a release, and an opt-out."""
    return served(tmp_path, f"sqlite:///{tmp_path}/host/var/lib/incognote/service.db")


def served(folder: Path, database: str) -> Host:
    """A host with a release, a held record, and an opt-out."""
    made = Host(folder / "host", database)
    made.work("march")
    made.bash('incognote optout add --patient-file <(echo "Ada Lovelace") --by "Ada Officer"')
    return made


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_that_is_restored_continues_the_release_and_opens_what_was_held(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = kind == "postgresql"
    if server:
        request.getfixturevalue("postgres").empty()
        host = served(tmp_path, request.getfixturevalue("postgres").url)
    else:
        host = request.getfixturevalue("host")
    before, _, after = commands("backup.md", postgresql=server).partition("sha256sum --check")
    host.bash(before)
    outputs = host.outputs()
    assert "master.key" not in host.bash("tar --list --file /srv/backup/state.tar")
    shutil.rmtree(host.home)
    shutil.rmtree(host.folder / "etc" / "incognote")
    if server:
        request.getfixturevalue("postgres").empty()
    shown = host.bash(f"sha256sum --check{after}")
    assert "The log is intact." in shown
    assert "scan.ps" in shown
    assert re.search(r"^march .*\b3\b", shown, re.M)
    host.work("march")
    assert outputs == host.outputs()


def test_an_upgrade_makes_a_new_release_and_a_new_key_alone_opens_what_was_held(host: Host) -> None:
    outputs = host.outputs()
    host.bash(commands("upgrade.md"))
    assert set(outputs) < set(host.outputs())
    shown = host.bash(commands("key-rotation.md"))
    assert "The log is intact." in shown
    assert "scan.ps" in shown
    with pytest.raises(AssertionError, match="made under key"):
        host.bash("incognote optout list --key-file /mnt/safe/former.key")
