"""The sounds of a word that no dictionary has, by rules of English spelling. They are meant for names."""

from __future__ import annotations

import re
import unicodedata

_RULES = [
    (re.compile(pattern), phones.split())
    for pattern, phones in (
        # at the beginning of a word
        (r"(?<![a-z])ng(?=[aeiouy])", "N"), (r"(?<![a-z])kn", "N"), (r"(?<![a-z])(?:wr|rh)", "R"),
        (r"(?<![a-z])ps", "S"), (r"(?<![a-z])gh", "G"), (r"(?<![a-z])x", "Z"), (r"(?<![a-z])mc(?=[a-z])", "M AH K"),
        (r"(?<![a-z])sch", "SH"), (r"(?<![a-z])y(?=[aeiou])", "Y"),
        # several letters
        (r"tion(?![a-z])", "SH AH N"), (r"sion(?![a-z])", "ZH AH N"), (r"dge?(?=e)", "JH"), (r"tch|cz", "CH"),
        (r"sch|sh|sz", "SH"), (r"zh", "JH"), (r"ch(?=[rln])", "K"), (r"ch", "CH"), (r"ph", "F"), (r"th", "TH"),
        (r"augh|ough", "AO"), (r"eigh", "EY"), (r"igh", "AY"), (r"(?<=[aeiou])gh", ""), (r"gh", "G"), (r"wh", "W"),
        (r"ck|cq", "K"), (r"qu", "K W"), (r"q", "K"), (r"rz", "ZH"), (r"ng(?![aeiouy])", "NG"),
        (r"stein(?![a-z])", "S T AY N"), (r"mb(?![a-z])", "M"), (r"ll|l", "L"),
        # vowels
        (r"oy|oi", "OY"), (r"(?:ey|ie|ee|y)(?![a-z])", "IY"), (r"ay|ai", "EY"), (r"ei|ey", "EY"), (r"ee|ea|ie", "IY"),
        (r"aw|au", "AO"), (r"ow(?=[aeiou])", "OW W"), (r"ow(?![a-z])", "OW"), (r"ow", "AW"),
        (r"oo", "UW"), (r"oa|oe", "OW"),
        (r"ou", "UW"), (r"ew|eu|ue", "UW"), (r"uy(?=e)", "W IY"), (r"aa", "AA"), (r"ar(?![aeiou])r?", "AA R"),
        (r"or(?![aeiou])r?", "AO R"), (r"(?:er|ir|ur|yr)(?![aeiou])r?", "ER"),
        (r"a(?=[bcdfgklmnpstvz]e(?![a-z]))", "EY"), (r"i(?=[bcdfgklmnpstvz]e(?![a-z]))", "AY"),
        (r"o(?=[bcdfgklmnpstvz]e(?![a-z]))", "OW"), (r"u(?=[bcdfgklmnpstvz]e(?![a-z]))", "UW"),
        (r"(?<=[a-z][bcdfgklmnpstvz])e(?![a-z])", ""), (r"e(?![a-z])", "EY"),
        (r"a(?![a-z])", "AH"), (r"i(?![a-z])", "IY"), (r"o(?![a-z])", "OW"), (r"u(?![a-z])", "UW"),
        (r"a(?=[a-z][aeiou])", "AA"), (r"i(?=[a-z]?[aeou])", "IY"), (r"o(?=[a-z][aeiou])", "OW"),
        (r"u(?=[a-z][aeiou])", "UW"),
        (r"y(?=[aeiou])", "Y"), (r"a", "AE"), (r"e", "EH"), (r"[iy]", "IH"), (r"o", "AA"), (r"u", "AH"),
        # consonants
        (r"bb?", "B"), (r"c(?=[eiy])", "S"), (r"cc?", "K"), (r"dd?", "D"), (r"ff?", "F"), (r"gg", "G"),
        (r"g(?=[eiy])", "JH"), (r"g", "G"), (r"h(?=[aeiouy])", "HH"), (r"h", ""), (r"j", "JH"), (r"kk?", "K"),
        (r"mm?", "M"), (r"nn?", "N"), (r"pp?", "P"), (r"rr?", "R"), (r"ss?", "S"), (r"tt?", "T"), (r"vv?", "V"),
        (r"w", "W"), (r"x", "K S"), (r"zz?", "Z"),
    )
]  # fmt: skip
"""Letters and their phones. The first rule that matches is applied."""
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "th", "þ": "th", "ı": "i"}
)


def sounded(word: str) -> tuple[str, ...]:
    """Return the likely phones of a word, in ARPAbet without stress. Marks on letters are ignored."""
    plain = unicodedata.normalize("NFKD", word.lower().translate(_LETTERS))
    letters = "".join(letter for letter in plain if "a" <= letter <= "z")
    found: list[str] = []
    at = 0
    while at < len(letters):
        for pattern, phones in _RULES:
            if match := pattern.match(letters, at):
                found += phones
                at = match.end()
                break
        else:
            at += 1
    return tuple(found)
