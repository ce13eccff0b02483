"""Findings from the mobility analysis of a model: redundant constraints, faulty drivers, open loops, reference
positions that cannot be kept, and stops that are too soft for the inertia they stop."""

from __future__ import annotations

import math

from core.constraints import rest_position
from core.constraints.elastic_stops import has_elastic_stop, inverse_inertias
from core.constraints.joint_modes import YIELDING, build_joint_row_table, design_deflection, design_impact_speed
from core.constraints.joint_rows import evaluate_joint_rows
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.mobility.mobility import Mobility, mobility
from core.constraints.rest_position import reference_position
from core.errors import AssemblyError, KinetostatError, join_words
from core.model import Finding, Model, Severity
from core.model.units import format_with_unit
from core.programs.compiled import CompiledModel

SOFT_FRACTION = 0.01
"""Largest deflection of a stop, as a fraction of the joint range (without one: of 1 rad or the machine's size)."""


def soft_stop_findings(compiled: CompiledModel) -> tuple[Finding, ...]:
    """Findings about elastic stops that deflect too far at their design speed."""
    p = compiled.parameter_values(None)
    try:
        modes = build_joint_row_table(compiled, p)
    except KinetostatError:  # said of the joint itself
        return ()
    given = [i for i, row in enumerate(modes.rows) if has_elastic_stop(row) and row.stiffness > 0.0]
    if not given:
        return ()
    q = reference_position(compiled)
    N = PositionConstraints(compiled, drivers=False).free_motions(q)
    W = evaluate_joint_rows(compiled, modes, q).W[given]
    result = []
    for i, compliance in zip(given, inverse_inertias(W @ N, N.T @ compiled.mass_matrix(q, p) @ N), strict=True):
        row = modes.rows[i]
        speed, span = design_impact_speed(row, modes.size), design_deflection(row, modes.size) / YIELDING
        depth = speed / math.sqrt(row.stiffness * compliance) if compliance > 0.0 else 0.0
        if depth > SOFT_FRACTION * span:
            angle = row.dimension == "angle"
            quick = format_with_unit(speed, "angular_velocity" if angle else "velocity")
            text = f"Its stop is soft: hit at {quick}, it deflects by {format_with_unit(depth, row.dimension)}."
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
        found += examine_mobility(CompiledModel(model))[1]
    return tuple(dict.fromkeys(found))


def examine_mobility(compiled: CompiledModel) -> tuple[Mobility | None, tuple[Finding, ...]]:
    """Analyse the mobility in the reference configuration; return (mobility, findings). Mobility is None if the machine
    does not close or is very large."""
    rows = len(compiled.rows)
    if rows > MANY if compiled.is_sparse else rows * compiled.nv > LARGE:
        return None, ()
    try:
        found = mobility(compiled)
    except AssemblyError as error:
        return None, _findings_of_error(error)
    except KinetostatError:  # said where it arises, when the machine is used
        return None, ()
    return found, (
        *rest_position.reference_position_findings(compiled),
        *mobility_findings(found),
        *soft_stop_findings(compiled),
    )


def mobility_findings(mobility: Mobility) -> tuple[Finding, ...]:
    """Hints and warnings from a mobility analysis, by element."""
    result = []
    for fault in sorted(mobility.driver_faults, key=lambda fault: not fault.contradicts):
        severity: Severity = "warning" if fault.contradicts else "hint"
        remedy = "Remove it, or let it drive another joint."
        drivers = tuple(("drivers", name) for name in fault.others)
        result.append(Finding(severity, f"{fault.text}.", remedy, "drivers", fault.driver, others=drivers))
    leave = "Or leave it: the motion is correct, and the joint forces given are those of minimum norm."
    remedy = f"{mobility.advice} {leave}".strip()
    together: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for item in mobility.redundant:
        together.setdefault((item.collection, item.joint, item.others), []).append(item.component)
    for (collection, name, fixed), components in together.items():
        others = join_words([other for _, other in fixed])
        if collection == "joints":
            several = len(components) > 1
            what = f"its {join_words(components)}" if several else f"its {components[0]}"
            text = f"Overconstrained: {what} {'are' if several else 'is'} already fixed by {others}."
        else:
            text = f"Redundant: it imposes what {others} already impose{'s' if len(fixed) == 1 else ''}."
        result.append(Finding("hint", text, remedy, collection, name, others=fixed))
    if mobility.infinitesimal:
        name = mobility.motions[0].joints[0][0] if mobility.motions else ""
        text = "The machine is shaky: it has an infinitesimal motion that is not a finite motion."
        result.append(
            Finding("hint", text, "Add a brace, or change lengths so that bars are not collinear.", "joints", name)
        )
    return tuple(result)


def conflicting_elements(error: AssemblyError) -> tuple[tuple[str, str], ...]:
    """(collection, name) of the elements that cannot be satisfied together."""
    found = []
    for place in error.together or (error.where,):
        kind, _, name = place.partition(" ")
        found.append((_COLLECTIONS.get(kind, ""), name.strip("'")))
    return tuple(found)


_COLLECTIONS = {"joint": "joints", "constraint": "constraints", "driver": "drivers"}


def _findings_of_error(error: AssemblyError) -> tuple[Finding, ...]:
    """The error as a finding at every element involved."""
    places = conflicting_elements(error)
    result = []
    for place, ref in zip(error.together or (error.where,), places, strict=True):
        text = error.what if place == error.where else f"It was not satisfied. {error.where}: {error.what}"
        others = tuple(other for other in places if other != ref)
        result.append(Finding("warning", text, error.remedy, *ref, others=others))
    return tuple(result)
