"""Second-order tangent spaces: directions in which a machine can move on from a singular pose.

Each self-stress forbids the motions at which its quadratic form is not zero (`second_order`); of a parallelogram in a
line it is a product of two linear forms, one for each way in which it goes on. So the forms are fulfilled one after
another: a product by one of its factors, a form of one sign by its kernel. What is left is a `TangentSpace` for each
choice of factors; forms that are no product are solved by Newton's method within it. A form reaches over few motions,
so that long rows take as many steps as they have loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Array = NDArray[np.float64]

BENT = 1e-6
"""Eigenvalue of a form, relative to the largest, below which it counts as zero."""
SOLVED = 1e-9
"""Value of a form at a unit direction that counts as zero."""
NEWTON_STEPS = 40
ATTEMPTS = 4
"""Number of random starting directions for solving forms that do not factor."""
STILL = 1e-12
"""Square of a motion's component in a space that counts as zero."""
SAME_SPACE = 1e-6
"""Distance between the projections of a random vector onto two spaces below which the spaces are equal."""


@dataclass(frozen=True, eq=False)
class Form:
    """Quadratic form of a self-stress: a symmetric matrix (n, n) over n of the motions."""

    motions: NDArray[np.int64]
    matrix: Array

    def __call__(self, a: Array) -> float:
        part = a[self.motions]
        return float(part @ self.matrix @ part)


@dataclass(eq=False)
class TangentSpace:
    """Linear space of motions orthogonal to given normals.

    normals : (n, k) orthonormal rows; probe : (k,) a random vector, projected; moving : (k,) squares of how much of
    each motion is in it; left : forms not fulfilled on it
    """

    normals: Array
    probe: Array
    moving: Array
    left: list[Form] = field(default_factory=list)

    @property
    def freedoms(self) -> int:
        """Dimension of the space."""
        return int(self.normals.shape[1] - len(self.normals))

    @property
    def motion_evenness(self) -> float:
        """Measure of how evenly all motions take part in the space; where one hardly moves, poses stay nearly
        singular."""
        return float(np.sum(np.log(np.maximum(self.moving, STILL))))

    def same(self, other: TangentSpace) -> bool:
        """Return True if the other space is the same."""
        return self.freedoms == other.freedoms and float(np.linalg.norm(self.probe - other.probe)) < SAME_SPACE

    def onto(self, a: Array) -> Array:
        """(k,) or (k, n) projection of vectors onto the space."""
        return np.asarray(a - self.normals.T @ (self.normals @ a))

    def beside(self, normal: Array) -> TangentSpace:
        """Subspace orthogonal to one more normal (k,), a unit vector in the space."""
        probe = self.probe - normal * (normal @ self.probe)
        return TangentSpace(np.vstack([self.normals, normal]), probe, self.moving - normal**2, list(self.left))

    def factors(self, form: Form) -> list[list[Array]] | None:
        """Alternatives for which a form vanishes on the space, each a list of normals; None if the form does not
        factor."""
        concerned = np.zeros((self.normals.shape[1], len(form.motions)))
        concerned[form.motions, np.arange(len(form.motions))] = 1.0
        # orthonormal columns in the way, of which alone the form's motions depend
        basis, sizes, turns = np.linalg.svd(self.onto(self.onto(concerned)), full_matrices=False)
        weighted = sizes[:, None] * turns
        values, vectors = np.linalg.eigh(weighted @ form.matrix @ weighted.T)
        bent = np.abs(values) > BENT * np.max(np.abs(form.matrix))
        signs = np.sign(values[bent])
        if not len(signs):
            return [[]]
        across = list((basis @ vectors[:, bent]).T)
        if abs(signs.sum()) == len(signs):
            return [across]
        if len(signs) > 2:
            return None
        one, other = np.sqrt(np.abs(values[bent]) / np.sum(np.abs(values[bent])))
        return [[one * across[0] + sign * other * across[1]] for sign in (1.0, -1.0)]

    def direction(self, rng: np.random.Generator) -> Array | None:
        """(k,) random unit vector in the space at which all forms vanish; None if none is found."""
        for _ in range(ATTEMPTS):
            a = self.onto(np.asarray(rng.normal(size=self.normals.shape[1])))
            for _ in range(NEWTON_STEPS):
                a = np.asarray(a / max(float(np.linalg.norm(a)), 1e-300))
                values = np.array([form(a) for form in self.left])
                if np.max(np.abs(values), initial=0.0) < SOLVED:
                    return a
                a = a - np.linalg.lstsq(self._form_derivatives(a), values, rcond=1e-6)[0]
        return None

    def _form_derivatives(self, a: Array) -> Array:
        """(remaining forms, k) derivatives of the forms within the space."""
        slopes = np.zeros((len(self.left), len(a)))
        for slope, form in zip(slopes, self.left, strict=True):
            slope[form.motions] = 2.0 * (form.matrix @ a[form.motions])
        return np.asarray(slopes - (slopes @ self.normals.T) @ self.normals)


def second_order_tangent_spaces(
    count: int, forms: Sequence[Form], most: int, rng: np.random.Generator
) -> list[TangentSpace]:
    """Spaces on which all forms vanish, at most `most`: if there are more, those with the most even motions.

    count : k, the number of motions
    """
    spaces = [TangentSpace(np.zeros((0, count)), rng.normal(size=count), np.ones(count))]
    open_ones: list[Form] = []
    for form in forms:
        spaces = _subspaces_for_form(spaces, form, most, open_ones)
    for form in open_ones:  # others may have made products of them
        left: list[Form] = []
        spaces = _subspaces_for_form(spaces, form, most, left)
        for space in spaces:
            space.left += left
    return spaces


def _subspaces_for_form(
    spaces: Sequence[TangentSpace], form: Form, most: int, open_ones: list[Form]
) -> list[TangentSpace]:
    """Subspaces on which a form vanishes; a form that does not factor on one of them is added to `open_ones`."""
    grown: list[TangentSpace] = []
    for space in spaces:
        choices = space.factors(form)
        if choices is None:
            open_ones += [form] if form not in open_ones else []
            choices = [[]]
        for normals in choices:
            onward = space
            for normal in normals:
                onward = onward.beside(normal)
            if onward.freedoms and not any(onward.same(other) for other in grown):
                grown.append(onward)
    return sorted(grown, key=lambda space: -space.motion_evenness)[:most]
