"""`python -m benchmarks.engine [--write]`: the V6 engine of the MultiBody paper, plain joints, with closed forms and
without; and the example with gas forces, whose pressure jumps at every dead centre, with every method.

All runs are compiled. Errors are measured against a run of much higher accuracy; processor times are those of a second
of motion, the least of several repeats in one process.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import math  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.document import tell  # noqa: E402
from core.files import load  # noqa: E402
from core.mechanism import Mechanism  # noqa: E402
from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World  # noqa: E402
from core.simulation import simulate  # noqa: E402
from resources import examples  # noqa: E402

OFFSETS = (-30.0, 90.0, 210.0, 210.0, 90.0, -30.0)
INCLINATIONS = (-30.0, 30.0, -30.0, 30.0, -30.0, 30.0)
RADIUS, ROD, SPACING = 0.1, 0.2, 0.1
CRANK = ((1.81426974745, 0.000566959299, 0.0), (0.77, 0.000802083333, 0.05), (0.653137112681, 7.34779251766e-05, 0.1),
         (0.77, 0.000802083333, 0.05))  # fmt: skip
"""Mass (kg), inertia about the shaft's direction (kg·m²) and distance from the shaft (m) of the parts of each crank."""
FLYWHEEL, START = 1.0, 10.0
DURATION = 1.0
REPEATS = 15
SLOWEST = 0.2
"""Seconds of a run that is not repeated."""
LEVELS = (1e-5, 1e-6, 1e-7, 1e-8)
"""Errors of the shaft's angle (rad) at which closed forms and iteration are compared."""
GAS_METHODS = ("rk54", "rk853", "adams", "rk32", "radau", "radau5")
GAS_LEVELS = (1e-2, 1e-3, 1e-4)
"""The same of its speed, relative, for the engine with gas."""


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
            Body(
                name=f"rod{k + 1}",
                mass=2.0328,
                center_of_mass=(0.0, 0.09, 0.0),
                inertia=Inertia(ixx=0.0088088, iyy=1e-4, izz=0.0088088),
            ),
            Body(
                name=f"piston{k + 1}",
                mass=6.04756585816,
                center_of_mass=(0.0, 0.05, 0.0),
                inertia=Inertia(ixx=0.0088, iyy=0.0075, izz=0.0088),
            ),
        ]
        pin = Pose(position=(at, RADIUS * math.cos(turn), RADIUS * math.sin(turn)))
        joints += [
            Joint(name=f"pin{k + 1}", parent="crank", child=f"rod{k + 1}", a=pin, axis=x),
            Joint(
                name=f"wrist{k + 1}",
                parent=f"rod{k + 1}",
                child=f"piston{k + 1}",
                axis=x,
                a=Pose(position=(0.0, ROD, 0.0)),
            ),
            Joint(
                name=f"cylinder{k + 1}",
                kind="prismatic",
                parent="world",
                child=f"piston{k + 1}",
                a=Pose(position=(at, 0.0, 0.0), rotation=(lean, 0.0, 0.0)),
                axis=(0.0, 1.0, 0.0),
                rest=(_height(turn - lean),),
            ),
        ]
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
    return Body(
        name="crank",
        mass=mass,
        center_of_mass=(float(moment[0] / mass), float(y), float(z)),
        inertia=Inertia(ixx=inertia - mass * (y * y + z * z), iyy=1.0, izz=1.0),
    )


def start(mech: Mechanism) -> dict[str, Any]:
    """The state the paper begins with: shaft at zero, turning."""
    return {"q0": mech.rest(), "v0": {"shaft": START}}


Point = tuple[float, float]
"""Processor seconds, error."""


def timed(mech: Mechanism, channel: str, reference: float, **options: Any) -> Point:
    """A second of motion, and how wrong a channel is at its end."""
    best, error = math.inf, math.nan
    for _ in range(REPEATS):
        run = simulate(mech, DURATION, output=DURATION, **options)
        best = min(best, run.statistics.cpu)
        error = abs(run[channel][-1] - reference)
        if best > SLOWEST:
            break
    return best, error


def at(points: Sequence[Point], error: float) -> float:
    """Seconds at an error, log–log between the runs; NaN beyond them."""
    seconds, errors = np.log([[s, max(e, 1e-16)] for s, e in points]).T
    order = np.argsort(errors)
    if not errors[order[0]] <= math.log(error) <= errors[order[-1]]:
        return math.nan
    return float(np.exp(np.interp(math.log(error), errors[order], seconds[order])))


def least(points: Sequence[Point], error: float) -> float:
    """Seconds of the quickest run that is no more wrong: where errors do not fall evenly with the tolerance."""
    return min((seconds for seconds, found in points if found <= error), default=math.nan)


def row(cells: Sequence[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def speed(seconds: float) -> str:
    """Milliseconds for a second of motion, and times real time."""
    return "–" if math.isnan(seconds) else f"{1e3 * seconds:.3g} ms ({DURATION / seconds:.0f} ×)"


def without_gas() -> list[str]:
    """Closed forms beside iteration."""
    mech = Mechanism(engine())
    options = {"method": "rk54", **start(mech)}
    sharp = simulate(mech, DURATION, rtol=1e-13, atol=1e-13, output=DURATION, closed_forms=False, **options)
    angle = float(sharp["shaft.q"][-1])
    points = {
        closed_forms: [
            timed(mech, "shaft.q", angle, rtol=10.0**-k, atol=10.0**-k, closed_forms=closed_forms, **options)
            for k in range(4, 10)
        ]
        for closed_forms in (True, False)
    }
    lines = ["Without gas, started at 10 rad/s, rk54; multiples of real time in brackets:", ""]
    lines += [row(["error of the angle", "closed forms", "iteration", "ratio"]), "| --- | ---: | ---: | ---: |"]
    for level in LEVELS:
        own, other = (at(points[closed_forms], level) for closed_forms in (True, False))
        lines.append(row([f"{level:g} rad", speed(own), speed(other), f"{other / own:.1f}"]))
    return lines


def with_gas() -> list[str]:
    """Every method on the example that runs up to 560 rad/s, its default tolerance last."""
    model = load(next(example.path for example in examples() if example.name == "engine_v6"))
    mech = Mechanism(model)
    sharp = simulate(mech, DURATION, method="rk54", rtol=1e-12, atol=1e-12, output=DURATION)
    end = float(sharp["shaft.v"][-1])
    lines = [
        "",
        f"With gas, from 10 to {end:.0f} rad/s, {sharp['shaft.q'][-1] / math.pi * 6:.0f} dead centres passed:",
        "",
        row(["method", "rtol", "error of the speed, relative", "time", "steps", "rejected"]),
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    found: dict[tuple[str, bool], list[Point]] = {}
    for method in GAS_METHODS:
        for k in range(3, 9 if method in ("rk54", "rk853", "adams") else 7):
            options = {"method": method, "rtol": 10.0**-k, "atol": 10.0**-k}
            point = timed(mech, "shaft.v", end, **options)
            found.setdefault((method, True), []).append((point[0], point[1] / end))
            statistics = simulate(mech, DURATION, output=DURATION, **options).statistics
            lines.append(
                row(
                    [
                        method,
                        f"1e-{k}",
                        f"{point[1] / end:.1e}",
                        speed(point[0]),
                        str(statistics.steps),
                        str(statistics.rejected),
                    ]
                )
            )
    found["rk54", False] = [
        (s, e / end)
        for s, e in (
            timed(mech, "shaft.v", end, method="rk54", rtol=10.0**-k, atol=10.0**-k, closed_forms=False)
            for k in range(3, 9)
        )
    ]
    lines += [
        "",
        row(["relative error of the speed", "closed forms, rk54", "iteration, rk54", "ratio"]),
        "| --- | ---: | ---: | ---: |",
    ]
    for level in GAS_LEVELS:
        own, other = (least(found["rk54", closed_forms], level) for closed_forms in (True, False))
        lines.append(
            row([f"{level:g}", speed(own), speed(other), "–" if math.isnan(other / own) else f"{other / own:.1f}"])
        )
    return lines


def main() -> None:
    """Measure, print, write when asked."""
    tell("V6 engine", "engine", [*without_gas(), *with_gas()])


if __name__ == "__main__":
    main()
