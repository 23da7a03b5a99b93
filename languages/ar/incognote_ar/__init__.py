"""The Arabic language bundle: rules, word lists, places, and names."""
