"""What plays are worth: regret, rewards of both roles, advantages. Pure functions with their sources."""
