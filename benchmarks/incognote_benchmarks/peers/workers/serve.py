"""The worker: `PYTHON -IB serve.py ADAPTER SETTINGS MEMORY`, run by a peer's interpreter, which need not have
incognote.

In, on stdin:   {"text"}, one per line, to the end.
Out, on stdout: {"version", "about", "ready_seconds"}, or {"absent": why} and nothing else;
                then for each text {"spans": [[start, end, type], …]} or {"error": the name of the exception};
                then {"cpu_seconds", "peak_mb"}.

An adapter is a file with `load(settings)`, which returns an object with `version`, `about` and `detect(texts)`. It
raises ImportError or LookupError if something is not installed. MEMORY is `detection/memory.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import sys
from time import perf_counter, process_time
from typing import Any


def main() -> None:
    """Answer the requests on stdin."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the peer's own output must not mix with the answers
    texts = [json.loads(line)["text"] for line in sys.stdin.buffer]

    def say(**row: Any) -> None:
        out.write(json.dumps(row) + "\n")

    begun = perf_counter()
    try:
        peer = _adapter(sys.argv[1]).load(json.loads(sys.argv[2]))
        peer.detect(["Ready on 3 May 2020."])
    except (ImportError, LookupError) as error:
        say(absent=" ".join(str(error.args[0] if error.args else error).split())[:200])
        return out.close()
    say(version=peer.version, about=peer.about, ready_seconds=perf_counter() - begun)
    started = process_time()
    answers = _answers(peer, texts)
    taken = process_time() - started
    for answer in answers:
        say(**answer)
    say(cpu_seconds=taken, peak_mb=runpy.run_path(sys.argv[3])["peak_mb"]())
    return out.close()


def _answers(peer: Any, texts: list[str]) -> list[dict[str, Any]]:
    try:
        return [{"spans": spans} for spans in peer.detect(texts)]
    except Exception:  # a peer may raise anything; then find the text one by one
        return [_answer(peer, text) for text in texts]


def _answer(peer: Any, text: str) -> dict[str, Any]:
    try:
        return {"spans": peer.detect([text])[0]}
    except Exception as error:  # only its type is reported: its message may quote the text
        return {"error": type(error).__name__}


def _adapter(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("the_adapter", path)
    if spec is None or spec.loader is None:
        raise ImportError("the adapter is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
