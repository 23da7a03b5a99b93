"""The prompt lab: inspect prompts, choose examples, propose and test guidelines, and compare variants without gold.

lint        a prompt as a person reads it, its problems, and words of evaluation documents in it
pool        example candidates from an annotated pool
picking     strategies that choose among the candidates
runner      a prompt's findings on annotated texts, from one caller, with one recording and one budget
proposing   what a prompt misses and wrongly finds, by type, and the request for a better guideline
trial       whether a changed prompt is better, on documents not used for the change
rounds      proposals, round after round, all in one ledger
units       what several variants mark, combined
review      the items that a reviewer decides, and the page for it
judged      estimates from the decisions: relative recall, precision, what all variants missed
growing     the gold set that grows from reviews, and overlays written as files
"""
