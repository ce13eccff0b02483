"""`python -m benchmarks.symbolic`: robots in symbols, beside sympy.physics.mechanics and the Robotics Toolbox.

Times are the least of several repeats in one process; operations are additions and multiplications of what comes out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import once
from core.files import load
from core.model import DHChain, DHRow, Gravity, Inertia, Model, Parameter, World
from core.symbolic import Robot, robot
from core.symbolic.export import Cost
from core.symbolic.recursion_code import recursion
from resources import examples

LINKS = 3
"""Links of the arm that the other programs derive."""


def planar_arm(n: int) -> Model:
    """n revolute joints in a plane, all lengths, masses and inertias symbols."""
    names = [f"{stem}{i}" for stem in ("a", "m", "I") for i in range(1, n + 1)] + ["g"]
    rows = tuple(DHRow(a=f"a{i}", mass=f"m{i}", center_of_mass=(f"-a{i}/2", 0, 0), inertia=Inertia(izz=f"I{i}"))
                 for i in range(1, n + 1))  # fmt: skip
    return Model(
        name=f"{n}R arm", parameters=tuple(Parameter(name=name, value=1.0) for name in names),
        world=World(gravity=Gravity(acceleration=(0.0, "-g", 0.0))), chains=(DHChain(name="arm", rows=rows),),
    )  # fmt: skip


def ours(model: Model, symbols: str | None) -> tuple[float, float, Robot]:
    """Seconds of the raw results (exact polynomials), of written forms, and the robot."""
    last: list[Robot] = []

    def raw() -> None:
        last[:] = [robot(model, symbols=symbols)]
        for what in ("M", "C", "G"):
            last[0].exact(what)

    def written() -> None:
        for what in ("M", "C", "G"):
            last[0].form(what)

    first, second = [], []
    for _ in range(3):
        first.append(once(raw))
        second.append(once(written))
    return min(first), min(second), last[0]


def by_sympy(n: int) -> float:
    """Seconds of Lagrange's equations in sympy.physics.mechanics, brought into short form by trigsimp."""
    import sympy
    from sympy.physics.mechanics import LagrangesMethod, Lagrangian, Point, ReferenceFrame, RigidBody, dynamicsymbols
    from sympy.physics.mechanics import inertia as dyadic

    def derive() -> None:
        g = sympy.Symbol("g")
        q = dynamicsymbols(f"q1:{n + 1}")
        N, O = ReferenceFrame("N"), Point("O")
        O.set_vel(N, 0)
        bodies, frame, origin = [], N, O
        for i, angle in enumerate(q, 1):
            a, m, izz = sympy.symbols(f"a{i} m{i} I{i}")
            frame = frame.orientnew(f"B{i}", "Axis", [angle, N.z])
            middle, end = origin.locatenew(f"C{i}", a / 2 * frame.x), origin.locatenew(f"P{i}", a * frame.x)
            middle.v2pt_theory(origin, N, frame)
            end.v2pt_theory(origin, N, frame)
            body = RigidBody(f"L{i}", middle, frame, m, (dyadic(frame, 0, 0, izz), middle))
            body.potential_energy = m * g * middle.pos_from(O).dot(N.y)
            bodies.append(body)
            origin = end
        method = LagrangesMethod(Lagrangian(N, *bodies), q)
        method.form_lagranges_equations()
        method.mass_matrix.applyfunc(lambda x: sympy.trigsimp(sympy.expand(x)))
        method.forcing.applyfunc(lambda x: sympy.trigsimp(sympy.expand(x)))

    return once(derive)


def by_toolbox(n: int) -> float | None:
    """Seconds of the Robotics Toolbox's symbolic recursive Newton–Euler; None if it is not there or fails."""
    try:
        import roboticstoolbox as rtb
        import sympy

        links = []
        for i in range(1, n + 1):
            a, m, izz = sympy.symbols(f"a{i} m{i} I{i}")
            links.append(rtb.RevoluteDH(a=a, m=m, r=[-a / 2, 0, 0], I=[0, 0, izz, 0, 0, 0]))
        arm = rtb.DHRobot(links, gravity=[0, sympy.symbols("g"), 0])
        q, v, a = (sympy.symbols(f"{s}1:{n + 1}") for s in ("q", "v", "a"))
        return once(lambda: arm.rne_python(np.array(q), np.array(v), np.array(a)))
    except Exception as error:  # an optional peer: whatever goes wrong there is its own
        print(f"(Robotics Toolbox: {type(error).__name__}: {error})", file=sys.stderr)
        return None


def report(title: str, model: Model, symbols: str | None) -> None:
    """One line of the table."""
    raw, written, r = ours(model, symbols)
    costs = {what: Cost(form for row in r.form(what) for form in row) for what in ("M", "C", "G")}
    operations = sum(cost.written for cost in costs.values())
    shared = sum(cost.shared for cost in costs.values())
    recursive = recursion(r, "tau").operations
    print(f"{title:34s} {len(r.values):3d} symbols  raw {1e3 * raw:7.1f} ms  written {1e3 * written:7.1f} ms  "
          f"M, C, G: {operations} operations, {shared} shared; recursion of τ: {recursive}")  # fmt: skip


def main() -> None:
    """Measure and print."""
    table: dict[str, Any] = {Path(entry.path).stem: entry.path for entry in examples()}
    arm = planar_arm(LINKS)
    report(arm.name, arm, None)
    report("Stanford arm, numbers of its file", load(table["stanford"]), None)
    report("Stanford arm, all symbols", load(table["stanford"]), "all")
    report("PUMA 560, numbers of its file", load(table["puma560"]), None)
    report("PUMA 560, all symbols", load(table["puma560"]), "all")
    raw, written, _ = ours(arm, None)
    mine = raw + written
    peer = by_sympy(LINKS)
    print(f"{LINKS}R arm: {1e3 * mine:.1f} ms; sympy.physics.mechanics {peer:.2f} s, {peer / mine:.0f} times")
    toolbox = by_toolbox(LINKS)
    if toolbox is not None:
        print(f"{LINKS}R arm: Robotics Toolbox, symbolic Newton–Euler {toolbox:.2f} s, {toolbox / mine:.0f} times")


if __name__ == "__main__":
    main()
