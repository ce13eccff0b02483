"""Changing the length of a link in the open machine: either its loops close again on the same branch, or nothing
changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from app.document.revision import Array, coordinates_of_pose
from app.document.session import Session
from core.constraints.rest_position import reference_deviations
from core.design.linkage.closing import as_drawn, joint_values_at_pose
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model, Parameter
from core.model.edits import edits
from core.model.edits.lengths import Formulas, current_link_length, link_ends, link_length
from core.model.fields import Value

HALVINGS = 14
"""Number of bisection steps in the search for a length at which the loops no longer close."""
FARTHEST = 10.0
"""Lengths up to this multiple of the present length, and down to its inverse, are tried."""
LOOP_ERROR = 1e-6
"""Largest residual of a loop that counts as closed, m or rad."""


class LinkEnd(NamedTuple):
    """An end of a link: its joint ("" at a tip), and the positions of both ends, (3,) m, world."""

    body: str
    joint: str
    near: Array
    place: Array


class LinkLength(NamedTuple):
    """A requested link length: its value, the joint to which it is measured, and the treatment of formulas."""

    value: Value
    far: str = ""
    formulas: Formulas = "keep"
    parameter: str = ""


def resize_link(session: Session, body: str, requested: LinkLength) -> Model:
    """Return the open model with a changed link length.

    Raises ModelError where formulas would be lost, or the loops cannot close with it; it says for which they would.
    """
    model = session.model
    new = link_length(
        model, body, requested.value, far=requested.far, formulas=requested.formulas, parameter=requested.parameter
    )
    mech = session.mech.updated(new)
    q = coordinates_of_pose(session.mech, session.state.pose)
    gap = _closure_residual(mech, q, new.values())
    if gap <= LOOP_ERROR or _closure_residual(session.mech, q, model.values()) > LOOP_ERROR:
        return _close_reference_configuration(session.mech, new, mech)
    low, high = loop_closing_length_range(session, body, requested.far)
    length = current_link_length(new, body, requested.far)
    off = max(length - high if high is not None else 0.0, low - length if low is not None else 0.0)
    bounds = [f"{word} {bound:.4g} m" for word, bound in (("from", low), ("up to", high)) if bound is not None]
    word = "short" if length < (low or 0.0) else "long"
    raise ModelError(
        f"The loops do not close with a length of {length:.4g} m: it is {off:.3g} m too {word}.",
        where=f"body '{body}', length",
        remedy=f"Near this pose they close for lengths {' '.join(bounds)}." if bounds else "Enter another length.",
    )


def _close_reference_configuration(before: Mechanism, new: Model, mech: Mechanism) -> Model:
    """Return the model with its reference configuration, which was closed before, closed again for the new length."""
    if not mech.constrained or reference_deviations(before.compiled):
        return new
    stated = {joint.name for joint in new.joints if joint.rest}
    stands = joint_values_at_pose(mech, np.asarray(mech.rest(), dtype=float))
    return as_drawn(new, {name: value for name, value in stands.items() if name in stated})


class LinkLengthTrial:
    """A link of the open machine with a trial length, for which its loops close on the same branch or not."""

    def __init__(self, session: Session, body: str, far_joint: str) -> None:
        model = session.model
        self.now = self.length = current_link_length(model, body, far_joint)
        self._name = edits.unused_name(model, "parameters", "length")
        added = edits.add(model, Parameter(name=self._name, value=self.now, dimension="length"))
        self.model = link_length(added, body, self._name, far=far_joint, formulas="number")
        self.mech = session.mech.updated(self.model)
        self.q = np.array(
            coordinates_of_pose(self.mech, dict(zip(session.mech.q_names, session.q.tolist(), strict=True)))
        )

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter values of `model` with the last trial length."""
        return {self._name: self.length}

    def loops_close_with(self, length: float) -> bool:
        """Return True if the loops close with a length, starting from the present pose."""
        return _closure_residual(self.mech, self.q, {self._name: length}) <= LOOP_ERROR

    def try_length(self, length: float) -> bool:
        """Accept a length, and its pose as the next starting pose, if the loops close with it; returns True if they
        do."""
        q = np.asarray(self.mech.move(self.q, {}, p={self._name: length}))
        residual = self.mech.constraint_residual(q, p={self._name: length}) if self.mech.constrained else np.zeros(0)
        if float(np.abs(residual).max(initial=0.0)) > LOOP_ERROR:
            return False
        self.q, self.length = q, length
        return True


def loop_closing_length_range(session: Session, body: str, far_joint: str) -> tuple[float | None, float | None]:
    """Return the smallest and largest length (m) of a link with which the loops close on the same branch; None if there
    is no bound within `FARTHEST` times its present length."""
    trial = LinkLengthTrial(session, body, far_joint)

    def find_bound(outside: float) -> float | None:
        if trial.loops_close_with(outside):
            return None
        inside = trial.now
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if trial.loops_close_with(middle) else (inside, middle)
        return inside

    return find_bound(trial.now / FARTHEST), find_bound(trial.now * FARTHEST)


def _closure_residual(mech: Mechanism, q: Array, p: Mapping[str, float]) -> float:
    """Return the residual (m or rad) of the loops when closed as far as possible from a pose (nq,)."""
    if not mech.constrained:
        return 0.0
    own = {name: p[name] for name in mech.p_names if name in p}
    found = mech.move(q, {}, p=own)
    return float(np.abs(mech.constraint_residual(found, p=own)).max(initial=0.0))


def has_link_length(model: Model, body: str) -> bool:
    """Return True if a body of the document itself has two joints at different positions, or a joint and a tip."""
    return any(each.name == body for each in model.bodies) and link_ends(model, body) is not None
