"""Make the hostile PDF files of `tests/data/documents/pdf`, and their lines in gold.jsonl.

    python scripts/documents/pdf_hostile.py

`pdf_pages.py` has what is wrong with pages, and `pdf_hidden.py` what is wrong elsewhere in a file. All is synthetic.
"""

from __future__ import annotations

from typing import Any

import pdf_hidden
import pdf_pages
from pdf import OUT, write
from pdf_raw import Attack


def gold(attack: Attack) -> dict[str, Any]:
    """Return the line of a file in gold.jsonl."""
    row: dict[str, Any] = {
        "file": f"{attack.name}.pdf", "made_by": "hand", "kind": "hostile", "media_type": "application/pdf",
        "note": attack.note, "keeps": list(attack.keeps),
        "identifiers": [{"text": words, "type": kind} for words, kind in dict(attack.identifiers).items()],
    }  # fmt: skip
    return row | {"held": True, "why": attack.why} if attack.why else row


def main() -> None:
    attacks = [*pdf_pages.every(), *pdf_hidden.every()]
    for attack in attacks:
        (OUT / f"{attack.name}.pdf").write_bytes(attack.data)
    write([gold(attack) for attack in attacks], "hostile")


if __name__ == "__main__":
    main()
