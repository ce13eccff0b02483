"""Fixed steps of machines with contact: too long ones are refused, since what touches would be thrown away."""

from __future__ import annotations

import math

from core.errors import SimulationError
from core.mechanics.elements.contact_law import ContactLaw
from core.mechanics.elements.forces.contact import read_contact_law
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.simulation.run.settings import Array

LONGEST = 0.1
"""Largest h √(k/m) of fixed steps h: several points, and turning about them, are up to twenty times as fast."""


def check_contact_steps(mech: Mechanism, step: float, p: Array) -> None:
    """Raise SimulationError if fixed steps (s) are too long for a contact. p : parameter values"""
    model = mech.model.expanded
    contacts = [force for force in model.forces if force.kind == "contact"]
    numbers = Numbers(model.values(dict(zip(mech.p_names, p.tolist(), strict=True)))) if contacts else None
    for force in contacts:
        assert numbers is not None
        law: ContactLaw = read_contact_law(force, model, numbers)
        mass = law.friction_damping**2 / law.stiffness
        longest = LONGEST * math.sqrt(mass / law.stiffness)
        if step > longest:
            raise SimulationError(
                f"Steps of {step:.2g} s are too long for the stiffness {law.stiffness:.2g} N/m of this contact.",
                where=f"force '{force.name}'",
                remedy=f"Choose a method with variable step, steps of at most {longest:.2g} s, or a stiffness of at "
                f"most {mass * (LONGEST / step) ** 2:.2g} N/m.",
            )
