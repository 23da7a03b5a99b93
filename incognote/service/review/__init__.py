"""Records in review: the queue, the effect of a decision, and the pages that show them."""

from incognote.service.review.cases import case_of, corrected
from incognote.service.review.nouns import DecidedCase, QueueEntry, ReviewCase, ReviewDecision
from incognote.service.review.queue import ReviewQueue

__all__ = ["DecidedCase", "QueueEntry", "ReviewCase", "ReviewDecision", "ReviewQueue", "case_of", "corrected"]
