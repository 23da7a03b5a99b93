"""Hostile PDF pages: what a content stream, a font, or a picture can do to the words of a page."""

# ruff: noqa: E501 -- an object of a PDF file stands on one line

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from pdf_raw import (
    DEJAVU,
    FONT,
    HIDDEN,
    LETTER,
    NAMES,
    NOTE,
    UNSEEN,
    Attack,
    File,
    at,
    cmap,
    coded,
    embedded,
    image,
    lines,
    outlines,  # fmt: skip
    picture,
    stream,
    string,
    type3,
    utf16,
    width,
)
from reportlab.graphics.barcode.code128 import Code128
from reportlab.pdfgen.canvas import Canvas

NAME = "Philippa Ravensworth"
ROW = NOTE.splitlines()
REST = lines("\n".join(ROW[1:]), y=702)
BOTH = (*NAMES, *HIDDEN)
SAFE = "Lungs clear, asthma is stable."
MRN = ("73904418", "MEDICAL_RECORD_NUMBER")
ONE = ((NAME, "PATIENT"), MRN)
LINE = f"Patient: {NAME}, MRN 73904418, has asthma. Lungs clear."


def one(content: bytes, *, resources: bytes = b"", extra: bytes = b"", box: bytes = LETTER, packed: bool = True) -> bytes:
    """Return a file of one page."""
    file = File()
    file.page(content, resources=resources, extra=extra, box=box, packed=packed)
    return file.data()


def every() -> Iterator[Attack]:
    """Yield all attacks of this module."""
    for attacks in (order, hidden, places, breaks, forms, fonts, scripts, pictures, operators):
        yield from attacks()


def order() -> Iterator[Attack]:
    """Yield words whose letters are shown apart, or in another order than they are read."""
    content = b""
    for i, line in enumerate(ROW):
        for start in range(0, len(line), 5):
            content += at(72 + width(line[:start]), 720 - 18 * i, line[start : start + 5])
    yield Attack("split-operators", one(content))
    content = b"BT /F1 11 Tf 16 TL 72 720 Td\n"
    for line in ROW:
        words = b" -278 ".join(b" ".join(string(c) + b" %d" % (ord(c) % 40 - 15) for c in w) for w in line.split(" "))
        content += b"[" + words + b"] TJ T*\n"
    yield Attack("kerned-without-spaces", one(content + b"ET\n"))
    letters = [(72 + width(line[:i]), 720 - 18 * row, sign) for row, line in enumerate(ROW)
               for i, sign in enumerate(line) if sign != " "]  # fmt: skip
    random.Random(7).shuffle(letters)  # noqa: S311 -- the order of letters
    yield Attack("scattered-letters", one(b"".join(at(*letter) for letter in letters)),
                 why="letters in no order: a picture replaces the page, and no reader checks it")
    rows = [("Patient", "MRN", "Born"), (NAME, "73904418", "07/19/1956"), ("Godwin Amberley", "88110274", "11/02/1971")]
    by_column = b"".join(at(72 + 160 * x, 650 - 20 * y, row[x]) for x in range(3) for y, row in enumerate(rows))
    more = (("Godwin Amberley", "PATIENT"), ("88110274", "MEDICAL_RECORD_NUMBER"), ("11/02/1971", "BIRTH_DATE_TIME"))
    table = NOTE + "\n" + "\n".join("\t".join(row) for row in rows)
    yield Attack("table-by-columns", one(by_column + lines(NOTE)), (*NAMES, *more), note=table)
    spaced = b"BT /F1 11 Tf 8 Tc 72 720 Td " + string(NAME) + b" Tj 0 Tc 0 -18 Td " + string(SAFE) + b" Tj ET"
    yield Attack("letter-spaced", one(spaced), ((NAME, "PATIENT"), (" ".join(NAME.replace(" ", "")), "PATIENT")), note=None)
    twice = b"".join(at(72 + shift, 720 - 18 * i, line) for i, line in enumerate(ROW) for shift in (0, 0.3))
    yield Attack("double-strike", one(twice))
    doubled = "".join(sign * 2 for sign in NAME)
    letters2 = [(72 + shift + width(NAME[:i]), 640, sign) for i, sign in enumerate(NAME) for shift in (0, 0.4)]
    twice = b"".join(at(*letter) for letter in letters2) + at(72, 600, SAFE)
    yield Attack("double-letters", one(twice), ((NAME, "PATIENT"), (doubled, "PATIENT")), note=None)
    backward = b"".join(at(72, 648 + 18 * i, line) for i, line in enumerate(reversed(ROW)))
    yield Attack("lines-backward", one(backward))


def hidden() -> Iterator[Attack]:
    """Yield text that the page does not show."""
    away = at(72, 600, UNSEEN)
    yield Attack("invisible", one(lines(NOTE) + at(72, 600, UNSEEN, before="3 Tr")), BOTH)
    yield Attack("white", one(b"q 1 1 1 rg " + away + b"Q\n" + lines(NOTE)), BOTH)
    box = b"q 0 g 68 595 200 18 re f Q\n"
    yield Attack("under-a-box", one(lines(NOTE) + away + box), BOTH)
    yield Attack("clipped", one(b"q 0 0 1 1 re W n " + away + b"Q\n" + lines(NOTE)), BOTH)
    yield Attack("cropped", one(lines(NOTE) + at(72, 40, UNSEEN) + at(-400, 600, UNSEEN), extra=b"/CropBox[0 100 612 792]"), BOTH)
    yield Attack("tiny", one(lines(NOTE) + at(72, 600, UNSEEN, size=0.05)), BOTH)
    yield Attack("no-width", one(lines(NOTE) + b"BT /F1 11 Tf 0 Tz 72 600 Td " + string(UNSEEN) + b" Tj ET\n"), BOTH)
    gray = b"/Blank 5 0 R"
    file = File()
    file.add(b"null")
    file.add(stream(b"\xff", b"/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"))
    file.page(lines(NOTE) + away + b"q 300 0 0 30 60 590 cm /Blank Do Q\n", resources=b"/XObject<<%s>>" % gray)
    yield Attack("under-a-picture", file.data(), BOTH)
    file = File()
    off, on = file.add(b"<</Type/OCG/Name(Leocadia Brandt)>>"), file.add(b"<</Type/OCG/Name(Text of Brandt, Leocadia)>>")
    file.catalog = b"/OCProperties<</OCGs[%d 0 R %d 0 R]/D<</OFF[%d 0 R]/Order[%d 0 R]>>>>" % (off, on, off, off)
    content = b"/OC /L1 BDC\n" + away + b"EMC\n/OC /L2 BDC\n" + lines(NOTE) + b"EMC\n"
    file.page(content, resources=b"/Properties<</L1 %d 0 R/L2 %d 0 R>>" % (off, on))
    yield Attack("layer-off", file.data(), (*BOTH, ("Brandt, Leocadia", "PATIENT")))
    clear = b"/ExtGState<</G<</ca 0/CA 0>>>>"
    yield Attack("transparent", one(b"q /G gs " + away + b"Q\n" + lines(NOTE), resources=clear), BOTH)


def places() -> Iterator[Attack]:
    """Yield pages and texts that are turned, scaled, or mirrored."""
    turned = b"q 0 1 -1 0 612 0 cm\n" + lines(NOTE, y=560) + b"Q\n"
    yield Attack("page-turned", one(turned, extra=b"/Rotate 90"))
    cos, sin = math.cos(math.radians(30)), math.sin(math.radians(30))
    slanted = f"q {cos:.5f} {sin:.5f} {-sin:.5f} {cos:.5f} 120 200 cm\n".encode() + lines(NOTE, x=0, y=80) + b"Q\n"
    yield Attack("slanted", one(slanted))
    upright = b"".join(at(80, 720 - 13 * i, sign) for i, sign in enumerate(NAME) if sign != " ") + at(150, 720, SAFE)
    yield Attack("letters-stacked", one(upright), ((NAME, "PATIENT"), (" ".join(NAME.replace(" ", "")), "PATIENT")), note=None)
    yield Attack("user-unit", one(b"q .1 0 0 .1 0 0 cm " + lines(NOTE) + b"Q", box=b"[0 0 61.2 79.2]", extra=b"/UserUnit 10"))
    mirrored = b"q 1 0 0 -1 0 792 cm\n" + b"".join(
        f"BT /F1 -11 Tf -1 0 0 1 72 {72 + 18 * i} Tm ".encode() + string(line) + b" Tj ET\n" for i, line in enumerate(ROW)
    )  # fmt: skip
    yield Attack("negative-scales", one(mirrored + b"Q"))
    yield Attack("huge-page", one(lines(NOTE, x=14000, y=14300), box=b"[0 0 14400 14400]"))
    yield Attack("box-from-below", one(b"q 1 0 0 1 -1000 -2000 cm\n" + lines(NOTE) + b"Q", box=b"[-1000 -1208 -388 -2000]"))


def breaks() -> Iterator[Attack]:
    """Yield names that a line, a column, or a page breaks."""
    soft = "Seen today: Rosamund Feather\u00ad\nstonhaugh, who has asthma. Lungs clear. Chart of Ravens-\nworth, Philippa."
    names = tuple((each, "PATIENT") for each in ("Rosamund Featherstonhaugh", "Rosamund Feather", "stonhaugh", "Ravens",
                                                  "Ravensworth, Philippa", "worth, Philippa"))  # fmt: skip
    yield Attack("hyphens", one(lines(soft)), names, note=soft.replace("\u00ad\n", "").replace("-\n", ""))
    left = ["The trial has a new participant.", "We thank Rosamund"]
    right = ["Featherstonhaugh for her time.", SAFE]
    columns = b"".join(at(x, 720 - 18 * i, line) for i in range(2) for x, line in ((72, left[i]), (330, right[i])))
    parts = (("Rosamund Featherstonhaugh", "PATIENT"), ("Rosamund", "PATIENT"), ("Featherstonhaugh", "PATIENT"))
    yield Attack("columns", one(columns), parts, note="\n".join(left + right))
    file = File()
    file.page(lines("Consult note\nThe patient is Mrs. Rosamund", y=90))
    file.page(lines(f"Featherstonhaugh, a widow.\n{SAFE}"))
    yield Attack("pages", file.data(), parts, note=f"Consult note\nThe patient is Mrs. Rosamund\nFeatherstonhaugh, a widow.\n{SAFE}")
    cells = [("Name", "Rosamund", "Born", "07/19/"), ("", "Featherstonhaugh", "", "1956"), ("Plan", SAFE, "", "")]
    grid = b"".join(at(72 + 120 * x, 700 - 14 * y, cell) for y, row in enumerate(cells) for x, cell in enumerate(row))
    yield Attack("wrapped-cells", one(grid), (*parts, ("07/19/", "BIRTH_DATE_TIME"), ("1956", "BIRTH_DATE_TIME")), note=None)


def forms() -> Iterator[Attack]:
    """Yield text in form XObjects, patterns, masks, and glyphs."""
    box, own = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]", b"/Resources<</Font<</F1 3 0 R>>>>"
    file = File()
    inner = file.add(stream(lines(NOTE), box + own))
    outer = file.add(stream(b"q /Inner Do Q", box + b"/Resources<</XObject<</Inner %d 0 R>>>>" % inner))
    for shift in (0, 200):
        shown = b"q 1 0 0 1 0 -%d cm /Outer Do Q\n" % shift
        file.page(shown + at(72, 300, SAFE), resources=b"/XObject<</Outer %d 0 R>>" % outer)
    yield Attack("forms-in-forms", file.data())
    file = File()
    tile = file.add(stream(at(5, 5, UNSEEN), b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 180 30]"
                           b"/XStep 180/YStep 30" + own))  # fmt: skip
    file.page(b"/Pattern cs /P1 scn 72 400 400 100 re f\n" + lines(NOTE), resources=b"/Pattern<</P1 %d 0 R>>" % tile)
    yield Attack("tiles", file.data(), BOTH, why="text in a pattern, which has no reader")
    file = File()
    group = file.add(stream(b"1 g " + at(80, 420, UNSEEN, size=20), box + own + b"/Group<</S/Transparency/CS/DeviceGray>>"))
    state = b"/ExtGState<</M<</SMask<</S/Luminosity/G %d 0 R>>>>>>" % group
    file.page(lines(NOTE) + b"q /M gs 0 g 72 400 400 60 re f Q\n", resources=state)
    yield Attack("mask-of-words", file.data(), BOTH, why="text in a mask, which has no reader")
    file = File()
    proc = file.add(stream(b"1000 0 d0 " + at(0, 0, UNSEEN, size=100), b""))
    glyph = file.add(b"<</Type/Font/Subtype/Type3/FontBBox[0 0 2000 200]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<</x %d 0 R>>"
                     b"/Encoding<</Differences[120/x]>>/FirstChar 120/LastChar 120/Widths[1000]%s>>" % (proc, own))  # fmt: skip
    file.page(lines(NOTE) + b"BT /F2 100 Tf 72 500 Td (x) Tj ET\n", fonts=b"/F2 %d 0 R" % glyph)
    yield Attack("words-in-a-glyph", file.data(), BOTH, why="text in a glyph, which has no reader")
    file = File()
    script = file.add(stream(b"/Helvetica findfont 11 scalefont setfont 72 500 moveto (" + UNSEEN.encode() + b") show",
                             b"/Type/XObject/Subtype/PS"))  # fmt: skip
    file.page(lines(NOTE) + b"/PS1 Do\n", resources=b"/XObject<</PS1 %d 0 R>>" % script)
    yield Attack("postscript", file.data(), BOTH)
    file = File()
    loop = file.add(b"null")
    file.objects[loop] = stream(lines(NOTE) + b"/Me Do", box + b"/Resources<</Font<</F1 3 0 R>>/XObject<</Me %d 0 R>>>>" % loop)
    file.page(b"/Me Do\n", resources=b"/XObject<</Me %d 0 R>>" % loop)
    yield Attack("form-in-itself", file.data(), why="a form XObject that shows itself has no end")


def fonts() -> Iterator[Attack]:
    """Yield fonts whose codes are readable only in part, not at all, or wrongly."""
    signs = sorted(set(LINE))
    shuffled = signs[:]
    random.Random(3).shuffle(shuffled)  # noqa: S311 -- the order of codes
    codes = {sign: 65 + i for i, sign in enumerate(shuffled)}
    odd = {sign: f"g{code}" for sign, code in codes.items()}
    plain = {sign: ("space" if sign == " " else {":": "colon", ",": "comma", ".": "period"}.get(sign, sign)) for sign in signs}
    digits = dict(zip("0123456789", ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), strict=True))
    plain |= {sign: digits[sign] for sign in signs if sign in digits}
    lie = dict(zip(sorted(set(LINE)), [*sorted(set(LINE))[1:], " "], strict=True))

    def shown(names: dict[str, str], unicode: dict[int, str]) -> bytes:
        file = File()
        number = type3(file, LINE, names=names, codes=codes, unicode=unicode)
        text = b"".join(b"%02X" % codes[sign] for sign in LINE)
        file.page(b"BT /F2 11 Tf 72 720 Td <" + text + b"> Tj ET\n", fonts=b"/F2 %d 0 R" % number)
        return file.data()

    right = {code: sign for sign, code in codes.items()}
    yield Attack("type3-with-map", shown(odd, right), ONE, note=LINE)
    yield Attack("type3-named", shown(plain, {}), ONE, note=LINE)
    yield Attack("type3-unreadable", shown(odd, {}), ONE, (), LINE, "a Type 3 font whose codes have no meaning")
    yield Attack("type3-misnamed", shown({sign: plain[lie[sign]] for sign in signs}, {}), ONE, (), LINE,
                 "the names of the glyphs are those of other letters")  # fmt: skip

    def inside(unicode: dict[str, str] | None, content: str = LINE) -> bytes:
        file = File()
        number, letters = embedded(file, content, unicode)
        file.page(coded(content, letters, 72, 720), fonts=b"/F2 %d 0 R" % number)
        return file.data()

    yield Attack("no-map", inside(None), ONE, (), LINE, "an embedded font without a map to Unicode")
    yield Attack("wrong-map", inside(lie), ONE, (), LINE, "the map to Unicode gives other letters than the page shows")
    private = {sign: chr(0xE000 + i) for i, sign in enumerate(signs)}
    yield Attack("private-map", inside(private), ONE, (), LINE, "the map to Unicode gives characters without a meaning")
    yield Attack("unknown-map", inside(dict.fromkeys(signs, "\ufffd")), ONE, (), LINE, "the map to Unicode says that it does not know")
    yield Attack("full-map", inside({sign: sign for sign in signs}), ONE, note=LINE)
    ligated = "Patient: Grif\ufb01n Of\ufb01ong, of\ufb02ine. \ufb01ve days of asthma. Lungs clear."
    whole = "Patient: Griffin Offiong, offline. five days of asthma. Lungs clear."
    names = (("Griffin Offiong", "PATIENT"), ("Grif\ufb01n Of\ufb01ong", "PATIENT"))
    as_two = {sign: {"\ufb01": "fi", "\ufb02": "fl"}.get(sign, sign) for sign in ligated}
    yield Attack("ligatures-as-letters", inside(as_two, ligated), names, note=whole)
    yield Attack("ligatures-as-signs", inside({sign: sign for sign in ligated}, ligated), names, note=whole)
    file = File()
    number, letters = embedded(file, LINE, {sign: sign for sign in LINE}, name="LeocadiaBrandt")
    file.page(coded(LINE, letters, 72, 720), fonts=b"/F2 %d 0 R" % number)
    yield Attack("font-of-a-person", file.data(), (*ONE, ("LeocadiaBrandt", "PATIENT")), note=LINE)
    file = File()
    arial = file.add(b"<</Type/Font/Subtype/TrueType/BaseFont/Arial/Encoding/WinAnsiEncoding>>")
    marks = file.add(b"<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>")
    greek = file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Symbol>>")
    content = b"".join(at(72, 720 - 18 * i, "l", font="F3") + at(90, 720 - 18 * i, line, font="F2") for i, line in enumerate(ROW))
    content += at(72, 600, "4", font="F3") + at(90, 600, "abm", font="F4")
    file.page(content, fonts=b"/F2 %d 0 R/F3 %d 0 R/F4 %d 0 R" % (arial, marks, greek))
    yield Attack("bullets-and-symbols", file.data())
    file = File()
    mac = file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding/MacRomanEncoding>>")
    own = file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding<</Differences[1/Zcaron/odieresis/eacute]>>>>")
    content = at(72, 720, "Patient Zoë Ångström has asthma.") + b"BT /F2 11 Tf 72 700 Td (Seen by Dr. Ren\216 Lef\217vre.) Tj ET\n"
    content += b"BT /F3 11 Tf 72 680 Td (Brother: \001elj\002 Per\003z. Lungs clear.) Tj ET\n"
    file.page(content, fonts=b"/F2 %d 0 R/F3 %d 0 R" % (mac, own))
    accents = (("Zoë Ångström", "PATIENT"), ("René Lefèvre", "CLINICIAN"), ("Željö Peréz", "RELATIVE"))
    yield Attack("accents", file.data(), accents,
                 note="Patient Zoë Ångström has asthma.\nSeen by Dr. René Lefèvre.\nBrother: Željö Peréz. Lungs clear.")  # fmt: skip


def scripts() -> Iterator[Attack]:
    """Yield vertical text and text from right to left."""
    file = File()
    number, letters = embedded(file, LINE, {sign: sign for sign in LINE}, upright=True)
    file.page(coded(LINE, letters, 300, 760), fonts=b"/F2 %d 0 R" % number)
    yield Attack("vertical", file.data(), ONE, (), None, why="text from top to bottom, which has no reader")
    hebrew = "שם המטופל: אביגיל רוזנבלום"
    file, visual = File(), hebrew[::-1]
    number, letters = embedded(file, visual, {sign: sign for sign in visual}, path=DEJAVU)
    file.page(coded(visual, letters, 300, 720) + at(72, 690, SAFE), fonts=b"/F2 %d 0 R" % number)
    words = tuple((word, "PATIENT") for word in ("אביגיל רוזנבלום", "אביגיל", "רוזנבלום"))
    yield Attack("right-to-left", file.data(), words, note=None, why="Hebrew, for which there is no package")


def pictures() -> Iterator[Attack]:
    """Yield words that only a picture shows."""
    file = File()
    scan = image(file, NOTE, (850, 400), scale=20)
    file.page(b"q 612 0 0 288 0 480 cm /Im1 Do Q\n", resources=b"/XObject<</Im1 %d 0 R>>" % scan)
    yield Attack("scan", file.data(), NAMES, (), None, "a page that is a picture")
    file = File()
    scan = image(file, NOTE, (850, 400), scale=20)
    layer = b"".join(at(12, 760 - 21 * i, line, before="3 Tr", size=14) for i, line in enumerate(ROW))
    file.page(b"q 612 0 0 288 0 480 cm /Im1 Do Q\n" + layer, resources=b"/XObject<</Im1 %d 0 R>>" % scan)
    yield Attack("scan-with-text", file.data(), NAMES, (), None, "a page that is a picture, with its text behind it")
    file = File()
    logo = image(file, "Thornfield Infirmary", (220, 40))
    file.page(b"q 220 0 0 40 72 740 cm /Im1 Do Q\n" + lines(NOTE), resources=b"/XObject<</Im1 %d 0 R>>" % logo)
    yield Attack("logo", file.data())
    pixels, entries = picture(UNSEEN, (210, 30), scale=14)
    short = entries.replace(b"/Width", b"/W").replace(b"/Height", b"/H").replace(b"/ColorSpace/DeviceGray", b"/CS/G")
    body = b"q 210 0 0 30 72 600 cm\nBI" + short.replace(b"/BitsPerComponent", b"/BPC") + b"/F/AHx ID "
    yield Attack("picture-in-the-stream", one(lines(NOTE) + body + pixels.hex().encode() + b">\nEI Q\n"))
    rule = b"q 400 0 0 1 72 735 cm\nBI/W 2/H 1/CS/G/BPC 8 ID \x00\x80\nEI Q\n"
    yield Attack("rule-in-the-stream", one(rule + lines(NOTE)))
    yield Attack("drawn-letters", one(outlines(f"Patient: {NAME}, MRN 73904418", 72, 720) + at(72, 690, SAFE)), ONE,
                 (), None, "letters that are drawn as outlines")  # fmt: skip
    yield Attack("drawn-page", one(b"".join(outlines(line, 72, 720 - 18 * i) for i, line in enumerate(ROW))), NAMES,
                 (), None, "a page of letters that are drawn as outlines")  # fmt: skip
    canvas = Canvas("", invariant=1, pageCompression=1)
    for i, line in enumerate(ROW):
        canvas.drawString(72, 720 - 18 * i, line)
    Code128("73904418", barHeight=30, barWidth=1.2).drawOn(canvas, 60, 580)
    yield Attack("barcode", canvas.getpdfdata(), why="a barcode shows the record number")


def operators() -> Iterator[Attack]:
    """Yield unusual operators, strings, and marks."""
    yield Attack("clip-to-words", one(lines(NOTE) + b"q " + at(72, 600, UNSEEN, before="7 Tr", size=20)
                                      + b".2 .4 .6 rg 60 590 400 40 re f Q\n"), BOTH, why="text that cuts out what is drawn over it")  # fmt: skip
    odd = b"BT /F1 11 Tf 18 TL 72 738 Td (Progress note) '\n(Patient: Phil\\\nippa \\122avens\\167orth, MRN \\67\\063904418, born 07/19/1956) '\n"
    odd += b"0 0 (Seen by Dr. Anselm Okonjo on 03/11/2024 for asthma. Lungs clear, peak flow 410.) \"\n<506C656173652063616C6C2068657220"
    odd += b"73697374 65722057696C68656C6D696E6120526176656E73776F7274682061742033\n33302D3535352D30313734 2E> '\nET\n"
    yield Attack("escapes-and-quotes", one(odd, packed=False))
    marks = b"/Note <</Who (Leocadia Brandt)>> DP\n/Leocadia#20Brandt MP\nBX (60215587) Secret EX\n"
    yield Attack("marks-and-unknown-operators", one(marks + lines(NOTE)), BOTH)
    actual = b"/Span <</ActualText %s/Alt(60215587)/E(Leocadia Brandt)>> BDC\n" % utf16("Leocadia Brandt")
    yield Attack("actual-text", one(lines(NOTE) + actual + at(72, 600, "Stable.") + b"EMC\n"), BOTH)
    comment = b"% Leocadia Brandt 60215587\n"
    yield Attack("comments-in-a-stream", one(comment + lines(NOTE) + comment), BOTH)
    text = lines(NOTE)
    cut = text.index(b"(Patient") - 20
    cut = text.rindex(b" ", 0, cut)
    file = File()
    first, second = file.add(stream(text[:cut])), file.add(stream(text[cut:]))
    file.kids.append(file.add(b"<</Type/Page/Parent 2 0 R/Contents[%d 0 R %d 0 R]>>" % (first, second)))
    file.inherited = b"/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
    yield Attack("cut-contents", file.data())
    file = File()
    other = file.add(stream(at(72, 720, f"{UNSEEN}. {SAFE}")))
    file.page(lines(NOTE), extra=b"/Contents %d 0 R" % other)
    yield Attack("two-contents", file.data(), BOTH, ("Lungs clear",), None)
    file = File()
    file.objects[3] = FONT.replace(b">>", b"/ToUnicode %d 0 R>>" % file.add(cmap({ord("P"): "Leocadia Brandt"})))
    file.page(at(72, 720, "P") + at(72, 700, SAFE))
    yield Attack("map-to-a-name", file.data(), HIDDEN[:1], note=None, why="one glyph for a whole name, which has no reader")
    file = File()
    pages = [file.page(lines(NOTE)) for _ in range(3)]
    file.kids = []
    node = file.add(b"<</Type/Pages/Parent 2 0 R/Count 3/Kids[%s]/Rotate 0>>" % b" ".join(b"%d 0 R" % n for n in pages))
    for n in pages:
        file.objects[n] = b"<</Type/Page/Parent %d 0 R/Contents %d 0 R>>" % (node, n - 1)
    file.kids, file.inherited = [node], b"/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
    shared = file.data().replace(b"/Type/Pages/Count 1/", b"/Type/Pages/Count 3/")
    yield Attack("inherited", shared, note="\n".join([NOTE] * 3))
