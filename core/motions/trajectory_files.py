"""Files of trajectories: CSV with units in the head, ROS joint trajectory messages as JSON or YAML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files.source import write_atomically

if TYPE_CHECKING:
    from core.mechanism import Mechanism

Samples = tuple[NDArray[np.float64], ...]
"""Times (N,), positions, speeds and accelerations."""


def write_trajectory(mech: Mechanism, samples: Samples, path: Any) -> None:
    """Write samples of a trajectory by the suffix of the path. Raises FileError."""
    place = Path(path)
    if place.suffix.lower() == ".csv":
        write_atomically(place, _csv_text(mech, samples).encode())
    elif place.suffix.lower() == ".json":
        write_atomically(place, (json.dumps(_message(mech, samples), indent=1) + "\n").encode())
    elif place.suffix.lower() in (".yaml", ".yml"):
        import yaml

        text = yaml.safe_dump(_message(mech, samples), default_flow_style=None, sort_keys=False, width=10**6)
        write_atomically(place, text.encode())
    else:
        raise FileError(
            f"Trajectories are not written as '{place.suffix or place.name}'.",
            file=str(path),
            remedy="Use .csv, .json or .yaml.",
        )


def _csv_text(mech: Mechanism, samples: Samples) -> str:
    time, q, v, a = samples
    units = speed_units(mech)
    heads = ["t [s]"]
    heads += [f"{name}.q{_position_unit(mech, name)}" for name in mech.q_names]
    for word, per in (("v", "/s"), ("a", "/s^2")):
        heads += [f"{name}.{word} [{unit}{per}]" for name, unit in zip(mech.v_names, units, strict=True)]
    rows = np.column_stack([time, q, v, a])
    lines = [",".join(heads), *(",".join(f"{x:.17g}" for x in row) for row in rows)]
    return "\n".join(lines) + "\n"


def speed_units(mech: Mechanism) -> list[str]:
    """Return "m" or "rad" for each speed of a machine."""
    units: list[str] = []
    own = {coordinate.joint for coordinate in mech.coordinates}
    for joint in mech.model.expanded.joints:
        if joint.name in own:
            at = mech.joint_v(joint.name)
            dimensions = joint.info.speed_dimensions[: at.stop - at.start]
            units += ["m" if dimension == "velocity" else "rad" for dimension in dimensions]
    return units


def _position_unit(mech: Mechanism, name: str) -> str:
    if name not in mech.v_names:  # components of quaternions and positions of free bodies
        return ""
    return f" [{speed_units(mech)[mech.v_names.index(name)]}]"


def _message(mech: Mechanism, samples: Samples) -> dict[str, Any]:
    """Return a ROS joint trajectory message (trajectory_msgs/JointTrajectory) of joints with one coordinate."""
    own = {coordinate.joint for coordinate in mech.coordinates}
    joints = [joint for joint in mech.model.expanded.joints if joint.name in own]
    single = [joint.name for joint in joints if joint.info.nq == joint.info.nv == 1]
    time, q, v, a = samples
    at_q = [mech.joint_q(name).start for name in single]
    at_v = [mech.joint_v(name).start for name in single]
    points = [
        {
            "positions": q[k, at_q].tolist(),
            "velocities": v[k, at_v].tolist(),
            "accelerations": a[k, at_v].tolist(),
            "time_from_start": {"sec": int(t), "nanosec": round((t - int(t)) * 1e9)},
        }
        for k, t in enumerate(time.tolist())
    ]
    return {"joint_names": single, "points": points}
