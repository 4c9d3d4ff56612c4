"""Alembic's migrations of the records: one file a schema, each also the way back."""
