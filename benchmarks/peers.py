"""Pinocchio and MuJoCo on the same machines, through their Python interfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.machines import PINOCCHIO_LIMIT, Machine

FUNCTIONS = ("forward dynamics", "inverse dynamics", "mass matrix", "Jacobian")


class Pinocchio:
    """Calls by name of function; q, v, u: one state."""

    name = "Pinocchio"

    def __init__(self, machine: Machine) -> None:
        import pinocchio as pin

        self.pin, self.machine = pin, machine
        if machine.file is not None:
            self.model = pin.buildModelFromUrdf(str(machine.file))
            self.model.armature[:] = 0.0
        else:
            self.model = _chain(pin, machine)
        self.data = self.model.createData()
        self.tip = [k for k, frame in enumerate(self.model.frames) if frame.type == pin.BODY][-1]
        self.nq, self.nv = self.model.nq, self.model.nv

    def call(self, function: str) -> Callable[[Any, Any, Any], Any]:
        """The function as Python calls it."""
        pin, model, data = self.pin, self.model, self.data
        if function == "forward dynamics":
            return lambda q, v, u: pin.aba(model, data, q, v, u)
        if function == "inverse dynamics":
            return lambda q, v, u: pin.rnea(model, data, q, v, u)
        if function == "derivatives":
            return lambda q, v, u: pin.computeABADerivatives(model, data, q, v, u)
        if function == "mass matrix":
            return lambda q, v, u: pin.crba(model, data, q)
        frame = self.tip
        return lambda q, v, u: pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)


def _chain(pin: Any, machine: Machine) -> Any:
    model = pin.Model()
    parent = 0
    for joint, body in zip(machine.model.joints, machine.model.bodies, strict=True):
        r, p, y = joint.a.rotation
        place = pin.SE3(pin.rpy.rpyToMatrix(r, p, y), np.array(joint.a.position))
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(axis), place, joint.name)
        I = body.inertia
        tensor = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]])
        model.appendBodyToJoint(
            parent, pin.Inertia(body.mass, np.array(body.center_of_mass), tensor), pin.SE3.Identity()
        )
    model.addFrame(pin.Frame("tip", parent, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return model


class MuJoCo:
    """Calls by name of function. Its forward dynamics do more than ours (collision, actuation: empty here)."""

    name = "MuJoCo"

    def __init__(self, machine: Machine) -> None:
        import mujoco

        self.mujoco = mujoco
        if machine.file is not None:
            raise ValueError("arms are compared with Pinocchio")
        self.model = _mujoco_chain(mujoco, machine)
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags = flags.mjDSBL_CONTACT | flags.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)
        self.nq, self.nv = self.model.nq, self.model.nv

    def call(self, function: str) -> Callable[[Any, Any, Any], Any]:
        """The function as Python calls it."""
        mujoco, model, data = self.mujoco, self.model, self.data

        def forward(q: Any, v: Any, u: Any) -> Any:
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, u
            mujoco.mj_forward(model, data)
            return data.qacc.copy()

        def inverse(q: Any, v: Any, u: Any) -> Any:
            data.qpos[:], data.qvel[:], data.qacc[:] = q, v, u
            mujoco.mj_inverse(model, data)
            return data.qfrc_inverse.copy()

        calls = {"forward dynamics": forward, "inverse dynamics": inverse}
        if function not in calls:
            raise ValueError(function)
        return calls[function]


def _mujoco_chain(mujoco: Any, machine: Machine) -> Any:
    """Built by calls: XML may not nest a thousand bodies."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.memory = 1 << 30
    parent = spec.worldbody
    for joint, body in zip(machine.model.joints, machine.model.bodies, strict=True):
        x, y, z, w = Rotation.from_euler("xyz", joint.a.rotation).as_quat()
        parent = parent.add_body(name=body.name, pos=joint.a.position, quat=[w, x, y, z])
        parent.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
        I = body.inertia
        parent.mass, parent.ipos, parent.explicitinertial = body.mass, body.center_of_mass, True
        parent.fullinertia = [I.ixx, I.iyy, I.izz, I.ixy, I.ixz, I.iyz]
    return spec.compile()


def peers(machine: Machine) -> list[Pinocchio | MuJoCo]:
    """Those that are installed and apply to a machine."""
    found: list[Pinocchio | MuJoCo] = []
    for kind, applies in ((Pinocchio, machine.bodies <= PINOCCHIO_LIMIT), (MuJoCo, machine.file is None)):
        if applies:
            try:
                found.append(kind(machine))
            except ImportError:
                continue
    return found
