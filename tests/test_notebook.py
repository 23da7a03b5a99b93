"""The example notebook runs in a real kernel, and its saved outputs are from this version.

python tests/test_notebook.py      # run it and save its outputs
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
nbformat = pytest.importorskip("nbformat", reason="needs nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
pytest.importorskip("polars", reason="needs the extra frames")
pytest.importorskip("datasets", reason="needs the extra frames")

PATH = Path(__file__).parents[1] / "examples" / "notebook.ipynb"


def executed(home: Path, *more: str) -> Any:
    """Return the notebook with the outputs of a run, with any further cells."""
    folders = {name: str(home) for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "INCOGNOTE_HOME")}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("INCOGNOTE_", "PYTHONWARNINGS"))]:
            patch.delenv(name)
        for name, folder in folders.items():
            patch.setenv(name, folder)
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        book = nbformat.read(PATH, as_version=4)
        book.cells += [nbformat.v4.new_code_cell(code) for code in more]
        client = nbclient.NotebookClient(book, timeout=120, kernel_name="python3", record_timing=False)
        client.execute(cwd=str(PATH.parent))
    book.metadata.pop("language_info", None)
    for cell in book.cells:  # library warnings contain paths of this machine
        cell["outputs"] = [each for each in cell.get("outputs", []) if each.get("name") != "stderr"]
        if cell.cell_type != "code":
            del cell["outputs"]
    return book


def outputs(cell: Any) -> list[str]:
    """A code cell's output without what differs between runs: keyed hashes under a new key."""
    shown = [json.dumps(output.get("data") or output.get("text"), sort_keys=True) for output in cell.get("outputs", [])]
    return [re.sub("[0-9a-f]{16}", "HASH", each) for each in shown]


def test_the_example_notebook_shows_what_is_saved_in_it_and_no_identifier(tmp_path: Path) -> None:
    saved = nbformat.read(PATH, as_version=4)
    book = executed(tmp_path, "len(list(deid.batch(notes, progress=True)))")
    bar = book.cells.pop()
    assert [outputs(cell) for cell in book.cells] == [outputs(cell) for cell in saved.cells]
    assert sum(bool(outputs(cell)) for cell in saved.cells) >= 6
    for cell in saved.cells:
        assert not re.search("Okonkwo|Abara|48213977|Schneider|P-77", str(cell.get("outputs", "")))
    assert [re.sub(r"\d+ s", "", output["data"]["text/plain"]) for output in bar.outputs] == ["3 records in ", "3"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(Path(folder)), PATH)
