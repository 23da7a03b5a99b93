"""Surrogates of occupations, and of words of no other group."""

from __future__ import annotations

import re
from functools import cache

from incognote.plugins import installed
from incognote.relex.cluster.values import work_of
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    plain,
    walk,
)
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools, pools
from incognote.text.lexicon import commonness, fold, lexicon

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_EMERGENCY = re.compile(r"\b(?:911|999|112|000)[ -]\Z")
_LETTERS = re.compile(r"[^\W\d_]+")


class Occupations(SurrogateGenerator):
    """Occupations: part `job`, of the same narrow class. One of no class becomes a neutral word ("worker").

    A job in another language becomes its label.

    "Retired", "student", and similar states stay, and so do the plural and the article before it.
    """

    group = "OCCUPATION"
    may_repeat = True  # two teachers may become teachers of one kind

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        words = min(identity.variants).words
        normal = " ".join(work_of(words))
        return [ComponentRequest(0, self.component(identity, "job", f"{normal}\x1f{normal}"), (_core(words),))]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        core = request.detail[0]
        neutral = _neutral(core, self.pools)
        kind = "" if neutral in _places(self.pools) else class_of(core, self.pools)
        jobs = [job for job in _jobs(self.pools, kind) if fold(job) != fold(core)] if kind else []
        alike = [job for job in jobs if _vowel(job) == _vowel(core)]
        place = draw.place(request.component)
        drawn = taken.claim_first(request.component, (walk(alike, place), walk(jobs, place)), default="")
        return drawn or taken.claim_first(request.component, (walk([*alike, neutral], place),), originals=True)

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"job": self.requests(identity)[0].component}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        return Surrogate({"job": self.pick(self.requests(identity)[0], draw, taken)}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        if is_state(variant.words):
            return RenderedSurrogate(variant.words, ())
        core = _core(variant.words)
        if variant.hints.language or _foreign(core, self.pools):
            return None
        job = surrogate.parts["job"]
        low = core.lower()
        if low.endswith("s") and not low.endswith("ss") and low[:-1] in _heads(self.pools):
            job += "s"
        capital = core[:1].isupper() and not core.split()[0][1:].isupper()
        written = job[:1].upper() + job[1:] if capital else job.upper() if core.isupper() else job
        if core.istitle() and " " in core:
            written = job.title()
        return RenderedSurrogate(variant.words.replace(core, written, 1), ("job",))


def _foreign(core: str, pools: Pools) -> bool:
    """Whether a job is in another language, so that a job in English would not fit: "Lehrerin", "albañil", "chofer".

    None of its words is English, and it has a capital, a letter beyond ASCII, or a word of another installed language.
    """
    words = [fold(word) for word in _WORD.findall(core)]
    if class_of(core, pools) or any(commonness(lexicon().get(word, 0)) for word in words):
        return False
    if not core.isascii() or core.istitle():
        return True
    others = sorted(installed("incognote.languages").keys() - {"en"})
    return any(word in lexicon(code) for code in others for word in words)


def is_known_work(words: str) -> bool:
    """Whether the words are a state, or end with or contain a title that the pools list."""
    return is_state(words) or _title_in(words, pools()) is not None


def is_state(words: str) -> bool:
    """Whether all words say a state that identifies nobody: retired, disabled, college student."""
    said = {fold(word) for word in re.findall(r"[^\W\d_]+", words)}
    return bool(said) and said <= set(pools().data("others")["work"]["kept"].split())


def class_of(words: str, pools: Pools) -> str:
    """The class of an occupation, by the longest title or last word that it ends with; "" for none."""
    title = _title_in(words, pools)
    return "" if title is None else _heads(pools)[title]


def _neutral(core: str, pools: Pools) -> str:
    """What an occupation of no class becomes: worker, employee, or the last word of a place of work (butcher shop)."""
    last = fold(core).split()[-1:]
    consonant, vowel = pools.data("others")["work"]["unknown"]
    return last[0] if last and last[0] in _places(pools) else vowel if _vowel(core) else consonant


def _places(pools: Pools) -> frozenset[str]:
    return frozenset(pools.data("others")["work"]["places"].split())


def _title_in(words: str, pools: Pools) -> str | None:
    low, table = fold(words), _heads(pools)
    ends = [title for title in table if low == title or low.endswith((f" {title}", f" {title}s")) or low == f"{title}s"]
    if not ends:
        ends = [title for title in table if f" {title} " in f" {low} "]
    return max(ends, key=lambda t: (len(t), t), default=None)


@cache
def _heads(pools: Pools) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, table in pools.data("occupations").items():
        for job in table["jobs"].split(";"):
            found.setdefault(fold(job), name)
        for head in table["heads"].split(";"):
            found[fold(head)] = name
    return found


def _jobs(pools: Pools, name: str) -> list[str]:
    return sorted(pools.data("occupations")[name]["jobs"].split(";"))


def _core(words: str) -> str:
    """The words, unchanged, without those that only say whether the work is still done."""
    said = set(work_of(words))
    found = [m for m in _WORD.finditer(words) if set(work_of(m.group())) & said and plain(m.group())]
    low = [m for m in found if fold(m.group()) in said or set(re.findall(r"[^\W\d_]+", fold(m.group()))) & said]
    if not low:
        return words
    emergency = _EMERGENCY.search(words[: low[0].start()])  # "911 dispatcher"
    return words[emergency.start() if emergency else low[0].start() : low[-1].end()]


def _vowel(words: str) -> bool:
    """Return True if "an" precedes the words."""
    low = words.strip().lower()
    return low[:1] in "aeiou" and not low.startswith(("uni", "user", "eu", "one"))


class Others(SurrogateGenerator):
    """Words for family and marital status (§A.9.5: wife → spouse): no part.

    "Widow" and "divorced" stay, because they are facts. Words that no list has are replaced by their label.
    """

    group = "OTHER"
    may_repeat = True

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        return Surrogate({}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        neutral, marital = (self.pools.data("others")[table] for table in ("neutral", "marital"))
        kept = set(marital["kept"].split())
        said = {fold(word) for word in _LETTERS.findall(variant.words)}
        if not said & (kept | neutral.keys()) or said - kept - neutral.keys() - set(marital["beside"].split()):
            return None

        def neutralized(match: re.Match[str]) -> str:
            word = match.group()
            other = neutral.get(fold(word), word)
            return like(word, other.capitalize() if word[0].isupper() else other)

        return RenderedSurrogate(_LETTERS.sub(neutralized, variant.words))
