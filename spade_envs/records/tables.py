"""The tables. A change here is a migration: see ``migrations`` and docs/reference/records.md."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    column,
    table,
    text,
)

SCHEMA = "0002"
"""The newest migration: what a database must be at to be used."""

METADATA = MetaData()

VERSIONS = Table(
    "versions",
    METADATA,
    Column("key", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("name", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("newest", Boolean, nullable=False),  # of those of its name in this registry
    Column(
        "held", Boolean, nullable=False
    ),  # False: another registry's, of which something is on record here
    Column("title", String, nullable=False),
    Column("summary", String, nullable=False),
    Column("domain", String, nullable=False),
    Column("origin", String, nullable=False),
    Column("parent", String),
    Column("generation_round", Integer),
    Column("max_episode_steps", Integer, nullable=False),
    Column("difficulty_levels", Integer),
    Column("tools", Integer),
    Column("code_sha256", String, nullable=False),
    Column("file_sha256", String, nullable=False),
    Column("admitted_at", String),
    Column("run", String),
    Column("round", Integer),
    Column("difficulty", Float),
    Column("diversity", Float),
    Column("stability", Float),
    Column("provenance", JSON, nullable=False),
    Column("status", String, nullable=False),
    Column("status_since", String),
    Column("plays", Integer),  # this and the rest: the newest measurement
    Column("success", Float),
    Column("hinted_success", Float),
    Column("regret", Float),
    Column("regret_low", Float),
    Column("regret_high", Float),
    Index("versions_of_a_name", "name", "version"),
    Index(  # whatever is asked of a list is answered out of this, a tenth of the table
        "versions_listed",
        *("newest", "name", "version", "domain", "status", "origin", "run", "round", "difficulty"),
        *("diversity", "regret", "success", "admitted_at", "max_episode_steps", "tools"),
    ),
    Index("versions_of_others", "id", sqlite_where=text("held = 0")),
    Index("versions_by_code", "code_sha256"),
    Index("versions_by_parent", "parent"),
    Index("versions_of_a_round", "run", "round"),
)

SKILLS = Table(
    "skills",
    METADATA,
    Column("skill", String, primary_key=True),
    Column("key", Integer, primary_key=True, index=True),
)

STATUSES = Table(
    "statuses",
    METADATA,
    Column("key", Integer, primary_key=True),
    Column("id", String, nullable=False, index=True),
    Column("status", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("at", String, nullable=False),
    Column("run", String),
    Column("round", Integer),
    Index("statuses_of_a_round", "run", "round"),
)

MEASUREMENTS = Table(
    "measurements",
    METADATA,
    Column("key", Integer, primary_key=True),
    Column("id", String, nullable=False),
    Column("run", String, nullable=False),
    Column("round", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("plays", Integer, nullable=False),
    Column("hinted_plays", Integer, nullable=False),
    Column("faults", Integer, nullable=False),
    Column("mean_return", Float),
    Column("success", Float),
    Column("hinted_success", Float),
    Column("regret", Float),
    Column("regret_low", Float),
    Column("regret_high", Float),
    Column("mean_steps", Float),
    UniqueConstraint("id", "run", "round"),
    Index("measurements_of_a_round", "run", "round"),
)

CHOICES = Table(
    "choices",
    METADATA,
    Column("key", Integer, primary_key=True),
    Column("id", String, nullable=False, index=True),
    Column("run", String, nullable=False),
    Column("round", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("reason", String, nullable=False),
    Index("choices_of_a_round", "run", "round"),
)

REFUSALS = Table(
    "refusals",
    METADATA,
    Column("code_sha256", String, primary_key=True),
    Column("id", String),
    Column("gate", String, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("times", Integer, nullable=False),
    Column("first_at", String, nullable=False),
    Column("last_at", String, nullable=False, index=True),
    Column("run", String),
    Column("round", Integer),
)

INTENTS = Table(
    "intents",
    METADATA,
    Column("key", Integer, primary_key=True),
    Column("name", String, nullable=False),
)
"""Names of which a version is being written: what is left here was cut off, and is looked up in the files."""

TEXTS = "CREATE VIRTUAL TABLE texts USING fts5 (name, title, summary, skills, rules)"
"""Full text of each version, ``rowid`` its key; SQLAlchemy has no words for it."""
TEXT = table("texts", column("rowid"))
"""The same, to be asked."""

TEXT_TABLES = ("texts", "texts_data", "texts_idx", "texts_content", "texts_docsize", "texts_config")
