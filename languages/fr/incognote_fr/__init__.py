"""The French language bundle: rules, word lists, places, and names."""
