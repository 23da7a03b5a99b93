"""The student: a small bidirectional encoder with a CRF, after CIPHER's fourth stage, with Guan's ideas as switches.

shape       what a model looks like: sizes and switches
attention   layers, with specialised heads
fusion      token, segment and document levels, gated
crf         the likelihood of a tag sequence
losses      what is minimised
model       all of it as one torch module
base        where the weights begin: a pretrained base, or chance

Everything but `shape` imports torch (extra `train`) when it is imported; nothing here is needed at run time.
"""
