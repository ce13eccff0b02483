"""Friction and stops in machine code are those of the general path, on all examples, as they are and with friction and
stops in every joint."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.constraints import row_forces
from core.constraints.acting_states import default_joint_row_table
from core.constraints.compiled_forces import SingleCall, compiled_row_forces
from core.constraints.elastic_stops import BeyondLimitWarning
from core.constraints.motion_with_rows import constrained_motion_with_rows
from core.errors import KinetostatError
from core.files import load
from core.mechanism import Mechanism
from core.model import Limit, Model
from resources import EXAMPLES, examples
from tests.walks import walk

COUNT = 12


def rough(model: Model) -> Model:
    """The same machine with friction in every joint, and with stops of several kinds: in loops one, which the rest
    position touches."""
    kinds, mech, joints = ("", "rigid", "hunt_crossley"), Mechanism(model), []
    rest = dict(zip(mech.q_names, mech.rest(), strict=True))
    stopped = 0
    for k, joint in enumerate(model.joints):
        changed: dict[str, Any] = {"friction": 0.3 + 0.1 * k, "static_friction": 0.5 + 0.1 * k}
        changed |= {"stribeck_speed": 0.1} if k % 3 == 1 else {}
        if joint.info.nq == joint.info.nv == 1 and joint.name in rest and not (mech.constrained and stopped):
            limit = Limit(lower=rest[joint.name] - 1.0, upper=rest[joint.name])
            kind = "rigid" if mech.constrained else kinds[k % 3]
            changed["limits"] = (replace(limit, stop=kind) if kind else limit,)
            stopped += 1
        joints.append(replace(joint, **changed) if joint.info.nv else joint)
    return replace(model, joints=tuple(joints))


def states(mech: Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, τ): at rest and in motion, inside limits, at them and beyond them, pushed gently and hard; loops in their
    place of rest."""
    rng = np.random.default_rng(3)
    rest = mech.rest()
    free = not mech.constrained
    q = np.array([mech.integrate(rest, rng.normal(size=mech.nv), 0.5 * free) for _ in range(COUNT)])
    for k, coordinate in enumerate(mech.coordinates if free and mech.nq == mech.nv else ()):
        if coordinate.upper is not None and coordinate.lower is not None:
            q[:, k] = rng.uniform(coordinate.lower, coordinate.upper, COUNT)
            q[::4, k], q[1::4, k] = coordinate.upper, coordinate.lower - 0.01
    v = np.zeros((COUNT, mech.nv))
    if free:
        v[COUNT // 2 :] = rng.normal(size=(COUNT - COUNT // 2, mech.nv))
        v[:, ::2][COUNT // 4 :] = 0.0
    elif mech.constrained:
        G = mech.compiled.call("constraint_jacobian", q[0])
        G = G.reshape(-1, mech.nv)
        v[COUNT // 2 :] = rng.normal(size=(COUNT - COUNT // 2, mech.nv)) @ (np.eye(mech.nv) - np.linalg.pinv(G) @ G)
    tau = rng.normal(size=(COUNT, mech.nv)) * np.geomspace(0.1, 100.0, COUNT)[:, None]
    return q, v, tau


def general(monkeypatch: pytest.MonkeyPatch, function: Any, *arguments: Any) -> Any:
    """What a function gives without machine code for rows."""
    with monkeypatch.context() as patch:
        patch.setattr(row_forces, "_compiled_forces", lambda compiled: None)
        return function(*arguments)


def compare(mech: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    q, v, tau = states(mech)
    compiled = mech.compiled

    def motion() -> list[np.ndarray]:
        (a, multipliers), closing = constrained_motion_with_rows(compiled, q, v, tau, None, True, 0.0, None)
        return [a, multipliers, closing if closing is not None else np.zeros(0)]

    quick, exact = motion(), general(monkeypatch, motion)
    # where more joints rub than there are freedoms, a regularisation of 1e-8 chooses forces, which enlarges rounding
    loose = 1e-2 if mech.constrained else 1e-8
    for found, expected, tolerance in zip(quick, exact, (1e-8, loose, loose), strict=True):
        assert np.abs(found - expected).max(initial=0.0) < tolerance * np.abs(expected).max(initial=1.0)
    for a in (exact[0], np.where(np.arange(COUNT)[:, None] % 3 == 0, 0.0, exact[0])):
        found = row_forces.resisting_forces(compiled, q, v, a, None)
        expected = general(monkeypatch, row_forces.resisting_forces, compiled, q, v, a, None)
        assert (found is None) == (expected is None)
        if found is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max(initial=1.0))


@pytest.mark.parametrize("as_it_is", [True, False], ids=["as it is", "rough"])
@pytest.mark.parametrize("example", walk(examples(), lambda example: example.name))
def test_machine_code_gives_what_the_general_path_gives(
    example: Any, as_it_is: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(example.path)
    mech = Mechanism(model if as_it_is else rough(model))
    try:
        rows = default_joint_row_table(mech.compiled).rows
        mech.forward_dynamics(mech.rest(), np.ones(mech.nv), np.zeros(mech.nv))
    except KinetostatError:  # e.g. no masses
        return
    if rows and compiled_row_forces(mech.compiled) is not None:
        compare(mech, monkeypatch)


def test_single_calls_take_the_same_path(monkeypatch: pytest.MonkeyPatch) -> None:
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    q, v, tau = states(mech)
    forces, refusals = compiled_row_forces(mech.compiled), []
    assert forces is not None
    mech.compile("mass_matrix", "bias_smooth", "forward_dynamics_smooth", "inverse_dynamics")
    forward, inverse = (
        SingleCall(mech.compiled, forces, way, lambda *each: refusals.append(each)) for way in (True, False)
    )
    expected = general(monkeypatch, mech.forward_dynamics, q, v, tau)
    found = np.array([forward(*each) for each in zip(q, v, tau, strict=True)])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondLimitWarning)
        expected = general(monkeypatch, mech.inverse_dynamics, q, v, tau)
        alone = np.array([mech.inverse_dynamics(*each) for each in zip(q, v, tau, strict=True)])
    found = np.array([inverse(*each) for each in zip(q, v, tau, strict=True)])
    for each in (found, alone):
        np.testing.assert_allclose(each, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert not refusals
    assert forward(q[0], v[0], np.full(mech.nv, np.nan)) is None
    assert len(refusals) == 1
