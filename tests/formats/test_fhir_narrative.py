"""XHTML narratives: the text that a reader sees, and edits to it between unchanged tags."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import SchemaViolation
from incognote.formats.base import splice
from incognote.formats.records.narrative import Narrative

TAGS = re.compile(r"<[^>]*>")
WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"), max_size=8)
WRITTEN = WORDS.flatmap(lambda words: st.sampled_from([
    escape(words), escape(words, quote=False), "".join(f"&#{ord(c)};" for c in words),
    "".join(f"&#x{ord(c):x};" for c in words),
]))
INLINE = st.recursive(
    WRITTEN,
    lambda inner: st.tuples(st.sampled_from(["b", "i", "span", "em"]), st.lists(inner, max_size=3)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"),
    max_leaves=8,
)
BLOCKS = st.lists(st.tuples(st.sampled_from(["p", "td", "li", "h2", "b"]), INLINE), max_size=4).map(
    lambda made: "".join(f"<{tag}>{inner}</{tag}>" for tag, inner in made))


def div(inner: str) -> str:
    return f'<div xmlns="http://www.w3.org/1999/xhtml">{inner}</div>'


def edited(source: str, *changes: tuple[str, str]) -> str:
    """Replace words of a narrative at their first occurrence."""
    read = Narrative(source)
    spans = [(read.text.index(old), read.text.index(old) + len(old), new) for old, new in changes]
    return splice(source, read.edits(spans))


@given(st.data(), INLINE)
def test_edits_of_the_text_are_edits_of_the_source(data: st.DataObject, inner: str) -> None:
    source = div(inner)
    read = Narrative(source)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(read.text)), unique=True, max_size=6)))
    changes = [(a, b, data.draw(WORDS)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    changed = splice(source, read.edits(changes))
    assert Narrative(changed).text == splice(read.text, changes)
    assert TAGS.findall(changed) == TAGS.findall(source)


@given(BLOCKS)
def test_the_text_is_what_an_xml_parser_reads(inner: str) -> None:
    source = div(inner)
    theirs = "".join(ET.fromstring(source).itertext())
    assert "".join(Narrative(source).text.split()) == "".join(theirs.split())


@given(BLOCKS)
def test_without_edits_the_source_stays_as_it_is(inner: str) -> None:
    assert Narrative(div(inner)).edits([]) == []


def test_a_name_split_over_tags_is_one_name_and_its_tags_stay() -> None:
    source = div("<p>Mrs. Oyel<i>aran</i> improved.</p>")
    assert Narrative(source).text == "Mrs. Oyelaran improved."
    assert edited(source, ("Oyelaran", "[PERSON]")) == div("<p>Mrs. [PERSON]<i></i> improved.</p>")


def test_cells_are_set_off_by_tabs_and_rows_by_lines() -> None:
    tight = div("<table><tr><th>Name</th><td>Ada</td></tr><tr><th>Born</th><td>1951</td></tr></table>")
    laid_out = re.sub(r"(</?(?:table|t[rhd])>)(?=<)", r"\1\n    ", tight)
    assert laid_out != tight
    assert Narrative(tight).text == Narrative(laid_out).text == "Name\tAda\nBorn\t1951"


def test_character_references_are_one_character_each() -> None:
    source = div("<p>O&#39;Brien &amp; Jos&#xe9; &lt; M&uuml;ller</p>")
    assert Narrative(source).text == "O'Brien & José < Müller"
    assert edited(source, ("O'Brien", "[A]"), ("Müller", "[B]")) == div("<p>[A] &amp; Jos&#xe9; &lt; [B]</p>")


def test_what_is_put_in_is_escaped() -> None:
    assert edited(div("<p>Ada</p>"), ("Ada", "<b> & ]]>")) == div("<p>&lt;b&gt; &amp; ]]&gt;</p>")
    assert edited(div('<img alt="Ada"/>'), ("Ada", '"x" & y')) == div('<img alt="&quot;x&quot; &amp; y"/>')


def test_words_in_attributes_are_scanned_and_links_removed() -> None:
    source = div('<p id="ada-byron" class="note"><a href="mailto:ada@x.example" title="Ada Byron">mail</a></p>')
    read = Narrative(source)
    assert read.text.splitlines() == ["mail", "note", "Ada Byron"]
    assert edited(source, ("Ada Byron", "[PERSON]")) == div('<p class="note"><a title="[PERSON]">mail</a></p>')


def test_a_plain_attribute_stays_and_one_of_odd_value_goes() -> None:
    source = div('<td colspan="2">a</td><td colspan="Ada">b</td>')
    assert splice(source, Narrative(source).edits([])) == div('<td colspan="2">a</td><td>b</td>')


def test_a_comment_goes_and_does_not_part_a_word() -> None:
    source = div("<p>Oyel<!-- Ada's chart -->aran</p>")
    assert edited(source, ("Oyelaran", "[PERSON]")) == div("<p>[PERSON]</p>")


@pytest.mark.parametrize("bad", [
    "<script>x</script>", "<style>p{}</style>", "<iframe/>", "<form/>", "<Ada>x</Ada>", "<svg/>", "<input/>",
    "<p onclick='x'>a</p>", "<p data-name='Ada'>a</p>", "<p><b>a</p></b>", "<p>a", "a</p>", "a & b", "&Ada;", "&#0;",
    "&#xD800;", "<![CDATA[Ada]]>", "<?php Ada ?>", "<!DOCTYPE html>", "a < b", "<p class=x>a</p>",
    "<p class='a' class='b'/>", "<!-- a -- b -->", "\x00", "\ud800", "\ufffe", "</div><div>",
])
def test_what_is_no_plain_xhtml_is_refused_without_being_quoted(bad: str) -> None:
    with pytest.raises(SchemaViolation) as raised:
        Narrative(div(bad), "text.div")
    assert raised.value.field == "text.div"
    assert "Ada" not in str(raised.value)


@pytest.mark.parametrize("bad", ["", "Ada", "<p>a</p>", div("a") + "Ada", div("a") + div("b"), "</div>"])
def test_a_narrative_is_one_div(bad: str) -> None:
    with pytest.raises(SchemaViolation):
        Narrative(bad)


def test_a_page_may_have_a_head_and_a_narrative_may_not() -> None:
    page = "<!DOCTYPE html>\n<html><head><title>Ada</title></head><body><p>seen</p></body></html>"
    assert Narrative(page, page=True).text.split() == ["Ada", "seen"]
    with pytest.raises(SchemaViolation):
        Narrative(page)


def test_ten_thousand_open_elements_do_not_exhaust_the_stack() -> None:
    deep = 10_000
    assert Narrative(div("<b>" * deep + "Ada" + "</b>" * deep)).text == "Ada"


def test_repr_and_messages_hold_no_text() -> None:
    assert "Ada" not in repr(Narrative(div("Ada")))
