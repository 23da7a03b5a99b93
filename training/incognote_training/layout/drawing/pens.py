"""What a pen or a stamp leaves: signatures, written lines, logos, seals, and faces, as SVG."""

# ruff: noqa: E501 -- markup in one piece is easier to check

from __future__ import annotations

import math
from random import Random

from incognote_training.layout.drawing.style import HANDS, Style

_PENS = ("#111", "#000", "#1a2a7a", "#1f3fa8", "#23306e", "#333", "#0b0b55")
_SEALS = ("#1f3fa8", "#27408b", "#8b1a1a", "#b22222", "#4b2a7a", "#333", "#0b6b3a", "#000")


def curve(points: list[tuple[float, float]]) -> str:
    """An SVG path through points, smooth as by Catmull and Rom."""
    made = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for index in range(len(points) - 1):
        before, start, end = points[max(0, index - 1)], points[index], points[index + 1]
        after = points[min(len(points) - 1, index + 2)]
        c1 = (start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6)
        c2 = (end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6)
        made.append(f"C{c1[0]:.1f} {c1[1]:.1f} {c2[0]:.1f} {c2[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    return " ".join(made)


def _strokes(rng: Random, width: float, height: float, *, flourish: bool) -> str:
    """Paths of a fast pen in a box."""
    base, x = height * rng.uniform(0.5, 0.7), rng.uniform(2, 8)
    step = rng.uniform(0.12, 0.4) * height
    points, paths = [(x, base)], []
    slant = rng.uniform(-0.1, 0.5)
    while x < width - step - 4:
        tall = rng.random() < 0.25
        rise = rng.uniform(0.3, 0.55) * height if tall else rng.uniform(0.06, 0.25) * height
        fall = rng.uniform(0.2, 0.4) * height if rng.random() < 0.12 else rng.uniform(-0.05, 0.08) * height
        if flourish:
            rise *= max(0.25, 1.5 - 1.3 * x / width)
        points += [(x + step * (0.5 + slant), base - rise), (x + step * rng.uniform(0.4, 0.9), base + fall)]
        if rng.random() < 0.3:
            points.append((x + step * 0.15, base - rise * 0.5))
        x += step * rng.uniform(0.5, 1.4)
        base += rng.uniform(-0.04, 0.04) * height
        if rng.random() < 0.12 and len(points) > 3:
            paths.append(points)
            x += step * rng.uniform(0.1, 0.8)
            points = [(x, base - rng.uniform(0, 0.3) * height)]
    if len(points) > 1:
        paths.append(points)
    if flourish and rng.random() < 0.5:
        tail = height * rng.uniform(0.55, 0.95)
        paths.append([(width * rng.uniform(0, 0.3), tail), (width * 0.5, tail - height * rng.uniform(0, 0.25)),
                      (width - 4, tail - height * rng.uniform(-0.1, 0.2))])  # fmt: skip
    inside = [[(min(max(x, 1), width - 1), min(max(y, 1), height - 1)) for x, y in each] for each in paths]
    return " ".join(curve(each) for each in inside)


_INITIALS = {
    "A": "0,1 .5,0 1,1 .75,.6 .2,.6", "B": "0,1 0,0 .7,.1 .6,.45 .1,.5 .9,.6 .8,.95 0,1", "C": ".9,.2 .5,0 0,.5 .5,1 .95,.8",
    "D": "0,1 0,0 .8,.2 .9,.7 0,1", "E": ".9,.05 .2,.1 .5,.45 0,.7 .5,1 .95,.85", "F": ".9,0 .2,.05 .1,1 .15,.5 .7,.45",
    "G": ".9,.2 .5,0 0,.5 .5,1 .9,.7 .5,.6", "J": ".3,.1 .9,0 .7,.9 .3,1.2 0,.9", "K": "0,0 .05,1 .1,.6 .9,0 .2,.55 1,1",
    "L": ".2,0 .1,.8 0,1 .9,.9", "M": "0,1 .2,0 .5,.7 .8,0 1,1", "N": "0,1 .1,0 .8,1 1,0", "P": ".1,1 .1,0 .9,.1 .7,.5 .1,.55",
    "R": ".1,1 .1,0 .9,.1 .7,.5 .1,.55 .9,1", "S": ".9,.1 .3,0 .2,.4 .8,.6 .6,1 0,.9", "T": "0,.1 1,0 .5,.05 .4,1",
    "V": "0,0 .4,1 1,0", "W": "0,0 .25,1 .5,.2 .75,1 1,0", "Z": "0,.1 .9,0 .1,1 1,.9",
}  # fmt: skip


def _initials(rng: Random, width: float, height: float) -> str:
    """Paths of capital letters with a wave after them, and a line below or not."""
    paths, x = [], width * rng.uniform(0.01, 0.08)
    count = rng.choice((1, 1, 2, 2, 3))
    wide = width * rng.uniform(0.5, 0.9) / (count + 1)
    slant, tall = rng.uniform(-0.1, 0.4), height * rng.uniform(0.5, 0.75)
    base = height * rng.uniform(0.7, 0.9)
    for _ in range(count):
        points = [each.split(",") for each in rng.choice(list(_INITIALS.values())).split()]
        size = rng.uniform(0.7, 1.1)
        own = [(float(a) * wide * size + x + slant * tall * (1 - float(b)) * 0.5, base - tall * size * (1 - float(b))) for a, b in points]
        paths.append([(a + rng.gauss(0, 0.02 * wide), b + rng.gauss(0, 0.03 * tall)) for a, b in own])
        x += wide * rng.uniform(0.75, 1.05)
        if rng.random() < 0.6 or len(paths) == count:
            wave, step, high = [paths[-1][-1]], wide * rng.uniform(0.1, 0.3), tall * rng.uniform(0.1, 0.35)
            for turn in range(rng.randint(2, 9)):
                high *= rng.uniform(0.7, 1.05)
                wave.append((wave[-1][0] + step, base - high if turn % 2 == 0 else base + rng.uniform(-0.05, 0.1) * tall))
            x = max(x, wave[-1][0])
            paths.append(wave)
    if rng.random() < 0.3:
        paths.append([(width * 0.05, base + tall * 0.15), (width * 0.5, base + tall * 0.1), (x, base + tall * rng.uniform(-0.05, 0.2))])
    inside = [[(min(max(a, 1), width - 1), min(max(b, 1), height - 1)) for a, b in each] for each in paths]
    return " ".join(curve(each) for each in inside)


def signature(look: Style, width: float, height: float) -> str:
    """A signature, as an element with its region."""
    rng = look.rng
    color = "#dde" if look.dark else rng.choice(_PENS)
    mark = 'data-region="Signature"'
    turn = f"transform:rotate({rng.uniform(-8, 4):.1f}deg);" if rng.random() < 0.4 else ""
    if rng.random() < 0.15:
        font = rng.choice(HANDS)
        return (
            f"<div {mark} class=fit style=\"{turn}font:{height * 0.6:.0f}px/1 '{font}',Z003,cursive;color:{color};"
            f'letter-spacing:-{rng.uniform(0, 2):.1f}px;white-space:nowrap">{look.words.name()}</div>'
        )
    line = rng.uniform(0.9, 3)
    path = _initials(rng, width, height) if rng.random() < 0.55 else _strokes(rng, width, height, flourish=True)
    return (
        f'<svg {mark} width="{width:.0f}" height="{height:.0f}" style="display:block;{turn}"><path fill="none" '
        f'stroke="{color}" stroke-width="{line:.1f}" stroke-linecap="round" d="{path}"/></svg>'
    )


def written(look: Style, width: float, lines: int) -> str:
    """Lines of handwriting, with their region: letters of a font, or strokes of a pen that nobody can read."""
    rng = look.rng
    color = "#cde" if look.dark else rng.choice(_PENS)
    turn = rng.uniform(-4, 4) if rng.random() < 0.5 else 0
    size = look.size * rng.uniform(1.2, 2.4)
    if rng.random() < 0.3:
        svg = ""
        for index in range(lines):
            long = width * rng.uniform(0.5, 1)
            path = " ".join(
                f'<path transform="translate({x:.0f} {index * size * 1.2:.0f})" d="{_strokes(rng, w, size * 1.2, flourish=False)}"/>'
                for x, w in _spread(rng, long, size)
            )
            svg += path
        return (
            f'<svg data-region="Handwriting" width="{width:.0f}" height="{lines * size * 1.25:.0f}" '
            f'style="display:block;transform:rotate({turn:.1f}deg)"><g fill="none" stroke="{color}" '
            f'stroke-width="{rng.uniform(0.8, 1.8):.1f}" stroke-linecap="round">{svg}</g></svg>'
        )
    count = max(1, round(width / size / 2.6))
    text = "<br>".join(look.words.phrase(max(1, count - 3), count) for _ in range(lines))
    ruled = f"border-bottom:{look.rule};" if rng.random() < 0.08 else ""
    return (
        f'<div data-region="Handwriting" class=fit style="{ruled}font:{size:.1f}px/{rng.uniform(1, 1.5):.2f} '
        f"'{rng.choice(HANDS) if not look.rtl else look.hand}';color:{color};white-space:nowrap;"
        f'transform:rotate({turn:.1f}deg)">{text}</div>'
    )


def _spread(rng: Random, width: float, size: float) -> list[tuple[float, float]]:
    """Places and widths of the words of a line."""
    made, x = [], 0.0
    while x < width - size * 1.2:
        word = min(width - x, size * rng.uniform(1, 4))
        made.append((x, word))
        x += word + size * rng.uniform(0.2, 0.5)
    return made


def logo(look: Style, size: float) -> str:
    """A mark of an institute, alone or with its name beside it, with its region."""
    rng = look.rng
    color = look.accent
    other = rng.choice(("#fff", "#fff", "#eee", "#ffe9b0", "#cfe3ff"))
    c, r = size / 2, size / 2 - 1
    grounds = (
        f'<circle cx="{c}" cy="{c}" r="{r}" fill="{color}"/>',
        f'<rect x="1" y="1" width="{size - 2}" height="{size - 2}" rx="{rng.choice((0, 3, 8, 14))}" fill="{color}"/>',
        f'<circle cx="{c}" cy="{c}" r="{r - 2}" fill="none" stroke="{color}" stroke-width="{rng.uniform(2, 5):.1f}"/>',
        f'<path d="M{c} 1L{size - 1} {size * 0.3}V{size * 0.6}Q{c} {size * 1.1} {c} {size - 1}Q1 {size * 0.8} 1 {size * 0.5}V{size * 0.3}Z" fill="{color}"/>',
        f'<path d="M{c} 1L{size - 1} {c}L{c} {size - 1}L1 {c}Z" fill="{color}"/>',
        "",
    )
    ground = rng.choice(grounds)
    front = other if ground and "none" not in ground else color
    bar = size * rng.uniform(0.1, 0.2)
    waves = "".join(
        f'<path d="M{size * 0.15} {size * y:.1f}Q{size * 0.35} {size * (y - 0.15):.1f} {c} {size * y:.1f}T{size * 0.85} {size * y:.1f}" '
        f'fill="none" stroke="{front}" stroke-width="{size * 0.06:.1f}"/>'
        for y in (0.35, 0.5, 0.65)
    )
    letters = "".join(word[0] for word in look.words.place().split()[: rng.randint(1, 3)])
    petals = "".join(
        f'<ellipse cx="{c}" cy="{size * 0.28}" rx="{size * 0.09:.1f}" ry="{size * 0.2:.1f}" fill="{front}" transform="rotate({60 * n} {c} {c})"/>'
        for n in range(6)
    )
    figure = rng.choice(
        (
            f'<path d="M{c - bar} {size * 0.2}h{2 * bar}v{size * 0.3 - bar}h{size * 0.3 - bar}v{2 * bar}h-{size * 0.3 - bar}v{size * 0.3 - bar}h-{2 * bar}v-{size * 0.3 - bar}h-{size * 0.3 - bar}v-{2 * bar}h{size * 0.3 - bar}z" fill="{front}"/>',
            f'<path d="M{c} {size * 0.8}L{size * 0.2} {size * 0.48}A{size * 0.16} {size * 0.16} 0 0 1 {c} {size * 0.34}A{size * 0.16} {size * 0.16} 0 0 1 {size * 0.8} {size * 0.48}Z" fill="{front}"/>',
            waves,
            petals,
            f'<text x="{c}" y="{size * 0.66}" text-anchor="middle" font-size="{size * 0.42:.0f}" font-weight="bold" fill="{front}">{letters}</text>',
            f'<path d="M{size * 0.1} {c}h{size * 0.22}l{size * 0.08} -{size * 0.25}l{size * 0.14} {size * 0.5}l{size * 0.1} -{size * 0.25}h{size * 0.25}" fill="none" stroke="{front}" stroke-width="{size * 0.06:.1f}"/>',
            f'<path d="M{size * 0.25} {size * 0.75}L{c} {size * 0.2}L{size * 0.75} {size * 0.75}Z" fill="none" stroke="{front}" stroke-width="{size * 0.08:.1f}"/>',
        )
    )
    svg = f'<svg width="{size:.0f}" height="{size:.0f}" style="display:block">{ground}{figure}</svg>'
    if rng.random() < 0.75:
        return f'<div data-region="Logo" class=fit style="flex:none">{svg}</div>'
    word = look.words.place().split()[0]
    name = f'<b style="font:{rng.choice(("bold", "italic bold", "300"))} {size * rng.uniform(0.35, 0.6):.0f}px \'{look.title_font}\';color:{color}">{word}</b>'
    return f'<div data-region="Logo" class=fit style="display:flex;align-items:center;gap:{size * 0.12:.0f}px;flex:none">{svg}{name}</div>'


def seal(look: Style, size: float) -> str:
    """A round seal or a rectangular stamp, at an angle, with its region."""
    rng = look.rng
    color = rng.choice(("#9cf", "#f99")) if look.dark else rng.choice(_SEALS)
    angle = rng.uniform(-25, 25) if rng.random() < 0.75 else 0
    css = f"transform:rotate({angle:.1f}deg);opacity:{rng.uniform(0.45, 1):.2f};display:block"
    mark = 'data-region="Seal_Stamp"'
    name = look.words.place()
    if rng.random() < 0.55:
        c, line = size / 2, rng.uniform(1.2, 3.5)
        number = rng.randrange(10**6)
        inner = rng.choice(("<circle cx='{c}' cy='{c}' r='{i}' fill='none' stroke='{s}' stroke-width='1'/>", "", ""))
        inner = inner.format(c=c, i=size * 0.29, s=color)
        middle = "".join(
            f'<text x="{c}" y="{c + size * (0.1 * row - 0.04):.1f}" text-anchor="middle" font-size="{size * 0.09:.1f}" font-weight="bold" fill="{color}">{text}</text>'
            for row, text in enumerate((rng.choice(("★", "PAID", look.words.date(), look.words.name())), look.words.date())[: rng.randint(0, 2)])
        )
        oval = f'ry="{size * rng.uniform(0.3, 0.46):.1f}"' if rng.random() < 0.15 else ""
        ring = (
            f'<ellipse cx="{c}" cy="{c}" rx="{c - line}" {oval or f"ry={chr(34)}{c - line}{chr(34)}"} fill="none" stroke="{color}" stroke-width="{line:.1f}"/>'
        )
        text = (name + " • " + look.words.place() + " • ").upper()
        around = (
            f'<path id="a{number}" fill="none" d="M{c} {size * 0.86}A{size * 0.36} {size * 0.36} 0 1 1 {c + 0.1} {size * 0.86}"/>'
            f'<text font-size="{size * rng.uniform(0.075, 0.1):.1f}" fill="{color}" letter-spacing="1"><textPath href="#a{number}">{text}</textPath></text>'
        )
        return f'<svg {mark} width="{size:.0f}" height="{size:.0f}" style="{css}">{ring}{inner}{around if not oval else ""}{middle}</svg>'
    words = rng.choice(("RECEIVED", "PAID", "COPY", "CONFIDENTIAL", "URGENT", "APPROVED", "VERIFIED", name.upper(), "ORIGINAL"))
    rows = [f"<b style='font-size:1.4em'>{words}</b>"]
    if rng.random() < 0.4:  # of a person
        rows = [f"<b>{look.words.name()}</b>", look.words.phrase(1, 2).title(), look.words.label() + " " + look.words.number()][: rng.randint(2, 3)]
    rows += [rng.choice((look.words.date(), look.words.name(), look.words.contact(), name)) for _ in range(rng.randint(0, 3))]
    style = rng.choice(("solid", "solid", "double", "double", "none"))
    edge = f"border:{rng.choice((2, 3, 4, 5))}px {style} {color};" if style != "none" or len(rows) < 2 else ""
    return (
        f'<div {mark} class=fit style="{css};{edge}padding:4px 9px;color:{color};text-align:{rng.choice(("center", "center", "start"))};border-radius:{rng.choice((0, 0, 5, 12))}px;'
        f"font:{size * rng.uniform(0.08, 0.15):.1f}px/{rng.uniform(1.15, 1.6):.2f} '{rng.choice((look.font, 'Courier Prime', 'Roboto Condensed', 'Liberation Sans'))}';white-space:nowrap\">{'<br>'.join(rows)}</div>"
    )


def face(look: Style, width: float, height: float) -> str:
    """A drawn photograph of a face, with its region."""
    rng = look.rng
    skin = rng.choice(("#f1c9a5", "#d9a066", "#8d5524", "#c68642", "#ffdbac", "#5c3a21", "#e0ac8a", "#bbb"))
    hair = rng.choice(("#222", "#3b2314", "#6b4a2b", "#a67b5b", "#888", "#111", "#ddd", "#b55239"))
    ground = rng.choice(("#dfe6ee", "#fff", "#b9c7d6", "#87a2bd", "#ccc", "#eee", "#556", "#9bb89b"))
    cloth = rng.choice(("#234", "#fff", "#844", "#486", "#777", "#112", "#cc9"))
    x, y = 50 + rng.uniform(-5, 5), 52 + rng.uniform(-5, 6)
    wide, tall, number = rng.uniform(17, 25), rng.uniform(23, 32), rng.randrange(10**6)
    long = rng.random() < 0.4
    fall = f'<path d="M{x - wide * 1.2} {y}V{y + tall * 1.3}H{x + wide * 1.2}V{y}Z" fill="{hair}"/>' if long else ""
    eyes = "".join(
        f'<ellipse cx="{x + side * wide * 0.42}" cy="{y - tall * 0.1}" rx="{wide * 0.15:.1f}" ry="{wide * 0.09:.1f}" fill="#fff"/>'
        f'<circle cx="{x + side * wide * 0.42}" cy="{y - tall * 0.1}" r="{wide * 0.08:.1f}" fill="#222"/>'
        f'<path d="M{x + side * wide * 0.42 - wide * 0.2} {y - tall * 0.27}h{wide * 0.4}" stroke="{hair}" stroke-width="1.6"/>'
        for side in (-1, 1)
    )
    beard = f'<ellipse cx="{x}" cy="{y + tall * 0.6}" rx="{wide * 0.8}" ry="{tall * 0.45}" fill="{hair}"/>' if rng.random() < 0.2 else ""
    glasses = f'<g fill="none" stroke="#222"><circle cx="{x - wide * 0.42}" cy="{y - tall * 0.1}" r="{wide * 0.3}"/><circle cx="{x + wide * 0.42}" cy="{y - tall * 0.1}" r="{wide * 0.3}"/></g>' if rng.random() < 0.25 else ""  # fmt: skip
    edge = f"border:{look.rule};" if rng.random() < 0.5 else ""
    round_ = "border-radius:50%;" if rng.random() < 0.1 else ""
    blur = rng.uniform(0, 0.8)
    light = rng.choice(("0.3", "0.5", "0.7"))
    return (
        f'<svg data-region="Face" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 100 120" preserveAspectRatio="xMidYMid slice" '
        f'style="display:block;{edge}{round_}background:{ground};flex:none"><defs><radialGradient id="f{number}" cx="{light}" cy="0.4">'
        f'<stop offset="0.3" stop-color="{skin}"/><stop offset="1" stop-color="{skin}" stop-opacity="0.65"/></radialGradient></defs>'
        f'<rect width="100" height="120" fill="{ground}"/><g style="filter:blur({blur:.1f}px)">{fall}'
        f'<path d="M{x - 40} 130Q{x - 38} {y + tall + 12} {x} {y + tall + 6}Q{x + 38} {y + tall + 12} {x + 40} 130Z" fill="{cloth}"/>'
        f'<rect x="{x - wide * 0.4}" y="{y + tall * 0.6}" width="{wide * 0.8}" height="{tall * 0.7}" fill="{skin}"/>'
        f'<ellipse cx="{x}" cy="{y - tall * 0.3}" rx="{wide * 1.12}" ry="{tall * 0.9}" fill="{hair}"/>{beard}'
        f'<ellipse cx="{x}" cy="{y}" rx="{wide}" ry="{tall}" fill="url(#f{number})" stroke="{skin}"/>{eyes}{glasses}'
        f'<path d="M{x} {y}l-3 {tall * 0.25}h5" fill="none" stroke="#0006"/>'
        f'<path d="M{x - wide * 0.3} {y + tall * 0.5}q{wide * 0.3} {rng.uniform(0, 6):.1f} {wide * 0.6} 0" fill="none" stroke="#933" stroke-width="1.8"/></g></svg>'
    )


def angle(rng: Random, most: float) -> float:
    """Degrees, more often small than large."""
    return math.copysign(rng.random() ** 2 * most, rng.random() - 0.5)
