"""The identifiers that the header of an instance reveals, wherever they are in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incognote.formats.dicom.profile import lists, words_of
from incognote.formats.dicom.stream import DicomFile, SequenceItem
from incognote.formats.dicom.values import charsets, groups_of, guessed, iso_of
from incognote.formats.hl7.values import revealed
from incognote.nouns import Known

__all__ = ["Known", "identifiers", "words_for"]
_CHARSET = 0x00080005
_LEAST = 2  # letters of a name
_LEAST_DIGITS = 4


def identifiers(file: DicomFile) -> Iterator[Known]:
    """Yield the names, numbers, addresses and institutions of all public elements of a data set."""
    yield from _of(file, file.root, ())


def words_for(known: Iterable[Known]) -> frozenset[str]:
    """Return the words of persons and numbers, in lower case, that no kept value may have."""
    found = set()
    for each in known:
        for word in words_of(each.value):
            digits = sum(map(str.isdigit, word))
            if digits >= _LEAST_DIGITS or (not digits and each.type in _PERSONS and _is_name(word)):
                found.add(word)
    return frozenset(found)


_PERSONS = ("PATIENT", "CLINICIAN", "RELATIVE")


def _of(file: DicomFile, item: SequenceItem, codecs: tuple[str, ...]) -> Iterator[Known]:
    from pydicom.datadict import keyword_for_tag

    if charset := item.elements.get(_CHARSET):
        codecs = charsets(file.body[slice(*charset.value)].decode("latin-1").strip(" \0"), "SpecificCharacterSet")
    for tag, element in item.elements.items():
        for inner in element.items or ():
            yield from _of(file, inner, codecs)
        if element.items is not None or tag >> 16 & 1:
            continue
        keyword = keyword_for_tag(tag)
        entity = lists().known.get(keyword)
        is_name = element.vr == "PN" or keyword in lists().names
        if entity is None and not is_name:
            continue
        raw = file.body[slice(*element.value)].rstrip(b" \0")
        for value in map(str.strip, guessed(raw, codecs).split("\\")):
            if value.startswith("["):  # a label of an earlier run
                continue
            if is_name:
                yield from _names(lists().names.get(keyword, "CLINICIAN"), value)
            elif entity and (one := revealed(entity, iso_of(value) or value)):
                yield one


def _names(entity: str, written: str) -> Iterator[Known]:
    """Yield a name in the order of speech, and its family and given names."""
    for whole in groups_of(written):
        if len(whole) > 1:
            yield Known(entity, whole)
    for group in written.split("="):
        for part in group.split("^")[:3]:
            if _is_name(part.strip()):
                yield Known(entity, part.strip())


def _is_name(word: str) -> bool:
    """Whether a word is long enough for a name. Two letters are, unless they name a modality or a setting.

    In another script, one character is, too.
    """
    return len(word) > _LEAST or not word.isascii() or (len(word) == _LEAST and word.casefold() not in lists().words)
