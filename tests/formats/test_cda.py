"""CDA documents: what is replaced, withheld, removed, and refused, and what stays in place."""

from __future__ import annotations

import base64
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from incognote.errors import BadSchema, RecordProblem
from incognote.formats.base import Document, TextEdit, actions_of, texts_of
from incognote.formats.cda.document import CdaDocument
from incognote.formats.encoding import UTF8
from incognote.formats.output import rebuilt
from incognote.formats.registry import named, open_one
from incognote.schemas.registry import Registry, approve
from incognote.sdk import Deidentifier

NAMESPACES = (
    'xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
)
PATIENT = """
<recordTarget><patientRole>
<id root="2.16.840.1.113883.19.5" extension="99887766" assigningAuthorityName="Tillman Falls Hospital"/>
<addr><streetAddressLine>1357 Amber Drive</streetAddressLine><city>Beaverton</city><state>OR</state></addr>
<telecom value="tel:+1-816-276-6909" use="HP"/>
<patient><name><prefix>Mrs.</prefix><given>Ellen</given><family>Ross</family></name>
<administrativeGenderCode code="F" codeSystem="2.16.840.1.113883.5.1" displayName="Female"/>
<birthTime value="19750501"/></patient></patientRole></recordTarget>
"""


def cda(header: str = "", text: str = "", entry: str = "", start: str = "") -> bytes:
    """Return a document with a header, and with a section that has this narrative and these entries."""
    section = f"<section><title>Notes</title><text>{text}</text><entry>{entry}</entry></section>"
    body = f"<structuredBody><component>{section if text or entry else ''}</component></structuredBody>"
    return start.encode() + whole(f"{header}<component>{body}</component>")


def whole(content: str) -> bytes:
    return f"<ClinicalDocument {NAMESPACES}>{content}</ClinicalDocument>".encode()


def observation(value: str, code: str = '<code code="8302-2" codeSystem="2.16.840.1.113883.6.1"/>') -> str:
    return f'<observation classCode="OBS" moodCode="EVN">{code}{value}</observation>'


def opened(data: bytes) -> Document:
    return open_one(data, "application/cda+xml")[1].under(Registry(), None)


def written(data: bytes, new: str = "[X]", old: str = "") -> str:
    """Return the document with `new` in place of every structured field, and of `old` in every text."""
    document = opened(data)
    changes = {
        text.field: [(m.start(), m.end(), new) for m in re.finditer(re.escape(old), text.content)]
        for text in texts_of(document) if old and old in text.content
    }  # fmt: skip
    return rebuilt(named("cda"), document, changes, dict.fromkeys(actions_of(document), new)).decode()


def fields(data: bytes) -> dict[str, str]:
    document = opened(data)
    return {a.text.field.rpartition("patientRole/")[2]: f"{a.action} {a.entity_type}" for a in document.actions}


def text_of(data: bytes) -> str:
    return "\n".join(text.content for text in texts_of(opened(data)) if text.field.endswith("/text"))


def test_the_header_of_a_patient_is_masked_hashed_and_searched_for() -> None:
    assert fields(cda(PATIENT)) == {
        "id/@root": "hash GUID", "id/@extension": "hash MEDICAL_RECORD_NUMBER",
        "id/@assigningAuthorityName": "mask ORGANIZATION", "addr/streetAddressLine": "mask STREET",
        "addr/city": "mask CITY", "addr/state": "mask STATE", "telecom/@value": "mask TELEPHONE_NUMBER",
        "patient/name/prefix": "mask PATIENT", "patient/name/given": "mask PATIENT",
        "patient/name/family": "mask PATIENT", "patient/birthTime/@value": "date BIRTH_DATE_TIME",
    }  # fmt: skip
    document = opened(cda(PATIENT))
    assert {(known.type, known.value) for known in document.known} == {
        ("MEDICAL_RECORD_NUMBER", "99887766"), ("STREET", "1357 Amber Drive"), ("CITY", "Beaverton"),
        ("TELEPHONE_NUMBER", "+1-816-276-6909"), ("PATIENT", "Ellen Ross"), ("BIRTH_DATE_TIME", "1975-05-01"),
    }  # fmt: skip
    assert document.patient == "99887766"


def test_values_that_do_not_fit_their_data_type_are_withheld() -> None:
    out = written(cda(PATIENT))
    assert '<telecom nullFlavor="MSK" use="HP"/>' in out
    assert '<birthTime nullFlavor="MSK"/>' in out
    assert "<given>[X]</given>" in out
    assert re.search(r'<id root="2\.25\.[0-9]+" extension="\[X\]" assigningAuthorityName="\[X\]"/>', out)
    assert 'displayName="Female"' in out


@pytest.mark.parametrize(
    ("old", "shown", "new", "expected"),
    [
        ("2024", "2024", "2030", "2030"),
        ("202403", "2024-03", "2030-05", "203005"),
        ("20240312", "20240312", "20300514", "20300514"),
        ("20240312090000-0500", "20240312090000-0500", "20300514090000-0500", "20300514090000-0500"),
        ("20240312", "20240312", "[DATE]", None),
    ],
)
def test_a_time_keeps_its_precision(old: str, shown: str, new: str, expected: str | None) -> None:
    document = opened(cda(f'<effectiveTime value="{old}"/>'))
    [action] = document.actions
    assert action.text.content == shown
    out = rebuilt(named("cda"), document, {}, {action: new}).decode()
    attribute = f'value="{expected}"' if expected else 'nullFlavor="MSK"'
    assert f"<effectiveTime {attribute}/>" in out


def test_the_narrative_reads_like_a_note() -> None:
    table = (
        "<table><thead><tr>\n <th>Drug</th>\n <th> Dose </th></tr></thead><tbody><tr><td>Insulin</td><td>5 mg</td></tr>"
        "</tbody></table>"
    )
    text = f"\n  <paragraph>Seen by\n Dr. Ross</paragraph><list><item>one</item><item>two</item></list>{table}a<br/>b\n"
    assert text_of(cda(text=text)) == "Notes\nSeen by\n Dr. Ross\none\ntwo\nDrug\tDose\nInsulin\t5 mg\na\nb"


def test_html_in_a_narrative_is_read_and_its_style_removed() -> None:
    text = '<div class="Ellen"><p style="Ellen">Seen by <b>Ell</b>en</p><ul><li>one</li></ul></div>'
    assert text_of(cda(text=text)) == "Notes\nSeen by Ellen\none"
    assert "<div><p>Seen by <b>[X]</b></p>" in written(cda(text=text), "[X]", "Ellen")


def test_attributes_that_a_narrative_does_not_have_are_removed() -> None:
    text = '<list styleType="none"><item onclick="Ellen" styleCode="xRowAlt">Well</item></list>'
    assert '<list><item styleCode="xRowAlt">Well</item></list>' in written(cda(text=text))


def test_line_breaks_and_empty_paragraphs_make_blank_lines() -> None:
    text = "<paragraph>one<br/><br/> two<br/></paragraph><paragraph/><paragraph>three</paragraph>"
    assert text_of(cda(text=text)) == "Notes\none\n\ntwo\n\nthree"


def test_footnotes_and_titles_of_links_are_read_after_the_text() -> None:
    link = '<linkHtml href="http://x.example/Ross" title="Ross">here</linkHtml>'
    text = f'El<footnote ID="f">see Ann</footnote>len {link}'
    assert text_of(cda(text=text)) == "Notes\nEllen here\nsee Ann\nRoss"
    assert "x.example" not in written(cda(text=text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Jo</content><content styleCode="Bold">hn', '[A &amp; B]</content><content styleCode="Bold">'),
        ("Jo<![CDATA[hn]]>", "[A &amp; B]<![CDATA[]]>"),
        ("<![CDATA[John]]>", "<![CDATA[[A & B]]]>"),
        ("&#74;o<!-- split -->hn", "[A &amp; B]"),
        ("J&#x6F;hn", "[A &amp; B]"),
    ],
)
def test_new_words_go_to_the_first_part_of_a_split_word(text: str, expected: str) -> None:
    out = written(cda(text=f"Seen: <content>{text}</content>."), "[A & B]", "John")
    assert f"Seen: <content>{expected}</content>." in out
    etree.fromstring(out.encode())


def test_a_word_over_two_cells_keeps_the_cells() -> None:
    row = "<table><tbody><tr><td>Ellen</td><td>Ross</td></tr></tbody></table>"
    assert "<tr><td>[X]</td><td></td></tr>" in written(cda(text=row), "[X]", "Ellen\tRoss")


def test_anchors_that_could_name_a_person_are_renamed_with_their_references() -> None:
    text = '<content ID="EllenRoss1">Asthma</content> <content ID="result2">x</content> '
    text += '<linkHtml href="#EllenRoss1">y</linkHtml>'
    entry = observation('<text><reference value="#EllenRoss1"/></text><value xsi:type="ST"/>')
    out = written(cda(text=text, entry=entry))
    assert "EllenRoss" not in out
    assert (out.count('ID="anchor1"'), out.count('"#anchor1"'), out.count('ID="result2"')) == (1, 2, 1)


def test_what_other_namespaces_and_comments_say_is_removed() -> None:
    header = '<!-- Ellen --><title xmlns:acme="urn:acme" acme:by="Ellen">A</title>\n '
    header += '<acme:x xmlns:acme="urn:acme">Ellen</acme:x>'
    out = written(cda(header, start='<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="ellen/CDA.xsl"?>\n'))
    assert "llen" not in out
    assert "acme" not in out
    assert '<?xml-stylesheet type="text/xsl" href="CDA.xsl"?>' in out
    assert "<title>A</title>" in out


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        (cda("<nickname>Ellen</nickname>"), "ClinicalDocument", "an inner element is not an element"),
        (cda("<sdtc:ellen/>"), "ClinicalDocument", "an inner element is not an element"),
        (cda("<title>A</title><title nurse='Ellen'>B</title>"), "ClinicalDocument/title[2]", "an attribute"),
        (cda("<id root='1.2.3'><note>Ellen</note></id>"), "ClinicalDocument/id", "not part of its data type"),
        (cda("<id root='1.2.3'>Ellen</id>"), "ClinicalDocument/id", "has text"),
        (cda("<recordTarget contextControlCode='OP' nullFlavor='ELLEN'/>"), "", "value of nullFlavor"),
        (cda("<recordTarget><patientRole classCode='ELLEN'/></recordTarget>"), "", "value of classCode"),
        (cda("<title mediaType='text/Ellen'>A</title>"), "", "value of mediaType"),
        (cda("<versionNumber value='1' code='Ellen'/>"), "ClinicalDocument/versionNumber", "an attribute"),
        (cda("<effectiveTime value='2024' unit='Ellen'/>"), "ClinicalDocument/effectiveTime", "an attribute"),
        (cda("<versionNumber value='1'>Ellen</versionNumber>"), "ClinicalDocument/versionNumber", "has text"),
        (cda("<effectiveTime>Ellen</effectiveTime>"), "ClinicalDocument/effectiveTime", "has text"),
        (cda("<code code='x'>Ellen</code>"), "ClinicalDocument/code", "has text"),
        (cda("<recordTarget typeCode='Ellen'/>"), "ClinicalDocument/recordTarget", "value of typeCode"),
        (cda(text="<script>Ellen</script>"), "", "not part of a CDA narrative"),
        (cda(entry=observation("<value>Ellen</value>")), "", "needs an xsi:type"),
        (cda(entry=observation('<value xsi:type="Ellen">1</value>')), "", "xsi:type"),
        (cda(entry=observation('<value xsi:type="BL" value="Ellen"/>')), "", "true or false"),
        (cda(entry=observation('<value xsi:type="ED" representation="B64">Ell*en</value>')), "", "not base64"),
    ],
)  # fmt: skip
def test_what_no_rule_allows_is_refused_with_its_path_only(data: bytes, field: str, words: str) -> None:
    with pytest.raises(RecordProblem) as problem:
        opened(data)
    assert words in str(problem.value)
    assert "llen" not in str(problem.value) + problem.value.field
    assert not field or problem.value.field == field


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('<value xsi:type="PQ" value="172" unit="cm"/>', '<value xsi:type="PQ" value="172" unit="cm"/>'),
        ('<value xsi:type="PQ" value="99887766" unit="1"/>', '<value xsi:type="PQ" nullFlavor="MSK"/>'),
        ('<value xsi:type="PQ" value="5" unit="EllenRoss"/>', '<value xsi:type="PQ" nullFlavor="MSK"/>'),
        ('<value xsi:type="IVL_PQ"><low value="1" unit="mg"/></value>', '<low value="1" unit="mg"/>'),
        ('<value xsi:type="TS" value="20240312"/>', '<value xsi:type="TS" nullFlavor="MSK"/>'),
        ('<value xsi:type="CD" code="195967001" codeSystem="2.16.840.1.113883.6.96"/>', 'code="195967001"'),
        ('<value xsi:type="CD" code="E77" codeSystem="1.2.3.4"/>', 'code="h4sh" codeSystem="2.25.'),
        ('<value xsi:type="ED" mediaType="text/plain">Ellen</value>', '>h4sh</value>'),
        ('<value xsi:type="CD" code="Ellen" codeSystem="2.16.840.1.113883.6.96"/>', 'code="h4sh" codeSystem="2.16.'),
        ('<value xsi:type="SC" code="E77" codeSystem="1.2.3" displayName="Ellen">a</value>', 'displayName="h4sh"'),
        ('<value xsi:type="SC" code="E77" codeSystem="1.2.3" displayName="Ellen">a</value>', 'code="h4sh"'),
        ('<value xsi:type="PQ" value="5"><translation value="5" code="E77"/></value>', 'code="h4sh"'),
        ('<value xsi:type="CS" code="Lee"/>', 'code="Lee"'),
        ('<value xsi:type="II" root="2.16.840.1.113883.10.5551234567"/>', 'root="2.25.'),
        ('<value xsi:type="ST">Ellen</value>', '<value xsi:type="ST">h4sh</value>'),
    ],
)  # fmt: skip
def test_values_are_handled_by_their_type(value: str, expected: str) -> None:
    assert expected in written(cda(entry=observation(value)), "h4sh", "Ellen")


@pytest.mark.parametrize("value", ['xsi:type="PQ" value="44" unit="a"', 'xsi:type="INT" value="44"'])
def test_a_value_whose_code_says_that_it_identifies_is_withheld(value: str) -> None:
    code = '<code code="30525-0" codeSystem="2.16.840.1.113883.6.1" displayName="Age"/>'
    assert "44" not in written(cda(entry=observation(f"<value {value}/>", code)))
    assert "44" in written(cda(entry=observation(f"<value {value}/>")))


@pytest.mark.parametrize("label", ["[GUID]", "[MEDICAL_RECORD_NUMBER]", "[DATE-summer]"])
def test_a_replacement_in_a_label_does_not_withhold_the_value_beside_it(label: str) -> None:
    code = '<code code="2823-3" codeSystem="2.16.840.1.113883.6.1" displayName="Potassium, by Pip"/>'
    value = '<value xsi:type="PQ" value="4.1" unit="mmol/L"/>'
    new = written(cda(entry=observation(value, code)), label, "Pip")
    assert f"Potassium, by {label}" in new
    assert value in new
    assert value not in written(cda(entry=observation(value, code.replace("Potassium, by Pip", "[MRN]"))))


def test_names_of_entities_are_masked_or_scanned_by_their_class() -> None:
    entity = '<playingEntity classCode="{}"><name>Amber Ross</name></playingEntity>'
    role = f"<participant><participantRole>{entity}</participantRole></participant>"
    entries = "".join(observation(role.format(kind)) for kind in ("PSN", "PLC", "MMAT"))
    document = opened(cda(entry=entries))
    assert [action.entity_type for action in document.actions] == ["PERSON", "LOCATION"]
    assert [text.content for text in document.texts if "Amber" in text.content] == ["Amber Ross"]


def test_a_picture_is_withheld_and_an_unreadable_body_is_refused() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
    value = f'<value mediaType="image/png" representation="B64">{data}</value>'
    media = f'<observationMedia classCode="OBS" moodCode="EVN">{value}</observationMedia>'
    assert '<value nullFlavor="MSK"/>' in written(cda(entry=media))
    text = f'<text mediaType="image/png" representation="B64">{data}</text>'
    with pytest.raises(RecordProblem) as problem:
        opened(whole(f"<component><nonXMLBody>{text}</nonXMLBody></component>"))
    assert problem.value.code == "unsupported-format"
    assert problem.value.field == "ClinicalDocument/component/nonXMLBody/text"


def test_an_encoded_body_is_edited_and_encoded_again() -> None:
    data = base64.b64encode(b"Seen by Ellen.\r\nGo.").decode()
    text = f'<text mediaType="text/plain" representation="B64">\n{data[:10]}\n{data[10:]}\n</text>'
    source = whole(f"<component><nonXMLBody>{text}</nonXMLBody></component>")
    out = written(source, "[X]", "Ellen")
    assert base64.b64decode(re.findall(r'B64">\s*([^<]+?)\s*</text>', out)[0]) == b"Seen by [X].\r\nGo."
    assert written(source) == source.decode()


def test_a_site_changes_rules_with_its_own_approved_schema(tmp_path: Path) -> None:
    own = {
        "$schema": "http://json-schema.org/draft-04/schema#", "dataType": "cda", "type": "object",
        "properties": {
            "addr/state": {"type": "string", "passThrough": True, "pattern": "[A-Z]{2}"},
            "patientRole/id": {"type": "string", "shouldHash": True},
            "patient/administrativeGenderCode": {"type": "string", "shouldMask": True, "entity_type": "PERSON"},
        },
    }
    (tmp_path / "cda.json").write_text(json.dumps(own))
    approve(tmp_path / "cda.json", "A. Officer", datetime.now(UTC))
    registry = Registry([tmp_path])
    document = open_one(cda(PATIENT), "application/cda+xml")[1].under(registry, None)
    values = dict.fromkeys(document.actions, "[X]")
    out = rebuilt(named("cda"), document, {}, values).decode()
    assert "<state>OR</state>" in out
    assert '<administrativeGenderCode nullFlavor="MSK"/>' in out
    assert 'extension="[X]"/>' in out
    assert document.schema is not None
    assert document.schema.version == registry.get("cda").version
    own["properties"] = {"recordTarget": {"type": "string", "shouldMask": True, "entity_type": "PERSON"}}
    (tmp_path / "cda.json").write_text(json.dumps(own))
    approve(tmp_path / "cda.json", "A. Officer", datetime.now(UTC))
    with pytest.raises(BadSchema, match="recordTarget: must end in"):
        open_one(cda(PATIENT), "application/cda+xml")[1].under(Registry([tmp_path]), None)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "windows-1252", "iso-8859-2"])
def test_an_encoding_is_kept(encoding: str) -> None:
    declared = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(encoding, encoding)
    source = cda(text="Café Ellen", start=f'<?xml version="1.0" encoding="{declared}"?>\n').decode()
    document = opened(source.encode(encoding))
    [text] = document.texts
    start = text.content.index("Ellen")
    out = io.BytesIO()
    document.rebuild([TextEdit(text.field, start, start + 5, "Renée ☺")], out)
    new = "Renée ☺" if "utf" in encoding else "Renée &#9786;"
    assert document.head + out.getvalue() == source.replace("Ellen", new).encode(encoding)


@pytest.mark.parametrize(("declared", "encoding"), [("iso-8859-1", "utf-16"), ("utf-16", "utf-8"), ("cp037", "utf-8")])
def test_an_encoding_that_contradicts_its_declaration_is_refused(declared: str, encoding: str) -> None:
    with pytest.raises(RecordProblem) as problem:
        opened(cda(start=f'<?xml version="1.0" encoding="{declared}"?>').decode().encode(encoding))
    assert problem.value.code == "encoding"


def test_elements_nested_without_end_are_refused() -> None:
    deep = "<component><section>" * 200 + "</section></component>" * 200
    with pytest.raises(RecordProblem, match="nested deeper"):
        opened(whole(deep))


def test_identifiers_of_the_header_are_found_in_the_narrative_and_nothing_else_changes() -> None:
    text = "Mrs. <content>El</content>len Ross, MRN 99887766, takes metformin 500 mg for "
    data = cda(PATIENT, f"{text}<content ID='a1'>asthma</content>.")
    result = Deidentifier(policy="strict").deidentify(data, media_type="application/cda+xml")
    assert result.verdict.outcome == "release", result.verdict.reasons
    seen = " ".join(named("cda").second(result.data))  # type: ignore[misc]  # it has a second reader
    for gone in ("Ellen", "Ross", "99887766", "Amber", "Beaverton", "276", "1975", "Tillman"):
        assert gone not in seen
    for kept in ("metformin 500 mg", "asthma", "Female"):
        assert kept in seen
    assert b"<content ID='a1'>asthma</content>" in result.data


def test_the_second_reader_sees_comments_attributes_and_attachments() -> None:
    encoded = base64.b64encode(b"inside the body").decode()
    value = f'<value xsi:type="ED" representation="B64" mediaType="text/plain">{encoded}</value>'
    value += '<referenceRange><observationRange><value xsi:type="INT" value="90"/></observationRange></referenceRange>'
    data = cda(text="<!--aside--><content ID='Anchor7'>words</content> after", entry=observation(value))
    seen = list(named("cda").second(data))  # type: ignore[arg-type, misc]  # it has a second reader
    assert {"aside", "Anchor7", "words", " after", "inside the body"} <= set(seen)
    assert not {"OBS", "8302-2", "90"} & set(seen)


def test_deleted_words_are_read_apart_from_those_that_replace_them() -> None:
    text = '<content revised="delete">Ellen Ross</content><content revised="insert">Ann</content> is well.'
    assert text_of(cda(text=text)) == "Notes\nAnn is well.\nEllen Ross"


@pytest.mark.parametrize(("code", "system"), [
    ("C38288", "2.16.840.1.113883.3.26.1.1"), ("MSD", "2.16.840.1.113883.6.60")])
def test_the_second_reader_leaves_out_codes_of_the_nci_thesaurus_and_of_mvx(code: str, system: str) -> None:
    data = f'<a code="{code}" codeSystem="{system}"/>'.encode()
    assert code not in list(named("cda").second(data))  # type: ignore[misc]  # it has a second reader


def test_the_second_reader_reads_a_month_as_the_first_one_shows_it() -> None:
    assert "1946-02" in list(named("cda").second(cda('<effectiveTime value="194602"/>')))  # type: ignore[misc]  # as above


CORPUS = Path(__file__).parents[1] / "data" / "documents" / "cda"


ROWS = [json.loads(line) for line in (CORPUS / "gold.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_the_files_of_the_corpus_are_opened_or_refused(row: dict[str, object]) -> None:
    data = (CORPUS / str(row["file"])).read_bytes()
    if row["held"]:
        with pytest.raises(RecordProblem) as problem:
            opened(data)
        assert "hackeray" not in str(problem.value)
        return
    document = opened(data)
    same = {action: action.text.content[action.start : action.end] for action in actions_of(document)}
    rebuilt(named("cda"), document, {}, same)


def test_a_word_anywhere_in_a_document_is_refused_or_replaced() -> None:
    source = (Path(__file__).parents[2] / "examples" / "summary.xml").read_text("utf-8")
    values = [match.span(1) for match in re.finditer(r'[\w:]="([^"]*)"', source)]
    places = [*values, *((match.end(), match.end()) for match in re.finditer(">", source))]
    refused = 0
    for start, end in places[3:]:  # after the XML declaration and the stylesheet
        try:
            out = written(f"{source[:start]}Quickfall{source[end:]}".encode(), "h4sh1", "Quickfall")
        except RecordProblem:
            refused += 1
            continue
        assert "Quickfall" not in out, source[start - 40 : end]
    assert 0 < refused < len(places) / 2


def test_hundreds_of_sections_open_in_linear_time() -> None:
    section = "<section><title>A</title><text><paragraph>Seen by Ellen.</paragraph></text></section>"
    source = whole(f"<structuredBody>{f'<component>{section}</component>' * 800}</structuredBody>".join(
        ("<component>", "</component>")))  # fmt: skip
    document = CdaDocument(source.decode(), UTF8)
    edits = [TextEdit(text.field, 10, 15, "[X]") for text in document.texts]
    out = io.BytesIO()
    document.rebuild(edits, out)
    assert out.getvalue().count(b"[X]") == 800


