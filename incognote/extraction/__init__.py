"""From a text to mentions and on to spans by a language model: chunks, passes, votes, routes and budgets."""
