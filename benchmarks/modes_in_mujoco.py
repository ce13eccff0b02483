"""The machines of `benchmarks.mode_problems` in MuJoCo: dry friction is its `frictionloss`, of one level for rest and
motion; a stop is a limit, soft by design, with the stiffness and damping for each unit of inertia that are asked for,
or such that it gives back its restitution. All as hard as they can be at a step."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Result, least
from benchmarks.mode_problems import HEAVY, LENGTH, LONGEST, STEPS, Problem, Sample, error_of
from core.constraints.joint_modes import damping_ratio_from_restitution

HARD = "0.9999 0.9999 0.001 0.5 2"
"""Impedance of constraints."""
INTEGRATORS = ("Euler", "implicitfast", "RK4")
STOPS = (1e5, 1e6, 1e7, 1e8)
"""1/s²: stiffness for each unit of inertia of stops that shall be rigid."""


class Text:
    """A machine in MJCF."""

    def __init__(self, problem: Problem, step: float, stop: float) -> None:
        self.p, self.stop = problem.p, stop
        self.friction = f'solreffriction="{2.0 * step} 1" solimpfriction="{HARD}"'
        self.bodies: list[str] = []
        self.tendons: list[str] = []
        getattr(self, problem.case)()

    def whole(self, step: float, integrator: str) -> str:
        """All of it."""
        return (
            f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" integrator="{integrator}" '
            'gravity="0 0 -9.81" solver="Newton" tolerance="1e-12" iterations="50"><flag contact="disable"/></option>'
            f"<worldbody>{''.join(self.bodies)}</worldbody><tendon>{''.join(self.tendons)}</tendon></mujoco>"
        )

    def _body(self, joint: str, mass: float, inertia: float = 1.0, height: float = 0.0) -> None:
        own = f'<inertial pos="0 0 {height}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
        self.bodies.append(f"<body>{own}<joint {joint}/></body>")

    def _slide(self, name: str, mass: float, more: str = "") -> None:
        self._body(f'name="{name}" type="slide" axis="1 0 0" {more}', mass)

    def _rubbing(self, level: float) -> str:
        return f'frictionloss="{level}" {self.friction}'

    def _couple(self, one: str, other: str, what: str) -> None:
        ends = f'<joint joint="{one}" coef="1"/><joint joint="{other}" coef="-1"/>'
        self.tendons.append(f"<fixed {what}>{ends}</fixed>")

    def _spring(self, one: str, other: str, stiffness: float) -> None:
        self._couple(one, other, f'stiffness="{stiffness}" springlength="0 0"')

    def spring(self) -> None:
        """A block on a spring."""
        p = self.p
        self._slide("x1", p["mass"], f'stiffness="{p["stiffness"]}" {self._rubbing(p["kinetic_friction"])}')

    def blocks(self) -> None:
        """Two blocks on a driver."""
        p = self.p
        for i in (0, 1):
            self._slide(f"x{i}", p["mass"][i], self._rubbing(p["kinetic_friction"][i]))
        self._slide("driver", HEAVY)
        for i in (0, 1):
            self._spring(f"x{i}", "driver", p["k_driver"][i])
        self._spring("x0", "x1", p["k_coupling"])

    def belt(self) -> None:
        """A block on a belt."""
        p = self.p
        self._slide("x1", p["m"], self._rubbing(p["mu_kinetic"] * p["normal_force"]))
        self._slide("driver", HEAVY)
        self._spring("x1", "driver", p["k"])

    def slider(self) -> None:
        """A block at a stop."""
        p = self.p
        law = f"{-p['k_stop'] / p['mass']} {-p['d_stop'] / p['mass']}"
        limit = f'limited="true" range="-10 {p["x_stop"]}" solreflimit="{law}" solimplimit="{HARD}"'
        self._slide("x1", p["mass"], limit)

    def pendulum(self) -> None:
        """An arm at a stop."""
        p = self.p
        law = f"{-self.stop} {-2.0 * damping_ratio_from_restitution(p['restitution']) * math.sqrt(self.stop)}"
        limit = f'limited="true" range="0 3" solreflimit="{law}" solimplimit="{HARD}"'
        mass = p["mass_times_l_com"] / LENGTH
        self._body(f'type="hinge" axis="0 1 0" {limit}', mass, p["J"] - mass * LENGTH**2, -LENGTH)

    def clutch(self) -> None:
        """Two rotors."""
        for i in (1, 2):
            self._body(f'name="r{i}" type="hinge" axis="1 0 0"', 1.0, self.p[f"J{i}"])
        self._couple("r1", "r2", self._rubbing(self.p["friction"]))


def runs(problem: Problem) -> Iterator[Sample]:
    """Of integrators and steps; rigid stops of several stiffnesses."""
    for integrator in INTEGRATORS:
        for stop in STOPS if problem.case == "pendulum" else (0.0,):
            for step in STEPS:
                found = run(problem, integrator, step, stop)
                setting = f"{integrator}, {step:g} s" + (f", stop {stop:g}/s²" if stop else "")
                yield Sample(f"{integrator} {stop}", setting, *found)
                if found[0] > LONGEST:
                    break


def run(problem: Problem, integrator: str, step: float, stop: float) -> Result:
    """(processor seconds, error)."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _text: None)  # what diverges is told by its error
    count = math.ceil(problem.duration / step)
    step = problem.duration / count
    model: Any = mujoco.MjModel.from_xml_string(Text(problem, step, stop).whole(step, integrator))
    data: Any = mujoco.MjData(model)
    n = len(problem.q0)

    def work() -> Result:
        mujoco.mj_resetData(model, data)
        data.qpos[:n], data.qvel[:n], data.qvel[n:] = problem.q0, problem.v0, problem.puller
        if isinstance(problem.torque, list):
            data.qfrc_applied[:n] = problem.torque
        began = time.process_time()
        mujoco.mj_step(model, data, count)
        used = time.process_time() - began
        return used, error_of(problem, data.qpos[:n], data.qvel[:n])

    return least(work)
