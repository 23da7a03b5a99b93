"""The German language bundle: rules, word lists, places, and names."""
