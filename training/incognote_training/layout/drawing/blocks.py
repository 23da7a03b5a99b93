"""The blocks of printed pages: letterheads, fields, tables, text. Blocks of a class carry `data-region`."""

# ruff: noqa: E501 -- markup in one piece is easier to check

from __future__ import annotations

from collections.abc import Callable

from incognote_training.layout.drawing import pens, pictures
from incognote_training.layout.drawing.style import HANDS, Style


def header(look: Style) -> str:
    """A letterhead with the name, address, and contacts of an institute."""
    rng, words = look.rng, look.words
    size = rng.uniform(28, 72)
    mark = pens.logo(look, size) if look.chance(0.65) else ""
    big = look.size * rng.uniform(1.15, 2.3)
    name = words.place().upper() if look.upper else words.place()
    weight = rng.choice(("bold", "bold", "600", "normal", "900"))
    title = f"<div style=\"font:{weight} {big:.1f}px/1.2 '{look.title_font}';color:{{color}}\">{name}</div>"
    small = look.size * rng.uniform(0.65, 0.95)
    lines = [rng.choice((" · ", " | ", ", ", " - ")).join(words.contact() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(0, 3))]
    under = f'<div style="font-size:{small:.1f}px;line-height:1.25">{"<br>".join(lines)}</div>' if lines else ""
    band = look.chance(0.18)
    color = "#fff" if band else rng.choice((look.accent, look.ink))
    title = title.format(color=color)
    css = ""
    if band:
        css += f"background:{look.accent};color:#fff;padding:{rng.randint(6, 18)}px {rng.randint(8, 30)}px;"
    elif look.chance(0.55):
        css += f"border-bottom:{rng.choice((1, 1, 2, 3, 4))}px {rng.choice(('solid', 'solid', 'double'))} {rng.choice((look.accent, look.ink))};padding-bottom:{rng.randint(2, 10)}px;"
    elif look.chance(0.12):
        css += f"border:{look.rule};padding:6px 10px;"
    form = rng.randrange(6)
    if form == 0:
        inner = f'<div style="display:flex;flex-direction:column;align-items:center;text-align:center">{mark}{title}{under}</div>'
    elif form in (1, 2):
        align = rng.choice(("center", "flex-start", "flex-end"))
        inner = f'<div style="display:flex;gap:{rng.randint(6, 20)}px;align-items:{align}">{mark}<div>{title}{under}</div></div>'
    elif form == 3:
        other = "<br>".join(words.contact() for _ in range(rng.randint(1, 5)))
        right = f'<div style="margin-inline-start:auto;text-align:end;font-size:{small:.1f}px;line-height:1.25">{other}</div>'
        inner = f'<div style="display:flex;gap:12px;align-items:center">{mark}<div>{title}{under if look.chance(0.4) else ""}</div>{right}</div>'
    elif form == 4:
        inner = f'<div style="display:flex;gap:12px;align-items:center"><div>{title}{under}</div><div style="margin-inline-start:auto">{mark}</div></div>'
    else:
        inner = f'<div style="text-align:{rng.choice(("center", "start", "end"))}">{title}{under}</div>'
    if not band and look.chance(0.2):
        css += look.pick("", "", "margin-inline-start:auto;", "margin:0 auto;") + "width:fit-content;"
    return f'<div data-region="Header" style="{css}">{inner}</div>'


def footer(look: Style) -> str:
    """Small lines with contacts, notes, and a page number."""
    rng, words = look.rng, look.words
    size = max(5.5, look.size * rng.uniform(0.5, 0.9))
    join = rng.choice((" · ", " | ", " — ", ", ", "&emsp;", " • "))

    def part() -> str:
        return rng.choice((words.contact(), words.contact(), words.place(), words.phrase(3, 12), f"Page {rng.randint(1, 3)} / 3", words.number(), words.date()))  # fmt: skip

    css = f"font-size:{size:.1f}px;line-height:{rng.choice((1.15, 1.25, 1.4))};color:{rng.choice((look.ink, '#666', '#888', look.accent))};"
    if look.chance(0.5):
        css += f"border-top:{rng.choice((1, 1, 2, 3))}px solid {rng.choice((look.accent, look.ink, '#999'))};padding-top:{rng.randint(1, 7)}px;"
    elif look.chance(0.12):
        css += f"background:{look.accent};color:#fff;padding:6px 12px;"
    form = rng.randrange(4)
    if form == 0:
        inner = "<br>".join(join.join(part() for _ in range(rng.randint(1, 4))) for _ in range(rng.randint(1, 3)))
        css += f"text-align:{rng.choice(('center', 'center', 'start', 'end'))};"
    elif form == 1:
        inner = "".join(f"<span>{part()}</span>" for _ in range(rng.randint(2, 4)))
        css += "display:flex;justify-content:space-between;gap:14px;"
    elif form == 2:
        column = "".join(f"<div>{'<br>'.join(part() for _ in range(rng.randint(2, 4)))}</div>" for _ in range(rng.randint(2, 4)))
        inner = f'<div style="display:flex;justify-content:space-between;gap:12px">{column}</div>'
    else:
        inner = words.sentences(1, 3) + " " + join.join(part() for _ in range(rng.randint(0, 3)))
    if form != 3 and look.chance(0.12):
        css += look.pick("", "margin-inline-start:auto;", "margin:0 auto;") + "width:fit-content;"
    return f'<div data-region="Footer" style="{css}">{inner}</div>'


def fax_line(look: Style, kind: str) -> str:
    """The line that a fax machine prints at the edge of a page, as `Header` or `Footer`."""
    rng, words = look.rng, look.words
    parts = [rng.choice((words.date(), words.phone(), words.number(), words.place(), "P. 01/04", "FAX " + words.phone())).upper() for _ in range(rng.randint(3, 6))]
    return (
        f"<div class=abs data-region={kind} style=\"{'top' if kind == 'Header' else 'bottom'}:{rng.randint(2, 9)}px;left:{rng.randint(4, 60)}px;right:{rng.randint(4, 60)}px;"
        f"display:flex;justify-content:space-between;white-space:nowrap;font:{rng.uniform(8, 12):.1f}px/1.2 '{look.pick('Courier Prime', 'Liberation Mono', 'DejaVu Sans Mono', 'Liberation Sans')}'\">"
        + "".join(f"<span>{part}</span>" for part in parts)
        + "</div>"
    )


def title(look: Style) -> str:
    """The title of a page: no region."""
    rng = look.rng
    text = look.words.title().upper() if look.upper else look.words.title()
    if look.chance(0.3):
        text += " " + rng.choice(("—", "-", "/")) + " " + look.words.phrase(1, 3)
    css = rng.choice(("", "", "", f"border:{look.rule};padding:3px 8px", f"background:{look.faint};padding:4px 8px", f"border-bottom:{look.rule}"))
    align = rng.choice(("center", "center", "start", "start", "end"))
    big = look.size * rng.uniform(1.1, 1.8)
    return f"<h2 style=\"font:{rng.choice(('bold', '600', 'normal'))} {big:.1f}px/1.3 '{look.title_font}';text-align:{align};{css}\">{text}</h2>"


def heading(look: Style) -> str:
    """The heading of a section: no region."""
    text = look.words.phrase(1, 3).title()
    text = text.upper() if look.upper else text
    css = look.pick("", "", f"background:{look.faint};padding:2px 6px", f"border-bottom:{look.rule}", f"background:{look.accent};color:#fff;padding:2px 6px", f"color:{look.accent}")
    return f'<h3 style="font-size:{look.size * look.rng.uniform(1, 1.25):.1f}px;{css}">{text}</h3>'


def paragraphs(look: Style) -> str:
    """Text, with or without a heading: no region."""
    rng = look.rng
    made = heading(look) if look.chance(0.6) else ""
    form = rng.random()
    if form < 0.65:
        made += "".join(f"<p>{look.words.sentences(1, 5)}</p>" for _ in range(rng.randint(1, 3)))
    elif form < 0.8:
        tag = rng.choice(("ul", "ol"))
        made += f'<{tag} style="margin:2px 0">{"".join(f"<li>{look.words.phrase(3, 14)}</li>" for _ in range(rng.randint(2, 8)))}</{tag}>'
    elif form < 0.9:
        made += f'<p style="border:{look.rule};padding:6px;background:{look.faint}">{look.words.sentences(1, 3)}</p>'
    else:
        made += "".join(f"<p>☐ {look.words.phrase(3, 12)}</p>" for _ in range(rng.randint(2, 5)))
    return f'<div style="text-align:{rng.choice(("start", "start", "justify"))}">{made}</div>'


def lines(look: Style) -> str:
    """An empty form's lines or boxes, or a line to sign on: no region."""
    rng = look.rng
    form = rng.randrange(3)
    if form == 0:
        return "".join(f'<div style="border-bottom:{look.rule};height:{look.size * 1.9:.0f}px">{look.words.label() if look.chance(0.3) else ""}</div>' for _ in range(rng.randint(1, 5)))
    if form == 1:
        return f'<div style="border:{look.rule};height:{rng.randint(30, 120)}px;padding:3px;font-size:.8em">{look.words.label()}</div>'
    return f'<div style="display:flex;gap:40px;margin-top:{rng.randint(10, 40)}px">' + "".join(
        f'<div style="flex:1;border-top:{look.rule};font-size:.85em">{look.words.label()}</div>' for _ in range(rng.randint(1, 3))) + "</div>"  # fmt: skip


def address(look: Style) -> str:
    """An address of a letter: no region."""
    made = [look.words.name(), look.words.address(), look.words.phrase(1, 2).title()]
    return f'<div class=fit style="margin:{look.rng.randint(4, 30)}px 0">{"<br>".join(made)}</div>'


def _value(look: Style, by_hand: bool) -> str:
    if not by_hand:
        return look.words.value()
    font = look.hand if look.rtl else look.rng.choice(HANDS)
    return f"<span class=hand style=\"font:{look.size * 1.4:.1f}px/1 '{font}';color:#1a2a7a\">{look.words.value()}</span>"


def key_values(look: Style, columns: int = 1, rows: int = 0) -> str:
    """Labels and their values, in one or two columns, with and without boxes."""
    rng, words = look.rng, look.words
    kind = "One_Col_Key_Value" if columns == 1 else "Two_Col_Key_Value"
    rows = rows or rng.choice((2, 3, 3, 4, 4, 5, 6, 7, 9, 12) if columns == 1 else (1, 2, 2, 3, 3, 4, 4, 5, 6, 8))
    colon = rng.choice((":", ":", "", " :", "."))
    by_hand, empty = look.chance(0.1), look.chance(0.07)
    bold = rng.choice(("font-weight:bold;", "", "", f"color:{look.accent};", "color:#777;", "font-size:.85em;"))
    strong = "font-weight:bold;" if look.chance(0.25) else ""
    under = f"border-bottom:{rng.choice(('1px dotted #777', look.rule))};" if look.chance(0.15) else ""
    gap = rng.choice((0, 0, 1, 2, 4, 8))
    form = rng.random()
    cells = []
    for _ in range(rows * columns):
        label = words.label() + colon
        value = "&nbsp;" if empty else _value(look, by_hand)
        if look.chance(0.05):
            value += "<br>" + words.address()
        cells.append((label, value))
    boxed = form < (0.3 if columns == 2 else 0.15)
    if boxed and look.chance(0.5):  # a grid of boxes, the label above the value or before it
        pad = rng.randint(1, 7)
        above = look.chance(0.6)
        body = "".join(
            f'<div style="border:{look.rule};margin:0 -1px -1px 0;padding:{pad}px {pad + 2}px"><span style="{bold}{"display:block;font-size:.75em" if above else "margin-inline-end:6px"}">{label}</span><span style="{strong}">{value}</span></div>'
            for label, value in cells
        )
        width = "width:fit-content;" if columns == 1 and look.chance(0.5) else ""
        return f'<div data-region="{kind}" style="{width}padding:0 1px 1px 0"><div style="display:grid;grid-template-columns:repeat({columns},1fr)">{body}</div></div>'
    if boxed:  # a table of labels and values with borders
        shade = f"background:{look.faint};" if look.chance(0.6) else ""
        body = ""
        for row in range(rows):
            parts = "".join(
                f'<td style="border:{look.rule};padding:{look.pad}px;{bold}{shade}">{label}</td><td style="border:{look.rule};padding:{look.pad}px;{strong}">{value}</td>'
                for label, value in cells[row * columns : (row + 1) * columns]
            )
            body += f"<tr>{parts}</tr>"
        width = "100%" if columns == 2 or look.chance(0.4) else f"{rng.randint(35, 80)}%"
        return f'<table data-region="{kind}" style="width:{width}">{body}</table>'
    stacked = look.chance(0.12)
    if stacked:
        items = [f'<div><div style="{bold}font-size:.8em">{label}</div><div style="{strong}{under}">{value}</div></div>' for label, value in cells]
        tracks = f"repeat({columns},auto)"
    elif look.chance(0.3):
        items = [f'<div><span style="{bold}">{label}</span> <span style="{strong}">{value}</span></div>' for label, value in cells]
        tracks = f"repeat({columns},auto)"
    else:
        items = [f'<div style="{bold}">{label}</div><div style="{strong}{under}">{value}</div>' for label, value in cells]
        tracks = "auto 1fr " * columns if look.chance(0.6) else f"{rng.randint(70, 140)}px auto " * columns
    css = ""
    if look.chance(0.25):
        css += f"border:{look.rule};padding:{rng.randint(3, 12)}px;"
    elif look.chance(0.15):
        css += f"background:{look.faint};padding:{rng.randint(3, 12)}px;"
    elif look.chance(0.15):
        css += f"border-top:{look.rule};border-bottom:{look.rule};padding:4px 0;"
    fit = " class=fit" if look.chance(0.75 if columns == 1 else 0.4) else ""
    return f'<div data-region="{kind}"{fit} style="{css}"><div style="display:grid;grid-template-columns:{tracks};gap:{gap}px {rng.randint(6, 40)}px">{"".join(items)}</div></div>'


def table(look: Style, rows: int = 0) -> str:
    """Data in columns: `Table` with all borders, `Multi_Col_Text` without or with only some."""
    rng, words = look.rng, look.words
    columns = rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10))
    rows = rows or rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 28, 35))
    ruled = look.chance(0.6)
    pad = f"{rng.choice((0, 1, 1, 2, 3, 4, 6))}px {rng.choice((2, 3, 4, 6, 8, 14))}px"
    rule = look.rule
    across = "" if ruled else rng.choice(("", "", "", f"border-bottom:{rule};", "border-bottom:1px dotted #999;"))
    zebra = look.faint if look.chance(0.2) else ""
    shade = rng.choice(("", f"background:{look.faint};", f"background:{look.faint};", f"background:{look.accent};color:#fff;", "background:#333;color:#fff;"))
    edge = f"border:{rule};" if ruled else ""
    under = "" if ruled else rng.choice(("", f"border-bottom:{rule};", f"border-bottom:2px solid {look.accent};", f"border-top:{rule};border-bottom:{rule};"))
    blank = look.chance(0.08)
    numbers = look.chance(0.3)
    body = ""
    if look.chance(0.92):
        heads = "".join(f'<th style="{edge}{under}padding:{pad};font-weight:{rng.choice(("bold", "bold", "normal"))}">{words.head()}</th>' for _ in range(columns))
        body += f'<tr style="{shade}">{heads}</tr>'
    align = [rng.choice(("start", "start", "center", "end")) for _ in range(columns)]
    groups = look.chance(0.2)
    for row in range(rows):
        if groups and look.chance(0.2):
            body += f'<tr><td colspan="{columns}" style="{edge}padding:{pad};font-weight:bold;background:{look.faint}">{words.phrase(1, 3).title()}</td></tr>'
        tint = f' style="background:{zebra}"' if zebra and row % 2 else ""
        cells = ""
        for column in range(columns):
            text = "&nbsp;" if blank and column else (words.test() if column == 0 and not numbers else words.cell())
            cells += f'<td style="{edge}{across}padding:{pad};text-align:{align[column]}">{text}</td>'
        body += f"<tr{tint}>{cells}</tr>"
    kind = "Table" if ruled else "Multi_Col_Text"
    outer = "" if ruled or look.chance(0.8) else rng.choice((f"border:{rule};", f"border-top:{rule};border-bottom:{rule};"))
    width = "width:100%;" if look.chance(0.7) else ("" if look.chance(0.6) else f"width:{rng.randint(50, 95)}%;")
    smaller = f"font-size:{rng.uniform(0.75, 1):.2f}em;" if look.chance(0.4) else ""
    return f'<table data-region="{kind}" style="{width}{outer}{smaller}">{body}</table>'


def columns(look: Style) -> str:
    """Items in columns without borders, such as boxes to tick, or lists side by side."""
    rng, words = look.rng, look.words
    count = rng.choice((2, 3, 3, 4, 5))
    tick = rng.choice(("☐ ", "☐ ", "☐ ", "• ", "□ ", ""))
    items = "".join(
        f"<div>{('☒ ' if tick == '☐ ' and look.chance(0.15) else tick)}{words.phrase(1, 3)}</div>" for _ in range(count * rng.randint(2, 8))
    )
    edge = f"border:{look.rule};padding:5px;" if look.chance(0.15) else ""
    return f'<div data-region="Multi_Col_Text" style="{edge}display:grid;grid-template-columns:repeat({count},1fr);gap:{rng.randint(0, 6)}px 10px">{items}</div>'


def fields(look: Style) -> str:
    """A form's fields in running lines, printed or filled by hand: no region."""
    rng = look.rng
    by_hand, made = look.chance(0.6), ""
    for _ in range(rng.randint(1, 6)):
        parts = "".join(
            f'<span style="white-space:nowrap">{look.words.label()}</span><span style="flex:{rng.randint(1, 4)};border-bottom:{look.rule};padding:0 6px;white-space:nowrap;overflow:hidden">'
            f"{_value(look, by_hand) if look.chance(0.8) else '&nbsp;'}</span>"
            for _ in range(rng.randint(1, 4))
        )
        made += f'<div style="display:flex;gap:6px;align-items:end;margin-bottom:{rng.randint(3, 12)}px">{parts}</div>'
    return f"<div>{made}</div>"


def combs(look: Style) -> str:
    """A form's fields with a box for each letter: no region."""
    rng = look.rng
    size = look.size * 1.3
    made = ""
    for _ in range(rng.randint(1, 4)):
        letters = look.words.number() if look.chance(0.5) else ""
        box = f"display:inline-block;width:{size:.0f}px;height:{size * 1.2:.0f}px;border:{look.rule};margin-inline-end:-1px;text-align:center;vertical-align:middle"
        made += f'<div style="margin:3px 0">{look.words.label()} {"".join(f"<span style={chr(34)}{box}{chr(34)}>{letters[n : n + 1]}</span>" for n in range(rng.randint(5, 14)))}</div>'
    return f"<div>{made}</div>"


def barcode(look: Style, width: float = 0) -> str:
    """A barcode or QR code, with or without its number below."""
    rng = look.rng
    kind = rng.choices(("code128", "qr", "datamatrix", "pdf417"), (5, 4, 1, 1))[0]
    payload = look.words.rng.choice("ABCX") + "".join(rng.choice("0123456789") for _ in range(rng.randint(5, 14)))
    size = width or {"code128": rng.uniform(110, 240), "qr": rng.uniform(45, 120), "datamatrix": rng.uniform(35, 80), "pdf417": rng.uniform(120, 240)}[kind]
    tall = {"code128": rng.uniform(22, 60), "pdf417": size * rng.uniform(0.2, 0.4)}.get(kind, size)
    quiet = "background:#fff;padding:4px;" if look.dark else ""
    image = f'<img src="{pictures.code(rng, kind, payload)}" style="width:{size:.0f}px;height:{tall:.0f}px;display:block;margin:auto">'
    text = f"<div style=\"font:{max(7, look.size * 0.85):.1f}px/1.2 'Liberation Mono';text-align:center;{'color:#000;' if look.dark else ''}\">{payload}</div>" if kind == "code128" and look.chance(0.6) else ""  # fmt: skip
    turn = "transform:rotate(90deg);margin:60px 0;" if look.chance(0.03) and not width else ""
    if text and look.chance(0.5):
        return f'<div class=fit style="flex:none"><div data-region="QR_Bar_Code" class=fit style="{quiet}margin:auto">{image}</div>{text}</div>'
    return f'<div data-region="QR_Bar_Code" class=fit style="{quiet}{turn}flex:none">{image}{text}</div>'


def image(look: Style, width: int, height: int) -> str:
    """A picture of an organ, or the trace of an ECG."""
    if look.chance(0.25):
        return (pictures.graph if look.chance(0.2) else pictures.ecg)(look, width, height)
    source = pictures.address(pictures.organ(look.rng, max(40, width // 2 if look.chance(0.5) else width), max(40, height // 2 if look.chance(0.5) else height)))
    edge = f"border:{look.rule};" if look.chance(0.2) else ""
    return f'<img data-region="Image" src="{source}" style="display:block;width:{width}px;height:{height}px;{edge}">'


def signed(look: Style) -> str:
    """A signature with its line, name, and role."""
    rng = look.rng
    pen = pens.signature(look, rng.uniform(70, 220), rng.uniform(26, 70)) if look.chance(0.9) else ""
    stamp = f'<div style="margin-inline-start:{rng.randint(-60, 40)}px">{pens.seal(look, rng.uniform(70, 150))}</div>' if look.chance(0.25) else ""
    line = f"border-top:{look.rule};" if look.chance(0.5) else ""
    under = f'<div style="{line}min-width:{rng.randint(100, 240)}px">{look.words.name()}<br>{look.words.phrase(1, 3)}</div>' if look.chance(0.8) else ""
    before = f"<span>{look.words.label()}</span>" if look.chance(0.2) else ""
    side = rng.choice(("flex-start", "flex-end", "center", "space-between"))
    return f'<div style="display:flex;justify-content:{side};align-items:center;margin-top:{rng.randint(2, 20)}px">{before}<div>{pen}<div style="margin-top:{rng.randint(-12, 2)}px">{under}</div></div>{stamp}</div>'


def beside(look: Style, *makers: Callable[[Style], str]) -> str:
    """Blocks side by side."""
    made = "".join(f'<div style="flex:{look.rng.choice(("1", "1", "none", "2"))}">{maker(look)}</div>' for maker in makers)
    return f'<div style="display:flex;gap:{look.rng.randint(8, 30)}px;align-items:flex-start">{made}</div>'
