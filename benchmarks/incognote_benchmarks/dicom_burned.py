"""Synthetic DICOM instances with text burned into their pixels, and the box of each word.

Eight modalities, gray and RGB, single and several frames, compressed syntaxes, inverted, low contrast, and text over
anatomy-like textures. The same seed gives the same pixels. The names are those of `dicom_studies`: they are invented.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from pydicom import Dataset
from pydicom.uid import (
    JPEG2000,
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from incognote_benchmarks.dicom_encoded import filed
from incognote_benchmarks.dicom_studies import FAMILY, GIVEN

Array = NDArray[Any]
Kind = Literal["identifier", "technical"]
MODALITIES = {  # SOP class, rows, columns, samples, bits, frames
    "CT": ("1.2.840.10008.5.1.4.1.1.2", 512, 512, 1, 12, 1),
    "MR": ("1.2.840.10008.5.1.4.1.1.4", 384, 384, 1, 12, 1),
    "US": ("1.2.840.10008.5.1.4.1.1.3.1", 480, 640, 3, 8, 12),
    "DX": ("1.2.840.10008.5.1.4.1.1.1.1", 1200, 1000, 1, 14, 1),
    "MG": ("1.2.840.10008.5.1.4.1.1.1.2", 1400, 1100, 1, 12, 1),
    "XA": ("1.2.840.10008.5.1.4.1.1.12.1", 512, 512, 1, 8, 16),
    "NM": ("1.2.840.10008.5.1.4.1.1.20", 512, 512, 1, 16, 1),
    "SC": ("1.2.840.10008.5.1.4.1.1.7", 600, 800, 3, 8, 1),
}
GRAY_SYNTAXES = (
    ExplicitVRLittleEndian, JPEGLosslessSV1, RLELossless, ImplicitVRLittleEndian, JPEGLSLossless, JPEG2000Lossless,
    DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian,
)  # fmt: skip
COLOR_SYNTAXES = (ExplicitVRLittleEndian, JPEGBaseline8Bit, RLELossless, ImplicitVRLittleEndian, JPEG2000)
FONTS = ("DejaVuSans.ttf", "DejaVuSansMono.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Regular.ttf",
         "LiberationMono-Regular.ttf", "LiberationSansNarrow-Regular.ttf")  # fmt: skip
HERSHEY = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_PLAIN)
STYLES = ("bright", "bright", "bright", "outlined", "low contrast", "dark", "boxed", "over anatomy")
TECHNICAL = {
    "CT": ("kVp 120", "mA 240", "ST 1.25 mm", "W 400 L 40", "AX", "CHEST", "Zoom 100 %", "L", "R"),
    "MR": ("TR 2000 TE 85", "ST 3.0 mm", "FOV 240", "W 900 L 450", "T2 FLAIR", "SAG", "A", "P"),
    "US": ("FR 32 Hz", "Depth 15 cm", "Gain 54 dB", "MI 1.2", "TIs 0.4", "2D 62 %", "ABD", "LIVER"),
    "DX": ("PA", "ERECT", "kVp 110", "R", "CHEST", "2.5 mAs"),
    "MG": ("R MLO", "28 kV", "63 mAs", "Mo Rh", "45"),
    "XA": ("LAO 30", "CRAN 15", "15 fps", "FD 20 cm", "78 kV"),
    "NM": ("ANT", "POST", "WHOLE BODY", "256 x 1024"),
    "SC": ("ZOOM 1.5", "Depth 4 cm", "RIGHT", "LEFT KIDNEY", "Dist 2.4 cm"),
}


@dataclass(frozen=True, slots=True)
class BurnedText:
    """A line of text in the pixels.

    Args:
        text: an identifier without its label, such as `DOB:`.
        box: left, top, right, and bottom of its ink; right and bottom are exclusive.
        frame: the only frame that has it, from 0, or None for all.
    """

    text: str
    kind: Kind
    box: tuple[int, int, int, int]
    style: str
    frame: int | None = None


@dataclass(frozen=True, slots=True)
class BurnedInstance:
    """An instance and the texts in its pixels.

    Args:
        name: with its modality and transfer syntax. frames: the number of its frames.
    """

    name: str
    modality: str
    syntax: str
    frames: int
    data: bytes = field(repr=False)
    texts: tuple[BurnedText, ...] = field(repr=False)


def burned(count: int, seed: int = 23) -> Iterator[BurnedInstance]:
    """Yield instances of all modalities in turn."""
    for at in range(count):
        rng = random.Random(f"{seed} {at}")  # noqa: S311 -- the same pixels each time
        yield _instance(rng, at)


def _instance(rng: random.Random, at: int) -> BurnedInstance:
    modality = list(MODALITIES)[at % len(MODALITIES)]
    sop_class, rows, columns, samples, bits, frames = MODALITIES[modality]
    turn = at // len(MODALITIES)
    syntaxes = COLOR_SYNTAXES if samples == 3 else GRAY_SYNTAXES
    syntax = syntaxes[(turn + list(MODALITIES).index(modality)) % len(syntaxes)]
    scene = _Scene(rng, modality, rows, columns, samples, frames)
    made = _header(rng, modality, at, sop_class)
    scene.write(made)
    stored = scene.stored(bits, inverted=samples == 1 and turn % 3 == 2)
    if samples == 1 and turn % 3 == 2:
        made.PhotometricInterpretation = "MONOCHROME1"
    elif samples == 1:
        made.PhotometricInterpretation = "MONOCHROME2"
    return BurnedInstance(
        f"{at:03d}-{modality}-{syntax.name.split(',')[0].replace(' ', '')}.dcm", modality, str(syntax.name), frames,
        filed(made, stored, samples, bits, syntax), tuple(scene.texts),
    )  # fmt: skip


def _header(rng: random.Random, modality: str, at: int, sop_class: str) -> Dataset:
    made = Dataset()
    made.SOPClassUID, made.Modality = UID(sop_class), "OT" if modality == "SC" else modality
    root = f"1.2.826.0.1.3680043.10.9999.7.{at + 1}"
    made.SOPInstanceUID, made.StudyInstanceUID, made.SeriesInstanceUID = (UID(f"{root}.{each}") for each in (1, 2, 3))
    born = date(1935, 1, 1) + timedelta(rng.randrange(25_000))
    taken = date(2024, 1, 1) + timedelta(rng.randrange(350))
    made.PatientName = f"{rng.choice(FAMILY)}^{rng.choice(GIVEN)}"
    made.PatientID, made.AccessionNumber = f"{rng.randrange(10**6, 10**8)}", f"A{rng.randrange(10**6, 10**7)}"
    made.PatientBirthDate, made.PatientSex = f"{born:%Y%m%d}", rng.choice("FM")
    made.StudyDate, made.StudyTime = f"{taken:%Y%m%d}", f"{rng.randrange(7, 19):02d}{rng.randrange(60):02d}12"
    made.InstitutionName = f"{rng.choice(FAMILY)} {rng.choice(('Memorial Hospital', 'Clinic', 'Medical Center'))}"
    made.ReferringPhysicianName = f"{rng.choice(FAMILY)}^{rng.choice(GIVEN)}"
    made.PatientAge, made.StudyID, made.SeriesNumber, made.InstanceNumber = "061Y", "1", 1, 1
    made.BurnedInAnnotation, made.Manufacturer = "NO", "GE MEDICAL SYSTEMS"
    return made


class _Scene:
    """The pixels of an instance as displayed, from 0 to 255, and the texts in them."""

    def __init__(
        self, rng: random.Random, modality: str, rows: int, columns: int, samples: int, frames: int
    ) -> None:
        self.rng, self.modality, self.samples = rng, modality, samples
        self.noise = np.random.default_rng(rng.randrange(2**32))
        soft = _clouds(self.noise, rows, columns)
        self.frames = [background(self.noise, modality, soft, at / frames) for at in range(frames)]
        self.high, self.wide = rows, columns
        self.texts: list[BurnedText] = []
        size = rng.choice((11, 12, 14, 16, 18, 20)) if rows < 1000 else rng.choice((20, 26, 32))
        self.size, self.font = size, rng.choice((*FONTS, *HERSHEY))
        self.style = rng.choice(STYLES)
        self.level = {"low contrast": rng.uniform(28, 45)}.get(self.style, rng.choice((255, 255, 220, 200)))
        self.color = rng.choice(((255, 255, 255), (255, 255, 0), (0, 255, 0), (0, 255, 255), (255, 200, 120)))

    def write(self, made: Dataset) -> None:
        """Burn in the lines of a header and of technical settings."""
        lines = self._identifiers(made)
        self.rng.shuffle(lines)
        half = len(lines) // 2
        settings = list(TECHNICAL[self.modality])
        self.rng.shuffle(settings)
        corners = [lines[:half], lines[half:], [("", each) for each in settings[:3]],
                   [("", each) for each in settings[3:6]]]  # fmt: skip
        for corner, each in enumerate(corners):
            self._corner(corner, "identifier" if corner < 2 else "technical", each)
        if len(self.frames) > 1 and self.rng.random() < 0.5:
            name = " ".join(reversed(str(made.PatientName).split("^")))
            self._place("", name, "identifier", self.wide // 3, self.high // 2, self.rng.randrange(len(self.frames)))

    def _identifiers(self, made: Dataset) -> list[tuple[str, str]]:
        """Return the lines of a header: a label and a value each."""
        rng = self.rng
        family, given = str(made.PatientName).split("^")
        doctor = str(made.ReferringPhysicianName).split("^")
        born, taken = (date.fromisoformat(str(each)) for each in (made.PatientBirthDate, made.StudyDate))
        styles = ("%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d", "%d %b %Y")
        name = rng.choice((("", f"{family.upper()} {given.upper()}"), ("", f"{family}^{given}"),
                           ("", f"{given} {family}"), ("", f"{family}, {given}"), ("Name: ", f"{family} {given[0]}.")))
        lines = [name, (rng.choice(("", "ID: ", "MRN ", "PID ")), str(made.PatientID)),
                 (rng.choice(("", "DOB: ", "* ")), born.strftime(rng.choice(styles))),
                 ("", taken.strftime(rng.choice(styles)) + rng.choice(("", " 10:22:31")))]
        more = [("", str(made.InstitutionName)), ("Acc ", str(made.AccessionNumber)),
                ("Dr. ", f"{doctor[1]} {doctor[0]}"), ("Ref: ", doctor[0].upper()),
                ("Tech: ", rng.choice(FAMILY))]  # fmt: skip
        return lines + rng.sample(more, rng.randrange(1, 4))

    def _corner(self, corner: int, kind: Kind, lines: Sequence[tuple[str, str]]) -> None:
        step, margin = round(self.size * 1.45), 6
        block = step * len(lines)
        top = margin if corner < 2 else self.high - margin - block
        shift = 0
        if self.style == "over anatomy" and corner < 2:
            top, shift = self.high // 4 + corner * (self.high // 3), self.wide // 5
        for at, (label, text) in enumerate(lines):
            wide = self._mask(label + text).shape[1]
            left = margin + shift if corner % 2 == 0 or shift else self.wide - margin - wide
            self._place(label, text, kind, max(2, min(left, self.wide - wide - 2)), top + at * step)

    def _mask(self, text: str) -> Array:
        """Return the ink of a text, from 0 to 1, without margins."""
        if isinstance(self.font, int):
            scale = cv2.getFontScaleFromHeight(self.font, max(7, round(self.size * 0.75)), 1)
            (wide, high), base = cv2.getTextSize(text, self.font, scale, 1)
            mask = np.zeros((high + base + 8, wide + 8), np.uint8)
            cv2.putText(mask, text, (4, high + 4), self.font, scale, 255, 1, cv2.LINE_8)
        else:
            font = _font(self.font, self.size)
            image = Image.new("L", (self.size * len(text) + 20, 2 * self.size + 10))
            draw = ImageDraw.Draw(image)
            draw.fontmode = "1" if self.size < 13 else "L"
            draw.text((5, 5), text, font=font, fill=255)
            mask = np.array(image)
        rows, columns = np.flatnonzero(mask.max(1)), np.flatnonzero(mask.max(0))
        return mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] / 255.0

    def _place(self, label: str, text: str, kind: Kind, left: int, top: int, frame: int | None = None) -> None:
        mask = self._mask(label + text)
        mask = mask[: self.high - top, : self.wide - left]
        high, wide = mask.shape
        box = (left + max(0, wide - self._mask(text).shape[1]), top, left + wide, top + high)
        at = np.s_[top : top + high, left : left + wide]
        around = np.s_[max(0, top - 2) : top + high + 2, max(0, left - 2) : left + wide + 2]
        ground = self.frames[frame or 0][at].mean()
        level: float = self.level
        if self.style == "low contrast":
            level = ground + self.level if ground < 180 else ground - self.level
        elif self.style == "dark":
            level = 0
        for number, picture in enumerate(self.frames):
            if frame is not None and number != frame:
                continue
            if self.style == "boxed":
                picture[around] = 0
            elif self.style == "dark":
                picture[around] = np.maximum(picture[around], 130)
            elif self.style == "outlined":
                shade = np.pad(mask, 1)
                shade = cv2.dilate(shade, np.ones((3, 3)))[: self.high - top + 1, : self.wide - left + 1]
                y, x = max(0, top - 1), max(0, left - 1)
                part = picture[y : y + shade.shape[0], x : x + shade.shape[1]]
                shade = shade[: part.shape[0], : part.shape[1]]
                part *= 1 - np.asarray(shade[..., None] if part.ndim == 3 else shade, np.float32)
            ink = mask[..., None] if picture.ndim == 3 else mask
            color = np.array(self.color) * (level / 255) if picture.ndim == 3 and level else level
            picture[at] = picture[at] * (1 - ink) + color * ink
        self.texts.append(BurnedText(text, kind, box, self.style, frame))

    def stored(self, bits: int, *, inverted: bool) -> list[Array]:
        """Return the frames in values of a number of bits."""
        most = 2**bits - 1
        kind = np.uint8 if bits <= 8 else np.uint16
        found = []
        for frame in self.frames:
            values = np.clip(frame, 0, 255) / 255 * most
            found.append(np.round(most - values if inverted else values).astype(kind))
        return found


@lru_cache
def _font(name: str, size: int) -> Any:
    return ImageFont.truetype(name, size)


def background(noise: np.random.Generator, modality: str, soft: Array, phase: float = 0.0) -> Array:
    """Return a picture that looks like one of a modality, from 0 to 255, without text.

    Args:
        soft: its smooth structures, from 0 to 1. phase: of a moving structure, from 0 to 1.
    """
    rows, columns = soft.shape
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    cy, cx = rows / 2, columns / 2
    turn = 2 * np.pi * phase
    if modality in ("US", "SC"):
        return _colored(noise, modality, soft, turn)
    if modality == "NM":
        body = np.exp(-(((x - cx) / (columns * 0.14)) ** 2 + ((y - cy) / (rows * 0.36)) ** 2) ** 2)
        return np.asarray(np.clip(noise.poisson(body * (20 + 60 * soft) + 0.4) * 2.2, 0, 255), np.float32)
    if modality == "MG":
        body = ((x / (columns * 0.75)) ** 2 + ((y - cy) / (rows * 0.42)) ** 2 < 1).astype(np.float32)
        found = cv2.GaussianBlur(body, (0, 0), 8) * (70 + 150 * soft**2)
    elif modality == "DX":
        ribs = 30 * np.sin(y / rows * 44 + ((x - cx) / columns * 5) ** 2) * (np.abs(x - cx) > columns * 0.08)
        found = 70 + 110 * soft + ribs - 40 * (np.abs(x - cx) / columns * 2) ** 2
        found *= cv2.GaussianBlur((np.abs(x - cx) < columns * 0.44).astype(np.float32), (0, 0), 12)
    elif modality == "XA":
        found = 150 + 50 * soft
        for each in range(5):
            path = cx + columns * 0.3 * np.sin(y / rows * 4 + each + 0.3 * np.sin(turn)) + (each - 2) * 30
            found -= 70 * np.exp(-(((x - path) / (2 + each)) ** 2))
    else:
        inside = ((x - cx) / (columns * 0.42)) ** 2 + ((y - cy) / (rows * 0.34)) ** 2
        found = np.where(inside < 1, 90 + 80 * (soft - 0.5), 4).astype(np.float32)
        found += 110 * np.exp(-((inside - 0.97) ** 2) * 900)
        for each in range(7):
            py, px = cy + rows * 0.2 * np.sin(each * 2.1), cx + columns * 0.25 * np.cos(each * 1.7)
            found += (-60 if each % 2 else 70) * np.exp(-(((x - px) / 34) ** 2 + ((y - py) / 22) ** 2) ** 3)
    grain = {"CT": 9, "MR": 7, "DX": 4, "MG": 5, "XA": 6}[modality]
    return np.asarray(np.clip(found + noise.normal(0, grain, (rows, columns)), 0, 255), np.float32)


def _colored(noise: np.random.Generator, modality: str, soft: Array, turn: float) -> Array:
    rows, columns = soft.shape
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    if modality == "US":
        far = np.hypot(x - columns / 2, y - 30)
        angle = np.abs(np.arctan2(x - columns / 2, y - 30))
        sector = (far > 40) & (far < rows * 0.85) & (angle < 0.75)
        speckle = noise.rayleigh(0.6, (rows, columns)).astype(np.float32)
        wall = np.exp(-(((far - rows * (0.45 + 0.04 * np.sin(turn))) / 9) ** 2))
        gray = np.where(sector, (40 + 110 * soft + 90 * wall) * cv2.GaussianBlur(speckle, (0, 0), 1.1), 0)
        found = np.repeat(gray[..., None], 3, axis=2)
        flow = ((x - columns * 0.5) / 40) ** 2 + ((y - rows * 0.6) / 26) ** 2 < 1
        found[flow & sector] = found[flow & sector] * 0.3 + np.array((200, 40, 20)) * soft[flow & sector][:, None]
    else:
        found = np.stack((110 + 110 * soft, 40 + 80 * soft, 35 + 60 * soft), axis=2)
        found *= (np.hypot(x - columns / 2, y - rows / 2) < rows * 0.46)[..., None]
        found += noise.normal(0, 4, (rows, columns, 1))
    return np.asarray(np.clip(found, 0, 255), np.float32)


def _clouds(noise: np.random.Generator, rows: int, columns: int) -> Array:
    """Return smooth structures of many sizes, from 0 to 1."""
    total = np.zeros((rows, columns), np.float32)
    for size in (4, 9, 20, 45, 90):
        part = noise.random((max(2, rows * size // 600), max(2, columns * size // 600)), dtype=np.float32)
        grown = np.asarray(cv2.resize(part, (columns, rows), interpolation=cv2.INTER_CUBIC), np.float32)
        total += grown / np.float32(size**0.5)
    low, high = float(total.min()), float(total.max())
    return np.asarray((total - low) / (high - low))
