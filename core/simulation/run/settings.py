"""Settings of a run, as the user chose them, checked against the machine and each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.later import dataclass
from core.simulation.methods import METHODS
from core.simulation.methods.method import RECORDED, Method

if TYPE_CHECKING:
    from core.mechanism import Mechanism

AUTOMATIC_FACTORS, CHOLESKY, RANK_REVEALING = FACTORISATIONS = ("automatic", "Cholesky", "rank-revealing")
"""Values of the option `factorisation`, see `core.simulation.simulate`; automatic means rank-revealing."""


def check_factorisation(factorisation: Any) -> str:
    """Return the option if it is one of `FACTORISATIONS`, otherwise raise ModelError."""
    if factorisation not in FACTORISATIONS:
        raise ModelError(
            f"There is no factorisation {factorisation!r}.",
            where="factorisation",
            remedy=f"Use one of {', '.join(FACTORISATIONS)}.",
        )
    return str(factorisation)


Array = NDArray[np.float64]
Values = Mapping[str, Any] | Sequence[Any] | Array | None
"""Values by name, or all in order; numbers, or texts with a unit."""

SAMPLES = 1000
"""Default number of samples of a short run with variable step size."""
LONGEST_OUTPUT = 0.02
"""Default sample spacing, s, of a long run with variable step size, fine enough to show human-scale motion."""
MOST_SAMPLES = 20_000
"""Default limit of the number of samples: in longer runs several fixed steps lie between two samples."""
MOST_CLOSINGS = 100
"""Largest number of Gauss–Newton iterations that close loops after each step."""
SHORTEST = 1e-15
"""s: shortest duration that a run can resolve."""
FINEST = 4.0
"""Smallest ratio of a step to the spacing of floating-point numbers at its time."""
TIGHTEST = 2.3e-16
"""Smallest relative tolerance that floating-point numbers can satisfy."""
MOST_NUMBERS = 2_000_000_000
"""Largest amount of numbers in a run (16 GB on disk)."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run; plain data, stored with it.

    method, step (s, None: chosen), rtol, atol, output (s between samples), start, duration (s), p : parameter values,
    torque : joint forces as given
    """

    method: str
    duration: float
    step: float | None
    rtol: float
    atol: float
    output: float
    start: float
    parameters: dict[str, float]
    torque: Any
    max_steps: int
    closing: float | None = None
    """Method of closing loops without analytic closure after each step, see `simulate`."""
    factorisation: str = AUTOMATIC_FACTORS
    """Solver for the equations of such loops, one of `FACTORISATIONS`."""

    @property
    def integration_method(self) -> Method:
        """Return the integration method; for a run read from recorded signals, a placeholder."""
        return RECORDED if self.method == RECORDED.id else METHODS[self.method]

    def values_of(self, names: Sequence[str]) -> Array:
        """Return the values (n,) of parameters."""
        return np.array([self.parameters[name] for name in names], dtype=float)

    def times(self) -> Array:
        """Return the times (n,) of the samples: multiples of `output`, and the end."""
        count = max(1, math.ceil(self.duration / self.output - 1e-9))
        times: Array = np.arange(count + 1, dtype=float) * self.output
        times[-1] = self.duration
        times += self.start
        return times


def check_settings(
    mech: Mechanism,
    duration: float,
    method: str,
    step: float | None,
    rtol: float,
    atol: float,
    output: float | None,
    start: float,
    parameters: Values,
    torque: Any,
    max_steps: int,
    closing: float | None = None,
    factorisation: str = AUTOMATIC_FACTORS,
) -> Settings:
    """Return checked settings. Raises ModelError that names the invalid one."""
    if method not in METHODS:
        raise ModelError(f"There is no method '{method}'.", where="method", remedy=f"Use one of {', '.join(METHODS)}.")
    positive = {"duration": duration, "step": step, "rtol": rtol, "atol": atol, "output": output}
    for name, value in positive.items():
        if value is None and name in ("step", "output"):
            continue
        if value is None or not (_is_number(value) and 0.0 < value < math.inf):
            remedy = "Give a positive tolerance." if name in ("rtol", "atol") else "Give a positive time in seconds."
            raise ModelError(f"{value!r} is not a positive number.", where=name, remedy=remedy)
    if not (isinstance(max_steps, int | np.integer) and not isinstance(max_steps, bool) and 0 < max_steps < 2**63):
        raise ModelError(
            f"{max_steps!r} is not a positive whole number.",
            where="max_steps",
            remedy="Give the largest number of steps for the run, or leave it out.",
        )
    if not (_is_number(start) and math.isfinite(start)):
        raise ModelError(f"{start!r} is not a finite number.", where="start", remedy="Give a time in seconds.")
    closing, factorisation = check_closing(closing), check_factorisation(factorisation)
    _check_time_resolution(duration, step, rtol, output, start)
    step, output = _step_and_sample_spacing(METHODS[method].adaptive, duration, step, output)
    if duration / output * (mech.nq + 3 * mech.nv) > MOST_NUMBERS:
        raise ModelError(
            "The run would have too many samples.",
            where="output",
            remedy="Increase `output`, the time between samples.",
        )
    p = mech.parameter_values(parameters)
    kept = plain_torque(torque)
    return Settings(
        method,
        float(duration),
        step,
        rtol,
        atol,
        float(output),
        float(start),
        dict(zip(mech.p_names, map(float, p), strict=True)),
        kept,
        int(max_steps),
        closing,
        factorisation,
    )


def _check_time_resolution(
    duration: float, step: float | None, rtol: float, sample_spacing: float | None, start: float
) -> None:
    """Raise ModelError for durations, steps and tolerances that are too small for floating-point numbers to resolve."""
    if rtol < TIGHTEST:
        text = f"A relative tolerance of {rtol:g} is below the resolution of floating-point numbers ({TIGHTEST:g})."
        raise ModelError(text, where="rtol", remedy="Give 1e-13 or more.")
    latest = max(abs(start), abs(start + duration))
    gap = FINEST * float(np.spacing(latest)) if math.isfinite(latest) else math.inf
    for name, value, parts in (("duration", duration, SAMPLES), ("step", step, 1), ("output", sample_spacing, 1)):
        least = max(SHORTEST, parts * gap)
        if value is not None and value < least:
            at = f" at t = {latest:g} s" if least > SHORTEST else ""
            raise ModelError(
                f"{value:g} s is too short{at}: floating-point numbers cannot resolve it.",
                where=name,
                remedy=f"Give {least:.2g} s or more{', or begin at t = 0' if start else ''}.",
            )


def _step_and_sample_spacing(
    adaptive: bool, duration: float, step: float | None, sample_spacing: float | None
) -> tuple[float | None, float]:
    """Return the actual step and sample spacing: fixed steps divide the sample spacing evenly."""
    if adaptive:
        if sample_spacing is None:
            sample_spacing = max(min(duration / SAMPLES, LONGEST_OUTPUT), duration / MOST_SAMPLES)
        return step, min(sample_spacing, duration)
    step = 1e-3 if step is None else step
    if sample_spacing is None:
        sample_spacing = step * max(1, math.ceil(duration / step / MOST_SAMPLES - 1e-9))
    sample_spacing = min(sample_spacing, duration)
    taken = sample_spacing / max(1, math.ceil(sample_spacing / step - 1e-9))
    return (step if abs(taken - step) < 1e-9 * step else taken), sample_spacing


def check_closing(closing: Any) -> float | None:
    """Return a valid setting for closing loops: None, a whole number of iterations, or a tolerance. Raises
    ModelError."""
    if closing is None:
        return None
    if _is_number(closing) and (0.0 < closing < 1.0 or (1 <= closing <= MOST_CLOSINGS and closing == int(closing))):
        return float(closing) if closing < 1.0 else int(closing)
    raise ModelError(
        f"{closing!r} is neither a number of iterations of loop closure nor a tolerance.",
        where="closing",
        remedy=f"Give 1 to {MOST_CLOSINGS} iterations, a tolerance below 1 (rad, m), or None for gaps below 1e-12.",
    )


def plain_torque(torque: Any) -> Any:
    """Return joint forces as plain data."""
    if torque is None or isinstance(torque, Mapping):
        return None if torque is None else dict(torque)
    from core.simulation.equations.joint_forces import ForceLaw

    return torque.plain() if isinstance(torque, ForceLaw) else np.asarray(torque).tolist()


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
