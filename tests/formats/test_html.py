"""HTML: what is read, what the closed rules remove or rename, and what a browser shows of the output."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import MalformedRecord
from incognote.formats.base import FieldEdit, TextEdit, actions_of, texts_of
from incognote.formats.html import HtmlDocument, second_of
from incognote.formats.markup.shapes import is_shape
from incognote.formats.registry import UnreadableSource, of_media_type, open_one
from incognote.sdk import Deidentifier

from ..evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them

FOLDER = Path(__file__).parents[1] / "data/documents/html"
GOLD = [json.loads(line) for line in (FOLDER / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
READ = [line for line in GOLD if not line["held"]]
SHOWN = [line for line in READ if line["media_type"] != "text/markdown"]
CODECS = {"word.html": "cp1252", "latin.html": "cp1252", "utf16.html": "utf-16"}
# Every text, attribute, comment and name that Chromium has in a page.
NODES = """docs => docs.map(([source, type]) => {
  const seen = [], walk = node => {
    if (node.data) seen.push(node.data)
    if (node.nodeType === 10) seen.push(node.publicId, node.systemId)
    if (node.nodeType === 1) {
      seen.push(node.localName, ...[...node.attributes].flatMap(each => [each.name, each.value]))
      if (node instanceof HTMLTemplateElement) walk(node.content)
    }
    node.childNodes.forEach(walk)
  }
  walk(new DOMParser().parseFromString(source, type))
  return seen
})"""
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")


def read(source: str, *, xml: bool = False) -> str:
    return HtmlDocument(source, xml=xml).texts[0].content


def released(source: str, *changes: tuple[str, str], xml: bool = False) -> str:
    """Return a page with the first occurrence of each word replaced."""
    document = HtmlDocument(source, xml=xml)
    text = document.texts[0].content
    edits = [TextEdit("", text.index(old), text.index(old) + len(old), new) for old, new in changes]
    return written(document, edits, "[X]")


def written(document: Any, edits: list[TextEdit], value: str) -> str:
    out = io.BytesIO()
    document.rebuild([*edits, *(FieldEdit(action, value) for action in actions_of(document))], out)
    return out.getvalue().decode(document.codec.encoding)


def with_gold(line: dict[str, Any]) -> str:
    """Return a file of the corpus with all of its gold identifiers replaced."""
    _, document = open_one((FOLDER / line["file"]).read_bytes(), line["media_type"])
    edits = []
    for text in texts_of(document):
        forms = [r"\s+".join(map(re.escape, each["text"].split())) for each in line["identifiers"]]
        pattern = "|".join(sorted(forms, key=len, reverse=True)) or "$^"
        edits += [TextEdit(text.field, *found.span(), "[X]") for found in re.finditer(pattern, text.content)]
    return written(document, edits, "[X]")


def left_in(line: dict[str, Any], seen: str) -> list[str]:
    """Return the gold identifiers of a file that are whole words of a text."""
    every = [each["text"] for each in line["identifiers"]]
    return [text for text in every if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", seen)]


def words(text: str) -> str:
    return " ".join(text.split())


def test_blocks_are_lines_and_cells_are_set_off_by_tabs() -> None:
    rows = "<tr><td><p>Name</p><td>Ada</td></tr><tr><th>Born<td><div>1951</div>"
    page = f"<H1>Note</H1><table>{rows}</table>a<br>b<p> c\n d"
    assert read(page) == "Note\nName\tAda\nBorn\t1951\na\nb\nc d"


def test_white_space_is_kept_where_a_browser_keeps_it() -> None:
    assert read("<pre>a\n  b</pre><div style='white-space: pre-wrap'>c\n\td</div><p>e\n f") == "a\n  b\nc\n\td\ne f"
    assert read("<style>.note{white-space:pre-line}</style><div class=note>a\nb</div>") == "a\nb"


def test_references_are_read_as_a_browser_reads_them() -> None:
    assert read("&#69;mily &amp B &notit; &#x80; AT&T <p title='&copy=1&copy;2'>") == "Emily & B ¬it; € AT&T\n&copy=1©2"


def test_a_name_split_over_tags_is_one_name_and_its_tags_stay() -> None:
    page = "<P>Em<b>i</b>ly<!-- x --> Car&#116;er</P>"
    assert read(page) == "Emily Carter"
    assert released(page, ("Emily Carter", "<A & B>")) == "<P>&lt;A &amp; B&gt;<b></b></P>"


def test_hidden_words_are_lines_of_their_own() -> None:
    page = "<style>.x{display:none}</style><p>Em<i class=x>1</i>i<b hidden>2</b>ly<ruby>C<rt>3</rt></ruby><p>seen"
    assert read(page) == "EmilyC\nseen\n1\n2\n3"


def test_words_in_attributes_are_read_and_other_attributes_are_removed() -> None:
    page = "<img alt='Ada B' src=ada.png onerror=ada() data-x=ada width=20 height=ada>"
    assert released(page, ("Ada", "[X]")) == "<img alt='[X] B' width=20>"
    assert released("<p title=Ada>x", ("Ada", 'A "B"')) == '<p title="A &quot;B&quot;">x'
    assert released("<p title=Ada lang=en>x", ("Ada", "")) == '<p title="" lang=en>x'


def test_names_in_the_page_are_renamed_alike_and_names_of_layout_stay() -> None:
    page = ("<style>#ada-b, p.note {color:red}</style><p id=ada-b class='note ada-b'><label for=ada-b>a</label>"
            "<a href='#ada-b'>b</a><a href='/ada'>c</a>")
    assert released(page) == (
        "<style>#n1, p.note {color:red}</style><p id=\"n1\" class='note n1'><label for=\"n1\">a</label>"
        "<a href='#n1'>b</a><a href='#'>c</a>"
    )


def test_styles_keep_only_words_of_layout() -> None:
    page = ("<style>/* Ada */ p{color:#fff;content:'Ada';font:9pt Ada} .a{background:url(/ada)} @import 'ada';"
            "@media print{b{margin:0}}</style><p style='color:red;--ada:1'>x</p>")
    assert "ada" not in released(page).lower()
    assert all(kept in released(page) for kept in ("color:#fff", "@media print{b{margin:0}}", "style='color:red'"))


def test_numbers_that_could_identify_are_no_layout() -> None:
    page = "<p width='617 555 0142' height=4471902 style='margin:2025-03-16'>x</p>"
    assert released(page) == "<p>x</p>"


@pytest.mark.parametrize("style", [
    "text-align:center", "vertical-align:top", "border-left:1px solid rgb(204,204,204)", "text-transform:capitalize",
    "color:rgba(32, 33, 36, .87)", "justify-content:space-between", "empty-cells:show", "z-index:1"])
def test_the_usual_layout_of_mail_and_word_processors_stays(style: str) -> None:
    page = f"<p style='{style}'>x</p>"
    assert released(page) == page
    assert "617" not in released(f"<p style='{style};border-left:1px solid rgb(617,555,142)'>x</p>")


@pytest.mark.parametrize("part", [
    "<!-- Ada -->", "<!--[if mso]>Ada<![endif]-->", "<script>Ada</script>", "<script>Ada", "<iframe src=x>Ada</iframe>",
    "<?php Ada ?>", "<!Ada>", "</ Ada>", "</Ada>", "<ada@x.example>", "<b Ada", "<base href=ada>", "<link href=ada>",
    "<meta name=Ada content=Ada>", "<meta http-equiv=refresh content='0;url=ada'>", "<![CDATA[Ada]]>", "<style>Ada",
])  # fmt: skip
def test_what_no_reader_sees_is_removed(part: str) -> None:
    assert "ada" not in released(f"<p>seen{part}").lower()
    assert released(f"<p>seen{part}").startswith("<p>seen")


def test_what_is_removed_between_characters_does_not_join_them() -> None:
    assert released("a <<!-- x -->b title=c") == "a <<!---->b title=c"
    assert released("a &am<!-- x -->p;") == "a &am<!---->p;"


@pytest.mark.parametrize("page", [
    "<p>a\n<plaintext>b", "<p>a\n<xmp>b</xmp>", "<p>a\n<title>b<i></title>", "<p>a\n<textarea>b", "<p>a\n<style/>b",
    "<p>a\n<bdo dir=rtl>b</bdo>", "<p>a\n<p style='unicode-bidi:bidi-override'>b", "<p>a\nb\0c",
    "<p>a\n<noscript><p title='</noscript>b'></noscript>",
])  # fmt: skip
def test_what_browsers_could_read_otherwise_is_refused_with_its_line(page: str) -> None:
    with pytest.raises(MalformedRecord, match=r"^line 2: "):
        HtmlDocument(page)


def test_meta_data_are_structured_fields_and_known_identifiers() -> None:
    document = HtmlDocument("<meta name=Author content='Emily Carter'><meta name=created content=2025-03-16><p>x")
    assert [(action.text.field, action.action) for action in document.actions] == [
        ("meta[1].author", "mask"), ("meta[2].created", "date")]
    assert [each.value for each in document.known] == ["Emily Carter"]
    new = "<meta name=Author content='[X] Y'><meta name=created content=\"[X] Y\"><p>x"
    assert written(document, [], "[X] Y") == new


def test_the_name_of_a_program_is_no_person_and_any_other_name_there_is_removed() -> None:
    page = '<meta name=Originator content="Microsoft Word 15"><meta name=ProgId content=Word.Document><p>x'
    document = HtmlDocument(page)
    assert (released(page), document.known, document.actions) == (page, (), ())
    assert HtmlDocument(page.replace("Microsoft Word 15", "Emily Carter")).known == ()
    for name in ("Originator", "Generator", "ProgId"):
        assert released(f'<meta name={name} content="Emily Carter"><p>x') == "<p>x"


@pytest.mark.parametrize("tag", ["Roe-Jane", "Roe", "en-Roe", "en-Jane-US", "mrn", "en-447", "en-US-x-roe", "x-roe"])
def test_what_is_no_language_tag_is_removed(tag: str) -> None:
    assert released(f"<p lang='{tag}' xml:lang='{tag}'>x</p>") == "<p>x</p>"


@pytest.mark.parametrize("tag", ["", "en", "EN-us", "zh-Hant-TW", "es-419", "fil", "sr-Latn", "x-none"])
def test_a_language_tag_stays(tag: str) -> None:
    assert released(f"<p lang='{tag}'>x</p>") == f"<p lang='{tag}'>x</p>"


def test_a_size_of_html_has_at_most_four_digits() -> None:
    assert released("<table width=4471.902 height=44719><td width='447.1902%'>x") == "<table><td>x"
    page = "<table width='33.33%' height=1200><col width='128*'><img width=20px height=auto>"
    assert released(page) == page


@pytest.mark.parametrize(("name", "value"), [
    ("d", "M256 8C119 8 8 119 8 256s111 248 248 248 248-111 248-248S393 8 256 8zm0 448c-110.5 0-200-89.5-200-200z"),
    ("d", "M 43.2 388.8 L 79.6 341.25 H 3 v-1.5e-3z"), ("d", "M1 2a2 2 0 012 2 2 2 0 01-2-2l.5.5z"),
    ("points", "343.25,388.8 379.6,341.2"), ("viewBox", "0 0 1512 1512"),
    ("transform", "translate(343.2 388.8) rotate(9)"),
])  # fmt: skip
def test_the_second_reader_skips_drawing_data(name: str, value: str) -> None:
    page = f"<svg><g {name}='{value}'/></svg>"
    assert page == released(page)
    assert value not in "\n".join(second_of(page))


@pytest.mark.parametrize(("name", "value"), [
    ("d", "617 555 0142"), ("d", "M617-555-0142 1"), ("d", "M617 555 2142"), ("d", "M4471902 1"), ("d", "M1 2 mrn"),
    ("d", "M1 2a617 555 2142 4471 902 1 1"), ("points", "617 555 2142"), ("viewBox", "617 555 2142"), ("d", "M"),
    ("transform", "translate(617 555 2142)"), ("title", "M1 2z"), ("width", "M1 2z"),
])  # fmt: skip
def test_the_second_reader_shows_what_is_no_drawing_data(name: str, value: str) -> None:
    assert not is_shape(name.lower(), value)
    assert value in [*second_of(f"<svg><g {name}='{value}'/></svg>")]


@pytest.mark.parametrize(("page", "what"), [
    ('<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"><title>x</title></ClinicalDocument>', "C-CDA"),
    ("<a:ClinicalDocument xmlns:a='urn:hl7-org:v3'>x</a:ClinicalDocument>", "C-CDA"),
    ("<Patient xmlns='http://hl7.org/fhir'>x</Patient>", "FHIR XML"), ("<?xml version='1.0'?><note>x</note>", "XML"),
    ("{\\rtf1 x}", "RTF"),
])  # fmt: skip
def test_another_format_named_html_is_refused(page: str, what: str) -> None:
    with pytest.raises(UnreadableSource, match=f"^{what}[ ,]"):
        open_one(page.encode(), "text/html")


@pytest.mark.parametrize("page", ["<details><summary>x</summary></details>", "<svg><text>x</text></svg>", "x"])
def test_a_part_of_a_page_is_a_page(page: str) -> None:
    assert open_one(page.encode(), "text/html")[0].name == "html"


def test_xhtml_reads_character_data_and_empty_elements_as_xml_does() -> None:
    page = "<p>a <![CDATA[<b>Ada</b>]]></p><title/><p>b</p>"
    assert read(page, xml=True) == "a <b>Ada</b>\nb"
    assert released(page, ("Ada", "<]]>"), xml=True) == "<p>a <![CDATA[<b><]]]]><![CDATA[></b>]]></p><title/><p>b</p>"


def test_a_character_outside_the_encoding_is_written_as_a_reference() -> None:
    _, document = open_one(b"<meta charset=latin1><p>Mu\xf1oz", "text/html")
    text = document.texts[0]
    out = io.BytesIO()
    document.rebuild([TextEdit("", text.content.index("Mu"), len(text), "Łukasz ñ")], out)
    assert out.getvalue() == b"<meta charset=latin1><p>&#321;ukasz \xf1"


@pytest.mark.parametrize("line", READ, ids=lambda line: line["file"])
def test_nothing_of_the_gold_identifiers_is_left_for_the_second_reader(line: dict[str, Any]) -> None:
    second = of_media_type(line["media_type"]).second
    assert second is not None
    new = with_gold(line)
    seen = words("\n".join([new, *second(new.encode(CODECS.get(line["file"], "utf-8")))]))
    assert left_in(line, seen) == []
    assert [word for word in line["keeps"] if word not in seen] == []


@needs_chromium
def test_chromium_shows_the_page_unchanged_but_for_the_identifiers(tmp_path: Path) -> None:
    assert len(SHOWN) > 25
    with Browser() as browser:
        browser.open("about:blank", 800)
        pages = [(with_gold(line), line["media_type"]) for line in SHOWN]
        for line, nodes in zip(SHOWN, browser.run(f"({NODES})({json.dumps(pages)})"), strict=True):
            seen = words("\n".join(nodes))
            assert (line["file"], left_in(line, seen)) == (line["file"], [])
        for line in (line for line in SHOWN if line["kind"] == "produced"):
            shown = []
            for content in ((FOLDER / line["file"]).read_bytes().decode(), with_gold(line)):
                path = tmp_path / f"page{Path(line['file']).suffix}"
                path.write_text(content, encoding="utf-8", newline="")
                browser.open(path, 800)
                shown.append(words(browser.run("document.documentElement.innerText")))
            for each in sorted(line["identifiers"], key=lambda each: -len(each["text"])):
                shown[0] = shown[0].replace(each["text"], "[X]")
            assert shown[1] == shown[0]


@needs_chromium
def test_chromium_finds_no_word_in_tag_soup_that_the_reader_did_not_show() -> None:
    soup = """
        <p>|</p>|<b |<!--|-->|--!>|<!-->|<![CDATA[|]]>|<svg>|</svg>|<math>|<mtext>|<foreignObject>|<desc>|<title>|
        </title>|<textarea>|</textarea>|<style>|</style>|<script>|</script>|<noscript>|</noscript>|<select>|<option>|<table>|<td>|
        <template>|<iframe>|</iframe>|<xmp>|<frameset>|<plaintext>|<?|<!x|</ |</>|<|>|"|'|=| | title=|/|/>|&|&#|&#x4|
        &amp|&lt;|b title="|data-x='|<br>|</br|<a href=#|<div hidden>|</div>|<pre>|<!DOCTYPE|<o:p>|<ruby>|<rt>|
        <style><!--|<h1|<img alt=|<meta name=author content=|<annotation-xml>|<style/>|<title/>"""
    atoms = soup.replace("\n        ", "").split("|")
    drawn = random.Random(21)
    documents = []
    while len(documents) < 1500:
        source = "".join(drawn.choice(atoms) + f"Wx{i}" * drawn.choice((0, 1, 1)) for i in range(drawn.randint(3, 14)))
        try:
            documents.append(HtmlDocument(source))
        except MalformedRecord:
            continue
    outputs = [written(document, [], "[X]") for document in documents]
    assert sum("Wx" in new for new in outputs) > 1000
    with Browser() as browser:
        browser.open("about:blank", 800)
        pages = [(new, "text/html") for new in outputs]
        for document, nodes in zip(documents, browser.run(f"({NODES})({json.dumps(pages)})"), strict=True):
            ours = set(re.findall(r"Wx\d+", document.texts[0].content))
            theirs = set(re.findall(r"(?i)Wx\d+", "\n".join(nodes)))
            assert (document.content, theirs - ours) == (document.content, set())
    for document, new in zip(documents, outputs, strict=True):
        assert (new, read(new).split()) == (new, document.texts[0].content.split())


def test_a_page_goes_in_and_comes_out_as_a_page() -> None:
    page = b"<!DOCTYPE html><title>Emily Carter</title><p>Mrs. <b>Emily</b> Carter, MRN 4471902, has pneumonia.</p>"
    result = Deidentifier(detectors=("rules",), policy="strict").deidentify(page, media_type="text/html")
    assert result.data == (b"<!DOCTYPE html><title>[PERSON]</title><p>Mrs. <b>[PERSON]</b>, MRN "
                           b"[MEDICAL_RECORD_NUMBER], has pneumonia.</p>")
