"""Symbolic robot for users: matrices of written forms and of SymPy expressions.

Follows Robotica: J is 6×n with rows [v; ω] in the axes of frame 0, unlike `Mechanism.jacobian`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np

from core.errors import ModelError
from core.model import Model
from core.numerics.spatial.scalar import Scalar
from core.symbolic.chain import SymbolicChain
from core.symbolic.forms import Form
from core.symbolic.long_forms import LONG, CachedFormWriter, entry_parts, term_count
from core.symbolic.naming import RecognisedNumber, apply_chosen_symbols
from core.symbolic.notation import to_sympy
from core.symbolic.symbolic_machine import Rows
from core.symbolic.terms import Groups

Forms = tuple[tuple[Form, ...], ...]


def robot(
    model: Model,
    *,
    tip: str = "",
    symbols: str | Iterable[str] | None = None,
    values: Mapping[str, float] | None = None,
    recognise: bool = True,
) -> Robot:
    """Return the serial chain of a model in symbols.

    tip : frame at its end; default: the tool
    symbols : "named" (default: the model's parameters stay symbols), "all" (every length, mass, centre and inertia
        becomes one), "none", or names of parameters that stay symbols, the others taking their values
    values : parameters that take other values than the model's
    recognise : take numbers near multiples of π or simple fractions for these (listed in `robot.recognised`)

    Raises ModelError for machines with loops, joints with quaternions, and formulas that are no polynomials.
    """
    named, given = apply_chosen_symbols(model, symbols, values)
    return Robot(SymbolicChain(named, tip, given, recognise=recognise))


class Robot:
    """Serial chain in symbols. Indices count from 1, as in Robotica and in textbooks; T(0, n) is frame n in frame 0.

    A(i), T(i, j), J, M, C, G, tau, Jv(i), Jw(i), c(i, j, k), K, P are sympy; `form(…)` gives the same as written forms.
    """

    def __init__(self, chain: SymbolicChain) -> None:
        self.chain = chain
        self.n = chain.n
        self.model = chain.model
        self._forms: dict[tuple[Any, ...], Forms] = {}

    def __repr__(self) -> str:
        return f"Robot({self.model.name!r}, n={self.n}, q={[v.symbol for v in self.chain.variables]})"

    # ------------------------------------------------------------------------------- symbols

    @cached_property
    def q(self) -> tuple[Any, ...]:
        """Symbols of the joint coordinates."""
        return tuple(self.symbol(v.symbol) for v in self.chain.variables)

    @cached_property
    def dq(self) -> tuple[Any, ...]:
        """Symbols of the joint speeds."""
        return tuple(map(self.symbol, self.chain.rates))

    @cached_property
    def ddq(self) -> tuple[Any, ...]:
        """Symbols of the joint accelerations."""
        return tuple(map(self.symbol, self.chain.accelerations))

    @property
    def values(self) -> dict[Any, float]:
        """Mapping symbol → known value."""
        return {self.symbol(name): value for name, value in self.chain.values.items()}

    @property
    def recognised(self) -> tuple[RecognisedNumber, ...]:
        """Numbers that were recognised as multiples of π or simple fractions."""
        return tuple(self.chain.recognised.values())

    @staticmethod
    def symbol(name: str) -> Any:
        """Return the SymPy symbol of a name; all symbols are real."""
        import sympy

        return sympy.Symbol(name, real=True)

    @cached_property
    def parallel_angle_groups(self) -> Groups:
        """Groups of angles of neighbouring revolute joints with parallel axes, whose sums are collected."""
        groups: list[list[str]] = []
        axis: Any = None
        for i, variable in enumerate(self.chain.variables):
            own = self._joint_axis(i)
            if variable.turns:
                if groups and axis is not None and _are_parallel(axis, own):
                    groups[-1].append(variable.symbol)
                else:
                    groups.append([variable.symbol])
                axis = own
        return tuple(tuple(group) for group in groups)

    def _joint_axis(self, i: int) -> tuple[Scalar, ...]:
        """Return the direction of joint i's axis in frame 0."""
        return tuple(row[i] for row in self.chain.jacobian[3:])

    # ------------------------------------------------------------------------------- results

    def A(self, i: int) -> Any:
        """Return the 4×4 pose of frame i in frame i − 1."""
        return self._to_sympy_matrix(self.form("A", i))

    @cache  # noqa: B019 – robots live as long as their results
    def T(self, i: int, j: int) -> Any:
        """Return the 4×4 pose of frame j in frame i."""
        return self._to_sympy_matrix(self.form("T", i, j))

    @cached_property
    def J(self) -> Any:
        """Return the 6×n Jacobian, rows [v; ω] of the tip, axes of frame 0."""
        return self._to_sympy_matrix(self.form("J"))

    @cache  # noqa: B019
    def Jv(self, i: int) -> Any:
        """Return the 3×n Jacobian of the centre of mass of link i."""
        return self._to_sympy_matrix(self.form("Jvc", i))

    @cache  # noqa: B019
    def Jw(self, i: int) -> Any:
        """Return the 3×n Jacobian of the angular velocity of link i."""
        return self._to_sympy_matrix(self.form("Jwc", i))

    @cached_property
    def M(self) -> Any:
        """Return the n×n mass matrix, armature included."""
        return self._to_sympy_matrix(self.form("M"))

    @cache  # noqa: B019
    def c(self, i: int, j: int, k: int) -> Any:
        """Return the Christoffel symbol c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k)."""
        return to_sympy(self.form("c", i, j, k)[0][0], self.symbol)

    @cached_property
    def C(self) -> Any:
        """Return the n×n matrix with C_kj = Σ_i c_ijk q̇_i; Ṁ − 2 C is skew-symmetric."""
        return self._to_sympy_matrix(self.form("C"))

    @cached_property
    def G(self) -> Any:
        """Return the n×1 gravity terms G of M q̈ + C q̇ + G = τ."""
        return self._to_sympy_matrix(self.form("G"))

    @cached_property
    def tau(self) -> Any:
        """Return the n×1 joint forces M q̈ + C q̇ + G."""
        return self._to_sympy_matrix(self.form("tau"))

    @cached_property
    def K(self) -> Any:
        """Return the kinetic energy."""
        return to_sympy(self.form("K")[0][0], self.symbol)

    @cached_property
    def P(self) -> Any:
        """Return the potential energy."""
        return to_sympy(self.form("P")[0][0], self.symbol)

    # ------------------------------------------------------------------------------- written forms

    def form(self, result: str, *indices: int) -> Forms:
        """Return a result as rows of written forms: "A" i, "T" i j, "J", "Jvc" i, "Jwc" i, "M", "c" i j k, "C", "G",
        "tau", "K", "P", "Ki" i, "Pi" i (energies of the links it moves). Raises ModelError for a wrong name or index.
        """
        if (result, *indices) not in self._forms:
            for _ in self.rows(result, *indices):
                pass
        return self._forms[(result, *indices)]

    def rows(self, result: str, *indices: int) -> Iterator[tuple[Form, ...]]:
        """Yield the rows of a result as they are computed."""
        self._check_indices(result, indices)
        key = (result, *indices)
        if key in self._forms:
            yield from self._forms[key]
            return
        rows = []
        for i in range(self.height(result)):
            rows.append(self._compute_row(result, indices, i))
            yield rows[-1]
        self._forms[key] = tuple(rows)

    def height(self, result: str) -> int:
        """Return the number of rows of a result."""
        return {"A": 4, "T": 4, "J": 6, "Jvc": 3, "Jwc": 3, "c": 1, "K": 1, "P": 1, "Ki": 1, "Pi": 1}.get(
            result, self.n
        )

    def _compute_row(self, result: str, indices: tuple[int, ...], i: int) -> tuple[Form, ...]:
        if result in LONG_RESULTS:
            return tuple(self._write_long_entry(result, i, j) for j in range(self.n if result == "C" else 1))
        return tuple(map(self.written, self.exact_entries(result, *indices)[i]))

    def _write_long_entry(self, result: str, i: int, j: int) -> Form:
        """Write an entry of a long result, as a whole if it is short, else as a sum of parts."""
        parts = entry_parts(self.chain, result, i, j)
        if sum(term_count(part.element) for part in parts) <= LONG:
            return self.written(self.exact_entries(result)[i][j])
        return self._form_writer.write_sum(parts)

    def exact_entries(self, result: str, *indices: int) -> Rows:
        """Return a result as elements of the ring."""
        self._check_indices(result, indices)
        return _RESULTS[result][1](self.chain, *indices)

    def _check_indices(self, result: str, indices: tuple[int, ...]) -> None:
        """Raise ModelError for a wrong name or index."""
        if result not in _RESULTS:
            raise ModelError(f"There is no result '{result}'.", remedy=f"There are: {', '.join(_RESULTS)}.")
        count = _RESULTS[result][0]
        if len(indices) != count:
            raise ModelError(
                f"'{result}' takes {count} indices, {len(indices)} given.", remedy=f"Give {count} whole numbers."
            )
        lowest = 0 if result == "T" else 1
        highest = len(self.chain.moved_links) if result in ("Ki", "Pi") else self.n
        for index in indices:
            if not isinstance(index, int | np.integer):
                raise ModelError(f"The index {index!r} of '{result}' is not an integer.", remedy="Give a whole number.")
            if not lowest <= index <= highest:
                raise ModelError(
                    f"The index {index} of '{result}' is outside {lowest} … {highest}.",
                    remedy=f"The robot has {self.n} joints.",
                )

    @cached_property
    def _form_writer(self) -> CachedFormWriter:
        return CachedFormWriter(self.parallel_angle_groups, lambda: self.chain.watch())

    def written(self, x: Scalar) -> Form:
        """Write an element with angle sums collected and with common factors extracted where that is shorter."""
        return self._form_writer.write_element(x)

    def _to_sympy_matrix(self, rows: Forms) -> Any:
        import sympy

        return sympy.Matrix([[to_sympy(form, self.symbol) for form in row] for row in rows])


def _are_parallel(a: tuple[Scalar, ...], b: tuple[Scalar, ...]) -> bool:
    """Return True if two axes are equal or opposite for all coordinates."""
    same = all(_is_zero(x - y) for x, y in zip(a, b, strict=True))
    return same or all(_is_zero(x + y) for x, y in zip(a, b, strict=True))


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, float) and abs(x) < 1e-12


def _pose_matrix(pose: Any) -> Rows:
    rows = [[*row, p] for row, p in zip(pose.rotation, pose.position, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _column_matrix(entries: Iterable[Scalar]) -> Rows:
    return [[x] for x in entries]


SIGNS = {"Ki": "K", "Pi": "P"}
"""Displayed names of results that differ from the key (energies of single links)."""
LONG_RESULTS = ("C", "tau", "K")
"""Results whose long entries are written as sums of parts."""
_RESULTS: dict[str, tuple[int, Callable[..., Rows]]] = {
    "A": (1, lambda chain, i: _pose_matrix(chain.pose(i - 1, i))),
    "T": (2, lambda chain, i, j: _pose_matrix(chain.pose(i, j))),
    "J": (0, lambda chain: chain.jacobian),
    "Jvc": (1, lambda chain, i: chain.center_jacobian(i)[:3]),
    "Jwc": (1, lambda chain, i: chain.center_jacobian(i)[3:]),
    "M": (0, lambda chain: chain.mass_matrix),
    "c": (3, lambda chain, i, j, k: [[chain.christoffel(i - 1, j - 1, k - 1)]]),
    "C": (0, lambda chain: chain.coriolis_matrix),
    "G": (0, lambda chain: _column_matrix(chain.gravity)),
    "tau": (0, lambda chain: _column_matrix(chain.torques)),
    "K": (0, lambda chain: [[chain.kinetic]]),
    "P": (0, lambda chain: [[chain.potential]]),
    "Ki": (1, lambda chain, i: [[chain.kinetic_energy_by_link[i - 1]]]),
    "Pi": (1, lambda chain, i: [[chain.potential_energy_by_link[i - 1]]]),
}
