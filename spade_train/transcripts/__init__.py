"""A run's plays as conversations, to train on by other means: successful ones, and pairs from one start."""
