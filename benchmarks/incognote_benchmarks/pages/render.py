"""Draw pages from HTML in Chromium, with the boxes of identifiers, words, and regions.

    python -m incognote_benchmarks.pages.render tests/data/pages/dev build/pages/dev

Each page is drawn twice, the second time without its identifiers. The difference is the ink of the identifiers. The
attributes of the HTML are described in `tests/data/pages/README.md`.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DPI = 200
_HIDE = "document.querySelectorAll('[data-phi]').forEach(e => e.style.setProperty('visibility', 'hidden', 'important'))"
_BROWSER = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
            "--disable-background-networking", "--no-first-run", "--force-color-profile=srgb")  # fmt: skip
_GOLD = (Path(__file__).parent / "gold.js").read_text(encoding="utf-8")
_CODES = {"code128": "Code128", "qr": "QRCode", "datamatrix": "DataMatrix", "pdf417": "PDF417"}
_CODE = re.compile(r"<img\b[^>]*?\bdata-(code128|qr|datamatrix|pdf417)=(\"[^\"]*\"|'[^']*')[^>]*>")


def filled(html: str) -> str:
    """Return a page in which the images of codes are filled in."""
    import cv2
    import numpy
    import zxingcpp

    def image(found: re.Match[str]) -> str:
        kind = getattr(zxingcpp.BarcodeFormat, _CODES[found[1]])
        made = zxingcpp.create_barcode(found[2][1:-1], kind).to_image(scale=4, add_quiet_zones=False)
        ok, png = cv2.imencode(".png", numpy.asarray(made))
        assert ok
        content = base64.b64encode(png.tobytes()).decode()
        return found[0].replace("<img", f'<img src="data:image/png;base64,{content}"', 1)

    return _CODE.sub(image, html)


class Browser:
    """A browser that draws one page after the other."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._number = socket, 0

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the DevTools protocol."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv())
            if said.get("id") == self._number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]

    def draw(self, html: str, folder: Path, dpi: int = DPI) -> tuple[bytes, bytes, dict[str, Any]]:
        """Return the picture of a page, the one without its identifiers, and the boxes, in pixels of the pictures."""
        path = folder / "page.html"
        path.write_text(filled(html), encoding="utf-8")
        scale = dpi / 96
        size = {"width": 1400, "height": 1200, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=scale)
        self.call("Page.navigate", url=path.as_uri())
        for _ in range(200):
            state = self.call("Runtime.evaluate", expression="document.readyState + '|' + location.href")
            if state["result"]["value"] == f"complete|{path.as_uri()}":
                break
            time.sleep(0.02)
        self.call("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)
        found = self.call("Runtime.evaluate", expression=_GOLD, returnByValue=True)
        gold: dict[str, Any] = json.loads(found["result"]["value"])
        clip = {**gold.pop("page"), "scale": 1}
        first = self._shot(clip)
        self.call("Runtime.evaluate", expression=_HIDE)
        second = self._shot(clip)
        gold |= {"dpi": dpi, "width": round(clip["width"] * scale), "height": round(clip["height"] * scale)}
        origin = (clip["x"], clip["y"]) * 2
        for each in (*gold["identifiers"], *gold["words"], *gold["regions"]):
            each["boxes"] = [[(a - o) * scale for a, o in zip(box, origin, strict=True)] for box in each["boxes"]]
        return first, second, gold

    def _shot(self, clip: dict[str, float]) -> bytes:
        made = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(made["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start Chromium with a profile in `folder`, and stop it."""
    from websockets.sync.client import connect

    profile = folder / "profile"
    command = [*_BROWSER, f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:  # noqa: S603 -- a constant program
        try:
            port = profile / "DevToolsActivePort"
            for _ in range(400):
                if port.exists() and len(port.read_text().split()) == 2:
                    break
                time.sleep(0.05)
            number, address = port.read_text().split()
            with connect(f"ws://127.0.0.1:{number}{address}", max_size=None) as top:
                target = Browser(top).call("Target.createTarget", url="about:blank")
            page = f"ws://127.0.0.1:{number}/devtools/page/{target['targetId']}"
            with connect(page, max_size=None) as socket:
                yield Browser(socket)
        finally:
            running.terminate()


def render(source: Path, out: Path, dpi: int = DPI) -> None:
    """Draw every page of a folder: NAME.png, NAME.hidden.png, and NAME.json. Pages that exist are not drawn again."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, browser(Path(temporary)) as drawing:
        for page in sorted(source.glob("*.html")):
            made = out / f"{page.stem}.json"
            if made.exists() and made.stat().st_mtime > page.stat().st_mtime:
                continue
            html = page.read_text(encoding="utf-8")
            first, second, gold = drawing.draw(html, Path(temporary), dpi)
            kind = re.search(r"kind: ([\w-]+)", html)
            lang = re.search(r"<html[^>]*\blang=[\"']?([\w-]+)", html)
            gold |= {"kind": kind[1] if kind else "other", "language": lang[1] if lang else "en"}
            (out / f"{page.stem}.png").write_bytes(first)
            (out / f"{page.stem}.hidden.png").write_bytes(second)
            made.write_text(json.dumps(gold, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    render(Path(sys.argv[1]), Path(sys.argv[2]))
