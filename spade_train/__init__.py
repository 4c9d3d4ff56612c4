"""The trainer: one language model designs environments and learns in them. Start with ``selfplay.py``."""
