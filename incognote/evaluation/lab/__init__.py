"""The prompt lab: variants looked at, examples chosen, guidelines proposed and tested, variants judged without gold.

views       a prompt as a person reads it, and two side by side
lint        what is amiss with a prompt that nevertheless loads
leaks       words of evaluation documents in a prompt, and files that are test sets
overlays    overlays written as files
pool        examples that an annotated pool offers
picking     which of them are taken
bench       a prompt's findings on annotated texts, asked through the one door, recorded, paid from one budget
mistakes    what a prompt misses and wrongly takes, by type, with a few words around
proposing   the question for a better guideline
trial       whether a changed prompt is better, on documents that nobody looked at
rounds      proposals, round after round, each in a ledger
units       what several variants mark, together
review      what a reviewer is asked about them
page        the reviewer's page
judged      what the decisions tell: relative recall, precision, what all missed
growing     the gold that grows from them
"""
