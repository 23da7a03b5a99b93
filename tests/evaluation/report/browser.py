"""Control a page in headless Chromium over its debugging pipe: its log, its width, and screenshots.

python tests/evaluation/report/browser.py PAGE.html FOLDER      # screenshots at 1280 and 400 pixels, light and dark
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""Where it is, or None."""
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""),
         "ArrowRight": (39, ""), "ArrowDown": (40, ""), "Delete": (46, "")}  # fmt: skip


class Browser:
    """One page in one Chromium. `errors` are the errors and exceptions it has logged since it was opened."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self._number = 0
        self._session: str | None = None
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self._to = os.pipe()
        answers, to_us = os.pipe()
        bash = ("bash", "-c", 'read_fd=$1 write_fd=$2; shift 2; exec "$@" 3<&$read_fd 4>&$write_fd', "chromium")
        self._process = subprocess.Popen(
            [*bash, str(from_us), str(to_us), str(CHROMIUM), *_FLAGS, f"--user-data-dir={self._home.name}"],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._answers = os.fdopen(answers, "rb")
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "DOM", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)
        self._answers.close()
        self._process.terminate()
        self._process.wait(20)
        self._home.cleanup()

    def open(self, page: Path | str, width: int, height: int = 900, scheme: Literal["light", "dark"] = "light") -> None:
        """Open a file, or a page of a local server, with a window size and a color scheme."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        scheme_ = {"name": "prefers-color-scheme", "value": scheme}
        self._ask("Emulation.setEmulatedMedia", features=[scheme_])
        self._ask("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while self._read().get("method") != "Page.loadEventFired":
            continue
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        """Return the value of an expression. A promise is awaited."""
        answer = self._ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key: a character, or a name in `_KEYS`."""
        code, text = _KEYS.get(key, (0, key))
        words: dict[str, Any] = {"key": key, "modifiers": 8 if shift else 0}
        if code:
            words |= {"code": key, "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", type="keyDown", text=text, **words)
        self._ask("Input.dispatchKeyEvent", type="keyUp", **words)

    def type(self, text: str) -> None:
        """Enter text at the focus, as the clipboard or an input method does."""
        self._ask("Input.insertText", text=text)

    def move(self, x: float, y: float) -> None:
        """Move the mouse to a point in the window."""
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at a point in the window, move it to another, and release it."""
        for kind, (x, y), held in (("mousePressed", start, 1), ("mouseMoved", end, 1), ("mouseReleased", end, 0)):
            self._ask(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=held, clickCount=1
            )

    def choose(self, selector: str, *paths: Path) -> None:
        """Choose files in an `<input type=file>`."""
        root = self._ask("DOM.getDocument")["root"]["nodeId"]
        node = self._ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._ask("DOM.setFileInputFiles", nodeId=node, files=[str(path.resolve()) for path in paths])

    def allow_clipboard(self) -> None:
        """Let pages read and write the clipboard, which headless Chromium refuses by default."""
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        session, self._session = self._session, None
        self._ask("Browser.grantPermissions", permissions=permissions)
        self._session = session

    def accessibility(self) -> list[str]:
        """Return the serious and critical findings of axe-core on the page: rule, explanation, and elements."""
        axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        found: list[str] = self.run(f"""{axe};
            axe.run({{resultTypes: ["violations"]}}).then(result => result.violations
                .filter(rule => ["serious", "critical"].includes(rule.impact))
                .map(rule => `${{rule.id}}: ${{rule.help}}: ${{rule.nodes.map(node => node.target[0])}}`))""")
        return found

    def picture(self, height: int | None = None, top: int = 0) -> bytes:
        """Return a PNG of the page from `top` down: all of it, or the given number of pixels."""
        width, whole = self.run("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": top, "width": width, "height": height or whole - top, "scale": 1}
        answer = self._ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(answer["data"])

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        while (said := self._read()).get("id") != self._number:
            continue
        assert "error" not in said, said
        result: dict[str, Any] = said["result"]
        return result

    def _read(self) -> dict[str, Any]:
        line = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "Chromium ended"
            line += byte
        said: dict[str, Any] = json.loads(line)
        params = said.get("params", {})
        if said.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif said.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"]))
        elif said.get("method") == "Page.javascriptDialogOpening":  # a page with changes asks whether to leave it
            self._number += 1
            asked = {"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._to, json.dumps({**asked, "sessionId": self._session}).encode() + b"\0")
            self._number -= 0
        elif said.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        return said


def main(page: str, folder: str) -> None:
    """Take screenshots of the top of the page in both widths and both color schemes."""
    from PIL import Image

    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for width, height in ((1280, 1500), (400, 1500)):
            for scheme in ("light", "dark"):
                browser.open(Path(page), width, 900, "light" if scheme == "light" else "dark")
                path = out / f"page-{width}-{scheme}.png"
                path.write_bytes(browser.picture(height))
                Image.open(path).convert("RGB").quantize(64, kmeans=1, dither=Image.Dither.NONE).save(
                    path, optimize=True
                )
    if browser.errors:
        sys.exit("\n".join(browser.errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
