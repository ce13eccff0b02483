"""Findings about stops that are too soft for the inertia they stop."""

from __future__ import annotations

import math

from core.constraints.elastic_stops import compliances, has_elastic_stop
from core.constraints.joint_modes import YIELDING, closing_speed, joint_modes, yielding
from core.constraints.joint_rows import rows_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.rest_position import rest
from core.errors import KinetostatError
from core.model import Finding
from core.model.units import amount
from core.programs.compiled import Compiled

SOFT_FRACTION = 0.01
"""Largest deflection of a stop, as a fraction of the joint range (without one: of 1 rad or the machine's size)."""


def stop_findings(compiled: Compiled) -> tuple[Finding, ...]:
    """Findings about elastic stops that deflect too far at their design speed."""
    p = compiled.parameter_values(None)
    try:
        modes = joint_modes(compiled, p)
    except KinetostatError:  # said of the joint itself
        return ()
    given = [i for i, row in enumerate(modes.rows) if has_elastic_stop(row) and row.stiffness > 0.0]
    if not given:
        return ()
    q = rest(compiled)
    N = PositionConstraints(compiled, drivers=False).motions(q)
    W = rows_at(compiled, modes, q).W[given]
    result = []
    for i, compliance in zip(given, compliances(W @ N, N.T @ compiled.mass_matrix(q, p) @ N), strict=True):
        row = modes.rows[i]
        speed, span = closing_speed(row, modes.size), yielding(row, modes.size) / YIELDING
        depth = speed / math.sqrt(row.stiffness * compliance) if compliance > 0.0 else 0.0
        if depth > SOFT_FRACTION * span:
            angle = row.dimension == "angle"
            quick = amount(speed, "angular_velocity" if angle else "velocity")
            text = f"Its stop is soft: hit at {quick}, it deflects by {amount(depth, row.dimension)}."
            remedy = "Make it stiffer, or leave its stiffness empty to derive it from the inertia it stops."
            result.append(Finding("hint", text, remedy, "joints", row.owner, "limits"))
    return tuple(result)
