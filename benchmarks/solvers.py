"""Other programs that simulate the same machines: each gives (processor seconds, coordinates at the end) per tolerance
or step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import expressions, trees
from benchmarks.measure import Result, least, processor_time
from benchmarks.problems import Problem
from core.mechanism import Mechanism

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)


def _plain(problem: Problem) -> trees.Described:
    """A tree on which nothing acts but gravity."""
    tree = trees.described(problem.model)
    if tree.springs or problem.torque:
        raise ValueError("a tree without forces is needed")
    return tree


def _same(mech: Mechanism, acceleration: Callable[[Any, Any], Any]) -> None:
    """Refuse to compare another machine. Raises RuntimeError."""
    for seed in range(3):
        q, v = mech.random(seed), np.random.default_rng(seed).normal(size=mech.nv)
        own, other = mech.forward_dynamics(q, v, np.zeros(mech.nv)), acceleration(q, v)
        if not np.max(np.abs(own - other)) < 1e-10 * np.max(np.abs(own)):
            raise RuntimeError("The accelerations differ: this is not the same machine.")


class Scipy:
    """Pinocchio's articulated-body algorithm in SciPy's DOP853, for trees without springs."""

    name = "Pinocchio, SciPy DOP853"
    settings: Iterable[float] = TOLERANCES

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import pinocchio as pin

        self.pin, self.problem, self.start, self.nq = pin, problem, start, mech.nq
        self.model, order = trees.pinocchio_model(pin, _plain(problem))
        if list(order) != list(range(mech.nq)):
            raise ValueError("coordinates in another order")
        self.data, self.zero = self.model.createData(), np.zeros(self.nq)
        _same(mech, lambda q, v: pin.aba(self.model, self.data, q, v, self.zero))

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        from scipy.integrate import solve_ivp

        pin, n = self.pin, self.nq

        def f(_: float, y: Any) -> Any:
            return np.concatenate([y[n:], pin.aba(self.model, self.data, y[:n], y[n:], self.zero)])

        span = (0.0, self.problem.duration)
        return processor_time(
            lambda: solve_ivp(
                f, span, self.start, "DOP853", [span[1]], rtol=max(tolerance, 3e-14), atol=1e-2 * tolerance
            ).y[:n, -1]
        )


class Mujoco:
    """MuJoCo's RK4 with fixed steps, for trees without springs; its constraints and contacts are off."""

    name = "MuJoCo RK4"
    integrator = "mjINT_RK4"
    settings: Iterable[float] = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import mujoco

        self.mujoco, self.problem, self.start, self.tree = mujoco, problem, start, _plain(problem)
        _same(mech, self._acceleration)

    def _compiled(self, step: float) -> tuple[Any, Any, Any]:
        integrator = getattr(self.mujoco.mjtIntegrator, self.integrator)
        model, order = trees.mujoco_model(self.mujoco, self.tree, integrator, step)
        return model, self.mujoco.MjData(model), order

    def _acceleration(self, q: Any, v: Any) -> Any:
        model, data, order = self._compiled(1e-3)
        data.qpos[:], data.qvel[:] = q[order], v[order]
        self.mujoco.mj_forward(model, data)
        return data.qacc[np.argsort(order)]

    def __call__(self, step: float) -> Result:
        """The end of the motion with this step."""
        count, n = round(self.problem.duration / step), len(self.tree.parts)
        model, data, order = self._compiled(self.problem.duration / count)

        def work() -> Any:
            self.mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = self.start[:n][order], self.start[n:][order]
            self.mujoco.mj_step(model, data, count)
            return data.qpos[np.argsort(order)]

        return processor_time(work)


class MujocoImplicit(Mujoco):
    """MuJoCo's implicit integrator, of order one: implicit in velocity-dependent forces, Coriolis forces included."""

    name = "MuJoCo implicit"
    integrator = "mjINT_IMPLICIT"
    settings: Iterable[float] = (1e-2, 1e-3, 1e-4, 1e-5)


def exudyn_settings(exudyn: Any, duration: float, step: float) -> Any:
    """No output; a fixed step, or the longest of an adaptive method."""
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = max(1, round(duration / step))
    settings.timeIntegration.endTime, settings.timeIntegration.verboseMode = duration, 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    settings.solutionSettings.sensorsWritePeriod = duration
    settings.displayStatistics = settings.displayComputationTime = False
    return settings


class ExudynTree:
    """Exudyn with the whole tree in minimal coordinates, its DOPRI5 with adaptive steps."""

    name = "Exudyn tree, DOPRI5"
    settings: Iterable[float] = TOLERANCES[:-1]

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import exudyn

        if problem.torque:
            raise ValueError("a tree without joint forces is needed")
        self.exudyn, self.nq, self.problem, self.start = exudyn, mech.nq, problem, start
        self.tree = trees.described(problem.model)

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        settings = exudyn_settings(self.exudyn, self.problem.duration, self.problem.duration)
        settings.timeIntegration.relativeTolerance = tolerance
        settings.timeIntegration.absoluteTolerance = 1e-2 * tolerance
        settings.timeIntegration.initialStepSize, settings.timeIntegration.minimumStepSize = 1e-4, 1e-12
        return self._run(settings, self.exudyn.DynamicSolverType.DOPRI5)

    def _run(self, settings: Any, solver: Any) -> Result:
        order = [part.index for part in self.tree.parts]

        def one() -> Result:
            mbs, node = trees.exudyn_system(self.exudyn, self.tree, self.start[: self.nq], self.start[self.nq :])
            began, end = time.process_time(), np.empty(self.nq)
            mbs.SolveDynamic(settings, solverType=solver)
            used = time.process_time() - began
            end[order] = mbs.GetNodeOutput(node, self.exudyn.OutputVariableType.Coordinates)
            return used, end

        return least(one)


class ExudynTreeImplicit(ExudynTree):
    """Its generalised-α with ρ∞ = 0.9, fixed steps, for stiff machines."""

    name = "Exudyn tree, generalised-α"
    settings: Iterable[float] = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        if not problem.stiff:
            raise ValueError("for stiff machines")
        super().__init__(mech, problem, start)

    def __call__(self, step: float) -> Result:
        """The end of the motion with this step."""
        settings = exudyn_settings(self.exudyn, self.problem.duration, step)
        return self._run(settings, self.exudyn.DynamicSolverType.GeneralizedAlpha)


class ExudynLoops:
    """Exudyn with planar rigid bodies, pins and springs: generalised-α with ρ∞ = 0.9, fixed steps."""

    name = "Exudyn generalised-α"
    settings: Iterable[float] = (1e-3, 3e-4, 1e-4, 3e-5)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import exudyn

        if not mech.loops:
            raise ValueError("trees are compared in minimal coordinates")
        if any(joint.kind != "revolute" or tuple(joint.axis) != (0.0, 0.0, 1.0) for joint in problem.model.joints):
            raise ValueError("a planar machine is needed")
        self.exudyn, self.mech, self.problem, self.start = exudyn, mech, problem, start

    def _system(self) -> tuple[Any, dict[str, int]]:
        import exudyn.itemInterface as item

        mech, model = self.mech, self.problem.model
        q, v = self.start[: mech.nq], self.start[mech.nq :]
        mbs = self.exudyn.SystemContainer().AddSystem()
        ground = mbs.AddObject(item.ObjectGround())
        objects, nodes, centers = {"world": ground}, {}, {"world": np.zeros(3)}
        for body in model.bodies:
            pose = mech.frame(q, body.name)
            motion = mech.frame_velocity(q, v, body.name)
            center = np.array(body.center_of_mass, dtype=float)
            arm = pose[:3, :3] @ center
            place, speed = pose[:3, 3] + arm, motion[3:] + np.cross(motion[:3], arm)
            angle = float(np.arctan2(pose[1, 0], pose[0, 0]))
            nodes[body.name] = mbs.AddNode(
                item.NodeRigidBody2D(
                    referenceCoordinates=[*place[:2], angle], initialVelocities=[*speed[:2], motion[2]]
                )
            )
            objects[body.name] = mbs.AddObject(
                item.ObjectRigidBody2D(
                    physicsMass=body.mass, physicsInertia=body.inertia.izz, nodeNumber=nodes[body.name]
                )
            )
            centers[body.name] = center
            weight = body.mass * np.array(model.world.gravity.acceleration, dtype=float)
            at = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=objects[body.name]))
            mbs.AddLoad(item.Force(markerNumber=at, loadVector=list(weight)))

        def marker(body: str, point: Any) -> int:
            local = list(np.array(point, dtype=float) - centers[body])
            found: int = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=objects[body], localPosition=local))
            return found

        self._connect(mbs, marker, objects)
        mbs.Assemble()
        return mbs, nodes

    def _connect(self, mbs: Any, marker: Callable[[str, Any], int], objects: dict[str, int]) -> None:
        """Pins, springs and joint forces."""
        import exudyn.itemInterface as item

        model = self.problem.model
        for joint in model.joints:
            sides = [marker(joint.parent, joint.a.position), marker(joint.child, joint.b.position)]
            mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=sides))
        frames = {frame.name: frame for frame in model.frames}
        for force in model.forces:
            ends = [marker(frames[name].parent, frames[name].pose.position) for name in (force.a, force.b)]
            law = {"referenceLength": force.rest, "stiffness": force.stiffness, "damping": force.damping}
            mbs.AddObject(item.ObjectConnectorSpringDamper(markerNumbers=ends, **law))
        for name, value in (self.problem.torque or {}).items():
            joint = next(joint for joint in model.joints if joint.name == name)
            at = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=objects[joint.child]))
            mbs.AddLoad(item.Torque(markerNumber=at, loadVector=[0, 0, value]))

    def __call__(self, step: float) -> Result:
        """The end of the motion with this step."""
        settings = exudyn_settings(self.exudyn, self.problem.duration, step * min(1.0, self.problem.duration))

        def work() -> Any:
            mbs, nodes = self._system()
            began = time.process_time()
            mbs.SolveDynamic(settings)
            used = time.process_time() - began
            end = self.exudyn.OutputVariableType.Coordinates
            return used, {name: mbs.GetNodeOutput(node, end)[2] for name, node in nodes.items()}

        used, turned = least(work)
        return used, self._coordinates(turned)

    def _coordinates(self, turned: dict[str, float]) -> Any:
        """Joint coordinates from how far each body has turned since the start."""
        turned = {"world": 0.0, **turned}
        joints = {joint.name: joint for joint in self.problem.model.joints}
        names = self.mech.q_names
        return np.array(
            [
                q + turned[joints[name].child] - turned[joints[name].parent]
                for name, q in zip(names, self.start, strict=False)
            ]
        )


PEERS = (
    Scipy,
    expressions.Idas,
    expressions.Cvodes,
    expressions.CvodesAdams,
    expressions.ScipyRadau,
    expressions.ScipyLsoda,
    ExudynLoops,
    ExudynTree,
    ExudynTreeImplicit,
    Mujoco,
    MujocoImplicit,
)
