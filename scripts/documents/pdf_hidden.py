"""Hostile PDF files: identifiers in old revisions, properties, attachments, and forms, and damaged files."""

# ruff: noqa: E501 -- an object of a PDF file stands on one line

from __future__ import annotations

import io
import re
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from pdf_raw import (
    HIDDEN,
    NAMES,
    NOTE,
    UNSEEN,
    Attack,
    File,
    at,
    lines,
    stream,
    string,
    updated,
    utf16,  # fmt: skip
)

SAFE = "Lungs clear, asthma is stable."
BOTH = (*NAMES, *HIDDEN)
WHO, NUMBER = b"(Leocadia Brandt)", b"(60215587)"
APPEARANCE = b"/Type/XObject/Subtype/Form/BBox[0 0 300 30]/Resources<</Font<</F1 3 0 R>>>>"


def noted(*, packed: bool = True, extra: bytes = b"") -> File:
    """Return a file with one page, which shows the note."""
    file = File()
    file.page(lines(NOTE), packed=packed, extra=extra)
    return file


def every() -> Iterator[Attack]:
    """Yield all attacks of this module."""
    for attacks in (revisions, properties, attachments, remarks, links, fields, actions, tags, encrypted, damaged, bombs):
        yield from attacks()


def saved(data: bytes, *options: str) -> bytes:
    """Return what qpdf makes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "in.pdf"), Path(folder, "out.pdf")
        old.write_bytes(data)
        subprocess.run(["qpdf", "--static-id", *options, old, new], check=True)  # noqa: S603, S607 -- our own files
        return new.read_bytes()


def revisions() -> Iterator[Attack]:
    """Yield objects that no page shows any more."""
    file = noted()
    number = file.kids[0] - 1
    file.objects[number] = stream(lines(f"Patient: {UNSEEN} has asthma."), packed=False)
    yield Attack("old-revision", updated(file.data(), {number: stream(lines(NOTE))}), BOTH)
    file = noted()
    file.page(lines(f"Patient: {UNSEEN} has asthma."))
    gone = b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % file.kids[0]
    yield Attack("deleted-page", updated(file.data(), {2: gone}), BOTH)
    file = noted()
    first = file.add(b"<</Author%s/Subject%s>>" % (WHO, NUMBER))
    file.trailer = b"/Info %d 0 R" % first
    yield Attack("old-info", updated(file.data(), {first: b"<</Title(Note)>>"}, file.trailer), BOTH)
    file = noted()
    file.add(stream(lines(UNSEEN)))
    file.add(b"<</Who %s/Number(60215587)>>" % utf16("Leocadia Brandt"))
    yield Attack("unused-objects", file.data(), BOTH)
    yield Attack("after-the-end", noted().data(after=b"\nLeocadia Brandt 60215587\n"), BOTH)
    yield Attack("before-the-header", noted().data(before=b"X-Patient: Leocadia Brandt 60215587\r\n\r\n"), BOTH)
    yield Attack("between-objects", noted().data(between=b"% Leocadia Brandt 60215587\n"), BOTH)
    twice = noted().data().replace(b"\nxref\n", b"\n3 0 obj\n(Leocadia Brandt 60215587)\nendobj\nxref\n")
    table = twice.rindex(b"xref\n0 ")
    yield Attack("two-objects-of-one-number", re.sub(rb"startxref\n\d+", b"startxref\n%d" % table, twice), BOTH)
    packed = noted(extra=b"/LastModified(D:20240311)")
    packed.trailer = b"/Info %d 0 R" % packed.add(b"<</Author%s/Keywords%s>>" % (WHO, NUMBER))
    yield Attack("object-streams", saved(packed.data(), "--object-streams=generate"), (*BOTH, MADE))
    yield Attack("linearized", saved(packed.data(), "--linearize"), (*BOTH, MADE))
    file = noted(packed=False)
    for i in range(2000):
        file.add(b"<</Junk %d/Next %d 0 R>>" % (i, 3 + i % 5))
    file.add(WHO)
    yield Attack("two-thousand-objects", saved(file.data(), "--object-streams=generate", "--preserve-unreferenced"),
                 (*NAMES, HIDDEN[0]))  # fmt: skip
    file = noted()
    file.version = b"2.0"
    file.catalog = b"/Extensions<</ADBE<</BaseVersion/2.0/ExtensionLevel 3/URL(http://leocadia-brandt.example/60215587)>>>>"
    yield Attack("pdf-2", file.data(), (*NAMES, ("leocadia-brandt", "PATIENT"), HIDDEN[1]))
    chain = File()
    content = zlib.compress(lines(NOTE)).hex().encode() + b">"
    number = chain.add(b"<</Filter[/ASCIIHexDecode/FlateDecode]/Length %d>>\nstream\n%s\nendstream" % (len(content), content))
    chain.kids.append(chain.add(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
                                b"/Resources<</Font<</F1 3 0 R>>>>>>" % number))  # fmt: skip
    yield Attack("chain-of-filters", chain.data())


XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="urn:Brandt_Leocadia"
xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:h="urn:hospital"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Chart of
Leocadia Brandt</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>Ignatius Moorcroft</rdf:li></rdf:Seq></dc:creator>
<h:mrn>60215587</h:mrn></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
MADE = ("20240311", "DATE")
DOCTOR = ("Ignatius Moorcroft", "CLINICIAN")


def properties() -> Iterator[Attack]:
    """Yield metadata of the file, its pages, and its parts."""
    file = noted()
    file.catalog = b"/Metadata %d 0 R" % file.add(stream(XMP.encode(), b"/Type/Metadata/Subtype/XML", packed=False))
    yield Attack("xmp", file.data(), (*BOTH, DOCTOR, ("Brandt_Leocadia", "PATIENT")))
    file = noted()
    entries = b"/Title%s/Author(Ignatius Moorcroft)/Keywords%s/MRN%s/Leocadia#20Brandt true" % (utf16("Chart of Leocadia Brandt"), NUMBER, NUMBER)
    dates = b"/CreationDate(D:20240311101500Z)/Producer(Moorcroft Writer)/Creator(C:\\\\Users\\\\imoorcroft\\\\chart.docx)"
    file.trailer = b"/Info %d 0 R" % file.add(b"<<" + entries + dates + b">>")
    yield Attack("info", file.data(), (*BOTH, DOCTOR, ("Moorcroft", "CLINICIAN"), ("imoorcroft", "USERNAME"),
                                       MADE))  # fmt: skip
    file = File()
    thumb = file.add(stream(b"\x00" * 600, b"/Width 20/Height 30/ColorSpace/DeviceGray/BitsPerComponent 8/Note" + WHO))
    piece = b"/PieceInfo<</HospitalEHR<</LastModified(D:20240311)/Private<</Name%s/MRN%s>>>>>>" % (WHO, NUMBER)
    meta = file.add(stream(XMP.encode(), b"/Type/Metadata/Subtype/XML"))
    file.page(lines(NOTE), extra=b"/Thumb %d 0 R/Metadata %d 0 R" % (thumb, meta) + piece)
    file.catalog = piece
    yield Attack("thumbnail-and-private-data", file.data(), (*BOTH, MADE, DOCTOR, ("Brandt_Leocadia", "PATIENT")))
    file = noted()
    file.catalog = (
        b"/Threads[<</I<</Title%s>>/F null>>]/SpiderInfo<</V 1.0/C[<</URL(http://x/60215587)>>]>>/Legal<</Attestation%s>>"
        b"/Collection<</D(Leocadia Brandt.txt)/Schema<</A<</N%s>>>>>>/Leocadia#20Brandt 1/URI<</Base(http://brandt.example/)>>"
        b"/ViewerPreferences<</DisplayDocTitle true>>/PageMode/UseOutlines/Lang(x-leocadia-brandt)" % (WHO, WHO, WHO)
    )  # fmt: skip
    yield Attack("unknown-entries", file.data(), (*BOTH, ("brandt.example", "URL"), ("x-leocadia-brandt", "PATIENT")))
    file = noted()
    icc = file.add(stream(_icc(), b"/N 1/Alternate/DeviceGray"))
    entries = b"/OutputConditionIdentifier%s/Info%s/DestOutputProfile %d 0 R" % (WHO, NUMBER, icc)
    file.catalog = b"/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1" + entries + b">>]"
    yield Attack("color-profile", file.data(), BOTH)
    file = File()
    file.page(lines(NOTE).replace(b"/F1 ", b"/Leocadia#20Brandt "), fonts=b"/Leocadia#20Brandt 3 0 R/Brandt60215587 3 0 R")
    yield Attack("names-of-resources", file.data(), (*BOTH, ("Leocadia#20Brandt", "PATIENT"), ("Brandt60215587", "PATIENT")))


def _icc() -> bytes:
    """Return a gray profile whose description names a person."""
    words = b"Leocadia Brandt 60215587\0"
    text = b"desc" + bytes(4) + len(words).to_bytes(4, "big") + words + bytes(78)
    white = b"XYZ " + bytes(4) + bytes.fromhex("0000F6D6000100000000D32D")
    curve = b"curv" + bytes(4) + (0).to_bytes(4, "big")
    tags, place, body = [(b"desc", text), (b"wtpt", white), (b"kTRC", curve)], 128 + 4 + 36, b""
    table = len(tags).to_bytes(4, "big")
    for name, data in tags:
        data += bytes(-len(data) % 4)
        table += name + (place + len(body)).to_bytes(4, "big") + len(data).to_bytes(4, "big")
        body += data
    size = (place + len(body)).to_bytes(4, "big")
    head = size + bytes(4) + bytes.fromhex("02100000") + b"mntrGRAYXYZ " + bytes(12) + b"acsp" + bytes(28)
    head += bytes.fromhex("0000F6D6000100000000D32D") + bytes(48)
    return head + table + body


def attachments() -> Iterator[Attack]:
    """Yield files within the file."""

    def attached(*files: tuple[str, bytes]) -> File:
        file, specs = noted(), b""
        for name, data in files:
            inner = file.add(stream(data, b"/Type/EmbeddedFile/Params<</Size %d/ModDate(D:20240311101500Z)>>" % len(data)))
            spec = file.add(b"<</Type/Filespec/F%s/UF%s/Desc%s/EF<</F %d 0 R>>>>" % (string(name), utf16(name), WHO, inner))
            specs += string(name) + b" %d 0 R " % spec
        file.catalog = b"/Names<</EmbeddedFiles<</Names[" + specs + b"]>>>>"
        return file

    text = attached(("Brandt_Leocadia.txt", b"Leocadia Brandt, MRN 60215587")).data()
    name = ("Brandt_Leocadia", "PATIENT")
    yield Attack("attached-text", text, (*BOTH, MADE, name))
    yield Attack("attached-in-attached", attached(("chart.pdf", text)).data(), (*BOTH, MADE, name))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        body = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
        for part, words in (
            ("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
             'Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/'
             'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Default Extension="rels" '
             'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'),
            ("_rels/.rels", '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
             'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
             "</Relationships>"),
            ("word/document.xml", body + UNSEEN + "</w:t></w:r></w:p></w:body></w:document>"),
        ):  # fmt: skip
            archive.writestr(zipfile.ZipInfo(part, (2024, 3, 14, 10, 15, 0)), words, zipfile.ZIP_DEFLATED)
    yield Attack("attached-docx", attached(("Leocadia Brandt.docx", out.getvalue())).data(), (*BOTH, MADE))
    file = File()
    inner = file.add(stream(UNSEEN.encode(), b"/Type/EmbeddedFile"))
    spec = file.add(b"<</Type/Filespec/F(Leocadia Brandt.txt)/EF<</F %d 0 R>>/AFRelationship/Source>>" % inner)
    note = file.add(b"<</Type/Annot/Subtype/FileAttachment/Rect[500 700 520 720]/FS %d 0 R/Contents%s/T(I. Moorcroft)>>" % (spec, NUMBER))
    file.page(lines(NOTE), extra=b"/Annots[%d 0 R]/AF[%d 0 R]" % (note, spec))
    yield Attack("attached-to-the-page", file.data(), (*BOTH, ("I. Moorcroft", "CLINICIAN")))


def remarks() -> Iterator[Attack]:
    """Yield remarks on a page."""

    def annotated(*entries: bytes) -> bytes:
        file = File()
        numbers = b" ".join(b"%d 0 R" % file.add(b"<</Type/Annot/Rect[72 500 372 530]" + each + b">>") for each in entries)
        file.page(lines(NOTE), extra=b"/Annots[" + numbers + b"]")
        return file.data()

    rich = b"/RC(<body xmlns=\"http://www.w3.org/1999/xhtml\"><p>Brandt, Leo<b>cadia</b></p></body>)"
    yield Attack("sticky-notes", annotated(
        b"/Subtype/Text/T(Moorcroft, Ignatius)/Contents(Call Leocadia Brandt)/Subj%s/NM(brandt-1)/CreationDate(D:20240311)" % NUMBER + rich,
        b"/Subtype/Popup/Parent 4 0 R/Open false", b"/Subtype/Highlight/QuadPoints[72 700 172 700 72 690 172 690]/T%s/Contents%s" % (WHO, NUMBER),
        b"/Subtype/Ink/InkList[[72 500 90 510 100 505]]/Contents%s/BS<</W 2>>" % WHO,
    ), (*BOTH, MADE, ("Moorcroft, Ignatius", "CLINICIAN"), ("Brandt, Leo", "PATIENT"), ("brandt-1", "PATIENT")))  # fmt: skip
    file = File()
    free = file.add(stream(at(2, 10, "Leocadia Brandt"), APPEARANCE))
    stamp = file.add(stream(b"1 0 0 RG 1 1 298 28 re S " + at(10, 10, "RECEIVED 60215587"), APPEARANCE))
    both = [file.add(b"<</Type/Annot/Subtype/FreeText/Rect[72 500 372 530]/F 4/DA(/F1 11 Tf)/Contents%s/AP<</N %d 0 R>>>>" % (WHO, free)),
            file.add(b"<</Type/Annot/Subtype/Stamp/Rect[72 450 372 480]/F 4/Name/Draft/AP<</N %d 0 R>>>>" % stamp)]  # fmt: skip
    file.page(lines(NOTE), extra=b"/Annots[%d 0 R %d 0 R]" % tuple(both))
    yield Attack("free-text-and-stamp", file.data(), BOTH)
    redact = b"/Subtype/Redact/QuadPoints[72 710 400 710 72 695 400 695]/OverlayText(was Leocadia Brandt)/IC[0 0 0]/T%s" % NUMBER
    yield Attack("redaction-not-applied", annotated(redact), BOTH)
    hidden = [b"/Subtype/Text/F 2/Contents" + WHO, b"/Subtype/Square/F 32/Contents" + NUMBER, b"/Subtype/Brandt60215587/Contents" + WHO]
    yield Attack("hidden-annotations", annotated(*hidden), (*BOTH, ("Brandt60215587", "PATIENT")))
    media = [b"/Subtype/Screen/T%s" % WHO, b"/Subtype/Movie/Movie<</F(60215587.avi)>>/A true", b"/Subtype/Sound/Sound null/Contents" + WHO,
             b"/Subtype/Watermark/Contents" + NUMBER]  # fmt: skip
    yield Attack("media-annotations", annotated(*media), BOTH)


def links() -> Iterator[Attack]:
    """Yield addresses, names of places, and outlines."""
    file = File()
    actions = (b"/S/URI/URI(https://portal.example/chart?name=Leocadia+Brandt&mrn=60215587)", b"/S/GoToR/F(Brandt_Leocadia.pdf)/D[0/Fit]",
               b"/S/URI/URI(mailto:leocadia.brandt@mail.example)", b"/S/Launch/F(C:\\\\charts\\\\60215587.exe)")  # fmt: skip
    notes = b" ".join(b"%d 0 R" % file.add(b"<</Type/Annot/Subtype/Link/Rect[72 %d 300 %d]/A<<%s>>>>" % (700 - 18 * i, 716 - 18 * i, action))
                      for i, action in enumerate(actions))  # fmt: skip
    file.page(lines(NOTE), extra=b"/Annots[" + notes + b"]")
    yield Attack("links", file.data(), (*NAMES, HIDDEN[1], ("Leocadia+Brandt", "PATIENT"), ("Brandt_Leocadia", "PATIENT"), ("leocadia.brandt@mail.example", "EMAIL")))
    file = noted()
    here = file.kids[0]
    file.catalog = b"/Names<</Dests<</Limits[%s%s]/Names[%s[%d 0 R/Fit]]>>>>" % (WHO, WHO, WHO, here)
    file.catalog += b"/Dests<</MRN60215587[%d 0 R/Fit]>>/OpenAction[%d 0 R/Fit]" % (here, here)
    yield Attack("named-places", file.data(), BOTH)
    file = noted()
    root = file.add(b"null")
    first = file.add(b"null")
    second = file.add(b"<</Title%s/Parent %d 0 R/Prev %d 0 R/Dest[%d 0 R/Fit]>>" % (utf16("MRN 60215587"), root, first, file.kids[0]))
    file.objects[first] = b"<</Title%s/Parent %d 0 R/Next %d 0 R/Dest[%d 0 R/Fit]>>" % (WHO, root, second, file.kids[0])
    file.objects[root] = b"<</Type/Outlines/First %d 0 R/Last %d 0 R/Count 2>>" % (first, second)
    file.catalog = b"/Outlines %d 0 R/PageLabels<</Nums[0<</S/D/P(Leocadia Brandt 60215587 p. )>>]>>" % root
    yield Attack("outlines-and-page-labels", file.data(), BOTH)


def form(*fields: bytes, extra: bytes = b"") -> File:
    """Return a file with form fields."""
    file, numbers = File(), b""
    look = file.add(stream(b"/Tx BMC " + at(2, 10, "Leocadia Brandt") + b"EMC", APPEARANCE))
    for i, entries in enumerate(fields):
        numbers += b"%d 0 R " % file.add(
            b"<</Type/Annot/Subtype/Widget/Rect[72 %d 372 %d]/F 4/DA(/F1 11 Tf 0 g)/AP<</N %d 0 R>>%s>>" % (500 - 40 * i, 530 - 40 * i, look, entries)
        )  # fmt: skip
    file.page(lines(NOTE), extra=b"/Annots[" + numbers + b"]")
    file.catalog = b"/AcroForm<</Fields[" + numbers + b"]/DR<</Font<</F1 3 0 R>>>>/DA(/F1 11 Tf)" + extra + b">>"
    return file


def fields() -> Iterator[Attack]:
    """Yield forms and signatures."""
    text = b"/FT/Tx/T(Brandt_Leocadia)/TU(Name of Leocadia Brandt)/TM%s/V%s/DV(Brandt, Leocadia)/RV(<p>Brandt, Leocadia</p>)" % (NUMBER, WHO)
    choice = b"/FT/Ch/T(contact)/Ff 131072/V(Rosalind Brandt)/Opt[[(60215587)(Rosalind Brandt)](Leocadia Brandt)]"
    names = (*BOTH, ("Brandt_Leocadia", "PATIENT"), ("Brandt, Leocadia", "PATIENT"), ("Rosalind Brandt", "RELATIVE"))
    yield Attack("form-fields", form(text, choice, b"/FT/Btn/T(ok)/V/Off/AS/Off/MK<</CA(Leocadia Brandt)>>").data(), names)
    file = form(b"/FT/Tx/T(name)/V" + WHO)
    xfa = file.add(stream(b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><name>Leocadia Brandt</name><mrn>60215587</mrn></xdp:xdp>"))
    file.catalog = file.catalog.replace(b"/DA(", b"/XFA %d 0 R/DA(" % xfa)
    yield Attack("xfa", file.data(), BOTH, why="an XFA form shows other words than the pages")
    value = b"/V<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/Name(Ignatius Moorcroft)/Reason(Chart of Leocadia Brandt)"
    value += b"/M(D:20240311101500Z)/ByteRange[0 100 200 300]/Contents<3080>>>"
    yield Attack("signed", form(b"/FT/Sig/T(Signature1)" + value, extra=b"/SigFlags 3").data(), (*NAMES, HIDDEN[0], DOCTOR, MADE), why="a signed file")
    yield Attack("field-to-sign", form(b"/FT/Sig/T(Signature of Leocadia Brandt)", extra=b"/SigFlags 1").data(), (*NAMES, HIDDEN[0]))


def actions() -> Iterator[Attack]:
    """Yield scripts and actions."""
    file = noted(extra=b"/AA<</O<</S/JavaScript/JS(app.alert\\('Leocadia Brandt'\\))>>>>")
    script = file.add(stream(b"var mrn = '60215587';"))
    file.catalog = b"/OpenAction<</S/JavaScript/JS %d 0 R/Next<</S/Launch/F(Brandt_Leocadia.bat)>>>>" % script
    file.catalog += b"/Names<</JavaScript<</Names[(Leocadia Brandt)<</S/JavaScript/JS %d 0 R>>]>>>>" % script
    file.catalog += b"/AA<</WC<</S/SubmitForm/F(http://x.example/60215587)>>>>"
    yield Attack("scripts", file.data(), (*BOTH, ("Brandt_Leocadia", "PATIENT")))


def tags() -> Iterator[Attack]:
    """Yield structure trees."""
    file = File()
    content = b"/P <</MCID 0>> BDC\n" + lines(NOTE) + b"EMC\n/Figure <</MCID 1>> BDC\n0 0 1 rg 72 500 50 50 re f\nEMC\n"
    page = file.page(content, extra=b"/StructParents 0")
    root = file.add(b"null")
    first = file.add(b"<</Type/StructElem/S/P/P %d 0 R/Pg %d 0 R/K 0/T%s/ID%s/Lang(x-brandt)>>" % (root, page, WHO, NUMBER))
    second = file.add(b"<</Type/StructElem/S/Leocadia#20Brandt/P %d 0 R/Pg %d 0 R/K 1/Alt(Photo of Leocadia Brandt)/ActualText%s/E%s"
                      b"/A<</O/Table/Summary%s>>>>" % (root, page, NUMBER, WHO, WHO))  # fmt: skip
    tree = b"/K[%d 0 R %d 0 R]/ParentTree<</Nums[0[%d 0 R %d 0 R]]>>/ParentTreeNextKey 1" % (first, second, first, second)
    more = b"/RoleMap<</Leocadia#20Brandt/Figure>>/ClassMap<</Brandt60215587<</O/Layout>>>>/IDTree<</Names[%s %d 0 R]>>" % (NUMBER, first)
    file.objects[root] = b"<</Type/StructTreeRoot" + tree + more + b">>"
    file.catalog = b"/StructTreeRoot %d 0 R/MarkInfo<</Marked true>>/Lang(en-US)" % root
    yield Attack("structure", file.data(), (*BOTH, ("Brandt60215587", "PATIENT"), ("x-brandt", "PATIENT")))


def encrypted() -> Iterator[Attack]:
    """Yield encrypted files."""
    file = noted()
    file.trailer = b"/Info %d 0 R" % file.add(b"<</Author%s/Subject%s>>" % (WHO, NUMBER))
    aes = ("128", "--use-aes=y", "--modify=none", "--", "--static-aes-iv")
    yield Attack("encrypted-with-password", saved(file.data(), "--encrypt", "brandt", "owner", *aes), BOTH, (), None,
                 "an encrypted file that only a password opens")  # fmt: skip
    yield Attack("encrypted-without-password", saved(file.data(), "--encrypt", "", "owner", *aes), BOTH)


def damaged() -> Iterator[Attack]:
    """Yield files that viewers repair, or that nobody can read."""
    whole = noted().data()
    yield Attack("wrong-places", re.sub(rb"\n\d{10} 00000 n", b"\n0000000017 00000 n", whole))
    yield Attack("no-table", whole[: whole.rindex(b"xref\n0 ")] + b"trailer\n<</Root 1 0 R>>\n%%EOF\n")
    yield Attack("wrong-length", re.sub(rb"/Length \d+", b"/Length 7", whole))
    yield Attack("truncated", whole[: len(whole) // 2], NAMES, (), None, "a file that ends in the middle of its page")
    broken = noted()
    packed = broken.objects[broken.kids[0] - 1]
    broken.objects[broken.kids[0] - 1] = packed[:150] + b"\xff" * 30 + packed[180:]
    yield Attack("broken-stream", broken.data(), (), (), None, "a content stream that cannot be decoded")
    outside = File()
    number = outside.add(b"<</Length 0/F(leocadia-brandt.txt)>>\nstream\n\nendstream")
    outside.page(b"", shown=number)
    yield Attack("content-in-another-file", outside.data(), (("leocadia-brandt", "PATIENT"),), (), None,
                 "the content of a page is in another file")  # fmt: skip
    loop = noted()
    loop.kids.append(2)
    yield Attack("pages-in-a-loop", loop.data(), why="a tree of pages that contains itself")
    empty = File()
    empty.page(b"")
    yield Attack("empty-page", empty.data(), (), (), "")
    plain = File()
    plain.page(lines("Asthma action plan\nUse the blue inhaler four times a day.\nPeak flow under 250: take prednisolone 40 mg."))
    yield Attack("no-identifiers", plain.data(), (), ("blue inhaler", "Peak flow under 250"),
                 "Asthma action plan\nUse the blue inhaler four times a day.\nPeak flow under 250: take prednisolone 40 mg.")  # fmt: skip


def bombs() -> Iterator[Attack]:
    """Yield small files that become very large, or very deep."""
    zeros = zlib.compressobj(9)
    packed = b"".join(zeros.compress(b" " * 1_000_000) for _ in range(400)) + zeros.flush()
    double = zlib.compress(packed, 9)

    def content(entries: bytes, data: bytes) -> bytes:
        file = noted()
        number = file.add(b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data))
        file.page(b"", shown=number)
        return file.data()

    yield Attack("bomb-content", content(b"/Filter[/FlateDecode/FlateDecode]", double), why="400 MB of content in a small file")
    file = noted()
    entries = b"/Type/ObjStm/N 1/First 4/Filter[/FlateDecode/FlateDecode]/Length %d" % len(double)
    big = file.add(b"<<" + entries + b">>\nstream\n" + double + b"\nendstream")
    file.page(lines(SAFE), extra=b"/Secret %d 0 R" % (big + 3))
    yield Attack("bomb-objects", file.streamed({big + 3: (big, 0)}), why="an object stream of 400 MB in a small file")
    deep = noted()
    deep.catalog = b"/Deep " + b"[" * 3000 + b"]" * 3000
    yield Attack("deep-arrays", deep.data(), why="3,000 arrays in each other")
    file = File()
    inner = b"null"
    for _ in range(12):  # each form shows the next one ten times
        shown = file.add(stream(b"/X Do " * 10, b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</X %s>>>>" % inner))
        inner = b"%d 0 R" % shown
    file.page(b"/X Do\n" + lines(NOTE), resources=b"/XObject<</X %s>>" % inner)
    yield Attack("bomb-forms", file.data(), why="forms that show each other 10^12 times")
