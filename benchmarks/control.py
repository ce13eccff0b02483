"""Derivatives, gradients, linear systems and operating points against what they may cost: python -m benchmarks.control.

Processor time, the least of several; on a busy machine that is up to a third more than on a calm one. Machine code is
made before. Pinocchio stands beside it where it is installed, called from Python (its call takes about 0.5 µs).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kinetostat as ks
from benchmarks.measure import together
from resources import EXAMPLES

STATES = 1000


def _machine(name: str) -> ks.Mechanism:
    return ks.Mechanism(ks.load(str(EXAMPLES / f"{name}.kst")))


def _seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    return together({"it": call}, repeats)["it"].least


def derivatives() -> Iterator[str]:
    """∂a/∂q and ∂a/∂v of an arm, at many states."""
    mech = _machine("ur5")
    random = np.random.default_rng(1)
    q, v, tau = random.normal(size=(3, STATES, mech.nv))
    mech.compiled.program.evaluator("motion_slopes", mech.parameter_values(None))
    mech.compiled.program.wait(["motion_slopes"])

    def both() -> None:
        found = mech.derivatives(q, v, tau)
        _ = found.a_q, found.a_v

    each = _seconds(both) / STATES
    yield f"1  ∂a/∂(q, v) of the UR5, {STATES} states: {1e6 * each:.2f} µs each (goal 1.0)"
    try:
        import pinocchio as pin
    except ImportError:
        yield "1  Pinocchio is not installed: no comparison"
        return
    from benchmarks.machines import ARMS, robots

    folder = robots()
    if folder is None:
        yield "1  the arm's file is not installed (pip install example-robot-data): no comparison"
        return
    model = pin.buildModelFromUrdf(str(folder / ARMS["UR5, 6 joints"]))
    data = model.createData()
    theirs = _seconds(lambda: pin.computeABADerivatives(model, data, q[0], v[0], tau[0]))
    yield f"1  Pinocchio's computeABADerivatives from Python: {1e6 * theirs:.2f} µs"


def gradients() -> Iterator[str]:
    """∂ of a scalar of a run of 1 s by 6 and by 60 numbers."""
    model = ks.load(str(EXAMPLES / "ur5.kst"))
    model = dataclasses.replace(model, world=dataclasses.replace(model.world, limits="ideal"))
    mech = ks.Mechanism(model)
    begin = dict.fromkeys(mech.v_names, 0.2)
    options: dict[str, Any] = {"duration": 1.0, "step": 1e-3, "v0": begin}
    names = [*(f"{name}.v" for name in mech.v_names), *(f"{name}.q" for name in mech.v_names)]
    objective = f"rms({mech.v_names[-1]}.q)"
    run = _seconds(lambda: ks.simulate(mech, method="rk4", **options), 3)
    for count, method, goal in ((6, "forward", 10), (len(names), "adjoint", 6)):
        by = names[:count]
        ks.gradient(mech, objective, by=by, method=method, integrator="rk4", **options)
        taken = _seconds(
            lambda by=by, method=method: ks.gradient(  # type: ignore[misc]
                mech, objective, by=by, method=method, integrator="rk4", **options
            ),
            3,
        )
        yield f"2  gradient by {count} numbers, {method}: {taken / run:.1f} runs of {1e3 * run:.1f} ms (goal {goal})"


def linear_systems() -> Iterator[str]:
    """Along a run of an arm; single ones of loops."""
    mech = _machine("ur5")
    run = ks.simulate(mech, 1.0, method="rk4", step=1e-3, output=1e-3, v0=dict.fromkeys(mech.v_names, 0.3))
    times = np.linspace(0.001, 0.999, STATES)
    inputs, outputs = [f"{name}.tau" for name in mech.v_names], [f"{mech.frame_names[-1]}.position"]

    def along() -> None:
        ks.linearise(run, times, inputs=inputs, outputs=outputs)

    along()
    _settled()
    yield f"3  {STATES} linear systems along a run of the UR5: {1e3 * _seconds(along):.0f} ms (goal 50)"
    for name in ("four_bar", "stewart", "macpherson", "ur5"):
        one = _machine(name)
        ks.linearise(one, inputs=[f"{one.v_names[0]}.tau"])
        _settled()
        taken = _seconds(lambda one=one: ks.linearise(one, inputs=[f"{one.v_names[0]}.tau"]), 3)  # type: ignore[misc]
        yield f"3  linearise {name}, one input: {1e3 * taken:.2f} ms"


def _settled() -> None:
    """Wait for machine code that is made in the background."""
    import time

    from core.codegen import background

    while background.busy():
        time.sleep(0.01)


def operating_points() -> Iterator[str]:
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
    yield f"4  Stewart platform trimmed in {found.iterations} steps, {1e3 * taken:.0f} ms (goals 8, 50)"
    cart = ks.OperatingPoint(_machine("double_pendulum"))
    for name in cart.mech.v_names:
        cart[f"{name}.q"].fixed(0.5)
    said = cart.solve().message
    yield f"4  what cannot be met is named in {1e3 * _seconds(cart.solve, 3):.0f} ms (goal 200): {said}"


def main() -> None:
    """All of it."""
    for part in (derivatives, gradients, linear_systems, operating_points):
        for line in part():
            print(line, flush=True)


if __name__ == "__main__":
    main()
