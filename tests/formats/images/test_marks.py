"""What a page shows beside read words, on pictures drawn here."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.marks import marks
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Region, Word

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")
PIL: Any = pytest.importorskip("PIL.Image")

SIZE = (1000, 1200)
INK, BLUE, RED = (20, 20, 20), (20, 30, 140), (180, 20, 40)
LINES = ("Patient was seen in clinic with mild pain", "and will return after two weeks", "Blood pressure normal")


class Sheet:
    """A page on which words are printed, and other things drawn."""

    def __init__(self, ground: Any = (255, 255, 255)) -> None:
        from PIL import Image, ImageDraw, ImageFont

        self._image = Image.new("RGB", SIZE, ground)
        self._draw = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default(24)
        self.words: list[Word] = []
        self.pixels = np.array(self._image)

    def text(self, left: int, top: int, line: str, fill: Any = INK, read: float | None = 0.96) -> Box:
        """Print a line and return its box; `read` is the confidence of its words, None if no pass read it."""
        first, at, boxes = left, top, []
        for token in line.split():
            box = tuple(map(int, self._draw.textbbox((left, top), token, font=self._font)))
            self._draw.text((left, top), token, font=self._font, fill=fill)
            if read is not None:
                self.words.append(Word(token, box, read, line=at))  # type: ignore[arg-type]  # four ints
            boxes.append(box)
            left = box[2] + 8
        self.pixels = np.array(self._image)
        return first, min(box[1] for box in boxes), left - 8, max(box[3] for box in boxes)

    def found(self, codes: tuple[Region, ...] = ()) -> list[Region]:
        words = tuple(self.words)
        return marks(self.pixels, PageReading(words, words, codes, (), 0.9))


def sheet() -> Sheet:
    """Return a page with lines of text that were read."""
    made = Sheet()
    for at, line in enumerate(LINES):
        made.text(80, 420 + 40 * at, line)
    return made


def pen(page: Sheet, left: int, top: int, wide: int = 260, high: int = 90, color: Any = BLUE) -> Box:
    """Draw a signature: loops of a pen from left to right."""
    t = np.linspace(0, 1, 300)
    x = left + wide * t + 24 * np.sin(34 * t)
    y = top + high / 2 + high / 2 * np.sin(40 * t) * (1 - 0.6 * t)
    points = np.stack([x, y], 1).round().astype(np.int32)
    cv2.polylines(page.pixels, [points], False, color, 3, cv2.LINE_AA)
    return int(x.min()), int(y.min()), int(x.max()), int(y.max())


def covered(box: Box, regions: list[Region]) -> float:
    """Return the share of a box that regions cover."""
    mask = np.zeros((SIZE[1], SIZE[0]), bool)
    for left, top, right, bottom in (region.box for region in regions):
        mask[top:bottom, left:right] = True
    return float(mask[box[1] : box[3], box[0] : box[2]].mean())


def kinds(regions: list[Region]) -> set[str]:
    return {region.kind for region in regions}


def test_printed_lines_that_were_read_are_nothing() -> None:
    assert sheet().found() == []


def test_a_blank_page_and_a_tiny_page_are_nothing() -> None:
    assert Sheet().found() == []
    assert marks(np.full((8, 8), 255, np.uint8), PageReading((), (), (), (), 1.0)) == []


def test_loops_of_a_pen_are_a_signature() -> None:
    page = sheet()
    box = pen(page, 120, 900)
    found = page.found()
    assert kinds(found) == {"Signature"}
    assert covered(box, found) > 0.9


def test_a_signature_that_an_engine_took_for_a_word_is_a_signature() -> None:
    page = sheet()
    box = pen(page, 120, 900)
    page.words.append(Word("wwll", box, 0.7, line=2000))
    assert covered(box, page.found()) > 0.9


def test_words_near_a_signature_stay() -> None:
    page = sheet()
    name = page.text(120, 1010, "signed by the doctor on duty")
    pen(page, 120, 900)
    assert covered(name, page.found()) < 0.2


def test_ink_that_no_pass_read_is_covered() -> None:
    page = sheet()
    box = page.text(80, 800, "Quackenbush 12-04-1957", read=None)
    assert covered(box, page.found()) > 0.9


def test_a_number_that_was_read_poorly_is_covered_and_words_beside_it_stay() -> None:
    page = sheet()
    label = page.text(80, 800, "Member number")
    number = page.text(300, 800, "7281-5519", read=0.3)
    found = page.found()
    assert covered(number, found) > 0.9
    assert covered(label, found) < 0.05


def test_white_letters_on_a_dark_bar_are_covered_if_no_pass_read_them() -> None:
    page = sheet()
    page._draw.rectangle((60, 780, 700, 860), fill=(0, 0, 60))
    box = page.text(80, 800, "Quackenbush Ottoline", fill=(255, 255, 255), read=None)
    assert covered(box, page.found()) > 0.9


@pytest.mark.parametrize("shape", ["ring", "tilted frame"])
def test_an_outline_with_letters_inside_is_a_stamp(shape: str) -> None:
    page = sheet()
    box = page.text(700, 880, "CLINIC NORD", fill=RED, read=None)
    page.text(720, 930, "12 MAR 25", fill=RED, read=None)
    middle = ((box[0] + box[2]) // 2, 920)
    if shape == "ring":
        cv2.circle(page.pixels, middle, 120, RED, 4, cv2.LINE_AA)
    else:
        corners = cv2.boxPoints((middle, (240, 140), 9)).round().astype(np.int32)
        cv2.polylines(page.pixels, [corners], True, RED, 4, cv2.LINE_AA)
    found = page.found()
    assert kinds(found) == {"Seal_Stamp"}
    assert covered(box, found) == 1.0


def test_an_upright_frame_around_words_is_no_stamp() -> None:
    page = sheet()
    cv2.rectangle(page.pixels, (60, 400), (760, 560), INK, 2)
    assert page.found() == []


def test_rules_and_boxes_to_check_and_bullets_are_nothing() -> None:
    page = sheet()
    for y in (600, 650, 700):
        cv2.line(page.pixels, (80, y), (900, y), INK, 2)
    for x in (80, 500, 900):
        cv2.line(page.pixels, (x, 600), (x, 700), INK, 2)
    for x in (100, 200, 300):
        cv2.rectangle(page.pixels, (x, 760), (x + 20, 780), INK, 2)
        cv2.circle(page.pixels, (x, 850), 6, INK, -1)
    cv2.rectangle(page.pixels, (80, 1100), (900, 1115), INK, -1)
    assert page.found() == []


def test_a_curve_of_a_chart_is_nothing() -> None:
    page = sheet()
    x = np.arange(100, 900)
    points = np.stack([x, 900 - 60 * np.sin(x / 40)], 1).round().astype(np.int32)
    cv2.polylines(page.pixels, [points], False, (0, 120, 60), 2, cv2.LINE_AA)
    cv2.line(page.pixels, (90, 800), (90, 1000), INK, 2)
    cv2.line(page.pixels, (90, 1000), (900, 1000), INK, 2)
    assert page.found() == []


def test_a_large_picture_of_gray_levels_is_nothing() -> None:
    page = sheet()
    rng = np.random.default_rng(3)
    noise = cv2.GaussianBlur(rng.uniform(0, 255, (400, 600)).astype(np.float32), (0, 0), 4)
    noise = cv2.normalize(noise, None, 0, 230, cv2.NORM_MINMAX).astype(np.uint8)
    page.pixels[650:1050, 200:800] = noise[..., None]
    assert page.found() == []


def test_a_small_picture_in_the_shape_of_a_portrait_is_a_face() -> None:
    page = sheet()
    y, x = np.mgrid[0:220, 0:180]
    shade = 60 + 150 * np.exp(-(((x - 90) / 60) ** 2) - ((y - 100) / 80) ** 2)
    page.pixels[700:920, 100:280] = np.stack([shade, shade * 0.8, shade * 0.7], 2).astype(np.uint8)
    found = page.found()
    assert kinds(found) == {"Face"}
    assert covered((100, 700, 280, 920), found) > 0.9


def test_a_solid_emblem_at_the_top_is_a_logo_with_the_short_line_beside_it() -> None:
    page = sheet()
    mark = page.text(260, 80, "Community hospital")
    title = page.text(240, 120, "clinic for heart and lung and bone")
    far = page.text(660, 80, "Report")
    corners = np.array([[80, 160], [150, 50], [220, 160]], np.int32)
    cv2.fillPoly(page.pixels, [corners], (20, 110, 160))
    found = page.found()
    assert kinds(found) == {"Logo"}
    assert covered((80, 50, 220, 160), found) > 0.95
    assert covered(mark, found) > 0.95
    assert covered(title, found) < 0.3
    assert covered(far, found) == 0


def test_a_barcode_that_was_found_is_not_found_again() -> None:
    page = sheet()
    for x in range(100, 400, 9):
        cv2.rectangle(page.pixels, (x, 100), (x + 1 + x % 4, 170), INK, -1)
    assert page.found((Region("QR_Bar_Code", (95, 95, 410, 175)),)) == []


def test_a_signature_with_few_loops_is_a_signature() -> None:
    page = sheet()
    t = np.linspace(0, 1, 300)
    x, y = 120 + 320 * t + 30 * np.sin(30 * t), 930 + 45 * np.sin(30 * t + 1) * (1 - t)
    cv2.polylines(page.pixels, [np.stack([x, y], 1).round().astype(np.int32)], False, BLUE, 4, cv2.LINE_AA)
    assert covered((int(x.min()), int(y.min()), int(x.max()), int(y.max())), page.found()) > 0.9


def test_a_curve_that_an_engine_took_for_letters_in_part_is_nothing() -> None:
    page = sheet()
    x = np.arange(100, 900)
    y = 900 - 90 * np.exp(-(((x % 160) - 80) ** 2) / 200) + 5 * np.sin(x / 9)
    cv2.polylines(page.pixels, [np.stack([x, y], 1).round().astype(np.int32)], False, INK, 2, cv2.LINE_AA)
    page.words.append(Word("l", (330, 800, 350, 905), 0.96, line=900))
    assert page.found() == []


def test_a_dashed_frame_is_nothing() -> None:
    page = sheet()
    for x in range(100, 700, 24):
        for y in (700, 900):
            cv2.rectangle(page.pixels, (x, y), (x + 13, y + 3), INK, -1)
    for y in range(700, 900, 24):
        for x in (100, 700):
            cv2.rectangle(page.pixels, (x, y), (x + 3, y + 13), INK, -1)
    assert page.found() == []


def test_signs_that_were_read_stay() -> None:
    page = sheet()
    boxes = [page.text(80 + 200 * at, 800, sign) for at, sign in enumerate(("%", "[x]", "++", "(z."))]
    assert all(covered(box, page.found()) == 0 for box in boxes)


def test_a_sign_that_was_then_taken_for_a_turned_word_stays() -> None:
    page = sheet()
    box = page.text(400, 800, "%", read=None)
    sign = Word("%", box, 0.92, line=500)
    words = (*page.words, Word("xX", box, 0.5, 501, 90, "turn-90"))
    seen = (sign, Word("%", box, 0.9, 0, 0, "clean"), *words)
    assert marks(page.pixels, PageReading(words, seen, (), (), 0.9)) == []


def test_a_printed_letter_on_its_own_that_no_pass_read_stays() -> None:
    page = sheet()
    box = page.text(80, 800, "2", read=None)
    assert covered(box, page.found()) == 0


def test_a_letter_of_a_blue_pen_on_its_own_is_covered() -> None:
    page = sheet()
    box = page.text(80, 800, "R", fill=BLUE, read=None)
    assert covered(box, page.found()) > 0.9


@pytest.mark.parametrize("angle", [-14, 3, 12])
def test_tilted_lines_are_a_stamp_however_they_were_read(angle: int) -> None:
    page = sheet()
    layer = Sheet()
    for at, line in enumerate(("RECEIVED 12 MARCH 2025", "Quackenbush & Partner", "Records desk, floor two")):
        layer.text(250, 750 + 40 * at, line)
    matrix = cv2.getRotationMatrix2D((450, 800), angle, 1.0)
    turned = cv2.warpAffine(layer.pixels, matrix, SIZE, borderValue=(255, 255, 255))
    page.pixels = np.minimum(page.pixels, turned)
    ink = turned.min(axis=2) < 128
    rows = np.flatnonzero(ink.any(axis=1))
    page.words.append(Word("Quackenbush", (250, int(rows.min()) + 40, 380, int(rows.min()) + 70), 0.96, line=900))
    found = page.found()
    mask = np.zeros(ink.shape, bool)
    for left, top, right, bottom in (region.box for region in found):
        mask[top:bottom, left:right] = True
    assert "Seal_Stamp" in kinds(found)
    assert mask[ink].mean() > 0.95


def test_a_page_whose_lines_are_all_tilted_has_no_stamps() -> None:
    page = Sheet()
    for at in range(12):
        page.text(120, 300 + 60 * at, "Patient was seen in clinic with mild pain today", read=None)
    matrix = cv2.getRotationMatrix2D((500, 600), 4, 1.0)
    page.pixels = cv2.warpAffine(page.pixels, matrix, SIZE, borderValue=(255, 255, 255))
    assert "Seal_Stamp" not in kinds(page.found())


def test_a_light_emblem_on_a_dark_band_is_a_logo() -> None:
    page = sheet()
    page.pixels[0:180] = (140, 30, 80)
    cv2.circle(page.pixels, (120, 90), 62, (255, 255, 255), -1, cv2.LINE_AA)
    found = page.found()
    assert kinds(found) == {"Logo"}
    assert covered((62, 32, 178, 148), found) > 0.95


def test_a_gray_emblem_is_a_logo() -> None:
    page = sheet()
    page.pixels = cv2.cvtColor(page.pixels, cv2.COLOR_RGB2GRAY)
    cv2.circle(page.pixels, (150, 110), 60, 110, -1, cv2.LINE_AA)
    found = page.found()
    assert kinds(found) == {"Logo"}
    assert covered((95, 55, 205, 165), found) > 0.95


def test_a_short_word_between_two_parts_of_a_handwritten_name_is_covered() -> None:
    page = sheet()
    first = page.text(100, 800, "Yannick", fill=BLUE, read=None)
    middle = page.text(first[2] + 12, 800, "Le", fill=BLUE)
    page.text(middle[2] + 12, 800, "Bihan", fill=BLUE, read=0.4)
    assert covered(middle, page.found()) > 0.9


def test_a_wave_with_one_stroke_in_each_column_is_a_signature_if_no_axes_are_near() -> None:
    page = sheet()
    x = np.arange(120, 300)
    points = np.stack([x, 900 - 40 * np.sin(x / 30)], 1).round().astype(np.int32)
    cv2.polylines(page.pixels, [points], False, BLUE, 4, cv2.LINE_AA)
    found = page.found()
    assert kinds(found) == {"Signature"}
    assert covered((120, 860, 300, 940), found) > 0.9


def test_a_slanted_line_under_a_signature_goes_with_it() -> None:
    page = sheet()
    left, _, right, bottom = pen(page, 120, 900, 170)
    cv2.line(page.pixels, (left, bottom + 14), (right, bottom + 4), BLUE, 3, cv2.LINE_AA)
    assert covered((left, bottom + 2, right, bottom + 15), page.found()) > 0.9


def test_a_small_colored_area_with_a_light_emblem_is_a_logo_with_its_words() -> None:
    page = sheet()
    page.pixels[60:200, 100:340] = (240, 130, 20)
    cv2.circle(page.pixels, (170, 130), 50, (255, 255, 255), -1, cv2.LINE_AA)
    found = page.found()
    assert kinds(found) == {"Logo"}
    assert covered((100, 60, 340, 200), found) > 0.95


def test_a_solid_square_with_one_word_is_a_logo() -> None:
    page = sheet()
    page._draw.rectangle((80, 60, 180, 160), fill=(20, 60, 30))
    page.text(105, 95, "HRA", fill=(255, 255, 255))
    assert covered((80, 60, 180, 160), page.found()) > 0.95


def test_a_face_on_an_even_ground_is_covered_with_its_ground() -> None:
    page = sheet()
    page.pixels[690:950, 90:310] = 190
    y, x = np.mgrid[0:180, 0:150]
    shade = 40 + 110 * np.exp(-(((x - 75) / 50) ** 2) - ((y - 85) / 70) ** 2)
    page.pixels[740:920, 125:275] = np.stack([shade, shade * 0.8, shade * 0.7], 2).astype(np.uint8)
    assert covered((90, 690, 310, 950), page.found()) > 0.9


def test_lines_of_a_skewed_table_are_nothing() -> None:
    page = sheet()
    for at in range(6):
        cv2.line(page.pixels, (100, 700 + 40 * at), (460, 712 + 40 * at), INK, 2)
        cv2.line(page.pixels, (100 + 72 * at, 700 + 2 * at), (94 + 72 * at, 900 + 2 * at), INK, 2)
    assert "Signature" not in kinds(page.found())


def test_a_wide_word_of_few_letters_is_a_signature_that_an_engine_misread() -> None:
    page = sheet()
    box = pen(page, 120, 900)
    page.words.append(Word("Em", box, 0.98, line=2000))
    assert covered(box, page.found()) > 0.9


def test_a_small_panel_with_a_light_emblem_is_a_logo_with_its_wordmark() -> None:
    page = sheet()
    page._draw.rectangle((100, 60, 350, 150), fill=(10, 70, 150))
    page.text(200, 85, "Harrowden", fill=(255, 255, 255))
    cv2.fillPoly(page.pixels, [np.array([[120, 135], [155, 75], [190, 135]], np.int32)], (255, 255, 255))
    assert covered((100, 60, 350, 150), page.found()) > 0.95
