"""Other programs that simulate the same machines: each gives (processor seconds, states at the end) per tolerance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.problems import Problem
from core.kernel import Mechanism

Result = tuple[float, Any]
"""Processor seconds; (nv,) or (nq,) coordinates at the end."""


def timed(work: Callable[[], Any], repeats: int = 3) -> Result:
    """Least processor time of some repeats, and what the work gives."""
    best = np.inf
    for _ in range(repeats):
        began = time.process_time()
        found = work()
        best = min(best, time.process_time() - began)
        if best > 2.0:
            break
    return best, found


class Idas:
    """SUNDIALS' IDAS through CasADi: M a + h − Gᵀλ = τ, G a + Ġ v = 0 with the traces of this program as expressions,
    interpreted by CasADi; rows of G that are redundant are left out."""

    name = "IDAS (CasADi)"
    settings: Iterable[float] = (1e-4, 1e-6, 1e-8, 1e-10)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import casadi as ca

        from core.kernel.constraints import independent
        from core.kernel.symbols import column, symbols
        from core.mechanics.steps import inline

        self.ca, self.problem, self.start = ca, problem, start
        tracer, nq, nv = mech._program.tracer, mech.nq, mech.nv
        x = {word: symbols(word, size) for word, size in (("q", nq), ("v", nv), ("u", nv))}
        q, v, a = (column(list(x[word])) for word in "qvu")
        balance = column(tracer._body("inverse_dynamics", x, "", inline))
        for name, value in (problem.torque or {}).items():
            balance[mech.v_names.index(name)] -= value
        self.states = ca.vertcat(q, v)
        algebraic, unknown, self.guess = [balance], [a], [np.zeros(nv)]
        if mech.loops:
            rows = tracer.signature("closure").shape[0]
            kept = _rows(mech.loop_jacobian(start[:nq]), independent)
            multipliers = ca.SX.sym("lambda", len(kept))
            G = column(tracer._body("closure_jacobian", x, "", inline)).reshape((nv, rows)).T[kept, :]
            drift = column(tracer._body("closure_bias", x, "", inline))[kept]
            algebraic = [balance - G.T @ multipliers, G @ a + drift]
            unknown.append(multipliers)
            self.guess.append(np.zeros(len(kept)))
        self.dae = {"x": self.states, "z": ca.vertcat(*unknown), "ode": ca.vertcat(v, a), "alg": ca.vertcat(*algebraic)}
        self.nq = nq

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        options = {"reltol": tolerance, "abstol": 1e-2 * tolerance, "max_num_steps": 1_000_000}
        solver = self.ca.integrator("run", "idas", self.dae, 0.0, self.problem.duration, options)
        guess = np.concatenate(self.guess)
        return timed(lambda: np.array(solver(x0=self.start, z0=guess)["xf"]).ravel()[: self.nq])


def _rows(G: Any, independent: Callable[[Any], list[int]]) -> list[int]:
    """Rows of G that determine all others."""
    free = set(independent(np.ascontiguousarray(G.T[:, ::-1])))
    return [i for i in range(len(G)) if len(G) - 1 - i not in free]


class Scipy:
    """Pinocchio's articulated-body algorithm in SciPy's DOP853, for trees without springs."""

    name = "Pinocchio, SciPy DOP853"
    settings: Iterable[float] = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import pinocchio as pin

        if mech.loops or problem.model.forces or problem.torque:
            raise ValueError("a tree without forces is needed")
        self.pin, self.model, self.problem, self.start = pin, pinocchio_model(pin, problem.model), problem, start
        self.data, self.nq = self.model.createData(), mech.nq

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        from scipy.integrate import solve_ivp

        pin, n, zero = self.pin, self.nq, np.zeros(self.nq)

        def f(_: float, y: Any) -> Any:
            return np.concatenate([y[n:], pin.aba(self.model, self.data, y[:n], y[n:], zero)])

        span = (0.0, self.problem.duration)
        return timed(lambda: solve_ivp(f, span, self.start, "DOP853", [span[1]], rtol=max(tolerance, 3e-14),
                                       atol=1e-2 * tolerance).y[:n, -1], 2)  # fmt: skip


def outward(model: Any) -> list[Any]:
    """The joints, each after the one that holds its parent."""
    known, waiting, result = {"world"}, list(model.joints), []
    while waiting:
        ready = [joint for joint in waiting if joint.parent in known]
        if not ready:
            raise ValueError("a tree from the world is needed")
        result += ready
        known |= {joint.child for joint in ready}
        waiting = [joint for joint in waiting if joint not in ready]
    return result


def pinocchio_model(pin: Any, model: Any) -> Any:
    """A tree of revolute joints in Pinocchio."""
    theirs, held = pin.Model(), {"world": (0, pin.SE3.Identity())}
    theirs.gravity.linear = np.array(model.world.gravity.acceleration, dtype=float)
    for joint in outward(model):
        body = next(body for body in model.bodies if body.name == joint.child)
        parent, before = held[joint.parent]
        place = before * pin.SE3(pin.rpy.rpyToMatrix(*joint.a.rotation), np.array(joint.a.position, dtype=float))
        if joint.info.nv:
            axis = np.array(joint.axis, dtype=float)
            parent = theirs.addJoint(parent, pin.JointModelRevoluteUnaligned(axis), place, joint.name)
            place = pin.SE3.Identity()
        I = body.inertia
        tensor = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]])
        theirs.appendBodyToJoint(
            parent, pin.Inertia(body.mass, np.array(body.center_of_mass, dtype=float), tensor), place
        )
        held[joint.child] = parent, place
    return theirs


class Mujoco:
    """MuJoCo's RK4 with fixed steps, for trees without springs."""

    name = "MuJoCo RK4"
    settings: Iterable[float] = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import mujoco

        if mech.loops or problem.model.forces or problem.torque:
            raise ValueError("a tree without forces is needed")
        self.mujoco, self.problem, self.start, self.nq = mujoco, problem, start, mech.nq

    def _compiled(self, step: float) -> Any:
        spec = self.mujoco.MjSpec()
        spec.option.integrator = self.mujoco.mjtIntegrator.mjINT_RK4
        spec.option.timestep = step
        spec.option.gravity = list(self.problem.model.world.gravity.acceleration)
        spec.option.disableflags |= int(self.mujoco.mjtDisableBit.mjDSBL_CONTACT)
        placed = {"world": spec.worldbody}
        bodies = {body.name: body for body in self.problem.model.bodies}
        for joint in outward(self.problem.model):
            body = bodies[joint.child]
            I = body.inertia
            quat = np.zeros(4)
            self.mujoco.mju_euler2Quat(quat, np.array(joint.a.rotation, dtype=float), "XYZ")
            given: dict[str, Any] = {}
            if body.mass:
                inertia = [I.ixx or I.izz, I.iyy or I.izz, I.izz, I.ixy, I.ixz, I.iyz]
                given = {"mass": body.mass, "ipos": body.center_of_mass, "fullinertia": inertia}
            placed[body.name] = placed[joint.parent].add_body(
                name=body.name, pos=joint.a.position, quat=quat, explicitinertial=bool(given), **given
            )
            if joint.info.nv:
                placed[body.name].add_joint(name=joint.name, type=self.mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
        return spec.compile()

    def __call__(self, step: float) -> Result:
        """The end of the motion with this step."""
        count = round(self.problem.duration / step)
        model = self._compiled(self.problem.duration / count)

        def work() -> Any:
            data = self.mujoco.MjData(model)
            data.qpos[:], data.qvel[:] = self.start[: self.nq], self.start[self.nq :]
            self.mujoco.mj_step(model, data, count)
            return data.qpos.copy()

        return timed(work, 2)


class Exudyn:
    """Exudyn with planar rigid bodies, pins and springs: generalised-α with ρ∞ = 0.9, fixed steps."""

    name = "Exudyn generalised-α"
    settings: Iterable[float] = (1e-3, 3e-4, 1e-4, 3e-5)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import exudyn

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
            nodes[body.name] = mbs.AddNode(item.NodeRigidBody2D(
                referenceCoordinates=[*place[:2], angle], initialVelocities=[*speed[:2], motion[2]]))  # fmt: skip
            objects[body.name] = mbs.AddObject(item.ObjectRigidBody2D(
                physicsMass=body.mass, physicsInertia=body.inertia.izz, nodeNumber=nodes[body.name]))  # fmt: skip
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
        scaled = step * min(1.0, self.problem.duration)
        count = round(self.problem.duration / scaled)
        settings = self.exudyn.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = count, self.problem.duration
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = self.problem.duration
        settings.displayStatistics = settings.displayComputationTime = False

        def work() -> Any:
            mbs, nodes = self._system()
            began = time.process_time()
            mbs.SolveDynamic(settings)
            used = time.process_time() - began
            end = self.exudyn.OutputVariableType.Coordinates
            return used, {name: mbs.GetNodeOutput(node, end)[2] for name, node in nodes.items()}

        used, turned = min((work() for _ in range(2)), key=lambda pair: pair[0])
        return used, self._coordinates(turned)

    def _coordinates(self, turned: dict[str, float]) -> Any:
        """Joint coordinates from how far each body has turned since the start."""
        turned = {"world": 0.0, **turned}
        joints = {joint.name: joint for joint in self.problem.model.joints}
        names = self.mech.q_names
        return np.array([q + turned[joints[name].child] - turned[joints[name].parent]
                         for name, q in zip(names, self.start, strict=False)])  # fmt: skip


PEERS = (Scipy, Idas, Exudyn, Mujoco)
