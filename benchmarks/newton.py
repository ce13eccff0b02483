"""Questions that Newton's method answers, whole calls from Python: `python -m benchmarks.newton [QUESTION …]`.

Processor time in ms, the least of several repeats, after a first call with the machine's traces and machine code, which
is printed, too (wall-clock time). Peer for inverse kinematics: the Robotics Toolbox for Python's `ik_LM`, where it is
installed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import once, together
from core.analysis.branches import find_branches
from core.analysis.inverse_kinematics import move_frame_to_target, solve_inverse_kinematics
from core.analysis.linearisation import linearise
from core.files import load
from core.mechanism import Mechanism
from core.studies.workspace.mapping import workspace
from resources import EXAMPLES

Call = Callable[[], Any]
TURN = 0.2
"""Angle, rad, by which every joint is away from the target."""


def open_machine(name: str) -> Mechanism:
    """Open an example."""
    return Mechanism(load(EXAMPLES / f"{name}.kst"))


def inverse_kinematics() -> Iterator[tuple[str, Mechanism, Call]]:
    """Numeric inverse kinematics from one start, and from 20 more."""
    for name in ("ur5", "puma560", "panda"):
        mech = open_machine(name)
        q = mech.rest()
        target = np.array(mech.frame(mech.integrate(q, np.full(mech.nv, TURN), 1.0), "tool"))
        yield f"{name}: frame to target", mech, partial(move_frame_to_target, mech, q, "tool", target)
        for restarts in (0, 20):
            call = partial(solve_inverse_kinematics, mech, q, "tool", target, restarts=restarts)
            yield f"{name}: inverse kinematics, {1 + restarts} starts", mech, call
        if name == "ur5" and (peer := _peer(q, target)) is not None:
            yield f"{name}: Robotics Toolbox, ik_LM", mech, peer


def _peer(q: Any, target: Any) -> Call | None:
    try:
        import roboticstoolbox  # type: ignore[import-not-found]
    except ImportError:
        return None
    robot = roboticstoolbox.models.DH.UR5()
    return partial(robot.ets().ik_LM, robot.fkine(q + TURN).A, q0=q)


def branches() -> Iterator[tuple[str, Mechanism, Call]]:
    """Assembly branches."""
    for name in ("four_bar", "jansen_leg", "stewart"):
        mech = open_machine(name)
        yield f"{name}: branches", mech, partial(find_branches, mech)


def assembly() -> Iterator[tuple[str, Mechanism, Call]]:
    """Assembly from a displaced position, and mobility."""
    for name in ("four_bar", "stewart", "engine_v6"):
        mech = open_machine(name)
        away = mech.clamp(mech.integrate(mech.rest(), np.full(mech.nv, 0.5 * TURN), 1.0))
        yield f"{name}: assembly", mech, partial(mech.assemble, away)
        yield f"{name}: mobility", mech, partial(mech.mobility, mech.rest())


def workspaces() -> Iterator[tuple[str, Mechanism, Call]]:
    """Workspace of a platform."""
    mech = open_machine("stewart")
    yield "stewart: workspace, 2000 poses", mech, partial(workspace, mech, "platform", samples=2000)


def linearisation() -> Iterator[tuple[str, Mechanism, Call]]:
    """Linearisation about the position of rest."""
    mech = open_machine("panda")
    yield "panda: linearisation", mech, partial(linearise, mech, mech.rest())


QUESTIONS: dict[str, Callable[[], Iterator[tuple[str, Mechanism, Call]]]] = {
    "inverse_kinematics": inverse_kinematics,
    "branches": branches,
    "assembly": assembly,
    "workspaces": workspaces,
    "linearisation": linearisation,
}


def measure(question: str) -> None:
    """Print the times of one question."""
    for name, mech, call in QUESTIONS[question]():
        first = once(call)
        mech.compile()
        print(f"{name:44s} first {1e3 * first:9.3g}   then {1e3 * together({name: call})[name].least:9.3g}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for each in sys.argv[1:] or QUESTIONS:
        measure(each)
