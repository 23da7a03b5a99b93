"""Everything of a PDF outside the content of its pages: what is kept, scanned, renamed, and removed.

The rules are a closed list of keys (`rules.toml`). Each string that is kept is scanned, or cannot name a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from incognote.errors import UnsupportedFormat
from incognote.formats.pdf import closed
from incognote.formats.pdf.glyphs import StreamKey
from incognote.formats.pdf.interactive import Interactive, fields_of
from incognote.formats.pdf.keeping import Kept
from incognote.formats.pdf.resources import Resources
from incognote.formats.pdf.unlisted import remove_unlisted
from incognote.formats.pdf.values import (
    array,
    dictionary,
    entries,
    is_dictionary,
    is_stream,
    is_string,
    items,
    string,
    tree,
)

if TYPE_CHECKING:
    from pikepdf import Pdf

_INFO = {"/Title": "info.title", "/Subject": "info.subject", "/Keywords": "info.keywords"}


def cleaned_objects(pdf: Pdf, read: Iterable[StreamKey]) -> Kept:
    """Bring everything outside the content of the pages into the form of the output. `pdf` is changed in place.

    Args:
        read: the forms whose text is read with the pages. All others are removed.

    Raises:
        UnsupportedFormat: the document is signed, or a form of XML. MalformedRecord: a part has text that is not read.
    """
    root, kept = pdf.Root, Kept()
    _refuse(root)
    resources = Resources(kept, read)
    interactive = Interactive(root, kept, resources, {page.obj.objgen for page in pdf.pages})
    _info(pdf, kept)
    _catalog(root, kept)
    interactive.places()
    _attachments(root, kept)
    interactive.form()
    for page in pdf.pages:
        kept.keep(page.obj, "page")
        contents = page.obj.get("/Contents", None)
        for stream in [contents] if is_stream(contents) else items(page.obj, "/Contents"):
            if is_stream(stream):
                kept.keep(stream, "embedded")
        _parents(page.obj, kept, resources)
        if is_dictionary(page.obj.get("/Group", None)):
            kept.keep(page.obj["/Group"], "group")
        resources.clean(page.resources)
        interactive.annotations(page.obj)
    interactive.bookmarks()
    remove_unlisted(root, kept)
    for key in sorted(pdf.trailer.keys()):
        if key not in ("/Root", "/Info", "/Size", "/ID", "/Prev", "/XRefStm", "/Encrypt"):
            kept.remove(pdf.trailer, key)
    return kept


def _refuse(root: Any) -> None:
    form = root.get("/AcroForm", None)
    if "/Perms" in root or any(field.get("/FT") == "/Sig" and "/V" in field for field in fields_of(form)):
        raise UnsupportedFormat("a signed PDF, whose signature would not hold. Print it to a new PDF")
    if form is not None and "/XFA" in form:
        raise UnsupportedFormat("an XFA form, which has no reader. Print it to a new PDF")


def _info(pdf: Pdf, kept: Kept) -> None:
    info: Any = pdf.trailer.get("/Info", None)
    for key in sorted(info.keys()) if is_dictionary(info) else ():
        value = info[key]
        if key in _INFO and is_string(value):
            kept.text(_INFO[key], info, key)
        elif key == "/Author" and is_string(value):
            kept.author("info.author", info, key)
        elif key not in ("/Creator", "/Producer") or not closed.is_program(str(value)):
            kept.remove(info, key)


def _catalog(root: Any, kept: Kept) -> None:
    kept.keep(root, "catalog")
    for key, kind in (("/Names", "names"), ("/ViewerPreferences", "viewer"), ("/OCProperties", "layers")):
        if is_dictionary(root.get(key, None)):
            kept.keep(root[key], kind)
    if "/Lang" in root and not closed.LANGUAGE.fullmatch(str(root["/Lang"])):
        kept.remove(root, "/Lang")
    layers = root.get("/OCProperties", None)
    if is_dictionary(layers):
        for group in items(layers, "/OCGs"):
            kept.keep(group, "property")
            if "/Name" in group:
                kept.text("layers", group, "/Name")
        if is_dictionary(layers.get("/D", None)):
            kept.keep(layers["/D"], "layerset")
    if is_dictionary(root.get("/PageLabels", None)):
        for _, label in tree(root["/PageLabels"], "/Nums"):
            kept.keep(label, "label")
            if "/P" in label and not closed.PREFIX.fullmatch(str(label["/P"])):
                kept.remove(label, "/P")


def _attachments(root: Any, kept: Kept) -> None:
    """Open the attached files. Their names become numbers.

    Raises:
        RecordProblem: no format reads one of them.
    """
    from incognote.formats.registry import nested

    names = root.get("/Names", None)
    if names is None or "/EmbeddedFiles" not in names:
        return
    pairs: list[Any] = []
    for number, (old, spec) in enumerate(tree(names["/EmbeddedFiles"], "/Names"), 1):
        streams = [stream for _, stream in entries(spec, "/EF") if is_stream(stream)] if is_dictionary(spec) else []
        if not streams:
            kept.changed += 1
            continue
        field = f"attachment {number}"
        form, document = nested(bytes(streams[0].read_bytes()), None, field)
        new = f"attachment{number}{form.suffixes[0]}"
        kept.changed += (old, str(spec.get("/F", "")), len(entries(spec, "/EF"))) != (new, new, 1)
        kept.keep(spec, "attachment")
        kept.keep(streams[0], "embedded")
        spec["/F"] = spec["/UF"] = string(new)
        spec["/EF"] = dictionary({"/F": streams[0]})
        kept.children[field] = (streams[0], document)
        pairs += [string(new), spec]
    names["/EmbeddedFiles"] = dictionary({"/Names": array(pairs)})


def _parents(page: Any, kept: Kept, resources: Resources) -> None:
    parent = page.get("/Parent", None)
    while is_dictionary(parent) and kept.first(parent):
        kept.keep(parent, "pages")
        if "/Resources" in parent:
            resources.clean(parent["/Resources"])
        parent = parent.get("/Parent", None)
