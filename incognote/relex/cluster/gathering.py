"""Mentions of persons gathered into persons: whole names by likeness, then weaker mentions to the one they can mean.

Every step decides for all mentions against the state before it, and whatever is sorted is sorted by the mentions
themselves, so the outcome is a function of their set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from incognote.relex.cluster.aliases import aliased
from incognote.relex.cluster.attaching import attach, lettered_ways, partly_ways, single_ways
from incognote.relex.cluster.former import married, names_of_birth, wed
from incognote.relex.cluster.mentions import Mention
from incognote.relex.cluster.person import Cluster, named_before
from incognote.relex.cluster.wholes import whole_names
from incognote.relex.nouns import Variant

_SUBJECT = 120  # characters between the one a sentence is about and the one it says is somebody else


def gather(mentions: Sequence[Mention], seeds: Sequence[Cluster] = (), staff: bool = False) -> list[Cluster]:
    """A partition of the mentions into persons; a function of their set.

    Args:
        mentions: of one scope, sorted.
        seeds: persons already known (the patient), to whom PERSON mentions may attach; returned with the others.
        staff: they are no kin: in one patient's records a given name one letter off is more likely misspelt than a
            colleague of the same surname. Kin have one surname, and Anna and Anne may be sisters.
    """
    mentions, called = aliased(_unlike(mentions))
    born = names_of_birth(mentions)
    clusters, doubtful = whole_names([m for m in mentions if m.kind == "whole"], "free" if staff else "loose")
    clusters = [*seeds, *wed(clusters, married(clusters, born))]
    later = [m for m in mentions if m.kind != "whole" and m not in born]
    partly = [m for m in later if m.kind == "partly"]
    attach([*doubtful, *partly], clusters, partly_ways)
    attach([m for m in later if m.kind == "single" and not m.titled], clusters, single_ways)
    attach([m for m in later if m.kind == "single" and m.titled], clusters, single_ways)
    attach([m for m in later if m.kind == "lettered"], clusters, lettered_ways)
    return wed(wed(clusters, born), called, doubted=True)


def _unlike(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions, each said to be somebody else than the one named before it told of that one, and that one of it."""
    found: dict[Variant, set[Variant]] = defaultdict(set)
    for mention in mentions:
        if not mention.variant.hints.apart:
            continue
        before = named_before(mention, mentions, _SUBJECT)
        if before:
            subject = before[-1].variant
            found[mention.variant].add(subject)
            found[subject].add(mention.variant)
    return [replace(m, unlike=frozenset(found[m.variant])) if m.variant in found else m for m in mentions]
