"""Decode compressed frames in a process of its own: a frame can make a decoder fail, or take all memory.

pydicom chooses and calls the decoders. HTJ2K, for which it needs one more package, is decoded by OpenJPEG itself.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

SECONDS = 60
MOST_MEMORY = 6 * 2**30  # bytes of address space of the process
_COMMAND = (sys.executable, "-P", "-c", "from incognote.formats.dicom.decoding import main; main()")
_HTJ2K = ("1.2.840.10008.1.2.4.201", "1.2.840.10008.1.2.4.202", "1.2.840.10008.1.2.4.203")
_ORDER = ("pyjpegls", "pydicom", "pillow", "gdcm")  # of decoders, the likeliest to be right first
_TURN = Lock()
_running: dict[int, subprocess.Popen[bytes]] = {}


def decoded(syntax: str, about: dict[str, Any], frame: bytes) -> NDArray[Any]:
    """Return a decoded frame, of shape (rows, columns) or (rows, columns, samples). Colors are red, green, and blue.

    Args:
        syntax: the unique identifier of its transfer syntax.
        about: the arguments of a pydicom decoder for the attributes of the image.

    Raises:
        MalformedRecord: it is damaged. MissingExtra: no decoder is installed. UnsupportedFormat: none can decode it.
    """
    import numpy

    with _TURN:
        process = _process()
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018 -- both are pipes
        timer = Timer(SECONDS, process.kill)
        timer.start()
        answer: dict[str, Any] = {"problem": "died"}
        data, whole = b"", False
        try:
            with suppress(OSError, ValueError):  # the process died
                head = json.dumps({"syntax": syntax, "about": about, "size": len(frame)}).encode()
                process.stdin.write(head + b"\n")
                process.stdin.write(frame)
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                data = process.stdout.read(answer["size"])
                whole = len(data) == answer["size"]
        finally:
            timer.cancel()
            if not whole:  # the rest of this answer must not become the answer for another frame
                _end(process)
    problem = answer.get("problem")
    if problem == "missing":
        raise MissingExtra("dicom", f"decoding the transfer syntax {syntax}")
    if problem == "unsupported":
        remedy = f"a frame of the transfer syntax {syntax} that no decoder reads. Decompress the instance"
        raise UnsupportedFormat(remedy, field="PixelData")
    if problem or not whole:
        raise MalformedRecord("a compressed frame is damaged", field="PixelData")
    found: NDArray[Any] = numpy.frombuffer(data, answer["type"]).reshape(answer["shape"])
    return found


def _process() -> subprocess.Popen[bytes]:
    """Return the decoding process of this process. It ends when this one ends."""
    own = os.getpid()
    found = _running.get(own)
    if found is None or found.poll() is not None:
        _running.clear()  # of the process that this one was forked from
        found = _running[own] = subprocess.Popen(  # noqa: S603 -- this interpreter, with a constant program
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")},
        )  # fmt: skip
        atexit.register(_end, found)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def main() -> None:
    """Decode the frames on standard input: a line of JSON and the bytes of a frame each. Write them in the same way."""
    with suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print on standard output
    warnings.simplefilter("ignore")
    while line := source.readline():
        asked = json.loads(line)
        _answer(out, asked, source.read(asked["size"]))


def _answer(out: BinaryIO, asked: dict[str, Any], frame: bytes) -> None:
    import numpy

    data = b""
    answer: dict[str, Any]
    try:
        found = numpy.ascontiguousarray(_decoded(asked["syntax"], asked["about"], frame))
        data, answer = found.tobytes(), {"type": found.dtype.str, "shape": found.shape}
    except _Undecoded as problem:
        answer = {"problem": str(problem)}
    except Exception:  # a decoder may raise anything
        answer = {"problem": "damaged"}
    out.write(json.dumps({**answer, "size": len(data)}).encode() + b"\n")
    out.write(data)
    out.flush()


class _Undecoded(Exception):
    """No decoder takes a frame: `missing` or `unsupported`."""


def _decoded(syntax: str, about: dict[str, Any], frame: bytes) -> NDArray[Any]:
    from pydicom.encaps import encapsulate
    from pydicom.pixels.decoders.base import get_decoder
    from pydicom.uid import UID

    if syntax in _HTJ2K:
        return _of_openjpeg(about, frame)
    try:
        decoder = get_decoder(UID(syntax))
    except NotImplementedError:
        raise _Undecoded("unsupported") from None
    plugins = [name for name in _ORDER if name in decoder.available_plugins]
    if not plugins:
        raise _Undecoded("missing")
    buffer = encapsulate([frame])
    for name in plugins:
        try:
            return decoder.as_array(buffer, index=0, decoding_plugin=name, **about)[0]
        except Exception:  # noqa: S112 -- the next decoder may take it
            continue
    raise _Undecoded("damaged" if about["bits_stored"] <= 8 or "pillow" not in plugins else "unsupported")


def _of_openjpeg(about: dict[str, Any], frame: bytes) -> NDArray[Any]:
    try:
        from openjpeg.utils import decode
    except ImportError:
        raise _Undecoded("missing") from None
    found: NDArray[Any] = decode(frame, j2k_format=0)
    return found
