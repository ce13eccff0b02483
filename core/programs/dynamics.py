"""Symbolic forces, accelerations, mass matrix, energy and momentum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.mechanics import energy as energies
from core.mechanics.aba import aba
from core.mechanics.crba import crba, mass_matrix_by_screws
from core.mechanics.dry_friction import NO_FRICTION
from core.mechanics.elements.added_inertia import add_inertia
from core.mechanics.elements.element_reader import MachineElements
from core.mechanics.elements.force_state import ForceState, Loads
from core.mechanics.elements.forces.force_element import total_loads
from core.mechanics.elements.line_masses import add_momentum as line_momentum
from core.mechanics.elements.mode_variables import OF_FORCE
from core.mechanics.elements.resolver import build_formula
from core.mechanics.elements.signals import SignalValues
from core.mechanics.energy import momentum
from core.mechanics.factor import factorise, solve
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.rnea import rnea
from core.mechanics.tree import Runner, Tree, inline
from core.numerics.spatial.scalar import Scalar, minus, plus
from core.numerics.spatial.vector import Vector3
from core.programs.machine_symbols import MachineSymbols


def remove_contact_friction(tree: Tree) -> Tree:
    """Return the tree without the friction of those joints that contact states handle
    (`core.simulation.equations.contact_rows`)."""
    return replace(tree, links=tuple(replace(link, friction=NO_FRICTION) for link in tree.links))


Inputs = Mapping[str, list[Any]]
Scalars = Sequence[Scalar]


def force_state(
    context: MachineSymbols,
    inputs: Inputs,
    run: Runner = inline,
    smooth: bool = False,
    elements: MachineElements | None = None,
) -> ForceState:
    """Return the quantities on which force elements depend."""
    elements = context.elements if elements is None else elements
    kinematics = KinematicState(elements.machine.tree, inputs["q"], inputs.get("v"), run)
    states = inputs.get("x") or ()
    signals = SignalValues(elements, context.numbers.values, kinematics, inputs.get("t") or (0.0,), states)
    return ForceState(kinematics, signals, states[: context.nx], states[context.nx :], smooth)


def sum_force_loads(
    context: MachineSymbols,
    inputs: Inputs,
    run: Runner,
    *,
    resist: bool = True,
    smooth: bool = False,
    unmerged: bool = False,
) -> Loads | None:
    """Return the loads of all force elements; None if there are none."""
    elements = context.unmerged_elements if unmerged else context.elements
    forces = elements.forces if resist else ()
    masses = elements.added_inertia if "u" in inputs else ()
    if not (forces or masses):
        return None
    seen = force_state(context, inputs, run, smooth, elements)
    loads = total_loads(forces, seen)
    if masses:
        kinematics = KinematicState(elements.machine.tree, inputs["q"], inputs["v"], run, inputs["u"])
        for mass in masses:
            mass.inertia(kinematics, loads)
    return loads if loads.acts else None


def _mass_matrix_rows(context: MachineSymbols, inputs: Inputs, run: Runner) -> list[list[Scalar]]:
    algorithm = crba if context.tree.has_coupled_joints or not context.is_deep else mass_matrix_by_screws
    M = algorithm(context.tree, inputs["q"], run)
    if context.elements.added_inertia:
        add_inertia(M, context.elements.added_inertia, KinematicState(context.tree, inputs["q"], None, run))
    return M


def mass_matrix(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return M, row by row."""
    return [entry for row in _mass_matrix_rows(context, inputs, run) for entry in row]


def mass_entries(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the nonzero entries of M on and below its diagonal; for a deep tree those of its segments."""
    if context.segments is not None:
        return context.segments.mass_entries(inputs["q"], run)
    M = _mass_matrix_rows(context, inputs, run)
    return [M[i][j] for i, j in zip(*context.mass_pattern, strict=True)]


def segment_entries(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the entries of the rows that connect the segments of a deep tree, row by row."""
    return [] if context.segments is None else context.segments.row_entries(inputs["q"], run)


def inverse(
    context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline, *, resist: bool = True, smooth: bool = False
) -> list[Scalar]:
    """Return joint forces τ by inverse dynamics; u: accelerations."""
    tree = remove_contact_friction(context.tree) if smooth else context.tree
    loads = sum_force_loads(context, inputs, run, resist=resist, smooth=smooth)
    if loads is None:
        return rnea(tree, inputs["q"], inputs["v"], inputs["u"], resist=resist, run=run).torques
    torques = rnea(tree, inputs["q"], inputs["v"], inputs["u"], resist=resist, external=loads.external, run=run).torques
    return [run(minus, torque, force) for torque, force in zip(torques, loads.speeds, strict=True)]


def bias(
    context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline, *, resist: bool = True, smooth: bool = False
) -> list[Scalar]:
    """Return h: the joint forces for zero acceleration."""
    return inverse(context, {**inputs, "u": [0.0] * context.tree.nv}, _, run, resist=resist, smooth=smooth)


def gravity(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the gravity forces G."""
    rest = [0.0] * context.tree.nv
    return inverse(context, {**inputs, "v": rest, "u": rest}, _, run, resist=False)


def forward(
    context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline, *, resist: bool = True, smooth: bool = False
) -> list[Scalar]:
    """Return the accelerations by forward dynamics."""
    tree = remove_contact_friction(context.tree) if smooth else context.tree
    if not (tree.has_coupled_joints or context.elements.added_inertia):
        loads = sum_force_loads(context, inputs, run, resist=resist, smooth=smooth)
        if loads is None:
            return aba(tree, inputs["q"], inputs["v"], inputs["u"], resist=resist, run=run)
        forces = [run(plus, force, more) for force, more in zip(inputs["u"], loads.speeds, strict=True)]
        return aba(tree, inputs["q"], inputs["v"], forces, resist=resist, external=loads.external, run=run)
    # couplings tie distant joints: M q̈ = τ − h with the reduced mass matrix
    h = bias(context, inputs, "", run, resist=resist, smooth=smooth)
    remaining = run(_differences, tuple(inputs["u"]), tuple(h))
    M = mass_matrix(context, inputs, "", run)
    rows = tuple(tuple(M[i : i + tree.nv]) for i in range(0, len(M), tree.nv))
    return list(run(_solve_symmetric, rows, remaining))


def _differences(a: Scalars, b: Scalars) -> tuple[Scalar, ...]:
    return tuple(minus(x, y) for x, y in zip(a, b, strict=True))


def _solve_symmetric(M: Sequence[Scalars], b: Scalars) -> tuple[Scalar, ...]:
    return solve(factorise(M), b)


def energy(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return kinetic and potential energy."""
    potential = energies.potential_energy(context.tree, inputs["q"], run)
    if context.elements.forces:
        s = force_state(context, inputs, run)
        for element in context.elements.forces:
            potential = run(plus, potential, element.potential(s))
    kinetic = energies.kinetic_energy(context.tree, inputs["q"], inputs["v"], run)
    kinematics = KinematicState(context.tree, inputs["q"], inputs["v"], run)
    for mass in context.elements.added_inertia:
        moving, lying = mass.energy(kinematics)
        kinetic, potential = run(plus, kinetic, moving), run(plus, potential, lying)
    return [kinetic, potential]


def momentum_of(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the momentum [angular; linear]."""
    total = momentum(context.tree, inputs["q"], inputs["v"], run)
    sums, kinematics = (
        (Vector3(*total[:3]), Vector3(*total[3:])),
        KinematicState(context.tree, inputs["q"], inputs["v"], run),
    )
    for mass in context.elements.line_masses:
        sums = run(line_momentum, sums, mass.mass, mass.position(kinematics), mass.velocity(kinematics))
    return [*sums[0], *sums[1]]


def observed(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the output quantities of every force element of the document."""
    s = force_state(context, inputs, run)
    return [number for element in context.elements.named_forces for number in element.output_values(s)]


def signal_values(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the values of all signals of the document."""
    s = force_state(context, inputs, run)
    return [s.signal(name) for name in context.elements.signal_values]


def signal_updates(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the states of sampled signals after a sample."""
    s = force_state(context, inputs, run)
    return [s.value(update) for update in context.elements.signal_updates.values()]


def friction_levels(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the kinetic and static friction levels, forward and backward, of every brake and clutch, concatenated."""
    s = force_state(context, inputs, run)
    return [s.value(each) for friction in context.elements.controlled_friction.values() for each in friction.levels]


def event_indicators(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the arguments of the comparisons in formulas of forces and drivers; a change of sign is an event."""
    seen, forces = force_state(context, inputs), {force.element: force for force in context.elements.named_forces}

    def value(name: str) -> Scalar:
        if not name.startswith(OF_FORCE):
            return seen.signal(name)
        which, force = name.removeprefix(OF_FORCE).split(" ", 1)
        return forces[force].channel(which, seen)

    formulas = map(build_formula, context.elements.mode_variables.indicators)
    return [formula(tuple(map(value, formula.names))) for formula in formulas]
