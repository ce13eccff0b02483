"""Equations of motion in independent speeds: v = Φ v_i, a = Φ a_i + b, Φᵀ M Φ a_i + Φᵀ (M b + h − τ) = 0.

1. The steps of the solution are walked once for all columns of Φ together (`_Pass.columns`): column k is v where the
   k-th independent speed is 1 and the others are 0. Independent joints move their cluster by their own columns S;
   closed chains give the speeds of their joints (`core.constraints.closed_forms.velocities.ChainVelocitySolver`).
2. v = Φ v_i, and the motion of every body in the world with it.
3. The steps are walked once more for b, the accelerations where the independent ones vanish (`_Pass.bias`): every
   joint adds V × S v, and the same solvers answer.
4. Φᵀ M Φ = Σ over the links of V_i · I V_j, with the motions V_k of the link in column k
   (`_reduced_mass_matrix`); Φᵀ (M b + h) from one inverse dynamics with the accelerations b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from core.constraints.closed_forms.dyads import LEAST_DIVISOR
from core.constraints.closed_forms.families import GEARED, ROD, ChainSolution
from core.constraints.closed_forms.graph import LINK, OWN, Clusters, Edge, geared_pairs
from core.constraints.closed_forms.graph import edge_value as coordinates_at
from core.constraints.closed_forms.positions import EdgeNumbers, Positions, edge_coordinates, edge_numbers
from core.constraints.closed_forms.velocities import (
    ChainVelocitySolver,
    ClusterMotions,
    Columns,
    Speed,
    WorldAxis,
    linear_combination,
    point_velocity,
    solution_quality,
    world_axis_of_edge,
)
from core.mechanics.crba import joint_motion
from core.mechanics.elements.added_inertia import AddedInertia, add_reduced
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import joint_coordinates
from core.mechanics.tree import Runner, Tree, inline
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, all_zero, negated, over, plus, sqrt, times, total
from core.numerics.spatial.vector import ZERO_MOTION, Motion, Vector3

Scalars = Sequence[Scalar]


Column = dict[int, Scalar]
"""Index in v → value; all other entries are zero."""


Entries = dict[tuple[int, int], Scalar]
"""(row, column) of a lower triangle → value; all other entries are zero."""


class Motions(NamedTuple):
    """Speeds of a closed machine as functions of the independent ones."""

    v: list[Scalar]
    columns: list[Column]
    """Columns of Φ: v for a unit independent speed."""
    bias: list[Scalar]
    """b: accelerations for zero independent accelerations."""
    quality: list[Scalar]
    """Smallest sine and largest gain of all chain solutions."""
    order: dict[int, int]
    """Index in v → rank in the order of solution."""


def independent_speeds(edges: list[Edge], steps: Sequence[ChainSolution | int]) -> list[Speed]:
    """Independent speeds in the order in which they become known; mimic joints have none of their own."""
    result: list[Speed] = []
    taken: set[int] = set()
    for step in steps:
        if isinstance(step, int):
            edge = edges[step]
            fresh = [k for k in range(edge.nv) if edge.v + k not in taken]
            result += [Speed(edge.v + k, step, k, False) for k in fresh]
            taken |= {edge.v + k for k in fresh}
        elif step.family == ROD:
            ball = next(i for i, _ in step.chain[1:] if not edges[i].cut)
            result.append(Speed(-1, ball, 0, True))
    return result


def compute_motions(
    edges: list[Edge],
    steps: Sequence[ChainSolution | int],
    independent: Sequence[Speed],
    positions: Positions,
    v: Scalars,
    nv: int,
    runner: Runner = inline,
) -> Motions:
    """Speeds, Φ and b at a closed position; v : (nv,) contains the independent speeds"""
    axes = {i: world_axis_of_edge(edge, positions.clusters, positions.q, runner) for i, edge in enumerate(edges)}
    pass_ = _VelocityPass(edges, steps, independent, axes, positions.clusters.root, positions.q, runner)
    own = pass_.independent_values(v)
    columns, flow = pass_.compute_columns()
    speeds_: list[Scalar] = []
    for k in range(nv):
        moving = [i for i, column in enumerate(columns) if k in column]
        speeds_.append(runner(_weighted_sum, tuple(columns[i][k] for i in moving), tuple(own[i] for i in moving)))
    absolute = {
        node: runner(linear_combination, tuple(parts.values()), tuple(own[k] for k in parts))
        for node, parts in flow.motion.items()
    }
    bias = pass_.compute_bias(speeds_, absolute)
    entries: list[Scalar] = [bias.get(k, 0.0) for k in range(nv)]
    return Motions(
        speeds_, columns, entries, solution_quality(pass_.grades, pass_.gains, runner), _solution_ranks(edges, steps)
    )


def _solution_ranks(edges: list[Edge], steps: Sequence[ChainSolution | int]) -> dict[int, int]:
    known = [edges[i] for step in steps for i in ([step] if isinstance(step, int) else [i for i, _ in step.chain])]
    entries = dict.fromkeys(edge.v + k for edge in known if not edge.cut for k in range(edge.nv))
    return {entry: place for place, entry in enumerate(entries)}


def _weighted_sum(row: Scalars, independent_speeds: Scalars) -> Scalar:
    return total(times(x, speed) for x, speed in zip(row, independent_speeds, strict=True))


class _VelocityPass:
    def __init__(
        self,
        edges: list[Edge],
        steps: Sequence[ChainSolution | int],
        independent: Sequence[Speed],
        axes: dict[int, WorldAxis],
        nodes: Iterable[str],
        q: Scalars,
        runner: Runner,
    ) -> None:
        self.edges, self.steps, self.independent, self.axes, self.run = edges, steps, independent, axes, runner
        self.q, self.nodes = q, list(nodes)
        self.pairs = geared_pairs(edges)
        self.grades: list[Scalar] = []
        self.gains: list[Scalar] = []
        self.spins: dict[int, int] = {}
        """Number of a step → place of the spin of its rod among the independent speeds."""
        self.places = {speed.v: k for k, speed in enumerate(independent) if not speed.spin}
        """Entry of v → its place among the independent speeds."""
        places = {speed.edge: k for k, speed in enumerate(independent) if speed.spin}
        for n, step in enumerate(steps):
            if isinstance(step, ChainSolution) and step.family == ROD:
                self.spins[n] = places[next(i for i, _ in step.chain[1:] if not edges[i].cut)]

    def independent_values(self, v: Scalars) -> tuple[Scalar, ...]:
        """Independent speeds from v."""
        rods = {place: self.steps[n] for n, place in self.spins.items()}
        result = []
        for k, speed in enumerate(self.independent):
            if speed.spin:
                edge, form = self.edges[speed.edge], rods[k]
                assert isinstance(form, ChainSolution)
                ends_ = [self.axes[i].p for i, _ in form.chain[1:]]
                result.append(self.run(_rod_spin, self.axes[speed.edge].columns, tuple(v[edge.v : edge.v + 3]), *ends_))
            else:
                result.append(v[speed.v])
        return tuple(result)

    def compute_columns(self) -> tuple[list[Column], ClusterMotions]:
        """Compute the columns of Φ, and the motions of all nodes for each."""
        columns: list[Column] = [{} for _ in self.independent]
        flow = ClusterMotions(self.nodes, self.run)
        for edge in self.edges:
            if edge.kind == "W" and not edge.cut:
                flow.join(edge, {})
        for n, step in enumerate(self.steps):
            if isinstance(step, int):
                self._add_independent_joint(step, columns, flow)
            elif step.family == GEARED:
                self._add_geared_joint(step, columns, flow, {})
            else:
                self._add_dependent_chain(n, step, columns, flow)
        return columns, flow

    def _add_independent_joint(self, i: int, columns: list[Column], flow: ClusterMotions) -> None:
        edge = self.edges[i]
        across = {}
        for k, column in enumerate(self.axes[i].columns):
            place = self.places[edge.v + k]
            columns[place][edge.v + k] = 1.0
            across[place] = self.run(Motion.scaled, column, edge.ratio)
        flow.join(edge, across)

    def _add_dependent_chain(self, n: int, form: ChainSolution, columns: list[Column], flow: ClusterMotions) -> None:
        chain, spin = form.chain, self.spins.get(n, -1)
        known = {k: each for k, each in flow.known_chain_motion(form, self.edges).items() if not _is_zero(each)}
        moving = sorted(known.keys() | {spin} - {-1})
        given = tuple(known.get(k) for k in moving)
        flags = tuple(forward for _, forward in chain)
        step = _velocity_solver(
            form.family,
            self._chain_kinds(form),
            flags,
            self._spinning_ball_index(form),
            moving.index(spin) if spin >= 0 else -1,
        )
        found, grade, gain = self.run(step, tuple(self.axes[i] for i, _ in chain), given)
        self.grades.append(grade)
        self.gains.append(gain)
        for k, (i, _) in enumerate(chain):
            across = {}
            for place, each in zip(moving, found, strict=True):
                entries, motion = each[k]
                self._enter_joint(i, entries, columns[place])
                if not _is_zero(motion):
                    across[place] = motion
            flow.join(self.edges[i], across)

    def _chain_kinds(self, form: ChainSolution) -> str:
        return "".join(self.edges[i].kind for i, _ in form.chain)

    def _spinning_ball_index(self, form: ChainSolution) -> int:
        """Index, in a rod's chain, of the ball joint to which the rod's spin is assigned."""
        return next((k for k, (i, _) in enumerate(form.chain) if k and not self.edges[i].cut), 0)

    def _add_geared_joint(
        self, form: ChainSolution, columns: Sequence[Column], flow: ClusterMotions, extra: dict[int, Motion]
    ) -> None:
        """Enter a joint driven by a gear: its entries of Φ, or of the bias, are proportional to its leader's."""
        (i, _), (k, forward) = form.chain
        source = self.edges[self.pairs[k][1 if forward else 0]]
        across = dict(extra)
        for n, column in enumerate(columns):
            if source.v in column:
                ratios = self.edges[k].ratio, source.ratio, column[source.v]
                given = self.run(driven_joint_entry if forward else driving_joint_entry, *ratios)
                column[self.edges[i].v] = given
                across[n] = self.run(_column_plus_term, self.axes[i].columns[0], given, extra.get(n, ZERO_MOTION))
        flow.join(self.edges[i], across)

    def _enter_joint(self, i: int, entries: Any, column: Column) -> None:
        """Enter a tree joint into a column of Φ."""
        edge = self.edges[i]
        if not edge.cut and entries is not None:
            column.update((edge.v + k, each) for k, each in enumerate(entries))

    def compute_bias(self, v: list[Scalar], absolute: dict[str, Motion]) -> Column:
        """Accelerations of the dependent speeds for constant independent speeds."""
        result: Column = {}
        flow = ClusterMotions(self.nodes, self.run)
        for edge in self.edges:
            if edge.kind == "W" and not edge.cut:
                flow.join(edge, {})
        for step in self.steps:
            if isinstance(step, int):
                flow.join(self.edges[step], self._velocity_product_terms(step, v, absolute))
            elif step.family == GEARED:
                self._add_geared_joint(
                    step, [result], flow, self._velocity_product_terms(step.chain[0][0], v, absolute)
                )
            else:
                self._add_chain_bias(step, absolute, flow, result)
        return result

    def _velocity_product_terms(self, i: int, v: list[Scalar], absolute: dict[str, Motion]) -> dict[int, Motion]:
        """V_b × S v, the acceleration from the rotation of an edge's columns, plus Ṡ v if they change in b's axes."""
        edge = self.edges[i]
        own = tuple(v[edge.v : edge.v + edge.nv]), edge_coordinates(edge, self.q)
        motion = self.run(
            _velocity_product_function(edge.kind), edge_numbers(edge), self.axes[i], *own, absolute[edge.b]
        )
        return {} if _is_zero(motion) else {0: motion}

    def _add_chain_bias(
        self, form: ChainSolution, absolute: dict[str, Motion], flow: ClusterMotions, result: Column
    ) -> None:
        known = flow.known_chain_motion(form, self.edges).get(0, ZERO_MOTION)
        chain = form.chain
        axes = tuple(self.axes[i] for i, _ in chain)
        sides = tuple((absolute[self.edges[i].a], absolute[self.edges[i].b]) for i, _ in chain)
        flags = tuple(forward for _, forward in chain)
        found = self.run(_acceleration_solver(form.family, self._chain_kinds(form), flags), axes, sides, known)
        for (i, _), (entries, across) in zip(chain, found, strict=True):
            self._enter_joint(i, entries, result)
            flow.join(self.edges[i], {} if _is_zero(across) else {0: across})


def _rod_spin(columns: Sequence[Motion], v: Scalars, start: Vector3, end: Vector3) -> Scalar:
    """Rotation of a ball joint about its rod."""
    return linear_combination(columns, v).angular.dot(_unit_vector(end - start))


def _unit_vector(d: Vector3) -> Vector3:
    return d.scaled(over(1.0, sqrt(d.dot(d))))


def driven_joint_entry(ratio: Scalar, source: Scalar, entry: Scalar) -> Scalar:
    return times(times(ratio, source), entry)


def driving_joint_entry(ratio: Scalar, source: Scalar, entry: Scalar) -> Scalar:
    return times(times(over(1.0, ratio), source), entry)


def _column_plus_term(column: Motion, speed: Scalar, term: Motion) -> Motion:
    return column.scaled(speed) + term


@cache
def _velocity_product_function(kind: str) -> Callable[..., Motion]:
    """Return the function (edge's numbers and axis, its speeds and coordinates, V_b) → velocity-product
    acceleration."""

    def rotated_columns_term(numbers: EdgeNumbers, axis: WorldAxis, v: Scalars, q: Scalars, V_b: Motion) -> Motion:
        values = [times(numbers.ratio, speed) for speed in v]
        turning = V_b.cross(linear_combination(axis.columns, values))
        if kind != OWN:
            return turning
        return turning + axis.pose.motion(numbers.law.bias(coordinates_at(numbers.to_edge(kind), q), values))

    return rotated_columns_term


@cache
def _velocity_solver(
    family: str, kinds: str, flags: tuple[bool, ...], ball_index: int, spin_index: int
) -> Callable[..., Any]:
    """Return the function (axes of a chain, known motions around it) → entries and relative motion of every joint for
    each motion, with conditioning and gain. spin_index : index of the motion that is the spin of the rod's ball joint
    `ball_index`"""

    def solve_speeds(axes: Sequence[WorldAxis], known_motions: Sequence[Motion | None]) -> tuple[Any, Scalar, Scalar]:
        solver = ChainVelocitySolver(ChainSolution(family, ()), kinds, list(axes))
        moved: Scalar = 0.0
        moving: Scalar = 0.0
        values: list[list[Any]] = []
        for each in known_motions:
            if each is None:
                values.append([None] * len(kinds))
                continue
            solution, out, into = solver.solve(each)
            values.append(solution)
            moved, moving = plus(moved, out), plus(moving, into)
        if spin_index >= 0:  # the rod turns about itself: both balls turn, in opposite senses along the chain
            along = _unit_vector(solver.d)
            first = along if flags[ball_index] == (ball_index == 1) else -along
            values[spin_index] = [0.0, first, -first]
        found = tuple(
            tuple(
                _motion_of_joint_speed(kinds[k], axes[k], _in_joint_direction(row[k], flags[k]), ZERO_MOTION)
                for k in range(len(kinds))
            )
            for row in values
        )
        return found, solver.grade, over(moved, plus(moving, LEAST_DIVISOR))

    return solve_speeds


@cache
def _acceleration_solver(family: str, kinds: str, flags: tuple[bool, ...]) -> Callable[..., Any]:
    """Return the function (axes of a chain, motions of both sides of its joints, known accelerations) → entries and
    relative acceleration of every joint."""

    def solve_accelerations(
        axes: Sequence[WorldAxis], sides: Sequence[tuple[Motion, Motion]], known_acceleration: Motion
    ) -> Any:
        extra = []
        for axis, kind, forward, (V_a, V_b) in zip(axes, kinds, flags, sides, strict=True):
            # V_b × (V_b − V_a), which is V_b × S v also where the joint is cut
            each = _centripetal_correction(axis, V_a, V_b) if kind == LINK else V_b.cross(V_b - V_a)
            extra.append(each)
            known_acceleration = known_acceleration + (each if forward else -each)
        solution, _, _ = ChainVelocitySolver(ChainSolution(family, ()), kinds, list(axes)).solve(known_acceleration)
        return tuple(
            _motion_of_joint_speed(kinds[k], axes[k], _in_joint_direction(solution[k], flags[k]), extra[k])
            for k in range(len(kinds))
        )

    return solve_accelerations


def _motion_of_joint_speed(kind: str, axis: WorldAxis, value: Any, added_motion: Motion) -> tuple[Any, Motion]:
    """(entries, relative motion) of a joint for its own speed."""
    if value is None:
        return None, added_motion
    if kind == "S":
        return axis.pose.rotation.act_back(value), Motion(value, axis.p.cross(value)) + added_motion
    return (value,), axis.columns[0].scaled(value) + added_motion


def _centripetal_correction(axis: WorldAxis, V_a: Motion, V_b: Motion) -> Motion:
    """Motion along a rod that compensates the centripetal terms: with d from end to end, differentiating d · ḋ = 0
    leaves d · (A_b − A_a) = −(ḋ · ḋ + d · (ω_b × ṗ_b − ω_a × ṗ_a))."""
    d, p_b = axis.z, axis.p
    v_a, v_b = point_velocity(V_a, p_b - d), point_velocity(V_b, p_b)
    added = plus((v_b - v_a).dot(v_b - v_a), d.dot(V_b.angular.cross(v_b) - V_a.angular.cross(v_a)))
    return Motion(ZERO_MOTION.angular, d.scaled(negated(over(added, d.dot(d)))))


def _is_zero(motion: Motion) -> bool:
    """True if every entry is a literal zero."""
    return all_zero((*motion.angular, *motion.linear))


def _in_joint_direction(value: Any, forward: bool) -> Any:
    """Convert a joint speed from the chain's direction to the joint's own."""
    if value is None or forward:
        return value
    return -value if isinstance(value, Vector3) else times(-1.0, value)


class SparsityPass(_VelocityPass):
    """Pass without numbers that determines which joints depend on which independent speeds."""

    def _add_independent_joint(self, i: int, columns: list[Column], flow: ClusterMotions) -> None:
        edge, moved = self.edges[i], {self.places[self.edges[i].v + k] for k in range(self.edges[i].nv)}
        self._mark_moving_speeds(edge, moved, columns, flow)

    def _add_dependent_chain(self, n: int, form: ChainSolution, columns: list[Column], flow: ClusterMotions) -> None:
        moved = {*flow.known_chain_motion(form, self.edges), self.spins.get(n, -1)} - {-1}
        for i, _ in form.chain:
            self._mark_moving_speeds(self.edges[i], moved, columns, flow)

    def _add_geared_joint(
        self, form: ChainSolution, columns: Sequence[Column], flow: ClusterMotions, extra: dict[int, Motion]
    ) -> None:
        (i, _), (k, forward) = form.chain
        source = self.edges[self.pairs[k][1 if forward else 0]]
        self._mark_moving_speeds(
            self.edges[i], {n for n, column in enumerate(columns) if source.v in column}, columns, flow
        )

    def _mark_moving_speeds(
        self, edge: Edge, moved: Iterable[int], columns: Sequence[Column], flow: ClusterMotions
    ) -> None:
        if not edge.cut:
            for i in moved:
                columns[i].update(dict.fromkeys(range(edge.v, edge.v + edge.nv), 1.0))
        flow.join(edge, {i: self.run(_column_plus_term) for i in moved})


class SparsityPattern(NamedTuple):
    """Sparsity pattern of the reduced equations."""

    columns: list[list[int]]
    """For each independent speed, the indices of the nonzero entries of its column of Φ."""
    links: list[list[int]]
    """For each tree link, the independent speeds that move it."""
    pairs: list[tuple[int, int]]
    """(row, column) of the nonzero entries in the lower triangle of Φᵀ M Φ, row by row."""

    @property
    def product_count(self) -> int:
        """Number of products of motions in Φᵀ M Φ."""
        return sum(len(own) * (len(own) + 1) // 2 for own in self.links)


def find_sparsity(
    tree: Tree,
    edges: list[Edge],
    steps: Sequence[ChainSolution | int],
    independent: Sequence[Speed],
    inertia_speeds: Sequence[Sequence[int]] = (),
) -> SparsityPattern:
    """Find the sparsity pattern of the reduced equations without numbers. inertia_speeds : for each inertia that does
    not belong to a link, the entries of v that move it"""
    nodes = Clusters(edges).root
    columns = [
        sorted(column)
        for column in SparsityPass(edges, steps, independent, {}, nodes, (), _skip_step).compute_columns()[0]
    ]
    moving: list[set[int]] = [set() for _ in range(tree.nv)]
    for i, column in enumerate(columns):
        for k in column:
            moving[k].add(i)
    links: list[set[int]] = []
    for link in tree.links:
        own = (moving[k] for k in range(link.first_v, link.first_v + link.law.nv))
        links.append(set().union(() if link.parent < 0 else links[link.parent], *own))
    added = [set().union(*(moving[k] for k in entries)) for entries in inertia_speeds]
    pairs = {(i, i) for i in range(len(columns))}
    for each in (*links, *added):
        pairs |= {(i, j) for i in each for j in each if j <= i}
    return SparsityPattern(columns, list(map(sorted, links)), sorted(pairs))


def _skip_step(step: Callable[..., Any], *arguments: Any) -> Any:
    """Return a placeholder instead of evaluating a step whose numbers are not needed."""
    return object()


def reduce_equations(
    tree: Tree,
    motions: Motions,
    q: Scalars,
    forces: Callable[[list[Scalar]], list[Scalar]],
    added_inertias: Sequence[AddedInertia] = (),
    runner: Runner = inline,
) -> tuple[Entries, list[Scalar]]:
    """Compute (Φᵀ M Φ, Φᵀ (M b + h)). forces(a) : joint forces that produce accelerations a at this state;
    added_inertias : inertias that do not belong to links"""
    M = _reduced_mass_matrix(tree, q, motions, runner)
    add_reduced(M, added_inertias, KinematicState(tree, q, run=runner), motions.columns)
    h = forces(motions.bias)
    loads: list[Scalar] = [0.0] * len(motions.columns)
    moved: list[list[int]] = [[] for _ in h]
    for i, column in enumerate(motions.columns):
        for k in column:
            moved[k].append(i)
    for k in motions.order:
        for i in moved[k]:
            loads[i] = runner(_add_product, loads[i], motions.columns[i][k], h[k])
    return M, loads


def _add_product(sum_so_far: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return plus(sum_so_far, times(a, b))


def _reduced_mass_matrix(tree: Tree, q: Scalars, motions: Motions, runner: Runner) -> Entries:
    """Σ_l V_i · I V_j over the links, plus armatures; summed in the order in which links become known, which keeps the
    matrix of a long chain banded."""
    own = joint_coordinates(tree, q, runner)
    rates = _joint_rates(tree, motions.columns, runner)
    twists: list[Columns] = []
    places: list[int] = []
    for l, link in enumerate(tree.links):
        outer = link.parent < 0
        parents = {} if outer else twists[link.parent]
        moving = sorted(parents.keys() | rates[l].keys())
        still = (0.0,) * link.law.nv
        given = tuple(parents.get(i, ZERO_MOTION) for i in moving), tuple(rates[l].get(i, still) for i in moving)
        found_ = runner(_link_motions, link.law, link.placement, own[l], *given)
        twists.append(dict(zip(moving, found_, strict=True)))
        places.append(motions.order.get(link.first_v, -1) if link.law.nv else -1 if outer else places[link.parent])
    M: Entries = {}
    for l in sorted(range(len(tree.links)), key=places.__getitem__):
        link, moving = tree.links[l], list(twists[l])
        still = (0.0,) * link.law.nv
        given = tuple(twists[l].values()), tuple(rates[l].get(i, still) for i in moving)
        pairs = [(i, j) for n, i in enumerate(moving) for j in moving[: n + 1]]
        parts = runner(
            _add_link_inertia, link.inertia, link.armature, *given, tuple(M.get(pair, 0.0) for pair in pairs)
        )
        M.update(zip(pairs, parts, strict=True))
    return M


def _joint_rates(tree: Tree, columns: Sequence[Column], runner: Runner) -> list[dict[int, tuple[Scalar, ...]]]:
    """For each link, its joint's own speeds per unit of each independent speed that moves it."""
    moving: list[list[int]] = [[] for _ in range(tree.nv)]
    for i, column in enumerate(columns):
        for k in column:
            moving[k].append(i)
    result = []
    for link in tree.links:
        entries = range(link.first_v, link.first_v + link.law.nv)
        own: dict[int, tuple[Scalar, ...]] = {}
        for i in sorted({i for k in entries for i in moving[k]}):
            values = tuple(columns[i].get(k, 0.0) for k in entries)
            own[i] = values if link.coupling is None else (runner(times, link.coupling.ratio, values[0]),)
        result.append(own)
    return result


def _link_motions(
    law: Any, placement: Pose, q: Scalars, parents: Sequence[Motion], rates: Sequence[Scalars]
) -> tuple[Motion, ...]:
    """Motions of a link for the columns of Φ."""
    X, S = joint_motion(law, placement, q)
    return tuple(
        (ZERO_MOTION if _is_zero(parent) else X.motion_back(parent)) + linear_combination(S, rate)
        for parent, rate in zip(parents, rates, strict=True)
    )


def _add_link_inertia(
    inertia: Inertia, armature: Scalar, twists: Sequence[Motion], rates: Sequence[Scalars], lower_triangle: Scalars
) -> tuple[Scalar, ...]:
    """Return the lower triangle of M with a link's contribution added."""
    result, entries = [], iter(lower_triangle)
    for i, twist in enumerate(twists):
        momentum = inertia.act(twist)
        for j in range(i + 1):
            entry = plus(twists[j].dot(momentum), _armature_term(armature, rates[i], rates[j]))
            result.append(plus(next(entries), entry))
    return tuple(result)


def _armature_term(armature: Scalar, a: Scalars, b: Scalars) -> Scalar:
    return times(armature, total(times(x, y) for x, y in zip(a, b, strict=True)))
