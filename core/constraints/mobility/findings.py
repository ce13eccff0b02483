"""Findings from the mobility analysis of a model: redundant constraints, faulty drivers, open loops, unmet reference
positions, and stops that are too soft for the inertia they stop.
"""

from __future__ import annotations

import math

from core.constraints import rest_position
from core.constraints.elastic_stops import compliances, has_elastic_stop
from core.constraints.joint_modes import YIELDING, closing_speed, joint_modes, yielding
from core.constraints.joint_rows import rows_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.mobility.mobility import Mobility, mobility
from core.constraints.rest_position import rest
from core.errors import AssemblyError, KinetostatError, listed
from core.model import Finding, Model, Severity
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


LARGE, MANY = 60_000, 2_000
"""Constraints times speeds (for sparse machines: constraints) above which a model is analysed only on request, as it
takes seconds."""


def check(model: Model) -> tuple[Finding, ...]:
    """Findings of a model: errors in numbers and formulas, missing mesh files, and results of the mobility analysis.

    Mobility is not looked at where there are errors. Raises ModelError for other models of which no machine can be
    made.
    """
    from core.files import check as plausible

    found = list(plausible(model))
    if all(finding.severity != "error" for finding in found):
        found += examined(Compiled(model))[1]
    return tuple(dict.fromkeys(found))


def examined(compiled: Compiled) -> tuple[Mobility | None, tuple[Finding, ...]]:
    """(mobility in the reference configuration, findings); mobility is None if the machine does not close or is very
    large."""
    rows = len(compiled.rows)
    if rows > MANY if compiled.sparse else rows * compiled.nv > LARGE:
        return None, ()
    try:
        found = mobility(compiled)
    except AssemblyError as error:
        return None, _findings_of_error(error)
    except KinetostatError:  # said where it arises, when the machine is used
        return None, ()
    return found, (*rest_position.findings(compiled), *findings(found), *stop_findings(compiled))


def findings(found: Mobility) -> tuple[Finding, ...]:
    """Hints and warnings from a mobility analysis, by element."""
    result = []
    for fault in sorted(found.driver_faults, key=lambda fault: not fault.contradicts):
        severity: Severity = "warning" if fault.contradicts else "hint"
        remedy = "Remove it, or let it drive another joint."
        drivers = tuple(("drivers", name) for name in fault.others)
        result.append(Finding(severity, f"{fault.text}.", remedy, "drivers", fault.driver, others=drivers))
    leave = "Or leave it: the motion is correct, and the joint forces given are those of minimum norm."
    remedy = f"{found.advice} {leave}".strip()
    together: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for item in found.redundant:
        together.setdefault((item.collection, item.joint, item.others), []).append(item.component)
    for (collection, name, fixed), components in together.items():
        others = listed([other for _, other in fixed])
        if collection == "joints":
            several = len(components) > 1
            what = f"its {listed(components)}" if several else f"its {components[0]}"
            text = f"Overconstrained: {what} {'are' if several else 'is'} already fixed by {others}."
        else:
            text = f"Redundant: it imposes what {others} already impose{'s' if len(fixed) == 1 else ''}."
        result.append(Finding("hint", text, remedy, collection, name, others=fixed))
    if found.infinitesimal:
        name = found.motions[0].joints[0][0] if found.motions else ""
        text = "The machine is shaky: it has an infinitesimal motion that cannot continue."
        result.append(
            Finding("hint", text, "Brace it, or change lengths so that bars do not lie in a line.", "joints", name)
        )
    return tuple(result)


def concerned(error: AssemblyError) -> tuple[tuple[str, str], ...]:
    """(collection, name) of the elements that cannot be satisfied together."""
    found = []
    for place in error.together or (error.where,):
        kind, _, name = place.partition(" ")
        found.append((_COLLECTIONS.get(kind, ""), name.strip("'")))
    return tuple(found)


_COLLECTIONS = {"joint": "joints", "constraint": "constraints", "driver": "drivers"}


def _findings_of_error(error: AssemblyError) -> tuple[Finding, ...]:
    """The error as a finding at every element involved."""
    places = concerned(error)
    result = []
    for place, ref in zip(error.together or (error.where,), places, strict=True):
        text = error.what if place == error.where else f"It cannot be satisfied. {error.where}: {error.what}"
        others = tuple(other for other in places if other != ref)
        result.append(Finding("warning", text, error.remedy, *ref, others=others))
    return tuple(result)
