"""What Kinetostat makes of an MJCF file beside what MuJoCo makes of it: poses, masses, forces, accelerations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from core.errors import KinetostatError
from core.files import read
from core.mechanism import Mechanism
from core.model import Finding, Joint

TOLERANCE = 1e-7
"""of the largest entry of a quantity, or of 1 where that is smaller"""
WORST_CONDITION = 1e9
"""of a mass matrix with which accelerations are compared"""
UNSEEN = {"contacts", "pairs", "actuators", "keyframes", "cones", "soft stops", "tendon limits", "sensors", "notes"}
"""What is left out and told, but does not show in what is compared: its warning explains no difference."""


class Comparison(NamedTuple):
    """Relative errors of what differs, by quantity, and what the reader noticed."""

    wrong: dict[str, float]
    findings: tuple[Finding, ...]

    @property
    def warned(self) -> bool:
        """Whether the reader warns (a hint is not enough) of something that can make the difference."""
        return any(finding.severity == "warning" and finding.field not in UNSEEN for finding in self.findings)


class State(NamedTuple):
    """One motion in the coordinates of both: MuJoCo's speeds are T v, its accelerations T a + shift."""

    q: np.ndarray
    v: np.ndarray
    qpos: np.ndarray
    T: np.ndarray
    shift: np.ndarray


def compared(path: Path, seed: int = 3) -> Comparison:
    """A file read by both, at a random state. Dry friction, which MuJoCo keeps as a constraint, is left out.

    Raises KinetostatError where our reader refuses the file, ValueError where MuJoCo does.
    """
    theirs = mujoco.MjModel.from_xml_path(str(path))
    reading = read(path)
    joints = tuple(replace(joint, friction=0.0) if joint.friction else joint for joint in reading.model.joints)
    mech = Mechanism(replace(reading.model, joints=joints))
    moving = [joint for joint in joints if joint.kind != "fixed" and joint.cut != "yes"]
    if len(moving) != theirs.njnt:
        return Comparison({"number of joints": float(abs(len(moving) - theirs.njnt))}, reading.findings)
    rng = np.random.default_rng(seed)
    state = random_state(mech, theirs, moving, rng)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = state.qpos, state.T @ state.v
    mujoco.mj_forward(theirs, data)
    errors = {"gravity": gravity_error(mech, theirs), "frames": frames_error(mech, state.q, theirs, data)}
    errors["start"] = start_error(mech, theirs, moving)
    errors |= forces_errors(mech, state, theirs, data, rng)
    return Comparison({what: error for what, error in errors.items() if not error < TOLERANCE}, reading.findings)


def random_state(mech: Mechanism, theirs: mujoco.MjModel, moving: list[Joint], rng: np.random.Generator) -> State:
    """Positions within ±0.5 rad and ±0.1 m, any orientation, speeds within ±1."""
    q, qpos = mech.neutral().copy(), np.zeros(theirs.nq)
    T, shift = np.zeros((theirs.nv, mech.nv)), np.zeros(theirs.nv)
    v = rng.uniform(-1.0, 1.0, mech.nv)
    for index, joint in enumerate(moving):
        at, row = theirs.jnt_qposadr[index], theirs.jnt_dofadr[index]
        mine, speed = mech.joint_q(joint.name), mech.joint_v(joint.name)
        turn = Rotation.random(random_state=int(rng.integers(1 << 30)))
        if joint.kind == "free":
            place, quaternion = rng.uniform(-1.0, 1.0, 3), turn.as_quat()
            q[mine] = [*place, *quaternion]
            qpos[at : at + 7] = [*place, quaternion[3], *quaternion[:3]]
            R = turn.as_matrix()
            T[row : row + 3, speed.start + 3 : speed.stop] = R  # they: [v in world axes; ω in body axes]
            T[row + 3 : row + 6, speed.start : speed.start + 3] = np.eye(3)
            shift[row : row + 3] = R @ np.cross(v[speed][:3], v[speed][3:])
        elif joint.kind == "spherical":
            quaternion = turn.as_quat()
            q[mine] = quaternion
            qpos[at : at + 4] = [quaternion[3], *quaternion[:3]]
            T[row : row + 3, speed] = np.eye(3)
        else:
            if joint.mimic is None:
                q[mine] = rng.uniform(-0.5, 0.5) * (1.0 if joint.kind == "revolute" else 0.2)
            T[row, speed.start] = mech.following(joint.name)[0][0]
    for index, joint in enumerate(moving):  # followers may stand before their leaders
        if joint.info.nq == 1:
            qpos[theirs.jnt_qposadr[index]] = mech.coordinate(q, joint.name)[0]
    return State(q, v, qpos, T, shift)


def start_error(mech: Mechanism, theirs: mujoco.MjModel, moving: list[Joint]) -> float:
    """The largest difference between where both start, of joints with one coordinate that moves by itself, unless it
    lies outside their limits."""
    if mech.constrained:
        return 0.0
    q, found = mech.rest(), [0.0]
    for index, joint in enumerate(moving):
        start = float(theirs.qpos0[theirs.jnt_qposadr[index]])
        if joint.info.nq != 1 or joint.mimic is not None:
            continue
        low, high = (float(x) for x in theirs.jnt_range[index])
        if not theirs.jnt_limited[index] or low <= start <= high:
            found.append(abs(float(mech.coordinate(q, joint.name)[0]) - start))
    return max(found)


def gravity_error(mech: Mechanism, theirs: mujoco.MjModel) -> float:
    """m/s² between the fields, one of which may be switched off."""
    off = theirs.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    gravity = mech.model.world.gravity
    mine = np.asarray(gravity.acceleration, dtype=float) if gravity.kind == "uniform" else np.zeros(3)
    return float(np.abs(mine - theirs.opt.gravity * (not off)).max())


def frames_error(mech: Mechanism, q: np.ndarray, theirs: mujoco.MjModel, data: mujoco.MjData) -> float:
    """The largest difference of poses of bodies and sites of the same name."""
    kinds = (
        (mujoco.mjtObj.mjOBJ_SITE, data.site_xpos, data.site_xmat),
        (mujoco.mjtObj.mjOBJ_BODY, data.xpos, data.xmat),
    )
    found = {}
    bodies = [mujoco.mj_id2name(theirs, mujoco.mjtObj.mjOBJ_BODY, index) for index in range(theirs.nbody)]
    for kind, places, turns in kinds:
        for index in range(len(places)):
            name = mujoco.mj_id2name(theirs, kind, index)
            shared = kind == mujoco.mjtObj.mjOBJ_SITE and name and bodies.count(name)
            found[f"{name}_site" if shared else name] = (places[index], turns[index].reshape(3, 3))
    worst = 0.0
    for name in mech.frame_names:
        if name in found and name != "world":
            pose = mech.frame(q, name)
            place, turn = found[name]
            worst = max(worst, np.abs(pose[:3, 3] - place).max(), np.abs(pose[:3, :3] - turn).max())
    return float(worst)


def forces_errors(
    mech: Mechanism, state: State, theirs: mujoco.MjModel, data: mujoco.MjData, rng: np.random.Generator
) -> dict[str, float]:
    """Relative errors of mass matrix, velocity and gravity terms, passive forces, and of the motion they make."""
    q, v, T = state.q, state.v, state.T
    full = np.zeros((theirs.nv, theirs.nv))
    if "MjData" in (mujoco.mj_fullM.__doc__ or ""):
        mujoco.mj_fullM(theirs, data, full)
    else:
        mujoco.mj_fullM(theirs, full, data.qM)
    M = T.T @ full @ T
    bias = T.T @ (data.qfrc_bias + full @ state.shift)
    lifted = theirs.jnt_actgravcomp[theirs.dof_jntid].astype(bool)  # counted with actuators there
    loaded = bias - T.T @ (data.qfrc_passive + data.qfrc_gravcomp * lifted)
    errors = {
        "mass matrix": relative(mech.mass_matrix(q), M),
        "bias": relative(mech.bias(q, v, passive=False), bias),
        "passive forces": relative(mech.bias(q, v), loaded),
    }
    if not mech.constrained and (np.linalg.cond(M) if len(M) else 1.0) < WORST_CONDITION:
        tau, a = rng.uniform(-1.0, 1.0, (2, mech.nv))
        try:
            mine = mech.forward_dynamics(q, v, tau)
        except KinetostatError:  # masses are missing here
            mine = np.full(mech.nv, np.inf)
        errors["accelerations"] = relative(mine, np.linalg.solve(M, tau - loaded))
        errors["joint forces"] = relative(mech.inverse_dynamics(q, v, a), M @ a + loaded)
    return errors


def relative(mine: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference over the largest entry, or over 1 where that is smaller."""
    return float(np.abs(mine - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0)))
