"""What incognote knows of English: rules, word lists, places, names, pools of surrogates, and the embedded models."""
