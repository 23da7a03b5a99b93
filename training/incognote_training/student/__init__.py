"""The student: a small bidirectional encoder with a CRF, after CIPHER's fourth stage, with Guan's ideas as switches.

shape       sizes and switches of a model
attention   layers, with specialized heads
fusion      token, segment, and document levels, with gates
crf         the likelihood of a tag sequence
losses      the loss functions
model       all of it as one torch module
base        the initial weights: a pretrained base, or random

Every module except `shape` imports torch (extra `train`). Nothing here is needed at run time.
"""
