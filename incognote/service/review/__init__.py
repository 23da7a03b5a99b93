"""Records that wait for a person: the queue, what a decision makes of them, and the pages that show them."""

from incognote.service.review.cases import case_of, corrected
from incognote.service.review.nouns import Case, Decision, Entry, Settled
from incognote.service.review.queue import ReviewQueue

__all__ = ["Case", "Decision", "Entry", "ReviewQueue", "Settled", "case_of", "corrected"]
