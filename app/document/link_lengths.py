"""A link gets another length in the open machine: its loops close again on the same branch, or nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from app.document.revision import Array, posed
from app.document.session import Session
from core.errors import ModelError
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
        return new
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


def closing_lengths(session: Session, body: str, far: str) -> tuple[float | None, float | None]:
    """Least and greatest length (m) of a link with which the loops close as they are; None where there is no bound
    within `FARTHEST` times its own."""
    model = session.model
    now = length_of(model, body, far)
    name = edits.unused_name(model, "parameters", "length")
    trial = edits.add(model, Parameter(name=name, value=now, dimension="length"))
    mech = session.mech.updated(link_length(trial, body, name, far=far, formulas="number"))
    start = posed(session.mech, session.state.pose)

    def closes(length: float) -> bool:
        return _gap(mech, start, {name: length}) <= LOOP_ERROR

    def bound(outside: float) -> float | None:
        if closes(outside):
            return None
        inside = now
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if closes(middle) else (inside, middle)
        return inside

    return bound(now / FARTHEST), bound(now * FARTHEST)


def _gap(mech: Mechanism, q: Array, p: Mapping[str, float]) -> float:
    """What is left open (m or rad) where the loops are as near to closed as they get from a pose (nq,)."""
    if not mech.constrained:
        return 0.0
    own = {name: p[name] for name in mech.p_names if name in p}
    found = mech.move(q, {}, p=own)
    return float(np.abs(mech.constraint_residual(found, p=own)).max(initial=0.0))


def has_length(model: Model, body: str) -> bool:
    """Whether a body of the document itself has two joints at different places."""
    return any(each.name == body for each in model.bodies) and ends_of(model, body) is not None
