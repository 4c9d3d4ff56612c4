"""A run's folder: records, checkpoints, going back."""
