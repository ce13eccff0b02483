"""One body on each kind of joint, constraint, spring and actuator: the verification cases of Adams models
(tests/reference/adams_*.json), each built as a person would draw it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.model import (
    Body,
    Constraint,
    Driver,
    Force,
    Frame,
    Gravity,
    Inertia,
    Joint,
    Model,
    Pose,
    Sensor,
    World,
)
from core.simulation import simulate

FOLDER = Path(__file__).parents[2] / "reference"
CASES = tuple(sorted(path.stem for path in FOLDER.glob("adams_*.json")))
Numbers = tuple[float, ...]


def read(name: str) -> tuple[dict[str, Any], np.ndarray, float]:
    """Parameters, rows, tolerance."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return data["parameters"], np.array(data["reference"]["rows_own"]), data["tolerances"]["vs_own_abs"]


def floats(values: Any) -> Any:
    return tuple(float(value) for value in values)


class Case:
    """A case's body at its place, and what holds it."""

    def __init__(self, p: dict[str, Any]) -> None:
        self.p = p
        self.R, self.com = np.array(p["R0_body_to_world"]), np.array(p["com0"])
        ixx, iyy, izz = p["I_com_body_axes"]
        self.body = Body(name="body", mass=p["mass"], inertia=Inertia(ixx=ixx, iyy=iyy, izz=izz))
        self.world = World(gravity=Gravity(acceleration=floats(p["gravity"])))

    def on_body(self, point: Any) -> Numbers:
        """A world point in the body's axes at the start."""
        return floats(self.R.T @ (np.array(point, dtype=float) - self.com))

    def free(self) -> Joint:
        turn = Rotation.from_matrix(self.R).as_quat()
        return Joint(name="fly", kind="free", parent="world", child="body", rest=floats([*self.com, *turn]))

    def joint(self, kind: str, axis: Any = (0, 0, 1), second: Any = (0, 1, 0), **more: Any) -> Joint:
        place = self.p["joint_location"]
        turn = floats(Rotation.from_matrix(self.R.T).as_quat())
        return Joint(
            name="hold",
            kind=kind,
            parent="world",
            child="body",
            a=Pose(position=floats(place)),
            b=Pose(position=self.on_body(place), rotation=turn),
            axis=floats(axis),
            second_axis=floats(second),
            **more,
        )

    def model(self, **more: Any) -> Model:
        return Model(bodies=(self.body,), world=self.world, **more)

    def ends(self, point: Any) -> tuple[Frame, Frame]:
        """A point of the ground and one of the body."""
        return (
            Frame(name="ground", parent="world", pose=Pose(position=floats(self.p["joint_location"]))),
            Frame(name="point", parent="body", pose=Pose(position=self.on_body(point))),
        )


def machine(name: str, p: dict[str, Any]) -> Model:
    case, kind = Case(p), name.split("_")[1]
    if kind in ("cylindrical", "prismatic"):
        return case.model(joints=(case.joint(kind, p["axis"]),))
    if kind == "spherical":
        return case.model(joints=(case.joint(kind),))
    if kind == "revolute":
        return case.model(joints=(case.joint(kind, p["revolute_axis"]),))
    if kind == "rotspring":
        spring = Force(name="spring", kind="joint", joint="hold", stiffness=p["spring"]["k"], damping=p["spring"]["c"])
        return case.model(joints=(case.joint("revolute", p["axis"]),), forces=(spring,))
    if kind == "universal":
        return case.model(joints=(case.joint(kind, p["ground_axis"], p["body_axis"]),))
    if kind == "linactuator":
        drive = Driver(name="drive", joint="hold", function=f"{p['speed']}*t")
        return case.model(joints=(case.joint("prismatic", p["axis"]),), drivers=(drive,))
    if kind == "distance":
        rod = Constraint(name="rod", kind="rod", a="ground", b="point", length=p["distance"])
        return case.model(joints=(case.free(),), frames=case.ends(p["body_attachment_world0"]), constraints=(rod,))
    if kind == "transpring":
        spring = Force(
            name="spring", kind="line", a="ground", b="point", stiffness=p["k"], damping=p["c"], rest=p["rest_length"]
        )
        return case.model(joints=(case.free(),), frames=case.ends(p["body_point_world0"]), forces=(spring,))
    point = p["body_spherical_point_world0"]
    across = floats(p["revolute_axis_ground"])
    sensors = (
        Sensor(name="far", kind="distance", a="ground", b="point"),
        Sensor(name="level", kind="point_plane", a="ground", b="point", axis=across),
    )
    away = float(np.linalg.norm(np.array(point) - np.array(p["joint_location"])))
    holds = (Constraint(name="length", sensor="far", value=away), Constraint(name="plane", sensor="level"))
    return case.model(joints=(case.free(),), frames=case.ends(point), sensors=sensors, constraints=holds)


@pytest.mark.parametrize("name", CASES)
def test_moves_as_published(name: str) -> None:
    p, rows, tolerance = read(name)
    run = simulate(machine(name, p), float(rows[-1, 0]), rtol=1e-10, atol=1e-11, output=float(rows[1, 0]))
    assert run["time"] == pytest.approx(rows[:, 0], abs=1e-9)
    assert run["body.position"] == pytest.approx(rows[:, 1:4], abs=tolerance)
    assert run["body.velocity"] == pytest.approx(rows[:, 4:7], abs=10 * tolerance)
    q, wanted = run["body.orientation"], rows[:, [8, 9, 10, 7]]
    assert np.min(np.abs(np.sum(q * wanted, axis=1))) > 1.0 - tolerance
    assert run["body.omega"] == pytest.approx(rows[:, 11:14], abs=10 * tolerance)
    assert run["body.acceleration"] == pytest.approx(rows[:, 14:17], abs=100 * tolerance)
    assert np.max(run["constraint.residual"]) < 1e-10
