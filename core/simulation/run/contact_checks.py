"""Checks before a run of a machine with contact: fixed steps that are too long, bodies that begin inside each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from core.errors import SimulationError
from core.mechanics.elements.contact_law import DESIGN_DEPTH, STICKING, ContactLaw
from core.mechanics.elements.contact_shapes import read_contact_sides
from core.mechanics.elements.forces import FORCES
from core.mechanics.elements.forces.contact import Contact, read_contact_law
from core.mechanics.elements.forces.force_element import output_count
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.simulation.run.settings import Array

LONGEST = 0.1
"""Largest h √(k/m) of fixed steps h: several points, and turning about them, are up to twenty times as fast."""


def has_contacts(mech: Mechanism) -> bool:
    """Return True if a force of the machine is a contact."""
    return any(force.kind == Contact.name for force in mech.model.expanded.forces)


def check_contact_steps(mech: Mechanism, step: float, p: Array) -> None:
    """Raise SimulationError if fixed steps (s) are too long for a contact. p : parameter values"""
    if not has_contacts(mech):
        return
    model, numbers = mech.model.expanded, _numbers_at(mech, p)
    for force in model.forces:
        if force.kind != Contact.name:
            continue
        law: ContactLaw = read_contact_law(force, model, numbers)
        mass = (law.friction_damping / (2.0 * STICKING)) ** 2 / law.stiffness
        longest = LONGEST * math.sqrt(mass / law.stiffness)
        if step > longest:
            raise SimulationError(
                f"Steps of {step:.2g} s are too long for the stiffness {law.stiffness:.2g} N/m of this contact.",
                where=f"force '{force.name}'",
                remedy=f"Choose a method with variable step, steps of at most {longest:.2g} s, or a stiffness of at "
                f"most {mass * (LONGEST / step) ** 2:.2g} N/m.",
            )


def find_deep_starts(mech: Mechanism, y: Array, p: Array, t: float) -> Iterator[str]:
    """Yield a note for each contact whose shapes begin deeper inside each other than a fall of their size presses
    them."""
    if not has_contacts(mech):
        return
    model, numbers, at = mech.model.expanded, _numbers_at(mech, p), 0
    q, v, x = y[: mech.nq], y[mech.nq : mech.nq + mech.nv], y[mech.nq + mech.nv :]
    values = mech.compiled.call("forces", q, v, p=p, t=t, x=x[: mech.nx])
    for force in model.forces:
        kind = FORCES[force.kind]
        if force.kind == Contact.name:
            names = [channel.name for channel in kind.channels("") for _ in channel.components]
            depth = -float(values[at + names.index("gap")])
            if depth > DESIGN_DEPTH * float(read_contact_sides(force, model, numbers).size):
                yield (
                    f"The shapes of the contact '{force.name}' begin {depth:.2g} m inside each other, and its spring "
                    "throws them apart. Move them apart before the run."
                )
        at += output_count(kind)


def _numbers_at(mech: Mechanism, p: Array) -> Numbers:
    return Numbers(mech.model.expanded.values(dict(zip(mech.p_names, p.tolist(), strict=True))))
