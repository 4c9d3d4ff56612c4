"""What a run's folder says, as values; which subsystem holds the run back; and both as one page for people."""
