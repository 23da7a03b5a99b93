"""How one page looks: fonts, sizes, colors, rules, and language."""

# ruff: noqa: E501 -- markup in one piece is easier to check

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from incognote_training.layout.drawing.words import LANGUAGES, Words

_LATIN = (
    "Liberation Sans;Liberation Serif;Liberation Mono;Liberation Sans Narrow;DejaVu Sans;DejaVu Serif;DejaVu Sans Mono;"
    "Lato;C059;Nimbus Mono PS;P052;URW Gothic;URW Bookman;Inter;IBM Plex Mono;Courier Prime;Roboto Condensed;"
    "Source Serif 4;Noto Sans;Nimbus Roman;Nimbus Sans;Nimbus Sans Narrow;TeX Gyre Heros;TeX Gyre Pagella;Utopia;"
    "TeX Gyre Schola;Bitstream Charter;Latin Modern Roman;Latin Modern Sans"
).split(";")
_ARABIC = ("Noto Naskh Arabic", "Noto Kufi Arabic", "Noto Sans Arabic", "DejaVu Sans")
HANDS = (
    "Reenie Beanie;Dancing Script;Patrick Hand;Shadows Into Light;Indie Flower;Mansalva;Gochi Hand;"
    "Covered By Your Grace;Breip;DkgHandwriting"
).split(";")
ARABIC_HANDS = ("Noto Nastaliq Urdu", "Noto Naskh Arabic")
_INKS = ("#000", "#000", "#000", "#111", "#222", "#333", "#1a2340", "#444")
_ACCENTS = ("#0b4f8a", "#7a1f2b", "#14532d", "#333", "#000", "#5b2a86", "#a33b00", "#0a6b73", "#8aa4c8", "#888", "#c33")


@dataclass(slots=True)
class Style:
    """The look of one page.

    Args:
        rng: the source of all choices.
        words: text in the page's language.
        font: CSS family of the body.
        size: of the body's text, in CSS pixels.
        leading: height of a line, in multiples of its size.
        ink, paper, accent, faint: CSS colors.
        rule: CSS border of lines and boxes.
    """

    rng: Random
    words: Words
    font: str
    title_font: str
    size: float
    leading: float
    ink: str
    paper: str
    accent: str
    faint: str
    rule: str
    dark: bool
    rtl: bool
    hand: str
    upper: bool
    pad: int = field(default=4)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def css(self) -> str:
        """Rules for the whole page."""
        return (
            f"*{{box-sizing:border-box}}html,body{{margin:0;background:{self.paper}}}"
            f"#page{{position:relative;overflow:hidden;background:{self.paper};color:{self.ink};"
            f"font:{self.size}px/{self.leading} '{self.font}',sans-serif}}"
            "table{border-collapse:collapse;font-size:inherit}td,th{text-align:start;vertical-align:top}"
            ".fit{width:fit-content}p{margin:0 0 .5em}.abs{position:absolute}.flow{overflow:hidden}"
            "h1,h2,h3{margin:0;line-height:1.25}"
        )


def style(rng: Random, dark: bool | None = None, scale: float = 1.0) -> Style:
    """A random look.

    Args:
        dark: light letters on a dark ground; None for one page in fifty.
        scale: multiplies the size of the text.
    """
    language = rng.choices(LANGUAGES, (10, 3, 2, 2, 3))[0]
    rtl = language == "ar"
    fonts = _ARABIC if rtl else _LATIN
    dark = rng.random() < 0.02 if dark is None else dark
    ink, paper = rng.choice(_INKS), rng.choice(("#fff", "#fff", "#fff", "#fff", "#fdfcf5", "#f7f7f7", "#fbf3dc", "#eef3f8"))
    faint = rng.choice(("#eee", "#e4e4e4", "#ddd", "#dde6f0", "#f3efe2", "#ccc"))
    rule = f"{rng.choice((1, 1, 1, 1, 1.5, 2))}px solid {rng.choice(('#000', '#000', '#333', '#666', '#999', '#bbb'))}"
    if dark:
        ink, paper = rng.choice(("#eee", "#ddd", "#9fe0a0", "#fff", "#ffd27a")), rng.choice(("#111", "#1c2430", "#202020", "#000", "#0b2540"))
        faint, rule = rng.choice(("#2a2f3a", "#333", "#262626")), f"1px solid {rng.choice(('#555', '#777', '#444', '#888'))}"
    font = rng.choice(fonts)
    return Style(
        rng=rng,
        words=Words(rng, language),
        font=font,
        title_font=font if rng.random() < 0.6 else rng.choice(fonts),
        size=round(rng.choice((9, 10, 10.5, 11, 11, 11.5, 12, 12, 12.5, 13, 13.5, 14, 15)) * scale, 1),
        leading=rng.choice((1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.5, 1.6)),
        ink=ink,
        paper=paper,
        accent=rng.choice(_ACCENTS) if not dark else rng.choice(("#4fa3ff", "#ffb84f", "#6fd36f", "#888")),
        faint=faint,
        rule=rule,
        dark=dark,
        rtl=rtl,
        hand=rng.choice(ARABIC_HANDS if rtl else HANDS),
        upper=not rtl and rng.random() < 0.25,
        pad=rng.randint(1, 6),
    )
