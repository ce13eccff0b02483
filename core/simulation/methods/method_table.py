"""The methods, a row each: menus, command line and runs read them. (Light: no code of a method is loaded.)"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """An integrator as a person chooses it."""

    id: str
    title: str
    order: int
    adaptive: bool
    help: str
    implicit: bool = False
    module: str = "runge_kutta"
    """The file here whose `begin` says what it needs."""
    stability: float = 0.0
    """h |λ| up to which steps of damped motion stay bounded, as stiffness is told by; 0: it is not told."""
    begins_with: str = ""
    """The method that it is until a machine proves stiff; empty: itself, whatever the machine is."""


AUTOMATIC, STIFF = "auto", "radau"
"""The method unless a person chooses one; the one that it changes to where the machine proves stiff."""
RTOL, ATOL = 1e-8, 1e-9
"""Tolerances unless a person chooses others, for whoever starts a run."""

METHODS: dict[str, Method] = {
    method.id: method
    for method in (
        Method(
            AUTOMATIC,
            "Automatic",
            5,
            True,
            "Runge–Kutta 5(4), and Radau from the moment on at which a machine proves stiff; the run says when.",
            stability=3.25,
            begins_with="rk54",
        ),
        Method(
            "rk54",
            "Runge–Kutta 5(4), Dormand–Prince",
            5,
            True,
            "For machines that are not stiff.",
            stability=3.25,
        ),
        Method(
            "rk853",
            "Runge–Kutta 8(5,3), Dormand–Prince",
            8,
            True,
            "For tight tolerances and long runs.",
            stability=6.1,
        ),
        Method(
            "rk32",
            "Runge–Kutta 3(2), Bogacki–Shampine",
            3,
            True,
            "For loose tolerances and rough forces.",
        ),
        Method(
            STIFF,
            "Radau IIA 5, 9, 13, implicit",
            13,
            True,
            "For stiff machines: hard springs, strong dampers. The order follows the motion.",
            True,
            "radau",
        ),
        Method("radau5", "Radau IIA 5, implicit", 5, True, "For stiff machines whose forces are rough.", True, "radau"),
        Method(
            "adams",
            "Adams, order 1 to 12",
            12,
            True,
            "Few evaluations in smooth motion, for costly machines.",
            module="adams",
        ),
        Method("rk4", "Runge–Kutta 4, fixed step", 4, False, "Fixed cost per step, over jumps of forces, too."),
        Method(
            "semi_implicit_euler",
            "Semi-implicit Euler, fixed step",
            1,
            False,
            "Keeps energy bounded.",
            module="semi_implicit_euler",
        ),
        Method("euler", "Explicit Euler, fixed step", 1, False, "For comparison."),
    )
}
RECORDED = Method("recorded", "Recorded signal", 0, False, "Read from a file; nothing was integrated.")
"""What runs that were read from traces name as their method."""
