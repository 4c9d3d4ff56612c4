"""What a success rate is worth: pure curves over ``success`` in [0, 1], each with its source.

All but :func:`potential` are worth most between never and always, where GRPO's groups differ and so teach.
"""

from __future__ import annotations

import math


def plateau(success: float, low: float = 0.4, high: float = 0.6, fall: float = 0.25) -> float:
    """Return 1 for a success rate within [low, high], falling to 0 over ``fall`` on either side.

    SPADE's released code (spade-rl/spade, ``plateau_reward``); alone it is the solve-rate control of its
    ablations.
    """
    outside = max(low - success, success - high, 0.0)
    return max(0.0, 1.0 - outside / fall)


def learnability(success: float) -> float:
    """4p(1 - p): the variance of one outcome, scaled to 1 at its peak.

    Sampling for Learnability (Rutherford et al. 2024, arXiv 2408.15099) without the 4.
    """
    return 4 * success * (1 - success)


def uncertainty(success: float) -> float:
    """1 - 2|p - 1/2|: the challenger's reward of R-Zero (arXiv 2508.05004), there of answers that agree."""
    return 1 - 2 * abs(success - 0.5)


def bell(success: float, target: float = 0.5, sharpness: float = 2.0) -> float:
    """exp(-sharpness (p - target)^2): GenEnv's alpha-curriculum reward (arXiv 2512.19682).

    The defaults are those of its released configuration; with them the ends are still worth 0.61.
    """
    return math.exp(-sharpness * (success - target) ** 2)


def hardness(success: float) -> float:
    """1 - p, and 0 where none or all succeed: the proposer's reward of Absolute Zero (arXiv 2505.03335)."""
    return 0.0 if success in (0.0, 1.0) else 1 - success


def potential(success: float, slow: float) -> float:
    """|p - slow|: learning potential, the control of SPADE's ablations (``learning_potential``).

    Args:
        slow: the slow moving average of the success rate before this round: :func:`moving`.
    """
    return abs(success - slow)


def moving(slow: float | None, success: float, newest: float = 0.15) -> float:
    """Return the slow moving average after one more rate; ``newest`` is the latter's weight.

    SPADE's launchers weigh the newest rate 0.15; the default in its code, 0.95, hardly averages.
    """
    return success if slow is None else (1 - newest) * slow + newest * success
