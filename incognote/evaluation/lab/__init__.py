"""The prompt lab: variants looked at, examples chosen, guidelines proposed and tested, variants judged without gold.

lint        a prompt as a person reads it, what is amiss with it, words of evaluation documents in it
pool        examples that an annotated pool offers
picking     which of them are taken
runner      a prompt's findings on annotated texts, asked by one caller, recorded, paid from one budget
proposing   what a prompt misses and wrongly takes, by type, and the question for a better guideline
trial       whether a changed prompt is better, on documents that nobody looked at
rounds      proposals, round after round, each in a ledger
units       what several variants mark, together
review      what a reviewer is asked about them, and the page for it
judged      what the decisions tell: relative recall, precision, what all missed
growing     the gold that grows from them, and overlays written as files
"""
