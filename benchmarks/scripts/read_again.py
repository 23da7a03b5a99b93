"""Measure what reading a chunk again by need finds if a model names at most 8 identifiers in a reply.

    python benchmarks/scripts/read_again.py --out docs/measured/read_again.json

The model is scripted from the gold. All texts are synthetic.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from incognote.schemas.policy import load_policy
from incognote_benchmarks.reading.material import notes
from incognote_benchmarks.reading.passes import AT_MOST, by_need
from incognote_benchmarks.recorded import NOTES


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    material = notes(NOTES, load_policy("strict"))
    content = {"notes": len(material), "rows": by_need(material, (AT_MOST,))}
    given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
