"""Read the bytes of an output with a second library, and search for what the first reader did not show.

A reader that overlooks a comment or a hidden paragraph would release it unread. So each format names a second reader,
which finds the texts with another library (`Format.second`). Every line in which it shows a word that the first reader
does not know is searched for the originals and for known identifiers, and the detectors read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from incognote.agents.detection import Detection, TextView, detected
from incognote.agents.stages import Opened, Replaced
from incognote.detectors.known import KnownDetector
from incognote.formats.base import SeenLine
from incognote.nouns import Reason, Span, Text
from incognote.schemas.policy import Policy

_WORD = re.compile(r"[^\W_]+")


def counts(span: Span, policy: Policy) -> bool:
    """Whether a span in an output is a leftover under a policy."""
    return policy.replaces(span.type) and span.score >= policy.audit_threshold


def second_reading(
    opened: Opened, sought: Sequence[KnownDetector], replaced: Replaced, detection: Detection, policy: Policy
) -> tuple[list[Reason], list[Reason], list[Span]]:
    """Return what the second reader of a format finds in an output, and why it could not read the output.

    Args:
        sought: the originals and the known identifiers.

    Returns:
        The reasons to quarantine the record (`second-reader`, with the type), those for review (`not-verified`), and
        leftovers: stretches of the original texts with the same ink as identifiers on a page.
    """
    form, output = opened.form, replaced.output
    if form is None and isinstance(output, str) and opened.record is not None and opened.record.children:
        from incognote.formats.registry import named

        form, output = named("json"), output.encode()
    if form is None or not isinstance(output, bytes):
        return [], [], []
    from incognote.formats.output import second_of
    from incognote.formats.pictures import UncheckedPart
    from incognote.formats.registry import is_exempt

    if form.second is None:
        remedy = f"the format {form.name} has no second reader. Its author can add one (`Format.second`)"
        return [], [] if is_exempt(form) else [Reason("not-verified", "", remedy)], []
    try:
        texts = second_of(form, opened.record, output, _changes(replaced), replaced.values)
    except ImportError:
        remedy = "the library that checks this format is not installed. Run `pip install 'incognote[documents]'`"
        return [], [Reason("not-verified", "", remedy)], []
    except Exception as error:  # the library may raise anything, and its message may quote the document
        return [], [Reason("not-verified", "", f"the second reader failed: {type(error).__name__}")], []
    unread = [Reason("not-verified", "", text) for text in dict.fromkeys(texts) if isinstance(text, UncheckedPart)]
    lines = [text for text in texts if isinstance(text, SeenLine)]
    texts = [text for text in texts if not isinstance(text, UncheckedPart | SeenLine)]
    shown = set(_words((*replaced.texts.values(), *replaced.values.values())))
    views = [TextView.of(Text(line)) for line in dict.fromkeys(_unseen(texts, shown))]
    types = {leak for view in views for each in sought for leak in each.leaks(view.seen.content)}
    spans, hidden = detected(views, detection.rescan)
    for view, seen, fragments in zip(views, spans, hidden, strict=True):
        for span in (*view.original(seen), *fragments):
            if counts(span, policy) and not shown.issuperset(_words((span.text,))):
                types.add(span.type)
    found, leftovers = _on_pages(lines, opened, sought, detection, policy)
    types |= found
    return [Reason("second-reader", "", kind) for kind in sorted(types) if policy.replaces(kind)], unread, leftovers


def _on_pages(
    lines: Sequence[SeenLine], opened: Opened, sought: Sequence[KnownDetector], detection: Detection, policy: Policy
) -> tuple[set[str], list[Span]]:
    """Return the types of what is on a page where the first reader read nothing, and stretches of what it read."""
    texts = {text.field: text for text in opened.texts}
    types: set[str] = set()
    leftovers: list[Span] = []
    views = [TextView.of(Text(line)) for line in lines]
    spans, hidden = detected(views, detection.rescan)
    for line, view, seen, fragments in zip(lines, views, spans, hidden, strict=True):
        found = [(s.start, s.end, s.type) for s in (*view.original(seen), *fragments) if counts(s, policy)]
        found += [(0, len(line), kind) for each in sought for kind in each.leaks(view.seen.content)]
        for start, end, kind in found:
            places = [place for a, b, place in line.parts if a < end and start < b]
            if None in places and policy.replaces(kind):
                types.add(kind)
            for field, first, last in filter(None, places):
                leftovers.append(Span(texts[field], first, last, kind, 1.0, ("audit", "second-reader")))
    return types, leftovers


def _changes(replaced: Replaced) -> dict[str, list[tuple[int, int, str]]]:
    changes: dict[str, list[tuple[int, int, str]]] = {}
    for each in replaced.replacements:
        changes.setdefault(each.span.field, []).append((each.span.start, each.span.end, each.text))
    return changes


def _unseen(texts: Iterable[str], shown: set[str]) -> Iterator[str]:
    """Yield the lines that have a word which the first reader does not show."""
    for text in texts:
        for line in text.splitlines():
            if not shown.issuperset(_words((line,))):
                yield line


def _words(texts: Iterable[str]) -> Iterator[str]:
    return (word for text in texts for word in _WORD.findall(text.casefold()))
