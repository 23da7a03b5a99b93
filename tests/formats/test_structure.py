"""Only words change: control words of RTF, tokens of Markdown, and parts and fields of e-mails are the same afterwards.

All files are synthetic. An output with replacements is compared with one without any, and that with the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from incognote.errors import RecordProblem
from incognote.formats.base import actions_of, texts_of
from incognote.formats.mail.headers import FIXED, KINDS
from incognote.formats.output import rebuilt
from incognote.formats.registry import open_one
from incognote.schemas.registry import Registry

CORPUS = Path(__file__).parents[1] / "data" / "documents"
NEW = {"mask": "[NAME]", "date": "[DATE]"}
# What a reader sees as a character, and what goes with it if it is replaced.
CHARACTERS = frozenset("emdash endash lquote rquote ldblquote rdblquote bullet u line tab emspace enspace".split())
PIECES = (
    "# Visit of Ada Lovelace\n\n", "Mrs. **Ada** _Lovelace_ was seen.\n\n", "- Ada: fine\n- 5 * 6\n\n", "---\n\n",
    "> Dr. Ada said\n> so\n\n", "| Name | Dose |\n|---|:-:|\n| Ada | 5 mg |\n\n", "```\nAda = 1\n```\n\n",
    "Ada\n===\n\n", '1. [Ada](http://x/ada "Ada")\n2. `Ada`\n\n', "Ada: http://x.org/ada\n\n",
    "[Ada]: Lovelace here\n\n", "Ada  \nLovelace\\\nByron\n\n", "    Ada code\n\n",
    "<b title='Ada'>Ada</b> & *Ada*\n\n", "![Ada](ada.png) ~~Ada~~\n\n",
)  # fmt: skip


def corpus(folder: str, suffix: str) -> list[object]:
    return [pytest.param(path, id=path.name) for path in sorted((CORPUS / folder).glob(f"*{suffix}"))]


def outputs(data: bytes, media_type: str, words: str = r"\b[A-Z][a-z]{3,}\b") -> tuple[bytes, bytes] | None:
    """Return the outputs without and with replacements of words, or None if the file is refused."""
    try:
        form, document = open_one(data, media_type)
    except RecordProblem:
        return None
    document = document.under(Registry(), None)
    kept = {action: action.text.content[action.start : action.end] for action in actions_of(document)}
    new = {action: NEW.get(action.action) or sha256(old.encode()).hexdigest()[:16] for action, old in kept.items()}
    changes = {text.field: [(*found.span(), "[NAME]") for found in re.finditer(words, text.content)]
               for text in texts_of(document)}  # fmt: skip
    return rebuilt(form, document, {}, kept), rebuilt(form, document, changes, new)


def controls(data: bytes) -> list[str]:
    """Return the braces and control words of RTF in order."""
    plain = re.sub(r"\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]", "", data.decode("latin-1"))
    found = re.findall(r"\\([a-z]+)(-?[0-9]+)?|([{}])", plain)
    return [brace or word + number for word, number, brace in found if word not in CHARACTERS]


def is_part_of(few: list[str], many: list[str]) -> bool:
    """Whether one list is the other without some items."""
    rest = iter(many)
    return all(each in rest for each in few)


@pytest.mark.parametrize("path", corpus("rtf", ".rtf"))
def test_control_words_outside_edits_are_the_same(path: Path) -> None:
    data = path.read_bytes()
    found = outputs(data, "application/rtf")
    if found is not None:
        unedited, edited = found
        assert controls(edited) == controls(unedited)
        assert is_part_of(controls(unedited), controls(data))


def tokens(source: str) -> list[tuple[str, str, str]]:
    def walk(each: Token) -> Iterator[tuple[str, str, str]]:
        if each.type not in ("text", "html_inline"):
            yield each.type, each.tag, each.markup
        for child in each.children or ():
            yield from walk(child)

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return [found for token in parser.parse(source) for found in walk(token) if found[0] != "text_special"]


@pytest.mark.parametrize("path", corpus("html", ".md"))
def test_tokens_of_markdown_outside_edits_are_the_same(path: Path) -> None:
    found = outputs(path.read_bytes(), "text/markdown")
    assert found is not None
    unedited, edited = found
    assert tokens(edited.decode()) == tokens(unedited.decode())


@pytest.mark.parametrize("seed", range(150))
def test_tokens_of_random_markdown_are_the_same(seed: int) -> None:
    random = Random(seed)
    source = "".join(random.choices(PIECES, k=random.randrange(1, 9)))
    words = random.choice((r"\b(?:Ada|Lovelace)\b", r"\b[A-Z][a-z]+\b", r"http\S+|\bAda\b", r"\b[A-Za-z]+\b"))
    found = outputs(source.encode(), "text/markdown", words)
    assert found is not None
    unedited, edited = found
    assert tokens(edited.decode()) == tokens(unedited.decode()) == tokens(re.sub(r"http\S+/ada|ada\.png", "#", source))


def parts(message: Message) -> list[tuple[int, str, list[str]]]:
    """Return the parts of an e-mail: the number of parts in each, its type, and the names of its listed fields."""
    return [
        (len(part.get_payload()) if part.is_multipart() else 0, part.get_content_type(),
         [name.lower() for name in part.keys() if name.lower() in KINDS])  # noqa: SIM118 -- a message has several of a name
        for part in message.walk()
    ]  # fmt: skip


@pytest.mark.parametrize("path", corpus("eml", ".eml"))
def test_the_parts_of_an_email_and_their_listed_fields_are_the_same(path: Path) -> None:
    data = path.read_bytes()
    found = outputs(data, "message/rfc822")
    if found is None:
        return
    before, unedited, edited = (message_from_bytes(each) for each in (data, *found))
    assert parts(edited) == parts(unedited)
    for (count, kind, names), (old_count, old_kind, old_names) in zip(parts(edited), parts(before), strict=True):
        described = {"content-disposition"} if old_kind.startswith("image/") else set()
        assert count == old_count
        assert names == [name for name in old_names if name not in described]
        assert kind == ("text/plain" if old_kind.startswith("image/") else old_kind)
    kept = {*KINDS, *FIXED}
    assert all(name.lower() in kept for part in edited.walk() for name in part.keys())  # noqa: SIM118 -- as above
