"""Terms are what their formulas say; sums are bounded; a broken extension says whose it is and how to mend it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.errors import UsageError
from spade_train.rewards import curves
from spade_train.rewards.designer import REFUSED, REWARDS, Measures, fault_penalty, weighted
from spade_train.rewards.extensions import all_terms
from spade_train.rewards.regret import Regret

SHARE = st.floats(0, 1)


def known(mean: float, low: float = -2.0) -> Regret:
    return Regret(mean, None, min(low, mean), 2.0, 1, 2)


MEASURES = st.builds(
    Measures,
    admitted=st.booleans(),
    compiled=st.booleans(),
    success=st.none() | SHARE,
    regret=st.none() | st.builds(known, st.floats(-2, 1), st.floats(-2, 1)),
    spread=SHARE,
    plays=st.integers(1, 16),
    faults=st.just(0),
    likeness=st.none() | SHARE,
    repetition=SHARE,
    slow_success=st.none() | SHARE,
)
WEIGHTS = st.dictionaries(st.sampled_from(sorted(REWARDS)), st.floats(0.01, 2), min_size=1)


@pytest.mark.parametrize(
    ("name", "measures", "worth"),
    [
        ("regret", Measures(success=0.5, regret=known(0.3)), 0.3),
        ("regret", Measures(success=0.5, regret=known(-0.3)), 0.0),
        ("sure_regret", Measures(success=0.5, regret=known(0.3, 0.1)), 0.1),
        ("blend", Measures(success=0.5, regret=known(0.075)), 0.8),
        ("potential", Measures(success=0.5, slow_success=0.7), 0.2),
        ("potential", Measures(success=0.5), 0.0),
        ("solve_rate", Measures(success=0.275), 0.5),
        ("learnability", Measures(success=0.25), 0.75),
        ("uncertainty", Measures(success=0.25), 0.5),
        ("bell", Measures(success=0.0), math.exp(-0.5)),
        ("hardness", Measures(success=0.25), 0.75),
        ("hardness", Measures(success=0.0), 0.0),
        ("hardness", Measures(success=1.0), 0.0),
        ("variance", Measures(success=0.5, spread=0.5), 1.0),
        ("validity", Measures(success=0.5), 1.0),
        ("diversity", Measures(success=0.5, likeness=0.9), 0.1),
        ("repetition", Measures(success=0.5, repetition=0.5), -0.5),
    ],
)
def test_terms_by_hand(name: str, measures: Measures, worth: float) -> None:
    assert REWARDS[name](measures) == pytest.approx(worth)
    assert weighted({name: 1.0})(measures) == pytest.approx(max(worth, REFUSED))


@pytest.mark.parametrize("curve", [curves.plateau, curves.learnability, curves.uncertainty, curves.bell])
@given(p=SHARE)
def test_curves_peak_in_the_middle_and_are_symmetric(curve: Callable[[float], float], p: float) -> None:
    assert 0 <= curve(p) <= curve(0.5) == 1
    assert curve(p) == pytest.approx(curve(1 - p))


def test_the_moving_average_forgets_slowly() -> None:
    assert curves.moving(None, 0.4) == 0.4
    assert curves.moving(0.4, 0.8) == pytest.approx(0.46)


@given(WEIGHTS, MEASURES, MEASURES)
def test_the_refused_never_earn_more_than_the_admitted(
    weights: dict[str, float], one: Measures, other: Measures
) -> None:
    earned = weighted(weights)
    refused, admitted = (
        earned(Measures(**{**m.__dict__, "admitted": a})) for m, a in ((one, False), (other, True))
    )
    assert REFUSED <= refused <= admitted <= math.fsum(weights.values())


@given(WEIGHTS, MEASURES, st.integers(0, 16))
def test_faults_cost_and_the_cost_is_bounded(weights: dict[str, float], clean: Measures, faults: int) -> None:
    broken = Measures(**{**clean.__dict__, "faults": min(faults, clean.plays)})
    earned = weighted(weights)
    assert 0 <= fault_penalty(broken) <= 0.5
    assert earned(clean) - 0.5 - 1e-9 <= earned(broken) <= earned(clean)


def test_nothing_that_counts_earns_the_least() -> None:
    assert weighted({"bell": 1.0})(Measures(success=None)) == REFUSED


@given(st.randoms(), MEASURES)
def test_sums_do_not_depend_on_the_order(rng: object, measures: Measures) -> None:
    weights = {name: 0.1 * at for at, name in enumerate(REWARDS)}
    names = list(weights)
    rng.shuffle(names)  # type: ignore[attr-defined]
    assert weighted(weights)(measures) == weighted({name: weights[name] for name in names})(measures)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"regrets": 1.0}, "Did you mean 'regret'?"),
        ({"zzz": 1.0}, "There are bell, blend"),
        ({"regret": -1.0}, "from 0 on"),
        ({"regret": math.nan}, "from 0 on"),
        ({"regret": 0.0}, "give one"),
        ({}, "give one"),
    ],
)
def test_wrong_weights_are_refused(weights: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError) as error:
        weighted(weights)
    assert says in str(error.value)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Install a distribution ``others 1.0`` that offers one reward."""

    def installed(line: str, code: str) -> None:
        folder = tmp_path / "others-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[spade_train.rewards]\n{line}\n")
        (tmp_path / "others_rewards.py").write_text(code)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, "others_rewards", raising=False)

    return installed


def test_another_packages_reward_counts(install: Callable[[str, str], None]) -> None:
    install("short = others_rewards:term", "def term(measures):\n    return 7 * measures.success\n")
    terms = all_terms(["short"])
    assert weighted({"short": 0.5}, terms)(Measures(success=0.1)) == pytest.approx(0.35)
    assert weighted({"short": 0.5}, terms)(Measures(success=0.9)) == 0.5  # cut at 1
    assert "short" not in all_terms([])


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("regret = others_rewards:term", "term = None", "has the name of another reward"),
        ("bad = others_rewards:term", "import nothing_of_the_kind", "cannot be loaded (ModuleNotFoundError"),
        ("bad = others_rewards:term", "term = 3", "is a int, not a function"),
        (
            "bad = others_rewards:term",
            "def term(measures):\n    return 1 / 0\n",
            "broke down (ZeroDivisionError",
        ),
        ("bad = others_rewards:term", "def term(measures):\n    return float('nan')\n", "returned nan"),
    ],
)
def test_a_broken_reward_names_its_package_and_the_mend(
    install: Callable[[str, str], None], line: str, code: str, says: str
) -> None:
    install(line, code)
    with pytest.raises(UsageError) as error:
        weighted({"bad": 1.0}, all_terms(["bad"]))(Measures(success=0.5))
    assert says in str(error.value)
    assert "of others 1.0" in str(error.value)
    assert "uninstall it" in str(error.value)
