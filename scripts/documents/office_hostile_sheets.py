"""The hostile XLSX files of the corpus: identifiers in each place that a workbook has, and files that must be held."""
# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from office_docx import converted
from office_hostile import DRAWING, made
from office_parts import (
    HEAD,
    PACKAGE_REL,
    REL,
    Content,
    Made,
    Part,
    Words,
    as_bytes,
    compound,
    package,
    plain,
    png,
    properties,
    zipped,
)

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml."
MICROSOFT = "http://schemas.microsoft.com/office/"
SPACES = f'xmlns="{MAIN}" xmlns:r="{REL[:-1]}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:x14="{MICROSOFT}spreadsheetml/2009/9/main" xmlns:xm="{MICROSOFT}excel/2006/main"'
BOOK = "xl/workbook.xml"
STYLES = ('<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
          '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
          '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="{style}" xfId="0" builtinId="0"/></cellStyles>')  # fmt: skip


def sml(name: str, root: str, inner: str, kind: str = "", relation: str = "", id: str = "", owner: str = BOOK) -> Part:
    """Return a part of a workbook."""
    return Part(f"xl/{name}", f"{HEAD}<{root} {SPACES}>{inner}</{root}>", f"{MEDIA}{kind or root}+xml", relation or kind or root, id, owner)


def at(row: int, column: int) -> str:
    """Return the name of a cell, counted from zero."""
    return f"{chr(65 + column)}{row + 1}"


def text(row: int, column: int, words: str) -> str:
    """Return a cell with an inline text. The words are XML."""
    return f'<c r="{at(row, column)}" t="inlineStr"><is><t xml:space="preserve">{words}</t></is></c>'


def cells(rows: Sequence[Sequence[str]], shared: list[str] | None = None) -> str:
    """Return the rows of a sheet. A cell that begins with < is XML, a number is a number, and others are texts."""
    lines = []
    for i, each in enumerate(rows):
        inner = []
        for j, cell in enumerate(each):
            if cell.startswith("<c"):
                inner.append(cell.replace("<c", f'<c r="{at(i, j)}"', 1))
            elif cell.replace(".", "", 1).isdigit():
                inner.append(f'<c r="{at(i, j)}"><v>{cell}</v></c>')
            elif shared is not None and cell:
                shared.append(cell) if cell not in shared else None
                inner.append(f'<c r="{at(i, j)}" t="s"><v>{shared.index(cell)}</v></c>')
            elif cell:
                inner.append(text(i, j, cell))
        lines.append(f'<row r="{i + 1}">{"".join(inner)}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def workbook(sheets: Iterable[tuple[str, str, str]], *parts: Part, links: Iterable[tuple[str, str, str, str]] = (), names: str = "", first: str = "", last: str = "", formats: str = "",
             style: str = "Normal", custom: str = "", core: str = "", app: str = "", styles: str = "") -> dict[str, Content]:  # fmt: skip
    """Return the files of a workbook. A sheet is its name, more attributes, and its content in XML."""
    listed, owned = [], []
    for i, (name, more, inner) in enumerate(sheets, 1):
        listed.append(f'<sheet name="{name}" sheetId="{i}" {more} r:id="rIdS{i}"/>')
        owned.append(sml(f"worksheets/sheet{i}.xml", "worksheet", inner, relation="worksheet", id=f"rIdS{i}"))
    main = Part(BOOK, f"{HEAD}<workbook {SPACES}>{first}<sheets>{''.join(listed)}</sheets>{names}{last}</workbook>", MEDIA + "sheet.main+xml", "officeDocument", owner="")
    look = sml("styles.xml", "styleSheet", formats + STYLES.format(style=style) + styles, "styles")
    return package([main, *owned, look, *properties(core, app, custom), *parts], links)


def strings(items: Iterable[str]) -> Part:
    """Return the shared strings. An item is XML."""
    return sml("sharedStrings.xml", "sst", "".join(f"<si>{item if item.startswith('<') else f'<t>{item}</t>'}</si>" for item in items), "sharedStrings")


def small(title: str, rows: Sequence[Sequence[str]]) -> bytes:
    """Return a workbook of one sheet, for an embedded file."""
    return zipped(workbook([(title, "", cells([[escape(cell) for cell in row] for row in rows]))]))


def in_cells() -> Iterator[Made]:
    """Yield workbooks with disguised words in cells."""
    split = "".join(f'<r><rPr><b val="{i % 2}"/><sz val="1{i % 3}"/></rPr><t xml:space="preserve">{letter}</t></r>' for i, letter in enumerate("Halvard Quist"))
    items = [split, "<r><t>MRN 702</t></r><r><rPr><i/></rPr><t>51648</t></r>", '<t>荒川</t><rPh sb="0" eb="2"><t>«アラカワ»</t></rPh><phoneticPr fontId="0"/>', "Never used: «RELATIVE:Sigrid Quist»", "gout", "_x0048_alvard Qu_x0069_st", "Line one_x000D_\nSeen by «CLINICIAN:Oona Fitzwater»"]
    ref = '<c t="s"><v>{}</v></c>'
    rows = [[ref.format(0), ref.format(1), ref.format(4)], [ref.format(0), ref.format(2), "71.5"], [ref.format(5), ref.format(6), ref.format(4)]]
    known = [("Halvard Quist", "PATIENT"), ("70251648", "MEDICAL_RECORD_NUMBER"), ("荒川", "PATIENT"), ("MRN 70251648", "MEDICAL_RECORD_NUMBER")][:3]
    yield made("rich-text", workbook([("Visits", "", cells(rows))], strings(items)), "gout; 71.5", None, known, suffix="xlsx")

    rows = [["Name", "Born", "Seen", "MRN", "Phone", "Weight"], ["«Ingeborg Trask»", '<c s="1"><v>«BIRTH_DATE_TIME:20146»</v></c>', '<c t="d"><v>«DATE:2024-06-18»T09:30:00</v></c>', "<c><v>8.0412377E+7</v></c>", '<c s="2"><v>«TELEPHONE_NUMBER:3305550186»</v></c>', "71.5"],
            ['<c t="str"><f>"Ingeborg"&amp;" "&amp;"Trask"</f><v>«Ingeborg Trask»</v></c>', '<c t="e"><v>#N/A</v></c>', '<c t="b"><v>1</v></c>', "<c><v>0060118274</v></c>", "<c><v>3.305550187E9</v></c>", '<c t="e"><f>VLOOKUP("«Trask»",A1:B2,2,0)</f><v>#REF!</v></c>'],
            ['<c t="inlineStr"><is><r><t>Inge</t></r><r><rPr><b/></rPr><t>borg takes</t></r><r><t xml:space="preserve"> allopurinol 100 mg</t></r></is></c>', '<c s="1"><v>«DATE:44001.39583»</v></c>']]  # fmt: skip
    files = workbook([("Sheet1", "", cells(rows))], first='<workbookPr date1904="1"/>', formats='<numFmts count="1"><numFmt numFmtId="164" formatCode="\\(000\\)\\ 000\\-0000"/></numFmts>')
    known = [("80412377", "MEDICAL_RECORD_NUMBER"), ("8.0412377E+7", "MEDICAL_RECORD_NUMBER"), ("60118274", "MEDICAL_RECORD_NUMBER"), ("Ingeborg", "PATIENT"), ("1959-02-27", "BIRTH_DATE_TIME"), ("3305550187", "TELEPHONE_NUMBER"), ("3.305550187E9", "TELEPHONE_NUMBER"), ("2024-06-20", "DATE"), ("02/27/1959", "BIRTH_DATE_TIME"), ("06/18/2024", "DATE"), ("06/20/2024", "DATE")]
    yield made("numbers-1904", files, "allopurinol 100 mg; 71.5", None, known, suffix="xlsx")

    shared: list[str] = []
    rows = [["Surname", "First", "MRN"], ["«Featheringham»", "«Isolde»", "«MEDICAL_RECORD_NUMBER:66120483»"], ["«Featheringham»", "«RELATIVE:Percival»", "66120484"], ["eczema", "hydrocortisone 1 %", "Isolde"]]
    unseen = '<cols><col min="1" max="1" width="20" customWidth="1"/><col min="3" max="3" width="0" hidden="1" customWidth="1"/></cols>'
    page = (unseen + cells(rows, shared)).replace('<row r="3">', '<row r="3" hidden="1" ht="0" customHeight="1">')
    hidden = cells([["«Rosalind Featheringham»", "«TELEPHONE_NUMBER:419-555-0152»"]], shared)
    far = '<sheetData><row r="1048576"><c r="A1048576" t="inlineStr"><is><t>Dr «Ludovica Penn»</t></is></c></row></sheetData>'.replace("Dr «", "«CLINICIAN:")
    files = workbook([("List", "", page), ("«Featheringham R»", 'state="veryHidden"', hidden), ("Archive", 'state="hidden"', far)], strings(shared))
    yield made("hidden", files, "eczema; hydrocortisone 1 %", None, [("66120484", "MEDICAL_RECORD_NUMBER")], suffix="xlsx")


def around() -> Iterator[Made]:
    """Yield workbooks with identifiers in formulas, names, and settings of sheets."""
    rows = [["Name", "Drug", "Dose"], ["«Jacoba O'Hara»", "methotrexate", "15"], ["«Wendell Truscott»", "folic acid", "5"]]
    formulas = [["<c t=\"str\"><f>IF(A2=\"«Jacoba O'Hara»\",\"call «RELATIVE:Deirdre» first\",\"\")</f><v>call Deirdre first</v></c>", "<c><f>SUM('«O''Hara J»'!C2,List!C3)</f><v>20</v></c>",
                 '<c t="str"><f>HYPERLINK("mailto:«EMAIL:jacoba.ohara@post.example»","Write")</f><v>Write</v></c>'],
                ['<c t="str"><f t="shared" ref="A2:A3" si="0">IFERROR(MATCH("«Truscott*»",A1:A3,0),"none")</f><v>3</v></c>', '<c t="str"><f t="array" ref="B2">CONCATENATE("Wend","ell")</f><v>«Wendell»</v></c>', '<c><f>[1]Sheet1!$A$1</f><v>20</v></c>'],
                ['<c t="str"><f t="shared" si="0"/><v>none</v></c>', '<c t="str"><f>T(N("«MEDICAL_RECORD_NUMBER:31180724»"))</f><v></v></c>', '<c t="str"><f>Doctor_Petrosyan</f><v>«CLINICIAN:Petrosyan»</v></c>']]  # fmt: skip
    checks = ('<conditionalFormatting sqref="A1:A9"><cfRule type="containsText" priority="1" operator="containsText" text="«Truscott»"><formula>NOT(ISERROR(SEARCH("«Truscott»",A1)))</formula></cfRule></conditionalFormatting>'
              '<dataValidations count="2"><dataValidation type="list" allowBlank="1" showInputMessage="1" showErrorMessage="1" errorTitle="«Truscott»?" error="Ask Sister «CLINICIAN:Amabel»" promptTitle="Who" prompt="Usually «Wendell Truscott»" sqref="A4:A9"><formula1>"«Wendell Truscott»,«Jacoba OHara»"</formula1></dataValidation>'
              '<dataValidation type="custom" sqref="B4"><formula1>B4&lt;&gt;"«Truscott»"</formula1></dataValidation></dataValidations>'
              '<hyperlinks><hyperlink ref="A2" r:id="rIdL1" tooltip="Chart of «Jacoba O\'Hara»" display="«O\'Hara»"/><hyperlink ref="A3" location="\'O\'\'Hara J\'!A1" display="go"/></hyperlinks>')  # fmt: skip
    names = ('<definedNames><definedName name="«Truscott_dose»" comment="Dose of «Wendell Truscott»">List!$C$3</definedName><definedName name="Doctor_Petrosyan" hidden="1">"«CLINICIAN:Petrosyan»"</definedName>'
             '<definedName name="_xlnm.Print_Area" localSheetId="1">\'O\'\'Hara J\'!$A$1:$C$3</definedName><definedName name="Lookup" description="«Truscott»">IF(List!$A$1="«RELATIVE:Deirdre»",1,0)</definedName></definedNames>')  # fmt: skip
    external = [sml("externalLinks/externalLink1.xml", "externalLink", '<externalBook r:id="rId1"><sheetNames><sheetName val="«Truscott W»"/></sheetNames><definedNames><definedName name="«Truscott»" refersTo="=\'Truscott W\'!$A$1"/></definedNames><sheetDataSet><sheetData sheetId="0"><row r="1">'
                    '<cell r="A1" t="str"><v>«Wendell Truscott», «MEDICAL_RECORD_NUMBER:31180725»</v></cell></row></sheetData></sheetDataSet></externalBook>', relation="externalLink", id="rIdX1")]  # fmt: skip
    files = workbook([("List", "", cells(rows) + checks), ("«O'Hara J»", "", cells(formulas))], *external, names="<externalReferences><externalReference r:id=\"rIdX1\"/></externalReferences>" + names,
                     links=[("xl/worksheets/sheet1.xml", "rIdL1", "hyperlink", "file:///C:/Users/«USERNAME:dpetrosyan»/«OHara_Jacoba».pdf"), ("xl/externalLinks/externalLink1.xml", "rId1", "externalLinkPath", "file:///C:/Users/dpetrosyan/«Truscott Wendell».xlsx")])  # fmt: skip
    yield made("formulas-and-links", files, "methotrexate; folic acid; 15", None, [("O''Hara J", "PATIENT"), ("Wend", "PATIENT")], suffix="xlsx")

    people = Part("xl/persons/person.xml", f'{HEAD}<personList xmlns="{MICROSOFT}spreadsheetml/2018/threadedcomments"><person displayName="«CLINICIAN:Zuleika Amundsen»" id="{{11111111-2222-3333-4444-555555555555}}" userId="S::«EMAIL:zamundsen@greywater.example»::77" providerId="AD"/></personList>', "application/vnd.ms-excel.person+xml", MICROSOFT.replace("office/", "office/2017/10/relationships/person"), owner=BOOK)
    threads = Part("xl/threadedComments/threadedComment1.xml", f'{HEAD}<ThreadedComments xmlns="{MICROSOFT}spreadsheetml/2018/threadedcomments"><threadedComment ref="A2" dT="2024-05-02T10:00:00.00" personId="{{11111111-2222-3333-4444-555555555555}}" id="{{AAAAAAAA-2222-3333-4444-555555555555}}"><text>Is «Petronella Stanwick» the wife?</text></threadedComment>'
                   '<threadedComment ref="A2" dT="2024-05-03T10:00:00.00" personId="{11111111-2222-3333-4444-555555555555}" id="{BBBBBBBB-2222-3333-4444-555555555555}" parentId="{AAAAAAAA-2222-3333-4444-555555555555}"><text>Yes, «TELEPHONE_NUMBER:(419) 555-0163»</text></threadedComment></ThreadedComments>', "application/vnd.ms-excel.threadedcomments+xml", MICROSOFT.replace("office/", "office/2017/10/relationships/threadedComment"), owner="xl/worksheets/sheet1.xml")  # fmt: skip
    notes = sml("comments1.xml", "comments", "<authors><author>tc={AAAAAAAA-2222-3333-4444-555555555555}</author><author>«PERSON:Ladislav Horvath-Reyes»</author></authors><commentList><comment ref=\"A2\" authorId=\"0\"><text><t>[Threaded comment] Is «Petronella Stanwick» the wife?</t></text></comment>"
                '<comment ref="B2" authorId="1"><text><r><rPr><b/></rPr><t xml:space="preserve">LHR: </t></r><r><t>ask Gull</t></r><r><t>iver</t></r></text></comment></commentList>', relation="comments", owner="xl/worksheets/sheet1.xml")  # fmt: skip
    vml = Part("xl/drawings/vmlDrawing1.vml", '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel"><v:shape id="«Stanwick»" type="#_x0000_t202" alt="Note by «PERSON:Horvath-Reyes»" style="visibility:hidden"><v:textbox><div>«Gulliver»</div></v:textbox><x:ClientData ObjectType="Note"><x:Row>1</x:Row><x:Column>1</x:Column></x:ClientData></v:shape></xml>', "", "vmlDrawing", "rIdV1", "xl/worksheets/sheet1.xml")
    page = cells([["Patient", "Plan"], ["«Gulliver Stanwick»", "spirometry, tiotropium 18 mcg"]]) + ('<headerFooter differentOddEven="1" differentFirst="1"><oddHeader>&amp;L&amp;"Calibri,Bold"Ward 7&amp;C«Gulliver» &amp;B«Stanwick»&amp;R&amp;G</oddHeader><oddFooter>&amp;Z&amp;F printed by «PERSON:L. Horvath», page &amp;P</oddFooter>'
            '<evenHeader>MRN «MEDICAL_RECORD_NUMBER:58100372»</evenHeader><firstFooter>Wife «RELATIVE:Petronella»</firstFooter></headerFooter><legacyDrawing r:id="rIdV1"/>')  # fmt: skip
    yield made("comments", workbook([("Plan", "", page)], people, threads, notes, vml), "spirometry, tiotropium 18 mcg", None, [("2024-05-02", "DATE"), ("2024-05-03", "DATE"), ("LHR", "PERSON")], suffix="xlsx")

    rows = [["Patient", "Dr «CLINICIAN:Sadler»", "Result"], ["«Xanthe Loveday»", "x", "5.4"], ["«Xavier Loveday»", "x", "4.1"]]
    filters = ('<autoFilter ref="A1:C3"><filterColumn colId="0"><filters><filter val="«Xanthe Loveday»"/><filter val="«Never Shown-Patient»"/></filters></filterColumn><filterColumn colId="1"><customFilters><customFilter operator="equal" val="*«Loveday»*"/></customFilters></filterColumn></autoFilter>')
    grid = sml("tables/table1.xml", "table", f'{filters}<tableColumns count="3"><tableColumn id="1" name="Patient" totalsRowLabel="«Loveday» total"/><tableColumn id="2" name="Dr «CLINICIAN:Sadler»"/><tableColumn id="3" name="Result"><calculatedColumnFormula>IF(A2="«Xanthe Loveday»",1,2)</calculatedColumnFormula></tableColumn></tableColumns><tableStyleInfo name="«LovedayStyle»" showRowStripes="1"/>',
               relation="table", id="rIdT1", owner="xl/worksheets/sheet1.xml")  # fmt: skip
    content = str(grid.content).replace(f"<table {SPACES}>", f'<table {SPACES} id="1" name="«Loveday_results»" displayName="Loveday_results" ref="A1:C3" totalsRowShown="0" comment="Results of «Xanthe»">', 1)
    page = (cells(rows) + '<protectedRanges><protectedRange name="«Loveday»" sqref="A1:A3"/></protectedRanges><scenarios current="0"><scenario name="If «Xanthe» lives" user="«PERSON:Merle Tamsin»" comment="Created by «PERSON:Merle Tamsin» on «DATE:5/2/2024»" count="1"><inputCells r="C2" val="«Xanthe Loveday»"/></scenario></scenarios>'
            '<customSheetViews><customSheetView guid="{12345678-1234-1234-1234-123456789012}"><headerFooter><oddHeader>«Loveday»</oddHeader></headerFooter></customSheetView></customSheetViews><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/><tableParts count="1"><tablePart r:id="rIdT1"/></tableParts>')  # fmt: skip
    first = f'<fileSharing readOnlyRecommended="1" userName="«USERNAME:mtamsin»"/><workbookPr codeName="«Loveday»"/><mc:AlternateContent><mc:Choice Requires="x15"><x15ac:absPath url="C:\\Users\\«USERNAME:mtamsin»\\Loveday\\" xmlns:x15ac="{MICROSOFT}spreadsheetml/2010/11/ac"/></mc:Choice></mc:AlternateContent>'.replace("<mc:AlternateContent>", f'<mc:AlternateContent xmlns:x15="{MICROSOFT}spreadsheetml/2010/11/main">')
    views = '<customWorkbookViews><customWorkbookView name="View of «PERSON:Merle Tamsin»" guid="{12345678-1234-1234-1234-123456789012}" windowWidth="1" windowHeight="1" activeSheetId="1"/></customWorkbookViews>'
    formats = '<numFmts count="1"><numFmt numFmtId="164" formatCode="&quot;«Loveday» &quot;0.0"/></numFmts>'
    odd = '<dxfs count="0"/><tableStyles count="1" defaultTableStyle="«LovedayStyle»"><tableStyle name="LovedayStyle" count="0"/></tableStyles>'
    files = workbook([("Results", "", page)], Part(grid.name, content, grid.media_type, grid.relation, grid.id, grid.owner), first=first, last=views, formats=formats, style="«Xanthe»", styles=odd, core="<dc:creator>«PERSON:Merle Tamsin»</dc:creator><dc:title>«Loveday» results</dc:title>",
                     app="<Company>«HOSPITAL:Stoneleigh Lab»</Company>", custom='<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="«Loveday»"><vt:lpwstr>MRN «MEDICAL_RECORD_NUMBER:50018822»</vt:lpwstr></property>')  # fmt: skip
    yield made("names-and-tables", files, "5.4; 4.1; Result", suffix="xlsx")


def attached() -> Iterator[Made]:
    """Yield workbooks with caches, charts, and other parts."""
    query = sml("connections.xml", "connections", '<connection id="1" name="«Ironside» query" description="By «PERSON:Otis Penrose»" type="1" refreshedVersion="6" odcFile="C:\\Users\\«USERNAME:openrose»\\lab.odc"><dbPr connection="DSN=LIS;UID=openrose" command="SELECT * FROM lab WHERE patient = \'«Dorothea Ironside»\' AND mrn = «MEDICAL_RECORD_NUMBER:77120043»"/><parameters count="1"><parameter name="«Ironside»" string="«Dorothea»"/></parameters></connection>', relation="connections")
    table = sml("queryTables/queryTable1.xml", "queryTable", '<queryTableRefresh nextId="2"><queryTableFields count="1"><queryTableField id="1" name="«Ironside»" tableColumnId="1"/></queryTableFields></queryTableRefresh>', relation="queryTable", owner="xl/worksheets/sheet1.xml")
    table = Part(table.name, str(table.content).replace("<queryTable ", '<queryTable name="«Ironside» results" connectionId="1" ', 1), table.media_type, table.relation, "", table.owner)
    cache = sml("pivotCache/pivotCacheDefinition1.xml", "pivotCacheDefinition", '<cacheSource type="worksheet"><worksheetSource ref="A1:C3" sheet="Lab"/></cacheSource><cacheFields count="3"><cacheField name="Patient" numFmtId="0"><sharedItems count="3"><s v="«Dorothea Ironside»"/><s v="«Removed Long-Ago»"/><s v="«Ironside, D.»"/></sharedItems></cacheField>'
                '<cacheField name="MRN" numFmtId="0"><sharedItems containsNumber="1" minValue="1" maxValue="77120043"/></cacheField><cacheField name="Seen" numFmtId="14"><sharedItems containsDate="1" count="1"><d v="«DATE:2024-07-09»T00:00:00"/></sharedItems></cacheField></cacheFields>', relation="pivotCacheDefinition", id="rIdC1")  # fmt: skip
    cache = Part(cache.name, str(cache.content).replace("<pivotCacheDefinition ", '<pivotCacheDefinition r:id="rId1" refreshedBy="«PERSON:Otis Penrose»" refreshedDate="45482" recordCount="1" ', 1), cache.media_type, cache.relation, cache.id, cache.owner)
    records = sml("pivotCache/pivotCacheRecords1.xml", "pivotCacheRecords", '<r><x v="0"/><n v="77120043"/><x v="0"/></r><r><s v="«Ghost Patient-Cached»"/><n v="«MEDICAL_RECORD_NUMBER:77120044»"/><x v="0"/></r>', relation="pivotCacheRecords", id="rId1", owner=cache.name)
    pivot = sml("pivotTables/pivotTable1.xml", "pivotTableDefinition", '<location ref="A3:B5" firstHeaderRow="1" firstDataRow="1" firstDataCol="1"/><pivotFields count="3"><pivotField axis="axisRow" showAll="0" name="«Ironside»"><items count="1"><item x="0" n="«Dorothea Ironside»"/></items></pivotField><pivotField showAll="0"/><pivotField showAll="0"/></pivotFields>', "pivotTable", owner="xl/worksheets/sheet2.xml")
    pivot = Part(pivot.name, str(pivot.content).replace("<pivotTableDefinition ", '<pivotTableDefinition name="«Ironside» pivot" cacheId="1" dataCaption="Values" grandTotalCaption="All of «Ironside»" ', 1), pivot.media_type, pivot.relation, "", pivot.owner)
    back = Part(cache.name, b"", "", "pivotCacheDefinition", "rIdB", pivot.name)
    rows = [["Patient", "MRN", "Seen"], ["«Dorothea Ironside»", "77120043", '<c s="1"><v>45482</v></c>'], ["TSH 0.02", "1", "carbimazole 20 mg"]]
    files = workbook([("Lab", "", cells(rows)), ("Pivot", "", cells([[""], [""], ["Row Labels"], ["«Dorothea Ironside»", "1"]]))], query, table, cache, records, pivot, last='<pivotCaches><pivotCache cacheId="1" r:id="rIdC1"/></pivotCaches>')
    extra = workbook([], pivot, back)
    files["xl/pivotTables/_rels/pivotTable1.xml.rels"] = extra["xl/pivotTables/_rels/pivotTable1.xml.rels"]
    yield made("caches", files, "TSH 0.02; carbimazole 20 mg", None, [("77120043", "MEDICAL_RECORD_NUMBER"), ("45482", "DATE"), ("07/09/2024", "DATE")], suffix="xlsx")

    chart = Part("xl/charts/chart1.xml", f'{HEAD}<c:chartSpace xmlns:c="{DRAWING}chart" xmlns:a="{DRAWING}main" xmlns:r="{REL[:-1]}"><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>Ul</a:t></a:r><a:r><a:t>rik Sandberg</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:ser><c:idx val="0"/><c:order val="0"/>'
                 '<c:tx><c:strRef><c:f>Data!$B$1</c:f><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>«Sandberg, Ulrik»</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:multiLvlStrRef><c:f>Data!$A$2:$A$3</c:f><c:multiLvlStrCache><c:ptCount val="2"/><c:lvl><c:pt idx="0"><c:v>«DATE:3 Jan 2025»</c:v></c:pt><c:pt idx="1"><c:v>«HOSPITAL:Stoneleigh Lab»</c:v></c:pt></c:lvl></c:multiLvlStrCache></c:multiLvlStrRef></c:cat>'
                 '<c:val><c:numRef><c:f>Data!$B$2:$B$3</c:f><c:numCache><c:formatCode>"Mr «Sandberg» "0.0</c:formatCode><c:ptCount val="2"/><c:pt idx="0"><c:v>81.5</c:v></c:pt><c:pt idx="1"><c:v>79.2</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:scaling/><c:axPos val="b"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:scaling/><c:axPos val="l"/>'
                 '<c:crossAx val="1"/></c:valAx></c:plotArea></c:chart><c:printSettings><c:headerFooter><c:oddHeader>«Ulrik»</c:oddHeader></c:headerFooter></c:printSettings><c:userShapes r:id="rIdU1"/></c:chartSpace>', "application/vnd.openxmlformats-officedocument.drawingml.chart+xml", "chart", "rIdC1", "xl/drawings/drawing1.xml")  # fmt: skip
    shapes = Part("xl/drawings/drawing2.xml", f'{HEAD}<c:userShapes xmlns:c="{DRAWING}chart" xmlns:cdr="{DRAWING}chartDrawing" xmlns:a="{DRAWING}main"><cdr:relSizeAnchor><cdr:from><cdr:x>0</cdr:x><cdr:y>0</cdr:y></cdr:from><cdr:to><cdr:x>1</cdr:x><cdr:y>1</cdr:y></cdr:to><cdr:sp><cdr:nvSpPr><cdr:cNvPr id="2" name="«Sandberg box»"/><cdr:cNvSpPr/></cdr:nvSpPr><cdr:spPr/><cdr:txBody><a:bodyPr/><a:p><a:r><a:t>Cachexia of «Ulrik»</a:t></a:r></a:p></cdr:txBody></cdr:sp></cdr:relSizeAnchor></c:userShapes>',
                  "application/vnd.openxmlformats-officedocument.drawingml.chartshapes+xml", "chartUserShapes", "rIdU1", "xl/charts/chart1.xml")  # fmt: skip
    place = "<xdr:from><xdr:col>{0}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>5</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>{1}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>15</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to>"
    frame = '<a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
    drawing = Part("xl/drawings/drawing1.xml", f'{HEAD}<xdr:wsDr xmlns:xdr="{DRAWING}spreadsheetDrawing" xmlns:a="{DRAWING}main" xmlns:r="{REL[:-1]}"><xdr:twoCellAnchor>{place.format(0, 5)}<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="«Sandberg» chart" descr="Weights of «Ulrik Sandberg»"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>'
                   f'<a:graphic><a:graphicData uri="{DRAWING}chart"><c:chart xmlns:c="{DRAWING}chart" r:id="rIdC1"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor><xdr:twoCellAnchor>{place.format(6, 8)}<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="«sandberg_face».png" descr="Wristband «MEDICAL_RECORD_NUMBER:60117428»"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rIdP1"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill>'
                   f'<xdr:spPr>{frame}</xdr:spPr></xdr:pic><xdr:clientData/></xdr:twoCellAnchor><xdr:twoCellAnchor>{place.format(9, 12)}<xdr:sp macro="" textlink="Data!$A$1"><xdr:nvSpPr><xdr:cNvPr id="4" name="Box"/><xdr:cNvSpPr/></xdr:nvSpPr><xdr:spPr>{frame}</xdr:spPr><xdr:txBody><a:bodyPr/><a:p><a:r><a:t>Ring nurse Philo</a:t></a:r><a:r><a:t>mena Stroud</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>',
                   "application/vnd.openxmlformats-officedocument.drawing+xml", "drawing", "rIdD1", "xl/worksheets/sheet1.xml")  # fmt: skip
    image = Part("xl/media/Sandberg Ulrik.png", png("Ulrik Sandberg"), "", "image", "rIdP1", "xl/drawings/drawing1.xml")
    printer = Part("xl/printerSettings/printerSettings1.bin", "\\\\PRN-01\\Isambard Fox".encode("utf-16-le").ljust(64, b"\0"), MEDIA + "printerSettings", "printerSettings", "rIdQ1", "xl/worksheets/sheet1.xml")
    store = Part("customXml/item1.xml", "<record><patient>«Ulrik Sandberg»</patient></record>", "", "customXml", owner=BOOK)
    page = cells([["Date", "Weight"], ["«DATE:3 Jan 2025»", "81.5"], ["17 Jan 2025", "79.2"], ["furosemide 80 mg"]]) + '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/><pageSetup orientation="portrait" r:id="rIdQ1"/><drawing r:id="rIdD1"/>'
    yield made("charts-and-pictures", workbook([("Data", "", page)], chart, shapes, drawing, image, printer, store), "furosemide 80 mg; 81.5; 79.2", None, [("Ulrik Sandberg", "PATIENT"), ("Philomena Stroud", "CLINICIAN"), ("17 Jan 2025", "DATE"), ("Isambard Fox", "PERSON"), ("Sandberg Ulrik", "PATIENT")], suffix="xlsx")

    users = sml("revisions/userNames.xml", "users", '<userInfo guid="{12345678-1234-1234-1234-123456789012}" name="«PERSON:Bronwen Astley»" id="-1" dateTime="«DATE:2024-02-01»T10:00:00"/>', "userNames", "usernames")
    heads = sml("revisions/revisionHeaders.xml", "headers", '<header guid="{22345678-1234-1234-1234-123456789012}" dateTime="2024-02-01T10:00:00" maxSheetId="2" userName="«PERSON:Bronwen Astley»" r:id="rId1"><sheetIdMap count="1"><sheetId val="1"/></sheetIdMap></header>', "revisionHeaders")
    heads = Part(heads.name, str(heads.content).replace("<headers ", '<headers guid="{22345678-1234-1234-1234-123456789012}" ', 1), heads.media_type, heads.relation, "", heads.owner)
    log = sml("revisions/revisionLog1.xml", "revisions", '<rcc rId="1" sId="1"><oc r="A2" t="inlineStr"><is><t>«Former Name-Typed»</t></is></oc><nc r="A2" t="inlineStr"><is><t>«Ludmila Oakes»</t></is></nc></rcc>', "revisionLog", id="rId1", owner="xl/revisions/revisionHeaders.xml")
    sparks = ('<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"><x14:dataValidations count="1"><x14:dataValidation type="list"><x14:formula1><xm:f>\'«Oakes L»\'!$A$1:$A$2</xm:f></x14:formula1><xm:sqref>B2</xm:sqref></x14:dataValidation></x14:dataValidations></ext>'
              '<ext uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}"><x14:sparklineGroups><x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>\'Oakes L\'!A1:A2</xm:f><xm:sqref>C2</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst>')  # fmt: skip
    slicer = Part("xl/slicers/slicer1.xml", f'{HEAD}<slicers xmlns="{MICROSOFT}spreadsheetml/2009/9/main"><slicer name="«Oakes»" cache="Slicer_Oakes" caption="Patient «Ludmila Oakes»" rowHeight="241300"/></slicers>', "application/vnd.ms-excel.slicer+xml", MICROSOFT + "2007/relationships/slicer", owner="xl/worksheets/sheet1.xml")
    rows = [["Patient", "Plan"], ["«Ludmila Oakes»", "doxycycline 100 mg bd"]]
    yield made("shared-workbook", workbook([("Plan", "", cells(rows) + sparks), ("«Oakes L»", "", cells([["rosacea"], ["acne"]]))], users, heads, log, slicer), "doxycycline 100 mg bd; rosacea", suffix="xlsx")

    inner = small("Innermost", [["Wilhelmina Strand", "HIV negative"]])
    frame = '<oleObjects><oleObject progId="Excel.Sheet.12" shapeId="1025" r:id="rIdE1"/></oleObjects>'
    book = workbook([("Cover", "", cells([["Cover sheet"], ["rifampicin 600 mg"]]) + frame)], Part("xl/embeddings/Strand W.xlsx", inner, "", "package", "rIdE1", "xl/worksheets/sheet1.xml"))
    yield made("workbook-in-workbook", book, "Cover sheet; rifampicin 600 mg", None, [("Wilhelmina Strand", "PATIENT"), ("Strand W", "PATIENT")], suffix="xlsx")


def plain_sheet(name: str, mrn: str) -> dict[str, Content]:
    """Return a small worklist."""
    return workbook([("Worklist", "", cells([["Name", "MRN", "Plan"], [f"«{name}»", mrn, "lisinopril 10 mg"], [f"Mother of «{name}»", "7", "hypertension"]]))])


def packages(folder: Path) -> Iterator[Made]:
    """Yield workbooks with unusual packages, and those that must be held."""
    note = "Name\tMRN\tPlan\n{0}\t{1}\tlisinopril 10 mg\nMother of {0}\t7\thypertension"

    def unusual(name: str, files: dict[str, Content], patient: str, mrn: str, also: Sequence[Words] = ()) -> Made:
        return made(name, files, "lisinopril 10 mg; hypertension", note.format(f"«{patient}»", f"«MEDICAL_RECORD_NUMBER:{mrn}»"), also, suffix="xlsx")

    files = plain_sheet("Casimir Windham", "44810092")
    text_of = str(files["xl/worksheets/sheet1.xml"])
    files["xl/worksheets/sheet1.xml"] = text_of.replace("<sheetData>", "<!-- for Dr «CLINICIAN:Ruairi Stack» --><?emr who=\"«Casimir»\"?><sheetData>").replace('<t xml:space="preserve">«Casimir Windham»</t>', '<t><![CDATA[«Casimir ]]>Windham»</t>'.replace("«Casimir ]]>Windham»", "Casimir ]]>Windham"))
    yield unusual("xml-comments", files, "Casimir Windham", "44810092")
    files = plain_sheet("Désiré Łuczak-Nyström", "44810093")
    files["xl/worksheets/sheet1.xml"] = plain(str(files["xl/worksheets/sheet1.xml"])).replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16")
    yield unusual("utf-16", files, "Désiré Łuczak-Nyström", "44810093")
    files = plain_sheet("Alaric Penhallow", "44810094")
    more: dict[str, Content] = {"xl/Penhallow notes.txt": "Ask «RELATIVE:Rowan Penhallow»", "xl/worksheets/sheet9.xml": files["xl/worksheets/sheet1.xml"], "thumbs/Alaric Penhallow.png": png()}
    yield unusual("extra-entries", files | more, "Alaric Penhallow", "44810094", [("Penhallow", "PATIENT")])
    files = plain_sheet("Ptolemy Sarkisian", "44810097")
    for name, content in files.items():
        files[name] = str(content).replace(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main").replace(REL[:-1], "http://purl.oclc.org/ooxml/officeDocument/relationships").replace("<workbook ", '<workbook conformance="strict" ')
        files[name] = str(files[name]).replace("http://schemas.openxmlformats.org/officeDocument/2006/extended-properties", "http://purl.oclc.org/ooxml/officeDocument/extendedProperties").replace("http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes", "http://purl.oclc.org/ooxml/officeDocument/docPropsVTypes")
    yield unusual("strict", files, "Ptolemy Sarkisian", "44810097")
    prefixed = plain_sheet("Odo Falkirk", "44810098")
    sheet = str(prefixed["xl/worksheets/sheet1.xml"]).replace(f'xmlns="{MAIN}"', f'xmlns:x="{MAIN}"')
    for each in ("worksheet", "sheetData", "row", "c", "v", "is", "t"):
        sheet = sheet.replace(f"<{each} ", f"<x:{each} ").replace(f"<{each}>", f"<x:{each}>").replace(f"</{each}>", f"</x:{each}>")
    yield unusual("prefixes", prefixed | {"xl/worksheets/sheet1.xml": sheet}, "Odo Falkirk", "44810098")
    ranges = [["Test", "Low", "High"], ["Potassium", "3.5", "5.1"], ["TSH", "0.4", "4.2"], ["Hashimoto thyroiditis", '<c t="e"><v>#N/A</v></c>', "<c><f>SUM(C2:C3)</f><v>9.3</v></c>"]]
    names = "<definedNames><definedName name=\"_xlnm.Print_Area\" localSheetId=\"0\">'Reference ranges'!$A$1:$C$3</definedName></definedNames>"
    yield made("no-identifiers", workbook([("Reference ranges", "", cells(ranges))], names=names), "Potassium; 5.1; Hashimoto thyroiditis", suffix="xlsx")

    letter = plain_sheet("Torquil Ashdown", "51100384")
    known = [("Torquil Ashdown", "PATIENT"), ("51100384", "MEDICAL_RECORD_NUMBER")]

    def held(name: str, content: dict[str, Content] | bytes, why: str, made_by: str = "hand") -> Made:
        damaged = name in ("truncated", "encrypted")
        return made(name, content, "", None, [] if damaged else known, why, made_by, suffix="xlsx")

    code = b'Attribute VB_Name = "Module1"\r\nSub Auto_Open()\r\n  Who = "Torquil Ashdown"\r\nEnd Sub\r\n'
    sheet1 = cells([["Name", "MRN"], ["«Torquil Ashdown»", "51100384"]])
    files = workbook([("Worklist", "", sheet1)], Part("xl/vbaProject.bin", compound({"PROJECT": b"Module=Module1\r\n", "Module1": code, "dir": b"\1"}), "application/vnd.ms-office.vbaProject", MICROSOFT + "2006/relationships/vbaProject", owner=BOOK))
    files["[Content_Types].xml"] = str(files["[Content_Types].xml"]).replace(MEDIA + "sheet.main+xml", "application/vnd.ms-excel.sheet.macroEnabled.main+xml")
    yield held("macros", files, "contains macros")
    old = workbook([("Worklist", "", sheet1), ("Macro1", 'state="veryHidden"', cells([["<c><f>EXEC(\"calc.exe\")</f><v>0</v></c>"]]))])
    old["[Content_Types].xml"] = str(old["[Content_Types].xml"]).replace(f'/xl/worksheets/sheet2.xml" ContentType="{MEDIA}worksheet+xml', '/xl/macrosheets/sheet2.xml" ContentType="application/vnd.ms-excel.macrosheet+xml')
    old["xl/_rels/workbook.xml.rels"] = str(old["xl/_rels/workbook.xml.rels"]).replace(f'{REL}worksheet" Target="/xl/worksheets/sheet2.xml', f'{MICROSOFT}2006/relationships/xlMacrosheet" Target="/xl/macrosheets/sheet2.xml')
    old["xl/macrosheets/sheet2.xml"] = str(old.pop("xl/worksheets/sheet2.xml")).replace("<worksheet ", "<xm:macrosheet ").replace("</worksheet>", "</xm:macrosheet>")
    yield held("macro-sheet", old, "a sheet of Excel 4 macros")
    noise = random.Random(23)  # noqa: S311 -- only has to look like a cipher
    yield held("encrypted", compound({"EncryptionInfo": struct.pack("<HHI", 4, 4, 0x40) + f'{HEAD}<encryption xmlns="{MICROSOFT}2006/encryption"/>'.encode(), "EncryptedPackage": struct.pack("<Q", 5000) + noise.randbytes(5008)}), "encrypted")
    book = "xl/workbook.xml"
    yield held("dtd", letter | {book: str(letter[book]).replace("<workbook ", '<!DOCTYPE workbook [<!ENTITY f SYSTEM "http://intranet.example/x">]>\n<workbook ')}, "a document type declaration")
    page = as_bytes(letter["xl/worksheets/sheet1.xml"]).replace(b"</sheetData>", b"<row/>" * 12_000_000 + b"</sheetData>")
    yield held("bomb", zipped(letter | {"xl/worksheets/sheet1.xml": page}), "a sheet that expands a thousandfold")
    whole = zipped(letter | {"xl/workbooj.xml": letter[book]})
    yield held("duplicate-entries", whole.replace(b"xl/workbooj.xml", b"xl/workbook.xml"), "two entries with one name")
    yield held("truncated", zipped(letter)[:-400], "the end of the file is missing")
    signed = Part("_xmlsignatures/origin.sigs", b"", "application/vnd.openxmlformats-package.digital-signature-origin", PACKAGE_REL + "digital-signature/origin", owner="")
    sign = Part("_xmlsignatures/sig1.xml", f'{HEAD}<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo/><SignatureValue>AAAA</SignatureValue></Signature>', "application/vnd.openxmlformats-package.digital-signature-xmlsignature+xml", PACKAGE_REL + "digital-signature/signature", owner="_xmlsignatures/origin.sigs")
    yield held("signed", workbook([("Worklist", "", sheet1)], signed, sign), "a digital signature that a change makes invalid")
    path = folder / "old.csv"
    path.write_text("Name,MRN\nTorquil Ashdown,51100384\n", encoding="utf-8")
    yield held("excel-97", converted([path], "xls:MS Excel 97", "CSV:44,34,76,1")["old"], "a binary workbook of Excel 97 with a new suffix", "LibreOffice")


def hostile(folder: Path) -> Iterator[Made]:
    """Yield all hostile XLSX files. `folder` is for temporary files."""
    yield from (*in_cells(), *around(), *attached(), *packages(folder))
