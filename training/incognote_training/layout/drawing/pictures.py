"""Pictures inside pages, as `data:` addresses: organs in gray noise, tissue, traces of an ECG, and codes."""

# ruff: noqa: E501 -- markup in one piece is easier to check

from __future__ import annotations

import base64
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote_training.layout.drawing.style import Style

Picture = NDArray[np.uint8]


def address(picture: Picture, quality: int = 80) -> str:
    """A picture as a JPEG in a `data:` address."""
    import cv2

    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()


def code(rng: Random, kind: str, payload: str, scale: int = 3) -> str:
    """A barcode as a PNG in a `data:` address.

    Args:
        kind: code128, qr, datamatrix or pdf417.
    """
    import cv2
    import zxingcpp

    formats: dict[str, Any] = {
        "code128": zxingcpp.BarcodeFormat.Code128,
        "qr": zxingcpp.BarcodeFormat.QRCode,
        "datamatrix": zxingcpp.BarcodeFormat.DataMatrix,
        "pdf417": zxingcpp.BarcodeFormat.PDF417,
    }
    made = np.array(zxingcpp.create_barcode(payload, formats[kind]).to_image(scale=scale, add_quiet_zones=False))
    if kind == "code128":
        made = np.repeat(made[:1], rng.randint(40, 90), axis=0)
    done, data = cv2.imencode(".png", np.ascontiguousarray(made))
    assert done
    return "data:image/png;base64," + base64.b64encode(data.tobytes()).decode()


def organ(rng: Random, width: int, height: int) -> Picture:
    """A picture like ultrasound, X-ray, CT, tissue, endoscopy, or a photograph of skin."""
    made = rng.choice((_ultrasound, _ultrasound, _xray, _xray, _slice, _tissue, _scope, _skin))(rng, width, height)
    return np.asarray(np.clip(made, 0, 255), np.uint8)


def _grid(width: int, height: int) -> tuple[Any, Any]:
    y, x = np.mgrid[0:height, 0:width]
    return x / width, y / height


def _noise(rng: Random, width: int, height: int, cells: float) -> Any:
    """Smooth noise from 0 to 1."""
    import cv2

    source = np.random.default_rng(rng.randrange(2**32))
    small = source.random((max(2, round(height / cells)), max(2, round(width / cells))), dtype=np.float32)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def _ultrasound(rng: Random, width: int, height: int) -> Any:
    x, y = _grid(width, height)
    from_top, spread = rng.uniform(-0.4, 0.05), rng.uniform(0.35, 0.8)
    angle = np.arctan2(x - 0.5, y - from_top)
    radius = np.hypot(x - 0.5, y - from_top)
    sector = (np.abs(angle) < spread) & (radius > rng.uniform(0.05, 0.15) - from_top) & (radius < 0.95 - from_top)
    speckle = _noise(rng, width, height, rng.uniform(1.5, 3)) * (0.3 + _noise(rng, width, height, rng.uniform(12, 40)))
    made = 30 + 210 * speckle * np.exp(-radius * rng.uniform(0.3, 1.5))
    for _ in range(rng.randint(0, 3)):
        cx, cy, size = rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.8), rng.uniform(0.05, 0.18)
        made = np.where(np.hypot(x - cx, (y - cy) * rng.uniform(0.7, 1.5)) < size, made * 0.25, made)
    made = made if rng.random() < 0.2 else np.where(sector, made, rng.choice((0, 0, 8, 16)))
    return _burnt(rng, made)


def _xray(rng: Random, width: int, height: int) -> Any:
    import cv2

    x, y = _grid(width, height)
    made = 40 + 60 * _noise(rng, width, height, width / 3) + 12 * _noise(rng, width, height, 2)
    kind = rng.randrange(3)
    if kind == 0:  # chest
        for side in (-1, 1):
            lung = np.exp(-(((x - 0.5 - side * 0.22) / 0.15) ** 4) - ((y - 0.5) / 0.36) ** 4)
            made = made + 110 * (1 - lung) * np.exp(-(((x - 0.5) / 0.48) ** 8)) * 0.5
        made = made + 70 * np.exp(-(((x - 0.5) / 0.06) ** 2))
        for n in range(rng.randint(5, 9)):
            at = 0.15 + 0.09 * n
            made = made + 25 * np.exp(-(((y - at - 0.4 * (x - 0.5) ** 2) / 0.012) ** 2))
    else:  # bones
        canvas = np.zeros((height, width), np.float32)
        for _ in range(rng.randint(1, 5)):
            a = (int(rng.uniform(0.2, 0.8) * width), int(rng.uniform(-0.1, 0.4) * height))
            b = (int(rng.uniform(0.2, 0.8) * width), int(rng.uniform(0.6, 1.1) * height))
            cv2.line(canvas, a, b, 110, int(width * rng.uniform(0.04, 0.15)))
        made = made * 0.6 + cv2.GaussianBlur(canvas, (0, 0), width * 0.012)
    return _burnt(rng, 255 - made if rng.random() < 0.1 else made)


def _slice(rng: Random, width: int, height: int) -> Any:
    x, y = _grid(width, height)
    made = np.zeros((height, width), np.float32)
    wide, tall = rng.uniform(0.3, 0.45), rng.uniform(0.28, 0.42)
    inside = ((x - 0.5) / wide) ** 2 + ((y - 0.5) / tall) ** 2
    made = np.where(inside < 1, rng.uniform(60, 200), made)
    made = np.where(inside < 0.85, rng.uniform(60, 130), made)
    for _ in range(rng.randint(3, 9)):
        cx, cy = 0.5 + rng.uniform(-0.6, 0.6) * wide, 0.5 + rng.uniform(-0.6, 0.6) * tall
        blob = ((x - cx) / rng.uniform(0.03, 0.15)) ** 2 + ((y - cy) / rng.uniform(0.03, 0.15)) ** 2
        made = np.where((blob < 1) & (inside < 0.8), rng.uniform(10, 230), made)
    return _burnt(rng, made + 25 * (_noise(rng, width, height, 1.5) - 0.5))


def _tissue(rng: Random, width: int, height: int) -> Any:
    import cv2

    made = 190 + 50 * _noise(rng, width, height, 20) - 60 * (_noise(rng, width, height, 8) > 0.6)
    made = np.ascontiguousarray(made, np.float32)
    for _ in range(rng.randint(50, 300)):
        at = (rng.randrange(width), rng.randrange(height))
        cv2.circle(made, at, rng.randint(1, 5), rng.uniform(50, 140), -1)
    return made


def _scope(rng: Random, width: int, height: int) -> Any:
    x, y = _grid(width, height)
    made = 90 + 120 * _noise(rng, width, height, width / 5) + 20 * _noise(rng, width, height, 4)
    made = made * np.clip(1.3 - 1.6 * np.hypot(x - 0.5, y - 0.5), 0, 1)
    if rng.random() < 0.6:
        made = np.where(np.hypot((x - 0.5) * width, (y - 0.5) * height) < 0.47 * min(width, height), made, 5)
    return _burnt(rng, made)


def _skin(rng: Random, width: int, height: int) -> Any:
    x, y = _grid(width, height)
    made = 150 + 60 * _noise(rng, width, height, width / 2) + 15 * _noise(rng, width, height, 3)
    spot = np.hypot(x - rng.uniform(0.35, 0.65), (y - rng.uniform(0.35, 0.65)) * rng.uniform(0.8, 1.3))
    return np.where(spot + 0.1 * _noise(rng, width, height, 12) < rng.uniform(0.12, 0.35), made * rng.uniform(0.3, 0.7), made)


def _burnt(rng: Random, made: Any) -> Any:
    """Write a few lines into some pictures, as machines do."""
    import cv2

    made = np.ascontiguousarray(np.clip(made, 0, 255), np.uint8)
    for _ in range(rng.choice((0, 0, 1, 3, 5))):
        at = (int(rng.uniform(0.02, 0.6) * made.shape[1]), int(rng.uniform(0.05, 0.98) * made.shape[0]))
        text = "".join(rng.choice("ABCDEKLMNORSTY 0123456789:/") for _ in range(rng.randint(4, 16)))
        cv2.putText(made, text, at, cv2.FONT_HERSHEY_SIMPLEX, rng.uniform(0.25, 0.5), 230, 1, cv2.LINE_AA)
    return made


def ecg(look: Style, width: int, height: int) -> str:
    """Traces on a grid, as SVG."""
    rng = look.rng
    step = rng.choice((4, 5, 8, 10))
    tint = rng.choice(("#f4c7c7", "#e8b0b0", "#ddd", "#f7d9b0", "#bbb"))
    number = rng.randrange(10**6)
    rows = rng.randint(1, 6)
    traces = ""
    for row in range(rows):
        base, beat = height * (row + 0.5) / rows, rng.uniform(40, 110)
        tall = height / rows * rng.uniform(0.3, 0.6) * rng.choice((1, 1, 1, -1))
        x, path = 0.0, f"M0 {base:.1f}"
        while x < width:
            b = beat * rng.uniform(0.93, 1.07)
            for dx, dy in ((0.2, 0), (0.25, -0.12), (0.3, 0), (0.38, 0), (0.4, 0.1), (0.43, -0.9), (0.47, 0.25), (0.5, 0),
                           (0.62, 0), (0.7, -0.22), (0.78, 0), (1, 0)):  # fmt: skip
                path += f"L{min(width, x + dx * b):.1f} {base + dy * tall + rng.uniform(-0.6, 0.6):.1f}"
            x += b
        traces += f'<path d="{path}" fill="none" stroke="{"#5f5" if look.dark else "#111"}" stroke-width="{rng.uniform(0.8, 1.5):.1f}"/>'
        traces += f'<text x="4" y="{base - height / rows * 0.3:.0f}" font-size="9" fill="{look.ink}">{rng.choice(("I", "II", "V1", "aVF", "V5"))}</text>'
    grid = f'<defs><pattern id="g{number}" width="{step}" height="{step}" patternUnits="userSpaceOnUse"><path d="M{step} 0H0V{step}" fill="none" stroke="{tint}" stroke-width="0.7"/></pattern></defs><rect width="100%" height="100%" fill="url(#g{number})"/>'  # fmt: skip
    return f'<svg data-region="Image" width="{width}" height="{height}" style="display:block">{grid if rng.random() < 0.8 else ""}{traces}</svg>'


def graph(look: Style, width: int, height: int) -> str:
    """A curve over two axes, as SVG."""
    rng = look.rng
    curves = ""
    for _ in range(rng.randint(1, 4)):
        points = [(30 + (width - 40) * n / 12, height * rng.uniform(0.1, 0.8)) for n in range(13)]
        path = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)
        curves += f'<path d="{path}" fill="none" stroke="{rng.choice((look.accent, look.ink))}" stroke-width="{rng.uniform(1, 2.5):.1f}"/>'
    axis = "".join(
        f'<path d="M30 {y:.0f}H{width}" stroke="{look.faint}"/><text x="2" y="{y + 3:.0f}" font-size="9" fill="{look.ink}">{n * 20}</text>'
        for n, y in enumerate(height * (0.9 - 0.2 * n) for n in range(5))
    )
    return f'<svg data-region="Image" width="{width}" height="{height}" style="display:block">{axis}{curves}</svg>'
