"""Training, measuring and exporting the student.

config      one TOML file, checked
documents   annotated texts in, mixed as the file says
examples    windows with their targets, in an order that the seed decides
precision   whether bf16 works here, tried in a child process
loop        the training itself, resumable after a kill
judge       a student or a bundle against annotated texts, alone and beside the rules
calibrate   temperatures and operating points
export      torch to a bundle of int8 graphs, checked against torch
card        the model card
ablate      each switch off in turn, under one budget
curves      loss and recall as pictures
speed       what the pieces of it take
"""
