"""Check de-identified CDA files by a schema and a stylesheet: `python scripts/documents/cda_valid.py SCHEMA XSL OUT`.

For `docs/measured/cda.json`, SCHEMA is `schema/ccda/infrastructure/cda/CDA_SDTC.xsd` and XSL is
`schema/ihe_lab_40/infrastructure/cda/CDA.xsl`, both of Maven's ipf-modules-cda-core 3.6.3 (Apache-2.0).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lxml import etree

from incognote import Deidentifier

CORPUS = Path(__file__).parents[2] / "tests" / "data" / "documents" / "cda"
POLICIES = ("strict", "safe-harbor", "limited-data-set")


def checked(schema: etree.XMLSchema, stylesheet: etree.XSLT, policy: str) -> dict[str, Any]:
    """Return how many outputs of valid files are valid, and how many are rendered, under one policy."""
    figures: dict[str, Any] = {"files": 0, "valid_inputs": 0, "valid_outputs": 0, "rendered": 0, "faults": []}
    with Deidentifier(policy) as deid:
        for row in map(json.loads, (CORPUS / "gold.jsonl").read_text(encoding="utf-8").splitlines()):
            data = (CORPUS / row["file"]).read_bytes()
            result = None if row["held"] else deid.deidentify(data, media_type=row["media_type"], patient="p")
            if result is None or result.verdict.outcome != "release":
                continue
            output = etree.fromstring(result.data)
            valid = schema.validate(etree.fromstring(data))
            figures["files"] += 1
            figures["valid_inputs"] += valid
            figures["valid_outputs"] += valid and schema.validate(output)
            figures["rendered"] += bool(str(stylesheet(output)).strip())
            figures["faults"] += [row["file"]] if valid and not schema.validate(output) else []
    return figures


if __name__ == "__main__":
    against, shown = etree.XMLSchema(etree.parse(sys.argv[1])), etree.XSLT(etree.parse(sys.argv[2]))
    measured = {policy: checked(against, shown, policy) for policy in POLICIES}
    written = {"corpus": "released files of tests/data/documents/cda", **measured}
    Path(sys.argv[3]).write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
