"""The examples of docs/extending.md, each installed as its own package and used as a user would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES = {
    found["module"]: (found["group"], found["point"], found["code"])
    for found in re.finditer(
        r"```python\n(?P<code># (?P<module>\w+)(?:\.py|/__init__\.py): (?P<group>[\w.]+), (?P<point>[^\n]+)\n.*?)```",
        PAGE,
        re.DOTALL,
    )
}
FILES = {
    found["path"]: found["text"]
    for found in re.finditer(r"```\w+\n(?P<text># (?P<path>\w+/[\w/]+\.\w+)\n.*?)```", PAGE, re.DOTALL)
}
"""Further files of an example that is a package, by their paths."""
USED = {
    "beds": """
from incognote import Deidentifier
print(Deidentifier(detectors=["rules", "beds"]).deidentify("Moved to Bed 12C overnight.").text)
from beds import Beds
print(Deidentifier(detectors=[Beds()]).deidentify("Moved to Bed 12C overnight.").text)
""",
    "initials": """
from pathlib import Path
from incognote import Deidentifier
Path("p.toml").write_text('extends = "limited-data-set"\\nname = "p"\\nabout = "initials of names"\\nlabel = "none"\\n'
    '[types.PERSON]\\noperator = "initials"\\n')
print(Deidentifier("p.toml", detectors=["rules"]).deidentify("Seen by Dr. Emily Carter.").text)
""",
    "ini": """
import sys
from pathlib import Path
from incognote import Deidentifier
source = "[visit]\\r\\nnote = Seen by Dr. Emily Carter.\\nward = 7\\n"
print(Deidentifier(detectors=["rules"]).deidentify(source.encode(), media_type="text/x-ini").data)
Path("a.ini").write_bytes(source.encode())
sys.argv = ["incognote", "deid", "a.ini", "--detectors", "rules"]
from incognote.cli import main
main()
""",
    "tsv": """
from pathlib import Path
from incognote.evaluation.formats import annotated
Path("a.tsv").write_text("n1\\t4\\t8\\tPERSON\\tMrs Hale came.\\n")
(gold,) = annotated("a.tsv")
print(gold.id, gold.labels[0].type)
""",
    "letters": """
from incognote.embedding import open_embedder
print(open_embedder("letters:").embed(["abba"])[0][:3].astype(float).round(1).tolist())
""",
    "shelf": """
import asyncio
from incognote.keys import Keyring
from incognote.relex.index.opening import open_index
async def main():
    ring = Keyring(b"k" * 32)
    async with await open_index("shelf://here/one", ring, create=True) as index:
        print(index.store.vendor)
    async with await open_index("shelf://here/one", ring) as index:
        print(index.originals_kept)
asyncio.run(main())
""",
    "parrot": """
from incognote import Deidentifier
here = {"parrot/any": {"api_base": "http://127.0.0.1:9"}}
with Deidentifier(detectors=["llm"], model="parrot/any", models=here) as deid:
    print(deid.deidentify("Foley out, walking.").text)
""",
    "german": """
from incognote import Deidentifier
note = "Herr Müller kam am 3. März 2024, Pat.-Nr. 4711890."
print(Deidentifier(detectors=["rules"], languages=["de"]).deidentify(note).text)
""",
    "hello": """
import sys
sys.argv = ["incognote", "hello"]
from incognote.cli import main
main()
""",
}
SAID = {
    "beds": "Moved to [LOCATION] overnight.\nMoved to [LOCATION] overnight.",
    "initials": "Seen by Dr. E. C..",
    "ini": (
        "b'[visit]\\r\\nnote = Seen by Dr. [PERSON].\\nward = 7\\n'\n"
        "[visit]\nnote = Seen by Dr. [PERSON].\nward = 7"
    ),
    "tsv": "n1 PERSON",
    "letters": "[0.7, 0.7, 0.0]",
    "shelf": "memory\nTrue",
    "parrot": "Foley out, walking.",
    "german": "Herr [PERSON] kam am [DATE], Pat.-Nr. [MEDICAL_RECORD_NUMBER].",
    "hello": "hello",
}


def test_there_is_a_use_for_every_example() -> None:
    assert EXAMPLES.keys() == USED.keys() == SAID.keys()


@pytest.mark.parametrize("module", USED)
def test_an_example_works_as_an_installed_package_of_at_most_thirty_lines(module: str, tmp_path: Path) -> None:
    group, point, code = EXAMPLES[module]
    more = {path: text for path, text in FILES.items() if path.startswith(f"{module}/")}
    assert "".join([code, *more.values()]).count("\n") <= 30
    site = tmp_path / "site"
    about = site / f"{module}-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{point.replace(chr(34), '')}\n")
    own = f"{module}/__init__.py" if more else f"{module}.py"
    for path, text in {own: code, **more}.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", USED[module]],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.stdout.strip() == SAID[module], done.stderr
