"""Where Alembic's command line begins; spade-envs itself migrates by :mod:`spade_envs.records.schema`."""

from __future__ import annotations

from alembic import context

from spade_envs.records.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
