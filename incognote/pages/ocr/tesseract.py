"""The program Tesseract as an OCR engine. It reads images from its standard input; nothing is written to a file."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from incognote.errors import RecordProblem, SettingError
from incognote.pages.nouns import Word
from incognote.pages.ocr.base import Mode

if TYPE_CHECKING:
    from incognote.pages.ocr.base import Image

DATA: MutableMapping[str, str] = {"ar": "ara", "de": "deu", "en": "eng", "es": "spa", "fr": "fra"}
"""Tesseract's name of the data of a language, by ISO 639-1 code. The package of a language may add its own."""
MEMORY = 3 * 2**30
"""Address space of the program, in bytes, beside 40 bytes per pixel of the image."""
SIDE = 32_000
"""The longest side of an image that the program reads, in pixels."""

_SEGMENTATION: dict[Mode, str] = {"page": "3", "sparse": "11", "line": "7", "block": "6"}
_PASSED_ON = ("PATH", "TESSDATA_PREFIX", "SYSTEMROOT")
_WORD = "5"  # the level of words in Tesseract's table


class Tesseract:
    """Tesseract 5, one thread for each page.

    Args:
        program: its path or name.
        seconds: the processor time for one image, beside 1 s per million pixels. The program may take ten times as
            long if it has to wait.
    """

    name = "tesseract"

    def __init__(self, program: str = "tesseract", seconds: float = 20) -> None:
        self._program, self._seconds = program, seconds

    def read(self, image: Image, languages: Sequence[str], mode: Mode) -> list[Word]:
        """See `OcrEngine.read`."""
        height, width = image.shape[:2]
        if not height or not width:
            return []
        if max(height, width) > SIDE:
            raise RecordProblem(f"the page has a side of more than {SIDE} pixels: reduce its resolution")
        path, installed = _installed(self._program)
        data = "+".join(_data(languages, installed))
        options = ["--oem", "1", "--psm", _SEGMENTATION[mode], "--dpi", "300", "-l", data]
        table = self._run([path, "-", "-", *options, "tsv"], _pnm(image), height * width)
        return _words(table, width, height)

    def _run(self, command: list[str], data: bytes, pixels: int) -> str:
        """Return what the program prints.

        Raises:
            RecordProblem: it failed or took too long.
        """
        limit = math.ceil(self._seconds + 1e-6 * pixels)
        with subprocess.Popen(  # noqa: S603 -- the program of the settings, with constant arguments
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        ) as process:
            _bound(process.pid, MEMORY + 40 * pixels, limit)
            try:
                table, _ = process.communicate(data, timeout=10 * limit)
            except subprocess.TimeoutExpired:
                process.kill()
                raise RecordProblem(
                    f"Tesseract did not read the page within {10 * limit} s: reduce its resolution"
                ) from None
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise RecordProblem(
                f"Tesseract failed on the page (exit status {process.returncode}), or was stopped after {limit} s: "
                "reduce its resolution"
            )
        return table.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return kept | {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C"}


def _bound(process: int, size: int, seconds: int) -> None:
    """Limit the address space and the processor time of a process, where the system can."""
    try:
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (size, size))
        resource.prlimit(process, resource.RLIMIT_CPU, (seconds, seconds))
    except (ImportError, AttributeError, ProcessLookupError):  # not Linux, or the process has already ended
        pass


@lru_cache(maxsize=8)
def _installed(program: str) -> tuple[str, frozenset[str]]:
    """Return the path of Tesseract and the languages whose data it has.

    Raises:
        SettingError: it is not installed, or does not run.
    """
    path = shutil.which(program)
    if path is None:
        raise SettingError(
            f"reading pages needs the program {program}, which is not on the PATH: install Tesseract 5 (Debian: "
            "apt-get install tesseract-ocr)"
        )
    try:
        done = subprocess.run(  # noqa: S603 -- the program of the settings, with constant arguments
            [path, "--list-langs"], capture_output=True, timeout=60, check=True, env=_environment()
        )
    except (OSError, subprocess.SubprocessError):
        raise SettingError(f"the program {program} does not run: install Tesseract 5 again") from None
    return path, frozenset(done.stdout.decode("utf-8", "replace").split("\n")[1:])


def _data(languages: Sequence[str], installed: frozenset[str]) -> list[str]:
    """Return Tesseract's names of languages, English if there are none.

    Raises:
        SettingError: Tesseract has no data for one of them.
    """
    names = []
    for language in languages or ("en",):
        name = DATA.get(language.split("-")[0].lower())
        if name is None:
            raise SettingError(
                f"no OCR data is named for the language {language!r}: add it to incognote.pages.ocr.tesseract.DATA"
            )
        if name not in installed:
            raise SettingError(
                f"Tesseract has no data for the language {language!r}: install {name}.traineddata (Debian: apt-get "
                f"install tesseract-ocr-{name})"
            )
        if name not in names:
            names.append(name)
    return names


def _pnm(image: Image) -> bytes:
    """Return an image in the format PNM."""
    height, width = image.shape[:2]
    return b"P%d %d %d 255\n" % (5 if image.ndim == 2 else 6, width, height) + image.tobytes()


def _words(table: str, width: int, height: int) -> list[Word]:
    """Return the words of Tesseract's table, with boxes cut to the image."""
    words: list[Word] = []
    lines: dict[tuple[str, ...], int] = {}
    for row in table.splitlines():
        cells = row.split("\t", 11)
        if len(cells) < 12 or cells[0] != _WORD or not (text := cells[11].strip()):
            continue
        left, top, across, down = map(int, cells[6:10])
        box = (max(left, 0), max(top, 0), min(left + across, width), min(top + down, height))
        if box[0] < box[2] and box[1] < box[3]:
            line = lines.setdefault(tuple(cells[1:5]), len(lines))
            words.append(Word(text, box, min(max(float(cells[10]) / 100, 0.0), 1.0), line))
    return words
