"""The four agents of the loop (RedactOR, Algorithm 3 and §B.2): embedded agents and language model agents."""
