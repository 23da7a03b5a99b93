"""The metrics: one family per module, each function pure over labels and text.

    tally       counts per document, and the bootstrap over them
    stream      the same for documents that are read once and not kept; whether a score of 0.8 is right 8 times in 10
    spans       exact, partial, and overlapping spans, typed and type-blind; which type was taken for which
    tokens      the same by token
    redactor    the strict protocol of the RedactOR paper and its all-or-nothing recall
    paired      two systems on the same texts: McNemar, Bonferroni, the paired bootstrap
    utility     how much of a note's meaning is left after redaction

`incognote.evaluation.counts` counts characters and chooses the names that are compared.
"""
