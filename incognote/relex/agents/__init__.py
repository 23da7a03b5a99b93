"""The four agents of the loop (RedactOR, Algorithm 3 and §B.2): embedded ones, and language models beside them."""
