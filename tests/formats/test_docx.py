"""Word documents: which characters are texts, which are structured fields, and what is removed or refused."""

# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.base import Edit, FieldEdit, TextEdit, Unreadable, actions_of, texts_of
from incognote.formats.docx import MEDIA_TYPE
from incognote.formats.docx.reader import read
from incognote.formats.office.package import unzipped, zipped
from incognote.formats.office.pictures import pictures
from incognote.formats.registry import named, of_content, open_documents, second_reading
from incognote_benchmarks.documents import corpus, left_in, pattern, views

from .samples.docx import NAMESPACES, R, document, paragraph, part, run

DATA = Path(__file__).parents[1] / "data"
CORPUS = [file for file in corpus(DATA / "documents") if file.path.suffix == ".docx" and not file.held]
BODY = re.compile(r"<w:body>(.*)</w:body>", re.DOTALL)
CORE = 'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"' \
       ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'  # fmt: skip
PNG = "image/png"


def _texts(body: str, others: Mapping[str, tuple[str, bytes]] | None = None) -> dict[str, str]:
    return {text.field: text.content for text in read(document(body, others)).texts}


def _rebuilt(data: bytes, *edits: Edit) -> dict[str, bytes]:
    """Return the parts of an output. What is removed from it once is gone."""
    opened = read(data)
    fields = [FieldEdit(action, f"[{action.entity_type}]") for action in actions_of(opened)]
    out = io.BytesIO()
    opened.rebuild([*edits, *fields], out)
    again = read(out.getvalue())
    parts = again._parts
    assert not (again._fixed)
    assert not (parts.replaced)
    assert not (parts.renamed)
    assert not (parts.removed)
    return unzipped(out.getvalue())


def _left(body: str, *edits: Edit) -> str:
    found = BODY.search(_rebuilt(document(body), *edits)["word/document.xml"].decode())
    assert found is not None
    return found[1]


def r(*pieces: str, style: str = "") -> str:
    """Return a run of XML, in which words become `w:t`."""
    inner = "".join(piece if piece.startswith("<") else f'<w:t xml:space="preserve">{piece}</w:t>' for piece in pieces)
    return f"<w:r>{f'<w:rPr>{style}</w:rPr>' if style else ''}{inner}</w:r>"


def p(*inner: str) -> str:
    """Return a paragraph."""
    return f"<w:p>{''.join(inner)}</w:p>"


def field(instruction: str, *result: str) -> str:
    """Return a field with its result."""
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    words = f'<w:r><w:instrText xml:space="preserve">{instruction}</w:instrText></w:r>'
    return mark("begin") + words + mark("separate") + "".join(result) + mark("end")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (p(r("Jo", style="<w:b/>"), r("hn"), r(" Smith")), "John Smith"),
        (p(r("a")) + p() + p(r("b")), "a\n\nb"),
        (p(r("a", "<w:tab/>", "b", "<w:br/>", "c", "<w:cr/>", '<w:br w:type="page"/>', "d")), "a\tb\nc\n\nd"),
        (p("<w:pPr><w:tabs><w:tab w:val=\"left\" w:pos=\"720\"/></w:tabs></w:pPr>", r("a")), "a"),
        (p(r("Smith", "<w:noBreakHyphen/>", "Jo", "<w:softHyphen/>", "nes")), "Smith-Jones"),
        (p(r('<w:sym w:font="Arial" w:char="F04A"/>', "ane", '<w:sym w:font="Wingdings" w:char="F04A"/>')), "Jane\uf04a"),
        (p(r("A &amp; B&#233;<![CDATA[<c>]]>")), "A & Bé<c>"),
        (p(r("<w:t>\n  Jane\n </w:t>", "<w:t> Doe</w:t>")), "Jane Doe"),
        ("<w:tbl><w:tr><w:tc>" + p(r("a")) + p(r("b")) + "</w:tc><w:tc>" + p(r("c")) + "</w:tc></w:tr><w:tr><w:tc>"
         + p(r("d")) + "</w:tc></w:tr></w:tbl>" + p(r("e")), "a\nb\tc\nd\ne"),
        (p('<w:ins w:id="1">', r("Jane"), "</w:ins>", r(" Doe")), "Jane Doe"),
        (p("<w:hyperlink w:anchor=\"x\">", r("Jane"), "</w:hyperlink>", r(" Doe")), "Jane Doe"),
        (p("<w:sdt><w:sdtPr/><w:sdtContent>", r("Jane"), "</w:sdtContent></w:sdt>", r(" Doe")), "Jane Doe"),
        (p('<w:smartTag w:uri="urn:x" w:element="person">', r("Jane"), "</w:smartTag>", r(" Doe")), "Jane Doe"),
        (p("<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>", r(" Doe")), "x Doe"),
        (p(field(" PAGE ", r("7")), r(" Doe")), "7 Doe"),
        (p(r("Jo", style="<w:vanish/>"), r("h", style='<w:vanish w:val="0"/>'), r("n", style='<w:vanish w:val="false"/>')), "hn"),
        (p('<w:del w:id="1"><w:r><w:delText>a</w:delText></w:r></w:del><w:moveFrom w:id="2">', r("b"), "</w:moveFrom>", r("c")), "c"),
        (p("<w:r><w:ruby><w:rubyPr/><w:rt>", r("kana"), "</w:rt><w:rubyBase>", r("字"), "</w:rubyBase></w:ruby></w:r>"), "字"),
    ],
)  # fmt: skip
def test_the_body_reads_as_it_is_shown(body: str, text: str) -> None:
    assert _texts(body)["body"] == text


def test_a_note_in_paragraphs_reads_as_in_plain_text() -> None:
    notes = [json.loads(row)["text"] for row in (DATA / "notes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(notes) > 100
    for note in notes:
        assert _texts("".join(map(paragraph, note.split("\n"))))["body"] == note


def test_headers_notes_comments_boxes_and_properties_are_texts_of_their_own() -> None:
    box = f'<w:pict><v:shape id="_x0000_s1" type="#_x0000_t202"><v:textbox><w:txbxContent>{paragraph("Hal")}' \
          "</w:txbxContent></v:textbox></v:shape></w:pict>"  # fmt: skip
    note = '<w:{0} w:id="{1}">' + paragraph("{2}") + "</w:{0}>"
    others = {
        "word/header1.xml": ("header", part("w:hdr", paragraph("Cara") + paragraph("7"))),
        "word/footer1.xml": ("footer", part("w:ftr", paragraph("Dan"))),
        "word/footnotes.xml": ("footnotes", part("w:footnotes", note.format("footnote", 1, "Eva")
                               + note.format("footnote", 2, "Ed"))),
        "word/endnotes.xml": ("endnotes", part("w:endnotes", note.format("endnote", 1, "Fay"))),
        "word/comments.xml": ("comments", part("w:comments", note.format("comment", 1, "Gil"))),
        "docProps/core.xml": ("core-properties", f"<cp:coreProperties {CORE}><dc:title>Anna</dc:title>"
                              "<cp:keywords>Ben</cp:keywords></cp:coreProperties>".encode()),
    }  # fmt: skip
    opened = read(document(p(r("Seen"), f"<w:r>{box}</w:r>"), others))
    assert {text.field: text.content for text in opened.texts} == {
        "body": "Seen", "header": "Cara\n7", "footer": "Dan", "footnote": "Eva", "footnote 2": "Ed", "endnote": "Fay",
        "comment": "Gil", "text box": "Hal", "core.title": "Anna", "core.keywords": "Ben",
    }  # fmt: skip


def test_alternative_texts_choices_and_labels_of_lists_are_lines_of_a_text() -> None:
    numbering = part("w:numbering", '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:lvlText w:val="%1."/></w:lvl>'
                     '<w:lvl w:ilvl="1"><w:lvlText w:val="For Ida %2"/></w:lvl></w:abstractNum>')  # fmt: skip
    drawing = '<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="Photo of Jane" title="Joe"/></wp:inline></w:drawing>'
    choice = '<w:sdt><w:sdtPr><w:alias w:val="Ann"/><w:tag w:val="ben"/><w:dropDownList><w:listItem w:displayText="Cy" ' \
             'w:value="1"/></w:dropDownList></w:sdtPr><w:sdtContent/></w:sdt>'  # fmt: skip
    found = _texts(p(f"<w:r>{drawing}</w:r>", choice), {"word/numbering.xml": ("numbering", numbering)})
    assert found == {"label": "Photo of Jane\nJoe\nAnn\nben\nCy", "label 2": "For Ida %2"}


def test_both_branches_of_an_alternate_content_are_edited() -> None:
    def shape(box: str) -> str:
        return f"<w:txbxContent>{paragraph(box)}</w:txbxContent>"

    body = p("<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wp:inline><a:graphic><a:graphicData><wps:wsp>"
             f"<wps:txbx>{shape('Jane')}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>"
             f"<mc:Fallback><w:pict><v:shape><v:textbox>{shape('Jane')}</v:textbox></v:shape></w:pict></mc:Fallback>"
             "</mc:AlternateContent></w:r>", r("Seen"))  # fmt: skip
    assert _texts(body) == {"body": "Seen", "text box": "Jane", "text box 2": "Jane"}
    assert "Jane" not in _left(body, TextEdit("text box", 0, 4, "[X]"), TextEdit("text box 2", 0, 4, "[X]"))
    inline = p(r("<mc:AlternateContent><mc:Choice Requires=\"w16se\"><w16se:symEx w16se:font=\"Segoe UI Emoji\" "
                 "w16se:char=\"1F60A\"/></mc:Choice><mc:Fallback><w:t>😊</w:t></mc:Fallback></mc:AlternateContent>", "Seen"))  # fmt: skip
    assert _texts(inline)["body"] == "😊😊Seen"
    two = inline.replace("<w16se:symEx", "<w:t>Ja</w:t><w16se:symEx")
    assert _texts(two) == {"body": "Ja😊Seen", "alternate": "😊"}


def test_a_choice_that_needs_an_unknown_namespace_is_removed() -> None:
    body = '<mc:AlternateContent xmlns:emr="urn:emr"><mc:Choice Requires="emr">' + paragraph("Jane") \
           + "</mc:Choice><mc:Fallback>" + paragraph("Ann") + "</mc:Fallback></mc:AlternateContent>"  # fmt: skip
    assert _texts(body) == {"body": "Ann"}
    assert _left(body) == paragraph("Ann")


def test_authors_are_structured_fields_and_known_names_and_their_initials_and_dates_are_removed() -> None:
    change = '<w:ins w:id="1" w:author="{}" w:date="2024-03-11T09:00:00Z">{}</w:ins>'
    comments = part("w:comments", f'<w:comment w:id="1" w:author="Ann Lee" w:initials="AL" w:date="2024-03-11T09:00:00Z">'
                    f'{paragraph("x")}</w:comment>')  # fmt: skip
    core = f"<cp:coreProperties {CORE}><dc:creator>Fred &amp; Good</dc:creator><cp:lastModifiedBy>roe7</cp:lastModifiedBy>" \
           "<dcterms:created>2024-03-11T09:00:00Z</dcterms:created></cp:coreProperties>"  # fmt: skip
    data = document(p(change.format("Unknown Author", r("a")), change.format("Carl Roe", r("b"))),
                    {"word/comments.xml": ("comments", comments), "docProps/core.xml": ("core-properties", core.encode())})  # fmt: skip
    opened = read(data)
    assert [(a.text.content, a.entity_type) for a in opened.actions] == [
        ("Carl Roe", "PERSON"), ("Fred & Good", "PERSON"), ("roe7", "PERSON"), ("Ann Lee", "PERSON"),
    ]  # fmt: skip
    assert {known.value for known in opened.known} == {"Carl Roe", "Ann Lee", "Fred & Good"}
    parts = _rebuilt(data)
    assert b'<w:ins w:id="1" w:author="Unknown Author"><w:r>' in parts["word/document.xml"]
    assert b'<w:ins w:id="1" w:author="[PERSON]"><w:r>' in parts["word/document.xml"]
    assert b'<w:comment w:id="1" w:author="[PERSON]" w:initials="">' in parts["word/comments.xml"]
    assert parts["docProps/core.xml"].endswith(
        b"><dc:creator>[PERSON]</dc:creator><cp:lastModifiedBy>[PERSON]</cp:lastModifiedBy></cp:coreProperties>"
    )


SPACES = 'xml:space="preserve"'
WORD = f'<w:t {SPACES}>a</w:t>'
EMPTY = f'<w:r><w:t {SPACES}></w:t></w:r>'


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (p(r("a", style="<w:vanish/>")), p(f"<w:r><w:rPr><w:vanish/></w:rPr><w:t {SPACES}></w:t></w:r>")),
        (p("<w:del w:id=\"1\"><w:r><w:delText>Doe</w:delText></w:r></w:del>"), p('<w:del w:id="1"><w:r><w:delText></w:delText></w:r></w:del>')),
        (p(field(" PAGE \\* MERGEFORMAT ", r("a"))), None),
        (p(field(" HYPERLINK &quot;mailto:doe@x.org&quot; ", r("a"))), p("<w:r></w:r>", f"<w:r><w:instrText {SPACES}></w:instrText></w:r>", "<w:r></w:r>", r("a"), "<w:r></w:r>")),
        (p('<w:fldSimple w:instr=" AUTHOR Doe ">', r("a"), "</w:fldSimple>"), p(EMPTY)),
        (p('<w:fldSimple w:instr=" QUOTE Doe ">', r("a"), "</w:fldSimple>"), p(r("a"))),
        (p('<w:fldSimple w:instr=" NUMPAGES ">', r("a"), "</w:fldSimple>"), None),
        (p('<w:bookmarkStart w:id="1" w:name="_Toc12"/><w:bookmarkEnd w:id="1"/>'), None),
        (p('<w:bookmarkStart w:id="1" w:name="Doe"/><w:hyperlink w:anchor="Doe">', r("a"), "</w:hyperlink>"),
         p('<w:bookmarkStart w:id="1" w:name="_Ref1"/><w:hyperlink w:anchor="_Ref1">', r("a"), "</w:hyperlink>")),
        (p('<w:hyperlink r:id="rIdNone" w:tgtFrame="Doe" w:docLocation="Doe">', r("a"), "</w:hyperlink>"),
         p('<w:hyperlink w:docLocation="_Ref1">', r("a"), "</w:hyperlink>")),
        (p('<w:smartTag w:uri="urn:doe" w:element="Doe"><w:smartTagPr><w:attr w:name="Doe" w:val="x"/></w:smartTagPr>', r("a"), "</w:smartTag>"), p(r("a"))),
        ('<w:customXml w:uri="urn:doe" w:element="Doe"><w:customXmlPr/>' + p(r("a")) + "</w:customXml>", p(r("a"))),
        ("<w:p Doe=\"1\" w:doe=\"x\" w14:paraId=\"04471902\" w:rsidR=\"00A71902\">" + r("a") + "</w:p>",
         '<w:p w14:paraId="0A0A0001" w:rsidR="00A71902">' + r("a") + "</w:p>"),
        ('<w:p xmlns:emr="urn:doe" emr:mrn="4471902"><emr:Doe emr:x="1">Jane</emr:Doe>' + r("a") + "</w:p>", p(r("a"))),
        ('<w:p xmlns:emr="urn:doe"><emr:Doe>Jane' + r("a") + "</emr:Doe></w:p>", p(r("a"))),
        ("<w:jane/>" + p(r("a")), p(r("a"))),
        ("<!-- Jane Doe -->" + p("<w:r><w:t>a<!-- Doe -->b</w:t></w:r>"), p("<w:r><w:t>ab</w:t></w:r>")),
        ("<?doe Jane?>" + p(r("a")), p(r("a"))),
        (p('<w:pPr><w:pStyle w:val="JaneDoe"/><w:ind w:left="4471902"/></w:pPr>', r("a", style='<w:rFonts w:ascii="Doe Hand" w:hAnsi="Arial"/>')),
         p('<w:pPr><w:pStyle w:val="Style1"/><w:ind/></w:pPr>', r("a", style='<w:rFonts w:ascii="Arial" w:hAnsi="Arial"/>'))),
        (p('<w:pPr><w:divId w:val="44719021"/></w:pPr>', r("a")), p('<w:pPr><w:divId w:val="10001"/></w:pPr>', r("a"))),
        (p("<w:r><w:drawing><wp:inline><wp:docPr id=\"1\" name=\"doe.png\"/><wp:extent cx=\"914400\" cy=\"9144000\"/></wp:inline></w:drawing></w:r>"),
         p("<w:r><w:drawing><wp:inline><wp:docPr id=\"1\" name=\"Object 1\"/><wp:extent cx=\"914400\" cy=\"9144000\"/></wp:inline></w:drawing></w:r>")),
        (p("<w:r><w:pict><v:shape id=\"Doe\" href=\"http://doe\" o:gfxdata=\"RG9l\" style=\"width:10pt;font-family:Doe;z-index:-251658752\"><v:imagedata o:title=\"\"/></v:shape></w:pict></w:r>"),
         p("<w:r><w:pict><v:shape id=\"_x0000_s1\" style=\"width:10pt;z-index:-251658752\"><v:imagedata o:title=\"\"/></v:shape></w:pict></w:r>")),
        (p("<w:sdt><w:sdtPr><w:id w:val=\"-1447190244\"/><w:placeholder><w:docPart w:val=\"Doe\"/></w:placeholder><w:dataBinding w:xpath=\"/doe\" w:storeItemID=\"x\"/><w:date w:fullDate=\"2024-03-11T00:00:00Z\"/></w:sdtPr><w:sdtContent>", r("a"), "</w:sdtContent></w:sdt>"),
         p("<w:sdt><w:sdtPr><w:id w:val=\"10001\"/><w:date/></w:sdtPr><w:sdtContent>", r("a"), "</w:sdtContent></w:sdt>")),
        (p("<w:permStart w:id=\"1\" w:ed=\"doe@x.org\"/>", r("a"), "<w:permEnd w:id=\"1\"/>"), p(r("a"))),
        (p("<w:r><w:object><v:shape id=\"_x0000_i1025\"/><o:OLEObject Type=\"Embed\" ProgID=\"Doe\" r:id=\"rId9\"/></w:object></w:r>"),
         p("<w:r><w:object><v:shape id=\"_x0000_i1025\"/></w:object></w:r>")),
        ("<w:tbl><w:tr><w:trPr><w:del w:id=\"1\"/></w:trPr><w:tc>" + p(r("Doe")) + "</w:tc></w:tr></w:tbl>",
         "<w:tbl><w:tr><w:trPr><w:del w:id=\"1\"/></w:trPr><w:tc>" + p(EMPTY) + "</w:tc></w:tr></w:tbl>"),
        (p(r("<a:blip r:link=\"rId8\"/>")), p(r("<a:blip/>"))),
        (p(r("<a:extLst><a:ext uri=\"{4471902A-1111-2222-3333-444444444444}\">Doe</a:ext></a:extLst>")), p(r("<a:extLst></a:extLst>"))),
    ],
)  # fmt: skip
def test_unread_places_are_removed_and_all_other_bytes_stay(body: str, left: str | None) -> None:
    assert _left(body) == (body if left is None else left)


def test_a_field_without_an_end_or_within_an_instruction_leaves_only_results_that_are_shown() -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    open_field = p(begin, r("Doe"), field(" MERGEFIELD Doe ", r("Doe")))
    assert "Doe" not in _left(open_field)
    assert "fldChar" not in _left(open_field)
    nested = p(field(' IF "M" ', r("b")).replace("</w:instrText></w:r>", "</w:instrText></w:r>" + field(" PAGE ", r("Doe")), 1))
    assert _texts(nested) == {"body": "b"}
    assert "Doe" not in _left(nested)
    assert "PAGE" not in _left(nested)


@pytest.mark.parametrize(
    ("body", "edit", "left"),
    [
        (p(r("Mr. Jo"), r("h"), r("n.")), (4, 8, "Ng"), p(r("Mr. Ng"), EMPTY, r("."))),
        (p("<w:r><w:t>Jane Doe.</w:t></w:r>"), (0, 4, "X"), p("<w:r><w:t>X Doe.</w:t></w:r>")),
        (p("<w:r><w:t>Jane Doe</w:t></w:r>"), (4, 8, " "), p(f"<w:r><w:t {SPACES}>Jane </w:t></w:r>")),
        (p('<w:r><w:t xml:space="default">Jane</w:t></w:r>'), (0, 4, " &<"), p(f"<w:r><w:t {SPACES}> &amp;&lt;</w:t></w:r>")),
        (p("<w:r><w:t>A&amp;B</w:t></w:r>"), (1, 2, "é"), p("<w:r><w:t>AéB</w:t></w:r>")),
        (p(r("<w:noBreakHyphen/>", "a")), (0, 1, "x"), p(r(f"<w:t {SPACES}>x</w:t>", "a"))),
        (p(r("a", "<w:tab/>", "b")), (1, 2, "x"), p(r("ax", "<w:tab/>", "b"))),
        (p(r("a")) + p(r("b")), (0, 3, "X"), p(r("X")) + p(EMPTY)),
    ],
)  # fmt: skip
def test_new_words_replace_the_first_part_of_a_mention(body: str, edit: tuple[int, int, str], left: str) -> None:
    assert _left(body, TextEdit("body", *edit)) == left


STYLES = part("w:styles", '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
              '<w:style w:type="character" w:styleId="JaneDoe"><w:name w:val="Doe words"/><w:rPr><w:vanish/></w:rPr></w:style>'
              '<w:style w:type="character" w:styleId="Emphasis"><w:name w:val="annotation text"/><w:basedOn w:val="JaneDoe"/></w:style>'
              '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:rPr><w:vanish/></w:rPr></w:style>')  # fmt: skip


@pytest.mark.parametrize(
    ("paragraph_style", "run_style", "direct", "hidden"),
    [("", "", "", False), ("", "JaneDoe", "", True), ("", "Emphasis", "", True), ("Title", "", "", True),
     ("Title", "Emphasis", "", False), ("Title", "", '<w:vanish w:val="0"/>', False), ("", "", "<w:vanish/>", True)],
)  # fmt: skip
def test_text_that_a_style_hides_is_removed(paragraph_style: str, run_style: str, direct: str, hidden: bool) -> None:
    body = p(f'<w:pPr><w:pStyle w:val="{paragraph_style}"/></w:pPr>', r("Doe", style=f'<w:rStyle w:val="{run_style}"/>{direct}'))
    assert ("body" not in _texts(body, {"word/styles.xml": ("styles", STYLES)})) == hidden


def test_styles_have_the_same_new_names_in_all_parts() -> None:
    data = document(p(r("a", style='<w:rStyle w:val="JaneDoe"/>')), {"word/styles.xml": ("styles", STYLES)})
    parts = _rebuilt(data)
    assert b'<w:rStyle w:val="Style1"/>' in parts["word/document.xml"]
    styles = parts["word/styles.xml"]
    assert b'w:styleId="Style1"><w:name w:val="Style 1"/>' in styles
    assert b'<w:basedOn w:val="Style1"/>' in styles
    assert b"Doe" not in styles
    assert b'w:styleId="Normal"><w:name w:val="Normal"/>' in styles


def test_parts_that_no_edit_changes_are_the_same_bytes() -> None:
    settings = part("w:settings", '<w:zoom w:percent="100"/><w:rsids><w:rsid w:val="00A71902"/></w:rsids>')
    fonts = part("w:fonts", '<w:font w:name="Calibri"><w:panose1 w:val="020F0502020204030204"/></w:font>')
    data = document(paragraph("Jane"), {"word/settings.xml": ("settings", settings), "word/fontTable.xml": ("fontTable", fonts)})
    before, after = unzipped(data), _rebuilt(data, TextEdit("body", 0, 4, "X"))
    assert [name for name in before if before[name] != after[name]] == ["word/document.xml"]
    assert list(before) == list(after)


REMOVED = {
    "customXml/item1.xml": ("customXml", b"<doe>Jane</doe>"), "word/glossary/document.xml": ("glossaryDocument", part("w:glossaryDocument", paragraph("Doe"))),
    "word/people.xml": ("people", b"<doe/>"), "word/fonts/font1.odttf": ("font", b"Doe"), "word/printer.bin": ("printerSettings", b"Doe"),
    "word/recipients.xml": ("mailMergeRecipientData", b"<doe/>"), "word/embeddings/oleObject1.bin": ("oleObject", b"\xd0\xcf\x11\xe0Doe"),
    "word/customizations.xml": ("keyMapCustomizations", b"<doe/>"), "word/activeX/activeX1.xml": ("control", b"<doe/>"), "word/x.xml": ("janeDoe", b"<doe/>"),
    "word/media/image1.wdp": ("image", b"Doe"), "docProps/custom.xml": ("custom-properties", b"<doe/>"),
}  # fmt: skip


def test_parts_without_a_rule_are_removed_with_their_relations_and_types() -> None:
    types = '<Default Extension="doe" ContentType="application/doe"/><Override PartName="/word/people.xml" ContentType="text/doe"/>'
    links = f'<Relationship Id="rIdD" Type="{R}/attachedTemplate" Target="file:///C:/doe.dotx" TargetMode="External"/>'
    data = document(paragraph("a"), REMOVED, types=types, relations=links, more={"word/Doe.xml": b"<doe/>", "[trash]/0.dat": b"Doe"})
    after = _rebuilt(data)
    assert set(after) == {"[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/_rels/document.xml.rels"}
    assert not any(b"doe" in content.lower() for content in after.values())


def test_links_and_names_of_parts_lose_their_words() -> None:
    links = f'<Relationship Id="rId7" Type="{R}/hyperlink" Target="mailto:doe@x.org" TargetMode="External"/>' \
            f'<Relationship Id="JaneDoe" Type="{R}/image" Target="media/jane doe.PNG"/>'  # fmt: skip
    body = p('<w:hyperlink r:id="rId7">', r("a"), "</w:hyperlink>", r('<a:blip r:embed="JaneDoe"/>'))
    header = {"word/doe.xml": ("header", part("w:hdr", paragraph("b")))}
    data = document(body, header, relations=links, types=f'<Default Extension="PNG" ContentType="{PNG}"/>',
                    more={"word/media/jane doe.PNG": b"\x89PNG Doe"})  # fmt: skip
    after = _rebuilt(data)
    assert after["word/media/n2.PNG"] == pictures()[PNG]
    assert b'r:id="rId7"' in after["word/document.xml"]
    assert b'r:embed="rId2"' in after["word/document.xml"]
    relations = after["word/_rels/document.xml.rels"]
    assert b'Target="#" TargetMode="External"' in relations
    assert b'Id="rId2"' in relations
    assert b'PartName="/word/n1.xml"' in after["[Content_Types].xml"]
    assert not any(b"doe" in name.lower().encode() + content.lower() for name, content in after.items())


@pytest.mark.parametrize("kind", sorted(pictures()))
def test_pictures_become_neutral_ones_of_their_type(kind: str) -> None:
    links = f'<Relationship Id="rId8" Type="{R}/image" Target="media/image1.bin"/>'
    override = f'<Override PartName="/word/media/image1.bin" ContentType="{kind}"/>'
    after = _rebuilt(document(p(r('<a:blip r:embed="rId8"/>')), relations=links, types=override, more={"word/media/image1.bin": b"Doe"}))
    assert after["word/media/image1.bin"] == pictures()[kind]


def test_charts_are_scanned_and_lose_their_dates_and_the_names_of_sheets() -> None:
    def points(kind: str, *values: str, code: str = "") -> str:
        inner = "".join(f'<c:pt idx="{i}"><c:v>{value}</c:v></c:pt>' for i, value in enumerate(values))
        return f"<c:{kind}>{f'<c:formatCode>{code}</c:formatCode>' if code else ''}<c:ptCount val=\"2\"/>{inner}</c:{kind}>"

    chart = part("c:chartSpace", "<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Weight of </a:t></a:r><a:r><a:t>Jane</a:t></a:r></a:p>"
                 "</c:rich></c:tx></c:title><c:ser><c:tx><c:strRef><c:f>'Jane Doe'!$B$1</c:f>" + points("strCache", "Doe", "Ann")
                 + "</c:strRef></c:tx><c:cat><c:numRef><c:f>Doe</c:f>" + points("numCache", "45000", "45001", code="m/d/yyyy")
                 + "</c:numRef></c:cat><c:val><c:numRef>" + points("numCache", "4.2999999999999998", "4471902", code="General")
                 + "</c:numRef></c:val></c:ser></c:chart><c:externalData r:id=\"rId1\"/>")  # fmt: skip
    data = document(paragraph("a"), {"word/charts/chart1.xml": ("chart", chart)})
    assert {text.field: text.content for text in read(data).texts} == {"body": "a", "chart": "Weight of Jane\nDoe\nAnn\n4471902"}
    after = _rebuilt(data)["word/charts/chart1.xml"]
    assert b"<c:f>Sheet1!$B$1</c:f>" in after
    assert b"<c:f>Sheet1!$A$1</c:f>" in after
    assert b"45000" not in after
    assert b"4.2999999999999998" in after
    assert b"externalData" not in after


def test_embedded_documents_are_read_and_edited_as_documents() -> None:
    inner = document(paragraph("Jane Doe"))
    links = f'<Relationship Id="rId8" Type="{R}/package" Target="embeddings/Microsoft_Word_Document.docx"/>' \
            f'<Relationship Id="rId9" Type="{R}/aFChunk" Target="afchunk.rtf"/>'  # fmt: skip
    types = f'<Default Extension="docx" ContentType="{MEDIA_TYPE}"/><Default Extension="rtf" ContentType="application/rtf"/>'
    body = p(r('<w:object><o:OLEObject ProgID="Word.Document.12" r:id="rId8"/></w:object>')) + '<w:altChunk r:id="rId9"/>'
    data = document(body, relations=links, types=types, more={
        "word/embeddings/Microsoft_Word_Document.docx": inner, "word/afchunk.rtf": b"{\\rtf1 Ann}"})  # fmt: skip
    assert [(text.field, text.content) for text in texts_of(read(data))] == [("embedded/body", "Jane Doe"), ("inserted/body", "Ann")]
    after = _rebuilt(data, TextEdit("embedded/body", 0, 8, "X"), TextEdit("inserted/body", 0, 3, "Y"))
    assert b"<w:t xml:space=\"preserve\">X</w:t>" in unzipped(after["word/embeddings/Microsoft_Word_Document.docx"])["word/document.xml"]
    assert after["word/afchunk.rtf"] == b"{\\rtf1 Y}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (document("", types='<Override PartName="/word/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/>'), "macros"),
        (document("", {"word/vba.bin": ("vbaProject", b"xyz")}), "macros"),
        (document("", {"x/sig.sigs": ("digital-signature/origin", b"xyz")}), "signature"),
        (document("", {"word/a.mht": ("aFChunk", b"xyz")}), "altChunk"),
        (document("", main="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"), "not a Word document"),
        (zipped({"[Content_Types].xml": b"<Types/>"}), "main part"),
        (document('<!DOCTYPE w:p [<!ENTITY xyz "xyz">]>'), "well-formed"),
        (document('<w:p xmlns:jane_xyz="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'), "prefix"),
    ],
)  # fmt: skip
def test_a_document_that_is_refused_says_why_without_its_words(data: bytes, message: str) -> None:
    with pytest.raises((MalformedRecord, UnsupportedFormat)) as refused:
        read(data)
    assert message in str(refused.value)
    assert "xyz" not in str(refused.value)


def test_strict_documents_are_read_like_others() -> None:
    strict = {"http://schemas.openxmlformats.org/wordprocessingml/2006/main": "http://purl.oclc.org/ooxml/wordprocessingml/main",
              "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "http://purl.oclc.org/ooxml/officeDocument/relationships"}  # fmt: skip
    parts = unzipped(document(paragraph("Jane Doe")))
    for name, content in parts.items():
        for one, other in strict.items():
            content = content.replace(one.encode(), other.encode())
        parts[name] = content
    data = zipped(parts)
    assert [text.content for text in read(data).texts] == ["Jane Doe"]
    assert b"[X]" in _rebuilt(data, TextEdit("body", 0, 8, "[X]"))["word/document.xml"]


def test_a_part_in_utf_16_keeps_its_encoding() -> None:
    parts = unzipped(document(paragraph("Renée")))
    source = parts["word/document.xml"].decode().replace("UTF-8", "UTF-16")
    parts["word/document.xml"] = b"\xff\xfe" + source.encode("utf-16-le")
    assert _rebuilt(zipped(parts), TextEdit("body", 0, 5, "Zoë"))["word/document.xml"] == (
        b"\xff\xfe" + source.replace("Renée", "Zoë").encode("utf-16-le")
    )


def test_the_second_reader_sees_every_part_attribute_and_character() -> None:
    more = {"word/x.bin": b"\x00\x01Ann Lee\x00" + "Cy Roe".encode("utf-16-le") + b"\xff", "word/Bo Doe.xml": b"<a><!-- Dan --></a>"}
    body = p("<w:pPr><w:pStyle w:val=\"Eve\"/></w:pPr>", r("Ja"), r("ne"), r("Fay", style="<w:vanish/>"), "<w:del w:id=\"1\"><w:r><w:delText>Gil</w:delText></w:r></w:del>",
             "<w:r><w:instrText> HYPERLINK Hal </w:instrText></w:r>", "<w:r><w:instrText> PAGE </w:instrText></w:r>") + "<w:ida w:joe=\"1\">Kim</w:ida>"  # fmt: skip
    lines = list(second_reading(document(body, more=more), MEDIA_TYPE))
    assert {"Ann Lee", "Cy Roe", "Bo Doe.xml", " Dan ", "Eve", "ida", "joe", "Kim"} <= set(lines)
    assert "JaneFayGil HYPERLINK Hal " in lines
    assert not any("PAGE" in line or "preserve" in line or "schemas" in line for line in lines)


def test_the_second_reader_shows_nothing_of_layout() -> None:
    body = p('<w:pPr><w:pStyle w:val="Heading1"/><w:jc w:val="center"/></w:pPr>', r("Seen", style='<w:color w:val="4F81BD"/><w:lang w:val="de-DE"/>'))
    data = document(body, {"word/styles.xml": ("styles", STYLES.replace(b"JaneDoe", b"Strong").replace(b"Doe words", b"Strong"))})
    assert {line for line in second_reading(data, MEDIA_TYPE) if line.strip()} == {"Seen"}


def test_a_file_is_recognized_by_its_content() -> None:
    parts = unzipped(document(paragraph("a")))
    assert of_content(zipped(parts)).name == "docx"
    last = {name: parts[name] for name in sorted(parts, reverse=True)}  # LibreOffice writes [Content_Types].xml last
    assert of_content(zipped(last)[:8192]).name == "docx"


def test_given_identifiers_are_gone_from_every_part_of_the_corpus() -> None:
    assert len(CORPUS) > 40
    for file in CORPUS:
        opened = read(file.path.read_bytes())
        edits: list[Edit] = [FieldEdit(action, "[NAME]") for action in actions_of(opened)]
        for text in texts_of(opened):
            taken = 0
            places = {m.span() for words in file.identifiers for m in pattern(words).finditer(text.content)}
            for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
                if start >= taken:
                    edits.append(TextEdit(text.field, start, end, "[ID]"))
                    taken = end
        out = io.BytesIO()
        opened.rebuild(edits, out)
        shown = views(out.getvalue(), file.media_type)
        assert not left_in(shown, file.sought), file.path.name
        assert left_in(shown, file.keeps) == set(file.keeps), file.path.name


def test_files_of_the_corpus_that_must_be_held_are_not_opened() -> None:
    held = [file for file in corpus(DATA / "documents") if file.path.suffix == ".docx" and file.held]
    assert len(held) > 10
    for file in held:
        [found] = open_documents(named("docx"), io.BytesIO(file.path.read_bytes()))
        assert isinstance(found, Unreadable), file.path.name


@given(words=st.lists(st.text("ab &<é😀\u00a0", min_size=1, max_size=6), min_size=1, max_size=8), drawn=st.data(),
       new=st.text("ab5- <&é😀", max_size=6))  # fmt: skip
def test_an_edit_changes_its_place_only(words: list[str], drawn: st.DataObject, new: str) -> None:
    cuts = drawn.draw(st.lists(st.sampled_from(["", "<w:tab/>", "<w:br/>", "<w:noBreakHyphen/>"]), min_size=len(words),
                               max_size=len(words)))  # fmt: skip
    body = p(*(run(word) + (r(cut) if cut else "") for word, cut in zip(words, cuts, strict=True)))
    opened = read(document(body))
    if not opened.texts:
        return
    text = opened.texts[0]
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    out = io.BytesIO()
    try:
        opened.rebuild([TextEdit("body", start, end, new)], out)
    except RecordProblem:
        pytest.fail("the edit fits")
    again = read(out.getvalue())
    found = again.texts[0].content if again.texts else ""
    expected = text.content[:start] + new + text.content[end:]
    assert "".join(found.split()) == "".join(expected.split())
    assert NAMESPACES.encode() in unzipped(out.getvalue())["word/document.xml"]


def _injected(parts: Mapping[str, bytes], seen: set[tuple[str, str]]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the parts of a document with a name in one attribute, text, or new attribute. Each kind comes once."""
    for name, data in parts.items():
        if name.endswith((".xml", ".rels")):
            root = etree.fromstring(data)
            for element in root.iter(tag=etree.Element):
                tag = str(element.tag)
                for place in (*element.attrib, "#text", "#new"):
                    if (tag, str(place)) in seen:
                        continue
                    seen.add((tag, str(place)))
                    old, text = dict(element.attrib), element.text
                    if place == "#text":
                        element.text = f"{text or ''}Zyxwvut"
                    elif place == "#new":
                        element.attrib["{urn:doe}Zyxwvut"] = element.attrib["Zyxwvut"] = "1"
                    else:
                        element.attrib[place] = "Zyxwvut"
                    yield f"{tag} {place}", {**parts, name: etree.tostring(root)}
                    element.attrib.clear()
                    element.attrib.update(old)
                    element.text = text


def test_no_attribute_and_no_element_keeps_a_name_that_is_in_no_text() -> None:
    seen: set[tuple[str, str]] = set()
    tried = 0
    small = sorted(CORPUS, key=lambda file: file.path.stat().st_size)[:24]
    for file in small:
        for place, parts in _injected(unzipped(file.path.read_bytes()), seen):
            tried += 1
            try:
                opened = read(zipped(parts))
            except RecordProblem:
                continue
            edits: list[Edit] = [FieldEdit(action, "[NAME]") for action in actions_of(opened)]
            edits += (
                TextEdit(text.field, *found.span(), "[ID]")
                for text in texts_of(opened) for found in re.finditer("zyxwvut", text.content, re.IGNORECASE)
            )  # fmt: skip
            out = io.BytesIO()
            opened.rebuild(edits, out)
            left = unzipped(out.getvalue())
            assert not any(b"zyxwvut" in f"{name} ".encode() + data.lower() for name, data in left.items()), place
    assert tried > 300
