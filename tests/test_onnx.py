"""onnxruntime must not report anything to its maker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from incognote import onnx

LAYOUT = Path(onnx.__file__).parent / "pages" / "layout.onnx"

DETECT = "from incognote import Deidentifier; Deidentifier().detect(['Dr. Abara'])"
EMBED = "from incognote.embedding import open_embedder; open_embedder().embed(['Dr. Abara'])"


@pytest.mark.parametrize("code", [DETECT, EMBED], ids=["detect", "embed"])
def test_no_device_id_and_no_queue_of_events_is_written(code: str, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    subprocess.run([sys.executable, "-c", code], env=kept | {"HOME": str(tmp_path)}, check=True, timeout=60)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("arena", [True, False])
def test_memory_is_kept_for_the_next_run_only_if_it_is_asked_for(arena: bool) -> None:
    assert onnx.session(str(LAYOUT), arena=arena).get_session_options().enable_cpu_mem_arena is arena
