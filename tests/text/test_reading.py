"""The text as a reader sees it, and the mapping back to the original."""

from __future__ import annotations

import base64
import gc
import time

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.text import parts
from incognote.text.lexicon import LEXICON
from incognote.text.reading import Reading, read, seen


def reading(text: str) -> Reading:
    return read(text, LEXICON)


SEEN = [
    # invisible characters
    ("Smi\u00adthers", "Smithers"),
    ("S\u200bm\u200ci\u200dt\u2060h\ufeffers", "Smithers"),
    ("Smi\u034fthers", "Smithers"),
    ("Smi\ufe0fthers", "Smithers"),
    ("Smi\x0cthers", "Smithers"),
    ("page one\x0cPage two", "page one\nPage two"),
    ("\x1b[31mSmithers\x1b[0m", "Smithers"),
    ("\u202esrehtimS\u202c", "Smithers"),
    # look-alikes and variant forms of a letter
    ("Ｓｍｉｔｈ １２３", "Smith 123"),
    ("（５５５） ⑴⒜", "(555) 1a"),
    ("𝐒𝐦𝐢𝐭𝐡", "Smith"),
    ("Ⓢⓜⓘⓣⓗ", "Smith"),
    ("ꜱᴍɪᴛʜ", "SMITH"),
    ("S\u0336m\u0336i\u0336t\u0336h", "Smith"),
    ("Jose\u0301", "José"),
    ("Ѕmithеrs", "Smithers"),
    ("4️⃣8️⃣2️⃣", "482"),
    ("١٢٣", "123"),
    ("ﬁbrosis", "fibrosis"),
    ("¹²³-⁴⁵-⁶⁷⁸⁹", "123-45-6789"),
    # private-use characters of symbol fonts; a single one is a bullet or a sign
    ("\uf034\uf034\uf037\uf031\uf039\uf030\uf032", "4471902"),
    ("\uf034\u200b4\uf0377\uf031", "44771"),
    ("\uf045\uf06d\uf069\uf06c\uf079\uf020Carter", "Emily Carter"),
    ("Smither\uf073", "Smithers"),
    ("\uf0b7 5 \uf06dg 37\uf0b0C TNF\uf061", "\uf0b7 5 \uf06dg 37\uf0b0C TNF\uf061"),
    # escapes
    ("&#52;&#x38;&#50;1", "4821"),
    ("&amp;#52;2", "42"),
    ("Garc&iacute;a", "García"),
    ("%53%6D%69th John%20Smithers", "Smith John Smithers"),
    ("%2553%256D%2569th", "Smith"),
    (r"\u0053mith \x53mith \u{53}mith", "Smith Smith Smith"),
    ("U+0053 U+006D U+0069", "Smi"),
    ("=?utf-8?B?Sm9obiBTbWl0aGVycw==?=", "John Smithers"),
    ("Garc=C3=ADa", "García"),
    (r"Garc\'{\i}a M\"uller", "Garcia Muller"),
    ("+AFM-mith", "Smith"),
    ("Andr+AOk Beaupr+AOk", "André Beaupré"),
    ("ER+PR+HER2, a+Abs", "ER+PR+HER2, a+Abs"),
    ("Mr. %53mithers, Dr. %254Fkonkwo", "Mr. Smithers, Dr. Okonkwo"),
    ("Y<U+0131>ld<U+0131>r<U+0131>m", "Yıldırım"),
    ("account=88-'''20417'''-3", "account=88-20417-3"),
    ("SSN: 299 / 40 / 6713", "SSN: 299-40-6713"),
    ("rufina.c [@] solpost [.] es", "rufina.c@solpost.es"),
    ("> SSN: 613-88\n> -2047", "> SSN: 613-88-2047"),
    ("Dr. Smi\x0c\nthers", "Dr. Smithers"),
    ("CHAR(73)+CHAR(121)+CHAR(101)", "Iye"),
    ("RenÃ©e", "Renée"),
    # markup
    ("Sm<b>ith</b>ers", "Smithers"),
    ("Sm**ith**ers", "Smithers"),
    ("Smi[/b]th[i]ers", "Smithers"),
    # joined words
    ("Smi-\nthers", "Smithers"),
    ("Smith-\nJones", "Smith-Jones"),
    ("post-\r\n  operative", "postoperative"),
    ("MRN: 4821\n3977 today", "MRN: 48213977 today"),
    ("J o h n  S m i t h e r s", "John  Smithers"),
    ("S-m-i-t-h-e-r-s", "Smithers"),
    ("seen by JohnSmithers", "seen by John Smithers"),
    ("ptJohnSmithers", "pt John Smithers"),
    ("smithers_john_1957.pdf", "Smithers John, 1957.pdf"),
    ("john at gmail dot com", "john@gmail.com"),
    ("jane[dot]doe[at]example[dot]org", "jane.doe@example.org"),
    ("four eight two one three nine", "482139"),
    ("S as in Sam, M as in Mary, I as in ice", "Smi"),
    ("Sierra Mike India Tango Hotel", "Smith"),
    ("born 1957  -  03  -  16", "born 1957-03-16"),
    ("Kowal | czyk", "Kowalczyk"),
    ("Roder\nConfidential - page 7\nick Umunna", "Roderick Umunna"),
    ("[21] how Hor\n[22] tense fell", "[21] how Hortense fell"),
    ("M_|A_|H_|M_|O_|U_|D_|", "MAHMOUD"),
    ("see NotesAboutLiesbethVerhoevenAfterStroke", "see Notes About Liesbeth Verhoeven After Stroke"),
    # code between the pieces
    ("let mrn = '30' + '77' + '1' + '64'", "let mrn = '3077164'"),
    ("VALUES ('Ost'||'rander','Phi'||'lomena')", "VALUES ('Ostrander','Philomena')"),
    ("['561','555','0136'].join('-')", "['561-555-0136'].join('-')"),
    ("`Ngo${''}zi`", "`Ngozi`"),
    ("ssn=7''09-''44-''18''26", "ssn=709-44-1826"),
    (r"4\,419\,083", "4419083"),
    (r"{\b Micha}{\i lis} {\ul Vlacho}poulos", "Michalis Vlachopoulos"),
    (r"Gor\64 an", "Gordan"),
    ("[(Ol) -15 (u) 3 (femi)] TJ", "[(Olufemi)] TJ"),
    ("on `929`-**555**-~~0144", "on `929-555-0144"),
    (r"{\b Patient:} Ot\'e1vio\~Guimar\'e3es\par seen", "Patient: Otávio Guimarães\nseen"),
    (r"\fs22 Gul\-nara {\i Iskan}\-derova left.\par", "Gulnara Iskanderova left.\n"),
    (r"\X4A6F\ is well\.br\today", "Jo is well\ntoday"),
    ("_Lor_**etta** _Mc_**Clendon** came", "Loretta McClendon came"),
    ("to **58** *Juniper* **Hollow** *Road*", "to 58 Juniper Hollow Road"),
    # broken words and numbers
    ("BOGDAN\x0c KRU\x0cPA", "BOGDAN KRUPA"),
    ("Name: Dmitri\nOver\nmyer\nUnit", "Name: Dmitri\nOvermyer\nUnit"),
    ("called on 618 555\n0132 today", "called on 618 555-0132 today"),
    ("call 618\n555-0132 today", "call 618 555-0132 today"),
    ("MRN: 4821\r\n3977", "MRN: 48213977"),
    ("MRN: 4821397\n72", "MRN: 482139772"),
    ("14  labelled A77-\n15  20936 in formalin", "14  labelled A77-20936 in formalin"),
    ("041 when Doro-\n042 thea fell", "041 when Dorothea fell"),
    ("Ka-ren came", "Karen came"),
    ("MRN: 20-88\n\x0cContinued. CONFIDENTIAL\n143-6\nTorn", "MRN: 20-88143-6\nTorn"),
    ("Surname:\tHof\tstee\tGiven:\tWille\tmijn\tAnkle", "Surname:\tHofstee\tGiven:\tWillemijn\tAnkle"),
    ("Name | Tse | gaye | Haile", "Name | Tsegaye | Haile"),
    # spaced-out letters
    ("f e r n . u l r i c h @ g m x . c o m , please", "fern.ulrich@gmx.com , please"),
    ("D O B : 0 8 / 0 3 / 1 9 6 1  Mammogram", "D O B : 08/03/1961  Mammogram"),
    ("seen: V alentina T oulouse", "seen: Valentina Toulouse"),
    ("H a r r i e t  P e n h a l l o w", "Harriet  Penhallow"),
    ("SURNAME |_O_|_Y_|_A_|_R_|_Z_| Reason", "SURNAME OYARZ Reason"),
    # joined without separators
    ("IMG-stefan-warszawski-toe.jpg", "IMG-Stefan Warszawski, toe.jpg"),
    ("at 119ThistledownWay", "at 119 Thistledown Way"),
    ("zuleika-farhadi-insulin-settings", "Zuleika Farhadi, insulin-settings"),
    (r"C:\Users\AlphonseGuerin\Desktop", r"C:\Users\Alphonse Guerin\Desktop"),
    # numbers
    ("placed O2/1l/2OlB in", "placed 02/11/2018 in"),
    ("cell 651:555:0112", "cell 651-555-0112"),
    ("866-55-KNEES, 1-800-FLOWERS", "866-555-6337, 800-356-9377"),
    ("184 ✦ 52 ✦ 7306", "184-52-7306"),
    ("DOB: 31 ~ 08 ~ '47, 20|06|1955", "DOB: 31/08/47, 20/06/1955"),
    ("phone>>2 1 4 _ 5 5 5 _ 0 1 7 0<<", "phone>>214-555-0170<<"),
    ("[6][5][0] {5}{5}{5} <0><1><1><1>", "[650-555-0111>"),
    ("SSN\n4 0 8\n- 6 6 -\n1 9 5 2\n", "SSN\n408-66-1952\n"),
    ("fax (2O2) S5S-OI39", "fax (202) 555-0139"),
    ("MRN: 7O3856", "MRN: 703856"),
    ("answers (602)\n555-0\n174 after six", "answers (602)\n555-0174 after six"),
    ("Insurance acct no. 7710 442\n9 06 was verified", "Insurance acct no. 7710 4429 06 was verified"),
    ("on =\n857=2D555=\n=2D0101 most days", "on =\n857-555-0101 most days"),
    ("reads [0][2][/][1][4][/][2][0][1][9] beside", "reads 02/14/2019 beside"),
    ("Rec. No. 5=1=2=7=0=0=6=6", "Rec. No. 51270066"),
    ("4 6 0 0   G R A N I T E   F A L L S   R O A D", "4600   GRANITE   FALLS   ROAD"),
    # reordered letters
    ("nosirroM negomI", "Morrison Imogen"),
    ("WWiinniiffrreedd SSppaarrrrooww", "Winifred Sparrow"),
    ("iSaDoRa FeNnImOrE", "Isadora Fennimore"),
    ("J3r3m14h $t0n3br1dg3", "Jeremiah Stonebridge"),
    # fields
    ("CONCAT('603','915','84'); f(\"a\",\"b\")", "CONCAT('60391584'); f(\"a\",\"b\")"),
    ('3;"605";"555";"0149";"refill"', '3;"605-555-0149";"refill"'),
    ("ortho|cast off|1417|Magpie|Street|no lift", "ortho|cast off|1417 Magpie Street|no lift"),
    ("/find?first=horace&last=Tillinghast&sort=recent", "/find?first=Horace&last=Tillinghast&sort=recent"),
    ("patient=hannahLeventhal flag=fallRisk", "patient=Hannah Leventhal flag=fallRisk"),
    ("PEMBERTON,Nora-holter-48h.pdf", "Nora Pemberton, holter-48h.pdf"),
    ("rudy.castaneda.tremor.before-dbs.mov", "Rudy Castaneda, tremor.before-dbs.mov"),
    ("<mailto:%22Ria%20Kramer%22%20%3Cria.k%40veld.example%3E>", '<mailto:"Ria Kramer" <ria.k@veld.example>>'),
    # broken months and street names
    ("in on Octo ber 2 6, 20 23 and", "in on October 26, 2023 and"),
    ("at 86 Mead owlark Cir cle since", "at 86 Mead owlark Circle since"),
    # spoken forms
    ("J as in Juliet, O, Y, space, B as in Bravo, U, S, C, H", "Joy Busch"),
    ("A-G-A-T-H-A space M-E-N-O-N came", "AGATHA MENON came"),
    ("bryn _at_ cwmni _dot_ example", "bryn@cwmni.example"),
    ("g as in golf, dot, ransome, at, pebble mail, dot com", "g.ransome@pebblemail.com"),
    ("consuelo hyphen 72 at correo dot example dot mx", "consuelo-72@correo.example.mx"),
    ("ivana  @  brod . example", "ivana@brod.example"),
    ("www(dot)sayle(dot)example", "www.sayle.example"),
    ("oh seven seven double-oh, nine hundred, treble four one", "077009004441"),
    ("oh two slash twenty-six slash seventy-four", "02/26/74"),
    ("turned one hundred and one", "turned 101"),
    ("is one hundred\nand one years", "is 101 years"),
    ("b as in boy underscore rahman eighty four at yahoo dot com", "b_rahman84@yahoo.com"),
    ("dunaway at a o l dot com", "dunaway@aol.com"),
    ("via a j t, at sign, capemail, period, example", "via ajt@capemail.example"),
    ('john "dot" park at gmail\ndot com', "john.park@gmail.com"),
    ("double-u double-u double-u dot rowena hartigan dot com", "www.rowenahartigan.com"),
    ("at number twelve, Juniper Court", "at 12 Juniper Court"),
    ("seven hundred and six Elderflower Street", "706 Elderflower Street"),
    ("Golf India November Alpha, new word, Lima Uniform November Delta", "Gina Lund"),
]


@pytest.mark.parametrize(("written", "read_as"), SEEN)
def test_a_reader_sees(written: str, read_as: str) -> None:
    assert reading(written).seen == read_as


PLAIN = [
    "95%96% on 2L, 50%20 mix",
    "HR=72 FiO2=40% PEEP=10 AGE=66",
    "R&D, H&P; A&O x3 & stable",
    "pH 7.4, HbA1c 6.1, EtOH, 120 mmHg, hydrOXYzine, OxyContin, BiPAP",
    "McDonald, DeShawn, O'Brien and von Trapp",
    "y n y n / A B C D / S M T W T F S",
    "0 1 2 3 4 5 6 7 8 9 10",
    "CO₂, 10⁹/L, m², ½, 5–6 °C, µg, β-blocker",
    "HR 72 74 68 66 70 71",
    "it’s “fine” … – really",
    "walks across\nthe room",
    "120\n80 mmHg",
    "AFB +AFB- smear",
    "strength 5/5 5/5 4/5, reflexes 2+ 2+ 2+, 1 2 2 1 0 2 1 0 2 1 0",
    "| 120 | 80 | 1200 |, 120 + 80 + 1000, 0-1-2",
    "patient(s), wheez(ing), NaCl, mmHg, BiPaP, B12 5S1 IL1",
    "two hundred mg, one in ten, plus one",
    "BRCA1 c.68_69delAG, ROS1, TGFBR2, S1Q3T3",
    "*very* good, **Plan:** rest, snake_case_name_x and __init__, x*y*z",
    r"C:\parts\tab\x.txt, \begin{enumerate}\par\end{enumerate}",
    "Plt 210\n555 1234, WBC 4 618 555\n2014 film, MRN: 4821397\n72 year old",
    "SIGNED\nMARIE, HX\nPAIN",
    "vitamin D level, hepatitis B surface, A man, I was, type A dissection, T score",
    "Pre-op Mid-day Co-pay Re-ed Non-ie",
    "B/S/1O, 5O/5O/20, 12:30:15, 800-MG",
    "charcot-marie-tooth-disease, day-to-day-care",
    "over-the-counter.pdf guillain-barre-note.pdf",
    "WBC,Hgb,Plt\n14,72,F,COPD,CHF, Home,Stable\n| Resus 1 | Kallio | Stavro | 77 |\n\"210\",\"555\",\"88\"",
    "MRN: 4821397\n72 100 mg, HR 36 37 38 36 37 36 35 36, call 618 555-0\n2 tabs, acct 4821397 72\n9 am",
    "GLU^Glucose^L|5, [x][ ][-][ ] and [3][4], no more space at 5 P M, e.g. mv.sh, form.pdf, v1.2.final.pdf",
    "The mem ber, re mar ked, 12 cups of tea ve, Mar 2 6, BP 120=80, SpO2=951 =2D",
    "one way to close it, two at court dot, the two Court",
]


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_writing_is_seen_as_it_is(text: str) -> None:
    assert reading(text).seen == text
    assert reading(text).fragments == ()


def test_a_span_covers_all_that_its_words_came_from() -> None:
    text = "Mr. S&#109;i\u00adthers came"
    found = reading(text)
    start = found.seen.index("Smithers")
    a, b = found.back(start, start + len("Smithers"))
    assert text[a:b] == "S&#109;i\u00adthers"
    assert found.forward(a, b) == (start, start + len("Smithers"))


SIGNS = st.text(
    st.sampled_from("aZé19 -\n\r&#;%=<>b/\\x\u00ad\u200b\ufeff\u0301Ѕ𝐒①\u202e\u202c\x0c\x1b_*|.@"), max_size=20
)
ENCODED = base64.b64encode(b"Nathaniel Overstreet, MRN 4471").decode()
DRAWN = st.lists(st.one_of(SIGNS, st.sampled_from([ENCODED, " "])), max_size=6).map("".join)


def test_the_drawn_texts_hold_fragments_and_disguised_words() -> None:
    assert reading(hypothesis.find(DRAWN, lambda text: bool(reading(text).fragments))).fragments
    assert reading(hypothesis.find(DRAWN, lambda text: bool(reading(text).disguised))).disguised


@given(DRAWN)
def test_every_stretch_of_what_is_seen_comes_from_a_stretch_of_the_text(text: str) -> None:
    found = reading(text)
    last = 0
    for at in range(len(found.seen)):
        start, end = found.back(at, at + 1)
        assert 0 <= start <= end <= len(text)
        assert start >= last or end > last
        last = min(start, end)
    for fragment in found.fragments:
        assert 0 <= fragment.start < fragment.end <= len(text)
    for start, end in found.disguised:
        assert found.seen[start:end].isalnum()


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    found = reading(text)
    assert found.text == text
    assert found.plain == (found.seen == text) or not found.plain


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (base64.b64encode(b"John Smithers").decode(), "John Smithers"),
        (base64.urlsafe_b64encode("Zoë Müller, MRN 48213977".encode()).decode(), "Zoë Müller, MRN 48213977"),
        (b"John Smithers".hex(), "John Smithers"),
        ("4a 6f 68 6e 20 53 6d", "John Sm"),
        ("data:text/plain;base64,Sm9obg==", "John"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoiSm9obiBTbWl0aGVycyJ9.abc_def-ghi", "John Smithers"),
    ],
)
def test_an_encoded_block_is_decoded_and_goes(block: str, words: str) -> None:
    text = f"see {block} there"
    (fragment,) = reading(text).fragments
    assert text[fragment.start : fragment.end] == block
    assert words in fragment.words
    assert fragment.goes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mrn_b64=OTE0MDc3MzY= urine", "91407736"),
        ("patient_b64=Q2FzaW1pciBEb21icm93c2tp ; dx", "Casimir Dombrowski"),
        ("row=3 c2=OTAzLTU1NS0wMTM2 c3='x'", "903-555-0136"),
        ("owner bytes 33 30 31 37 35 35 32 39 and", "30175529"),
        ("code (base32) KJXXGYLNOVXGIICUNFWGYZLZ, growth", "Rosamund Tilley"),
        ("Patient (rot13): Uraevrggn Fbgurol; headache", "Henrietta Sotheby"),
    ],
)
def test_a_short_block_is_decoded_behind_a_key_or_the_name_of_its_code(text: str, words: str) -> None:
    (fragment,) = reading(text).fragments
    assert (fragment.words, fragment.goes) == (words, True)


def test_a_block_of_ordinary_words_may_stay_and_one_that_nobody_can_read_goes() -> None:
    (ordinary,) = reading("x " + base64.b64encode(b"no fever, stable").decode()).fragments
    assert not ordinary.goes
    noise = base64.b64encode(bytes(range(128, 188))).decode()
    (opaque,) = reading("x " + noise + " y").fragments
    assert (opaque.goes, opaque.words) == (True, "")


def test_attributes_and_comments_are_texts_of_their_own() -> None:
    text = 'see <a href="mailto:j@x.org" title="John Smithers">here</a><!-- Ann Ross -->'
    words = [fragment.words for fragment in reading(text).fragments]
    assert len(words) == 2
    assert "John Smithers" in words[0]
    assert "Ann Ross" in words[1]
    assert reading(text).seen == "see here"


def test_what_stands_in_an_attribute_is_read_as_a_text_is_and_so_is_a_block_in_it() -> None:
    block = base64.b64encode(b"Garland Mayfield").decode()
    text = f'<img src="data:text/plain;base64,{block}" alt="Sm&#105;thers">'
    words = [fragment.words for fragment in reading(text).fragments]
    assert "Garland Mayfield" in words
    assert "Smithers" in words[0]
    padded = base64.b64encode(b"Nathaniel Overstreet").decode()
    text = f'<img alt="wristband" src="data:text/plain;base64,{padded}">'
    assert "Nathaniel Overstreet" in [fragment.words for fragment in reading(text).fragments]


HOSTILE = [
    "*a*", "_a_ ", "**", "`a", r"{\b ", r"\'e1", "}{", r"\par", "618 555\n", "Over\n", "1 a\n2 ", "a b c ",
    "1 2 . ", "a - ", "@ a ", "-a@", "|_A_", "one ", "two hundred ", "a as in b dot ", "a at ", "w w w dot ",
    "Ab-", "Abc-de", "O1/", "1-800-A", "aB1Way", "img-stefan-", ".jpg-a", "<a b='data:,", "MRN: 12345\n", "?e",
    "\x0c ", "a\t", "Name | Ab", "abc-", "\nContinued", "a,A", "Eric,Ann", "Eric | Ann | ", '"605";', "1|Ab|", "&fn=a",
    "a=ab12", "33 ", "CONCAT('", "[1]", "555-0\n", "acct no. 7710 4\n", "9 06\n", "A space B ", "a, space, ", "=2D1=\n",
    "ab.cd.mov", "Ab,Cd-", "1 Ab Cir cle ", "Octo ber 1 ", "1 2   A B C ", "A^B^C|", "ann.bob.pdf ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        gc.disable()  # a collection takes more than a second in a process that has run many tests
        start = time.process_time()
        reading(text)
        taken = time.process_time() - start
        gc.enable()
        return taken

    assert seconds(64_000) < 0.2 + 10 * seconds(16_000)


def test_invisible_characters_that_carry_letters_are_a_text_and_those_nobody_can_read_go() -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "John")
    assert [f.words for f in reading(f"well{tags}.").fragments] == ["John"]
    (secret,) = reading("well" + "\u200b\u200c" * 12 + ".").fragments
    assert (secret.goes, secret.words) == (True, "")


DISGUISED = [
    ("14,72,F,Rosenthal,Miriam,COPD,home", ["Rosenthal", "Miriam"]),
    ('"ED";"Eric";"Swanstrom";"discharged"', ["Eric", "Swanstrom"]),
    ("NEURO ICU | Brandt | Roswitha | 8804177", ["Brandt", "Roswitha"]),
    ("?first=Horace&last=Tillinghast&sort=first&fn=submit", ["Horace", "Tillinghast"]),
    ("Lasix,Metoprolol,Eric;Aspirin|Warfarin\tEric", []),
    ("s\u200bm\u200bi\u200bt\u200bh\u200be\u200br\u200bs", ["smithers"]),
    ("４８２１３", ["48213"]),
    ("Ren&eacute; has na&iuml;ve T cells", ["René"]),
    ("hepa\u00adto\u00adspleno\u00admegaly, gastro\u00adoesophageal", []),
    ("S-m-i-t-h-e-r-s", ["Smithers"]),
    ("M&eacute;ni&egrave;re and Sj&ouml;gren", []),
    ("Severe&#32;Hal&#118;orsen", ["Halvorsen"]),
    ("12&#51;Hal&#118;orsen48&#50;13", ["Halvorsen", "48213"]),
    ("Sm&#105;t&#104;e&#114;s", ["Smithers"]),
    ("IgGκ, TNFα", []),
    ("End\x0cof the note. Gre\x0cwood", ["Grewood"]),
]


@pytest.mark.parametrize(("text", "words"), DISGUISED)
def test_words_in_a_disguise_are_named_unless_they_are_ordinary(text: str, words: list[str]) -> None:
    found = reading(text)
    assert [found.seen[a:b] for a, b in found.disguised] == words


def test_a_letter_that_nobody_can_tell_is_unsure() -> None:
    text = "Mr. Sm\ufffdthers, the patient\ufffds father"
    assert [text[a:b] for a, b in reading(text).unsure] == ["\ufffd"]
    assert reading("Smithжers").unsure == ((0, 9),)


def test_what_an_audit_blanks_stays_blank() -> None:
    assert seen("Mr. \x1a\x1a\x1a-thers") == "Mr. \x1a\x1a\x1a-thers"


def test_a_reading_of_what_is_seen_changes_nothing_more() -> None:
    assert SEEN
    for written, _ in SEEN:
        once = reading(written).seen
        assert reading(once).seen == once


@given(
    st.lists(st.sampled_from([*(written for written, _ in SEEN), "Seen today.", "", "ab-\ncd", "x" * 30]), max_size=12)
)
def test_the_sections_of_a_large_text_are_read_as_one(pieces: list[str]) -> None:
    text = "\n\n".join(pieces)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "LARGE", 1)
        patched.setattr(parts, "_SECTION", 10)
        found = reading(text)
        alone = [reading(text[start:end]) for start, end in parts.sections(text)]
    assert found.text == text
    assert found.seen == "".join(one.seen for one in alone)
    first = seen_first = 0
    for one in alone:
        for at in range(len(one.seen)):
            start, end = one.back(at, at + 1)
            assert found.back(seen_first + at, seen_first + at + 1) == (first + start, first + end)
        here = {(first + f.start, first + f.end, f.words) for f in one.fragments}
        assert here <= {(f.start, f.end, f.words) for f in found.fragments}
        assert {(seen_first + a, seen_first + b) for a, b in one.disguised} <= set(found.disguised)
        first, seen_first = first + len(one.text), seen_first + len(one.seen)


def test_arabic_digits_are_no_disguise_in_an_arabic_text() -> None:
    arabic = "الوزن ٢٩٠٠ غرام والعلامات الحيوية مستقرة والرضيع يرضع جيدا من الأم"
    found = reading(arabic)
    assert found.disguised == ()
    assert "2900" in found.seen
    assert reading("Seen today, weight ٢٩٠٠ g, see الوزن.").disguised != ()
