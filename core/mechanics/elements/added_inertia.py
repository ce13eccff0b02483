"""Inertia in addition to that of the links: masses on the lines of forces, rotors of cut joints, masses of tendons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.mechanics.elements.force_state import Loads
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Scalars
from core.numerics.spatial.scalar import Scalar, all_zero, plus, times, total


class AddedInertia(Protocol):
    """Interface of a mass m with a velocity J v."""

    @property
    def mass(self) -> Scalar:
        """Return m."""
        ...

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add the inertia forces (and the weight) to the loads."""
        ...

    def columns(self, kinematics: KinematicState) -> Sequence[Scalars]:
        """Return J, one column per speed; literal zeros where a speed does not move the mass."""
        ...

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """Return (kinetic, potential) energy, J."""
        ...


def add_product(entry: Scalar, mass: Scalar, one: Scalars, other: Scalars) -> Scalar:
    """Return M_ij + m J_i · J_j."""
    return plus(entry, times(mass, total(times(x, y) for x, y in zip(one, other, strict=True))))


def add_inertia(M: list[list[Scalar]], masses: Sequence[AddedInertia], kinematics: KinematicState) -> None:
    """Add the masses to the mass matrix: M += Σ m Jᵀ J."""
    for mass in masses:
        columns = [tuple(column) for column in mass.columns(kinematics)]
        for i, one in enumerate(columns):
            for j in range(i + 1):
                if not (all_zero(one) or all_zero(columns[j])):
                    M[i][j] = kinematics.run(add_product, M[i][j], mass.mass, one, columns[j])
                    M[j][i] = M[i][j]


def add_reduced(
    M: dict[tuple[int, int], Scalar],
    masses: Sequence[AddedInertia],
    kinematics: KinematicState,
    spans: Sequence[Mapping[int, Scalar]],
) -> None:
    """Add the masses to a reduced mass matrix: M += Σ m (J Φ)ᵀ (J Φ), M given by entries (row, column) of its lower
    triangle, Φ by entries of its columns."""
    for mass in masses:
        columns = [tuple(column) for column in mass.columns(kinematics)]
        moving = {k for k, column in enumerate(columns) if not all_zero(column)}
        moved: dict[int, Scalars] = {}
        for i, span in enumerate(spans):
            if own := sorted(moving & span.keys()):
                given = tuple(span[k] for k in own), tuple(columns[k] for k in own)
                moved[i] = kinematics.run(_weighted, *given)
        for i, one in moved.items():
            for j, other in moved.items():
                if j <= i:
                    M[i, j] = kinematics.run(add_product, M.get((i, j), 0.0), mass.mass, one, other)


def _weighted(weights: Scalars, columns: Sequence[Scalars]) -> tuple[Scalar, ...]:
    return tuple(total(map(times, weights, row)) for row in zip(*columns, strict=True))
