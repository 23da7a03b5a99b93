"""The hostile DOCX files of the corpus: identifiers in each place that a document has.

All names are invented. « » marks an identifier, as in office_letters.txt.
"""
# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle

from office_parts import HEAD, REL, Content, Made, Part, Words, identifiers, package, plain, properties, zipped

MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml."
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/"
WORD = "http://schemas.microsoft.com/office/word/20"
SPACES = (
    f'xmlns:w="{W}" xmlns:r="{REL[:-1]}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    f'xmlns:wp="{DRAWING}wordprocessingDrawing" xmlns:a="{DRAWING}main" xmlns:pic="{DRAWING}picture" '
    f'xmlns:wps="{WORD}10/wordprocessingShape" xmlns:w14="{WORD}10/wordml" xmlns:w15="{WORD}12/wordml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w10="urn:schemas-microsoft-com:office:word" '
    'mc:Ignorable="w14 w15"'
)
STYLES = '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
PAGE = '<w:pgSz w:w="12240" w:h="15840"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" ' \
       'w:header="720" w:footer="720" w:gutter="0"/><w:docGrid w:linePitch="360"/>'  # fmt: skip


def r(words: str, style: str = "") -> str:
    """Return a run. The words are XML."""
    return f'<w:r>{f"<w:rPr>{style}</w:rPr>" if style else ""}<w:t xml:space="preserve">{words}</w:t></w:r>'


def p(*parts: str, style: str = "") -> str:
    """Return a paragraph. Parts that are not XML become runs."""
    inner = "".join(part if part.startswith("<") else r(part) for part in parts)
    return f'<w:p>{f"<w:pPr>{style}</w:pPr>" if style else ""}{inner}</w:p>'


def cell(words: str, more: str = "") -> str:
    """Return a cell of a table with a paragraph."""
    return f'<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/>{more}</w:tcPr>{p(words)}</w:tc>'


def row(*cells: str) -> str:
    """Return a row of a table, with a paragraph in each cell."""
    return f"<w:tr>{''.join(map(cell, cells))}</w:tr>"


def table(*rows: str, more: str = "", columns: int = 2) -> str:
    """Return a table."""
    grid = '<w:gridCol w:w="3000"/>' * columns
    return f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/>{more}</w:tblPr><w:tblGrid>{grid}</w:tblGrid>{"".join(rows)}</w:tbl>'


def xml(root: str, inner: str, more: str = "") -> str:
    """Return a part with a root of WordprocessingML."""
    return f"{HEAD}<w:{root} {SPACES}{more}>{inner}</w:{root}>"


def wml(name: str, root: str, inner: str, relation: str = "", id: str = "") -> Part:
    """Return a part of a document, such as its comments."""
    name = name if "/" in name else f"word/{name}.xml"
    return Part(name, xml(root, inner), f"{MAIN}{relation or root}+xml", relation or root, id)


def document(body: str, *parts: Part, links: Iterable[tuple[str, str, str]] = (), styles: str = "", settings: str = "",
             section: str = "", core: str = "", app: str = "", custom: str = "") -> dict[str, Content]:  # fmt: skip
    """Return the files of a document as Word writes it. A link is an ID, a relationship type, and a target."""
    main = Part("word/document.xml", xml("document", f"<w:body>{body}<w:sectPr>{section}{PAGE}</w:sectPr></w:body>"),
                MAIN + "document.main+xml", "officeDocument", owner="")  # fmt: skip
    owned = [wml("styles", "styles", STYLES + styles), wml("settings", "settings", f'<w:zoom w:percent="100"/>{settings}')]
    return package([main, *owned, *properties(core, app, custom), *parts],
                   [("word/document.xml", *link) for link in links])  # fmt: skip


def made(name: str, content: dict[str, Content] | bytes, keeps: str, note: str | None = None,
         also: Iterable[Words] = (), held: str = "", why: str = "hand", language: str = "en", suffix: str = "docx") -> Made:  # fmt: skip
    """Return a hostile file. `keeps` are separated by semicolons. The marks in all parts and in `note` are gold."""
    contents = [] if isinstance(content, bytes) else list(content.values())
    data = content if isinstance(content, bytes) else zipped(content)
    return Made(f"{'held-' if held else ''}{name}.{suffix}", data, why, "hostile", identifiers([*contents, note or ""], also),
                plain(note) if note else None, tuple(keeps.split("; ")) if keeps else (), held, language)  # fmt: skip


def spelled(words: str) -> str:
    """Return words with each letter in a run of its own, and with what Word leaves between runs."""
    marks = cycle(('<w:proofErr w:type="spellStart"/>', "", '<w:bookmarkStart w:id="{i}" w:name="_GoBack{i}"/><w:bookmarkEnd '
                   'w:id="{i}"/>', '<w:proofErr w:type="spellEnd"/>', '<w:permStart w:id="{i}" w:edGrp="everyone"/><w:permEnd '
                   'w:id="{i}"/>', "<w:r><w:lastRenderedPageBreak/></w:r>"))  # fmt: skip
    looks = cycle(("", "<w:b/>", '<w:lang w:val="nb-NO"/>', '<w:color w:val="1F1F1F"/>', '<w:spacing w:val="1"/>'))
    return "".join(
        f'<w:r w:rsidR="00{i:02X}4B11" w:rsidRPr="0071{i:02X}CC"><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{letter}</w:t></w:r>'
        + mark.format(i=i + 40) for i, (letter, mark, look) in enumerate(zip(words, marks, looks, strict=False))
    )  # fmt: skip


def splits() -> Iterator[Made]:
    """Yield documents whose names are split or disguised."""
    tag = '<w:smartTag w:uri="urn:schemas-microsoft-com:office:smarttags" w:element="PersonName">{}</w:smartTag>'
    body = p(
        "Patient ", spelled("Halvard Quist"), ", MRN ", tag.format(r("7025")), r("1648", "<w:b/>"), ", was seen by Dr. ",
        tag.format(tag.format(r("Oo")) + r("na")), "<w:r><w:tab/></w:r>", r("Fitz"), r("water", "<w:i/>"), " on ", r("03/1"),
        '<w:ins w:id="1" w:author="«CLINICIAN:Oona Fitzwater»" w:date="2024-03-11T09:00:00Z"><w:r><w:t>1/2024</w:t></w:r></w:ins>',
        " for gout. Call ", "<w:r><w:t>330</w:t><w:noBreakHyphen/><w:t>555</w:t><w:noBreakHyphen/><w:t>0117</w:t></w:r>", ".",
    ) + p("Colchicine 0.6 mg twice daily. ", '<w:hyperlink w:anchor="_GoBack41">' + r("Hal") + "</w:hyperlink>", "vard ",
          "<w:sdt><w:sdtPr/><w:sdtContent>" + r("Qu") + "</w:sdtContent></w:sdt>", r("ist"), " rode home.")  # fmt: skip
    note = ("Patient Halvard Quist, MRN 70251648, was seen by Dr. Oona\tFitzwater on 03/11/2024 for gout. Call 330-555-0117.\n"
            "Colchicine 0.6 mg twice daily. Halvard Quist rode home.")  # fmt: skip
    known = [("Halvard Quist", "PATIENT"), ("70251648", "MEDICAL_RECORD_NUMBER"), ("03/11/2024", "DATE"), ("2024-03-11", "DATE"),
             ("330-555-0117", "TELEPHONE_NUMBER")]  # fmt: skip
    yield made("split-runs", document(body), "gout; Colchicine 0.6 mg", note, [*known, ("330\u2011555\u20110117", "TELEPHONE_NUMBER")])

    ruby = ('<w:r><w:ruby><w:rubyPr><w:rubyAlign w:val="center"/><w:hps w:val="10"/><w:hpsRaise w:val="18"/><w:hpsBaseText '
            'w:val="21"/><w:lid w:val="ja-JP"/></w:rubyPr><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>')  # fmt: skip
    body = (
        p("Seen with interpreter: ", ruby.format(r("«Arakawa Mitsuko»"), r("«荒川光子»")), ", rash after amoxicillin.")
        + p("Soft: ", "<w:r><w:t>Ev</w:t><w:softHyphen/><w:t>an</w:t><w:softHyphen/><w:t>ge</w:t></w:r>",
            r("line"), " Mor\u00adten\u00adsen", ", zero width: Pri\u200bya\u2060 Nad\u200dkar\ufeffni, ",
            "<w:r><w:t>Anne</w:t><w:noBreakHyphen/><w:t>Sofie</w:t></w:r>", " «RELATIVE:Lindqvist».")
        + p("Symbols: ", '<w:r><w:sym w:font="Arial" w:char="F042"/></w:r>', r("ertil"), '<w:r><w:sym w:font="Arial" w:char="F020"/></w:r>',
            r("Hagström"), " takes ", r("prednisolone 20 mg", "<w:caps/>"), ".")
        + p("<w:r><w:t><![CDATA[Cdata: Lysander Boothroyd & sons]]></w:t></w:r>", "<w:r><w:t>, references: &#79;&#x66;elia "
            "&#x424;&#x451;&#x434;&#x43E;&#x440;&#x43E;&#x432;&#x430;</w:t></w:r>", "<w:r><w:t>, num&#98;er 5501&#50;937</w:t></w:r>",
            ", caps: ", r("gwendoline ashby", "<w:smallCaps/>"), ".")
    )  # fmt: skip
    known = [("Evangeline", "PATIENT"), ("Ev\u00adan\u00adgeline", "PATIENT"), ("Mor\u00adten\u00adsen", "PATIENT"),
             ("Mortensen", "PATIENT"), ("Pri\u200bya\u2060 Nad\u200dkar\ufeffni", "PATIENT"), ("Priya Nadkarni", "PATIENT"),
             ("Anne-Sofie", "RELATIVE"), ("Anne\u2011Sofie", "RELATIVE"), ("Bertil Hagström", "PATIENT"), ("ertil", "PATIENT"),
             ("Hagström", "PATIENT"), ("Lysander Boothroyd", "PATIENT"), ("Ofelia Фёдорова", "PATIENT"),
             ("55012937", "MEDICAL_RECORD_NUMBER"), ("gwendoline ashby", "PATIENT")]  # fmt: skip
    yield made("disguised-letters", document(body), "rash after amoxicillin; prednisolone 20 mg", None, known)

    letter = [("المريض: ", "«فاطمة بنت سالم الحارثي»", "، رقم الملف ", "«MEDICAL_RECORD_NUMBER:٤٤٠٩١٢٧»"),
              ("تاريخ الزيارة ", "«DATE:١٢/٠٣/٢٠٢٤»", "، الطبيب ", "«CLINICIAN:خالد المنصوري»"),
              ("التشخيص: التهاب رئوي. العلاج: أموكسيسيلين ٥٠٠ ملغ ثلاث مرات يوميا. ", "Contact «RELATIVE:Salim Al-Harthy» +968 «TELEPHONE_NUMBER:9555 0142»")]  # fmt: skip
    body = "".join(p(*(r(words, "<w:rtl/>") for words in line), style="<w:bidi/>") for line in letter)
    yield made("right-to-left", document(body), "التهاب رئوي; أموكسيسيلين", "\n".join("".join(line) for line in letter),
               language="ar")  # fmt: skip

    inner = table(row("Surname", "First name"), row("«Featheringham»", "«Isolde Maud»"), row("«Featheringham»", "«RELATIVE:Percival»"))
    body = table(
        row("Ward", "Person", "Born"),
        f'<w:tr>{cell("«ROOM:Bay 6»", """<w:vMerge w:val="restart"/>""")}<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/><w:gridSpan w:val="2"/></w:tcPr>{inner}{p()}</w:tc></w:tr>',
        f'<w:tr>{cell("<w:r/>", "<w:vMerge/>")}{cell("<w:r><w:t>Isolde</w:t><w:br/><w:t>Maud</w:t><w:cr/><w:t>Featheringham</w:t></w:r>")}{cell("«BIRTH_DATE_TIME:2/14/1961»")}</w:tr>',
        columns=3,
        more='<w:tblCaption w:val="Family of «Isolde Featheringham»"/><w:tblDescription w:val="Sisters of «RELATIVE:Percival»"/>',
    ) + p("Metoprolol 25 mg bid", "<w:r><w:t>, wants </w:t><w:br w:type=\"page\"/><w:t>no statin</w:t></w:r>")  # fmt: skip
    yield made("nested-tables", document(body), "Metoprolol 25 mg; no statin", None, [("Isolde Maud Featheringham", "PATIENT")])


def hidden() -> Iterator[Made]:
    """Yield documents with words that a reader does not see."""
    styles = ('<w:style w:type="character" w:styleId="Unseen"><w:name w:val="Unseen"/><w:rPr><w:vanish/></w:rPr></w:style>'
              '<w:style w:type="paragraph" w:styleId="UnseenPar"><w:name w:val="Unseen Par"/><w:rPr><w:vanish/></w:rPr></w:style>')  # fmt: skip
    gone = row(r("«RELATIVE:Lorenz Vandersloot»", "<w:vanish/>"), r("«Tabitha»", "<w:vanish/>")).replace("<w:tr>", "<w:tr><w:trPr><w:hidden/></w:trPr>")
    body = (
        p("Seen for eczema. ", r("Chart of «Tabitha Vandersloot» ", "<w:vanish/>"), r("Ring «TELEPHONE_NUMBER:419-555-0152» ", '<w:rStyle w:val="Unseen"/>'),
          r("SSN «SSN_OR_TAXPAYER:078-05-1120» ", '<w:color w:val="FFFFFF"/><w:sz w:val="2"/>'), r("Warfarin 3 mg nightly", '<w:rStyle w:val="Unseen"/><w:vanish w:val="0"/>'))
        + p("Born «BIRTH_DATE_TIME:1983-02-17»", style='<w:pStyle w:val="UnseenPar"/>')
        + p(r("«MEDICAL_RECORD_NUMBER:66120483»", "<w:webHidden/>"), r("«Tabitha» ", "<w:specVanish/>"), r("Hydrocortisone 1 % cream", '<w:vanish w:val="false"/>'))
        + table(row("Triggers", "wool, heat"), gone)
        + p("Far off the page: «Vandersloot, T.»", style='<w:framePr w:w="10" w:hSpace="0" w:wrap="around" w:vAnchor="page" w:hAnchor="page" w:x="-9000" w:y="-9000"/>')
    )  # fmt: skip
    yield made("hidden-text", document(body, styles=styles), "Seen for eczema; Warfarin 3 mg; Hydrocortisone 1 %; wool, heat")

    by = 'w:author="«CLINICIAN:Emeka Lindholm»" w:date="«DATE:2024-05-02»T08:30:00Z"'
    other = 'w:author="«PERSON:Roswitha Crane»" w:date="2024-05-03T16:00:00Z"'
    people = Part("word/people.xml", f'{HEAD}<w15:people {SPACES}><w15:person w15:author="«CLINICIAN:Emeka Lindholm»"><w15:presenceInfo '
                  'w15:providerId="AD" w15:userId="S::«EMAIL:elindholm@greywater.example»::4f2c"/></w15:person><w15:person w15:author="Roswitha Crane"/></w15:people>',
                  MAIN + "people+xml", "http://schemas.microsoft.com/office/2011/relationships/people")  # fmt: skip
    body = (
        p("Mrs. ", f'<w:del w:id="1" {by}><w:r w:rsidDel="00AA11BB"><w:delText>«Perpetua Dunmore» (MRN «MEDICAL_RECORD_NUMBER:58100372»)</w:delText></w:r></w:del>',
          f'<w:ins w:id="2" {by}>{r("«P. Dunmore»")}</w:ins>', " has stable angina. ", f'<w:ins w:id="3" {other}>{r("Start nitroglycerin 0.4 mg SL.")}</w:ins>')
        + p(f'<w:moveFromRangeStart w:id="4" w:name="move1" {other}/><w:moveFrom w:id="5" {other}>{r("Her son «RELATIVE:Alban Dunmore» called.")}</w:moveFrom><w:moveFromRangeEnd w:id="4"/>')
        + p("Echo: EF 55 %.", style=f'<w:jc w:val="left"/><w:pPrChange w:id="9" {by}><w:pPr><w:jc w:val="right"/></w:pPr></w:pPrChange>')
        + p(f'<w:moveToRangeStart w:id="6" w:name="move1" {other}/><w:moveTo w:id="7" {other}>{r("Her son «RELATIVE:Alban Dunmore» called.")}</w:moveTo><w:moveToRangeEnd w:id="6"/>')
        + p(r("Bold once.", f'<w:rPrChange w:id="8" {by}><w:rPr><w:b/></w:rPr></w:rPrChange>'),
            f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:del w:id="10" {by}><w:r><w:delInstrText xml:space="preserve"> QUOTE "«Dunmore»" </w:delInstrText></w:r></w:del><w:r><w:fldChar w:fldCharType="end"/></w:r>')
        + f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblPrChange w:id="11" {by}><w:tblPr/></w:tblPrChange></w:tblPr><w:tblGrid><w:gridCol w:w="3000"/></w:tblGrid>'
          f'<w:tr><w:trPr><w:del w:id="12" {other}/></w:trPr>' + cell(f'<w:del w:id="13" {other}><w:r><w:delText>Old address «ADDRESS:4 Tannery Row, Millhaven»</w:delText></w:r></w:del>') + "</w:tr></w:tbl>"
    )  # fmt: skip
    yield made("tracked-changes", document(body, people, settings="<w:trackRevisions/>"), "stable angina; nitroglycerin 0.4 mg; EF 55 %", None, [("2024-05-03", "DATE")])

    say = '<w:comment w:id="{}" w:author="{}" w:date="2024-05-0{}T10:00:00Z" w:initials="{}"><w:p w14:paraId="0000000{}"><w:r><w:annotationRef/></w:r><w:r><w:t>{}</w:t></w:r></w:p></w:comment>'
    comments = wml("comments", "comments",
        say.format(0, "«PERSON:Ladislav Horvath-Reyes»", 2, "«PERSON:LHR»", 1, "Is this the «Gulliver Stanwick» of «CITY:Millhaven»?")
        + say.format(1, "«CLINICIAN:Zuleika Amundsen»", 3, "«CLINICIAN:ZAm»", 2, "Yes, wife is «RELATIVE:Petronella», «TELEPHONE_NUMBER:(419) 555-0163»."))  # fmt: skip
    threads = [
        Part("word/commentsExtended.xml", f'{HEAD}<w15:commentsEx {SPACES}><w15:commentEx w15:paraId="00000001" w15:done="0"/><w15:commentEx w15:paraId="00000002" '
             'w15:paraIdParent="00000001" w15:done="1"/></w15:commentsEx>', MAIN + "commentsExtended+xml", "http://schemas.microsoft.com/office/2011/relationships/commentsExtended"),
        Part("word/people.xml", f'{HEAD}<w15:people {SPACES}><w15:person w15:author="«PERSON:Ladislav Horvath-Reyes»"><w15:presenceInfo w15:providerId="Windows Live" '
             'w15:userId="«USERNAME:lhorvath»"/></w15:person></w15:people>', MAIN + "people+xml", "http://schemas.microsoft.com/office/2011/relationships/people"),
    ]  # fmt: skip
    body = p("Plan: ", '<w:commentRangeStart w:id="0"/><w:commentRangeStart w:id="1"/>', "spirometry", '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
             '<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>', " and tiotropium 18 mcg. Mr. «Stanwick» agrees.")  # fmt: skip
    yield made("comments", document(body, comments, *threads), "spirometry; tiotropium 18 mcg", None, [("2024-05-02", "DATE"), ("2024-05-03", "DATE")])

    footnotes = ('<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r>'
                 '<w:continuationSeparator/></w:r></w:p></w:footnote><w:footnote w:type="continuationNotice" w:id="2">' + p("Chart of «Hildegard Orme»") + "</w:footnote>"
                 '<w:footnote w:id="1">' + p("<w:r><w:footnoteRef/></w:r>", "Told by «RELATIVE:Wendelin Orme», C:\\Users\\«USERNAME:aquimby»\\Letters\\Orme Hildegard.docx") + "</w:footnote>")  # fmt: skip
    endnotes = ('<w:endnote w:type="separator" w:id="-1">' + p("<w:r><w:separator/></w:r>", "«H. Orme»") + '</w:endnote><w:endnote w:id="1">'
                + p("See clinic of «DATE:7 June 2024», Dr «CLINICIAN:Ansgar Quimby»") + "</w:endnote>")  # fmt: skip
    shown = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> FILENAME \\p </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    parts = [wml("header1", "hdr", p("«HOSPITAL:Thornbury Cottage Hospital»"), "header", "rIdH1"), wml("header2", "hdr", p("First page: «Orme, Hildegard»"), "header", "rIdH2"),
             wml("header3", "hdr", p("Even page: «MEDICAL_RECORD_NUMBER:70034421»"), "header", "rIdH3"),
             wml("footer1", "ftr", p(shown.format(r("C:\\Users\\«USERNAME:aquimby»\\Letters\\«Orme Hildegard».docx")), " page ", '<w:fldSimple w:instr=" PAGE ">' + r("1") + "</w:fldSimple>"), "footer", "rIdF1"),
             wml("footnotes", "footnotes", footnotes), wml("endnotes", "endnotes", endnotes)]  # fmt: skip
    section = ('<w:headerReference w:type="default" r:id="rIdH1"/><w:headerReference w:type="first" r:id="rIdH2"/><w:headerReference w:type="even" r:id="rIdH3"/>'
               '<w:footerReference w:type="default" r:id="rIdF1"/>')  # fmt: skip
    body = p("Ankle sprain", '<w:r><w:footnoteReference w:id="1"/></w:r>', ", no fracture", '<w:r><w:endnoteReference w:id="1"/></w:r>', ". Ibuprofen 400 mg tds.")
    yield made("notes-and-footers", document(body, *parts, section=section, settings="<w:evenAndOddHeaders/>"), "Ankle sprain; no fracture; Ibuprofen 400 mg", None)


def fields() -> Iterator[Made]:
    """Yield documents with fields, links, and forms."""
    begin, middle, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))

    def field(*instruction: str, result: str = "") -> str:
        said = "".join(each if each.startswith("<") else f'<w:r><w:instrText xml:space="preserve">{each}</w:instrText></w:r>' for each in instruction)
        return begin + said + middle + result + end

    body = (
        p("Dear ", field(" MERGEFIELD «Leofric_Ainsley» ", result=r("Mr ") + r("«Ainsley»")), ", your INR is 2.4.")
        + p(field(" QUOTE &quot;«Leofric», ring «TELEPHONE_NUMBER:0117 496 0810»&quot; ", result=r("Ring us")), " if you bleed.")
        + p(field(" IF ", field(" MERGEFIELD Sex ", result=r("M")), ' = "M" "Mr «L Ainsley»" "Mrs «RELATIVE:Edith Ainsley»" ', result=r("Sir")), ", keep taking warfarin 4 mg.")
        + p(field(' HYPER', 'LINK "mailto:«EMAIL:leofric.ainsley@post.example»" \\o "Mail to «Leofric Ainsley»" ', result=r("Write to us")))
        + p(f'<w:fldSimple w:instr=" AUTHOR &quot;«CLINICIAN:Winston Achebe-Holt»&quot; ">{r("Doctor")}</w:fldSimple>',
            f'<w:fldSimple w:instr=" INCLUDETEXT &quot;C:\\\\Users\\\\«USERNAME:wachebe»\\\\ainsley.docx&quot; ">{r("none")}</w:fldSimple>')
        + p(field(' TC "Letter to «Leofric Ainsley»" \\l 1 '), field(' XE "Ainsley:Leofric" '), field(' SET nhs "«MEDICAL_RECORD_NUMBER:943 476 0006»" '),
            field(' DOCPROPERTY "Patient «Ainsley»" ', result=r("P")), field(' ASK who "Was it «RELATIVE:Edith»?" ', result=""))
        + p(field(" EQ \\o(«CLINICIAN:Achebe»,/) ", result=r("")), '<m:oMath><m:r><m:t>INR = «Leofric» + 2</m:t></m:r></m:oMath>', " Next test in four weeks.")
        + p(f'<w:r><w:fldChar w:fldCharType="begin"><w:fldData xml:space="preserve">{"TABlAG8AZgByAGkAYwAgAEEAaQBuAHMAbABlAHkA"}</w:fldData></w:fldChar></w:r>' + end)
    )  # fmt: skip
    yield made("fields", document(body), "your INR is 2.4; warfarin 4 mg; if you bleed; Next test in four weeks", None)

    form = ('<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="«Name_Thurlow»"/><w:enabled/><w:calcOnExit w:val="0"/><w:helpText w:type="text" w:val="Ask Sister «CLINICIAN:Penrose»"/>'
            '<w:statusText w:type="text" w:val="Chart «MEDICAL_RECORD_NUMBER:31180724»"/><w:textInput><w:default w:val="«Cuthbert Thurlow»"/></w:textInput></w:ffData></w:fldChar></w:r>'
            '<w:r><w:instrText xml:space="preserve"> FORMTEXT </w:instrText></w:r>' + middle + r("«Cuthbert»") + end)  # fmt: skip
    drop = ('<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Doctor"/><w:enabled/><w:calcOnExit w:val="0"/><w:ddList><w:result w:val="1"/><w:listEntry w:val="Dr «CLINICIAN:Nerys Bowen»"/>'
            '<w:listEntry w:val="Dr «CLINICIAN:Idris Kemp»"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText xml:space="preserve"> FORMDROPDOWN </w:instrText></w:r>' + middle + end)  # fmt: skip
    store = "{7C1D2E3F-0A1B-4C2D-8E3F-112233445566}"
    bound = ('<w:sdt><w:sdtPr><w:alias w:val="Patient {0}"/><w:tag w:val="{0}"/><w:id w:val="{1}"/><w:placeholder><w:docPart w:val="{0}"/></w:placeholder>'
             '<w:dataBinding w:prefixMappings="xmlns:p=\'urn:thornbury:record\'" w:xpath="/p:record/p:{2}" w:storeItemID="@STORE@"/>{3}</w:sdtPr><w:sdtContent>{4}</w:sdtContent></w:sdt>')  # fmt: skip
    body = (
        p("Name: ", form, " Doctor: ", drop)
        + p("Patient: ", bound.format("«Thurlow»", 101, "name", "<w:text/>", r("«Cuthbert Thurlow»")), " Seen: ",
            bound.format("seen", 102, "seen", '<w:date w:fullDate="«DATE:2024-08-19»T00:00:00Z"><w:dateFormat w:val="d MMMM yyyy"/></w:date>', r("«DATE:19 August 2024»")))
        + p("Next of kin: ", bound.format("kin", 103, "kin", '<w:dropDownList w:lastValue="«RELATIVE:Maudie»"><w:listItem w:displayText="«RELATIVE:Maudie Thurlow»" w:value="Maudie"/><w:listItem w:displayText="«RELATIVE:Obadiah»" '
            'w:value="2"/></w:dropDownList>', r("«RELATIVE:Maudie Thurlow»")), " Drug: ", bound.format("drug", 104, "drug", "<w:text/>", r("ramipril 2.5 mg")))
        + p("Smoker: ", '<w:sdt><w:sdtPr><w:id w:val="105"/><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>' + r("☒") + "</w:sdtContent></w:sdt>", " yes")
    )  # fmt: skip
    data = [
        Part("customXml/item1.xml", f'{HEAD}<record xmlns="urn:thornbury:record" id="«MEDICAL_RECORD_NUMBER:31180724»"><name>«Cuthbert Thurlow»</name><seen>2024-08-19T00:00:00</seen><kin>Maudie</kin><drug>ramipril 2.5 mg</drug>'
             "<unused>Lives at «ADDRESS:6 Fuller's Yard»</unused></record>", "", "customXml"),
        Part("customXml/itemProps1.xml", f'{HEAD}<ds:datastoreItem ds:itemID="{store}" xmlns:ds="http://schemas.openxmlformats.org/officeDocument/2006/customXml"><ds:schemaRefs><ds:schemaRef ds:uri="urn:thornbury:record"/>'
             "</ds:schemaRefs></ds:datastoreItem>", "application/vnd.openxmlformats-officedocument.customXmlProperties+xml", "customXmlProps", owner="customXml/item1.xml"),
    ]  # fmt: skip
    yield made("forms", document(body.replace("@STORE@", store), *data), "ramipril 2.5 mg; Smoker", None)

    links = [("rIdL1", "hyperlink", "mailto:«EMAIL:n.okonjo@stanselms.example»?subject=«Barnabas%20Elphick»"), ("rIdL2", "hyperlink", "file:///C:/Users/«USERNAME:nokonjo»/Elphick%20Barnabas.docx"),
             ("rIdL3", "hyperlink", "https://portal.example/chart?mrn=«MEDICAL_RECORD_NUMBER:22840917»"), ("rIdL4", "subDocument", "«elphick-barnabas».docx")]  # fmt: skip
    settings = '<w:attachedTemplate r:id="rIdT1"/>'
    web = wml("webSettings", "webSettings", '<w:frameset><w:frame><w:name w:val="«Elphick»"/></w:frame></w:frameset>')
    body = (
        p('<w:hyperlink r:id="rIdL1" w:tooltip="Mail Dr «CLINICIAN:Nkechi Okonjo»">' + r("Write to the ward") + "</w:hyperlink>", " about ", '<w:hyperlink r:id="rIdL2">' + r("the letter") + "</w:hyperlink>",
          " or ", '<w:hyperlink r:id="rIdL3" w:docLocation="«Elphick_B»" w:tgtFrame="«Barnabas»">' + r("the chart") + "</w:hyperlink>", ". Bisoprolol 2.5 mg.")
        + p('<w:bookmarkStart w:id="1" w:name="«Barnabas_Elphick»"/>', "Gout flare", '<w:bookmarkEnd w:id="1"/>', " see ",
            '<w:hyperlink w:anchor="Barnabas_Elphick">' + r("above") + "</w:hyperlink>")
        + '<w:p><w:subDoc r:id="rIdL4"/></w:p>'
    )  # fmt: skip
    files = document(body, web, links=links, settings=settings, app="<HyperlinkBase>file:///H:/«Elphick»/</HyperlinkBase>")
    files["word/_rels/settings.xml.rels"] = (f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdT1" Type="{REL}attachedTemplate" '
                                             'Target="file:///C:/Users/«USERNAME:nokonjo»/AppData/Roaming/Templates/Letters.dotx" TargetMode="External"/></Relationships>')  # fmt: skip
    yield made("hyperlinks", files, "Write to the ward; Bisoprolol 2.5 mg; Gout flare", None,
               [("Barnabas%20Elphick", "PATIENT"), ("Elphick%20Barnabas", "PATIENT"), ("Barnabas Elphick", "PATIENT")])  # fmt: skip


def names() -> Iterator[Made]:
    """Yield documents with identifiers in names, properties, and settings."""
    styles = ('<w:style w:type="paragraph" w:customStyle="1" w:styleId="«LetterAmbrosius»"><w:name w:val="Letter «Ambrosius Pell»"/><w:aliases w:val="«Pell»"/><w:basedOn w:val="Normal"/>'
              '<w:rPr><w:rFonts w:ascii="«Pell Handwriting»" w:hAnsi="Pell Handwriting"/></w:rPr></w:style><w:style w:type="character" w:customStyle="1" w:styleId="DrugName"><w:name w:val="Drug Name"/></w:style>')  # fmt: skip
    numbering = wml("numbering", "numbering", '<w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="singleLevel"/><w:name w:val="«Pell list»"/><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
                    '<w:lvlText w:val="«Ambrosius» %1."/><w:lvlJc w:val="left"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>')  # fmt: skip
    fonts = wml("fontTable", "fonts", '<w:font w:name="Pell Handwriting"><w:altName w:val="«Ambrosius Pell» Script"/><w:panose1 w:val="020B0604020202020204"/><w:family w:val="script"/></w:font><w:font w:name="Calibri"><w:family w:val="swiss"/></w:font>', "fontTable")
    theme = Part("word/theme/theme1.xml", f'{HEAD}<a:theme xmlns:a="{DRAWING}main" name="«Pell theme»"><a:themeElements><a:clrScheme name="«Ambrosius»">' + "".join(
        f'<a:{each}><a:srgbClr val="336699"/></a:{each}>' for each in ("dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"))
        + '</a:clrScheme><a:fontScheme name="Office"><a:majorFont><a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/></a:majorFont><a:minorFont><a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
        '</a:minorFont></a:fontScheme><a:fmtScheme name="Office"><a:fillStyleLst>' + '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>' * 3 + "</a:fillStyleLst><a:lnStyleLst>"
        + '<a:ln w="6350"><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>' * 3 + "</a:lnStyleLst><a:effectStyleLst>" + "<a:effectStyle><a:effectLst/></a:effectStyle>" * 3 + "</a:effectStyleLst><a:bgFillStyleLst>"
        + '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>' * 3 + "</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>", "application/vnd.openxmlformats-officedocument.theme+xml", "theme")  # fmt: skip
    body = (p("Psoriasis of the scalp.", style='<w:pStyle w:val="LetterAmbrosius"/>')
            + p(r("Calcipotriol ointment", '<w:rStyle w:val="DrugName"/>'), style='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'))  # fmt: skip
    yield made("style-names", document(body, numbering, fonts, theme, styles=styles), "Psoriasis of the scalp; Calcipotriol ointment")

    core = ('<dc:title>Discharge of «Leopoldine Marchetti»</dc:title><dc:subject>MRN «MEDICAL_RECORD_NUMBER:90217735»</dc:subject><dc:creator>«CLINICIAN:Fergus Abiodun»</dc:creator><cp:keywords>«Marchetti», stroke</cp:keywords>'
            '<dc:description>For «RELATIVE:Silvio Marchetti»</dc:description><cp:lastModifiedBy>«USERNAME:fabiodun»</cp:lastModifiedBy><cp:revision>4</cp:revision><cp:lastPrinted>2024-06-11T09:00:00Z</cp:lastPrinted>'
            '<dcterms:created xsi:type="dcterms:W3CDTF">«DATE:2024-06-10»T08:00:00Z</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">2024-06-11T08:00:00Z</dcterms:modified><cp:category>«DEPARTMENT:Stroke unit B»</cp:category>'
            '<cp:contentStatus>Checked by «PERSON:Ione»</cp:contentStatus><dc:identifier>«FIN:E-7740193»</dc:identifier>')  # fmt: skip
    app = ('<Template>«Marchetti».dotx</Template><Manager>«CLINICIAN:Augusta Nightingale-Roy»</Manager><Company>«HOSPITAL:Whitcombe Bay Hospital»</Company><HeadingPairs><vt:vector size="2" baseType="variant"><vt:variant><vt:lpstr>Title</vt:lpstr>'
           '</vt:variant><vt:variant><vt:i4>1</vt:i4></vt:variant></vt:vector></HeadingPairs><TitlesOfParts><vt:vector size="1" baseType="lpstr"><vt:lpstr>Discharge of «Leopoldine Marchetti»</vt:lpstr></vt:vector></TitlesOfParts>')  # fmt: skip
    custom = "".join(f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="{i}" name="{name}">{value}</property>' for i, (name, value) in enumerate((
        ("Patient", "<vt:lpwstr>«Leopoldine Marchetti»</vt:lpwstr>"), ("«Marchetti» DOB", "<vt:filetime>«BIRTH_DATE_TIME:1952-01-23»T00:00:00Z</vt:filetime>"), ("MRN", "<vt:i4>90217735</vt:i4>"),
        ("_dlc_DocIdUrl", "<vt:lpwstr>https://share.example/«USERNAME:fabiodun»/Marchetti.docx</vt:lpwstr>")), 2))  # fmt: skip
    settings = ('<w:docVars><w:docVar w:name="«Marchetti»" w:val="«TELEPHONE_NUMBER:01632 960 733»"/><w:docVar w:name="Address" w:val="«ADDRESS:2 Harbour Steps, Whitcombe»"/></w:docVars>')
    yield made("properties", document(p("Stroke, NIHSS 4. Clopidogrel 75 mg."), settings=settings, core=core, app=app, custom=custom), "Stroke, NIHSS 4; Clopidogrel 75 mg", None,
               [("2024-06-11", "DATE")])  # fmt: skip

    settings = ('<w:writeProtection w:recommended="1" w:algorithmName="SHA-512" w:hashValue="cXVpc3Q=" w:saltValue="AAAA" w:spinCount="1000"/>'
                '<w:zoom w:percent="90"/><w:mailMerge><w:mainDocumentType w:val="formLetters"/><w:linkToQuery/><w:dataType w:val="odbc"/><w:connectString w:val="DSN=PAS;UID=«USERNAME:mvickery»;PWD=x"/>'
                "<w:query w:val=\"SELECT * FROM patients WHERE name = '«Zebedee Harcombe»' AND mrn = «MEDICAL_RECORD_NUMBER:41907736»\"/><w:dataSource r:id=\"rIdM1\"/><w:mailSubject w:val=\"Letter for «Zebedee Harcombe»\"/><w:odso>"
                '<w:udl w:val="Data Source=C:\\Lists\\«Harcombe».csv"/><w:table w:val="«Harcombe$»"/><w:src r:id="rIdM1"/><w:fieldMapData><w:type w:val="dbColumn"/><w:name w:val="«RELATIVE:Hester Harcombe»"/><w:mappedName w:val="Last Name"/></w:fieldMapData>'
                '<w:recipientData r:id="rIdM2"/></w:odso></w:mailMerge><w:defaultTabStop w:val="720"/><w:saveThroughXslt w:solutionID="«Harcombe»"/><w:rsids><w:rsidRoot w:val="00413807"/><w:rsid w:val="00413807"/></w:rsids>'
                '<w:themeFontLang w:val="en-GB"/><w:captions><w:caption w:name="Figure of «Zebedee»"/></w:captions><w:decimalSymbol w:val="."/><w:listSeparator w:val=","/>'
                '<w14:docId w14:val="5A3F11C2"/><w15:docId w15:val="{4D2F11AA-19B0-4A77-9E31-77C2B1A0D3E4}"/>')  # fmt: skip
    files = document(p("Hay fever. Cetirizine 10 mg daily."))
    files["word/settings.xml"] = xml("settings", settings)
    files["word/recipientData.xml"] = xml("recipients", '<w:recipientData><w:active w:val="1"/><w:column w:val="0"/><w:uniqueTag w:val="WmViZWRlZSBIYXJjb21iZQ=="/></w:recipientData>')
    files["word/_rels/settings.xml.rels"] = (f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdM1" Type="{REL}mailMergeSource" Target="file:///C:/Lists/«Harcombe».csv" '
                                             f'TargetMode="External"/><Relationship Id="rIdM2" Type="{REL}mailMergeRecipientData" Target="recipientData.xml"/></Relationships>')  # fmt: skip
    files["[Content_Types].xml"] = str(files["[Content_Types].xml"]).replace("</Types>", f'<Override PartName="/word/recipientData.xml" ContentType="{MAIN}mailMergeRecipientData+xml"/></Types>')
    yield made("mail-merge", files, "Hay fever; Cetirizine 10 mg")

    odd = 'xmlns:emr="urn:thornbury:emr" xmlns:x="urn:unknown"'
    body = (f'<w:p {odd} emr:patient="«Quillon Abernathy-Vex»" emr:mrn="«MEDICAL_RECORD_NUMBER:62209118»" w14:paraId="11111111"><emr:visit emr:by="Dr «CLINICIAN:Thandeka Roux»">at «HOSPITAL:Redmire Clinic»</emr:visit>'
            '<w:r><w:t x:spoken="«Quillon»">Migraine with aura. Sumatriptan 50 mg.</w:t></w:r></w:p>'
            '<mc:AlternateContent><mc:Choice xmlns:emr="urn:thornbury:emr" Requires="emr"><w:p><w:r><w:t>Choice for «Quillon»</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>Fallback for Mr «Abernathy-Vex»</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>')  # fmt: skip
    files = document(body)
    files["word/document.xml"] = str(files["word/document.xml"]).replace('mc:Ignorable="w14 w15"', 'xmlns:emr="urn:thornbury:emr" xmlns:x="urn:unknown" mc:Ignorable="w14 w15 emr x" mc:ProcessContent="emr:visit"', 1)
    yield made("unknown-namespaces", files, "Migraine with aura; Sumatriptan 50 mg")


def hostile() -> Iterator[Made]:
    """Yield the documents of this file."""
    yield from (*splits(), *hidden(), *fields(), *names())
