"""CDA R2 in an encoding that cannot represent every character."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from incognote.formats.registry import named

from . import Sample

HEAD = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\r\n<ClinicalDocument xmlns="urn:hl7-org:v3">'
    '<typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>\r\n'
    '<component><structuredBody><component><section><code code="11450-4" codeSystem="2.16.840.1.113883.6.1"/>\r\n'
)
TAIL = "</section></component></structuredBody></component></ClinicalDocument>\r\n"


def _document(texts: Sequence[str]) -> bytes:
    words = escape("\n".join(texts))
    source = f'{HEAD}<text><content styleCode="Bold">\r\n{words}\r\n</content></text>{TAIL}'
    return source.encode("iso-8859-1", "xmlcharrefreplace")


SAMPLES = (
    Sample(
        named("cda"),
        _document,
        [
            (b"<note>Seen by Dr. Carter.</note>", "unsupported-format"),
            (b'<Patient xmlns="http://hl7.org/fhir"><id value="7"/></Patient>', "unsupported-format"),
            (b'<!DOCTYPE x [<!ENTITY n "Carter">]><ClinicalDocument>&n;</ClinicalDocument>', "malformed"),
            (b'<ClinicalDocument xmlns="urn:hl7-org:v3">', "malformed"),
            (b'<?xml version="1.0"?><?php echo?><ClinicalDocument xmlns="urn:hl7-org:v3"/>', "malformed"),
            (b'<ClinicalDocument xmlns="urn:hl7-org:v3"><title>Jos\xe9</title></ClinicalDocument>', "encoding"),
            (b'<?xml version="1.0" encoding="cp037"?><ClinicalDocument xmlns="urn:hl7-org:v3"/>', "encoding"),
            (b'<ClinicalDocument xmlns="urn:hl7-org:v3"><nick>Em</nick></ClinicalDocument>', "schema-violation"),
            (b'<ClinicalDocument xmlns="urn:hl7-org:v3">Emily Carter</ClinicalDocument>', "schema-violation"),
        ],
    ),
)
