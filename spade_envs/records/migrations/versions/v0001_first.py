"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "choices",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("choices_of_a_round", "choices", ["run", "round"], unique=False)
    op.create_index(op.f("ix_choices_id"), "choices", ["id"], unique=False)
    op.create_table(
        "intents",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "measurements",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("plays", sa.Integer(), nullable=False),
        sa.Column("hinted_plays", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("mean_return", sa.Float(), nullable=True),
        sa.Column("success", sa.Float(), nullable=True),
        sa.Column("hinted_success", sa.Float(), nullable=True),
        sa.Column("regret", sa.Float(), nullable=True),
        sa.Column("regret_low", sa.Float(), nullable=True),
        sa.Column("regret_high", sa.Float(), nullable=True),
        sa.Column("mean_steps", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("id", "run", "round"),
    )
    op.create_index("measurements_of_a_round", "measurements", ["run", "round"], unique=False)
    op.create_table(
        "refusals",
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=True),
        sa.Column("gate", sa.String(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("first_at", sa.String(), nullable=False),
        sa.Column("last_at", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("code_sha256"),
    )
    op.create_index(op.f("ix_refusals_last_at"), "refusals", ["last_at"], unique=False)
    op.create_table(
        "skills",
        sa.Column("skill", sa.String(), nullable=False),
        sa.Column("key", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("skill", "key"),
    )
    op.create_index(op.f("ix_skills_key"), "skills", ["key"], unique=False)
    op.create_table(
        "statuses",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(op.f("ix_statuses_id"), "statuses", ["id"], unique=False)
    op.create_index("statuses_of_a_round", "statuses", ["run", "round"], unique=False)
    op.create_table(
        "versions",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("newest", sa.Boolean(), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("summary", sa.String(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("parent", sa.String(), nullable=True),
        sa.Column("generation_round", sa.Integer(), nullable=True),
        sa.Column("max_episode_steps", sa.Integer(), nullable=False),
        sa.Column("difficulty_levels", sa.Integer(), nullable=True),
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("file_sha256", sa.String(), nullable=False),
        sa.Column("admitted_at", sa.String(), nullable=True),
        sa.Column("run", sa.String(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("difficulty", sa.Float(), nullable=True),
        sa.Column("diversity", sa.Float(), nullable=True),
        sa.Column("stability", sa.Float(), nullable=True),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("status_since", sa.String(), nullable=True),
        sa.Column("plays", sa.Integer(), nullable=True),
        sa.Column("success", sa.Float(), nullable=True),
        sa.Column("hinted_success", sa.Float(), nullable=True),
        sa.Column("regret", sa.Float(), nullable=True),
        sa.Column("regret_low", sa.Float(), nullable=True),
        sa.Column("regret_high", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("versions_by_code", "versions", ["code_sha256"], unique=False)
    op.create_index("versions_by_parent", "versions", ["parent"], unique=False)
    op.create_index(
        "versions_listed",
        "versions",
        [
            *("newest", "name", "version", "domain", "status", "origin", "run", "round", "difficulty"),
            *("diversity", "regret", "success", "admitted_at"),
        ],
        unique=False,
    )
    op.create_index("versions_of_a_name", "versions", ["name", "version"], unique=False)
    op.create_index("versions_of_a_round", "versions", ["run", "round"], unique=False)
    op.create_index("versions_of_others", "versions", ["id"], unique=False, sqlite_where=sa.text("held = 0"))
    op.execute("CREATE VIRTUAL TABLE texts USING fts5 (name, title, summary, skills, rules)")


def downgrade() -> None:
    """Remove them."""
    for table in (
        "texts",
        "choices",
        "intents",
        "measurements",
        "refusals",
        "skills",
        "statuses",
        "versions",
    ):
        op.drop_table(table)
