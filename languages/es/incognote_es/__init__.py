"""The Spanish language bundle: rules, word lists, places, and names."""
