"""Inertia beside that of the links: masses on the lines of forces, rotors of joints that close a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.elements.force_state import Loads
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Scalars
from core.spatial.scalar import Scalar, plus, times, total, vanish


class AddedInertia(Protocol):
    """A mass m with a velocity J v."""

    @property
    def mass(self) -> Scalar:
        """m."""
        ...

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add what its inertia (and weight) exerts."""
        ...

    def columns(self, kinematics: KinematicState) -> Sequence[Scalars]:
        """J, one column per speed; literal zeros where a speed does not move it."""
        ...

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """(kinetic, potential), J."""
        ...


def add_product(entry: Scalar, mass: Scalar, one: Scalars, other: Scalars) -> Scalar:
    """M_ij + m J_i · J_j."""
    return plus(entry, times(mass, total(times(x, y) for x, y in zip(one, other, strict=True))))


def add_inertia(M: list[list[Scalar]], masses: Sequence[AddedInertia], kinematics: KinematicState) -> None:
    """M += Σ m Jᵀ J."""
    for mass in masses:
        columns = [tuple(column) for column in mass.columns(kinematics)]
        for i, one in enumerate(columns):
            for j in range(i + 1):
                if not (vanish(one) or vanish(columns[j])):
                    M[i][j] = kinematics.run(add_product, M[i][j], mass.mass, one, columns[j])
                    M[j][i] = M[i][j]


def add_reduced(
    M: list[list[Scalar]], masses: Sequence[AddedInertia], kinematics: KinematicState, spans: Sequence[Scalars]
) -> None:
    """M += Σ m (J Φ)ᵀ (J Φ), Φ given by its columns."""
    for mass in masses:
        columns = mass.columns(kinematics)
        moved = [
            [total(times(x, c[r]) for x, c in zip(span, columns, strict=True)) for r in range(len(columns[0]))]
            for span in spans
        ]
        for i, one in enumerate(moved):
            for j, other in enumerate(moved):
                M[i][j] = add_product(M[i][j], mass.mass, one, other)
