"""`python -m benchmarks.control [--write]`: derivatives, gradients, linear systems and operating points, and what they
may cost.

Processor time, the least of several; on a busy machine that is up to a third more than on a calm one. Machine code is
made before, but for the first gradient, whose code is made within it. Pinocchio stands beside it where it is installed,
called from C++ where a compiler is there, and from Python (its call takes about 0.5 µs).
"""

from __future__ import annotations

import os

os.environ["KINETOSTAT_CACHE"] = ""  # what is compiled is compiled here
os.environ["KINETOSTAT_THREADS"] = "1"  # threads of one core take longer than one after the other

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinetostat as ks
from benchmarks.document import tell
from benchmarks.machines import machines
from benchmarks.measure import together
from benchmarks.native_pinocchio import native
from benchmarks.peers import Pinocchio
from core.codegen import background
from resources import EXAMPLES

STATES = 1000
MOVING = 0.2
"""rad/s, of every joint of an arm at the start of its runs."""
PAGE = Path(__file__).parents[1] / "docs" / "control.md"
INERTIAS = ("ixx", "iyy", "izz")


class Row(NamedTuple):
    """A line of the table."""

    what: str
    took: str
    goal: str = ""

    def __str__(self) -> str:
        return f"| {self.what} | {self.took} | {self.goal} |"


def _machine(name: str) -> ks.Mechanism:
    return ks.Mechanism(ks.load(str(EXAMPLES / f"{name}.kst")))


def _seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    return together({"it": call}, repeats)["it"].least


def derivatives() -> Iterator[Row]:
    """∂a/∂q and ∂a/∂v of an arm, at many states and at one, beside Pinocchio's."""
    theirs = _pinocchio()
    mech = _machine("ur5") if theirs is None else ks.Mechanism(theirs.machine.model)
    random = np.random.default_rng(1)
    q, v, tau = random.normal(size=(3, STATES, mech.nv))
    mech.compile("motion_slopes")

    def both(*states: Any) -> Callable[[], None]:
        def call() -> None:
            found = mech.derivatives(*states)
            _ = found.a_q, found.a_v

        return call

    calls = {"many": both(q, v, tau), "one": both(q[0], v[0], tau[0])}
    if theirs is not None:
        calls["Python"] = partial(theirs.call("derivatives"), q[0], v[0], tau[0])
    with native([theirs], (q, v, tau)) as loops:
        if loops is not None:
            expected = mech.derivatives(q[0], v[0], tau[0])
            np.testing.assert_allclose(
                loops.values("derivatives"), np.hstack([expected.a_q, expected.a_v]).ravel(), rtol=1e-9, atol=1e-9
            )
            calls["C++"] = loops.call("derivatives")
        times = {name: each.least for name, each in together(calls, 9).items()}
    own = times["many"] / STATES
    yield Row(f"∂a/∂(q, v) of the UR5, each of {STATES} states at once", f"{1e6 * own:.2f} µs", "1.0")
    for language, count, place in (
        ("C++", STATES, "compiled for this processor, a loop over the states"),
        ("Python", 1, ""),
    ):
        if language in times:
            each = times[language] / count
            what = f"Pinocchio's `computeABADerivatives`, called from {language}"
            took = f"{1e6 * each:.1f} µs, {each / own:.1f} times that"
            yield Row(", ".join(filter(None, (what, place))), took, "3 times" if language == "C++" else "")
    yield Row("the same of a single state, with the call from Python", f"{1e6 * times['one']:.0f} µs")


def _pinocchio() -> Pinocchio | None:
    """The same arm, where they and its file are installed."""
    arm = next((machine for machine in machines(()) if machine.title.startswith("UR5")), None)
    try:
        return None if arm is None else Pinocchio(arm)
    except ImportError:
        return None


def with_parameters(model: ks.Model) -> ks.Model:
    """An arm whose masses, centres of mass, moments of inertia and dampings of joints are parameters: eight a link."""
    model = model.expanded
    parameters, bodies, joints = list(model.parameters), [], []

    def named(name: str, value: Any) -> str:
        parameters.append(ks.Parameter(name=name, value=value))
        return name

    for body in model.bodies:
        if body.mass:
            x, y, z = (named(f"{body.name}_{axis}", x) for axis, x in zip("xyz", body.center_of_mass, strict=True))
            tensor = {name: named(f"{body.name}_{name}", getattr(body.inertia, name)) for name in INERTIAS}
            mass = named(f"{body.name}_m", body.mass)
            inertia = dataclasses.replace(body.inertia, **tensor)
            body = dataclasses.replace(body, mass=mass, center_of_mass=(x, y, z), inertia=inertia)
        bodies.append(body)
    for joint in model.joints:
        moves = joint.info.nv > 0
        joints.append(dataclasses.replace(joint, damping=named(f"{joint.name}_d", 0.1)) if moves else joint)
    return dataclasses.replace(model, parameters=tuple(parameters), bodies=tuple(bodies), joints=tuple(joints))


def gradients() -> Iterator[Row]:
    """∂ of a scalar of a run of 1 s by 6 and by 60 numbers."""
    model = ks.load(str(EXAMPLES / "ur5.kst"))
    model = dataclasses.replace(model, world=dataclasses.replace(model.world, limits="ideal"))
    few, many = ks.Mechanism(model), ks.Mechanism(with_parameters(model))
    options: dict[str, Any] = {"duration": 1.0, "step": 1e-3, "v0": dict.fromkeys(few.v_names, MOVING)}
    starts = [f"{name}.{what}" for what in "vq" for name in few.v_names]
    names = [*starts, *(name for name in many.p_names if name not in few.p_names)]
    objective = f"rms({few.v_names[-1]}.q)"

    def found(mech: ks.Mechanism, by: Sequence[str], method: Any) -> ks.Gradient:
        return ks.gradient(mech, objective, by=by, method=method, integrator="rk4", **options)

    for mech, by, method, goal in ((few, few.p_names, "forward", 10), (many, names, "adjoint", 6)):
        run = partial(ks.simulate, mech, method="rk4", **options)
        run()
        began = time.process_time()
        found(mech, by, method)
        first = time.process_time() - began
        calls: dict[str, Callable[[], Any]] = {"run": run, "gradient": partial(found, mech, by, method)}
        times = together(calls, 7)
        ratio = times["gradient"].least / times["run"].least
        yield Row(
            f"gradient of a run of 1 s, 1000 steps of the UR5, by {len(by)} numbers, {method}",
            f"{ratio:.1f} runs of {1e3 * times['run'].least:.1f} ms",
            f"{goal}",
        )
        yield Row("its first call, with the machine code that it needs", f"{first:.1f} s", "2")
    forward, adjoint = (found(many, names, method).gradient for method in ("forward", "adjoint"))
    apart = np.max(np.abs(forward - adjoint)) / np.max(np.abs(forward))
    yield Row(f"forward and adjoint of {len(names)} numbers differ by, part of the largest", f"{apart:.0e}", "1e-12")


def linear_systems() -> Iterator[Row]:
    """Along a run of an arm; single ones of loops."""
    mech = _machine("ur5")
    weight = dict(zip(mech.v_names, map(float, mech.gravity(mech.rest())), strict=True))
    moving = dict.fromkeys(mech.v_names, MOVING)
    run = ks.simulate(mech, 0.5, method="rk4", step=1e-3, output=1e-3, v0=moving, torque=weight)
    times = np.linspace(0.001, 0.499, STATES)
    inputs, outputs = [f"{name}.tau" for name in mech.v_names], [f"{mech.frame_names[-1]}.position"]

    def along() -> None:
        ks.linearise(run, times, inputs=inputs, outputs=outputs)

    along()
    _settled()
    yield Row(
        f"{STATES} linear systems along a run of the UR5 (six inputs, a position as output)",
        f"{1e3 * _seconds(along):.0f} ms",
        "50",
    )
    taken = []
    names = {"four_bar": "four-bar", "macpherson": "MacPherson strut", "ur5": "UR5", "stewart": "Stewart platform"}
    for name in names:
        one = _machine(name)
        ks.linearise(one, inputs=[f"{one.v_names[0]}.tau"])
        _settled()
        taken.append(
            _seconds(lambda one=one: ks.linearise(one, inputs=[f"{one.v_names[0]}.tau"]), 3)  # type: ignore[misc]
        )
    figures = ", ".join(f"{1e3 * each:.1f}" for each in taken)
    yield Row(f"one linear system, one input: {', '.join(names.values())}", f"{figures} ms")


def _settled() -> None:
    """Wait for machine code that is made in the background."""
    while background.is_busy():
        time.sleep(0.01)


def operating_points() -> Iterator[Row]:
    """A Stewart platform at another pose; what cannot be met."""
    mech = _machine("stewart")
    goal = mech.frame(mech.rest(), "platform")[:3, 3] + [0.05, -0.08, 0.06]

    def problem() -> ks.OperatingPoint:
        op = ks.OperatingPoint(mech)
        for i in range(1, 7):
            op[f"leg{i}.slide.tau"].free()
        for axis, value in zip("xyz", goal, strict=True):
            op[f"platform.position.{axis}"].fixed(float(value))
        for axis, value in {"qx": 0.05, "qy": 0.03, "qz": -0.1}.items():
            op[f"platform.orientation.{axis}"].fixed(value)
        return op

    op = problem()
    found = op.solve()
    _settled()
    taken = _seconds(op.solve, 3)
    yield Row("a Stewart platform trimmed at another pose", f"{found.iterations} steps, {1e3 * taken:.0f} ms", "8, 50")
    cart = ks.OperatingPoint(_machine("double_pendulum"))
    for name in cart.mech.v_names:
        cart[f"{name}.q"].fixed(0.5)
    assert not cart.solve().solved
    yield Row("what cannot be met is named", f"{1e3 * _seconds(cart.solve, 3):.0f} ms", "200")


def main() -> None:
    """All of it."""
    lines = ["Processor time, one thread, the least of several repeats, on cores that other programs use, too.", ""]
    lines += ["| what | took | goal |", "| --- | --- | --- |"]
    for part in (derivatives, gradients, linear_systems, operating_points):
        lines += map(str, part())
        print(lines[-1], flush=True)
    tell("What it costs", "control", lines, PAGE)


if __name__ == "__main__":
    main()
