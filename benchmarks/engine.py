"""`python -m benchmarks.engine`: the V6 engine of the MultiBody paper, plain joints, with closed forms and without.

Both runs are compiled. Tolerances are chosen so that both make the same measured error (against a run of much higher
accuracy); the times of a second of motion at that error are printed, the least of several repeats in one process, their
ratio, and how many times faster than the clock they are.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import math  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from core.kernel import Mechanism  # noqa: E402
from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World  # noqa: E402
from core.simulation import simulate  # noqa: E402

OFFSETS = (-30.0, 90.0, 210.0, 210.0, 90.0, -30.0)
INCLINATIONS = (-30.0, 30.0, -30.0, 30.0, -30.0, 30.0)
RADIUS, ROD, SPACING = 0.1, 0.2, 0.1
CRANK = ((1.81426974745, 0.000566959299, 0.0), (0.77, 0.000802083333, 0.05), (0.653137112681, 7.34779251766e-05, 0.1),
         (0.77, 0.000802083333, 0.05))  # fmt: skip
"""Mass (kg), inertia about the shaft's direction (kg·m²) and distance from the shaft (m) of the parts of each crank."""
FLYWHEEL, START = 1.0, 10.0
DURATION = 1.0
REPEATS = 15


def engine(cylinders: int = 6) -> Model:
    """Modelica's EngineV6 (MSL 4, `Mechanics.MultiBody.Examples.Loops.EngineV6`), gas forces left out.

    The shaft is the x axis; cylinder k's crank pin is at `OFFSETS` from y towards z, its axis at `INCLINATIONS`.
    """
    x = (1.0, 0.0, 0.0)
    bodies, joints = [_crankshaft(cylinders)], [Joint(name="shaft", parent="world", child="crank", axis=x)]
    for k in range(cylinders):
        turn, lean = math.radians(OFFSETS[k]), math.radians(INCLINATIONS[k])
        at = k * SPACING
        bodies += [
            Body(name=f"rod{k + 1}", mass=2.0328, center_of_mass=(0.0, 0.09, 0.0),
                 inertia=Inertia(ixx=0.0088088, iyy=1e-4, izz=0.0088088)),
            Body(name=f"piston{k + 1}", mass=6.04756585816, center_of_mass=(0.0, 0.05, 0.0),
                 inertia=Inertia(ixx=0.0088, iyy=0.0075, izz=0.0088)),
        ]  # fmt: skip
        pin = Pose(position=(at, RADIUS * math.cos(turn), RADIUS * math.sin(turn)))
        joints += [
            Joint(name=f"pin{k + 1}", parent="crank", child=f"rod{k + 1}", a=pin, axis=x),
            Joint(name=f"wrist{k + 1}", parent=f"rod{k + 1}", child=f"piston{k + 1}", axis=x,
                  a=Pose(position=(0.0, ROD, 0.0))),
            Joint(name=f"cylinder{k + 1}", kind="prismatic", parent="world", child=f"piston{k + 1}",
                  a=Pose(position=(at, 0.0, 0.0), rotation=(lean, 0.0, 0.0)), axis=(0.0, 1.0, 0.0),
                  rest=(_height(turn - lean),)),
        ]  # fmt: skip
    gravity = Gravity(acceleration=(0.0, -9.80665, 0.0))
    return Model(name="V6 engine", world=World(gravity=gravity), bodies=tuple(bodies), joints=tuple(joints))


def _height(angle: float) -> float:
    """Distance of the wrist from the shaft when the crank stands at an angle from the cylinder's axis."""
    return RADIUS * math.cos(angle) + math.sqrt(ROD**2 - (RADIUS * math.sin(angle)) ** 2)


def _crankshaft(cylinders: int) -> Body:
    """All cranks and the flywheel as one body."""
    mass, inertia, moment = 0.0, FLYWHEEL, np.zeros(3)
    for k in range(cylinders):
        turn = math.radians(OFFSETS[k])
        for m, own, radius in CRANK:
            mass += m
            inertia += own + m * radius**2
            moment += m * np.array([k * SPACING, radius * math.cos(turn), radius * math.sin(turn)])
    y, z = moment[1] / mass, moment[2] / mass
    return Body(name="crank", mass=mass, center_of_mass=(float(moment[0] / mass), float(y), float(z)),
                inertia=Inertia(ixx=inertia - mass * (y * y + z * z), iyy=1.0, izz=1.0))  # fmt: skip


def start(mech: Mechanism) -> dict[str, Any]:
    """The state the paper begins with: shaft at zero, turning."""
    return {"q0": mech.rest(), "v0": {"shaft": START}}


def timed(mech: Mechanism, rtol: float, closed_forms: bool, reference: float) -> tuple[float, float]:
    """(seconds for the motion, error of the shaft's angle at its end)."""
    best, error = math.inf, math.nan
    for _ in range(REPEATS):
        run = simulate(mech, DURATION, rtol=rtol, atol=rtol, output=DURATION, closed_forms=closed_forms, **start(mech))
        best = min(best, run.statistics.seconds)
        error = abs(run["shaft.q"][-1] - reference)
    return best, error


def main() -> None:
    """Measure and print."""
    mech = Mechanism(engine())
    print("Order of solution:", *(f"  {step}" for step in mech.solution_order), sep="\n")
    reference = simulate(mech, DURATION, rtol=1e-13, atol=1e-13, output=DURATION, closed_forms=False, **start(mech))
    angle = reference["shaft.q"][-1]
    rows = {}
    for closed_forms in (True, False):
        rows[closed_forms] = [timed(mech, 10.0**-k, closed_forms, angle) for k in (4, 5, 6, 7, 8, 9)]
        print(f"\nclosed_forms={closed_forms}\n   rtol       error, rad    ms per s    times real time")
        for k, (seconds, error) in zip((4, 5, 6, 7, 8, 9), rows[closed_forms], strict=True):
            print(f"  1e-{k}     {error:12.2e} {1e3 * seconds / DURATION:11.3f} {DURATION / seconds:15.0f}")
    print("\nAt equal error (interpolated):")
    for error in (1e-5, 1e-6, 1e-7, 1e-8):
        own, other = (_at(rows[c], error) for c in (True, False))
        print(f"  {error:.0e} rad: {1e3 * own:.3f} ms with, {1e3 * other:.3f} ms without: {other / own:.1f} times;"
              f" {DURATION / own:.0f} times real time")  # fmt: skip


def _at(rows: list[tuple[float, float]], error: float) -> float:
    """Seconds at an error, log–log between the runs."""
    seconds, errors = np.log([[s, max(e, 1e-16)] for s, e in rows]).T
    order = np.argsort(errors)
    return float(np.exp(np.interp(math.log(error), errors[order], seconds[order])))


if __name__ == "__main__":
    main()
