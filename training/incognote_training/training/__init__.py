"""Train, evaluate, and export the student.

config      one TOML file, validated
documents   annotated texts, mixed as the configuration says
examples    windows with their targets, in an order determined by the seed
precision   whether bf16 works here, tried in a child process
loop        the training itself, which can resume after a kill
judge       scores of a student or a bundle on annotated texts, alone and with the rules
calibrate   temperatures and operating points
export      torch to a bundle of int8 graphs, checked against torch
card        the model card
ablate      training with each switch off in turn, with equal budgets
curves      pictures of loss and recall
speed       the time that each part takes
"""
