"""Names found by the page's layout: tables, inverted lines, chat labels, initials, spelled-out letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from incognote.detectors.rules.view import among
from incognote.text.lexicon import BRAND, EPONYM, MEDICAL, ORGANIZATION, PLACE, commonness, given, surname
from incognote_en.rules.names.announcer import NameRules
from incognote_en.rules.names.phrase import FoundName, NamePhrase
from incognote_en.rules.names.words import acronyms, cues, is_credential, name_heads

# A pattern that is searched for in the whole text begins with a letter or mark, so that `re` can skip ahead. Conditions
# on the text before it are checked after that first character. Patterns at the start of a line are matched line by
# line.
_RULE = re.compile(r"[\s|+:=_-]+\Z")
_CHAT = re.compile(
    r"(?:>+[ \t]*)?(?:[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[ \t]?[ap]m)?[\])]?[ \t]*[-–]?[ \t]*)?"
    r"<?([^\W\d_]{2,14}(?:[ '’.-]{1,2}[^\W\d_]{1,14}){0,2})>?[ \t]*:[ \t]+(?=\S)"
)
_CHAT_TIMED = re.compile(r"(?:>+[ \t]*)?[\[(]?\d{1,2}:\d{2}|>")
_WARD = re.compile(
    r"(?:[A-Z]{0,3}\d{1,3}[A-Z]?[ \t:.)]+|[-•*][ \t]*)?"
    r"((?:[A-Z]\.?){2,3}|[A-Z]\.?[A-Z][a-z][A-Z]|[A-Z]{2}-[A-Z]|[A-Z]\.[ ]?[A-Z]\.?)"
    r"(?=,?[ \t]+\d{1,3}[ \t]?(?:[MF]\b|y/?o|,|y\b))"
)
_DOTTED = re.compile(r"([A-Z](?<![\w.].)\.[ ]?(?:[A-Z]\.[ ]?){1,3})(?![\w])")
_DOTTED_BEFORE = re.compile(
    r"(?:^|\n|[—–-] ?|\. |\b(?:initials|pt|patient|child|client|by|per|signed|baby|mr|mrs|ms)[ .:]+|[(\])]\s*)\Z", re.I
)
_DOTTED_AFTER = re.compile(
    r"\s*(?:\Z|\n|[,(] ?(?:age|aged)? ?\d|is an? |'s |’s |\(|[a-z]+ (?:wants|asks|rang|called))"
    r"|\s+(?:mum|mom|dad|father|mother|parents)\b"
)
_TYPIST = re.compile(
    r"([A-Z](?<![\w/.].)[A-Z]{1,3})[ ]?[/:][ ]?([a-z]{2,4})(?![\w/]|/(?!\d))(?=[ \t]*(?:$|\n|\r|/?\d|[DT] ?:))"
)
_TYPIST_LINE = re.compile(r"(?i)\b(?:(?:dictated|typed|transcri\w+|ref)\b|(?:d|t|dd|dt):)")
# The mark of a dictation system after a signature: "JEFFREY KRANZLER, M.D. JK4".
_CODED = re.compile(
    r"(?m)(?:M\.[ ]?D\.|D\.[ ]?O\.|MD(?<=\b..)|DO(?<=\b..)|RN(?<=\b..)|NP(?<=\b..))[ ,]{1,3}([A-Z]{2,3}\d{1,4})[ \t]*$"
)
_DATED = re.compile(r"[ \t]+[DT] ?:")
_SLASHED = re.compile(r"(?m)/(?<=\s/)([a-z]{2,3})[ \t]*$")
_INITIALS_CUE = re.compile(r"[iIİı](?<=\b.)(?i:nitials?)[ :=.]{1,3}([A-Z](?:[.-]?[A-Z]){1,3}\.?|[a-z]{2,3})(?![\w])")
_SPELLED = re.compile(r"[A-Za-z](?=[ .-])(?<![\w'’].)(?: |-|\. )(?:[A-Za-z](?: |-|\. )){2,13}[A-Za-z](?![\w'’])")
_SPELLING_CUE = re.compile(r"(?i)(?:\bspell\w*|\bthat[’']?s|name(?: is)?)[ :,]{1,3}\Z")
_RARE = 4  # the lexicon's weight below which a word is a rare name
_OPENERS = frozenset("|:;(/•>=*]-–—")
_CLOSING = re.compile(r"(?:[—–~-]{1,3}[ ]?)?([A-Za-z]{2,4})(?:[ ](?:RN|LPN|MD|F1|F2|FY1|FY2|SHO|NP|PA|CNA|HCA))?\.?\Z")


class NameLayout(NameRules):
    """The names in one text that its layout shows."""

    def find(self) -> Iterator[FoundName]:
        yield from self._inverted()
        yield from self._tables()
        yield from self._chat()
        yield from self._initials()
        yield from self._spelled()
        yield from self._blocks()

    def _stretch(self, start: int, end: int, type_: str, score: float, rule: str) -> FoundName:
        first = self.words.at(start)
        return FoundName(NamePhrase(first, max(first + 1, self.words.at(end)), start, end, 0), type_, score, rule)

    def _inverted(self) -> Iterator[FoundName]:
        """SURNAME, GIVEN at the beginning of a line or cell."""
        words = self.words
        for comma in among(words.words, (",",)):
            if not comma or not words.words[comma - 1][0].isalpha() or len(words.gap(comma)) > 1:
                continue
            first = comma - 1
            while comma - first < 4 and not self._opens(first) and words.is_word(first - 1) and words.gap(first) == " ":
                first -= 1
            if not self._opens(first) or not words.is_capital(first):
                continue
            first = self.skip_titles(first)
            phrase = self.reader.read(first, lax=True, comma=True)
            if phrase is None or phrase.last <= comma + 1:
                continue
            if self._inverted_name(phrase, comma):
                yield FoundName(phrase, "PATIENT", 0.85, "names.inverted")

    def _opens(self, i: int) -> bool:
        gap = self.words.gap(i)
        return len(gap) > 1 or gap in ("\n", "\t") or self.words.word(i - 1) in _OPENERS

    def _inverted_name(self, phrase: NamePhrase, comma: int) -> bool:
        words = self.words
        family = [words.words[k] for k in range(phrase.first, comma) if words.is_word(k)]
        others = [words.words[k] for k in range(comma + 1, phrase.last) if words.is_word(k) and not words.is_initial(k)]
        if any(words.weigh(w) & (MEDICAL | BRAND | ORGANIZATION) and words.nameness(w) < 4 for w in family + others):
            return False
        if any(map(self._acronym, family + others)):
            return False  # "NSTEMI, GRACE 138", "LIMA-LAD, SVG-OM1"
        if any(words.weigh(w) & (EPONYM | PLACE) and given(words.weigh(w)) < 5 for w in others) or (
            not others and any(words.weigh(w) & (EPONYM | PLACE) for w in family)
        ):
            return False
        if (
            others
            and others[0].isupper()
            and len(others[0]) < 5
            and not family[-1].isupper()
            and given(words.weigh(others[0])) < 4
        ):
            return False
        name = max(map(words.nameness, family))
        gap, follows = words.gap(phrase.last), words.word(phrase.last)
        closes = (
            "\n" in gap
            or len(gap) > 1
            or not follows
            or follows[0].isdigit()
            or follows in ("(", "|", "—", "–", "-", "M", "F", ",", ";", "/", "DOB")
        )
        if not closes:
            return False
        if not others:
            return (
                name >= 4
                and surname(words.weigh(family[-1])) >= 3
                and (len(gap) > 1 or "\n" in gap or is_credential(words, phrase.last) > 0)
            )
        best = max(map(words.nameness, others))
        alike = given(words.weigh(others[0])) >= 3 or best >= 2
        if words.style(phrase.first) == "caps":
            alone = "\n" in words.gap(phrase.first) and "\n" in gap
            known = max(map(surname, map(words.weigh, family))) >= 3 and given(words.weigh(others[0])) >= 3
            return alike and ((name + best >= 8 and max(name, best) >= 4) or (alone and known))
        return alike and name >= 1 and name + best >= 5

    def _acronym(self, word: str) -> bool:
        """Whether a word, or a part of it, is a clinical abbreviation in capitals and hardly ever a name."""
        parts = word.split("-") if word.isupper() else []
        entries = [(part.lower(), self.words.weigh(part)) for part in parts if len(part) > 2]
        return any(part in acronyms() and max(given(e), surname(e)) < _RARE for part, e in entries)

    def _opening_lines(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The line starts at which a pattern matches. The pattern must not cross the end of a line."""
        begin = 0
        while True:
            if match := pattern.match(self.words.text, begin):
                yield match
            begin = self.words.text.find("\n", begin) + 1
            if not begin:
                return

    def _lines(self) -> Iterator[tuple[int, str]]:
        starts = self.words.view.line_starts
        for k, start in enumerate(starts):
            end = starts[k + 1] if k + 1 < len(starts) else len(self.words.text)
            yield start, self.words.text[start:end].rstrip("\r\n")

    def _tables(self) -> Iterator[FoundName]:
        """Cells below a header like "Patient" or "RN", in tables with bars or aligned columns."""
        columns: list[tuple[int, str]] = []
        barred = 0
        for start, line in self._lines():
            bars = line.count("|")
            if columns and (not line.strip() or (barred and bars < barred)):
                columns = [] if not barred or bars < barred else columns
            if columns:
                if not _RULE.match(line):
                    yield from self._cells(start, line, columns, barred)
                continue
            if bars >= 2:
                heads = line.split("|")
                columns = [
                    (k, name_heads()[h]) for k, head in enumerate(heads) if (h := head.strip().lower()) in name_heads()
                ]
                barred = bars if columns else 0
            elif "  " in line and len(line) < 240:
                heads = re.split(r" {2,}|\t+", line.strip())
                if (
                    len(heads) >= 3
                    and not any(map(str.isdigit, line))
                    and sum(h.lower() in self.known["table_heads"] or h.lower() in name_heads() for h in heads) >= 2
                ):
                    cells = [(m.start(), m.group().strip().lower()) for m in re.finditer(r"\S+(?: \S+)*", line)]
                    columns = [(at, name_heads()[h]) for at, h in cells if h in name_heads()]
                    barred = 0
                    if ":" in line:
                        columns = []

    def _cells(self, start: int, line: str, columns: list[tuple[int, str]], barred: int) -> Iterator[FoundName]:
        words = self.words
        for column, type_ in columns:
            if barred:
                cells = line.split("|")
                if column >= len(cells):
                    continue
                begin = start + sum(len(c) + 1 for c in cells[:column])
                begin += len(cells[column]) - len(cells[column].lstrip())
                end = begin + len(cells[column].strip())
            else:
                if column >= len(line) or line[column] == " " or (column and line[column - 1] != " "):
                    continue
                begin = start + column
                end = start + column + len(re.split(r" {2,}|\t", line[column:], maxsplit=1)[0])
            at = self.skip_titles(self.words.at(begin))
            if at >= words.count or words.starts[at] >= end:
                continue
            phrase = self.reader.read(at, lax=True, comma=True)
            if phrase is not None and phrase.end <= end:
                entry = words.weigh(words.words[phrase.first])
                if phrase.weight >= 1 or given(entry) >= 3:
                    yield FoundName(phrase, type_, 0.85, "names.table")
            elif (
                type_ == "CLINICIAN"
                and end - begin <= 4
                and self.words.text[begin:end].isalpha()
                and (self.words.text[begin:end].isupper() or self.words.text[begin:end].islower())
            ):
                yield self._stretch(begin, end, type_, 0.6, "names.table-initials")

    def _chat(self) -> Iterator[FoundName]:
        """Speakers' labels: "[19:42] dee: …"."""
        matches = [
            m
            for m in self._opening_lines(_CHAT)
            if not self.known["not_speakers"].intersection(m.group(1).lower().split())
        ]
        if not matches:
            return
        counts = Counter(m.group(1).lower() for m in matches)
        for match in matches:
            label = match.group(1)
            timed = _CHAT_TIMED.match(match.group()) is not None
            if not timed and counts[label.lower()] < 2:
                continue
            weights = [self.words.nameness(part) for part in label.split()]
            entry = self.words.weigh(label.split()[0])
            if (timed and (max(weights) >= 2 or given(entry) >= 3)) or (min(weights) >= 5 and given(entry) >= 4):
                yield self._stretch(match.start(1), match.end(1), "PERSON", 0.75, "names.speaker")

    def _signature(self, letters: str) -> bool:
        entry = self.words.weigh(letters)
        if letters.lower() in self.known["stop"]:
            return False
        plain = letters.replace(".", "").replace("-", "")
        return (
            commonness(entry) < 2
            and not entry & (MEDICAL | BRAND)
            and plain.lower() not in self.known["not_initials"]
            and not (plain.islower() and commonness(self.words.weigh(plain)))
        )

    def _initials(self) -> Iterator[FoundName]:
        text, words = self.words.text, self.words
        ward = [m for m in self._opening_lines(_WARD) if self._signature(m.group(1))]
        for match in ward:
            yield self._stretch(match.start(1), match.end(1), "PATIENT", 0.65, "names.initials")
        if len(ward) >= 2:  # a list of patients by initials: each may also occur elsewhere
            listed = {m.group(1) for m in ward}
            for k in (k for k in among(words.words, listed) if words.word(k + 1) != "."):
                yield self.alone(k, "PATIENT", 0.55, "names.initials-again")
        for match in _DOTTED.finditer(text):
            letters = match.group(1).strip()
            plain = letters.replace(".", "").replace(" ", "")
            if (
                plain.lower() in self.known["not_initials"]
                or plain in self.known["credentials"]
                or not _DOTTED_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
            ):
                continue
            after = match.start() + len(letters)
            if _DOTTED_AFTER.match(text, after) or is_credential(self.words, self.words.at(after + 1)):
                yield self._stretch(match.start(), match.start() + len(letters), "PERSON", 0.6, "names.initials")
        for match in _TYPIST.finditer(text):
            near = max(0, match.start() - 200)
            line = text[max(near, text.rfind("\n", near, match.start()) + 1) : match.start()]
            upper, lower = match.group(1), match.group(2)
            dated = _TYPIST_LINE.search(line) or _DATED.match(text, match.end())
            strange = upper.lower() in self.known["not_initials"] or commonness(words.weigh(upper)) > 0
            if commonness(words.weigh(lower)) > (2 if dated else 0) or (strange and not dated):
                continue
            if dated or not line.strip() or line.endswith("  "):
                yield self._stretch(match.start(1), match.end(1), "CLINICIAN", 0.7, "names.typist")
                yield self._stretch(match.start(2), match.end(2), "PERSON", 0.7, "names.typist")
        for match in _CODED.finditer(text):
            yield self._stretch(match.start(1), match.end(1), "CLINICIAN", 0.7, "names.initials")
        for match in _SLASHED.finditer(text):
            if self._signature(match.group(1)):
                yield self._stretch(match.start(1), match.end(1), "CLINICIAN", 0.6, "names.initials")
        for match in _INITIALS_CUE.finditer(text):
            if not commonness(words.weigh(match.group(1))):
                yield self._stretch(match.start(1), match.end(1), "PERSON", 0.75, "names.initials")
        yield from self._last_line()

    def _last_line(self) -> Iterator[FoundName]:
        """A text signed with only initials on its last line."""
        text = self.words.text.rstrip()
        begin = text.rfind("\n") + 1
        match = _CLOSING.match(text, begin + len(text[begin:]) - len(text[begin:].lstrip()))
        if not match or begin == 0:
            return
        letters = match.group(1)
        if (
            (letters.isupper() or letters.islower())
            and self._signature(letters)
            and not is_credential(self.words, self.words.at(match.start(1)))
        ):
            yield self._stretch(match.start(1), match.end(1), "CLINICIAN", 0.6, "names.initials")

    def _blocks(self) -> Iterator[FoundName]:
        """A name alone on its line, above a line with the person's profession: "Nilmini Perera", "Geriatrician"."""
        words, before = self.words, 0
        for start in self.words.view.line_starts:
            line, k = before, words.at(start)
            before = k
            if not 0 < k - line < 10 or k >= words.count or "\n\n" in words.gap(k) or not self._calling(k):
                continue
            first = self.skip_titles(line)
            phrase = self.reader.read(first, lax=False)
            plain = any(words.is_word(i) and commonness(words.weigh(words.words[i])) > 1 for i in range(first, k))
            if phrase is not None and phrase.last == k and k - first > 1 and phrase.weight >= 2 and not plain:
                yield FoundName(phrase, "CLINICIAN", 0.75, "names.block")

    def _calling(self, k: int) -> bool:
        """Whether word k begins a line with a person's profession: "Consultant Cardiologist", "RN"."""
        words = self.words
        if not words.is_capital(k) or words.word(k + 1) == ":":
            return False
        kinds = {kind for cue in cues().get(words.lowers[k], ()) if not cue.rest for kind, _ in cue.kinds}
        return "weak" in kinds or words.lowers[k].endswith(("ologist", "iatrist", "ician", "etist"))

    def _spelled(self) -> Iterator[FoundName]:
        """A name spelled letter by letter: "b h a t t a c h a r y a"."""
        for match in _SPELLED.finditer(self.words.text):
            letters = "".join(c for c in match.group() if c.isalpha())
            entry = self.words.weigh(letters)
            known = max(given(entry), surname(entry)) >= 2 and self.words.nameness(letters) >= 3
            announced = _SPELLING_CUE.search(self.words.text[max(0, match.start() - 24) : match.start()]) is not None
            if len(letters) >= 4 and (known or announced):
                yield self._stretch(match.start(), match.end(), "PERSON", 0.8, "names.spelled")
