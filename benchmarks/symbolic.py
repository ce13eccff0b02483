"""`python -m benchmarks.symbolic [--write]`: robots in symbols, beside sympy.physics.mechanics and Robotics Toolbox.

Times are processor seconds (the least of several repeats) in one process, so that other work on the machine counts
little; operations are additions and multiplications of what comes out. `--write` puts the section into the figures.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.document import put
from core.files import load
from core.model import DHChain, DHRow, Gravity, Inertia, Model, Parameter, World
from core.symbolic import Robot, robot
from core.symbolic.export import OperationCount
from core.symbolic.forms import count_operations, make_sum
from core.symbolic.recursion_code import build_recursion
from core.symbolic.terms import collect_terms, write_products
from resources import examples

LINKS = 3
"""Links of the arm that the other programs derive."""


NEWTON_EULER = 1590
"""Operations of Newton and Euler by hand for six revolute joints (Luh, Walker, Paul 1980: 852 multiplications, 738
additions)."""


def once(call: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def planar_arm(n: int) -> Model:
    """n revolute joints in a plane, all lengths, masses and inertias symbols."""
    names = [f"{stem}{i}" for stem in ("a", "m", "I") for i in range(1, n + 1)] + ["g"]
    rows = tuple(
        DHRow(a=f"a{i}", mass=f"m{i}", center_of_mass=(f"-a{i}/2", 0, 0), inertia=Inertia(izz=f"I{i}"))
        for i in range(1, n + 1)
    )
    return Model(
        name=f"{n}R arm",
        parameters=tuple(Parameter(name=name, value=1.0) for name in names),
        world=World(gravity=Gravity(acceleration=(0.0, "-g", 0.0))),
        chains=(DHChain(name="arm", rows=rows),),
    )


def ours(model: Model, symbols: str | None) -> tuple[float, float, Robot]:
    """Seconds of the raw results (exact polynomials), of written forms, and the robot."""
    last: list[Robot] = []

    def raw() -> None:
        last[:] = [robot(model, symbols=symbols)]
        for what in ("M", "C", "G"):
            last[0].exact_entries(what)

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


class Row(NamedTuple):
    """A robot: seconds of raw results and of written forms; operations of M, C, G as expanded terms, as written and
    with common parts named; operations of τ by recursion."""

    title: str
    symbols: int
    raw: float
    written: float
    terms: int
    operations: int
    shared: int
    recursive: int


def row(title: str, model: Model, symbols: str | None) -> Row:
    """Measure a robot."""
    raw, written, r = ours(model, symbols)
    whole = [x for what in ("M", "C", "G") for entries in r.exact_entries(what) for x in entries]
    terms = sum(count_operations(make_sum(write_products(collect_terms(x, r.parallel_angle_groups)))) for x in whole)
    cost = OperationCount(form for what in ("M", "C", "G") for entries in r.form(what) for form in entries)
    found = Row(
        title, len(r.values), raw, written, terms, cost.written, cost.shared, build_recursion(r, "tau").operation_count
    )
    print(found, file=sys.stderr, flush=True)
    return found


SECTION = """## Symbols

Made by `python -m benchmarks.symbolic --write`; processor time in one process. *Raw*: M, C, G as exact polynomials;
*written*: in short form. Operations of M, C and G together: fully expanded, as written, and with common
subexpressions computed once; then those of τ by recursion.

| robot | symbols | raw | written | terms | as written | common parts once | τ by recursion |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}

{peers}

Goals: PUMA with all symbols raw within 0.2 s, written within 60 s, Stanford arm within 10 s; as written at most half
of the terms; code of τ with at most as many operations as a hand-written Newton–Euler recursion ({by_hand}); a 3R arm
100 times as fast as `sympy.physics.mechanics`.
"""


def section(rows: list[Row], peers: list[str]) -> str:
    """The section of the figures."""
    lines = []
    for r in rows:
        counts = " | ".join(f"{n:,}".replace(",", " ") for n in (r.terms, r.operations, r.shared, r.recursive))
        lines.append(f"| {r.title} | {r.symbols} | {1e3 * r.raw:.0f} ms | {r.written:.2g} s | {counts} |")
    return SECTION.format(rows="\n".join(lines), peers="\n".join(peers), by_hand=NEWTON_EULER)


def main() -> None:
    """Measure and print; write when asked."""
    table: dict[str, Any] = {Path(entry.path).stem: entry.path for entry in examples()}
    arm = planar_arm(LINKS)
    rows = [row(arm.name, arm, None)]
    for title, name in (("Stanford arm", "stanford"), ("PUMA 560", "puma560"), ("Panda", "panda")):
        rows.append(row(f"{title}, numbers of its file", load(table[name]), None))
        if name != "panda":
            rows.append(row(f"{title}, all symbols", load(table[name]), "all"))
    mine = rows[0].raw + rows[0].written
    peer = by_sympy(LINKS)
    peers = [
        f"M, C and G of the {LINKS}R arm take {1e3 * mine:.0f} ms; `sympy.physics.mechanics` with `trigsimp` "
        f"{peer:.1f} s ({peer / mine:.0f} times as long)."
    ]
    toolbox = by_toolbox(LINKS)
    if toolbox is not None:
        peers.append(
            f"The Robotics Toolbox's Newton–Euler over sympy, not simplified, {toolbox:.2f} s "
            f"({toolbox / mine:.0f} times as long)."
        )
    text = section(rows, peers)
    print(text)
    if "--write" in sys.argv:
        put(text)


if __name__ == "__main__":
    main()
