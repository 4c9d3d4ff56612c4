"""An external designer among the settings: what contradicts it is said before anything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spade_envs.errors import UsageError
from spade_train.backends.local import Local
from spade_train.backends.server import Server
from spade_train.bounds import check_settings
from spade_train.config import SelfPlayConfig
from spade_train.parts import make_outside

SERVER = "openai:http://127.0.0.1:1/v1#m"


def config(**said: Any) -> SelfPlayConfig:
    return SelfPlayConfig(
        **{"designer_backend": SERVER, "schedule": "designer_frozen", "turn_tokens": 8, **said}
    )


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"schedule": "joint"}, "schedule joint lets the designer learn"),
        ({"schedule": "alternate"}, "schedule alternate lets the designer learn"),
        ({"schedule": "agent_frozen"}, "schedule agent_frozen lets the designer learn"),
        ({"designer_model": "a/b"}, "designer_model and designer_backend contradict"),
        ({"role_adapters": True}, "role_adapters and designer_backend contradict"),
        ({"designer": "none"}, "designer: none leaves designer_backend without work"),
        ({"designer_price": [1.0]}, "give two prices"),
        ({"designer_backend": "opnai:x"}, "Did you mean openai"),
        ({"designer_backend": "folder:x"}, "Set designer_ahead: 1"),
        (
            {"designer_backend": "folder:x", "designer_ahead": 1, "designer": "two_stage"},
            "designer two_stage asks twice",
        ),
        ({"designer_backend": "folder:x", "designer_ahead": 1, "hints": "reader"}, "hints reader asks twice"),
        ({"designer_ahead": -1}, "designer_ahead is -1"),
        ({"designer_parallel": 0}, "designer_parallel is 0"),
        ({"designer_together": 0}, "designer_together is 0"),
        ({"designer_tokens": 0}, "designer_tokens is 0"),
        ({"designer_seconds": 0.0}, "designer_seconds is 0"),
        (
            {"designer_backend": None, "designer_ahead": 1},
            "designer_ahead has no effect without designer_backend",
        ),
        ({"designer_backend": None, "designer_price": [1.0, 2.0]}, "designer_price has no effect without"),
    ],
)
def test_contradictions_are_told(said: dict[str, Any], found: str) -> None:
    with pytest.raises(UsageError, match=found):
        check_settings(config(**said), 100)


def test_a_whole_setting_is_taken_over() -> None:
    said = config(
        designer_price=[1.0, 2.0],
        designer_together=4,
        designer_parallel=3,
        designer_seconds=9.0,
        designer_tokens=77,
        designer_temperature=0.3,
    )
    check_settings(said, 100)
    outside = make_outside(said, 1.0)
    assert outside is not None
    assert (outside.tokens, outside.temperature) == (77, 0.3)
    server = outside.backend.backend
    assert isinstance(server, Server)
    options = server.options
    assert options.price is not None
    assert (options.price.prompt, options.together, options.parallel, options.patience.whole) == (
        1.0,
        4,
        3,
        9.0,
    )


def test_what_comes_by_files_is_not_repaired() -> None:
    assert config(max_repairs=3).repairs == 3
    by_files = config(max_repairs=3, designer_backend="folder:x", designer_ahead=1)
    check_settings(by_files, 100)
    assert by_files.repairs == 0


def test_the_temperature_is_the_runs_where_none_is_said() -> None:
    outside = make_outside(config(), 1.3)
    assert outside is not None
    assert outside.temperature == 1.3
    assert make_outside(SelfPlayConfig(), 1.0) is None


def test_a_model_that_is_not_there_is_told_before_anything_is_loaded(
    model_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        make_outside(config(designer_backend=f"transformers:{tmp_path}/no"), 1.0)
    outside = make_outside(config(designer_backend=f"transformers:{model_folder}"), 1.0)
    assert outside is not None
    assert isinstance(outside.backend.backend, Local)
    assert "policy" not in vars(outside.backend.backend)  # its weights are not loaded yet
