"""The one door to language models: requests in, replies out, whoever answers."""
