"""The compiled equations of motion of one run: the mechanism's functions in machine code and the memory they work
in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import require_unique_bearing_loads
from core.constraints.closed_forms.closed_forms import AnalyticClosure, get_analytic_closure
from core.constraints.closed_forms.reduction import SparsityPattern
from core.constraints.joint_modes import JointRowTable, build_joint_row_table
from core.mechanics.segments import BASE
from core.mechanism import Mechanism
from core.programs.compiled import CompiledModel
from core.programs.native_entry import Entry, build_entry
from core.simulation.equations import joint_forces
from core.simulation.equations.singular_masses import may_be_singular

if TYPE_CHECKING:
    from core.machine_code.records import Record
    from core.programs.function_builder import FunctionBuilder
    from core.programs.native_function import Function
    from core.simulation.equations.contact_problem import ContactProblem
    from core.simulation.equations.contact_rows import ContactRows
    from core.simulation.equations.elimination_places import Elimination

Array = NDArray[np.float64]

NOTHING = nullcontext()
OF_ROWS = ("cut_values", "cut_entries", "cut_drift", "friction_levels", "bearing_loads")
"""Functions needed only by contact rows."""


_known: WeakKeyDictionary[FunctionBuilder, dict[str, tuple[int, int]]] = WeakKeyDictionary()


def _state_and_time_indices(compiled: CompiledModel, function: str) -> tuple[int, int]:
    """Return the indices at which x and time begin among the arguments of a function; −1 if it does not take them."""
    if function.startswith("torque"):
        return -1, -1
    known = _known.setdefault(compiled.program.symbolic, {})
    if function not in known:
        known[function] = _argument_indices(compiled.program.symbolic, function)
    return known[function]


def _argument_indices(symbolic: FunctionBuilder, function: str) -> tuple[int, int]:
    # the reduced equations take what the bias takes
    arguments = symbolic.signature("bias_smooth" if function == "reduced" else function).arguments
    starts = np.cumsum([0, *(symbolic.sizes[word] for word in arguments)])
    found = {word: int(start) for word, start in zip(arguments, starts, strict=False)}
    return found.get("x", -1), found.get("t", -1)


NO_STRUCTURE = SparsityPattern([], [], [])


class _ReducedEquations(NamedTuple):
    """Equations in independent speeds, their analytic loop closures, the constraint rows that remain to be solved by
    iteration, and a note for the user about them."""

    entry: Entry | None = None
    forms: AnalyticClosure | None = None
    kept: Sequence[int] = ()
    note: str = ""

    @property
    def sparsity_pattern(self) -> SparsityPattern:
        """Return the sparsity pattern of the reduced equations."""
        return NO_STRUCTURE if self.forms is None else self.forms.sparsity


def _prepare_reduced_equations(
    compiled: CompiledModel, p: Array, y: Array, use_reduced: bool | None
) -> _ReducedEquations:
    """Prepare the reduced equations. They are empty if loops have no analytic closure, if reduction is not wanted, or
    if `use_reduced` is None and their code is not compiled yet."""
    forms = None if use_reduced is False else get_analytic_closure(compiled.program)
    if forms is None or not forms.is_usable:
        return _ReducedEquations()
    if use_reduced is None and (note := _reason_for_iteration(forms)):
        return _ReducedEquations(note=note)
    if not forms.fit(y[: compiled.nq], p):
        return _ReducedEquations()
    entry = build_entry("the reduced equations", forms.reduction_code, p, "")
    return _ReducedEquations(entry, forms, forms.rows_left_to_iteration)


def _reason_for_iteration(forms: AnalyticClosure) -> str:
    """Explain why a run that does not wait closes loops by iteration; empty if the code of the analytic loop closure is
    ready."""
    seconds = forms.expected_compile_time()
    if forms.failure:
        return f"Loops were closed by iteration: their analytic closure could not be compiled ({forms.failure})."
    if seconds:
        return (
            f"Loops were closed by iteration: their analytic closure, which takes about {seconds:.2g} s to compile, "
            "is being compiled in the background for the next run."
        )
    return ""


def _find_needed_functions(compiled: CompiledModel, with_derivatives: bool) -> Mapping[str, bool]:
    """Map each function of the mechanism to True if the machine needs it."""
    program, matrix = compiled.program, compiled.by_mass_matrix
    rows = bool(program.constraint_rows)
    with_derivatives = with_derivatives and not program.symbolic.is_long and compiled.nv > 0
    return {
        "rate": bool(compiled.coordinates.quaternions),
        "mass_entries": matrix or with_derivatives,
        "slopes": with_derivatives,
        "forward_dynamics_smooth": not matrix,
        "bias_smooth": matrix,
        "constraint_residual": rows,
        "constraint_entries": rows,
        "segment_entries": rows and matrix and program.symbolic.segments is not None,
        "constraint_bias": rows,
        "states": compiled.nx > 0,
        "constraint_time": program.has_timed_constraints,
        "settle": bool(program.symbolic.elements.junctions),
        "signal_updates": bool(program.symbolic.elements.signal_updates),
    }


def _function_record(entry: Entry, states: int, time: int) -> Function:
    """Wrap an entry as the record that machine code calls."""
    from core.programs.native_function import Function

    return Function(
        address=entry.address,
        table=entry.table,
        rows=entry.rows,
        places=entry.places,
        count=entry.size,
        result=entry.result,
        states=states,
        time=time,
        memory=entry.memory,
    )


class CompiledEquations:
    """Compiled equations of one run; owns the memory they work in.

    y : (n,) where the run begins; closed_forms: whether loops may use them, None: if they need not be waited for;
    slopes: whether the exact Jacobian is needed (long machines have none)
    """

    def __init__(
        self,
        mech: Mechanism,
        torque: Any,
        p: Array,
        y: Array,
        closed_forms: bool | None = True,
        slopes: bool = False,
        events: bool = False,
    ) -> None:
        compiled = mech.compiled
        wanted = _find_needed_functions(compiled, slopes)
        self.joint_modes = build_joint_row_table(compiled, p)
        """Rows of joints with friction, stops and limits."""
        self.modes = len(compiled.elements.mode_variables.numbers)
        wanted = {**wanted, "event_indicators": events and self.modes > 0}
        cut = self.joint_modes.tree_row_count < len(self.joint_modes.rows)
        wanted = {**wanted, **dict.fromkeys(OF_ROWS[:3], cut)}
        bearings = bool(self.joint_modes.rows_with_bearing_friction)
        wanted |= {"friction_levels": self.joint_modes.has_friction_formulas, "bearing_loads": bearings}
        if bearings:  # reactions of loops need multipliers
            q, v, x = np.split(y, [compiled.nq, compiled.nq + compiled.nv])
            require_unique_bearing_loads(compiled, self.joint_modes, q, v, p, x=x if len(x) else None)
            closed_forms = False
        self._degree_in_time = joint_forces.degree_in_time(torque)
        constant = joint_forces.constant_forces(mech, torque)
        names = [name for name, needed in wanted.items() if needed]
        compiled.trace(names)  # a thread compiles them while this one searches for closures and traces those
        self._forms = None if closed_forms is False else get_analytic_closure(compiled.program)
        reduced = _prepare_reduced_equations(compiled, p, y, closed_forms)
        self.entries: dict[str, Entry] = {name: compiled.entry(name, p) for name in names}
        """The functions that the run needs, by name."""
        self.indicators = self.modes if events else 0
        """Event indicators at whose roots steps may end."""
        if constant is None:
            if events and (count := len(joint_forces.find_mode_variables(mech, torque).numbers)):
                self.entries["torque_event_indicators"] = joint_forces.compile_event_indicators(mech, torque, p)
                self.indicators += count
            self.entries["torque"] = joint_forces.compile_formulas(mech, torque, p)
            if wanted["slopes"]:
                self.entries["torque_slopes"] = joint_forces.compile_derivatives(mech, torque, p)
        if reduced.entry is not None:
            self.entries["reduced"] = reduced.entry
        self.notes = (reduced.note,) if reduced.note else ()
        """Notes for the user on how this run is computed."""
        u = np.zeros(mech.nv) if constant is None else constant
        self._allocate_memory(compiled, p, y, u, reduced)
        self.projected = bool(compiled.rows or compiled.coordinates.quaternions or wanted["settle"])
        """True if states lie on a manifold: loops closed, quaternions of length one."""

    def _allocate_memory(
        self, compiled: CompiledModel, p: Array, y: Array, u: Array, reduced: _ReducedEquations
    ) -> None:
        """Allocate the functions' memory and store the addresses that machine code uses."""
        from core.simulation.equations import elimination_places
        from core.simulation.equations.constrained import VECTORS
        from core.simulation.equations.system import System

        columns, independent = reduced.sparsity_pattern.columns, len(reduced.sparsity_pattern.columns)
        program = compiled.program
        rows = len(program.constraint_rows)
        functions = {
            name: _function_record(entry, *_state_and_time_indices(compiled, name))
            for name, entry in self.entries.items()
        }
        derivative, full, self.project, full_project = _entry_addresses(compiled, independent)
        rows_of_modes = self._build_contact_rows(compiled, u, functions, derivative, y[: compiled.nq], p)
        if rows_of_modes is not None:
            from core.simulation.equations import contact_derivative

            derivative, u = contact_derivative.derivative_with_contacts.address, u.copy()
        self.contact_rows = rows_of_modes
        """Of joints; None: there are none."""
        elimination = elimination_places.NOTHING
        if "mass_entries" in functions:
            elimination = plan_elimination(compiled, p, y[: compiled.nq])
        factors = elimination_places.allocate_factors(elimination)
        levels = np.concatenate([program.levels, np.zeros(max(elimination.rows - rows, 0), dtype=np.int64)])
        span = max(compiled.nq, len(factors.unknowns), len(levels), 1)
        masses = elimination_places.allocate_factors(_plan_reduced_elimination(reduced.forms))
        self._elimination = elimination
        points, times, polynomials = compiled.splines(p)[:3]
        self.system = System(
            **{
                name: function.place
                for name, function in functions.items()
                if not (name in OF_ROWS or (name == "torque" and rows_of_modes))
            },
            contact_rows=0 if rows_of_modes is None else rows_of_modes.place,
            derivative=derivative,
            full=full,
            full_project=full_project,
            nq=compiled.nq,
            nv=compiled.nv,
            rows=rows,
            span=span,
            by_matrix=compiled.by_mass_matrix,
            quaternions=np.array(compiled.coordinates.quaternions, dtype=np.int64),
            u=u,
            room=np.zeros(VECTORS * span),
            factored=np.zeros(compiled.nq),
            sparse=factors.place,
            independent=independent,
            masses=masses.place,
            moves=np.cumsum([0, *map(len, columns)], dtype=np.int64),
            moved=np.array([k for column in columns for k in column], dtype=np.int64),
            kept=np.array(reduced.kept, dtype=np.int64),
            nx=compiled.nx,
            levels=levels,
            now=np.zeros(program.symbolic.clock.size),
            own=np.zeros(2 * compiled.nx),
            modes=self.modes,
            points=points,
            times=times,
            polynomials=polynomials,
        )
        self._factors: tuple[Record, ...] = (factors, masses)
        self._functions = functions
        self._mode_memory = [self.system.now[len(self.system.now) - self.modes :]] if self.modes else []
        for name in ("torque", "torque_slopes"):
            if name in functions and self.indicators > self.modes:
                first = 1 + compiled.nq + compiled.nv
                self._mode_memory.append(functions[name].memory[first : first + self.indicators - self.modes])
        if rows_of_modes is not None:
            u = rows_of_modes.wanted
        elif "torque" in functions:
            u = functions["torque"].memory[functions["torque"].result :]
        self.u = u[: compiled.nv]
        """(nv,) joint forces, those evaluated last."""

    def _build_contact_rows(
        self, compiled: CompiledModel, u: Array, functions: Mapping[str, Function], derivative: int, q: Array, p: Array
    ) -> ContactRows | None:
        self.contact_problem: ContactProblem | None = None
        """Memory of the convex problem of these rows."""
        if not self.joint_modes.rows:
            return None
        from core.simulation.equations.contact_problem import allocate_problem
        from core.simulation.equations.joint_contact_rows import build_contact_rows

        places = {name: function.place for name, function in functions.items()}
        modes, states = self.joint_modes, compiled.nq + compiled.nv + compiled.nx
        problem = self.contact_problem = allocate_problem(len(modes.rows), compiled.nv, states)
        return build_contact_rows(compiled, modes, u, places, derivative, q, p, self._degree_in_time, problem.place)

    @property
    def records(self) -> tuple[Record, ...]:
        """Return the records the equations work in, without those of contact rows."""
        return self.system, *self._factors, *self._functions.values()

    def use_cholesky(self) -> None:
        """Solve constraint rows by Cholesky's method from now on, which assumes that none is redundant. This has no
        effect if analytic loop closure leaves no rows to iteration or detects redundant rows itself."""
        if not self.system.rows or self.system.independent:
            return
        from core.simulation.equations.row_products import allocate_products

        products, factors = allocate_products(self._elimination, self.system.levels)
        self.system.products = products.place
        self._factors += (products, factors)

    def can_use_closed_forms(self, q: Array, p: Array) -> bool:
        """Return True if analytic loop closure is available and closes the loops at q with parameters p."""
        return self._forms is not None and self._forms.is_usable and self._forms.fit(q, p)

    def update_contact_rows(self, compiled: CompiledModel, modes: JointRowTable, q: Array, p: Array) -> bool:
        """Update the contact rows for new parameter values, in the same memory; returns False if the set of rows has
        changed. modes: rows of joints with these values"""
        rows = self.contact_rows
        kinds = [(row.owner, row.k, row.shares, row.controlled) for row in modes.rows]
        if rows is None or kinds != [(row.owner, row.k, row.shares, row.controlled) for row in self.joint_modes.rows]:
            return rows is None and not modes.rows
        from core.simulation.equations.joint_contact_rows import build_contact_rows

        places = {name: function.place for name, function in self._functions.items()}
        degree, problem = self._degree_in_time, rows.problem
        other = build_contact_rows(compiled, modes, rows.wanted, places, rows.inner, q, p, degree, problem)
        for field in rows.fields:
            if field.dimensions:
                getattr(rows, field.name)[...] = getattr(other, field.name)
        return True

    @property
    def has_analytic_derivatives(self) -> bool:
        """Return True if analytic derivatives of the equations are available."""
        return "slopes" in self.entries

    @property
    def jacobian(self) -> int:
        """Return the address of the function for ∂f/∂y: analytic where available, otherwise by differences."""
        from core.simulation.equations import contact_derivative, entry_points

        if not self.has_analytic_derivatives:
            return entry_points.differenced_jacobian.address
        exact = entry_points.exact_jacobian if self.contact_rows is None else contact_derivative.jacobian_with_contacts
        return exact.address

    @property
    def is_jammed(self) -> bool:
        """Return True if friction that depends on reactions has no solution (jams) at the present state."""
        return self.contact_rows is not None and self.contact_rows.unsettled == 1

    @property
    def contact_notes(self) -> tuple[str, ...]:
        """Return notes for the user about the contact states during the run so far."""
        if self.contact_rows is None:
            return ()
        from core.simulation.equations.joint_contact_rows import find_contact_notes

        return find_contact_notes(self.joint_modes, self.contact_rows)

    def free_mode_variables(self) -> None:
        """Free all mode variables from now on, so that formulas are evaluated without fixed sides of their
        comparisons."""
        for array in self._mode_memory:
            array[:] = 0.0
        self.system.reduced_at = np.nan

    def with_free_mode_variables(self) -> AbstractContextManager[None]:
        """Context manager that frees mode variables, for evaluations outside the integrator's steps."""
        return self._mode_variables_freed() if self._mode_memory else NOTHING

    @contextmanager
    def _mode_variables_freed(self) -> Iterator[None]:
        held = [(array, array.copy()) for array in self._mode_memory]
        self.free_mode_variables()
        yield
        for array, kept in held:
            array[:] = kept
        self.system.reduced_at = np.nan


_independent: WeakKeyDictionary[AnalyticClosure, Elimination] = WeakKeyDictionary()


def _plan_reduced_elimination(forms: AnalyticClosure | None) -> Elimination:
    """Return the elimination scheme of the mass matrix of independent speeds."""
    from core.numerics.elimination import Pattern
    from core.simulation.equations.elimination_places import NOTHING, plan_sparse_elimination

    if forms is None or not forms.sparsity.pairs:
        return NOTHING
    if forms not in _independent:
        rows, columns = np.array(forms.sparsity.pairs, dtype=np.int64).T
        nothing, order = np.zeros(0, dtype=np.int64), range(len(forms.sparsity.columns))
        _independent[forms] = plan_sparse_elimination(Pattern(rows, columns), Pattern(nothing, nothing), (), order)
    return _independent[forms]


_eliminations: WeakKeyDictionary[FunctionBuilder, dict[bool, Elimination]] = WeakKeyDictionary()


def plan_elimination(compiled: CompiledModel, p: Array, q: Array) -> Elimination:
    """Return the elimination scheme of a machine's mass matrix and constraints, with space for M + ρ Gᵀ G where M may
    be singular."""
    from core.numerics.elimination import Pattern
    from core.simulation.equations.elimination_places import plan_sparse_elimination

    context = compiled.program.symbolic
    groups: list[tuple[str, object]] = [(row.collection, row.element) for row in compiled.rows]
    held, segments = len(groups), context.segments
    supported = bool(groups) and may_be_singular(compiled, p, q)
    known = _eliminations.setdefault(context, {})
    if supported not in known:
        rows, order = context.row_expressions.pattern, list(range(compiled.nv))
        if segments is not None:
            links = np.array(segments.rows, dtype=np.int64).T
            rows = Pattern(np.concatenate([rows.rows, held + links[0]]), np.concatenate([rows.columns, links[1]]))
            groups += [("segments", station) for station in segments.stations for _ in range(BASE)]
            order = segments.ordered_unknowns
        known[supported] = plan_sparse_elimination(context.mass_pattern, rows, groups, order, held if supported else 0)
    return known[supported]


def _entry_addresses(compiled: CompiledModel, independent: int) -> tuple[int, int, int, int]:
    """Return the addresses of the functions: derivative, derivative without analytic loop closure, projection,
    projection without it."""
    from core.simulation.equations import entry_points as entries

    if not compiled.by_mass_matrix:
        derivative, project = entries.tree_derivative.address, entries.free_project.address
        return derivative, derivative, project, project
    full = entries.full_derivative.address
    held = (entries.full_project if compiled.constrained else entries.free_project).address
    if independent == 0:
        return full, full, held, held
    return entries.reduced_derivative.address, full, entries.reduced_project.address, held
