"""The hostile DOCX files with pictures, charts, other documents, and unusual packages, and those that must be held."""
# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

from office_docx import converted
from office_hostile import DRAWING, MAIN, SPACES, document, made, p, r, row, spelled, table, wml
from office_hostile_sheets import small
from office_parts import (
    HEAD,
    PACKAGE_REL,
    REL,
    Content,
    Made,
    Part,
    as_bytes,
    compound,
    entry,
    package,
    plain,
    png,
    zipped,
)

OFFICE = "application/vnd.openxmlformats-officedocument."
MICROSOFT = "http://schemas.microsoft.com/office/"


def drawing(kind: str, inner: str, doc_pr: str = 'id="1" name="Object 1"', link: str = "") -> str:
    """Return a run with an inline drawing."""
    return (f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="914400" cy="914400"/><wp:docPr {doc_pr}>{link}</wp:docPr><wp:cNvGraphicFramePr/>'
            f'<a:graphic><a:graphicData uri="{kind}">{inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>')  # fmt: skip


def picture(doc_pr: str, name: str, relation: str = "rIdP1", link: str = "") -> str:
    """Return a run with a picture."""
    return drawing(DRAWING + "picture", f'<pic:pic><pic:nvPicPr><pic:cNvPr {name}/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
                   '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>', doc_pr, link)  # fmt: skip


def pictures() -> Iterator[Made]:
    """Yield documents with pictures, charts, and boxes."""
    link = ("rIdL1", "hyperlink", "mailto:«EMAIL:odalys.brandvold@post.example»")
    body = (p("Melanoma in situ, excised. ", picture('id="1" name="«Odalys Brandvold» face" descr="Left cheek of «Odalys Brandvold», «DATE:5 May 2024»" title="«Brandvold»"', 'id="2" name="C:\\Photos\\«brandvold_odalys».jpg" descr="Chart «MEDICAL_RECORD_NUMBER:77302915»"',
                                                     link='<a:hlinkClick r:id="rIdL1" tooltip="Photo by «CLINICIAN:Ragnhild Tafoya»"/>'))
            + p("Second look: ", picture('id="3" name="Picture 3"', 'id="4" name=""', "rIdP2"), " clear margins, imiquimod 5 % cream."))  # fmt: skip
    files = document(body, Part("word/media/image1.png", png("Patient Odalys Brandvold"), "", "image", "rIdP1"), Part("word/media/Brandvold Odalys 5 May.png", png(), "", "image", "rIdP2"), links=[link])
    yield made("alternative-texts", files, "Melanoma in situ; imiquimod 5 %", None, [("Brandvold Odalys", "PATIENT"), ("5 May", "DATE")])

    series = ('<c:ser><c:idx val="0"/><c:order val="0"/><c:tx><c:strRef><c:f>\'«Ulrik Sandberg»\'!$B$1</c:f><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>Weight of «Ulrik Sandberg»</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:f>Sheet1!$A$2:$A$3</c:f>'
              '<c:strCache><c:ptCount val="2"/><c:pt idx="0"><c:v>«DATE:3 Jan 2025»</c:v></c:pt><c:pt idx="1"><c:v>«DATE:17 Jan 2025»</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$B$2:$B$3</c:f><c:numCache><c:formatCode>General</c:formatCode>'
              '<c:ptCount val="2"/><c:pt idx="0"><c:v>81.5</c:v></c:pt><c:pt idx="1"><c:v>79.2</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>')  # fmt: skip
    chart = (f'{HEAD}<c:chartSpace xmlns:c="{DRAWING}chart" xmlns:a="{DRAWING}main" xmlns:r="{REL[:-1]}"><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>«Ulrik </a:t></a:r><a:r><a:t>Sandberg», MRN «MEDICAL_RECORD_NUMBER:60117428»</a:t></a:r></a:p></c:rich></c:tx></c:title>'.replace("«Ulrik </a:t></a:r><a:r><a:t>Sandberg»", "Ulrik </a:t></a:r><a:r><a:t>Sandberg")
             + f'<c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/>{series}<c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:scaling/><c:axPos val="b"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:scaling/><c:axPos val="l"/>'
             '<c:crossAx val="1"/></c:valAx></c:plotArea></c:chart><c:externalData r:id="rIdE1"><c:autoUpdate val="0"/></c:externalData></c:chartSpace>')  # fmt: skip
    book = small("Ulrik Sandberg", [["Date", "Weight"], ["3 Jan 2025", "81.5"], ["17 Jan 2025", "79.2"], ["Nurse", "Philomena Stroud"]])
    parts = [Part("word/charts/chart1.xml", chart, OFFICE + "drawingml.chart+xml", "chart", "rIdC1"),
             Part("word/embeddings/Sandberg_Ulrik.xlsx", book, "", "package", "rIdE1", owner="word/charts/chart1.xml")]  # fmt: skip
    body = p("Weight falls on furosemide 80 mg. ", drawing(DRAWING + "chart", f'<c:chart xmlns:c="{DRAWING}chart" r:id="rIdC1"/>', 'id="7" name="Chart 7" descr="Weights of «Ulrik Sandberg»"'), " Dry weight 78 kg.")
    yield made("chart", document(body, *parts), "furosemide 80 mg; Dry weight 78 kg", None, [("Philomena Stroud", "CLINICIAN"), ("Sandberg_Ulrik", "PATIENT")])

    points = "".join(f'<dgm:pt modelId="{i}"{kind}><dgm:prSet/><dgm:spPr/><dgm:t><a:bodyPr/><a:p><a:r><a:t>{words}</a:t></a:r></a:p></dgm:t></dgm:pt>' for i, (kind, words) in enumerate((
        (' type="doc"', ""), ("", "Mother: «RELATIVE:Solange Adair-Pike», breast cancer at 44"), ("", "Proband: «Clementine Adair»"), ("", "Brother: «RELATIVE:Auberon», well"))))  # fmt: skip
    data = f'{HEAD}<dgm:dataModel xmlns:dgm="{DRAWING}diagram" xmlns:a="{DRAWING}main"><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst><dgm:cxn modelId="9" srcId="0" destId="1" srcOrd="0" destOrd="0"/></dgm:cxnLst><dgm:bg/><dgm:whole/></dgm:dataModel>'
    shown = (f'{HEAD}<dsp:drawing xmlns:dsp="{MICROSOFT}drawing/2008/diagram" xmlns:a="{DRAWING}main"><dsp:spTree><dsp:nvGrpSpPr><dsp:cNvPr id="0" name="«Adair family»"/><dsp:cNvGrpSpPr/></dsp:nvGrpSpPr><dsp:grpSpPr/><dsp:sp modelId="1"><dsp:nvSpPr><dsp:cNvPr id="1" name="" descr="«Clementine Adair»"/><dsp:cNvSpPr/></dsp:nvSpPr>'
             '<dsp:spPr/><dsp:txBody><a:bodyPr/><a:p><a:r><a:t>Proband: «Clementine Adair»</a:t></a:r></a:p></dsp:txBody></dsp:sp></dsp:spTree></dsp:drawing>')  # fmt: skip
    layout = f'{HEAD}<dgm:layoutDef xmlns:dgm="{DRAWING}diagram" uniqueId="urn:microsoft.com/office/officeart/2005/8/layout/default"><dgm:title val="«Adair»"/><dgm:desc val=""/><dgm:layoutNode><dgm:alg type="lin"/></dgm:layoutNode></dgm:layoutDef>'
    style = f'{HEAD}<dgm:styleDef xmlns:dgm="{DRAWING}diagram" uniqueId="urn:microsoft.com/office/officeart/2005/8/quickstyle/simple1"><dgm:styleLbl name="node0"/></dgm:styleDef>'
    colors = f'{HEAD}<dgm:colorsDef xmlns:dgm="{DRAWING}diagram" uniqueId="urn:microsoft.com/office/officeart/2005/8/colors/accent1_2"/>'
    parts = [Part("word/diagrams/data1.xml", data, OFFICE + "drawingml.diagramData+xml", "diagramData", "rIdD1"), Part("word/diagrams/layout1.xml", layout, OFFICE + "drawingml.diagramLayout+xml", "diagramLayout", "rIdD2"),
             Part("word/diagrams/quickStyle1.xml", style, OFFICE + "drawingml.diagramStyle+xml", "diagramQuickStyle", "rIdD3"), Part("word/diagrams/colors1.xml", colors, OFFICE + "drawingml.diagramColors+xml", "diagramColors", "rIdD4"),
             Part("word/diagrams/drawing1.xml", shown, "application/vnd.ms-office.drawingml.diagramDrawing+xml", MICROSOFT + "2007/relationships/diagramDrawing", "rIdD5")]  # fmt: skip
    body = p("Pedigree: ", drawing(DRAWING + "diagram", f'<dgm:relIds xmlns:dgm="{DRAWING}diagram" r:dm="rIdD1" r:lo="rIdD2" r:qs="rIdD3" r:cs="rIdD4"/>'), " BRCA1 variant of uncertain significance.")
    yield made("smart-art", document(body, *parts), "Pedigree; BRCA1 variant of uncertain significance")

    word_art = ('<w:r><w:pict><v:shapetype id="_x0000_t136" coordsize="21600,21600" o:spt="136" path="m@7,l@8,m@5,21600l@6,21600e"><v:textpath on="t" fitshape="t"/></v:shapetype><v:shape id="«PelhamWatermark»" o:spid="_x0000_s2049" type="#_x0000_t136" alt="Draft for «Thelonious Pelham»" '
                'title="«Pelham»" href="mailto:«EMAIL:t.pelham@post.example»" style="width:200pt;height:40pt" fillcolor="silver"><v:textpath style="font-family:&quot;Calibri&quot;" string="COPY FOR «PELHAM, Thelonious»"/></v:shape></w:pict></w:r>')  # fmt: skip
    old_box = ('<w:r><w:pict><v:shape id="Box 1" style="width:100pt;height:40pt"><v:imagedata r:id="rIdP1" o:title="«Scan of Pelham»"/><v:textbox><w:txbxContent>' + p("Ring «RELATIVE:Jocelyn Pelham», «TELEPHONE_NUMBER:0161 496 0377»") + "</w:txbxContent></v:textbox></v:shape></w:pict></w:r>")
    header = wml("header1", "hdr", p(word_art), "header", "rIdH1")
    files = document(p("Hernia repair under spinal. ", old_box, " Codeine 30 mg."), header, Part("word/media/image1.png", png(), "", "image", "rIdP1"), section='<w:headerReference w:type="default" r:id="rIdH1"/>')
    yield made("word-art", files, "Hernia repair under spinal; Codeine 30 mg")

    box = ('<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="914400" cy="914400"/><wp:docPr id="5" name="Text Box 5"/><wp:cNvGraphicFramePr/><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">'
           '<wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx><w:txbxContent>{}</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>'
           '<mc:Fallback><w:pict><v:shape id="F5" style="width:100pt;height:40pt"><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent>')  # fmt: skip
    body = (p("Gestational diabetes. ", "<w:r>" + box.format(p("Label: «Marisol Tregenza»"), p("Label: «Tregenza, Marisol», «MEDICAL_RECORD_NUMBER:88013476»")) + "</w:r>", " Metformin 500 mg bd.")
            + p("<w:r>" + box.format(p("Room temperature"), p("Partner «RELATIVE:Jago», «ADDRESS:12 Quay Hill»")) + "</w:r>") + p("<w:r>" + box.format(p(spelled("Marisol Tregenza")), p("Dr «CLINICIAN:Keziah Boon»")) + "</w:r>"))  # fmt: skip
    yield made("text-boxes", document(body), "Gestational diabetes; Metformin 500 mg")


def inside() -> Iterator[Made]:
    """Yield documents with other documents and objects inside."""
    block = ('<w:docParts><w:docPart><w:docPartPr><w:name w:val="«Sign-off Ottoline»"/><w:style w:val="Normal"/><w:category><w:name w:val="Dr «CLINICIAN:Ottoline Vesper»"/><w:gallery w:val="autoTxt"/></w:category><w:behaviors><w:behavior w:val="content"/></w:behaviors>'
             '<w:description w:val="For letters about «Crispin Haldane»"/></w:docPartPr><w:docPartBody>' + p("Yours sincerely, «CLINICIAN:Ottoline Vesper», «TELEPHONE_NUMBER:01632 960 958»") + "</w:docPartBody></w:docPart></w:docParts>")  # fmt: skip
    parts = [Part("word/glossary/document.xml", f"{HEAD}<w:glossaryDocument {SPACES}>{block}</w:glossaryDocument>", MAIN + "document.glossary+xml", "glossaryDocument"),
             Part("word/glossary/styles.xml", f'{HEAD}<w:styles {SPACES}><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style></w:styles>', MAIN + "styles+xml", "styles", owner="word/glossary/document.xml")]  # fmt: skip
    yield made("glossary", document(p("Tinea pedis. Terbinafine cream."), *parts), "Tinea pedis; Terbinafine cream")

    web = "<html><head><title>«Sunniva Hartog»</title></head><body><p>Transfer of <b>«Sun</b>niva Hartog», born «BIRTH_DATE_TIME:9 June 1977»</p><!-- «RELATIVE:Marius Hartog» --></body></html>".replace("«Sun</b>niva Hartog»", "Sun</b>niva Hartog")
    mail = ("MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: file:///C:/«Hartog».htm\r\n\r\n<p>Seen by Dr Bj=C3=B6rn Castellan</p>\r\n--b--\r\n")
    parts = [Part("word/afchunk1.html", web, "text/html", "aFChunk", "rIdX1"), Part("word/afchunk2.mht", mail, "message/rfc822", "aFChunk", "rIdX2"), Part("word/afchunk3.txt", "Plain words about «Sunniva Hartog», MRN «MEDICAL_RECORD_NUMBER:15500829»", "text/plain", "aFChunk", "rIdX3")]
    body = p("Otitis externa. Ciprofloxacin drops.") + '<w:altChunk r:id="rIdX1"/>' + '<w:altChunk r:id="rIdX2"/>' + '<w:altChunk r:id="rIdX3"/>' + p("End of letter")
    yield made("other-formats", document(body, *parts), "Otitis externa; Ciprofloxacin drops; End of letter", None, [("Björn Castellan", "CLINICIAN")])

    embedded = ('<w:r><w:object w:dxaOrig="1440" w:dyaOrig="1440"><v:shape id="o1" style="width:72pt;height:72pt" o:ole=""><v:imagedata r:id="rIdP1" o:title="{1}"/></v:shape><o:OLEObject Type="Embed" ProgID="{0}" ShapeID="o1" DrawAspect="Icon" ObjectID="_1" r:id="rIdE1"/></w:object></w:r>')
    image = Part("word/media/image1.png", png(), "", "image", "rIdP1")
    inner = document(p("Innermost: «Wilhelmina Strand», ", spelled("Peregrine"), " «RELATIVE:Strand», HIV negative"))
    middle = document(p("Middle: «MEDICAL_RECORD_NUMBER:20941187» of «W. Strand» ", embedded.format("Word.Document.12", "")), image, Part("word/embeddings/Microsoft_Word_Document.docx", zipped(inner), "", "package", "rIdE1"))
    outer = document(p("Cover sheet, two pages. Rifampicin 600 mg. ", embedded.format("Word.Document.12", "«Strand» letter")), image, Part("word/embeddings/Strand letter.docx", zipped(middle), "", "package", "rIdE1"))
    also = [*made("x", inner, "").identifiers, *made("x", middle, "").identifiers, ("Peregrine", "RELATIVE"), ("Strand letter", "PATIENT")]
    yield made("document-in-document", outer, "Cover sheet; Rifampicin 600 mg", None, also)

    path = b"C:\\Users\\kdufresne\\Desktop\\Thackeray Lucinda.txt\0"
    said = b"Lucinda Thackeray, MRN 33918204, biopsy positive"
    native = struct.pack("<H", 2) + b"Thackeray Lucinda.txt\0" + path + struct.pack("<HHI", 0, 3, len(path)) + path + struct.pack("<I", len(said)) + said
    ole = compound({"\x01Ole10Native": struct.pack("<I", len(native)) + native, "\x03ObjInfo": b"\0\0\3\0\4\0"})
    also = [("Lucinda Thackeray", "PATIENT"), ("Thackeray Lucinda", "PATIENT"), ("33918204", "MEDICAL_RECORD_NUMBER"), ("kdufresne", "USERNAME")]
    yield made("ole-package", document(p("Attachment below. Tamoxifen 20 mg. ", embedded.format("Package", "Thackeray Lucinda.txt")), image, Part("word/embeddings/oleObject1.bin", ole, "", "oleObject", "rIdE1")), "Tamoxifen 20 mg", None, also)

    ax = f'{HEAD}<ax:ocx xmlns:ax="{MICROSOFT}2006/activeX" xmlns:r="{REL[:-1]}" ax:classid="{{8BD21D10-EC42-11CE-9E0D-00AA006002F3}}" ax:persistence="persistPropertyBag"><ax:ocxPr ax:name="Value" ax:value="«Ignatia Coldwell»"/></ax:ocx>'
    control = '<w:r><w:object><v:shape id="c1" style="width:72pt;height:18pt"><v:imagedata r:id="rIdP1" o:title=""/></v:shape><w:control r:id="rIdX1" w:name="«TextColdwell»" w:shapeid="c1"/></w:object></w:r>'
    yield made("form-control", document(p("Name of the patient: ", control, " Allergies: none known"), image, Part("word/activeX/activeX1.xml", ax, "application/vnd.ms-office.activeX+xml", "control", "rIdX1")), "Allergies: none known", None)

    device = "\\\\PRN-01\\Ward 7 Isambard Fox".encode("utf-16-le").ljust(64, b"\0") + b"\1\4\0\6" + b"\0" * 64
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><title>«Verena Oakeshott»</title><text x="0" y="9">MRN «MEDICAL_RECORD_NUMBER:70510038»</text></svg>'
    emf = struct.pack("<IIiiiiiiiiIIIIHHIIIIIII", 1, 108, 0, 0, 1, 1, 0, 0, 1, 1, 0x464D4520, 0x10000, 128, 1, 1, 0, 10, 108, 0, 100, 100, 100, 100) + "Verena Oakeshott\0\0".encode("utf-16-le")
    parts = [Part("docProps/thumbnail.png", png("Verena Oakeshott"), "", PACKAGE_REL + "metadata/thumbnail", owner=""), Part("word/printerSettings/printerSettings1.bin", device, MAIN + "printerSettings", "printerSettings", "rIdQ1"),
             Part("word/media/image2.svg", svg, "image/svg+xml", "image", "rIdP2"), Part("word/media/image3.emf", emf, "image/x-emf", "image", "rIdP3"), Part("word/media/image1.png", png("Oakeshott, Verena, 5 Elm Walk"), "", "image", "rIdP1"),
             Part("word/fonts/font1.odttf", b"Oakeshott script" * 4, "application/vnd.openxmlformats-officedocument.obfuscatedFont", "font", "rIdO1"), Part("userCustomization/customUI.xml", f'<customUI xmlns="{MICROSOFT}2006/01/customui"><ribbon><tabs><tab id="t" label="«Oakeshott»"/></tabs></ribbon></customUI>', "application/xml", MICROSOFT + "2006/relationships/ui/userCustomization", owner="")]  # fmt: skip
    body = p("Cataract surgery, right eye. ", picture('id="1" name="Picture 1"', 'id="2" name=""'), picture('id="3" name="Picture 3"', 'id="4" name=""', "rIdP3"), " Dexamethasone drops qid.")
    yield made("binary-parts", document(body, *parts, section='', settings=""), "Cataract surgery, right eye; Dexamethasone drops", None, [("Isambard Fox", "PERSON"), ("Verena Oakeshott", "PATIENT"), ("Oakeshott, Verena", "PATIENT"), ("5 Elm Walk", "ADDRESS")])


def plain_letter(name: str, mrn: str) -> dict[str, Content]:
    """Return a short letter about a patient."""
    return document(p(f"Mr. «{name}», MRN «MEDICAL_RECORD_NUMBER:{mrn}», was seen on «DATE:4 April 2025».") + p("Lisinopril 10 mg daily for hypertension."))


def packages() -> Iterator[Made]:
    """Yield documents whose package is unusual but valid."""
    keeps = "Lisinopril 10 mg; hypertension"
    note = "Mr. «{}», MRN «MEDICAL_RECORD_NUMBER:{}», was seen on «DATE:4 April 2025».\nLisinopril 10 mg daily for hypertension."

    files = plain_letter("Casimir Windham", "44810092")
    text = str(files["word/document.xml"])
    files["word/document.xml"] = text.replace("<w:body>", "<!-- draft for «RELATIVE:Bettina Windham» --><?emr patient=\"«Casimir Windham»\"?><w:body>").replace("was seen", "was <!-- Dr «CLINICIAN:Ruairi Stack» -->seen") + "<!-- end: «USERNAME:rstack» -->"
    files["word/styles.xml"] = str(files["word/styles.xml"]).replace("</w:styles>", "<!-- house style of «HOSPITAL:Penmarric Hospital» --></w:styles>")
    yield made("xml-comments", files, keeps, note.format("Casimir Windham", "44810092"))

    files = plain_letter("Désiré Łuczak-Nyström", "44810093")
    for name, encoding in (("word/document.xml", "utf-16"), ("docProps/core.xml", "utf-16-be"), ("word/settings.xml", "utf-8-sig")):
        text = plain(str(files[name])).replace('encoding="UTF-8"', 'encoding="UTF-16"' if "16" in encoding else 'encoding="UTF-8"')
        files[name] = (b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding)
    yield made("utf-16", files, keeps, note.format("Désiré Łuczak-Nyström", "44810093"))

    files = plain_letter("Alaric Penhallow", "44810094")
    more: dict[str, Content] = {"word/Notes about Penhallow.txt": "Ask «RELATIVE:Rowan Penhallow», «TELEPHONE_NUMBER:01632 960 610»", "__MACOSX/._Penhallow Alaric.docx": b"\0\5\x16\7 owner: awebb", ".DS_Store": "Penhallow Alaric.docx".encode("utf-16-be"), "word/old/document.xml": files["word/document.xml"],
                                "Alaric Penhallow/": b"", "customXml/item9.xml": "<note>«Penhallow, Alaric»</note>"}  # fmt: skip
    yield made("extra-entries", files | more, keeps, note.format("Alaric Penhallow", "44810094"), [("Penhallow Alaric", "PATIENT"), ("Penhallow", "PATIENT"), ("awebb", "USERNAME")])

    files = plain_letter("Emmeline Gascoyne", "44810095")
    growth = struct.pack("<HHHH", 0xA220, 36, 0xA028, 32) + b"\0" * 32
    owner = b"Gascoyne, Emmeline"
    entries = [entry(name, as_bytes(each), b"Chart of Emmeline Gascoyne" if i == 2 else b"", struct.pack("<HH", 0x7075, len(owner)) + owner if i == 3 else growth if not i else b"") for i, (name, each) in enumerate(files.items())]
    data = zipped(entries, b"Exported by hvalentine for Emmeline Gascoyne")
    place = data.index(b"PK\x01\x02")
    gap = b"deleted: Hugo Valentine, MRN 44810095"
    end = data.rindex(b"PK\x05\x06")
    data = data[:place] + gap + data[place:end] + data[end : end + 16] + struct.pack("<I", place + len(gap)) + data[end + 20 :]
    yield made("zip-fields", data, keeps, note.format("Emmeline Gascoyne", "44810095"), [("Emmeline Gascoyne", "PATIENT"), ("Gascoyne, Emmeline", "PATIENT"), ("44810095", "MEDICAL_RECORD_NUMBER"), ("hvalentine", "USERNAME"), ("Hugo Valentine", "PERSON"), ("4 April 2025", "DATE")])

    main = Part("Letters/Bellweather%20Agnes.XML", str(plain_letter("Agnes Bellweather", "44810096")["word/document.xml"]), MAIN + "document.main+xml", "officeDocument", "rId«Bellweather»", owner="")
    header = Part("headers/one.xml", f"{HEAD}<w:hdr {SPACES}>{p('«HOSPITAL:Ravensworth Clinic»')}</w:hdr>", MAIN + "header+xml", "header", "rIdH1", owner=main.name)
    body = str(main.content).replace("<w:sectPr>", '<w:sectPr><w:headerReference w:type="default" r:id="rIdH1"/>')
    files = package([Part(main.name, body, main.media_type, main.relation, main.id, ""), header])
    relations = "Letters/_rels/Bellweather%20Agnes.XML.rels"
    files[relations] = str(files[relations]).replace('Target="/headers/one.xml"', 'Target="../headers/one.xml"')
    yield made("part-names", files, keeps, note.format("Agnes Bellweather", "44810096"), [("Bellweather%20Agnes", "PATIENT"), ("Bellweather Agnes", "PATIENT")])

    files = plain_letter("Ptolemy Sarkisian", "44810097")
    strict = {"http://schemas.openxmlformats.org/wordprocessingml/2006/main": "http://purl.oclc.org/ooxml/wordprocessingml/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "http://purl.oclc.org/ooxml/officeDocument/relationships",
              "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties": "http://purl.oclc.org/ooxml/officeDocument/extendedProperties", "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes": "http://purl.oclc.org/ooxml/officeDocument/docPropsVTypes",
              "http://schemas.openxmlformats.org/officeDocument/2006/math": "http://purl.oclc.org/ooxml/officeDocument/math", "http://schemas.openxmlformats.org/drawingml/2006/": "http://purl.oclc.org/ooxml/drawingml/"}  # fmt: skip
    for name, content in files.items():
        for old, new in strict.items():
            content = str(content).replace(old, new)
        files[name] = str(content).replace('<w:document ', '<w:document w:conformance="strict" ') if name == "word/document.xml" else content
    yield made("strict", files, keeps, note.format("Ptolemy Sarkisian", "44810097"))

    body = p("Use the blue inhaler when you wheeze.") + p(r("Peak flow under 250: ", "<w:b/>"), "go to hospital.") + table(row("Morning", "2 puffs"), row("Night", "2 puffs")) + p('<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>', "1", '<w:r><w:fldChar w:fldCharType="end"/></w:r>')
    yield made("no-identifiers", document(body, core="<dc:title>Asthma plan</dc:title><cp:revision>2</cp:revision>", app="<Application>Microsoft Office Word</Application>"), "Use the blue inhaler; Peak flow under 250; 2 puffs")


def flattened(data: bytes) -> bytes:
    """Return a package whose directory names one entry many times, and so is large without being it."""
    place, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    directory = data[place:end]
    many = directory[: directory.index(b"PK\x01\x02", 4)]
    rows = directory + b"".join(many.replace(b"[Content_Types].xml", b"word/many%06d.xml" % i) for i in range(2000))
    count = directory.count(b"PK\x01\x02") + 2000
    return data[:place] + rows + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(rows), place, 0)


def held(folder: Path) -> Iterator[Made]:
    """Yield documents that must not be released."""
    letter = plain_letter("Torquil Ashdown", "51100384")
    known = [("Torquil Ashdown", "PATIENT"), ("51100384", "MEDICAL_RECORD_NUMBER")]
    code = b'Attribute VB_Name = "Letters"\r\nSub Send()\r\n  To = "Torquil Ashdown"\r\nEnd Sub\r\n'
    macros = document(p("Letter with a macro for «Torquil Ashdown»."), Part("word/vbaProject.bin", compound({"PROJECT": b'ID="{0}"\r\nModule=Letters\r\n', "Letters": code, "dir": b"\1"}), "application/vnd.ms-office.vbaProject", MICROSOFT + "2006/relationships/vbaProject"))
    macros["[Content_Types].xml"] = str(macros["[Content_Types].xml"]).replace(MAIN + "document.main+xml", "application/vnd.ms-word.document.macroEnabled.main+xml")
    yield made("macros", macros, "", held="contains macros")
    sign = Part("_xmlsignatures/sig1.xml", f'{HEAD}<Signature xmlns="http://www.w3.org/2000/09/xmldsig#" Id="idPackageSignature"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/></SignedInfo>'
                '<SignatureValue>AAAA</SignatureValue><KeyInfo><X509Data><X509SubjectName>CN=Dr «CLINICIAN:Hepzibah Thorne»</X509SubjectName></X509Data></KeyInfo></Signature>', "application/vnd.openxmlformats-package.digital-signature-xmlsignature+xml", PACKAGE_REL + "digital-signature/signature", owner="_xmlsignatures/origin.sigs")  # fmt: skip
    origin = Part("_xmlsignatures/origin.sigs", b"", "application/vnd.openxmlformats-package.digital-signature-origin", PACKAGE_REL + "digital-signature/origin", owner="")
    yield made("signed", document(p("Signed letter about «Torquil Ashdown»."), origin, sign), "", held="a digital signature that a change makes invalid")
    noise = random.Random(22)  # noqa: S311 -- only has to look like a cipher
    info = struct.pack("<HHI", 4, 4, 0x40) + (f'{HEAD}<encryption xmlns="{MICROSOFT}2006/encryption"><keyData saltSize="16" blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512" saltValue="AAAAAAAAAAAAAAAAAAAAAA=="/></encryption>').encode()
    yield made("encrypted", compound({"EncryptionInfo": info, "EncryptedPackage": struct.pack("<Q", 5000) + noise.randbytes(5008)}), "", held="encrypted")

    def changed(name: str, old: str, new: str) -> dict[str, Content]:
        return letter | {name: str(letter[name]).replace(old, new)}

    yield made("dtd", changed("word/document.xml", "<w:document ", '<!DOCTYPE w:document [<!ENTITY who "«Torquil Ashdown»"><!ENTITY file SYSTEM "file:///etc/hostname">]>\n<w:document '), "", held="a document type declaration with an external entity")
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    yield made("entities", changed("word/styles.xml", "<w:styles ", f'<!DOCTYPE w:styles [<!ENTITY l0 "ha">{laughs}]>\n<w:styles '), "", None, known, held="entities that expand to gigabytes")
    other = plain_letter("Someone Else-Entirely", "51100385")
    twice = zipped({**letter, "word/documenz.xml": other["word/document.xml"]}).replace(b"documenz.xml", b"document.xml")
    yield made("duplicate-entries", twice, "", None, [*known, ("Someone Else-Entirely", "PATIENT")], held="two entries with one name")
    bomb = as_bytes(letter["word/document.xml"]).replace(b"<w:body>", b"<w:body>" + b" " * 90_000_000)
    yield made("bomb", zipped(letter | {"word/document.xml": bomb}), "", None, known, held="a part that expands a thousandfold")
    yield made("bomb-overlap", flattened(zipped({"[Content_Types].xml": as_bytes(letter["[Content_Types].xml"]) + b" " * 500_000, **{k: v for k, v in letter.items() if k != "[Content_Types].xml"}})), "", None, known, held="two thousand entries that share one content")
    whole = zipped(letter)
    yield made("truncated", whole[: len(whole) * 3 // 4], "", None, known[:0], held="the end of the file is missing")
    start = whole.index(b"word/document.xml") + 17 + 40
    yield made("damaged", whole[:start] + bytes([whole[start] ^ 0xFF]) + whole[start + 1 :], "", None, known[:0], held="a part does not have its checksum")
    yield made("prefixed", b"%PDF-1.4\n% Torquil Ashdown\n" + whole, "", None, known, held="also begins like a PDF: readers disagree on what it is")
    lost = dict(letter)
    lost["_rels/.rels"] = str(lost["_rels/.rels"]).replace("officeDocument/2006/relationships/officeDocument", "officeDocument/2006/relationships/lostDocument")
    yield made("no-main-part", lost, "", held="no relationship names the main part")
    yield made("invalid-utf-8", letter | {"word/document.xml": as_bytes(letter["word/document.xml"]).replace(b"Ashdown", b"Ash\xffdown")}, "", None, [("51100384", "MEDICAL_RECORD_NUMBER")], held="a part that is not valid XML")
    html = folder / "old.html"
    html.write_text("<html><meta charset='utf-8'><p>Torquil Ashdown, MRN 51100384, hypertension</p></html>", encoding="utf-8")
    old = converted([html], "doc:MS Word 97", "HTML (StarWriter)")["old"]
    yield made("word-97", old, "", None, known, held="a binary document of Word 97 with a new suffix", why="LibreOffice")


def hostile(folder: Path) -> Iterator[Made]:
    """Yield all files of this module. `folder` is for temporary files."""
    yield from (*pictures(), *inside(), *packages(), *held(folder))

