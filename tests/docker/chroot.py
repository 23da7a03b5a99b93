"""Runs docker/Dockerfile without a container engine, in a root that debootstrap builds from Debian's packages.

Each instruction that changes files is a layer: an overlay on the layers before it, cached under the hash of its inputs.
A container is the image's root in its own namespaces, without a network, configured like a service of a compose file.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .dockerfile import ROOT, instructions

SUITE = "trixie"  # the Debian release that has the Python version of the Dockerfile
PACKAGES = "ca-certificates,docker-compose,python-is-python3,python3-venv"
NETWORK = ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt")  # this machine's, mounted for each RUN
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "incognote" / "image"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # the PATH that container engines set
KEPT = 3600  # seconds until an unused layer is deleted; each state of the sources takes 700 MB
TOOLS = ("debootstrap", "unshare", "mount", "umount", "chroot", "ip", "apt-get")


def unable() -> str:
    """The reason why this machine cannot run it, or "" if it can."""
    if sys.platform != "linux" or os.geteuid():
        return "only root on Linux can mount and change its root"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if not _mirror():
        return "the package sources of this machine are not Debian's"
    return ""


def _mirror() -> str:
    """The site from which this machine gets Debian's packages."""
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(SITE)", "Created-By: Packages"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.partition(" ")[2] for line in lines if line.startswith("Debian ")]
    return next((site for site in found if "security" not in site), "")


@dataclass(frozen=True)
class Image:
    """The result of a Dockerfile.

    Attributes:
        layers: folders, the topmost first; the last one is Debian's root.
        key: the hash of all inputs of the layers.
    """

    layers: tuple[Path, ...]
    key: str
    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    workdir: str = "/"
    user: str = "0:0"
    volumes: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()

    @contextmanager
    def mounted(self, place: Path, upper: Path) -> Iterator[Path]:
        """Mount the root at a path. Changes go to the folder `upper`."""
        work = upper.with_suffix(".work")
        for folder in (place, upper, work):
            folder.mkdir(parents=True, exist_ok=True)
        options = f"lowerdir={':'.join(map(str, self.layers))},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, place], check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", "--recursive", place], check=True)
            shutil.rmtree(work)

    def layer(self, text: str, fill: Callable[[Path], None]) -> Image:
        """Return this image with one more layer.

        Args:
            text: everything that the layer depends on, besides the image below it.
            fill: writes the layer into an empty folder.
        """
        below = f"{self.key} {sorted(self.env.items())} {self.workdir} {text}"
        key = hashlib.sha256(below.encode()).hexdigest()[:32]
        folder = CACHE / f"layer-{key}"
        if not folder.exists():
            part = CACHE / "layer.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            fill(part)
            part.rename(folder)
        os.utime(folder)
        return replace(self, layers=(folder, *self.layers), key=key)

    def run(self, asked: Sequence[str], env: Mapping[str, str]) -> Image:
        """Return the image after running a command in its root, with this machine's network."""

        def fill(upper: Path) -> None:
            with self.mounted(CACHE / "mounted", upper) as root:
                lent = [root / file for file in NETWORK if Path("/", file).exists()]
                for file in lent:
                    if not file.exists():
                        file.touch()
                    subprocess.run(["mount", "--bind", Path("/") / file.relative_to(root), file], check=True)
                words = [f"{name}={value}" for name, value in {**_index(), **env, **self.env}.items()]
                done = _quietly(["chroot", root, "env", "-i", "-C", self.workdir, *words, *asked])
            assert done.returncode == 0, done.stdout[-2000:]

        return self.layer(f"RUN {sorted(env.items())} {asked}", fill)

    def copy(self, rest: str, stages: Mapping[str, Image]) -> Image:
        """Return the image after a COPY instruction."""
        words = shlex.split(rest)
        flags = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
        *sources, target = [word for word in words if not word.startswith("--")]
        mode = int(flags.get("chmod", "0"), 8)

        def fill(upper: Path) -> None:
            place = upper / os.path.normpath(Path(self.workdir, target)).lstrip("/")
            if "from" in flags:
                with stages[flags["from"]].mounted(CACHE / "mounted", CACHE / "unused") as root:
                    shutil.copytree(root / sources[0].lstrip("/"), place, symlinks=True)
                return
            into = target.endswith(("/", "."))
            for source in sources:
                for file in _context(source):
                    copied = place / file.name if into else place / file.relative_to(ROOT / source)
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, copied)
                    copied.chmod(mode or file.stat().st_mode & 0o755)

        if "from" in flags:
            return self.layer(f"COPY {rest} {stages[flags['from']].key}", fill)
        content = hashlib.sha256()
        for file in (file for source in sources for file in _context(source)):
            content.update(f"{file.relative_to(ROOT)} {file.stat().st_mode} {file.stat().st_size} ".encode())
            content.update(file.read_bytes())
        return self.layer(f"COPY {rest} {content.hexdigest()}", fill)


def debian() -> Image:
    """Debian's root with Python and the packages that the tests need, built once."""
    key = hashlib.sha256(f"{SUITE} {PACKAGES} {platform.machine()}".encode()).hexdigest()[:16]
    base = CACHE / f"debian-{key}"
    if not base.exists():
        part = CACHE / "debian.part"
        shutil.rmtree(part, ignore_errors=True)
        done = _quietly(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, part, _mirror()])
        assert done.returncode == 0, done.stdout[-2000:]
        shutil.rmtree(part / "var" / "cache" / "apt")
        part.rename(base)
    return Image((base,), key)


def built() -> Image:
    """Build the image of the Dockerfile's last stage."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds; the others reuse its layers
        stages: dict[str, Image] = {}
        stage, image, arguments = "", debian(), dict[str, str]()
        for name, rest in instructions():
            if name == "FROM":
                stage, image, arguments = rest.partition(" AS ")[2], debian(), {}
            else:
                image = _after(image, name, rest, arguments, stages)
            stages[stage] = image
        for layer in CACHE.glob("layer-*"):
            if time.time() - layer.stat().st_mtime > KEPT:
                shutil.rmtree(layer)
    return image


def _after(image: Image, name: str, rest: str, arguments: dict[str, str], stages: Mapping[str, Image]) -> Image:
    """Return an image after any instruction except FROM. ARG adds to `arguments`."""
    match name:
        case "RUN":
            return image.run(["/bin/sh", "-c", rest], arguments)
        case "COPY":
            return image.copy(rest, stages)
        case "WORKDIR":
            made = replace(image, workdir=rest)
            return made.layer(name, lambda upper: (upper / rest.lstrip("/")).mkdir(parents=True))
        case "ENV":
            pairs = dict(word.partition("=")[::2] for word in shlex.split(rest))
            return replace(image, env=image.env | {k: v.replace("$PATH", image.env["PATH"]) for k, v in pairs.items()})
        case "ARG":
            arguments.update([rest.partition("=")[::2]])
        case "USER":
            return replace(image, user=rest)
        case "VOLUME":
            return replace(image, volumes=(*image.volumes, rest))
        case "ENTRYPOINT":
            return replace(image, entrypoint=tuple(json.loads(rest)))
        case "CMD":
            return replace(image, cmd=tuple(json.loads(rest)))
        case _:
            assert name in ("LABEL", "STOPSIGNAL"), f"this cannot carry out {name}"
    return image


_START = """
set -eu
root=$1; shift
ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
while [ "$1" != -- ]; do
  case $1 in
    tmpfs) mount -t tmpfs -o "$3" tmpfs "$root$2" ;;
    *) mount --bind "$3" "$root$2"; mount -o "remount,bind,$1" "$root$2" ;;
  esac
  shift 3
done
shift
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv "$@"
"""
_NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child")


@contextmanager
def container(
    image: Image, service: Mapping[str, Any], folder: Path, secrets: Mapping[str, Path]
) -> Iterator[list[str]]:
    """Return the start of a command line that runs a command in the container of a compose service.

    The root is read-only, user and limits are those of the image and the service, and the only network is the loopback.

    Args:
        folder: holds the volumes, one folder for each, by name.
        secrets: their files.
    """
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    mounts = [("tmpfs", *line.split(":", 1)) for line in service["tmpfs"]]
    for line in service["volumes"]:
        source, target, *mode = line.split(":")
        (folder / source).mkdir(parents=True, exist_ok=True)
        if target in image.volumes:  # like an engine: a new volume gets the owner of the image's folder
            shutil.chown(folder / source, *map(int, image.user.split(":")))
        mounts.append((*(mode or ["rw"]), target, str(folder / source)))
    mounts += [("ro", f"/run/secrets/{name}", str(secrets[name])) for name in service["secrets"]]
    user, group = service.get("user", image.user).split(":")
    rights = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--clear-groups"]
    words = [f"{name}={value}" for name, value in {**image.env, **service["environment"]}.items()]
    with image.mounted(folder / "root", folder / "upper") as root:
        for _, target, source in mounts:
            if Path(source).is_file():
                (root / target[1:]).parent.mkdir(parents=True, exist_ok=True)
                (root / target[1:]).touch()
            else:
                (root / target[1:]).mkdir(parents=True, exist_ok=True)
        yield [
            "unshare", *_NAMESPACES, "sh", "-c", _START, "sh", str(root), *(word for each in mounts for word in each),
            "--", f"--reuid={user}", f"--regid={group}", *rights, "env", "-i", "-C", image.workdir, *words,
        ]  # fmt: skip


def _quietly(asked: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def _index() -> dict[str, str]:
    """The package index and the proxy that pip uses on this machine."""
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    pairs = re.findall(r"^(?:global|install|:env:)\.(index-url|extra-index-url|proxy)='(.*)'$", done.stdout, re.M)
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {f"PIP_{name.upper().replace('-', '_')}": value for name, value in pairs} | proxies


def _context(source: str) -> list[Path]:
    """The files of a source, except those that Dockerfile.dockerignore excludes from the context."""
    path = ROOT / source
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return [file for file in files if "__pycache__" not in file.parts and file.suffix != ".pyc"]
