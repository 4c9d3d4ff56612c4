"""Episodes: what the agent is told, how many are sampled at once, how they are written."""
