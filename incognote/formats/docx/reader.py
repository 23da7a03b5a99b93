"""Open a Word document: each part that stays is read by the rules of its kind."""

from __future__ import annotations

from incognote.errors import UnsupportedFormat
from incognote.formats.docx.hidden import HiddenStyles
from incognote.formats.docx.story import Story
from incognote.formats.office.document import OfficeDocument
from incognote.formats.office.graph import Package
from incognote.formats.office.walk import PartWalk

_MAIN = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
)
_STORIES = {"officeDocument": "body", "header": "header", "footer": "footer", "footnotes": "footnote",
            "endnotes": "endnote", "comments": "comment"}  # fmt: skip
_FIELDS = {"extended-properties": "info", "core-properties": "info", "chart": "chart", "chartUserShapes": "chart",
           "diagramData": "diagram", "diagramDrawing": "diagram drawing"}  # fmt: skip


def read(data: bytes) -> OfficeDocument:
    """Return a document.

    Raises:
        MalformedRecord: it is damaged. UnsupportedFormat: it is encrypted or signed, or has macros, or is no document.
    """
    package = Package(data)
    main = package.main()
    if package.types.get(main) not in _MAIN:
        raise UnsupportedFormat("an office file that is not a Word document. Give it its own suffix")
    found = [package.parts.xml[name] for name, kind in package.kinds.items() if kind == "styles"]
    styles = HiddenStyles(found[0].xml.root if found else None)
    for name in sorted(package.kinds, key=lambda name: name != main):
        kind = package.kinds[name]
        if kind in _STORIES:
            Story(package, name, _STORIES[kind], styles).run()
        else:
            PartWalk(package, name, _FIELDS.get(kind, "other")).run()
    return OfficeDocument(data, package.parts)
