"""RTF: which characters are texts, which are structured fields, and what is removed or refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import MalformedRecord
from incognote.formats.base import ByteRange, Edit, FieldEdit, TextEdit
from incognote.formats.registry import of_content, second_reading
from incognote.formats.rtf import words
from incognote.formats.rtf.document import RtfDocument
from incognote.formats.rtf.stretch import encoded
from incognote_benchmarks.documents import corpus, left_in, pattern, views

DATA = Path(__file__).parents[1] / "data"
CORPUS = [file for file in corpus(DATA / "documents") if file.path.suffix == ".rtf" and not file.held]
FONTS = r"{\fonttbl{\f0\froman\fcharset0 Times New Roman;}{\f1\fcharset204 Arial;}{\f2\fcharset128 MS Mincho;}}"


def _opened(body: str) -> RtfDocument:
    return RtfDocument(f"{{\\rtf1\\ansi\\ansicpg1252\\deff0{FONTS}{body}}}".encode("latin-1"))


def _texts(body: str) -> dict[str, str]:
    return {text.field: text.content for text in _opened(body).texts}


def _written(body: str, *edits: TextEdit) -> str:
    document = _opened(body)
    fields = [FieldEdit(action, f"[{action.entity_type}]") for action in document.actions]
    out = io.BytesIO()
    document.rebuild([*edits, *fields], out)
    again = RtfDocument(out.getvalue())
    assert not again._parts.defaults  # what is removed once is gone
    return out.getvalue().decode("latin-1").removeprefix(f"{{\\rtf1\\ansi\\ansicpg1252\\deff0{FONTS}")[:-1]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"Jo{\b h}{\i\f0 n}\b0  Smith", "John Smith"),
        ("Jo\r\nhn\\par\nSmith\\\nend", "John\nSmith\nend"),
        (r"Jos\'e9 Wi\u347\'3fniewski", "José Wiśniewski"),
        (r"\uc2 \u233 xxJ\uc0\u233 J {\uc3\u8217???s}", "éJéJ ’s"),
        (r"\u-10179?\u-8704?!", "😀!"),
        (r"{\f1 \'c8\'e2\'e0\'ed} {\f2 \'8e\'52\'93c}", "Иван 山田"),
        (r"{\f1\dbch\af2\loch\f1 \'c8}{\rtlch\fcs1\af2\ltrch\fcs0\f1 \'c8}", "ИИ"),
        (r"a\emdash b\rquote s\~c\_d e\-f\{\}\\", "a—b’s\xa0c‑d ef{}\\"),
        (r"{\field{\*\fldinst HYPERLINK x}{\fldrslt Jane}} Doe", "Jane Doe"),
        (r"{\upr{Jos?}{\*\ud{Jos\u233?}}}", "José"),
        (r"{\listtext 1.\tab}Aspirin", "1.\tAspirin"),
        (r"\trowd\intbl Name\cell\pard\intbl Doe\par\cell\row\pard x", "Name\tDoe\nx"),
        (r"{\unknown Jane} {\*\unknown Doe}", "Jane "),
        (r"Jo{\v xx}h{\deleted yy}n{\v\v0 n}", "Johnn"),
    ],
)
def test_the_body_reads_as_it_is_shown(source: str, text: str) -> None:
    assert _texts(source)["body"] == text


def test_headers_notes_comments_and_properties_are_texts_of_their_own() -> None:
    source = (
        r"{\info{\title Anna}{\*\doccomm Ben}}{\header Cara\par}{\headerf Dan}Seen{\footnote\chftn Eva}"
        r"{\v{\*\atnid FG}{\*\atnauthor Fred Good}\chatn{\*\annotation{\*\atndate 123}\pard Gil}}"
        r"{\shp{\*\shpinst\shpleft1{\sp{\sn shapeType}{\sv 202}}{\shptxt Hal}}} today"
    )
    assert _texts(source) == {
        "body": "Seen today", "info.title": "Anna", "info.doccomm": "Ben", "header": "Cara\n", "header 2": "Dan",
        "footnote": "Eva", "comment": "Gil", "text box": "Hal",
    }  # fmt: skip


def test_authors_are_structured_fields_and_known_names() -> None:
    document = _opened(r"{\info{\author Fred Good}{\operator User}}{\*\revtbl{Unknown;}{Ann Lee;}{Ward Clerk;}}")
    assert [(a.text.field, a.text.content, a.entity_type) for a in document.actions] == [
        ("info.author 1", "Fred Good", "PERSON"), ("revision.author 2", "Ann Lee", "PERSON"),
        ("revision.author 3", "Ward Clerk", "PERSON"),
    ]  # fmt: skip
    assert [known.value for known in document.known] == ["Fred Good", "Ann Lee"]
    assert _written(r"{\info{\author Fred Good}}{\*\revtbl{Unknown;}{Ann Lee;}}") == (
        r"{\info{\author [PERSON]}}{\*\revtbl{Unknown;}{[PERSON];}}"
    )


@pytest.mark.parametrize(
    ("source", "left"),
    [
        (r"a{\v hidden\tab}b{\deleted gone}c", r"a{\v \tab}b{\deleted }c"),
        (r"a{\*\unknown{\x y}\bin2 }}z}b{\*\datastore 504b}", "ab"),
        (r"{\info{\creatim\yr2024\mo3}{\hlinkbase x}}{\*\userprops{\propname MRN}{\staticval 7}}", r"{\info}"),
        (r"{\field{\*\fldinst{HYPERLINK }{\b mailto:x}}{\fldrslt y}}", r"{\field{\*\fldinst{}{\b }}{\fldrslt y}}"),
        (r"{\field{\*\fldinst PAGE \\* MERGEFORMAT}{\fldrslt 1}}", None),
        (r"{\*\bkmkstart _Toc12}a{\*\bkmkend _Toc12}{\*\bkmkstart Doe}b{\*\bkmkend Doe}",
         r"{\*\bkmkstart _Toc12}a{\*\bkmkend _Toc12}b"),
        (r"{\pict\pngblip 8950}{\*\shppict{\pict 00}}{\nonshppict{\pict 00}}", "[picture][picture]"),
        (r"a{\v{\pict 00}}b{\deleted\pict 00}", r"a{\v}b{\deleted}"),
        (r"a\b{\object\objemb{\*\objdata 01}{\result x}}b", r"a\b[object]b"),
        (r"{\shp{\*\shpinst{\sp{\sn pib}{\sv{\pict 00}}}}}", "[picture]"),
        (r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 1}}{\sp{\sn wzName}{\sv Doe}}{\sp{\sn Doe}{\sv 1}}{\shptxt a}}}",
         r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 1}}{\shptxt a}}}"),
        (r"{\shp{\*\shpinst{\sp{\fldrslt Doe}{\sn pib}{\sv Doe}}{\shptxt a}}}x", r"{\shp{\*\shpinst{\shptxt a}}}x"),
        (r"a{\b b\bkmkstart Doe}c", r"a{\b b}c"),
        (r"{\stylesheet{\s0 Normal;}{\*\cs1 Doe letter;}}", r"{\stylesheet{\s0 Normal;}{\*\cs1 Style 1;}}"),
        (r"{\fonttbl{\f3 Doe;}}", r"{\fonttbl{\f3 Arial;}}"),
        (r"{\*\listtable{\list{\listlevel{\leveltext\'04Doe\'00;}{\levelnumbers\'01;}}{\listname Doe;}}}",
         r"{\*\listtable{\list{\listlevel{\leveltext\'04---\'00;}{\levelnumbers\'01;}}{\listname }}}"),
        (r"\doecarter\b\janedoe x{\colortbl;\red0 Doe;}", r"\b x{\colortbl;\red0 }"),
        (r"\revdttm123\u8217 D\u347S\u8217\'92", r"\u8217?\u347S\u8217\'92"),
        (r"{\*\formfield{\ffname Doe}{\ffname Text1}{\*\ffdeftext a}}",
         r"{\*\formfield{\ffname }{\ffname Text1}{\*\ffdeftext a}}"),
    ],
)  # fmt: skip
def test_unread_parts_are_removed_and_all_other_bytes_stay(source: str, left: str | None) -> None:
    assert _written(source) == (source if left is None else left)


@pytest.mark.parametrize(
    ("source", "edit", "left"),
    [
        (r"Mr. Jo{\b h}{\i n}", (4, 8, "Ng"), r"Mr. Ng{\b }{\i }"),
        (r"a\b\'e9b", (1, 2, ""), r"a\b b"),
        (r"a\b(b)", (1, 2, "Zoë"), r"a\b Zo\u235?b)"),
        (r"{\uc0 a\u233 b}", (1, 2, "ø{"), r"{\uc0 a\u248 \{b}"),
        (r"\intbl A\cell B\cell\row", (0, 3, "C"), r"\intbl C\cell \cell\row"),
        (r"1 Elm\par Ohio", (0, 10, "X"), "X"),
        (r"{\header }x", (1, 1, "y"), r"{\header }xy"),
    ],
)
def test_new_words_replace_the_first_part_of_a_mention(source: str, edit: tuple[int, int, str], left: str) -> None:
    assert _written(source, TextEdit("body", *edit)) == left


@pytest.mark.parametrize(
    "source",
    [r"a\bin3 xyz", "a}b{c", r"\'zz", r"\header a", r"{\info{\author xyz\title a}}",
     r"{\field{\*\fldinst xyz\pict 00}}", r"{\f3\cpg12345 }" + "{" * 2001 + "}" * 2001, "a\\"],
)
def test_a_damaged_document_is_refused_without_its_words(source: str) -> None:
    with pytest.raises(MalformedRecord) as refused:
        _opened(source)
    assert "xyz" not in str(refused.value)


def test_the_second_reader_sees_every_group() -> None:
    source = (
        r"{\rtf1\ansi" + FONTS + r"{\info{\title Anna}}{\header Ben}a{\footnote Cara}{\*\unknown Dan}{\v Eva}"
        r"{\*\annotation Fred}{\f1 \'c8\'e2\'e0\'ed}\u8217 G{\sp{\sn Hal}{\sv Ida}}Jo{\b hn}{\pict 4b}}"
    )
    lines = "\n".join(second_reading(source.encode("latin-1"), "application/rtf")).splitlines()
    assert {"Anna", "Ben", "Cara", "Dan", "Fred", "G", "Hal", "Ida", "4b"} <= set(lines)
    assert any("Eva" in line for line in lines)
    assert any("Иван’John" in line for line in lines)
    assert not any("Times" in line for line in lines)  # every document may keep the names of fonts


def test_a_file_is_recognized_by_its_content() -> None:
    assert of_content(b"{\\rtf1 a}").name == "rtf"


def test_a_note_in_rtf_reads_as_in_plain_text() -> None:
    notes = [json.loads(row)["text"] for row in (DATA / "notes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(notes) > 100
    for note in notes:
        lines = "\\par\n".join(encoded(line, 1) for line in note.split("\n"))
        assert _texts(f"\\pard\\plain {lines}")["body"] == note


def test_given_identifiers_are_gone_from_every_group_of_the_corpus() -> None:
    assert len(CORPUS) > 30
    for file in CORPUS:
        document = RtfDocument(file.path.read_bytes())
        edits: list[Edit] = [FieldEdit(action, "[NAME]") for action in document.actions]
        for text in document.texts:
            taken = 0
            places = {m.span() for words in file.identifiers for m in pattern(words).finditer(text.content)}
            for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
                if start >= taken:
                    edits.append(TextEdit(text.field, start, end, "[ID]"))
                    taken = end
        out = io.BytesIO()
        document.rebuild(edits, out)
        shown = views(out.getvalue(), file.media_type)
        assert not left_in(shown, file.sought), file.path.name
        assert left_in(shown, file.keeps) == set(file.keeps), file.path.name


def _clean(path: Path) -> RtfDocument:
    """Return a document without anything that is removed from every document."""
    document, out = RtfDocument(path.read_bytes()), io.BytesIO()
    document.rebuild([FieldEdit(action, "Ann Lee") for action in document.actions], out)
    return RtfDocument(out.getvalue())


FILES = [_clean(file.path) for file in CORPUS]


@given(drawn=st.data(), new=st.text("ab5- \\{;\né😀", max_size=6))
def test_an_edit_changes_the_bytes_of_its_place_only(drawn: st.DataObject, new: str) -> None:
    document = drawn.draw(st.sampled_from(FILES))
    text = drawn.draw(st.sampled_from([text for text in document.texts if text.content]))
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    out = io.BytesIO()
    same = [FieldEdit(action, action.text.content) for action in document.actions]
    document.rebuild([*same, TextEdit(text.field, start, end, new)], out)
    expected = {each.field: each.content for each in document.texts}
    expected[text.field] = text.content[:start] + new + text.content[end:]
    again = {each.field: each.content for each in RtfDocument(out.getvalue()).texts}
    assert {field: "".join(words.split()) for field, words in again.items()} == {
        field: "".join(words.split()) for field, words in expected.items()
    }  # a table keeps its cells
    left, at = b"", 0
    for place in document.places(text.field, start, end):
        assert isinstance(place, ByteRange)
        left, at = left + document.data[at : place.start], place.end
    left += document.data[at:]
    if not new:
        assert out.getvalue().replace(b" ", b"") == left.replace(b" ", b"")  # a control word may need its space


@pytest.mark.parametrize("head", [r"\mac", r"\ansi\ansicpg10000"])
def test_both_readers_know_the_code_page_of_old_macs(head: str) -> None:
    source = rf"{{\rtf1{head} Ren\'8e}}".encode()
    assert RtfDocument(source).texts[0].content == "René"
    assert set(second_reading(source, "application/rtf")) <= {"René", ""}


@pytest.mark.parametrize(
    "source",
    [r"{\rtf1\ansi\ansicpg1026 \'4d}", r"{\rtf1\ansi\ansicpg500 a}", r"{\rtf1{\fonttbl{\f0\cpg500 Arial;}}a}",
     r"{\rtf1 a\cpg44719 }", r"{\rtf1\ansi\ansicpg864 a}"],
)  # fmt: skip
def test_a_code_page_in_which_ascii_means_other_characters_is_refused(source: str) -> None:
    with pytest.raises(MalformedRecord, match="code page"):
        RtfDocument(source.encode())


def test_each_code_page_that_is_read_contains_ascii() -> None:
    plain = bytes(range(128))
    assert {name for name in words.PAGES.values() if plain.decode(name) != plain.decode("ascii")} == set()


def test_the_second_reader_refuses_an_ebcdic_code_page_itself() -> None:
    with pytest.raises(ValueError, match="ASCII"):
        second_reading(rb"{\rtf1\ansi\ansicpg1026 \'4d}", "application/rtf")


def test_no_control_word_keeps_a_long_number_or_a_word_of_its_own() -> None:
    source = r"\mrn4471902 \tel6175550143 \Roe a\id4471902 \margl4471902 b\lang1033 c\insrsid4471902 d"
    assert _written(source) == r"ab\lang1033 cd"
    lists = r"{\*\listtable{\list\listtemplateid-1{\listname ;}\listid6175550143}}{\listoverride\listid6175550143 \ls1}"
    assert _written(lists) == lists.replace("6175550143 ", "10000").replace("6175550143", "10000")


@pytest.mark.parametrize("source", [r"\par4471902 a", r"\u4471902?a", r"\u-99999?a", r"\u000000654?a", r"\f4471902 a"])
def test_a_long_number_in_the_structure_is_refused(source: str) -> None:
    with pytest.raises(MalformedRecord):
        _opened(source)
