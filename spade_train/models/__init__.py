"""Which model is trained, whether it can be, and what that will take."""
