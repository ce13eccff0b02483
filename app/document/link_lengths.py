"""A link gets another length in the open machine: its loops close again on the same branch, or nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from app.document.revision import Array, posed
from app.document.session import Session
from core.constraints.rest_position import rest_moves
from core.errors import ModelError
from core.linkage.closing import as_drawn, coordinates_at
from core.mechanism import Mechanism
from core.model import Model, Parameter
from core.model.edits import edits
from core.model.edits.lengths import Formulas, ends_of, length_of, link_length
from core.model.fields import Value

HALVINGS = 14
"""Steps in which a bound of the lengths that close is sought."""
FARTHEST = 10.0
"""Lengths up to this many times the present one are tried, and down to its inverse."""
LOOP_ERROR = 1e-6
"""What may be left open of a loop that counts as closed, m or rad."""


class LinkEnd(NamedTuple):
    """An end of a link: the joint that is there ("" at its tip), and where both ends are, (3,) m, world."""

    body: str
    joint: str
    near: Array
    place: Array


class LinkLength(NamedTuple):
    """What a person wants a link to be: how long, to which joint, and what becomes of formulas."""

    value: Value
    far: str = ""
    formulas: Formulas = "keep"
    parameter: str = ""


def resized(session: Session, body: str, wanted: LinkLength) -> Model:
    """The open model with another length of a link.

    Raises ModelError where formulas would be lost, or the loops cannot close with it; it says for which they would.
    """
    model = session.model
    new = link_length(model, body, wanted.value, far=wanted.far, formulas=wanted.formulas, parameter=wanted.parameter)
    mech = session.mech.updated(new)
    q = posed(session.mech, session.state.pose)
    gap = _gap(mech, q, new.values())
    if gap <= LOOP_ERROR or _gap(session.mech, q, model.values()) > LOOP_ERROR:
        return _rests_followed(session.mech, new, mech)
    low, high = closing_lengths(session, body, wanted.far)
    length = length_of(new, body, wanted.far)
    off = max(length - high if high is not None else 0.0, low - length if low is not None else 0.0)
    bounds = [f"{word} {bound:.4g} m" for word, bound in (("from", low), ("up to", high)) if bound is not None]
    word = "short" if length < (low or 0.0) else "long"
    raise ModelError(
        f"With {length:.4g} m the loops cannot close: it is {off:.3g} m too {word}.",
        where=f"body '{body}', length",
        remedy=f"They close here for lengths {' '.join(bounds)}." if bounds else "Give another length.",
    )


def _rests_followed(before: Mechanism, new: Model, mech: Mechanism) -> Model:
    """The model whose stated rests, which closed before, close with the new length, too."""
    if not mech.constrained or rest_moves(before.compiled):
        return new
    stated = {joint.name for joint in new.joints if joint.rest}
    stands = coordinates_at(mech, np.asarray(mech.rest(), dtype=float))
    return as_drawn(new, {name: value for name, value in stands.items() if name in stated})


class Trial:
    """A link of the open machine whose length is tried; the loops close as they are, or not."""

    def __init__(self, session: Session, body: str, far: str) -> None:
        model = session.model
        self.now = self.length = length_of(model, body, far)
        self._name = edits.unused_name(model, "parameters", "length")
        added = edits.add(model, Parameter(name=self._name, value=self.now, dimension="length"))
        self.model = link_length(added, body, self._name, far=far, formulas="number")
        self.mech = session.mech.updated(self.model)
        self.q = np.array(posed(self.mech, dict(zip(session.mech.q_names, session.q.tolist(), strict=True))))

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters of `model` with the length that was tried last."""
        return {self._name: self.length}

    def closes(self, length: float) -> bool:
        """Whether the loops close with a length, from the present pose on."""
        return _gap(self.mech, self.q, {self._name: length}) <= LOOP_ERROR

    def take(self, length: float) -> bool:
        """Go on from here with a length if the loops close with it."""
        q = np.asarray(self.mech.move(self.q, {}, p={self._name: length}))
        residual = self.mech.constraint_residual(q, p={self._name: length}) if self.mech.constrained else np.zeros(0)
        if float(np.abs(residual).max(initial=0.0)) > LOOP_ERROR:
            return False
        self.q, self.length = q, length
        return True


def closing_lengths(session: Session, body: str, far: str) -> tuple[float | None, float | None]:
    """Least and greatest length (m) of a link with which the loops close as they are; None where there is no bound
    within `FARTHEST` times its own."""
    trial = Trial(session, body, far)

    def bound(outside: float) -> float | None:
        if trial.closes(outside):
            return None
        inside = trial.now
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if trial.closes(middle) else (inside, middle)
        return inside

    return bound(trial.now / FARTHEST), bound(trial.now * FARTHEST)


def _gap(mech: Mechanism, q: Array, p: Mapping[str, float]) -> float:
    """What is left open (m or rad) where the loops are as near to closed as they get from a pose (nq,)."""
    if not mech.constrained:
        return 0.0
    own = {name: p[name] for name in mech.p_names if name in p}
    found = mech.move(q, {}, p=own)
    return float(np.abs(mech.constraint_residual(found, p=own)).max(initial=0.0))


def has_length(model: Model, body: str) -> bool:
    """Whether a body of the document itself has two joints at different places, or a joint and a tip."""
    return any(each.name == body for each in model.bodies) and ends_of(model, body) is not None
