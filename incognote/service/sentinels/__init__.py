"""Sentinel notes: made-up notes with known identifiers that run with every batch and never reach the lab."""

from incognote.service.sentinels.drawing import Sentinel, draw
from incognote.service.sentinels.scoring import Score, score
from incognote.service.sentinels.watch import SentinelWatch, nightly

__all__ = ["Score", "Sentinel", "SentinelWatch", "draw", "nightly", "score"]
