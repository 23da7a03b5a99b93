"""Markdown: what a reader sees of it is read, and its marks stay."""

from __future__ import annotations

import io
import random
import re

import pytest

from incognote.errors import MalformedRecord
from incognote.formats.base import TextEdit
from incognote.formats.markdown import MarkdownDocument, second
from incognote.sdk import Deidentifier


def read(source: str) -> str:
    return MarkdownDocument(source).texts[0].content


def released(source: str, form: str = "Ada", new: str = "[X]") -> str:
    """Return a text with every match of a pattern replaced."""
    document = MarkdownDocument(source)
    out = io.BytesIO()
    document.rebuild([TextEdit("", *found.span(), new) for found in re.finditer(form, document.texts[0].content)], out)
    return out.getvalue().decode()


def test_marks_are_not_read() -> None:
    assert read("# A **b** _c_ ~~d~~ `e*`\n> f \\* g&amp;h\n\n5 * 6 a_b_c") == "A b c d e*\nf * g&h\n\n5 * 6 a_b_c"
    assert read("| a | b |\n|---|:-:|\n| c | d |\n") == "a\tb\nc\td\n"


def test_links_are_read_and_lead_nowhere() -> None:
    source = "[a](http://x/Ada 'Ada b') ![Ada](<Ada.png>) <ada@x.example> [c][Ada]\n\n[Ada]: /Ada \"Ada\"\n"
    assert read(source) .split() == "a Ada ada@x.example c Ada Ada Ada b Ada".split()
    assert released(source, "Ada|ada@x.example") == (
        "[a](# '[X] b') ![[X]](#) [X] [c][\\[X\\]]\n\n[\\[X\\]]: # \"[X]\"\n"
    )


def test_a_name_split_over_marks_is_one_name() -> None:
    assert released("Mrs. **A**d*a* and *x*") == "Mrs. **[X]** and *x*"
    assert released("Mrs. A**d**`a`.") == "Mrs. [X]."


def test_what_is_put_in_is_escaped() -> None:
    assert released("Ada | `Ada`", new="*a* `b` <c>") == "\\*a\\* \\`b\\` \\<c\\> | `*a* 'b' <c>`"
    assert read(released("Ada", new="*a* `b` <c> & _d_")) == "*a* `b` <c> & _d_"


def test_html_is_read_by_the_rules_of_pages() -> None:
    source = "a <b title='Ada' onclick=Ada>c</b><!-- Ada -->\n\n<script>Ada</script>\n\n`<b title='d'>`"
    assert read(source) == "a c\n\n\n\n<b title='d'>\nAda"
    assert released(source) == "a <b title='[X]'>c</b>\n\n\n\n`<b title='d'>`"


def test_yaml_stays_yaml() -> None:
    source = '---\nauthor: Ada B\ntitle: "\\u0041da"\n---\nx'
    assert read(source) == "---\nauthor: Ada B\ntitle: Ada\n---\nx"
    assert released(source) == '---\nauthor: "[X] B"\ntitle: "[X]"\n---\nx'


def test_yaml_without_quotes_gets_quotes_that_are_not_read_and_keeps_its_structure() -> None:
    source = "---\ndate: 2024-03-16 # Ada\nby:\n- name: Ada B\n- Ada\n  - Ada\nt: [a, Ada]\nq: 'Ada'\n---\nx Ada"
    new = released(source, "Ada|2024-03-16")
    assert new == (
        '---\ndate: "[X]" # [X]\nby:\n- name: "[X] B"\n- "[X]"\n  - "[X]"\nt: [a, [X]]\nq: \'[X]\'\n---\nx [X]'
    )
    assert read(new) == re.sub("Ada|2024-03-16", "[X]", read(source))


def test_a_note_with_dates_and_names_in_its_yaml_is_released() -> None:
    note = b"---\nauthor: Emily Carter\ndate: 2024-03-16\nmrn: 4471902\n---\n\nTakes apixaban.\n"
    result = Deidentifier(detectors=("rules",), policy="strict").deidentify(note, media_type="text/markdown")
    assert result.verdict.released
    assert b"4471902" not in result.data
    assert result.data.endswith(b"\n---\n\nTakes apixaban.\n")


def test_a_definition_over_lines_is_one_definition() -> None:
    source = "[c]:\n  records/Ada\n  'Dr. Ada'\n\n[c]\r\n\r\n[d]: /Ada\r\n"
    assert released(source) == "[c]:\n  #\n  'Dr. [X]'\n\n[c]\r\n\r\n[d]: #\r\n"
    assert read("[Assessment]:\nPneumonia") == "[Assessment]:\nPneumonia"


def test_what_is_no_link_does_not_become_one() -> None:
    new = released('[d](x"Ada B") [e](x y) c', "Ada B")
    assert new == '[d]\\(x"[X]") [e](x y) c'
    assert read(new) == '[d](x"[X]") [e](x y) c'


def test_markdown_it_finds_no_word_that_the_reader_did_not_show_and_none_is_left() -> None:
    atoms = """*|**|_|`|``|~~|[|]|(|)|](|![|<|>|<b>|</b>|<!--|-->|\\|# |> |- |1. |    |&amp;|&#65;|[a]: |[a]|[a][a]|"|'|
        !|<http://a.b/|<a@b.c>| title="|---|===|<div>|</div>|<pre>|<script>|</script>|<style>|<textarea>|</textarea>"""
    parts = [" ", *atoms.replace("\n        ", "").split("|"), "|", "\n|---|---|\n", "\n", "\n\n", "```\n", "~~~"]
    drawn, seen = random.Random(21), 0
    for _ in range(1500):
        words = (drawn.choice(parts) + f"Wx{i}z" * drawn.choice((0, 1, 1)) for i in range(drawn.randint(3, 16)))
        source = "".join(words)
        try:
            shown = set(re.findall(r"Wx\d+z", read(source)))
        except MalformedRecord:
            continue
        seen += bool(shown)
        theirs = set(re.findall(r"Wx\d+z", "\n".join(second(released(source, "(?!)").encode()))))
        assert (source, theirs - shown) == (source, set())
        new = released(source, r"Wx\d+z")
        assert (source, "Wx" in new or "Wx" in "\n".join(second(new.encode()))) == (source, False)
    assert seen > 1000


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ("Ada: http://x/ada", "\\[X]: [X]"),
        ("Ada:\nfine", "\\[X]:\nfine"),
        ("a\n\n> - Dr. **Ada**: fine\n", "a\n\n> - \\[X]: fine\n"),
        ("[Id]: Ada http://x/ada\n", "\\[Id]: [X]\n"),
        ("Ada: is fine", "[X]: is fine"),
        ("```\nAda: http://x/ada\n```\n", "```\n[X]: [X]\n```\n"),
        ("[^1]: Ada http://x/ada", "[^1]: [X]"),
    ],
)
def test_new_words_before_a_colon_are_not_a_definition(source: str, new: str) -> None:
    form = r"(?:Dr\. )?Ada(?! http)|(?:Ada )?http\S+"
    assert released(source, form) == new
    assert read(new) == re.sub(form, "[X]", read(source))


def test_a_note_with_a_name_before_an_address_is_released() -> None:
    note = b"# Note\n\nGretchen Halloway: http://x.org/abc\n\nTakes apixaban.\n"
    result = Deidentifier(detectors=("rules",), policy="strict").deidentify(note, media_type="text/markdown")
    assert result.verdict.released
    assert b"\\[PERSON]: [URL]" in result.data
