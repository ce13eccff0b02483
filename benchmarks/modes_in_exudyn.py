"""The machines of `benchmarks.mode_problems` in Exudyn: its `CoordinateSpringDamperExt` sticks by a stiff spring, and
has stops that also pull until they are left (their restitution e has ζ = λ/√(π² + λ²), λ = −ln e)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Result, least
from benchmarks.mode_problems import HEAVY, LENGTH, LONGEST, STEPS, Problem, Sample, error_of
from benchmarks.solvers import exudyn_settings

STIFFNESSES = (1e4, 1e6, 1e8)
"""N/m or N·m/rad, of what sticks, and of stops that shall be rigid."""


class System:
    """Masses along coordinates; `nodes` are (node, coordinate) of each."""

    def __init__(self, exudyn: Any, problem: Problem, stiffness: float) -> None:
        import exudyn.itemInterface as item

        self.item, self.problem, self.p, self.stiffness = item, problem, problem.p, stiffness
        self.mbs = exudyn.SystemContainer().AddSystem()
        self.nodes: list[tuple[int, int]] = []
        self.ground = self._marker(self.mbs.AddNode(item.NodePointGround()))
        getattr(self, problem.case)()
        self.mbs.Assemble()

    def _marker(self, node: int, coordinate: int = 0) -> Any:
        return self.mbs.AddMarker(self.item.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))

    def _mass(self, inertia: float, q: float, v: float) -> Any:
        node = self.mbs.AddNode(self.item.Node1D(initialCoordinates=[q], initialVelocities=[v]))
        self.mbs.AddObject(self.item.ObjectMass1D(physicsMass=inertia, nodeNumber=node))
        self.nodes.append((node, 0))
        return self._marker(node)

    def _connect(self, one: Any, other: Any, **more: Any) -> None:
        if "stiffness" not in more or "dynamicFrictionForce" in more:
            data = self.item.NodeGenericData(initialCoordinates=[1.0, 0.0, 0.0], numberOfDataCoordinates=3)
            more["nodeNumber"] = self.mbs.AddNode(data)
        self.mbs.AddObject(self.item.ObjectConnectorCoordinateSpringDamperExt(markerNumbers=[one, other], **more))

    def _rubbing(self, kinetic: float, static: float, inertia: float) -> dict[str, float]:
        return {
            "dynamicFrictionForce": kinetic,
            "staticFrictionOffsetForce": static - kinetic,
            "stickingStiffness": self.stiffness,
            "stickingDamping": 2.0 * math.sqrt(self.stiffness * inertia),
            "exponentialDecayStatic": 1e-6,
            "frictionProportionalZone": 0.0,
        }

    def _limits(self, lower: float, upper: float, stiffness: float, damping: float) -> dict[str, float]:
        return {
            "limitStopsLower": lower,
            "limitStopsUpper": upper,
            "limitStopsStiffness": stiffness,
            "limitStopsDamping": damping,
            "useLimitStops": True,
        }

    def _push(self, marker: Any, force: float) -> None:
        self.mbs.AddLoad(self.item.LoadCoordinate(markerNumber=marker, load=force))

    def spring(self) -> None:
        """A block on a spring."""
        p = self.p
        one, level = self._mass(p["mass"], p["x0"], 0.0), p["kinetic_friction"]
        self._connect(self.ground, one, stiffness=p["stiffness"], **self._rubbing(level, level, p["mass"]))

    def blocks(self) -> None:
        """Two blocks on a driver."""
        p = self.p
        ends = [self._mass(p["mass"][i], p["x0"][i], 0.0) for i in (0, 1)]
        driver = self._mass(HEAVY, 0.0, self.problem.puller)
        for i, end in enumerate(ends):
            rubbing = self._rubbing(p["kinetic_friction"][i], p["static_limit"][i], p["mass"][i])
            self._connect(self.ground, end, **rubbing)
            self._connect(driver, end, stiffness=p["k_driver"][i])
        self._connect(*ends, stiffness=p["k_coupling"])

    def belt(self) -> None:
        """A block on a belt."""
        p = self.p
        one, driver = self._mass(p["m"], 0.0, 0.0), self._mass(HEAVY, 0.0, self.problem.puller)
        levels = (p["mu_kinetic"] * p["normal_force"], p["mu_static"] * p["normal_force"])
        self._connect(self.ground, one, **self._rubbing(*levels, p["m"]))
        self._connect(driver, one, stiffness=p["k"])

    def slider(self) -> None:
        """A block at a stop."""
        p = self.p
        one = self._mass(p["mass"], 0.0, p["v0"])
        self._connect(self.ground, one, **self._limits(-10.0, p["x_stop"], p["k_stop"], p["d_stop"]))
        self._push(one, p["force"])

    def pendulum(self) -> None:
        """An arm at a stop: a rigid body in the plane on a pin."""
        p, angle, item = self.p, self.problem.q0[0], self.item
        weight = p["mass_times_l_com"] / LENGTH
        begin = [LENGTH * math.sin(angle), -LENGTH * math.cos(angle), angle]
        node = self.mbs.AddNode(item.NodeRigidBody2D(initialCoordinates=begin))
        own = p["J"] - weight * LENGTH**2
        body = self.mbs.AddObject(item.ObjectRigidBody2D(physicsMass=weight, physicsInertia=own, nodeNumber=node))
        base = self.mbs.AddObject(item.ObjectGround())
        places = (base, [0.0, 0.0, 0.0]), (body, [0.0, LENGTH, 0.0]), (body, [0.0, 0.0, 0.0])
        first, end, centre = (
            self.mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=of, localPosition=at)) for of, at in places
        )
        self.mbs.AddLoad(item.Force(markerNumber=centre, loadVector=[0.0, -weight * p["g"], 0.0]))
        self.mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=[first, end]))
        self.nodes.append((node, 2))
        loss = -math.log(p["restitution"])
        damping = 2.0 * loss / math.hypot(math.pi, loss) * math.sqrt(self.stiffness * p["J"])
        self._connect(self.ground, self._marker(node, 2), **self._limits(0.0, 3.0, self.stiffness, damping))

    def clutch(self) -> None:
        """Two rotors."""
        p = self.p
        ends = [self._mass(p[f"J{i}"], 0.0, self.problem.v0[i - 1]) for i in (1, 2)]
        met = p["J1"] * p["J2"] / (p["J1"] + p["J2"])
        self._connect(ends[1], ends[0], **self._rubbing(p["friction"], p["friction"], met))
        for end, load in zip(ends, self.problem.torque, strict=True):
            self._push(end, load)


def runs(problem: Problem) -> Iterator[Sample]:
    """Of steps, and of the stiffness of what sticks or stops."""
    for stiffness in (0.0,) if problem.case == "slider" else STIFFNESSES:
        for step in STEPS:
            found = run(problem, step, stiffness)
            setting = f"generalised-α, {step:g} s" + (f", {stiffness:g}" if stiffness else "")
            yield Sample(str(stiffness), setting, *found)
            if found[0] > LONGEST:
                break


def run(problem: Problem, step: float, stiffness: float) -> Result:
    """(processor seconds, error); infinite where it fails."""
    import exudyn

    settings = exudyn_settings(exudyn, problem.duration, step)

    def work() -> Result:
        system = System(exudyn, problem, stiffness)
        began = time.process_time()
        try:
            system.mbs.SolveDynamic(settings)
        except (ValueError, RuntimeError, SystemError):
            return time.process_time() - began, math.inf
        used = time.process_time() - began
        kinds, own = exudyn.OutputVariableType, system.nodes[: len(problem.q0)]
        q, v = (
            [float(np.ravel(system.mbs.GetNodeOutput(node, kind))[at]) for node, at in own]
            for kind in (kinds.Coordinates, kinds.Coordinates_t)
        )
        return used, error_of(problem, q, v)

    return least(work)
