"""Sentinel notes: invented notes with known identifiers that run with every batch and never reach the destination."""

from incognote.service.sentinels.notes import Sentinel, SentinelScore, draw, score
from incognote.service.sentinels.watch import SentinelWatch, nightly

__all__ = ["Sentinel", "SentinelScore", "SentinelWatch", "draw", "nightly", "score"]
