"""Poses beyond joint limits, in words: by how much, and whether stops push back there."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.elastic_stops import has_elastic_stop
from core.constraints.failures import coordinate_text
from core.constraints.joint_modes import NOWHERE, JointRow, joint_modes
from core.constraints.joint_rows import rows_at
from core.errors import listed
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

SMALL_PASSING = 1e-3
"""Distance (rad or m) beyond a limit that counts as the normal deflection of a stop."""


class BeyondLimitWarning(UserWarning):
    """Warning that a pose is unreachable in a run because a joint is far beyond an elastic stop."""


class Passed(NamedTuple):
    """A coordinate beyond one of its limits: the excess and the limit, rad or m, and True if a stop pushes back."""

    name: str
    dimension: str
    by: float
    limit: float
    elastic: bool

    @property
    def words(self) -> str:
        """The excess as a clause."""
        return f"{self.name} is {coordinate_text(self.by, self.dimension)} beyond its limit {self._limit_text}"

    @property
    def _limit_text(self) -> str:
        return coordinate_text(self.limit, self.dimension)


def passed_limits(compiled: Compiled, q: Array, p: Values = None, least: float = SMALL_PASSING) -> tuple[Passed, ...]:
    """Coordinates that are beyond their limits by more than `least` at any of the poses (…, nq), each at its largest
    excess; loop-closing joints are included for a single pose only."""
    values = compiled.parameter_values(p)
    if values.ndim > 1:
        values = values.reshape(-1, values.shape[-1])[0]
    modes, found = joint_modes(compiled, values), []
    measured: Array | None = None
    for k, row in enumerate(modes.rows):
        if row.at_q == NOWHERE and q.ndim == 1 and np.isfinite([row.lower, row.upper]).any():
            measured = rows_at(compiled, modes, q, values).value if measured is None else measured
            found += _limits_passed_by_row(row, np.asarray(measured[k]), least)
        elif row.at_q != NOWHERE:
            found += _limits_passed_by_row(row, row.ratio * q[..., row.at_q] + row.offset, least)
    return tuple(found)


def _limits_passed_by_row(row: JointRow, value: Array, least: float) -> list[Passed]:
    over, under = float(np.max(value, initial=-np.inf)) - row.upper, row.lower - float(np.min(value, initial=np.inf))
    return [
        Passed(row.name, row.dimension, by, limit, has_elastic_stop(row))
        for by, limit in ((over, row.upper), (under, row.lower))
        if by > least
    ]


def passed_limits_text(passed: tuple[Passed, ...]) -> str:
    """Sentence on the exceeded limits; '' if there are none."""
    if not passed:
        return ""
    pushing = [each.name for each in passed if each.elastic]
    text = listed([each.words for each in passed])
    if pushing:
        text += f": the elastic stop{'s' * (len(pushing) > 1)} of {listed(pushing)} {_PUSH[len(pushing) > 1]}"
    return f"{text}."


_PUSH = ("pushes back, and its force is included", "push back, and their forces are included")


def warn_of_passed_limits(compiled: Compiled, q: Array, p: Values) -> None:
    """Warn of joints that are pushed farther into elastic stops than in a motion."""
    if words := passed_limits_text(tuple(each for each in passed_limits(compiled, q, p) if each.elastic)):
        warnings.warn(f"{words} passive=False leaves stops out.", BeyondLimitWarning, stacklevel=4)
