"""Whole turns and limits of the joints of a chain, for arrays of positions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.screw_chain import ScrewChain
from core.errors import ModelError
from core.mechanism.inverse_kinematics_results import WITHIN, Violation

Array = NDArray[np.float64]

TURN = 2.0 * np.pi
NEAREST = 0.5 - 1e-9
"""Added to turns before they are rounded down: a value half a turn away on either side is the lower one, whatever the
last bit of the two says."""
MOST_TURNS = 20_000
"""Number of combinations of whole turns above which they are not listed."""


def nearest_turns(chain: ScrewChain, q: Array, near: Array) -> Array:
    """(…, n) positions with revolutes turned by whole turns to be as near as possible to `near` (…, n) within limits,
    or as little as possible beyond them."""
    rotates = _rotates(chain)
    fewest, most = _turn_range(chain, q)
    turns = np.floor((near - q) / TURN + NEAREST)
    # where no turn is within the limits, the two next to them are compared
    below, above = q + TURN * most, q + TURN * fewest
    outside = np.where(chain.lower - below <= above - chain.upper, most, fewest)
    turns = np.where(fewest <= most, np.clip(turns, fewest, most), outside)
    return np.asarray(np.where(rotates, q + TURN * np.where(rotates, turns, 0.0), q))


def _rotates(chain: ScrewChain) -> NDArray[np.bool_]:
    return np.array([kind == "R" for kind in chain.kinds])


def _turn_range(chain: ScrewChain, q: Array) -> tuple[Array, Array]:
    """Fewest and most whole turns with which angles are within their limits; fewest > most if there are none."""
    return np.ceil((chain.lower - WITHIN - q) / TURN), np.floor((chain.upper + WITHIN - q) / TURN)


def distance_beyond_limits(chain: ScrewChain, q: Array) -> Array:
    """(…, n) distance of joints beyond their limits (rad, m); 0 within."""
    beyond = np.maximum(np.maximum(chain.lower - q, q - chain.upper), 0.0)
    return np.asarray(np.where(beyond > WITHIN, beyond, 0.0))


def find_violations(chain: ScrewChain, q: Array) -> tuple[Violation, ...]:
    """Joints beyond their limits at q (n,), the largest violation first."""
    found = [
        Violation(chain.joints[k], float(q[k]), float((chain.lower if q[k] < chain.lower[k] else chain.upper)[k]), by)
        for k, by in enumerate(distance_beyond_limits(chain, q).tolist())
        if by > 0.0
    ]
    return tuple(sorted(found, key=lambda each: -each.by))


def count_turns(chain: ScrewChain, q: Array) -> tuple[int, ...]:
    """Whole turns of each joint from the angle within ±π; 0 for slides."""
    turns = np.where(_rotates(chain), np.ceil((q - np.pi - WITHIN) / TURN), 0.0)
    return tuple(int(x) for x in turns)


def all_turns(chain: ScrewChain, q: Array) -> Iterator[Array]:
    """Yield the positions that differ from q (n,) by whole turns of revolutes within their limits; a joint with an
    infinite range keeps its value."""
    fewest, most = _turn_range(chain, q)
    ranges = [
        range(int(low), int(high) + 1) if turns and np.isfinite(low + high) and low <= high else range(1)
        for turns, low, high in zip(_rotates(chain), fewest, most, strict=True)
    ]
    count = float(np.prod([float(len(each)) for each in ranges]))
    if count > MOST_TURNS:
        raise ModelError(
            f"The limits allow {count:.3g} combinations of whole turns.",
            where="turns",
            remedy='Ask for turns="nearest", or narrow the limits.',
        )
    for turns in itertools.product(*ranges):
        yield q + TURN * np.array(turns)
