"""The joint that docs/own_kinds.md makes, and its machine: everything that is made from kinds knows it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetostat as ks
from core import kinds
from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.joints import JOINT_KINDS
from core.joints.kind import Elementary, measure_angle_about_z, parallel_axes_residuals
from core.numerics.spatial.rotation import from_z
from core.numerics.spatial.vector import ZERO
from core.numerics.spatial.vector import X as ALONG_X
from core.numerics.spatial.vector import Y as ALONG_Y
from kinetostat import spatial
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.joint_handles import JointHandle
from viz.drawlist.skeleton import Skeleton

PAGE = (Path(__file__).parents[3] / "docs/own_kinds.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## A joint: a pin in a slot\n")[2].partition("\n## ")[0]


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ks.Model:
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(block("python"), "own_kinds.md", "exec"), names)
    assert JOINT_KINDS["pin_in_slot"] is names["PinInSlot"]
    return ks.loads(block("yaml"))


def test_it_is_saved_read_and_without_doubts(model: ks.Model) -> None:
    assert ks.loads(ks.dumps(model)) == model
    assert not [finding for finding in ks.check(model) if finding.severity == "error"]


def test_the_rocker_follows_the_pin(model: ks.Model) -> None:
    """tan of its angle = pin across / pin along, seen from its pivot; the slide is what is missing of 0.4 m."""
    run = ks.simulate(model, 3.2, rtol=1e-10, atol=1e-12, output=0.1)
    x, y = 0.3 + 0.1 * np.cos(2.0 * run.time), 0.1 * np.sin(2.0 * run.time)
    np.testing.assert_allclose(run["pivot.q"], np.arctan2(y, x), atol=1e-9)
    np.testing.assert_allclose(run["pin.slide.q"], 0.4 - np.hypot(x, y), atol=1e-9)
    np.testing.assert_allclose(run["pin.angle.q"], np.arctan2(y, x) - 2.0 * run.time, atol=1e-9)
    assert np.max(np.abs(run["constraint.residual"])) < 1e-12


def test_the_pin_pushes_across_the_slot_only(model: ks.Model) -> None:
    mech = ks.Mechanism(model)
    q, v = mech.assemble(mech.rest(), np.zeros(mech.nv), t=0.4)
    wrench = mech.reactions(q, v, np.zeros(mech.nv), t=0.4)["pin"]
    slot = np.asarray(mech.frame(q, "rocker"))[:3, 0]
    assert wrench[3:] @ slot == pytest.approx(0.0, abs=1e-9)
    arm = np.subtract(*(np.asarray(X)[:3, 3] for X in reversed(mech.joint_poses(q)["pin"])))
    about_pin = wrench[:3] + np.cross(arm, wrench[3:])
    assert about_pin[2] == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(wrench[3:]) > 0.1


def test_energy_stays_where_nothing_drives(model: ks.Model) -> None:
    run = ks.simulate(dataclasses.replace(model, drivers=()), 1.0, rtol=1e-10, atol=1e-12, output=0.1)
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], atol=1e-8)
    assert np.ptp(run["energy.kinetic"]) > 0.1


def test_it_is_drawn_and_has_handles(model: ks.Model) -> None:
    assert [item for item in build_draw_list(model) if item.ref == ("joints", "pin")]
    handle = JointHandle(Skeleton(model, {}), model.joint("pin"))
    assert [part.kind for part in handle.parts] == ["turn", "slide"]


@pytest.mark.parametrize("about", [0.0, np.pi], ids=["slot before the pivot", "slot behind it"])
def test_joints_that_it_is_made_of_close_its_loop_on_the_side_it_is_on(model: ks.Model, about: float) -> None:
    """The slide turns with the pin: neither letters nor axes of the program's own kinds tell where the pin is."""

    @ks.register
    class MadeOfTwo(JOINT_KINDS["pin_in_slot"]):  # type: ignore[misc]
        name = "pin_and_slide"
        closes_loops = True

        def residual(self, X: spatial.Pose) -> list[Any]:
            return [X.position.z, *parallel_axes_residuals(X.rotation), X.position.dot(X.rotation.act(ALONG_Y))]

        def measure(self, X: spatial.Pose) -> spatial.Measured:
            value, wrench = measure_angle_about_z(X)
            slot = X.rotation.act(ALONG_X)
            return spatial.Measured((value, X.position.dot(slot)), (wrench, spatial.Force(ZERO, slot)))

        def elementary(self) -> tuple[Elementary, ...]:
            return (Elementary("R"), Elementary("P", spatial.Pose(from_z(ALONG_X), ZERO), 1))

    pin = dataclasses.replace(model.joint("pin"), kind="pin_and_slide", cut="yes")
    joints = tuple(pin if joint.name == "pin" else joint for joint in model.joints)
    model = dataclasses.replace(model, joints=joints, drivers=())
    mech = ks.Mechanism(model)
    assert [loop.cut for loop in mech.loops] == ["pin"]
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.rows_left_to_iteration == []
    q = mech.neutral()
    q[mech.joint_q("pivot")] = about
    q = mech.assemble(q)
    for crank in np.linspace(0.0, 6.0, 61):
        q[mech.joint_q("motor")] = crank
        q, well = forms.closed(q, mech.parameter_values())
        assert well
        x, y = 0.3 + 0.1 * np.cos(crank), 0.1 * np.sin(crank)
        assert mech.coordinate(q, "pivot")[0] == pytest.approx(np.arctan2(y, x) + about, abs=1e-12)
        assert mech.coordinate(q, "pin")[1] == pytest.approx(0.4 - np.cos(about) * np.hypot(x, y), abs=1e-12)
