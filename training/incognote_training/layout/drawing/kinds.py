"""Whole pages of many kinds: which blocks they have, and where."""

# ruff: noqa: E501 -- markup in one piece is easier to check

from __future__ import annotations

from collections.abc import Callable
from random import Random

from incognote_training.layout.drawing import blocks, pens
from incognote_training.layout.drawing.style import Style, style

Block = Callable[[Style], str]


def _one(look: Style) -> str:
    return blocks.key_values(look, 1)


def _two(look: Style) -> str:
    return blocks.key_values(look, 2)


def _note(look: Style) -> str:
    return pens.written(look, look.rng.uniform(120, 420), look.rng.choice((1, 1, 2, 2, 3, 4, 6)))


def _notes(look: Style) -> str:
    """Two columns of handwriting."""
    columns = "".join(f"<div>{pens.written(look, look.rng.uniform(120, 280), look.rng.randint(2, 7))}</div>" for _ in range(2))
    return f'<div style="display:flex;gap:{look.rng.randint(20, 90)}px;padding:4px {look.rng.randint(0, 40)}px">{columns}</div>'


def _boxed_note(look: Style) -> str:
    """A heading and a box of a form, with handwriting in it."""
    rng = look.rng
    note = pens.written(look, rng.uniform(200, 520), rng.randint(1, 5))
    label = look.words.label() if look.chance(0.5) else blocks.heading(look)
    return f'<div style="border:{look.rule};padding:{rng.randint(2, 10)}px;min-height:{rng.randint(30, 160)}px">{label}{note}</div>'


def _long_note(look: Style) -> str:
    return pens.written(look, look.rng.uniform(300, 620), look.rng.randint(4, 14))


def _stamp(look: Style) -> str:
    return f'<div style="padding:6px {look.rng.randint(4, 300)}px">{pens.seal(look, look.rng.uniform(80, 170))}</div>'


def _pictures(look: Style) -> str:
    rng = look.rng
    count = rng.choice((1, 1, 2, 2, 3, 4, 6))
    width = int(rng.uniform(150, 420)) if count == 1 else int(680 / max(2, min(count, 3)) - 14)
    height = int(width * rng.uniform(0.55, 1.25))
    made = "".join(
        f'<div>{blocks.image(look, width, height)}{f"<small>{look.words.phrase(2, 5)}</small>" if look.chance(0.4) else ""}</div>'
        for _ in range(count)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px;justify-content:{rng.choice(("start", "center"))}">{made}</div>'


def _photo(look: Style) -> str:
    width = look.rng.uniform(55, 130)
    return pens.face(look, width, width * look.rng.uniform(1.1, 1.4))


def _top(look: Style) -> str:
    """The fields of the patient, with a code or a photograph beside them or not."""
    form = look.rng.random()
    fields = _two if look.chance(0.6) else _one
    if form < 0.55:
        return fields(look)
    if form < 0.75:
        return blocks.beside(look, fields, blocks.barcode)
    if form < 0.83:
        return blocks.beside(look, fields, _photo)
    return blocks.beside(look, _one, _one)


_BODIES: dict[str, tuple[tuple[Block, float], ...]] = {
    "lab": ((blocks.table, 6), (blocks.heading, 1), (blocks.paragraphs, 1.2), (_one, 0.5), (blocks.signed, 1), (blocks.barcode, 0.3)),
    "discharge": ((blocks.paragraphs, 6), (blocks.table, 2.2), (_one, 0.8), (_two, 0.4), (blocks.signed, 0.7), (_stamp, 0.2)),
    "radiology": ((_pictures, 2.5), (blocks.paragraphs, 4), (_one, 0.7), (blocks.table, 0.5), (blocks.signed, 0.8)),
    "form": ((blocks.fields, 3), (blocks.columns, 1.5), (_two, 1.6), (_one, 0.8), (blocks.lines, 1.5), (blocks.heading, 1),
             (_note, 1), (_boxed_note, 1), (blocks.combs, 0.7), (blocks.paragraphs, 1.2), (blocks.signed, 1), (blocks.table, 1),
             (_photo, 0.15)),
    "prescription": ((_note, 2), (_notes, 0.7), (_boxed_note, 0.7), (_long_note, 0.6), (blocks.paragraphs, 1.5), (blocks.table, 0.8), (blocks.signed, 1.6), (_stamp, 0.9), (_one, 1)),
    "letter": ((blocks.paragraphs, 6), (blocks.table, 0.5), (blocks.address, 1), (blocks.signed, 1.2), (_one, 0.5), (_note, 0.3), (_stamp, 0.2)),
    "invoice": ((blocks.table, 3), (_one, 1.5), (_two, 0.8), (blocks.paragraphs, 1.2), (blocks.barcode, 0.7), (_stamp, 0.5), (blocks.signed, 0.4)),
    "chart": ((blocks.table, 4), (blocks.columns, 1.4), (_two, 0.8), (_note, 0.8), (blocks.lines, 0.4), (_pictures, 0.3)),
    "notes": ((_long_note, 3), (_note, 2), (blocks.lines, 0.8), (blocks.heading, 1), (blocks.signed, 1), (_stamp, 0.5)),
    "leaflet": ((blocks.paragraphs, 6), (blocks.columns, 0.8), (blocks.table, 1.6), (_pictures, 0.4), (blocks.heading, 1)),
    "mixed": ((blocks.table, 2.5), (_one, 1.5), (_two, 1.2), (blocks.columns, 1), (blocks.paragraphs, 2), (_pictures, 1), (_note, 1),
              (blocks.signed, 1), (_stamp, 0.8), (blocks.barcode, 0.8), (_photo, 0.3), (blocks.fields, 0.6)),
}
_SHARES = {"lab": 14, "discharge": 10, "radiology": 10, "form": 14, "prescription": 9, "letter": 5, "invoice": 8, "chart": 7, "notes": 5,
           "leaflet": 3, "mixed": 16, "card": 9, "label": 7, "wristband": 5, "screen": 12,
           "modality": 4, "plain": 40}
KINDS = tuple(_SHARES)
_PLAIN: tuple[tuple[Block, float], ...] = (
    (blocks.table, 3), (blocks.paragraphs, 4), (_note, 1.5), (_boxed_note, 0.8), (blocks.columns, 1), (blocks.fields, 1.2), (_pictures, 0.7), (_one, 0.5),
    (_two, 0.5),
)


def page(seed: int) -> str:
    """Return a random page as HTML. The same seed returns the same page."""
    rng = Random(seed)  # noqa: S311 -- pages need no secrecy
    kind = rng.choices(KINDS, tuple(_SHARES.values()))[0]
    makers = {"card": _card, "label": _label, "wristband": _wristband, "screen": _screen, "modality": _modality, "plain": _plain}
    return makers[kind](rng) if kind in makers else _sheet(rng, kind)


def _sheet(rng: Random, kind: str) -> str:
    look = style(rng)
    width, height = rng.choice(((794, 1123), (794, 1123), (816, 1056), (816, 1056), (1123, 794), (560, 794), (816, 1344)))
    side, edge = rng.randint(18, 80), rng.randint(12, 60)
    tall = height - 2 * edge
    makers, weights = zip(*_BODIES[kind], strict=True)
    top, flush = "", False
    if look.chance(0.82):
        made = blocks.header(look)
        flush = "color:#fff" in made and look.chance(0.7)
        top = f'<div style="margin:{-edge}px {-side}px 0">{made}</div>' if flush else made
    if not flush and "width:fit-content" in top and look.chance(0.5):  # the patient beside the letterhead
        top = f'<div style="display:flex;justify-content:space-between;align-items:flex-start;gap:20px"><div>{top}</div>{_one(look)}</div>'
    body = [blocks.title(look)] if look.chance(0.75) else []
    if kind not in ("leaflet", "notes") or look.chance(0.3):
        body += [_top(look)] if look.chance(0.8) else []
    for _ in range(rng.choice((2, 4, 6, 8, 10, 12, 14))):
        body.append(rng.choices(makers, weights)[0](look))
    if look.chance(0.08):  # text in columns, like a journal
        body = [f'<div style="column-count:2;column-gap:20px">{blocks.paragraphs(look)}{blocks.paragraphs(look)}</div>', *body]
    end = blocks.footer(look) if look.chance(0.72) else ""
    gap = rng.randint(4, 22)
    inner = "".join(f'<div style="margin-bottom:{gap}px">{each}</div>' for each in body)
    over = "".join(_over(look, width, height) for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2))))
    if look.chance(0.08):
        over += blocks.fax_line(look, "Header") + (blocks.fax_line(look, "Footer") if look.chance(0.4) else "")
    if look.chance(0.05) and not look.dark:
        over = _fanfold(look) + over
    frame = f'<div class=abs style="inset:{edge // 2}px;border:{look.rule}"></div>' if look.chance(0.07) else ""
    strip, begin = "", side
    if look.chance(0.05) and not flush:
        strip, begin = _strip(look, height), 190
        top = top if look.chance(0.3) else ""
    return _whole(
        look,
        width,
        height,
        f'{frame}{strip}<div style="position:absolute;inset:{edge}px {side}px {edge}px {begin}px;display:flex;flex-direction:column;height:{tall}px">'
        f'<div style="margin-bottom:{gap}px">{top}</div><div class=flow style="flex:1;min-height:0">{inner}</div>'
        f'<div style="margin-top:6px">{end}</div></div>{over}',
    )


def _plain(rng: Random) -> str:
    """A page as most are: a letterhead, the patient, a few blocks with headings, who signed, and a footer."""
    look = style(rng)
    width, height = rng.choice(((794, 1123), (816, 1056), (816, 1056), (720, 1018), (1000, 700), (1123, 794)))
    side, edge = rng.randint(30, 75), rng.randint(20, 50)
    makers, weights = zip(*_PLAIN, strict=True)
    body = [blocks.header(look)] if look.chance(0.85) else []
    body += [blocks.title(look)] if look.chance(0.8) else []
    body += [_top(look) if look.chance(0.8) else blocks.fields(look)] if look.chance(0.85) else []
    for _ in range(rng.randint(1, 4)):
        made = rng.choices(makers, weights)[0]
        body.append((blocks.heading(look) if look.chance(0.5) else "") + made(look))
    for _ in range(rng.choice((0, 1, 1, 2))):
        body.append(blocks.signed(look))
    if look.chance(0.35):
        body.append(_stamp(look))
    end = blocks.footer(look) if look.chance(0.75) else ""
    gap = rng.randint(6, 34)
    inner = "".join(f'<div style="margin-bottom:{gap}px">{each}</div>' for each in body)
    stretch = "min-height:0;flex:1" if look.chance(0.8) else "min-height:0"
    return _whole(
        look, width, height,
        f'<div style="position:absolute;inset:{edge}px {side}px;display:flex;flex-direction:column">'
        f'<div class=flow style="{stretch}">{inner}</div><div>{end}</div></div>',
    )  # fmt: skip


def _strip(look: Style, height: int) -> str:
    """A letterhead along the left side of the page."""
    lines = "<br>".join(look.words.contact() if look.chance(0.6) else look.words.name() for _ in range(look.rng.randint(4, 16)))
    ground = look.pick(f"background:{look.faint};", f"border-right:{look.rule};", f"background:{look.accent};color:#fff;", "")
    mark = pens.logo(look, look.rng.uniform(50, 100)) if look.chance(0.7) else ""
    tall = f"height:{height}px;" if look.chance(0.7) else ""
    return (
        f'<div class=abs data-region="Header" style="left:0;top:0;width:160px;{tall}{ground}padding:24px 12px;font-size:.75em">'
        f"{mark}<b>{look.words.place()}</b><br><br>{lines}</div>"
    )


def _fanfold(look: Style) -> str:
    """The tinted rows and the holes of a line printer's paper."""
    step = look.rng.randint(20, 60)
    holes = "".join(
        f'<div class=abs style="{side}:6px;top:{top}px;width:10px;height:10px;border-radius:50%;background:#bbb"></div>'
        for side in ("left", "right")
        for top in range(8, 1100, 36)
    )
    return f'<div class=abs style="inset:0;background:repeating-linear-gradient(#0001 0 {step}px,#0000 {step}px {2 * step}px)"></div>{holes}'


def _over(look: Style, width: int, height: int) -> str:
    """Something on top of what is printed: a stamp, a note, a sticker, a mark of the copier."""
    rng = look.rng
    place = f"left:{rng.uniform(0.03, 0.75) * width:.0f}px;top:{rng.uniform(0.03, 0.88) * height:.0f}px"
    kind = rng.random()
    if kind < 0.4:
        made = pens.seal(look, rng.uniform(70, 170))
    elif kind < 0.55:
        made = pens.written(look, rng.uniform(60, 200), rng.randint(1, 2))
    elif kind < 0.65:
        made = f'<div style="background:#fff;padding:6px;border:{look.rule};color:#000">{blocks.barcode(look)}{look.words.name()}<br>{look.words.date()}</div>'
    elif kind < 0.75:
        made = pens.signature(look, rng.uniform(70, 180), rng.uniform(25, 60))
    elif kind < 0.87:
        place = f"{rng.choice(('left', 'right'))}:4px;top:{rng.uniform(0.2, 0.5) * height:.0f}px"
        made = f'<div style="writing-mode:vertical-rl;font-size:8px;color:#777;transform:rotate({rng.choice((0, 180))}deg)">{look.words.phrase(4, 10)}</div>'
    else:
        made = f'<div style="font-size:{rng.randint(50, 110)}px;color:#8884;transform:rotate(-35deg);white-space:nowrap">{look.words.phrase(1, 1).upper()}</div>'
    return f'<div class=abs style="{place}">{made}</div>'


def _small(look: Style, maker: Block) -> str:
    """A block at two thirds of its size."""
    return f'<div style="zoom:{look.rng.uniform(0.5, 0.75):.2f}">{maker(look)}</div>'


def _card(rng: Random) -> str:
    look = style(rng, scale=0.85)
    width, height = rng.choice(((340, 215), (340, 215), (323, 204), (215, 340), (400, 250)))
    tint = rng.choice(("#fff", "#eef4fb", "#f5f0e6", look.paper, "linear-gradient(120deg,#dfeaf5,#fff)", "linear-gradient(90deg,#f4dede,#fff)"))
    photo = pens.face(look, rng.uniform(55, 85), rng.uniform(70, 105)) if look.chance(0.5) else ""
    fields = blocks.key_values(look, 1 if width < 330 or photo or look.chance(0.7) else 2, rng.randint(2, 5))
    pieces = [photo, fields]
    rng.shuffle(pieces)
    last = rng.choice((blocks.barcode(look, rng.uniform(40, 130)), pens.signature(look, 100, 30), _small(look, blocks.footer), ""))
    chip = '<div style="width:34px;height:26px;border-radius:4px;background:#c9a94a;border:1px solid #866"></div>' if look.chance(0.2) else ""
    gap = "flex-direction:column;" if width < 300 else ""
    inner = (
        f"{_small(look, blocks.header) if look.chance(0.8) else ''}{chip}"
        f'<div style="display:flex;{gap}gap:8px;align-items:flex-start">{"".join(pieces)}</div>{last}'
    )
    return _whole(look, width, height, f'<div class=flow style="position:absolute;inset:{rng.randint(5, 12)}px;display:grid;gap:5px;align-content:start">{inner}</div>', tint)


def _label(rng: Random) -> str:
    look = style(rng, dark=False, scale=rng.uniform(0.8, 1.1))
    width, height = rng.choice(((400, 250), (300, 150), (260, 260), (480, 300), (380, 190)))
    code = blocks.barcode(look, rng.uniform(60, 150)) if look.chance(0.75) else ""
    fields = _one(look) if look.chance(0.6) else f"<div>{'<br>'.join((look.words.name(), look.words.number(), look.words.phrase(3, 8)))}</div>"
    parts = [fields, code]
    rng.shuffle(parts)
    row = f'<div style="display:flex;gap:8px;{"flex-direction:column" if look.chance(0.4) else ""}">{"".join(parts)}</div>'
    head = _small(look, blocks.header) if look.chance(0.4) else ""
    text = f"<div>{look.words.sentences(1, 2)}</div>" if look.chance(0.5) else ""
    edge = f"border:{look.rule};border-radius:{rng.choice((0, 8))}px;" if look.chance(0.4) else ""
    return _whole(look, width, height, f'<div style="position:absolute;inset:0;{edge}"></div><div class=flow style="position:absolute;inset:{rng.randint(5, 12)}px;display:grid;gap:5px;align-content:start">{head}{row}{text}</div>')


def _wristband(rng: Random) -> str:
    look = style(rng, dark=False)
    width, height = rng.choice(((1000, 110), (900, 130), (760, 96), (640, 120)))
    lines = f"<div data-region=One_Col_Key_Value>{'<br>'.join(' '.join((look.words.label(), look.words.value(), look.words.number())) for _ in range(look.rng.randint(2, 4)))}</div>"
    fields = _two(look) if look.chance(0.3) else (look.pick(lines, _one(look)) if look.chance(0.6) else f"<div><b>{look.words.name()}</b><br>{look.words.date()} {look.words.number()}</div>")
    parts = [fields, blocks.barcode(look, rng.uniform(50, 150))]
    if look.chance(0.4):
        parts.append(f"<div>{look.words.place()}<br>{look.words.name()}</div>")
    if look.chance(0.25):
        parts.append(pens.logo(look, rng.uniform(30, 60)))
    rng.shuffle(parts)
    inner = "".join(parts)
    return _whole(look, width, height, f'<div style="position:absolute;inset:6px {rng.randint(10, 90)}px;display:flex;gap:{rng.randint(12, 40)}px;align-items:center">{inner}</div>')


def _screen(rng: Random) -> str:
    look = style(rng, dark=rng.random() < 0.5, scale=rng.uniform(0.9, 1.1))
    width, height = rng.choice(((1280, 800), (1280, 800), (1024, 768), (1366, 768), (1100, 620)))
    panel = rng.choice((look.faint, look.paper, "#24303f" if look.dark else "#f4f6f9"))
    bar = f'<div style="background:{look.accent};color:#fff;padding:6px 12px;display:flex;gap:24px"><b>{look.words.title()}</b><span>{look.words.phrase(1, 3)}</span><span style="margin-inline-start:auto">{look.words.name()}</span></div>' if look.chance(0.7) else ""
    if bar and look.chance(0.4):
        bar = bar.replace("<div style", '<div data-region="Header" style', 1).replace(look.words.title(), look.words.place())
    menu = "".join(f'<div style="padding:5px 10px">{look.words.label()}</div>' for _ in range(rng.randint(5, 14)))
    side = f'<div style="width:{rng.randint(110, 200)}px;background:{panel};border-inline-end:{look.rule};flex:none">{menu}</div>' if look.chance(0.6) else ""
    makers: tuple[Block, ...] = (_one, _two, blocks.table, blocks.table, blocks.paragraphs, _pictures, blocks.columns, blocks.heading)
    if look.chance(0.15):
        made = f'<div style="display:flex;gap:10px">{blocks.image(look, int(width * rng.uniform(0.35, 0.7)), int(height * rng.uniform(0.5, 0.8)))}{_one(look)}</div>'
    else:
        stacks = "".join(
            f'<div class=flow style="flex:1;min-width:0;height:{height - rng.randint(150, 210)}px">{"".join(_panel(look, rng.choice(makers), panel) for _ in range(rng.randint(1, 4)))}</div>'
            for _ in range(rng.choice((1, 2, 2, 3)))
        )
        made = f'<div style="display:flex;gap:{rng.randint(6, 16)}px">{stacks}</div>'
    person = look.chance(0.7)
    banner = f'<div style="display:flex;gap:14px;padding:6px 10px;background:{panel}">{_photo(look) if look.chance(0.3) else ""}{_two(look) if look.chance(0.6) else _one(look)}</div>' if person else ""
    foot = f'<div style="position:absolute;bottom:0;left:0;right:0">{blocks.footer(look)}</div>' if look.chance(0.25) else ""
    return _whole(look, width, height, f'{bar}{banner}<div style="display:flex">{side}<div style="flex:1;padding:10px;min-width:0">{made}</div></div>{foot}')


def _modality(rng: Random) -> str:
    """The screen of a machine: one picture, with text around and in it."""
    look = style(rng, dark=True)
    width, height = rng.choice(((800, 600), (1024, 768), (640, 480), (720, 900)))
    wide, tall = int(width * rng.uniform(0.5, 0.95)), int(height * rng.uniform(0.55, 0.92))
    left, top = rng.randint(0, width - wide), rng.randint(0, height - tall)
    made = f'<div class=abs style="left:{left}px;top:{top}px">{blocks.image(look, wide, tall)}</div>'
    for _ in range(rng.randint(2, 6)):
        text = "<br>".join(look.words.value() for _ in range(rng.randint(1, 5)))
        made += f'<div class=abs style="{rng.choice(("left", "right"))}:{rng.randint(2, 20)}px;top:{rng.uniform(0, 0.93) * height:.0f}px;white-space:nowrap">{text}</div>'
    if look.chance(0.4):
        made += f'<div class=abs style="left:{rng.randint(3, 30)}px;bottom:{rng.randint(3, 40)}px;background:#0009">{_one(look)}</div>'
    return _whole(look, width, height, made, "#000")


def _panel(look: Style, maker: Block, ground: str) -> str:
    head = f'<div style="background:{look.accent};color:#fff;padding:2px 8px">{look.words.label()}</div>' if look.chance(0.3) else ""
    edge = f"border:{look.rule};" if look.chance(0.4) else ""
    return f'<div style="{edge}margin-bottom:10px;background:{ground}">{head}<div style="padding:{look.rng.randint(3, 9)}px">{maker(look)}</div></div>'


def _whole(look: Style, width: int, height: int, inner: str, ground: str = "") -> str:
    back = f"background:{ground};" if ground else ""
    way = "rtl" if look.rtl else "ltr"
    return (
        f'<!doctype html><html dir="{way}" lang="{look.words.language}"><head><meta charset="utf-8"><style>{look.css()}</style></head>'
        f'<body><main id="page" style="width:{width}px;height:{height}px;{back}">{inner}</main></body></html>'
    )
