"""Read a CDA document with lxml, to check an output: every text, attribute, comment, and attachment.

The closed values that are left out come from the same rules as in the first reader (`cda_rules`), and a month is
written as there (`dashed`). Nothing else is shared.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from incognote.formats.cda.structure import dashed
from incognote.schemas.cda import CdaRules, cda_rules

_UID = re.compile(r"[0-2](\.(0|[1-9][0-9]*))+|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_PUBLIC = ("2.16.840.1.113883.5.", "2.16.840.1.113883.6.", "2.16.840.1.113883.3.26.1.1")
_SHORT = re.compile(r"[+\-]?[0-9]{1,6}(\.[0-9]{1,6})?|true|false")
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"


def second_reading(data: bytes) -> Iterator[str]:
    """Yield all characters of a document, except uids, codes of public systems, and the closed values of CDA.

    Numbers of at most six digits are left out, too. Alone on a line, the detectors would take some of them for an age.

    Raises:
        Exception: lxml cannot parse it, or a part in base64 cannot be read.
    """
    from lxml import etree

    known = cda_rules()
    times = {"low", "high", "center", *(name for name, kind in known.elements.items() if kind == "time")}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    for node in etree.fromstring(data, parser).getroottree().iter():
        if not isinstance(node.tag, str):  # a comment or a processing instruction
            yield str(node.text)
            yield node.tail or ""
            continue
        encoded = node.get("representation") == "B64"
        yield from filter(None, ("" if encoded else node.text, node.tail))
        public = (node.get("codeSystem") or "").startswith(_PUBLIC)
        local = etree.QName(node).localname
        template = local in ("templateId", "typeId")
        for name, value in node.items():
            written = str(value)
            if local in times and name == "value":
                written = dashed(written)  # as the first reader shows it
            coded = (name == "code" and public) or (name == "extension" and template)
            if not (coded or _UID.fullmatch(written) or _is_closed(str(name), written, known)):
                yield written
        yield from (uri for uri in node.nsmap.values() if not uri.startswith(("urn:hl7-org:", "http://www.w3.org/")))
        if encoded and node.text:
            from incognote.formats.registry import second_reading as nested

            yield from nested(base64.b64decode(node.text), node.get("mediaType"))


def _is_closed(name: str, value: str, known: CdaRules) -> bool:
    """Whether the rules keep an attribute with this value in every document."""
    if name == "value":
        return _SHORT.fullmatch(value) is not None
    if name == "styleCode":
        return known.styles.issuperset(value.split())
    if name == "codeSystemName":
        return value in known.code_system_names
    if name == _TYPE:
        return value.rpartition(":")[2] in known.types
    patterns = (patterns.get(name) for patterns in (known.attributes, known.optional, known.kept))
    return any(pattern.fullmatch(value) for pattern in patterns if pattern is not None)
