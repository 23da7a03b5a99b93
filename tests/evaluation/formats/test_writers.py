"""Written files are read back to the same spans, whatever the text, and what a format cannot express is reported."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.convert import convert
from incognote.evaluation.formats import annotated, detect_format, formats
from incognote.evaluation.formats.docbin import number
from incognote.evaluation.formats.document import CorpusProblem, Gold, LabeledSpan

WRITERS = sorted(name for name, one in formats().items() if one.write is not None)
FLAT = ("conll", "spacy", "i2b2-2006")  # no overlaps, and except for the last, no white space at the ends of a span
SUFFIX = {"brat": "", "inception": "", "i2b2-2014": "", "meddocan": "", "i2b2-2006": ".xml", "spacy": ".spacy",
          "conll": ".conll", "presidio-research": ".json"}  # fmt: skip

PARTS = [
    "Ruth", "Hale", "O'Hara", "😀", "e\u0301", "\u0301", "\r\n", "\n", "\r", "\t", " ", "  ", '"', "<b>",
    "&amp;", "]]>", "-DOCSTART-", "ID", "PERSON", "42", "\u00a0", "\u2028", "\ufeff", "#", ";", "T1\t", "Å",
    "漢字", "\U0010ffff",
]  # fmt: skip
TYPES = st.sampled_from(["PATIENT", "LOCATION-OTHER", "PERSON", "Ñandú", "a&b"])


@st.composite
def notes(draw: st.DrawFn, *, flat: bool) -> Gold:
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=14))
    text, labels, at = "".join(parts), [], 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(at if flat else 0, len(text)))
        end = draw(st.integers(start, len(text)))
        if start == end or (flat and (text[start].isspace() or text[end - 1].isspace())):
            continue
        labels.append(LabeledSpan(start, end, draw(TYPES)))
        at = end
    return Gold(draw(st.sampled_from(["n1", "note-2", "7"])), text, tuple(labels))


def back(name: str, note: Gold) -> Gold:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{SUFFIX.get(name, '.jsonl')}"
        write = formats()[name].write
        assert write is not None
        with write(path) as sink:
            sink.add(note)
        (read,) = annotated(path, name, types="source")
        assert isinstance(read, Gold), read
        if note.labels or name not in ("obi", "incognote"):
            assert detect_format(path).name == name
    return read


@pytest.mark.parametrize("name", WRITERS)
@given(data=st.data())
def test_spans_come_back_as_they_were_written(name: str, data: st.DataObject) -> None:
    note = data.draw(notes(flat=name in FLAT))
    read = back(name, note)
    assert sorted(read.labels) == sorted(note.labels)
    if name == "conll":  # it writes its own white space, and only up to the last token
        assert read.text.split() == note.text.split()
    else:
        assert read.text == note.text
    assert read.id == (note.id if name != "spacy" else "1")


@pytest.mark.parametrize(
    ("name", "note", "what"),
    [
        ("conll", Gold("n", "Ruth Hale", (LabeledSpan(0, 9, "A"), LabeledSpan(5, 9, "B"))), "overlap"),
        ("spacy", Gold("n", "Ruth Hale", (LabeledSpan(0, 9, "A"), LabeledSpan(5, 9, "B"))), "overlap"),
        ("i2b2-2006", Gold("n", "Ruth Hale", (LabeledSpan(0, 9, "A"), LabeledSpan(5, 9, "B"))), "overlap"),
        ("conll", Gold("n", "Ruth Hale", (LabeledSpan(0, 5, "A"),)), "white space"),
        ("conll", Gold("a\tb", "Ruth Hale", ()), "id"),
        ("brat", Gold("n", "Ruth", (LabeledSpan(0, 4, "A B"),)), "white space"),
        ("brat", Gold("../n", "Ruth", ()), "id cannot be a file name"),
        ("inception", Gold("a:b", "Ruth", ()), "id cannot be a file name"),
        ("i2b2-2014", Gold("n", "Ruth\x00", ()), "control character"),
        ("i2b2-2006", Gold("n", "Ruth\x0b", ()), "control character"),
        ("incognote", Gold("n", "Ruth\ud800", ()), "surrogate"),
        ("spacy", Gold("n", "Ruth\ud800", ()), "surrogate"),
    ],
)
def test_what_a_format_cannot_say_is_refused_and_the_rest_written(
    tmp_path: Path, name: str, note: Gold, what: str
) -> None:
    write = formats()[name].write
    assert write is not None
    path = tmp_path / "out"
    with write(path) as sink:
        with pytest.raises(MalformedRecord, match=what) as refused:
            sink.add(note)
        sink.add(Gold("good", "Dr. Lund", (LabeledSpan(4, 8, "DOCTOR"),)))
    assert "Ruth" not in str(refused.value)
    (read,) = annotated(path, name, types="source")
    assert isinstance(read, Gold)
    assert read.labels == (LabeledSpan(4, 8, "DOCTOR"),)


def test_two_documents_of_one_id_do_not_overwrite_each_other(tmp_path: Path) -> None:
    write = formats()["brat"].write
    assert write is not None
    with write(tmp_path / "out") as sink:
        sink.add(Gold("n", "Ruth", ()))
        with pytest.raises(MalformedRecord, match="another document"):
            sink.add(Gold("n", "Rose", ()))
    assert (tmp_path / "out" / "n.txt").read_text() == "Ruth"


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_is_interrupted_leaves_nothing(tmp_path: Path, name: str) -> None:
    write = formats()[name].write
    assert write is not None
    with suppress(KeyboardInterrupt), write(tmp_path / "out") as sink:
        sink.add(Gold("n", "Ruth", ()))
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="new folder"):
        convert(Path(__file__).parent / "data/own.jsonl", tmp_path, to="brat")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_numbers_of_strings_are_those_of_spacy() -> None:
    assert [number(string) for string in ("", "PERSON", "Ruth")] == [0, 380, 187045769169838854]


def test_converting_counts_what_it_writes_and_tells_what_it_leaves_out(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"id": "a", "text": "Ruth Hale", "spans": [{"start": 0, "end": 9, "type": "DOCTOR"}]}\n'
        '{"id": "b", "text": "Ruth", "spans": [{"start": 0, "end": 5, "type": "DOCTOR"}]}\n'
        '{"id": "c/../d", "text": "", "spans": []}\n'
    )
    done = convert(gold, tmp_path / "brat", to="brat", types="ours")
    assert (done.source, done.documents, done.spans, done.types) == ("incognote", 1, 1, {"CLINICIAN": 1})
    assert [problem.id for problem in done.problems] == ["b", "c/../d"]
    assert (tmp_path / "brat" / "a.ann").read_text() == "T1\tCLINICIAN 0 9\tRuth Hale\n"
    done = convert(tmp_path / "brat", tmp_path / "out.jsonl", types="i2b2")
    assert done.types == {"DOCTOR": 1}
    assert '"type":"DOCTOR"' in (tmp_path / "out.jsonl").read_text()


def test_a_conversion_that_cannot_be_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    data = Path(__file__).parent / "data"
    for out, to, what in [
        (tmp_path / "out", None, "format of the output is unknown"),
        (tmp_path / "out", "tab", "read-only format"),
        (data / "own.jsonl", None, "OUT is the input"),
        (tmp_path / "out", "brta", "no format named"),
    ]:
        with pytest.raises(UsageError, match=what):
            convert(data / "own.jsonl", out, to=to)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "n1", "spans": []}\n')
    with pytest.raises(UsageError, match=r"No document of answers\.jsonl can be converted"):
        convert(answers, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == [answers]


def test_problems_of_the_input_stand_among_those_of_a_conversion(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "", "spans": []}\nwhat?\n')
    assert convert(source, tmp_path / "out.jsonl.gz").problems == [
        CorpusProblem("line 2", "not a JSON document in UTF-8")
    ]
