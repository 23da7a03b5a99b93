"""The English language bundle: rules, word lists, places, names, pools of surrogates, and the embedded models."""
